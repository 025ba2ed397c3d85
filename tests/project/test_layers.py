"""Each layer imports only what lies below it; nothing imports itself by an absolute name."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sources import NAMES, ROOT, SOURCES, modules_of, nodes_of

BLENDER = {
    "bpy",
    "bmesh",
    "mathutils",
    "bpy_extras",
    "addon_utils",
    "gpu",
    "gpu_extras",
    "blf",
    "bl_operators",
    "bl_ui",
}
OUR_LAYERS = {"core", "softpressure", "operators", "panels"}
ALLOWED = {
    "core": {"core", "numpy", "numba"},
    "softpressure": {"softpressure", "core", "numpy", *BLENDER},
    "operators": {"operators", "softpressure", *BLENDER},
    "panels": {"panels", "softpressure", *BLENDER},
}
EXCEPTIONS = {
    "core/kernel_store.py": {"llvmlite"},  # knows this machine's processor
    "core/compile.py": {"softpressure_core"},  # its own name for core, in a process that has nothing else of ours
}


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield (top-level target, is it relative) of every import, wherever it stands in the file."""
    package = path.relative_to(ROOT).parent.parts
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name.split(".")[0], False) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield (node.module or "").split(".")[0], False
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1]
            inside = [*base, *(node.module or "").split(".")] if node.module else list(base)
            if inside:
                yield inside[0], True
            else:  # `from .. import core`, or `from .. import PACKAGE` of the root
                yield from ((alias.name if alias.name in OUR_LAYERS else "root", True) for alias in node.names)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_layer_imports_only_what_lies_below_it(path: Path) -> None:
    layer = path.relative_to(ROOT).parts[0]
    allowed = ALLOWED[layer] | EXCEPTIONS.get(path.relative_to(ROOT).as_posix(), set())
    for target, is_relative in imports(path):
        if is_relative:
            assert target in allowed or (target == "root" and layer == "softpressure"), (layer, target)
        else:
            assert target not in OUR_LAYERS | {"bl_ext", "softpressure_ext"}, f"import {target} relatively"
            assert target in allowed - OUR_LAYERS or target in sys.stdlib_module_names, (layer, target)


def test_no_error_of_the_core_names_menus_or_modes_of_blender() -> None:
    for path in sorted((ROOT / "core").rglob("*.py")):
        for node in nodes_of(path):
            if isinstance(node, ast.Raise) and node.exc is not None:
                parts = [part.value for part in ast.walk(node.exc) if isinstance(part, ast.Constant)]
                text = " ".join(part for part in parts if isinstance(part, str))
                found = re.search(r"Edit Mode|Object Mode|Blender|Alt |Ctrl |[A-Z]\w+ > [A-Z]", text)
                assert found is None, f"{path.name}, line {node.lineno}: {text}"


def test_no_key_is_bound_and_no_process_is_run_but_those_that_the_manifest_tells_of() -> None:
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in SOURCES}
    assert not [name for name, text in texts.items() if "keymap_items" in text]
    running = {name for name, text in texts.items() if re.search(r"\bsubprocess\.|os\.(system|popen|spawn|exec)", text)}
    assert running == {"core/prepare.py", "softpressure/batch/sweep.py"}
    assert "processes" in (ROOT / "blender_manifest.toml").read_text(encoding="utf-8").split("[permissions]")[1]


def test_root_imports_the_standard_library_alone_at_module_level() -> None:
    tree = ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8"))
    assert [ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)] == [
        "from typing import Any"
    ]
    found = {target for target, is_relative in imports(ROOT / "__init__.py") if is_relative}
    assert found == {"softpressure", "operators", "panels"}  # it registers them all, and reaches past none


def test_no_module_imports_itself_through_others() -> None:
    imported = {name: set(modules_of(path, for_types_too=not name.startswith("core"))) for name, path in NAMES.items()}
    assert "softpressure/state/sessions" in imported["softpressure/simulation/timeline"]
    while True:  # take away what imports nothing that is left
        ends = [name for name, targets in imported.items() if not (targets - {name}) & imported.keys()]
        if not ends:
            break
        for name in ends:
            del imported[name]
    assert not imported, f"circles among or above: {sorted(imported)}"


def test_registering_loads_nothing_of_the_core_that_needs_more_than_python() -> None:
    """The core imports numba, which takes most of a second: modules that need it are imported inside functions."""
    known = NAMES | {"root": ROOT / "__init__.py"}
    found, left = set[str](), ["core", *modules_of(known["root"])]
    while left:
        name = left.pop()
        found.add(name)
        left += [target for target in modules_of(known[name], at_import=True) if target not in found]
    assert "panels/scene" in found
    parameters = {name for name in known if name.startswith("core/parameters")}
    plain = {"core/errors", "core/garbage", *parameters}
    assert {name for name in found if name.startswith("core")} == {"core", "core/compiler", *plain}
    for path in (*(ROOT / "core/parameters").glob("*.py"), ROOT / "core/errors.py", ROOT / "core/garbage.py"):
        assert {target for target, is_relative in imports(path) if not is_relative} <= set(sys.stdlib_module_names)


#: Runs a ball and a box with each of the methods that are offered first, and prints what is loaded of the papers.
DEFAULT_PATH = """
import extension
extension.load()
import sys
import shapes
from softpressure_ext.core import ModelBuilder, World
for solver in ("EXPLICIT", "XPBD"):
    builder = ModelBuilder()
    builder.add_membrane("ball", *shapes.icosphere(1, 0.1, (0.0, 0.0, 0.101)), gauge_pressure=500.0)
    builder.add_rigid("box", *shapes.box(0.2, 1, (0.0, 0.0, 0.5)), mass=1.0)
    World(builder.build(), solver=solver, substeps=1)
print([name for name in sys.modules if ".core.papers" in name])
"""


def test_the_default_path_loads_nothing_of_the_papers() -> None:
    run = subprocess.run(
        [sys.executable, "-c", DEFAULT_PATH],
        cwd=ROOT / "tests" / "support",
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.split("\n")[-2:] == ["[]", ""], run.stdout + run.stderr
