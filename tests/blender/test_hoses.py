"""Hoses, pumps and leaks in Blender: added, keyed, undone, saved, reopened, duplicated, and left without a body."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from bpy_scene import add_ball, add_group, add_primitive, frame, key, play, reopen, select
from bpy_seen import shown, this_run, this_session
from softpressure_ext.softpressure.bodies import hose_problems
from softpressure_ext.softpressure.reports import status
from softpressure_ext.softpressure.scene_io import hoses
from softpressure_ext.softpressure.state import input_digest


def linked() -> tuple[Any, Any, Any]:
    """Two balls and the hose between them."""
    one, other = add_ball("One", (-1, 0, 5)), add_ball("Other", (1, 0, 5))
    select(one, other)
    assert bpy.ops.softpressure.add_hose() == {"FINISHED"}
    return one, other, bpy.context.object


def given(world: Any) -> list[dict[int, float]]:
    return [dict(each.valves) for each in world.given]


@pytest.mark.smoke
def test_add_hose_links_the_two_selected_bodies(falling: Any) -> None:
    one, other, hose = linked()
    assert (hose.type, hoses.ends(hose)) == ("EMPTY", (one, other))
    np.testing.assert_allclose(hose.location, (0, 0, 5), atol=1e-6)
    assert hoses.at(bpy.context.scene, one) == [hose] == hoses.of_scene(bpy.context.scene)
    frame(1)
    frame(2)
    world = this_run().world
    assert world.model.hoses.ends.tolist() in ([[0, 1]], [[1, 0]])
    assert world.model.hoses.conductance == pytest.approx([50.0])
    assert given(world) == [{0: 1.0}]


def test_a_curve_that_is_selected_with_two_bodies_becomes_the_hose() -> None:
    one, other = add_ball("One", (-1, 0, 5)), add_ball("Other", (1, 0, 5))
    bpy.ops.curve.primitive_bezier_curve_add()
    tube = bpy.context.object
    select(one, tube, other)
    assert bpy.ops.softpressure.add_hose() == {"FINISHED"}
    assert hoses.of_scene(bpy.context.scene) == [tube] and hoses.ends(tube) == (one, other)
    tube.softpressure.valve = 0.5
    assert hose_problems.problem(bpy.context.scene, tube) == ""


def test_add_hose_needs_two_bodies_with_gas() -> None:
    one, solid = add_ball("One"), add_ball("Solid", (3, 0, 5), body_type="SOLID")
    for chosen in ((one,), (one, solid)):
        select(*chosen)
        assert not bpy.ops.softpressure.add_hose.poll()


def test_a_keyed_valve_is_read_in_each_frame_and_makes_the_cache_out_of_date(falling: Any) -> None:
    *_, hose = linked()
    frame(1)
    frame(2)
    assert not this_session().is_out_of_date(bpy.context.scene)
    key(hose.softpressure, "valve", (1, 0.0), (3, 1.0))
    assert this_session().is_out_of_date(bpy.context.scene)
    for number in (1, 2, 3):
        frame(number)
    valves = [each[0] for each in given(this_run().world)]
    assert valves == pytest.approx([0.5, 1.0], abs=0.01)


def test_a_hose_is_closed_while_its_keyframes_disable_it(falling: Any) -> None:
    *_, hose = linked()
    key(hose, "hide_viewport", (1, False), (3, True))
    bpy.context.scene.frame_set(1)
    for number in (2, 3):
        frame(number)
    assert given(this_run().world) == [{0: 1.0}, {0: 0.0}]


def test_conductance_valve_pump_and_leak_count_for_the_fingerprint_and_names_do_not() -> None:
    one, _, hose = linked()
    session, scene = this_session(), bpy.context.scene
    seen = {session.inputs(scene)}
    changes = ((hose, "conductance", 0.1), (hose, "valve", 0.5), (one, "pump_rate", 0.1), (one, "leak_diameter", 0.01))
    for number, (obj, name, value) in enumerate(changes, start=2):
        setattr(obj.softpressure, name, value)
        seen.add(session.inputs(scene))
        assert len(seen) == number, name
    hose.name = "Tube"
    bpy.context.view_layer.update()
    assert session.inputs(scene) in seen


def test_a_hose_whose_body_is_gone_says_so_and_takes_no_part(falling: Any) -> None:
    _, other, hose = linked()
    scene = bpy.context.scene
    assert hose_problems.problem(scene, hose) == ""
    bpy.data.objects.remove(other)
    assert "has no body at the end To" in hose_problems.problem(scene, hose)
    frame(1)
    frame(2)
    assert not len(this_run().world.model.hoses.ends)
    assert any("Hose: this hose has no body" in sentence for sentence in status.notices(scene))
    hose.softpressure.hose_to = hose.softpressure.hose_from
    assert "both ends" in hose_problems.problem(scene, hose)
    hose.softpressure.hose_to = add_ball("Jelly", (3, 0, 5), body_type="SOLID")
    assert "Jelly, which has no gas" in hose_problems.problem(scene, hose)
    third = add_ball("Third", (6, 0, 5))
    hose.softpressure.hose_to = third
    scene.collection.objects.unlink(third)
    assert "Third, which is not a soft body of this scene" in hose_problems.problem(scene, hose)


def test_a_hose_at_a_body_that_became_a_jelly_takes_no_part_and_the_bodies_do(falling: Any) -> None:
    one, other, _ = linked()
    other.softpressure.body_type = "SOLID"
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert {*this_run().object_uids} == {one.session_uid, other.session_uid}
    assert not this_run().world.model.hoses.ends.tolist()
    text = "Hose: this hose ends at Other, which has no gas. Choose an inflated body for To."
    assert [*hose_problems.notes(bpy.context.scene)] == [text] and text in status.notices(bpy.context.scene)
    other.softpressure.body_type = "MEMBRANE"
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert len(this_run().world.model.hoses.ends) == 1


def test_a_duplicate_links_the_duplicated_bodies() -> None:
    one, other, hose = linked()
    select(one, other, hose)
    assert bpy.ops.object.duplicate() == {"FINISHED"}
    (copy,) = [obj for obj in hoses.of_scene(bpy.context.scene) if obj != hose]
    ends = hoses.ends(copy)
    assert not {one, other} & set(ends) and {end.name for end in ends} == {"One.001", "Other.001"}


def test_a_hose_is_saved_and_undone(tmp_path: Path) -> None:
    *_, hose = linked()
    hose.softpressure.conductance = 0.25
    reopen(tmp_path)
    (hose,) = hoses.of_scene(bpy.context.scene)
    assert [end.name for end in hoses.ends(hose)] == ["One", "Other"]
    assert hose.softpressure.conductance == pytest.approx(0.25)


def cushions() -> tuple[Any, Any, Any]:
    """Two cushions in a row; a plate comes down on the first."""
    one, other, hose = linked()
    for ball in (one, other):
        ball.softpressure.gauge_pressure, ball.softpressure.mass, ball.softpressure.stretch_modulus = 500.0, 0.2, 2e3
    hose.softpressure.conductance = 50.0
    bpy.context.scene.gravity = (0, 0, 0)
    bpy.context.scene.frame_end = 12
    add_primitive("cube", "COLLIDER", size=1.2, location=(-1, 0, 3.9))
    plate = add_primitive("cube", "COLLIDER", size=1.2, location=(-1, 0, 6.1))
    key(plate, "location", (1, 6.1), (6, 5.8), index=2)
    return one, other, hose


def test_a_pressed_body_swells_the_other_and_the_bake_keeps_it() -> None:
    _, other, hose = cushions()
    swollen = []
    for valve in (0.0, 1.0):
        hose.softpressure.valve = valve
        assert bpy.ops.softpressure.simulate() == {"FINISHED"}
        amounts = this_run().world.save()
        assert abs(amounts.lost_gas.sum()) < 1e-12 * amounts.gas.sum()
        cache = this_run().cache
        number = this_run().object_uids.index(other.session_uid)
        swollen.append(float(np.ptp(cache.positions(number, 12.0)[:, 0])))
    assert swollen[1] > 1.005 * swollen[0]
    assert bpy.ops.softpressure.bake() == {"FINISHED"}
    frame(12)
    assert np.ptp(shown(other)[:, 0]) == pytest.approx(swollen[1], rel=1e-4)


# -- Gas, liquid and what surrounds bodies, from the panels to the model and back


@pytest.mark.usefixtures("falling")
def test_weights_of_the_pressure_group_reach_the_model() -> None:
    ball = add_ball()
    add_group(ball, "pressure_group", [0, 5, 7], [1.0, 1.0, 0.25])
    play(1, 2)
    assert not this_session().refusals.error
    model = this_run().world.model
    weights = model.pressure_weight[model.point_of_vertex[: model.vertex_count]]
    assert {vertex: weights[vertex] for vertex in np.flatnonzero(weights)} == {0: 1.0, 5: 1.0, 7: 0.25}
    ball.softpressure.body_type = "SOLID"
    play(1, 2)
    assert not this_session().refusals.error


@pytest.mark.usefixtures("falling")
def test_the_level_is_keyed_and_its_keys_date_the_cache() -> None:
    add_ball()
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.5
    settings = scene.softpressure
    settings.liquid_density = 1000.0
    key(settings, "liquid_level", (1, -50.0), (3, 50.0))
    before = input_digest.of_inputs(scene)
    play(1, 4)
    assert not this_session().refusals.error
    assert [given.liquid_level for given in this_run().world.given] == [0.0, 25.0, 25.0]  # half a metre per unit
    assert input_digest.of_inputs(scene) == before  # whatever the present frame is
    key(settings, "liquid_level", (3, 40.0))
    assert input_digest.of_inputs(scene) != before
