"""The rooms of the core, and those of Blender's side, in their order: a file imports from its own room and those
below, never from above.
"""

import ast

from sources import NAMES, ROOT, modules_of, nodes_of

CORE = ROOT / "core"
#: From the lowest room up; a file belongs to the room with the longest of these paths.
ROOMS: tuple[tuple[str, ...], ...] = (
    ("errors", "garbage", "tiny", "array_types"),
    ("groups", "callees", "jit", "simd", "atomics", "team", "threads", "kernel_store", "union_find", "compiler"),
    ("topology", "model", "latest"),
    ("checks", "amount", "rigid_change"),
    ("parameters", "settings", "options"),
    ("contact/narrow_phase/closest_points", "contact/coulomb", "contact/mixing", "contact/restitution",
     "contact/kept_distance", "contact/crossings", "contact/box_tree", "contact/narrow_phase/nearest_triangle"),
    ("bodies/rigid/motion", "bodies/rigid/convex", "bodies/rigid/inertia", "bodies/flat/plane", "bodies/rounding"),
    ("energy",),
    ("impulses/goals", "impulses/oscillator"),
    ("simulation_mesh",),
    ("bodies",),
    ("volume", "inside_out"),
    ("animation/keyed",),
    ("state", "energy/mechanical", "inflation/supply"),
    ("divergence", "inflation/start_loads"),
    ("contact",),
    ("impulses",),
    ("plasticity",),
    ("flow",),
    ("solvers",),
    ("solvers/explicit/arrays", "solvers/explicit/layout", "solvers/explicit/search", "solvers/explicit/shape",
     "solvers/explicit/own"),
    ("solvers/rigid",),
    ("solvers/explicit",),
    ("solvers/sequential",),
    ("solvers/xpbd",),
    ("papers",),
    ("extras",),
    ("solvers/choice",),
    ("inflation",),
    ("animation",),
    ("builder", "transfer", "cache"),
    ("reports", "noted_frame", "diagnostics", "frame_input", "frame_reading"),
    ("world",),
    ("part_scenes", "prepare", "time_left", "compile"),
    ("interface", "__init__"),
)  # fmt: skip

#: Packages of Blender's side, from the lowest up; imports inside functions and for type checkers count, too.
PACKAGES = (
    "scene_io", "state", "bodies", "cache", "simulation", "reports", "baking", "exporting", "viewport", "properties",
    "batch",
)  # fmt: skip


def room_of(name: str) -> int:
    """Place of a file, or of a folder, in the order."""
    found = [(len(path), number) for number, room in enumerate(ROOMS) for path in room
             if name == path or name.startswith(f"{path}/")]  # fmt: skip
    assert found, f"{name}: no room of the core; give it one in `ROOMS`"
    return max(found)[1]


def test_no_import_runs_upward() -> None:
    found = set()
    for path in sorted(CORE.rglob("*.py")):
        name = path.relative_to(CORE).with_suffix("").as_posix()
        if name.endswith("__init__") and name != "__init__" and not name.startswith("parameters"):
            continue
        targets = {target.removeprefix("core/") for target in modules_of(path) if NAMES[target].name != "__init__.py"}
        found |= {(name, target) for target in targets if room_of(target) > room_of(name)}
    assert not found, sorted(found)


def test_every_room_is_there() -> None:
    for path in (path for room in ROOMS for path in room):
        assert (CORE / path).is_dir() or (CORE / f"{path}.py").is_file(), path


def test_packages_of_blenders_side_import_downward_only() -> None:
    folder = ROOT / "softpressure"
    assert {path.name for path in folder.iterdir() if (path / "__init__.py").is_file()} == set(PACKAGES)
    assert {path.name for path in folder.glob("*.py")} == {"__init__.py", "handlers.py"}  # above all packages
    found, count = [], 0
    for path in sorted(folder.glob("*/*.py")):
        own = path.parent.name
        for node in nodes_of(path):
            if isinstance(node, ast.ImportFrom) and node.level == 2:
                targets = [node.module.split(".")[0]] if node.module else [alias.name for alias in node.names]
                count += len(targets)
                found += [f"{own}/{path.name}: {name}" for name in targets
                          if PACKAGES.index(name) >= PACKAGES.index(own)]  # fmt: skip
    assert count > 150 and not found, found
