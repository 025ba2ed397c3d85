"""In a real window: the steps of the guide, each as the button would do it, and pictures of the panels.

    blender --python tests/window/guide.py -- [--zip ZIP] [--panels FOLDER] [01 02 ...]

runs pages whose names begin so, all if none is named. The extension must be installed, or is from `--zip`. With
`--panels` the pictures of the sidebar that the pages show are made anew there. `test_guide_window.py` runs it.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import gpu
import numpy as np

sys.path += [str(Path(__file__).resolve().parents[2] / "tools"), str(Path(__file__).resolve().parent)]

import guide
import stepping

#: What a statement of a step waits for at most, until its job is over [s].
PATIENCE = 900.0
#: Until panels are drawn that a statement has changed [s].
REDRAW = 0.1
#: How often panels are drawn until they have moved to their places.
SETTLING = 6
#: Width of the tabs, and of how many rows a column of panels has at most [pixels].
TABS, COLUMN = 26, 700
#: What panels lie on: the grey of Blender's sidebar.
BEHIND = 0.19


class Window(guide.Pictures):
    """Keeps which picture of the sidebar is wanted."""

    wanted = ""

    def panel(self, name: str) -> None:
        """Make it when the panels are drawn."""
        self.wanted = name


def module(name: str) -> Any:
    """A module of the installed extension."""
    return next(found for path, found in sys.modules.items() if path.endswith(f".softpressure.softpressure.{name}"))


def view() -> tuple[Any, Any, dict[str, Any]]:
    """Window, 3D viewport and its regions by type."""
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    return window, area, {region.type: region for region in area.regions}


def advance(steps: Iterator[guide.Step]) -> guide.Step | None:
    """One statement, as if the mouse were over the viewport."""
    window, area, regions = view()
    with bpy.context.temp_override(window=window, area=area, region=regions["WINDOW"]):
        return next(steps, None)


def is_over() -> bool:
    """Whether nothing runs any more."""
    return module("jobs").current() is None and not module("beside").is_busy()


def show_sidebar() -> Iterator[float]:
    """Open it with the tab of the extension; once it is drawn it has tabs."""
    began = time.monotonic()
    _, area, regions = view()
    area.spaces.active.show_region_ui = True
    while regions["UI"].active_panel_category == "UNSUPPORTED":
        assert time.monotonic() - began < PATIENCE, "the sidebar is not drawn"
        area.tag_redraw()
        yield REDRAW
        _, area, regions = view()
    if regions["UI"].active_panel_category != "Soft Pressure":
        regions["UI"].active_panel_category = "Soft Pressure"
    area.tag_redraw()
    yield REDRAW


def photograph(path: Path) -> Iterator[float]:
    """The panels of the sidebar, as they are drawn, in two columns if they are many."""
    drawn: list[np.ndarray] = []
    while module("status_bar").preparing():  # its bar is there once in a lifetime
        yield REDRAW

    def read() -> None:
        width, height = bpy.context.region.width, bpy.context.region.height
        pixels = gpu.state.active_framebuffer_get().read_color(0, 0, width, height, 4, 0, "UBYTE")
        pixels.dimensions = 4 * width * height
        drawn.append(np.array(pixels, np.uint8).reshape(height, width, 4))

    for _ in range(SETTLING):
        view()[1].tag_redraw()
        yield REDRAW
    handler = bpy.types.SpaceView3D.draw_handler_add(read, (), "UI", "POST_PIXEL")
    view()[1].tag_redraw()
    while not drawn:
        yield REDRAW
    bpy.types.SpaceView3D.draw_handler_remove(handler, "UI")
    panels = drawn[-1][:, :-TABS]
    filled = np.flatnonzero(panels[:, :, 3].any(axis=1))  # rows, from the bottom
    panels = panels[filled[0] : filled[-1] + 1]
    height = len(panels)
    if height > COLUMN:
        gaps = np.flatnonzero(panels[:, TABS, 3] < 128)  # between panels
        cut = int(gaps[np.abs(gaps - 0.5 * height).argmin()])
        columns = panels[cut:], panels[:cut]
        height = max(cut, height - cut)
        tops = [np.pad(column, ((height - len(column), 0), (0, 0), (0, 0))) for column in columns]
        panels = np.concatenate(tops, axis=1)
    share = panels[:, :, 3:] / 255.0
    pixels = np.ones((*panels.shape[:2], 4), np.float32)
    pixels[:, :, :3] = share * panels[:, :, :3] / 255.0 + (1.0 - share) * BEHIND
    image = bpy.data.images.new("Panels", panels.shape[1], panels.shape[0])
    image.pixels.foreach_set(pixels.ravel())
    image.filepath_raw, image.file_format = str(path), "WEBP"
    image.save(quality=90)
    bpy.data.images.remove(image)


def all_pages(options: argparse.Namespace) -> Iterator[float]:
    """Run them; yields times to wait [s]."""
    if options.zip:
        bpy.context.preferences.system.use_online_access = False
        arguments = {"repo": "user_default", "enable_on_install": True, "overwrite": True}
        assert bpy.ops.extensions.package_install_files(filepath=options.zip, **arguments) == {"FINISHED"}
        yield REDRAW
    for path in guide.pages():
        if options.pages and not path.name.startswith(tuple(options.pages)):
            continue
        pictures = Window()
        steps = guide.run(guide.read(path), pictures)
        while (step := advance(steps)) is not None:
            yield REDRAW  # a file that was opened is in the window by then
            yield from show_sidebar()
            began = time.monotonic()
            while not is_over():
                assert time.monotonic() - began < PATIENCE, f"{path.name}, line {step.line}: waited in vain"
                yield REDRAW
            if pictures.wanted and options.panels:
                yield from photograph(options.panels / pictures.wanted)
            pictures.wanted = ""
        print(f"WINDOW {path.stem} is done", flush=True)
    print("WINDOW TEST PASSED", flush=True)


def main() -> None:
    """Run the steps by a timer."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--zip")
    parser.add_argument("--panels", type=Path)
    parser.add_argument("pages", nargs="*")
    waits = all_pages(parser.parse_args(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []))
    bpy.context.preferences.view.show_splash = False
    stepping.run(waits)


main()
