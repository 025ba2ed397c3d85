"""In a real window: the controls at the top of the tab stay where they are, and each button may be pressed.

    blender --python tests/window/controls.py -- [--zip ZIP] [CASE ...]

The extension must be installed, or is from `--zip`.
"""

import argparse
import sys
from pathlib import Path

import bpy
import numpy as np

sys.path.append(str(Path(__file__).resolve().parent))
sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))

import button_states
import sidebar
import steps

#: States of one text in the bar, of which the rows must look the same.
ALIKE = ("a_soft_body", "two_bodies_and_a_floor", "a_group_that_is_gone", "no_active_object", "at_another_frame")
#: Height of both rows at a scale of 1 [pixels], what may differ of a color, and width of the scroll bar [pixels].
ROWS, SAME, SCROLLED = 52, 8, 20
#: States in which buttons are pressed as a mouse does it.
PRESSED = (
    "nothing", "no_bodies", "a_soft_body", "simulated", "out_of_date", "baked", "saved", "in_edit_mode",
    "baked_and_in_edit_mode", "an_empty_mesh", "a_linked_body", "a_group_that_is_gone", "at_another_frame",
)  # fmt: skip
#: Those open a dialog or another editor.
ASKING = {"export", "preset_add", "open_curves", "delete_cache", "apply_preset"}


def begin(name: str) -> steps.Steps:
    """An empty file in a state."""
    with steps.in_view():
        for obj in list(bpy.data.objects):
            bpy.data.objects.remove(obj)
        steps.module("softpressure.state.sessions").of(bpy.context.scene).clear()
        bpy.context.scene.softpressure.use_scene_range = True
        bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 3
        bpy.context.scene.frame_set(1)
        button_states.STATES[name]()
    yield 0.1


def end() -> steps.Steps:
    """Leave every mode."""
    steps.module("softpressure.state.jobs").end()
    yield steps.is_over
    with steps.in_view():
        if bpy.context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
    yield 0.1


def fixed_row() -> steps.Steps:
    """Both rows look the same whatever is selected, and whatever is told of it."""
    pictures = []
    for name in ALIKE:
        yield from begin(name)
        yield from sidebar.show()
        found: list[np.ndarray] = []
        yield from sidebar.read("UI", found)
        pictures.append(found[0][-ROWS:, : -sidebar.TABS - SCROLLED, :3].astype(int))
        yield from end()
    for name, picture in zip(ALIKE, pictures, strict=True):
        share = float((np.abs(picture - pictures[0]).max(axis=2) > SAME).mean())
        print(f"{name}: {share:.4f} of the rows differs", flush=True)
        assert share == 0.0, f"{name}: the rows have moved"


def press_all() -> steps.Steps:
    """Each operator is invoked in a window in each of these states; none raises."""
    for state in PRESSED:
        for name in sorted({*dir(bpy.ops.softpressure)} - ASKING):
            yield from begin(state)
            with steps.in_view():
                operator = getattr(bpy.ops.softpressure, name)
                if not operator.poll():
                    continue
                try:
                    operator("INVOKE_DEFAULT")
                except RuntimeError as error:
                    assert "Traceback" not in str(error), f"{state}, {name}: {error}"
            yield 0.2
            yield from end()
        print(f"{state} is done", flush=True)


CASES = {case.__name__: case for case in (fixed_row, press_all)}


if __name__ == "__main__":
    steps.run(steps.one_after_the_other(CASES, steps.options_of(argparse.ArgumentParser())))
