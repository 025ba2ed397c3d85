"""Torn faces: when each tears is an attribute of the mesh, a modifier hides them, and both survive cache and bake."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy_scene import add_ball, add_group, add_mesh, frame, give, key, reopen, select
from bpy_seen import attribute, shown, this_run, this_session
from shapes import box
from softpressure_ext.core.cache import NEVER
from softpressure_ext.softpressure.reports import status
from softpressure_ext.softpressure.scene_io.point_attributes import TORN


def faces(obj: Any) -> int:
    """Faces that are seen at the present frame."""
    return len(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.polygons)


def burst() -> tuple[Any, Any]:
    """A ball that was pumped up until it burst, and the frames at which its faces tore."""
    ball = add_ball(tear_strain=0.1, mass=0.1, stretch_modulus=2e3, gauge_pressure=500.0)
    add_group(ball, "weak_group", [3, 4, 5, 6], 0.5)
    key(ball.softpressure, "gauge_pressure", (1, 500.0), (8, 3000.0))
    bpy.context.scene.gravity = (0, 0, 0)
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    frame(10)
    found = ball.data.attributes[TORN]
    assert (found.domain, found.data_type) == ("FACE", "FLOAT")
    return ball, attribute(ball.data, TORN)


def test_torn_faces_are_hidden_from_the_frame_at_which_they_tear_also_when_reopened_and_baked(tmp_path: Path) -> None:
    ball, first = burst()
    count = len(first)
    assert 1 < first.min() <= 10 and 0 < (first < NEVER).sum() < count
    assert faces(ball) == count
    select(ball)
    assert bpy.ops.softpressure.hide_torn() == {"FINISHED"}
    assert bpy.ops.softpressure.hide_torn() == {"FINISHED"}
    assert len(ball.modifiers) == 1
    expected = {number: count - int((first <= number).sum()) for number in (1, 4, 7, 10)}

    def seen() -> dict[int, int]:
        found = {}
        for number in expected:
            frame(number)
            found[number] = faces(bpy.data.objects["Ball"])
        return found

    assert expected[10] < expected[1] == count
    assert seen() == expected
    reopen(tmp_path)
    assert seen() == expected
    assert bpy.ops.softpressure.bake() == {"FINISHED"}
    assert seen() == expected
    assert bpy.ops.softpressure.free_bake() == {"FINISHED"}
    assert seen() == expected


def torn_notices() -> list[str]:
    return [text for text in status.notices(bpy.context.scene) if "torn" in text]


def test_torn_faces_that_are_not_hidden_are_told_of() -> None:
    ball = add_ball(tear_strain=0.1)
    bpy.context.scene.frame_end = 3
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert torn_notices() == []
    bpy.data.objects.remove(ball)
    ball, _ = burst()
    assert torn_notices() == ["Ball is torn. Press Hide Torn Faces in Flow and Tear, or its torn faces stretch."]
    select(ball)
    assert bpy.ops.softpressure.hide_torn() == {"FINISHED"}
    assert torn_notices() == []


def hanging_jelly() -> Any:
    """A bar of jelly that is held at its upper end and too heavy for itself."""
    x, triangles = box(0.4, 6)
    bar = add_mesh("Bar", (x * (1.0, 1.0, 4.0)).tolist(), triangles.tolist())
    assert bpy.ops.softpressure.add_body(kind="SOFT") == {"FINISHED"}
    add_group(bar, "pin_group", np.flatnonzero(x[:, 2] > 0.19))
    return give(bar, body_type="SOLID", mass=40.0, modulus=1e4, cell_size=0.2, tear_strain=0.2)


def test_the_gap_of_a_jelly_that_tears_is_seen_also_when_reopened_and_baked(tmp_path: Path) -> None:
    bar = hanging_jelly()
    count, below = len(bar.data.polygons), [v.index for v in bar.data.vertices if v.co.z < -0.7]
    bpy.context.scene.frame_end = 16
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    select(bar)
    assert bpy.ops.softpressure.hide_torn() == {"FINISHED"}

    def seen() -> list[int]:
        found = []
        for number in (1, 16):
            frame(number)
            found.append(faces(bpy.data.objects["Bar"]))
        return found

    whole, torn = seen()
    assert 0.3 * count < torn < whole == count
    # the lower part falls freely: half a second of 9.81 m/s^2, less what it took to tear
    bar.modifiers[0].show_viewport = False
    frame(16)
    assert shown(bar)[below, 2].max() < -1.0
    assert shown(bar)[:, 2].max() > 0.7
    bar.modifiers[0].show_viewport = True
    reopen(tmp_path)
    assert seen() == [whole, torn]
    assert bpy.ops.softpressure.bake() == {"FINISHED"}
    assert seen() == [whole, torn]
    assert bpy.ops.softpressure.free_bake() == {"FINISHED"}
    assert seen() == [whole, torn]


def test_a_cache_without_tears_has_no_attribute_and_a_removed_body_loses_it(falling: Any) -> None:
    ball = add_ball(tear_strain=1.0)
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    frame(3)
    assert TORN not in ball.data.attributes
    cache = this_run().cache
    cache.note_torn(0, np.arange(80) == 5, 2)
    this_session().display.shown.clear()
    frame(4)
    assert TORN in ball.data.attributes
    bpy.ops.softpressure.remove_body()
    assert TORN not in ball.data.attributes
