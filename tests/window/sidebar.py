"""The sidebar of the 3D viewport of a real window, for the scripts beside this file: shown, awaited, photographed."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import bpy
import gpu
import numpy as np

sys.path.append(str(Path(__file__).resolve().parent))

from steps import PATIENCE, module, view

#: Until panels are drawn that a statement has changed [s].
REDRAW = 0.1
#: How often panels are drawn until they have moved to their places.
SETTLING = 6
#: Width of the tabs, and of how many rows a column of panels has at most [pixels].
TABS, COLUMN = 26, 700
#: What panels lie on: the grey of Blender's sidebar.
BEHIND = 0.19


def show() -> Iterator[float]:
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


def read(kind: str, found: list[np.ndarray]) -> Iterator[float]:
    """Append the picture of a region of the viewport, its rows from the bottom, as soon as all is drawn."""
    drawn: list[np.ndarray] = []
    while module("softpressure.state.status_bar").preparing():  # its bar is there once in a lifetime
        yield REDRAW

    def keep() -> None:
        width, height = bpy.context.region.width, bpy.context.region.height
        pixels = gpu.state.active_framebuffer_get().read_color(0, 0, width, height, 4, 0, "UBYTE")
        pixels.dimensions = 4 * width * height
        drawn.append(np.array(pixels, np.uint8).reshape(height, width, 4))

    for _ in range(SETTLING):
        view()[1].tag_redraw()
        yield REDRAW
    handler = bpy.types.SpaceView3D.draw_handler_add(keep, (), kind, "POST_PIXEL")
    view()[1].tag_redraw()
    while not drawn:
        yield REDRAW
    bpy.types.SpaceView3D.draw_handler_remove(handler, kind)
    found.append(drawn[-1])


def columns(pixels: np.ndarray, most: int = COLUMN) -> list[np.ndarray]:
    """Its panels without its tabs, cut between panels into the fewest columns of about `most` rows."""
    panels = pixels[:, :-TABS]
    filled = np.flatnonzero(panels[:, :, 3].any(axis=1))  # rows, from the bottom
    panels = panels[filled[0] : filled[-1] + 1]
    found = []
    for left in range(-(-len(panels) // most), 0, -1):
        gaps = np.append(np.flatnonzero(panels[:, TABS, 3] < 128), 0)  # between panels
        cut = 0 if left == 1 else int(gaps[np.abs(gaps - len(panels) * (1.0 - 1.0 / left)).argmin()])
        found.append(panels[cut:])
        panels = panels[:cut]
    return found


def save(found: list[np.ndarray], path: Path) -> None:
    """Columns side by side, their tops aligned, on the grey of the sidebar, as a picture of the kind of its name."""
    height = max(map(len, found))
    whole = np.concatenate([np.pad(each, ((height - len(each), 0), (0, 0), (0, 0))) for each in found], axis=1)
    share = whole[:, :, 3:] / 255.0
    pixels = np.ones((*whole.shape[:2], 4), np.float32)
    pixels[:, :, :3] = share * whole[:, :, :3] / 255.0 + (1.0 - share) * BEHIND
    image = bpy.data.images.new("Panels", whole.shape[1], whole.shape[0])
    image.pixels.foreach_set(pixels.ravel())
    image.filepath_raw, image.file_format = str(path), path.suffix[1:].upper()
    image.save(quality=90)
    bpy.data.images.remove(image)
