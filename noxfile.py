"""Everything this project can check or make, each as one nox session; see README.md.

`nox -s tests` queues every check and ends with one line per Blender; `nox -s demo` makes the sample pictures;
`nox -s papers` repeats the experiments of the papers; `nox -s bench` runs the benchmarks beside other engines;
`nox -s build` makes the zips of all platforms.
"""

import os
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import nox

nox.needs_version = ">=2025.2"
nox.options.sessions = ["tests"]
nox.options.error_on_missing_interpreters = False  # `summary` names what was not tested
nox.options.download_python = "never"

ROOT = Path(__file__).resolve().parent
RESULTS = ROOT / "build" / "results"
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
BLENDER_TESTS = ["tests/test_package.py", "tests/test_install.py"]
BLENDER_TESTS += sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("tests/test_bpy_*.py"))


def find_python(version: str) -> Path | None:
    """A Python of this version (`3.13`) that really starts: from PATH, pyenv or the Windows launcher."""
    name = f"python{version}"
    candidates = [[str(Path(folder) / name)] for folder in os.get_exec_path() if (Path(folder) / name).exists()]
    if shutil.which("pyenv"):
        asked = subprocess.run(["pyenv", "prefix", version], capture_output=True, text=True)
        candidates += [[str(Path(asked.stdout.strip()) / "bin" / name)]]
    if shutil.which("py"):
        candidates += [["py", f"-{version}"]]
    for command in candidates:
        question = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"
        try:
            answer = subprocess.run([*command, "-c", question], capture_output=True, text=True)
        except OSError:
            continue
        if answer.stdout.startswith(f"{version} "):
            return Path(answer.stdout.split(maxsplit=1)[1].strip())
    return None


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
    # Kernels are compiled anew in every run, as they are on a user's first start.
    cache = Path(session.create_tmp()).resolve() / "numba"
    shutil.rmtree(cache, ignore_errors=True)
    command = ["pytest", f"--junitxml={report}", "--durations=5", *arguments, *session.posargs]
    session.run(*command, env={"NUMBA_CACHE_DIR": str(cache), **env})


@nox.session(python=False)
def tests(session: nox.Session) -> None:
    """All tests: queues every check, then the summary."""
    shutil.rmtree(RESULTS, ignore_errors=True)
    for name in ["lint", "core", *(f"blender({version})" for version in BLENDERS), "summary"]:
        session.notify(name)


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
    session.run("mypy", "-p", "softpressure_ext", env={"MYPYPATH": str(alias.parent)})


@nox.session(python="3.11")
def core(session: nox.Session) -> None:
    """The tests that need no Blender."""
    session.install(*group("core"))
    needs_blender = [f"--ignore={path}" for path in BLENDER_TESTS]
    run_pytest(session, "core", "tests", *needs_blender)


@nox.session
@nox.parametrize("python,blender", [(python, version) for version, (python, _) in BLENDERS.items()], ids=BLENDERS)
def blender(session: nox.Session, blender: str) -> None:
    """One Blender: the zip is built, looked into, installed and removed; then the tests of the Blender side."""
    install_blender(session, blender)
    make_zips(session, "current")
    # numba comes from the wheels of the zip and not from this environment, where it would hide a broken zip.
    solver = Path(session.create_tmp()).resolve() / "solver"
    shutil.rmtree(solver, ignore_errors=True)
    from_zip = ["--quiet", "--no-deps", "--no-index", "--find-links=wheels", f"--target={solver}"]
    session.run("python", "-m", "pip", "install", *from_zip, *group("solver"))
    run_pytest(session, f"blender-{blender}", *BLENDER_TESTS, PYTHONPATH=str(solver))


def install_blender(session: nox.Session, version: str) -> None:
    """Blender as a Python module, with its own numpy and without numba, which only the zip may bring."""
    session.install(f"bpy=={version}", f"numpy=={BLENDERS[version][1]}", *group("test"))
    try:
        session.run("python", "-c", "import bpy", silent=True)
    except nox.command.CommandFailed:
        session.error(f"Blender {version} does not start; on Linux it needs {SYSTEM_LIBRARIES} (Debian's names).")


def make_zips(session: nox.Session, *platforms: str) -> None:
    """Fetch the wheels and build the zips, with the bpy of this session."""
    for action in ("fetch", "build"):
        session.run("python", "tools/build_extension.py", action, *(f"--platform={name}" for name in platforms))


@nox.session(python="3.11")
def fetch_wheels(session: nox.Session) -> None:
    """Download the wheels of all platforms."""
    session.run("python", "tools/build_extension.py", "fetch")


@nox.session(python="3.11")
def build(session: nox.Session) -> None:
    """The zips of all platforms, in build/dist/."""
    session.install(f"bpy=={DEMO_BLENDER}")
    make_zips(session)


@nox.session(python="3.11")
def demo(session: nox.Session) -> None:
    """The main job: the sample scene, baked and rendered in real Blender, in build/demo/."""
    install_blender(session, DEMO_BLENDER)
    make_zips(session, "current")
    session.run("python", "sample_blends/demo.py", *session.posargs)


@nox.session(python="3.11")
def papers(session: nox.Session) -> None:
    """The papers' experiments: docs/papers.md and its figures, written anew."""
    install_blender(session, DEMO_BLENDER)  # for the pictures of bodies
    session.install(*group("papers"))
    session.run("python", "experiments/run.py", *session.posargs)


@nox.session(python="3.11")
def bench(session: nox.Session) -> None:
    """Every engine on the same scenes, and our own time: docs/benchmarks.md, its figures and JSON, written anew."""
    install_blender(session, DEMO_BLENDER)
    session.install(*group("bench"))
    # Kernels are kept between runs, so that the compiler does not count among the memory of a scene.
    cache = Path(session.create_tmp()).resolve() / "numba"
    session.run("python", "benchmarks/run.py", *session.posargs, env={"NUMBA_CACHE_DIR": str(cache)})


def read_counts(report: Path) -> dict[str, int]:
    """Passed, failed and skipped tests and whole seconds of a pytest report."""
    suite = ElementTree.parse(report).getroot()[0]
    failed = int(suite.attrib["failures"]) + int(suite.attrib["errors"])
    skipped = int(suite.attrib["skipped"])
    passed = int(suite.attrib["tests"]) - failed - skipped
    return {"passed": passed, "failed": failed, "skipped": skipped, "seconds": round(float(suite.attrib["time"]))}


@nox.session(python="3.11")
def samples(session: nox.Session) -> None:
    """The sample files, written anew in the oldest Blender."""
    install_blender(session, SAMPLE_BLENDER)
    session.install(*group("solver"))
    session.run("python", "sample_blends/build.py")


@nox.session(python=False)
def summary(session: nox.Session) -> None:
    """One line per test run; fails if a run failed or did not happen."""
    pythons = {"core": "3.11"} | {f"blender-{version}": python for version, (python, _) in BLENDERS.items()}
    total = {"passed": 0, "failed": 0, "skipped": 0}
    missing = []
    lines = []
    for name, python in pythons.items():
        report = RESULTS / f"{name}.xml"
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
