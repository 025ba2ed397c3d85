#!/usr/bin/env python3
"""Fetch the extension's wheels and build its zips, with Python 3.11 or later and pip.

    python tools/build_extension.py fetch [--platform linux-x64 ...]   downloads the listed wheels to wheels/
    python tools/build_extension.py build [--platform linux-x64 ...]   writes zips to build/dist/

`build` uses Blender's own packaging command, a file of the standard library only that comes with the `bpy` wheel
(`pip install bpy==5.0.1`) and with every Blender. Without `--platform` all platforms are done; `--platform current`
means the machine this runs on.
"""

import argparse
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WHEELS = ROOT / "wheels"
DIST = ROOT / "build" / "dist"

# Blender's name of a platform, by what its wheel tags end with.
PLATFORM_BY_TAG = {"x86_64": "linux-x64", "win_amd64": "windows-x64", "arm64": "macos-arm64"}
PLATFORM_BY_MACHINE = {
    ("Linux", "x86_64"): "linux-x64",
    ("Windows", "AMD64"): "windows-x64",
    ("Darwin", "arm64"): "macos-arm64",
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
        return next(name for end, name in PLATFORM_BY_TAG.items() if self.platform_tags[0].endswith(end))


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


def blender_packager() -> Path:
    """Blender's `blender_ext.py`, in the `bpy` package of this Python (which is not imported)."""
    spec = importlib.util.find_spec("bpy")
    if spec is None or spec.origin is None:
        sys.exit(f"bpy: not installed in {sys.executable}; it holds Blender's packager. pip install bpy==5.0.1")
    scripts = next(Path(spec.origin).parent.glob("*/scripts"))
    return scripts / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"


def run_packager(*arguments: str) -> None:
    """Run Blender's packaging command, tags checked against its closed list; exits if it fails."""
    packager = blender_packager()
    tags = packager.parents[3] / "modules" / "_bpy_internal" / "extensions" / "tags.py"
    known_tags = [f"--valid-tags={tags}"] if tags.exists() else []
    if subprocess.run([sys.executable, str(packager), *arguments, *known_tags]).returncode:
        sys.exit(f"{packager.name} {' '.join(arguments)}: failed, see its message above.")


def stage(folder: Path, platforms: list[str]) -> None:
    """Copy the sources into `folder` with a manifest that lists only these platforms and their wheels."""
    skipped = shutil.ignore_patterns(".*", "__pycache__", "build", "wheels")  # large; the manifest excludes the rest
    shutil.copytree(ROOT, folder, ignore=skipped, dirs_exist_ok=True)
    manifest = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    listed = ", ".join(f'"{name}"' for name in platforms)
    manifest = re.sub(r"^platforms = .*$", f"platforms = [{listed}]", manifest, flags=re.MULTILINE)
    (folder / "wheels").mkdir()
    for wheel in listed_wheels(list(PLATFORM_BY_TAG.values())):
        if wheel.platform not in platforms:
            manifest = manifest.replace(f'  "./wheels/{wheel.file_name}",\n', "")
            continue
        try:
            os.link(WHEELS / wheel.file_name, folder / "wheels" / wheel.file_name)
        except FileNotFoundError:
            sys.exit(f"wheels/{wheel.file_name}: missing. Run `python tools/build_extension.py fetch` first.")
        except OSError:  # no hard links here
            shutil.copy(WHEELS / wheel.file_name, folder / "wheels")
    (folder / "blender_manifest.toml").write_text(manifest, encoding="utf-8")


def build(platforms: list[str]) -> None:
    """Write one zip per platform to build/dist/; the committed manifest is not touched."""
    DIST.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=DIST.parent) as folder:
        stage(Path(folder), platforms)
        run_packager("build", f"--source-dir={folder}", f"--output-dir={DIST}", "--split-platforms")


def zip_path(platform_name: str) -> Path:
    """Where `build` leaves the zip of a platform."""
    return DIST / f"softpressure-{read_manifest()['version']}-{platform_name.replace('-', '_')}.zip"


def current_platform() -> str:
    """Blender's name of the platform this runs on; exits if there are no wheels for it."""
    machine = (platform.system(), platform.machine())
    if machine not in PLATFORM_BY_MACHINE:
        sys.exit(f"{machine[0]} {machine[1]}: no numba wheels for this platform in blender_manifest.toml.")
    return PLATFORM_BY_MACHINE[machine]


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["fetch", "build"])
    known = [*PLATFORM_BY_TAG.values(), "current"]
    parser.add_argument("--platform", action="append", choices=known, help="may be repeated; default: all")
    arguments = parser.parse_args()
    wanted = arguments.platform or read_manifest()["platforms"]
    platforms = [current_platform() if name == "current" else name for name in wanted]
    (fetch if arguments.action == "fetch" else build)(platforms)


if __name__ == "__main__":
    main()
