"""In a real window: the picture of the panels in `docs/features.md`, `docs/panels.png`, made anew.

    blender --python tests/window/panels.py -- [--zip ZIP] [--folder docs]

The extension must be installed, or is from `--zip`. The screen must be so high that all panels of a body fit when they
are open, about 4500 pixels: `Xvfb :9 -screen 0 1400x4600x24`, and Blender's `--window-geometry 0 0 1400 4600`.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))
sys.path.append(str(Path(__file__).resolve().parent))

import guide
import sidebar
import steps

#: Of the picture: rows that a column has at most [pixels].
MOST = 1000
#: Panels that stay closed: ten rows of one kind, and what the papers choose.
CLOSED = {"fields", "method"}
#: Panels that are open at first.
FIRST = {"body", "simulation", "bake"}


def ball() -> None:
    """An inflated body over a floor, with a hose to another."""
    bpy.ops.mesh.primitive_plane_add(size=20)
    bpy.ops.softpressure.add_body(kind="COLLIDER")
    for x in (2.0, 0.0):
        bpy.ops.mesh.primitive_uv_sphere_add(segments=24, ring_count=16, radius=0.5, location=(x, 0, 1))
        bpy.ops.softpressure.add_body(kind="SOFT")
    bpy.context.object.name = "Ball"
    bpy.ops.object.select_all(action="DESELECT")
    guide.select("Sphere", "Ball")
    bpy.ops.softpressure.add_hose()
    guide.select("Ball")
    bpy.context.scene.softpressure.frame_end = 24
    bpy.ops.softpressure.simulate("INVOKE_DEFAULT")


def jelly() -> None:
    """A solid body."""
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3)
    bpy.ops.softpressure.set_type(type="SOLID")


def open_panels(sections: set[str]) -> None:
    """Register the panels of the sidebar anew: those of these sections open, all others closed."""
    ours = [cls for cls in steps.module("panels").CLASSES if getattr(cls, "bl_category", "") == "Soft Pressure"]
    panels = [cls for cls in ours if hasattr(cls, "section")]  # the row of controls is always open
    for cls in reversed(panels):
        bpy.utils.unregister_class(cls)
    for cls in panels:
        closed: Any = set() if cls.section in sections else {"DEFAULT_CLOSED"}
        cls.bl_options = closed
        bpy.utils.register_class(cls)


def make(options: argparse.Namespace) -> Iterator[float]:
    """The picture; yields times to wait [s]."""
    if options.zip:
        steps.install(options.zip)
        yield sidebar.REDRAW
    sections = {cls.section for cls in steps.module("panels").CLASSES if hasattr(cls, "section")}
    found: list[np.ndarray] = []
    shown = steps.module("panels.preferences").preferences()
    for build, opened, shown.advanced in ((ball, FIRST, False), (ball, sections - CLOSED, True), (jelly, FIRST, False)):
        open_panels(opened)
        with steps.in_view():
            guide.start()
        yield sidebar.REDRAW  # the new file is in the window by then
        with steps.in_view():
            build()
        yield sidebar.REDRAW
        yield from sidebar.show()
        while not steps.is_over():
            yield sidebar.REDRAW
        drawn: list[np.ndarray] = []
        yield from sidebar.read("UI", drawn)
        found += sidebar.columns(drawn[0], MOST)
    sidebar.save(found, options.folder / "panels.png")
    print("WINDOW TEST PASSED", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--zip")
    parser.add_argument("--folder", type=Path, default=Path("docs"))
    steps.run(make(parser.parse_args(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else [])))
