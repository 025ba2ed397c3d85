"""A scene's unit scale: displayed values are the simulated ones."""

from typing import Any

import bpy
import numpy as np
import pytest
import shapes
from bpy_scene import add_ball, add_floor, add_group, add_mesh, frame, key, play
from bpy_seen import height, rest, shown, this_run, this_session
from softpressure_ext.softpressure.bodies import mesh_checks
from softpressure_ext.softpressure.reports import status
from softpressure_ext.softpressure.scene_io import units
from softpressure_ext.softpressure.state import sessions

FRAMES = 30
#: Lengths and gravity as fields show them, for any scale.
DROP, THICKNESS, SPEED = 1.5, 0.02, 0.5


def set_scale(scale: float, system: str = "METRIC") -> None:
    scene = bpy.context.scene
    scene.unit_settings.system, scene.unit_settings.scale_length = system, scale
    scene.gravity = (0.0, 0.0, -9.8125 / scale)


def add_scene(scale: float) -> tuple[Any, Any, Any]:
    """A soft ball, a rigid one and a pinned one above a collider that rises, of the same size whatever the scale."""
    set_scale(scale)
    found = []
    for number, kind in enumerate(("SOFT", "RIGID", "SOFT")):
        x, triangles = shapes.icosphere(2, 0.5)  # Blender's sphere has other bits each time it is made
        obj = add_mesh(f"Ball {number}", (x.astype(np.float32) / np.float32(scale)).tolist(), triangles.tolist())
        obj.location = (3.0 * number / scale, 0.0, DROP / scale)
        bpy.ops.softpressure.add_body(kind=kind)
        obj.softpressure.thickness = THICKNESS / scale
        obj.softpressure.velocity = (SPEED / scale, 0.0, 0.0)
        found.append(obj)
    pinned = found[2]
    add_group(pinned, "pin_group", [0])
    key(pinned, "location", (1, DROP / scale), (FRAMES, (DROP + 0.5) / scale), index=2)
    key(add_floor(size=40.0 / scale), "location", (1, 0.0 / scale), (FRAMES, 0.25 / scale), index=2)
    bpy.context.scene.frame_end = FRAMES
    frame(1)
    return found[0], found[1], pinned


def simulated(scale: float) -> list[np.ndarray]:
    """What the cache holds of all frames [m]: positions of the soft bodies, matrices of the rigid one."""
    add_scene(scale)
    bpy.ops.softpressure.simulate()
    cache = this_run().cache
    assert cache.last_frame == FRAMES
    numbers = range(1, FRAMES + 1)
    soft = [np.array([cache.positions(body, number) for number in numbers]) for body in (0, 1)]
    matrices = np.array([cache.transform(2, number) for number in numbers])
    matrices[:, :3, 3] *= scale
    return [scale * soft[0], scale * soft[1], matrices]


def test_a_scene_of_half_scale_and_double_size_moves_as_one_in_metres() -> None:
    in_metres = simulated(1.0)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    in_halves = simulated(0.5)
    for one, other in zip(in_metres, in_halves, strict=True):
        np.testing.assert_array_equal(one, other)  # a power of two changes no bit
    assert in_metres[0][:, :, 2].min() > 0.0 and np.ptp(in_metres[0][:, :, 2]) > 1.0  # it fell and was held


@pytest.mark.smoke
def test_settings_gravity_and_shapes_come_in_metres(falling: Any) -> None:
    ball, solid, _ = add_scene(0.01)
    solid.softpressure.mass = ball.softpressure.mass = 2.0
    ball.softpressure.body_type, ball.softpressure.cell_size = "SOLID", 20.0
    play(1, 2)
    run = this_run()
    captured = {part.name: part for part in (*run.start.bodies, *run.start.rigid)}
    soft, rigid = captured["Ball 0"], captured["Ball 1"]
    assert np.ptp(soft.positions[:, 2]) == pytest.approx(1.0, rel=1e-5)
    assert np.ptp(rigid.positions[:, 2]) == pytest.approx(1.0, rel=1e-5)
    assert soft.settings["cell_size"] == pytest.approx(0.2)
    for part in (soft, rigid):
        assert part.settings["thickness"] == pytest.approx(THICKNESS)
        assert part.settings["velocity"] == pytest.approx((SPEED, 0.0, 0.0))
        assert part.settings["mass"] == 2.0
    np.testing.assert_allclose(run.world.model.gravity, [0, 0, -9.8125], rtol=1e-6)


@pytest.mark.smoke
def test_shown_positions_are_in_blender_units(falling: Any) -> None:
    ball, solid, _ = add_scene(0.01)
    frame(1)
    np.testing.assert_allclose(shown(ball), rest(ball), rtol=1e-6)
    play(2, 3)
    step = 1.0 / 24.0
    fall = 9.8125 * step * step * 3.0 / 0.01
    assert height(ball) == pytest.approx(DROP / 0.01 - fall, rel=1e-5)
    placed = solid.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world
    assert placed.translation.z == pytest.approx(DROP / 0.01 - fall, rel=1e-5)
    assert tuple(placed.to_scale()) == pytest.approx((1.0, 1.0, 1.0), rel=1e-5)


@pytest.mark.smoke
def test_the_scale_makes_a_cache_out_of_date_but_not_without_a_unit_system(falling: Any) -> None:
    add_ball()
    scene = bpy.context.scene
    play(1, 3)
    scene.unit_settings.scale_length = 0.5
    bpy.context.view_layer.update()
    session = this_session()
    sessions.mark_all()
    assert session.is_out_of_date(scene) and units.metres_per_unit(scene) == 0.5
    scene.unit_settings.system = "NONE"
    sessions.mark_all()
    assert not session.is_out_of_date(scene) and units.metres_per_unit(scene) == 1.0


def test_sentences_are_in_metres_too() -> None:
    ball, _, _ = add_scene(0.01)
    ball.softpressure.thickness = 100.0  # shown as 1 m
    told = " ".join(flaw.sentence for flaw in mesh_checks.of_scene(bpy.context.scene))
    assert "its thickness of 1 m is more than its mean edge of 0.15 m" in told
    frame(1)
    assert "Keeps its drawn shape" in status.inflation_text(bpy.context.scene, ball)
