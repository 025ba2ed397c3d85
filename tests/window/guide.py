"""In a real window: the steps of the guide, each as the button would do it, and pictures of the panels.

    blender --python tests/window/guide.py -- [--zip ZIP] [--panels FOLDER] [01 02 ...]

runs pages whose names begin so, all if none is named. The extension must be installed, or is from `--zip`. With `--panels`
the pictures of the sidebar that the pages show are made anew in that folder. `test_guide_window.py` runs it.
"""

import argparse
import os
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))

import guide  # noqa: E402

#: What a statement of a step waits for at most, until its job is over [s].
PATIENCE = 300.0
#: Until panels are drawn that a statement has changed [s].
REDRAW = 0.1
#: Of the window, below a sidebar's last panel, and right of its panels: the tabs [pixels].
MARGIN, TABS = 8, 22


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


def show_sidebar() -> None:
    """Open it with the tab of the extension, and have it drawn."""
    _, area, regions = view()
    area.spaces.active.show_region_ui = True
    if "Soft Pressure" != regions["UI"].active_panel_category != "UNSUPPORTED":
        regions["UI"].active_panel_category = "Soft Pressure"
    area.tag_redraw()


def photograph(path: Path) -> None:
    """The sidebar without what lies empty below its panels."""
    window, area, regions = view()
    region, whole = regions["UI"], str(path.with_suffix(".whole.png"))
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.screen.screenshot(filepath=whole)
    image = bpy.data.images.load(whole)
    pixels = np.empty(4 * image.size[0] * image.size[1], np.float32)
    image.pixels.foreach_get(pixels)
    pixels = pixels.reshape(image.size[1], image.size[0], 4)
    part = pixels[region.y : region.y + region.height, region.x : region.x + region.width - TABS]
    assert part.std() > 0.0, "the screenshot is empty"
    used = np.flatnonzero(part[:, :-TABS].std(axis=(1, 2)) > part[0, :-TABS].std() + 1e-3)
    part = np.ascontiguousarray(part[max(0, used[0] - MARGIN) :])
    result = bpy.data.images.new("Panel", part.shape[1], part.shape[0])
    result.pixels.foreach_set(part.ravel())
    result.filepath_raw, result.file_format = str(path), "WEBP"
    result.save(quality=90)
    for used_up in (image, result):
        bpy.data.images.remove(used_up)
    Path(whole).unlink()


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
            show_sidebar()
            yield REDRAW
            began = time.monotonic()
            while not is_over():
                assert time.monotonic() - began < PATIENCE, f"{path.name}, line {step.line}: waited in vain"
                yield REDRAW
            if pictures.wanted and options.panels:
                yield 5.0 * REDRAW
                photograph(options.panels / pictures.wanted)
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

    def tick() -> float | None:
        try:
            return next(waits)
        except StopIteration:
            bpy.ops.wm.quit_blender()
            return None
        except BaseException:
            traceback.print_exc()
            print("WINDOW TEST FAILED", flush=True)
            sys.stdout.flush()
            os._exit(1)

    bpy.context.preferences.view.show_splash = False
    bpy.app.timers.register(tick, first_interval=1.0, persistent=True)


main()
