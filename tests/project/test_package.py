"""The manifest is valid for the Blender at hand, and the zip holds its files and no others."""

import re
import subprocess
import sys
import tomllib
import zipfile
from itertools import product
from pathlib import Path

import build_extension
import pytest

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
LAYERS = ("core", "softpressure", "operators", "panels")


@pytest.fixture(scope="module")
def package() -> zipfile.ZipFile:
    """The built zip of this platform."""
    path = build_extension.zip_path(build_extension.current_platform())
    assert path.exists(), f"{path}: missing. Run `python tools/build_extension.py build --platform current`."
    return zipfile.ZipFile(path)


def test_manifest_lists_a_wheel_for_every_package_python_and_platform() -> None:
    wheels = [build_extension.Wheel(Path(path).name) for path in MANIFEST["wheels"]]
    found = sorted((wheel.requirement, wheel.python, wheel.platform) for wheel in wheels)
    assert found == sorted(
        product(["numba==0.68.1", "llvmlite==0.50.0"], ["311", "313"], ["linux-x64", "windows-x64", "macos-arm64"])
    )
    assert MANIFEST["platforms"] == ["linux-x64", "windows-x64", "macos-arm64"]


def python_files(folder: str) -> list[Path]:
    """All Python files below a folder of the repository."""
    return sorted((ROOT / folder).rglob("*.py"))


def test_version_is_written_once() -> None:
    version = MANIFEST["version"]
    assert f"\n## {version}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    written = re.compile(rf"(?<![\d.]){re.escape(version)}(?![\d.])")
    sources = [path for folder in (*LAYERS, "tests", "tools") for path in python_files(folder)]
    sources += [ROOT / "__init__.py", ROOT / "noxfile.py", ROOT / "pyproject.toml"]
    assert [path for path in sources if written.search(path.read_text(encoding="utf-8"))] == []


def test_zip_holds_every_source_of_the_extension(package: zipfile.ZipFile) -> None:
    sources = {path.relative_to(ROOT).as_posix() for layer in LAYERS for path in python_files(layer)}
    names = set(package.namelist())
    assert sources <= names
    assert {"__init__.py", "blender_manifest.toml", "LICENSE", "README.md"} <= names
    for name in sorted(sources):
        assert package.read(name) == (ROOT / name).read_bytes(), f"{name} changed since the zip was built"


@pytest.fixture(params=sorted(build_extension.BLENDERS))
def for_platform(request: pytest.FixtureRequest) -> tuple[str, zipfile.ZipFile]:
    """A Python, and the zip with it for extensions.blender.org."""
    path = build_extension.zip_path(build_extension.current_platform(), request.param)
    return request.param, zipfile.ZipFile(path)


def test_a_zip_for_the_platform_holds_no_machine_code_but_unmodified_wheels_of_one_python(
    for_platform: tuple[str, zipfile.ZipFile],
) -> None:
    python, package = for_platform
    names = [name for name in package.namelist() if not name.startswith("wheels/")]
    assert {Path(name).suffix for name in names} <= {".py", ".md", ".toml", ".html", ".txt", ""}
    assert not [name for name in names if "compiled/" in name or name.startswith(("sample_blends/", "CHANGELOG"))]
    wheels = build_extension.listed_wheels([build_extension.current_platform()])
    mine = [wheel.file_name for wheel in wheels if wheel.python == python]
    assert [name.removeprefix("wheels/") for name in package.namelist() if name.startswith("wheels/")] == mine
    for name in mine:
        assert package.read(f"wheels/{name}") == (build_extension.WHEELS / name).read_bytes()
        assert name in package.read("LICENSES.txt").decode()
    manifest = tomllib.loads(package.read("blender_manifest.toml").decode())
    least, most = build_extension.BLENDERS[python]
    assert (manifest["blender_version_min"], manifest.get("blender_version_max", "")) == (least, most)
    assert manifest["copyright"] and manifest["website"] and "processes" in manifest["permissions"]["files"]
    assert package.read("EDITION.txt").decode().startswith("Platform:")
    assert package.filename is not None
    build_extension.run_packager("validate", package.filename)


def test_zip_holds_nothing_else(package: zipfile.ZipFile) -> None:
    top = {name.split("/")[0] for name in package.namelist()}
    files = {
        "__init__.py",
        "blender_manifest.toml",
        "LICENSE",
        "README.md",
        "manual.html",
        "EDITION.txt",
        "LICENSES.txt",
    }
    assert top == {*LAYERS, "wheels"} | files
    endings = {Path(name).suffix for name in package.namelist() if not name.startswith("wheels/")}
    assert endings == {".py", ".md", ".toml", ".html", ".txt", "", ".kernel", ".ready"}


def test_zip_holds_kernels_of_these_sources_for_every_job(package: zipfile.ZipFile) -> None:
    from softpressure_ext.core import kernel_store, prepare

    folder = f"core/compiled/{kernel_store.folders()[0].name}/"
    names = {name.removeprefix(folder) for name in package.namelist() if name.startswith(folder)}
    assert {kernel_store._mark(job.name) for job in prepare.all_jobs()} <= names
    kernels = [name for name in names if name.endswith(".kernel")]
    assert len(kernels) > 90 and not [name for name in names if kernel_store._is_stale(name)]
    others = [name for name in package.namelist() if name.startswith("core/compiled/")]
    assert sum(package.getinfo(name).compress_size for name in others) < 40e6


def test_zip_holds_the_wheels_of_its_platform_only(package: zipfile.ZipFile) -> None:
    wheels = build_extension.listed_wheels([build_extension.current_platform()])
    found = {name.removeprefix("wheels/") for name in package.namelist() if name.startswith("wheels/")}
    assert found == {wheel.file_name for wheel in wheels}
    manifest = tomllib.loads(package.read("blender_manifest.toml").decode())
    assert manifest["wheels"] == [f"./wheels/{wheel.file_name}" for wheel in wheels]
    assert {key: manifest[key] for key in ("id", "version", "permissions")} == {
        key: MANIFEST[key] for key in ("id", "version", "permissions")
    }


def test_zip_passes_blenders_own_validator(package: zipfile.ZipFile) -> None:
    assert package.filename is not None
    build_extension.run_packager("validate", package.filename)


def test_building_leaves_the_committed_manifest_alone() -> None:
    before = (ROOT / "blender_manifest.toml").read_bytes()
    command = [sys.executable, str(ROOT / "tools" / "build_extension.py"), "build", "--platform=current"]
    subprocess.run(command, check=True, capture_output=True)
    assert (ROOT / "blender_manifest.toml").read_bytes() == before
