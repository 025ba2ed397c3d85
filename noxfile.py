"""Everything this project can check or make, each as one nox session; see README.md.

`nox -s tests` queues every check and ends with one line per Blender; `nox -s slow` queues what takes longer, before a
release; `nox -s demo` makes the sample pictures;
`nox -s papers` repeats the experiments of the papers; `nox -s ledger` tries to break the extension;
`nox -s validation` writes what the tests compare with closed forms; `nox -s bench` runs the benchmarks beside other
engines; `nox -s guide` makes the pictures of the guide; `nox -s build` makes the zips of all platforms.
"""

import os
import platform
import shutil
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import nox

nox.needs_version = ">=2025.2"
nox.options.sessions = ["tests"]
nox.options.error_on_missing_interpreters = False  # `summary` names what was not tested
nox.options.download_python = "never"

ROOT = Path(__file__).resolve().parent
RESULTS = ROOT / "build" / "results"
#: Which runs `summary` asks for, one name per line.
EXPECTED = RESULTS / "expected.txt"
PYPROJECT = nox.project.load_toml(ROOT / "pyproject.toml")

# bpy wheel: (its Python, the numpy that this Blender ships)
BLENDERS = {
    "5.0.1": ("3.11", "1.26.4"),
    "5.2.3": ("3.13", "2.3.5"),
    "4.2.23": ("3.11", "1.24.3"),
    "4.5.15": ("3.11", "1.26.4"),
}
SYSTEM_LIBRARIES = (
    "libx11-6 libxrender1 libxfixes3 libxi6 libxxf86vm1 libxkbcommon0 libsm6 libice6 libgomp1 libegl1 libgl1"
)
DEMO_BLENDER = "5.0.1"
SAMPLE_BLENDER = "4.2.23"
#: In this one the whole adapter is tested by `tests`, in the others the tests marked `smoke`.
WHOLE_BLENDER = "5.0.1"
#: What the zip holds, and that it installs, is tested in these: one of each Python.
ZIP_BLENDERS = (WHOLE_BLENDER, "5.2.3")
ZIP_TESTS = ["tests/project/test_package.py", "tests/project/test_install.py"]
ADAPTER_TESTS = ["tests/blender"]
#: Two processes: each takes one half in order, so that tests of a file share what they have compiled and simulated, and
#: who is done first takes of the other's.
TWO = ["-n2", "--dist=worksteal"]
EXTRA_TESTS = ["tests/project/test_experiments.py", "tests/project/test_benchmarks.py"]
#: Kernels are kept between runs, and shared by all Blenders of a Python: none ever is of other sources. What tests
#: compile themselves is for the same processor as what the extension compiles.
CACHE = {"NUMBA_CACHE_DIR": str(ROOT / "build" / "kernels")}
KERNELS = CACHE | {
    "NUMBA_CPU_NAME": "apple-m1" if platform.machine() == "arm64" else "x86-64-v3",
    "NUMBA_CPU_FEATURES": "",
}


os.environ["PIP_COMPILE"] = "0"  # of what is installed, the tests import a small part

sys.path.append(str(ROOT / "tools"))
from build_extension import find_python  # noqa: E402

# A pyenv shim may come first on PATH and refuse; put a Python that starts before it, so that nox finds that one.
for wanted in sorted({python for python, _ in BLENDERS.values()}):
    if found := find_python(wanted):
        os.environ["PATH"] = f"{found.parent}{os.pathsep}{os.environ['PATH']}"


def group(name: str) -> list[str]:
    """The requirements of a dependency group of pyproject.toml."""
    return list(nox.project.dependency_groups(PYPROJECT, name))


def run_pytest(session: nox.Session, run_name: str, *arguments: str, **env: str) -> None:
    """Run pytest; its counts go to build/results/ for `summary`."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    report = RESULTS / f"{run_name}.xml"
    report.unlink(missing_ok=True)
    command = ["pytest", f"--junitxml={report}", "--durations=10", *arguments, *session.posargs]
    # numpy's threads spin while they wait for each other, and take a fifth of two processors that two processes test on
    session.run(*command, env={**KERNELS, "OPENBLAS_NUM_THREADS": "1", **env})


def warm_up(session: nox.Session, **env: str) -> None:
    """Compile what is in no file yet, so that test processes do not do so side by side."""
    session.run("python", "tests/support/warm.py", env={**KERNELS, **env})


def queue(session: nox.Session, sessions: list[str]) -> None:
    """Run these sessions and then the summary, which asks for the results of those that run tests."""
    shutil.rmtree(RESULTS, ignore_errors=True)
    RESULTS.mkdir(parents=True)
    EXPECTED.write_text(
        "".join(f"{run_name(name)}\n" for name in sessions if name not in ("kernels", "lint")), encoding="utf-8"
    )
    for name in [*sessions, "summary"]:
        session.notify(name)


def run_name(session_name: str) -> str:
    """The name of a session's results: `blender-5.0.1` of `blender(5.0.1)`."""
    return session_name.replace("(", "-").rstrip(")")


@nox.session(python=False)
def tests(session: nox.Session) -> None:
    """All tests but the slow ones: queues every check, then the summary."""
    queue(session, ["kernels", "lint", "core", *(f"blender({version})" for version in BLENDERS)])


@nox.session(python=False)
def slow(session: nox.Session) -> None:
    """What `tests` leaves out, before a release: queues slow tests, experiments, benchmarks and the other Blenders."""
    others = [version for version in BLENDERS if version != WHOLE_BLENDER]
    queue(session, ["kernels", "core_slow", "extras", "farm", *(f"whole_blender({version})" for version in others)])


@nox.session(python="3.11")
def kernels(session: nox.Session) -> None:
    """Compile all kernels for this platform, for each Python of the zip side by side."""
    for action in ("fetch", "compile"):
        session.run("python", "tools/build_extension.py", action, "--platform=current", env=KERNELS)


@nox.session(python="3.11")
def lint(session: nox.Session) -> None:
    """Style and types."""
    session.install(*group("lint"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    # The package must be found under the alias its tests use, whatever the checkout's folder is called.
    alias = Path(session.create_tmp()).resolve() / "types" / "softpressure_ext"
    alias.parent.mkdir(exist_ok=True)
    if not alias.is_symlink():
        alias.symlink_to(ROOT, target_is_directory=True)
    session.run("mypy", "--num-workers=2", "-p", "softpressure_ext", env={"MYPYPATH": str(alias.parent)})


def run_core(session: nox.Session, marked: str) -> None:
    """Tests that need no Blender, on two processes."""
    session.install(*group("core"))
    warm_up(session)
    left_out = [f"--ignore={path}" for path in [*ZIP_TESTS, *ADAPTER_TESTS, *EXTRA_TESTS]]
    run_pytest(session, session.name, *TWO, "-m", marked, "tests", *left_out)


@nox.session(python="3.11")
def core(session: nox.Session) -> None:
    """The tests that need no Blender."""
    run_core(session, "not slow")


@nox.session(python="3.11")
def core_slow(session: nox.Session) -> None:
    """The slow ones of the tests that need no Blender."""
    run_core(session, "slow")


@nox.session(python="3.11")
def extras(session: nox.Session) -> None:
    """The tests of experiments and benchmarks."""
    session.install(*group("core"))
    warm_up(session)
    run_pytest(session, session.name, *TWO, "-m", "slow or not slow", *EXTRA_TESTS)


@nox.session
@nox.parametrize("python,blender", [(python, version) for version, (python, _) in BLENDERS.items()], ids=BLENDERS)
def blender(session: nox.Session, blender: str) -> None:
    """One Blender: the zip is built, looked into, installed and removed; then the tests of the Blender side."""
    chosen = [] if blender == WHOLE_BLENDER else ["-k", "smoke or test_package or test_install"]
    zip_tests = ZIP_TESTS if blender in ZIP_BLENDERS else []
    run_blender(session, blender, *chosen, *zip_tests, *ADAPTER_TESTS)


@nox.session
@nox.parametrize(
    "python,blender",
    [(python, version) for version, (python, _) in BLENDERS.items() if version != WHOLE_BLENDER],
    ids=[version for version in BLENDERS if version != WHOLE_BLENDER],
)
def whole_blender(session: nox.Session, blender: str) -> None:
    """All tests of zip and adapter in a Blender in which `tests` runs some."""
    run_blender(session, blender, "-m", "slow or not slow", *ZIP_TESTS, *ADAPTER_TESTS)


def run_blender(session: nox.Session, version: str, *arguments: str) -> None:
    """Run pytest in a Blender, for tests of the zip after building it."""
    install_blender(session, version)
    make_zips(session, "fetch", *(["compile", "build"] if set(arguments) & set(ZIP_TESTS) else []))
    # numba comes from the wheels of the zip and not from this environment, where it would hide a broken zip.
    solver = Path(session.create_tmp()).resolve() / "solver"
    shutil.rmtree(solver, ignore_errors=True)
    from_zip = ["--quiet", "--no-deps", "--no-index", "--find-links=wheels", f"--target={solver}"]
    session.run("python", "-m", "pip", "install", *from_zip, *group("solver"))
    run_pytest(session, run_name(session.name), *TWO, *arguments, PYTHONPATH=str(solver))


def install_blender(session: nox.Session, version: str) -> None:
    """Blender as a Python module, with its own numpy and without numba, which only the zip may bring."""
    session.install(f"bpy=={version}", f"numpy=={BLENDERS[version][1]}", *group("test"))
    try:
        session.run("python", "-c", "import bpy", silent=True)
    except nox.command.CommandFailed:
        session.error(f"Blender {version} does not start; on Linux it needs {SYSTEM_LIBRARIES} (Debian's names).")


def make_zips(session: nox.Session, *actions: str) -> None:
    """Run actions of the build script for this platform, with the bpy of this session."""
    for action in actions:
        session.run("python", "tools/build_extension.py", action, "--platform=current", env=KERNELS)


@nox.session(python="3.11")
def build(session: nox.Session) -> None:
    """The zips of all platforms, in build/dist/; that of this platform with compiled kernels."""
    session.install(f"bpy=={DEMO_BLENDER}")
    for action in ("fetch", "compile", "build"):
        session.run("python", "tools/build_extension.py", action, env=KERNELS)


@nox.session(python="3.11")
def demo(session: nox.Session) -> None:
    """The main job: the sample scene, baked and rendered in real Blender, in build/demo/."""
    install_blender(session, DEMO_BLENDER)
    make_zips(session, "fetch", "build")
    session.run("python", "sample_blends/demo.py", *session.posargs)


def script(name: str, text: str, dependencies: str, *commands: str, blender: str = "", **env: str) -> None:
    """A session that runs commands with what they need installed; with `env`, after compiling what is in no file."""

    def run(session: nox.Session) -> None:
        if blender:
            install_blender(session, blender)
        session.install(*group(dependencies))
        if env:
            warm_up(session)  # so that processes which are timed, killed or side by side do not compile
        for command in commands:
            session.run("python", *command.split(), *session.posargs, env=env)

    run.__doc__ = text
    nox.session(python="3.11", name=name)(run)


script(
    "papers", "The papers' experiments: docs/papers.md and its figures, written anew.", "papers", "experiments/run.py",
    blender=DEMO_BLENDER, **KERNELS,
)  # fmt: skip
script(
    "validation", "What the tests compare with closed forms and references: docs/validation.md, written anew.", "core",
    "tools/validation_page.py", **KERNELS,
)  # fmt: skip
script(
    "ledger", "What tries to break the extension: docs/reliability.md, written anew (`-- --quick`: a short form).",
    "core", "reliability/run.py", blender=DEMO_BLENDER, **KERNELS,
)  # fmt: skip
script(
    "bench", "Every engine on the same scenes: docs/benchmarks.md, its figures and JSON, written anew.",
    "bench", "benchmarks/run.py", blender=DEMO_BLENDER, **KERNELS,
)  # fmt: skip
script(
    "compile", "What compiling costs, kernel by kernel, and what the first start takes: on the page of the benchmarks.",
    "bench", "benchmarks/run.py --only=compile",
)  # fmt: skip
script(
    "samples", "The sample files and the manual, written anew in the oldest Blender.", "solver",
    "sample_blends/build.py", "tools/manual.py", blender=SAMPLE_BLENDER,
)  # fmt: skip
script(
    "presets", "The picture of what the presets look like, docs/presets.png, drawn anew.", "solver",
    "sample_blends/preset_sheet.py", blender=DEMO_BLENDER, **KERNELS,
)  # fmt: skip
script(
    "guide", "The pictures of the guide, docs/guide/, made anew by the steps of its pages.", "guide", "tools/guide.py",
    blender=DEMO_BLENDER, **KERNELS,
)  # fmt: skip


@nox.session(python="3.11")
def farm(session: nox.Session) -> None:
    """The cases of a sweep on a Dask cluster and as a Flamenco job, with local workers and Blender."""
    install_blender(session, DEMO_BLENDER)
    session.install(*group("farm"), *group("solver"))
    run_pytest(session, session.name, "tests/project/test_sweep_farm.py")


@nox.session(python="3.11")
def roundings(session: nox.Session) -> None:
    """The tests that depend on rounding, as other processors round."""
    session.install(*group("core"))
    warm_up(session)
    left_out = [f"--ignore={path}" for path in [*ZIP_TESTS, *ADAPTER_TESTS]]
    session.run("python", "tools/roundings.py", "tests", *left_out, *session.posargs, env=CACHE)


def read_counts(report: Path) -> dict[str, int]:
    """Passed, failed and skipped tests and whole seconds of a pytest report."""
    suite = ElementTree.parse(report).getroot()[0]
    failed = int(suite.attrib["failures"]) + int(suite.attrib["errors"])
    skipped = int(suite.attrib["skipped"])
    passed = int(suite.attrib["tests"]) - failed - skipped
    return {"passed": passed, "failed": failed, "skipped": skipped, "seconds": round(float(suite.attrib["time"]))}


@nox.session(python=False)
def summary(session: nox.Session) -> None:
    """One line per test run; fails if a run failed or did not happen."""
    total = {"passed": 0, "failed": 0, "skipped": 0}
    missing = []
    lines = []
    for name in EXPECTED.read_text(encoding="utf-8").split():
        report = RESULTS / f"{name}.xml"
        python = BLENDERS.get(name.rpartition("-")[2], ("3.11", ""))[0]
        if report.exists():
            counts = read_counts(report)
            total = {key: total[key] + counts[key] for key in total}
            lines.append(f"{name}: " + ", ".join(f"{value} {key}" for key, value in counts.items()))
        elif find_python(python) is None:
            lines.append(f"{name}: NOT TESTED, this machine has no Python {python}")
        else:
            lines.append(f"{name}: DID NOT RUN, see its messages above")
            missing.append(name)
    lines.append(", ".join(f"{value} {key}" for key, value in total.items()))
    (RESULTS / "summary.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    session.log("Summary\n%s", "\n".join(lines))
    if missing or total["failed"]:
        session.error(f"{total['failed']} tests failed; did not run: {', '.join(missing) or 'none'}")
