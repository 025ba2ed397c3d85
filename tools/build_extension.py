#!/usr/bin/env python3
"""Fetch the extension's wheels, compile its kernels and build its zips, with Python 3.11 or later and pip.

    python tools/build_extension.py fetch [--platform linux-x64 ...]   downloads the listed wheels to wheels/
    python tools/build_extension.py compile                            kernels of this platform, to build/compiled/
    python tools/build_extension.py build [--platform linux-x64 ...]   writes zips to build/dist/

`build` writes two editions. The *release* edition, for a page of releases, has the wheels of all Pythons and the
kernels that `compile` made. The *platform* edition, for extensions.blender.org, holds no machine code but the wheels,
unmodified as the registry has them: one zip for each Python, so its manifest says which Blender it is for. Each zip
says in EDITION.txt which it is, and in LICENSES.txt what it brings and under which licenses.

`compile` needs each Python that the wheels are for (3.11 and 3.13), on PATH, from pyenv or the Windows launcher. It
compiles every kernel of every method for the platform's processor family, which takes some minutes unless the folder
`NUMBA_CACHE_DIR` holds them, then looks in a new process which of them a simulation loads. A zip without kernels works
as well: they are compiled where they are used.

`build` uses Blender's own packaging command, a file of the standard library only that comes with the `bpy` wheel
(`pip install bpy==5.0.1`) and with every Blender. Without `--platform` all platforms are done; `--platform current`
means the machine this runs on.
"""

import argparse
import email
import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WHEELS = ROOT / "wheels"
DIST = ROOT / "build" / "dist"
COMPILED = ROOT / "build" / "compiled"
#: Tells the sources that `COMPILED` is of.
STAMP = COMPILED.with_name("compiled.txt")
#: numpy of the newest Blender with each Python.
NUMPY = {"311": "1.26.4", "313": "2.3.5"}
#: The first Blender with each Python, and the first without it; empty while there is none.
BLENDERS = {"311": ("4.2.0", "5.1.0"), "313": ("5.1.0", "")}
RELEASE = "release"

#: Blender's name of a platform: the system and processor as Python calls them, what the tags of its wheels end with,
#: and the processors that kernels are compiled for, as LLVM calls them (`core/kernel_store.py`).
PLATFORMS = {
    "linux-x64": (("Linux", "x86_64"), "x86_64", "x86-64-v3"),
    "windows-x64": (("Windows", "AMD64"), "win_amd64", "x86-64-v3"),
    "macos-arm64": (("Darwin", "arm64"), "arm64", "apple-m1"),
}


@dataclass(frozen=True, slots=True)
class Wheel:
    """One wheel of the manifest, taken apart at the dashes of its file name."""

    file_name: str

    @property
    def requirement(self) -> str:
        """What pip is asked for: `numba==0.68.1`."""
        name, version = self.file_name.split("-")[:2]
        return f"{name}=={version}"

    @property
    def python(self) -> str:
        """The Python it is for, as pip writes it: `311`."""
        return self.file_name.split("-")[2].removeprefix("cp")

    @property
    def platform_tags(self) -> list[str]:
        """One or more tags: `["manylinux_2_27_x86_64", "manylinux_2_28_x86_64"]`."""
        return self.file_name.removesuffix(".whl").split("-")[4].split(".")

    @property
    def platform(self) -> str:
        """Blender's name of the platform: `linux-x64`."""
        return next(name for name, (_, end, _) in PLATFORMS.items() if self.platform_tags[0].endswith(end))


def read_manifest() -> dict[str, Any]:
    """The manifest as a dictionary."""
    return tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))


def listed_wheels(platforms: list[str]) -> list[Wheel]:
    """The manifest's wheels for these platforms."""
    wheels = [Wheel(Path(path).name) for path in read_manifest()["wheels"]]
    return [wheel for wheel in wheels if wheel.platform in platforms]


def fetch(platforms: list[str]) -> None:
    """Download the listed wheels that are not there yet; exits if the registry's file has another name."""
    WHEELS.mkdir(exist_ok=True)
    for wheel in listed_wheels(platforms):
        if (WHEELS / wheel.file_name).exists():
            continue
        with tempfile.TemporaryDirectory(dir=WHEELS) as folder:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
            command += ["--dest", folder, "--python-version", wheel.python]
            command += [word for tag in wheel.platform_tags for word in ("--platform", tag)]
            if subprocess.run([*command, wheel.requirement]).returncode:
                sys.exit(f"{wheel.file_name}: pip found no such wheel. Correct the list in blender_manifest.toml.")
            found = next(Path(folder).iterdir())
            if found.name != wheel.file_name:
                sys.exit(f"{wheel.file_name}: the registry calls it {found.name}. Correct blender_manifest.toml.")
            found.replace(WHEELS / wheel.file_name)
        print(f"fetched {wheel.file_name}", flush=True)


def find_python(version: str) -> Path | None:
    """A Python of this version (`3.13`) that really starts: from PATH, pyenv or the Windows launcher."""
    name = f"python{version}"
    candidates = [[sys.executable]]
    candidates += [[str(Path(folder) / name)] for folder in os.get_exec_path() if (Path(folder) / name).exists()]
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


def compile_kernels() -> None:
    """Compile all kernels for this machine's platform and each Python of its wheels, to build/compiled/.

    Nothing is done where that folder has those of these sources. Otherwise, what `NUMBA_CACHE_DIR` holds is taken from
    there. The Pythons work side by side.
    """
    wheels = listed_wheels([current_platform()])
    stamp = "\n".join([source_digest(), *sorted(wheel.file_name for wheel in wheels)])
    if STAMP.exists() and STAMP.read_text(encoding="utf-8") == stamp:
        return
    shutil.rmtree(COMPILED, ignore_errors=True)
    COMPILED.mkdir(parents=True)
    found = {python: find_python(f"{python[0]}.{python[1:]}") for python in {wheel.python for wheel in wheels}}
    if None in found.values():
        absent = " and ".join(f"{python[0]}.{python[1:]}" for python, interpreter in found.items() if not interpreter)
        print(f"Python {absent}: not found, its kernels will be compiled where they are used.", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=COMPILED.parent) as folder, ThreadPoolExecutor() as pool:
        running = [
            pool.submit(compile_for, interpreter, python, Path(folder) / python, wheels)
            for python, interpreter in sorted(found.items())
            if interpreter
        ]
        for run in running:
            kept = run.result()
            size = sum(path.stat().st_size for path in kept.iterdir())
            print(f"compiled {kept.name}: {size / 1e6:.1f} MB", flush=True)
    if None not in found.values():
        STAMP.write_text(stamp, encoding="utf-8")


def source_digest() -> str:
    """Of all sources that kernels can depend on."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "core").rglob("*.py")):
        digest.update(f"{path.relative_to(ROOT).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def compile_for(interpreter: Path, python: str, place: Path, wheels: list[Wheel]) -> Path:
    """Compile all kernels for one Python, working in `place`; returns their folder in build/compiled/."""
    command = [str(interpreter), "-m", "pip", "install", "--quiet", "--no-deps", f"--target={place / 'site'}"]
    mine = [str(WHEELS / wheel.file_name) for wheel in wheels if wheel.python == python]
    if subprocess.run([*command, "--root-user-action=ignore", *mine, f"numpy=={NUMPY[python]}"]).returncode:
        raise SystemExit(f"{interpreter}: pip cannot install the wheels. Run the action `fetch` first.")
    cache = Path(os.environ.get("NUMBA_CACHE_DIR") or place) / "softpressure"
    asked = {"site": str(place / "site"), "folder": str(cache.resolve()), "jobs": None, "copies": str(place / "copies")}
    run = subprocess.run(
        [str(interpreter), "-I", str(ROOT / "core" / "compile.py")],
        input=json.dumps(asked),
        text=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "NUMBA_CPU_NAME": PLATFORMS[current_platform()][2], "NUMBA_CPU_FEATURES": ""},
    )
    if run.returncode:
        raise SystemExit(f"{interpreter}: the kernels cannot be compiled, see the message above.")
    kept = next((place / "copies").iterdir())
    return kept.rename(COMPILED / kept.name)


def run_packager(*arguments: str) -> None:
    """Run Blender's packaging command, tags checked against its closed list; exits if it fails.

    It is `blender_ext.py` in the `bpy` package of this Python, which is not imported.
    """
    spec = importlib.util.find_spec("bpy")
    if spec is None or spec.origin is None:
        sys.exit(f"bpy: not installed in {sys.executable}; it holds Blender's packager. pip install bpy==5.0.1")
    scripts = next(Path(spec.origin).parent.glob("*/scripts"))
    packager = scripts / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"
    tags = scripts / "modules" / "_bpy_internal" / "extensions" / "tags.py"
    known_tags = [f"--valid-tags={tags}"] if tags.exists() else []
    if subprocess.run([sys.executable, str(packager), *arguments, *known_tags]).returncode:
        sys.exit(f"{packager.name} {' '.join(arguments)}: failed, see its message above.")


def stage(folder: Path, name: str, edition: str) -> None:
    """Copy the sources into `folder` with a manifest that lists only one platform and the wheels of an edition.

    `edition`: RELEASE, or the Python of a zip for the platform, such as `311`. Kernels go with a release, if it is for
    this machine's platform and `compile` made them.
    """
    skipped = shutil.ignore_patterns(
        ".*", "__pycache__", "build", "wheels", "compiled"
    )  # large; the manifest excludes the rest
    shutil.copytree(ROOT, folder, ignore=skipped, dirs_exist_ok=True)
    manifest = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    manifest = re.sub(r"^platforms = .*$", f'platforms = ["{name}"]', manifest, flags=re.MULTILINE)
    all_wheels = listed_wheels(list(PLATFORMS))
    wheels = [wheel for wheel in all_wheels if wheel.platform == name and edition in (RELEASE, wheel.python)]
    for wheel in all_wheels:
        if wheel not in wheels:
            manifest = manifest.replace(f'  "./wheels/{wheel.file_name}",\n', "")
    what = "Release: all Pythons of Blender, for a page of releases."
    if edition != RELEASE:
        least, most = BLENDERS[edition]
        lines = f'blender_version_min = "{least}"' + (f'\nblender_version_max = "{most}"' if most else "")
        manifest = re.sub(r"^blender_version_min = .*$", lines, manifest, flags=re.MULTILINE)
        what = f"Platform: Python {edition[0]}.{edition[1:]} alone, for extensions.blender.org."
    elif COMPILED.is_dir() and name == current_platform():
        shutil.copytree(COMPILED, folder / "core" / "compiled", dirs_exist_ok=True)
    kernels = "compiled in advance" if (folder / "core" / "compiled").is_dir() else "none; compiled on first use"
    (folder / "EDITION.txt").write_text(f"{what}\nKernels: {kernels}.\n", encoding="utf-8")
    (folder / "wheels").mkdir()
    for wheel in wheels:
        try:
            os.link(WHEELS / wheel.file_name, folder / "wheels" / wheel.file_name)
        except FileNotFoundError:
            sys.exit(f"wheels/{wheel.file_name}: missing. Run `python tools/build_extension.py fetch` first.")
        except OSError:  # no hard links here
            shutil.copy(WHEELS / wheel.file_name, folder / "wheels")
    (folder / "LICENSES.txt").write_text(licenses_text(wheels), encoding="utf-8")
    (folder / "blender_manifest.toml").write_text(manifest, encoding="utf-8")


def licenses_text(wheels: list[Wheel]) -> str:
    """What the zip brings and under which licenses, as the wheels themselves say."""
    lines = ["Soft Pressure: GPL-3.0-or-later (LICENSE)"]
    for wheel in wheels:
        with zipfile.ZipFile(WHEELS / wheel.file_name) as archive:
            place = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            about = email.message_from_bytes(archive.read(place))
        license_ = about["License-Expression"] or about["License"]
        texts = ", ".join(about.get_all("License-File", []))
        lines.append(f"wheels/{wheel.file_name}, unmodified from pypi.org: {license_}")
        lines.append(f"  texts in its .dist-info: {texts}")
    return "\n".join(lines) + "\n"


def build(platforms: list[str]) -> None:
    """Write the zips of each platform to build/dist/; the committed manifest is not touched."""
    DIST.mkdir(parents=True, exist_ok=True)
    for name in platforms:  # each has kernels of its own
        for edition in (RELEASE, *BLENDERS):
            target = zip_path(name, edition)
            with tempfile.TemporaryDirectory(dir=DIST.parent) as folder:
                stage(Path(folder), name, edition)
                run_packager("build", f"--source-dir={folder}", f"--output-filepath={target}")
            print(f"{target.name}: {target.stat().st_size / 1e6:.1f} MB", flush=True)


def zip_path(platform_name: str, edition: str = RELEASE) -> Path:
    """Where `build` leaves the zip of a platform: of a release, or for the platform with one Python (`311`)."""
    of_platform = "" if edition == RELEASE else f"-platform-cp{edition}"
    return DIST / f"softpressure-{read_manifest()['version']}-{platform_name.replace('-', '_')}{of_platform}.zip"


def current_platform() -> str:
    """Blender's name of the platform this runs on; exits if there are no wheels for it."""
    machine = (platform.system(), platform.machine())
    for name, (known, _, _) in PLATFORMS.items():
        if machine == known:
            return name
    sys.exit(f"{machine[0]} {machine[1]}: no numba wheels for this platform in blender_manifest.toml.")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["fetch", "compile", "build"])
    known = [*PLATFORMS, "current"]
    parser.add_argument("--platform", action="append", choices=known, help="may be repeated; default: all")
    arguments = parser.parse_args()
    wanted = arguments.platform or read_manifest()["platforms"]
    platforms = [current_platform() if name == "current" else name for name in wanted]
    if arguments.action == "compile":
        compile_kernels()
    else:
        (fetch if arguments.action == "fetch" else build)(platforms)


if __name__ == "__main__":
    main()
