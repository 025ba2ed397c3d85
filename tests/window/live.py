"""In a real window: interactive play with mouse and keys, and what may end it.

    blender --enable-event-simulate --python tests/window/live.py -- [--zip ZIP] [--blend FILE] [CASE ...]

plays the sample bounce.blend and does what each of `CASES` names, all if none is named. The extension must be
installed, or is from `--zip`. `test_window.py` runs it.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy_extras import view3d_utils

sys.path.append(str(Path(__file__).resolve().parent))

from steps import Mouse, Steps, in_view, is_over, job, one_after_the_other, options_of, run, session, view

ROOT = Path(__file__).resolve().parents[2]
#: The file that is played, a copy of the sample.
FILE = Path(tempfile.mkdtemp()) / "bounce.blend"
SOFT, HARD, FLABBY = "Soft ball, 500 Pa", "Hard ball, 10 kPa", "Flabby ball, 20 Pa"


def begin() -> Steps:
    """Open the file and press Live."""
    bpy.ops.wm.open_mainfile(filepath=str(FILE), load_ui=False)
    yield 0.3
    with in_view():
        bpy.ops.view3d.view_axis(type="RIGHT")  # of which no ball hides another
        bpy.ops.view3d.view_all()
    yield 0.3
    yield from press_live()


def press_live(window: Any = None) -> Steps:
    """Press Live, and wait for its third frame."""
    with in_view(window):
        assert bpy.ops.softpressure.live_play("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
    yield lambda: frame() >= 3


def frame() -> int:
    """The frame of interactive play that is shown; -1 if none is."""
    return -1 if session().display.pose is None else int(session().display.pose.cache.last_frame)


def frames(count: int) -> Callable[[], bool]:
    """Whether so many frames more have been played."""
    until = frame() + count
    return lambda: frame() >= until


def shape(name: str) -> Any:
    """Vertices of a ball that is played, world space."""
    cache, uids = session().display.pose[:2]
    return np.array(cache.positions(uids.index(bpy.data.objects[name].session_uid), cache.last_frame))


def centre(name: str) -> Any:
    """Their mean."""
    return shape(name).mean(axis=0)


def on_screen(place: Any) -> Any:
    """Where a place is seen in the first window [pixels]."""
    _, area, regions = view()
    found = view3d_utils.location_3d_to_region_2d(regions["WINDOW"], area.spaces.active.region_3d, place)
    return np.array(found) + (regions["WINDOW"].x, regions["WINDOW"].y)


def pixels_per_metre() -> float:
    """Across the view."""
    return float(np.linalg.norm(on_screen(centre(SOFT) + (0.0, 1.0, 0.0)) - on_screen(centre(SOFT))))


def data() -> dict[str, Any]:
    """All that interactive play could change."""
    found: dict[str, Any] = {}
    for obj in bpy.data.objects:
        found[obj.name] = [list(row) for row in obj.matrix_basis]
        keys = obj.data.shape_keys if obj.type == "MESH" else None
        for key in () if keys is None else keys.key_blocks:
            points = np.empty(3 * len(key.points), np.float32)
            key.points.foreach_get("co", points)
            found[f"{obj.name}, {key.name}"] = (key.value, key.mute, points.tobytes())
    return found


def mouse() -> Mouse:
    """Over the first window."""
    return Mouse(view()[0])


def drag(hand: Mouse, way: Any, count: int) -> Steps:
    """Move a mouse along a way in equal parts, one a frame: as smooth on a slow machine."""
    start = np.array(hand.place)
    for number in range(1, count + 1):
        hand.move(start + number / count * np.array(way))
        yield frames(1)


def drag_and_throw() -> Steps:
    """A ball follows the mouse and flies on when it is let go; the others fall meanwhile."""
    yield from begin()
    hand, ball = mouse(), pixels_per_metre() * 0.5
    hand.move(on_screen(centre(HARD)))
    hand.press()
    began = on_screen(centre(HARD))
    yield from drag(hand, (0.5 * ball, 1.5 * ball), 20)
    yield frames(2)  # later it swings about the point that is held
    moved = on_screen(centre(HARD)) - began
    assert np.linalg.norm(moved - (0.5 * ball, 1.5 * ball)) < 0.4 * ball, f"it has come {moved} pixels"
    assert centre(SOFT)[2] < centre(HARD)[2] - 0.5, "the others do not fall"
    yield from drag(hand, (3.0 * ball, 0.0), 6)
    hand.release()
    yield frames(2)
    before, then = centre(HARD), frame()
    yield frames(4)
    speed = (centre(HARD) - before) / (frame() - then) * 30.0
    assert speed[1] > 1.0, f"it flies on at {speed} m/s"
    hand.click("ESC")
    yield is_over


def poke() -> Steps:
    """Ctrl Click pushes a ball away from the eye."""
    yield from begin()
    hand = mouse()
    hand.move(on_screen(centre(HARD)))
    before = centre(HARD)
    hand.click(ctrl=True)
    yield frames(4)
    pushed, others = centre(HARD) - before, centre(SOFT) - centre(FLABBY)
    assert pushed[0] < -0.1, f"it moved {pushed} m"
    assert abs(others[0]) < 0.01, "another ball is pushed, too"
    hand.click("ESC")
    yield is_over


def escape() -> Steps:
    """Esc brings every bit back."""
    yield from begin()
    hand = mouse()
    hand.click("ESC")
    yield is_over
    before = data()
    yield from press_live()
    yield frames(15)
    assert data() != before
    hand.click("ESC")
    yield is_over
    assert session().display.pose is None and data() == before


def keep(shifted: bool) -> Steps:
    """Enter and Shift Enter, then undo and redo."""
    yield from begin()
    yield frames(10)
    fallen, hand = shape(SOFT), mouse()
    hand.click("RET", shift=shifted)
    yield is_over
    ball = bpy.data.objects[SOFT]
    keys = ball.data.shape_keys.key_blocks

    def kept() -> Any:
        keys = bpy.data.objects[SOFT].data.shape_keys.key_blocks
        key = keys[0] if shifted else keys.get("SP Pose")
        return None if key is None else np.array([point.co[:] for point in key.points])

    world = np.array(ball.matrix_world)
    place = kept() @ world[:3, :3].T + world[:3, 3]
    assert abs(place - fallen).max() < 0.5, "not the pose that was shown"  # some frames later
    assert abs(np.diff(place - fallen, axis=0)).max() < 0.02 and (place - fallen)[:, 2].max() <= 1e-4
    assert len(keys) == (2 if shifted else 3)
    pose = kept()
    with in_view():
        bpy.ops.ed.undo()
    yield 0.3
    assert kept() is None or abs(kept() - pose).max() > 0.05, "undo leaves the pose"
    with in_view():
        bpy.ops.ed.redo()
    yield 0.3
    assert np.array_equal(kept(), pose), "redo does not bring the pose back"
    yield from press_live()
    start = shape(SOFT)
    assert abs(start.mean(axis=0) - place.mean(axis=0)).max() < 0.1 or not shifted
    hand.click("ESC")
    yield is_over


def enter() -> Steps:
    """Enter keeps the pose as a shape key."""
    yield from keep(shifted=False)


def shift_enter() -> Steps:
    """Shift Enter makes it the start."""
    yield from keep(shifted=True)


def undo() -> Steps:
    """Undo in mid-play ends it."""
    yield from begin()
    with in_view():
        bpy.ops.ed.undo_push(message="before")
        bpy.ops.ed.undo()
    yield 0.3
    assert session().display.pose is None and job() is None, "it plays on"
    yield is_over
    yield from press_live()
    mouse().click("ESC")
    yield is_over


def slider() -> Steps:
    """Dragging the pressure in the sidebar inflates the ball that is played."""
    yield from begin()
    mouse().click("ESC")
    yield is_over
    with in_view():
        bpy.context.view_layer.objects.active = bpy.data.objects[SOFT]
    _, area, regions = view()
    area.spaces.active.show_region_ui = True
    yield 0.5
    area.tag_redraw()
    yield 0.5
    regions["UI"].active_panel_category = "Soft Pressure"
    area.tag_redraw()
    yield 0.5
    yield from press_live()
    hand = mouse()
    yield from hover(hand, "softpressure.gauge_pressure")
    before, size = bpy.data.objects[SOFT].softpressure.gauge_pressure, np.ptp(shape(SOFT), axis=0).max()
    hand.press()
    yield 0.1
    yield from drag(hand, (60.0, 0.0), 10)
    hand.release()
    yield frames(20)
    after = bpy.data.objects[SOFT].softpressure.gauge_pressure
    assert after > before + 1.0, f"the slider stays at {after} Pa"
    grown = np.ptp(shape(SOFT), axis=0).max() / size
    print(f"pressure {before} -> {after} Pa, size x {grown:.3f}", flush=True)
    assert grown > 1.01, f"it does not grow: {grown}"
    hand.move((300, 300))
    hand.click("ESC")
    yield is_over


def pressure_keys() -> Steps:
    """Page Up inflates the active ball while it plays, Page Down takes it back."""
    yield from begin()
    ball, hand = bpy.data.objects[SOFT], mouse()
    with in_view():
        bpy.context.view_layer.objects.active = ball
    before, size = ball.softpressure.gauge_pressure, np.ptp(shape(SOFT), axis=0).max()
    for key, pressure in (("PAGE_UP", before * 1.1**10), ("PAGE_DOWN", before)):
        for _ in range(10):
            hand.click(key)
            yield frames(1)
        yield frames(10)
        assert abs(ball.softpressure.gauge_pressure / pressure - 1.0) < 1e-4, f"{ball.softpressure.gauge_pressure} Pa"
        grown = np.ptp(shape(SOFT), axis=0).max() / size
        assert (grown > 1.01) == (key == "PAGE_UP"), f"{key}: {grown} times the size"
    hand.click("ESC")
    yield is_over


def hover(hand: Mouse, path: str) -> Steps:
    """Put the mouse over the field of a property in the sidebar."""
    window, area, regions = view()
    sidebar = regions["UI"]
    for y in range(sidebar.y + sidebar.height - 10, sidebar.y, -8):
        hand.move((sidebar.x + 0.6 * sidebar.width, y))
        yield 0.03
        bpy.context.window_manager.clipboard = ""
        with bpy.context.temp_override(window=window, area=area, region=sidebar):
            if bpy.ops.ui.copy_data_path_button.poll():
                bpy.ops.ui.copy_data_path_button()
        if bpy.context.window_manager.clipboard == path:
            return
    raise AssertionError(f"{path} is not in the sidebar")


def close_window() -> Steps:
    """Closing the window that plays ends it."""
    yield from begin()
    mouse().click("ESC")
    yield is_over
    before = data()
    with in_view():
        bpy.ops.wm.window_new()
    yield 0.5
    second = bpy.context.window_manager.windows[1]
    yield from press_live(second)
    with bpy.context.temp_override(window=second):
        bpy.ops.wm.window_close()
    yield 0.5
    assert job() is None and session().display.pose is None, "it plays on without its window"
    yield is_over
    assert data() == before
    yield from press_live()
    mouse().click("ESC")
    yield is_over


def load() -> Steps:
    """Another file, and the same one again, end it and are whole."""
    yield from begin()
    content = FILE.read_bytes()
    bpy.ops.wm.read_homefile(use_factory_startup=False)
    yield 0.5
    assert job() is None, "it plays on in another file"
    yield is_over
    yield from begin()
    bpy.ops.wm.open_mainfile(filepath=str(FILE), load_ui=False)
    yield 0.5
    assert job() is None and session().display.pose is None and FILE.read_bytes() == content
    yield from press_live()
    mouse().click("ESC")
    yield is_over


CASES = {
    case.__name__: case
    for case in (drag_and_throw, poke, escape, enter, shift_enter, undo, slider, pressure_keys, close_window, load)
}


def main() -> None:
    """Read the arguments and begin."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--blend", type=Path, default=ROOT / "sample_blends" / "bounce.blend")
    options = options_of(parser)
    shutil.copy(options.blend, FILE)
    run(one_after_the_other(CASES, options))


main()
