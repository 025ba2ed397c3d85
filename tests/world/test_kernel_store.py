"""Machine code in files: the key of a file, its readers, and the files that are dropped."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import extension
import numpy as np
import pytest
from softpressure_ext.core import jit, kernel_store
from softpressure_ext.core.union_find import root_of


class Pair(NamedTuple):
    first: int
    second: int


CORE = Path(kernel_store.__file__).parent


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """An empty folder of kernels."""
    before = kernel_store._user_folder
    kernel_store.use_folder(tmp_path)
    yield tmp_path
    kernel_store._user_folder = before


def fresh() -> Any:
    """A small kernel of the package, not compiled in this process."""
    return jit.kernel(root_of.py_func)


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.kernel"))


def test_compiled_kernels_are_loaded_the_next_time(folder: Path) -> None:
    first, second = fresh(), fresh()
    island = np.array([0, 0, 1], np.int32)
    assert first(island, 2) == 0
    assert len(files(folder)) == 1 and files(folder)[0].name.startswith("union_find.root_of-")
    assert second(island, 2) == 0
    assert second.stats.cache_hits and not second.stats.cache_misses


def test_a_file_that_is_not_whole_is_compiled_and_written_again(folder: Path) -> None:
    island = np.array([0, 0, 1], np.int32)
    fresh()(island, 2)
    (path,) = files(folder)
    whole = path.read_bytes()
    for left in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:left])
        assert fresh()(island, 2) == 0
        assert len(path.read_bytes()) > 0.9 * len(whole)


def test_an_unwritable_folder_is_no_error(folder: Path) -> None:
    (folder / "file").write_text("not a folder")
    kernel_store.use_folder(folder / "file")
    assert fresh()(np.array([0, 0, 1], np.int32), 2) == 0
    kernel_store.mark("nothing")
    assert not kernel_store.is_marked("nothing")


def test_a_name_depends_on_every_source_that_the_kernel_can_call(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = kernel_store.sources_of("solvers/explicit/steps.py")
    called = {"press.py", "skins.py", "steps.py"}
    assert {f"solvers/explicit/{file}" for file in called} | {"energy/stiffening.py", "jit.py", "simd.py"} <= sources
    assert "world.py" not in sources
    before = kernel_store.source_digest(sources)
    content = kernel_store._content
    monkeypatch.setattr(
        kernel_store, "_content", lambda file: (b"changed", []) if file == "energy/stiffening.py" else content(file)
    )
    assert kernel_store.source_digest(sources) != before


def test_every_import_within_the_core_is_seen() -> None:
    """The names of files follow a pattern of imports; an `ast` walk sees them all."""
    import ast

    for path in CORE.rglob("*.py"):
        file = path.relative_to(CORE).as_posix()
        seen = set(kernel_store._content(file)[1])
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.level:
                base = path.parents[node.level - 1]
                base = base.joinpath(*node.module.split(".")) if node.module else base
                found = [base.with_suffix(".py"), *(base / f"{name.name}.py" for name in node.names)]
                if CORE in base.parents or base == CORE:
                    assert {f.relative_to(CORE).as_posix() for f in found if f.is_file()} <= seen, file


def one_and_two() -> Pair:
    return Pair(1, 2)


def test_a_kernel_that_returns_a_record_is_refused(folder: Path) -> None:
    """Its code would name the class, whose module is called otherwise where the file is loaded: a crash."""
    one_and_two.__module__ = root_of.py_func.__module__
    with pytest.raises(TypeError, match="names a class"):
        jit.kernel(one_and_two)()


def test_marking_drops_kernels_and_marks_of_other_sources(folder: Path) -> None:
    fresh()(np.array([0, 0, 1], np.int32), 2)
    (kernel,) = files(folder)
    own = folder / kernel_store.folders()[1].name
    own.mkdir(exist_ok=True)
    stale = [
        own / "union_find.root_of-0123456789abcdef-0123456789abcdef.kernel",
        own / "no.longer_there-0123456789abcdef-0123456789abcdef.kernel",
        own / "implicit.skin-0123456789abcdef.ready",
    ]
    for path in stale:
        path.touch()
    (own / "somebody_elses.txt").touch()
    kernel_store.mark("implicit.skin")
    assert kernel_store.is_marked("implicit.skin") and not kernel_store.is_marked("implicit.rigid")
    assert kernel.exists() and not any(path.exists() for path in stale)
    assert (own / "somebody_elses.txt").exists()


@pytest.mark.parametrize("name", ["generic", ""])
def test_kernels_are_compiled_for_the_processor_of_the_environment(name: str) -> None:
    script = (
        "import extension; extension.load(); from softpressure_ext.core import kernel_store as k; print(k.target())"
    )
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_CPU")}
    if name:
        environment["NUMBA_CPU_NAME"] = name
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=extension.FOLDER, env=environment, capture_output=True, text=True
    )
    found = eval(run.stdout)
    assert found == ("generic", "") if name else found[0] in ("x86-64-v3", "apple-m1") or found[1]
