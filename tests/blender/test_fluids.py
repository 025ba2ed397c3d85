"""Gas, liquid and what surrounds bodies, from the panels to the model and back."""

import bpy
import numpy as np
import pytest
from bpy_scene import add_ball, play, this_run, this_session
from softpressure_ext.softpressure.state import input_digest


@pytest.mark.usefixtures("falling")
def test_weights_of_the_pressure_group_reach_the_model() -> None:
    ball = add_ball()
    group = ball.vertex_groups.new(name="Press")
    group.add([0, 5], 1.0, "REPLACE")
    group.add([7], 0.25, "REPLACE")
    ball.softpressure.pressure_group = "Press"
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
    settings.liquid_density, settings.liquid_level = 1000.0, -50.0
    settings.keyframe_insert("liquid_level", frame=1)
    settings.liquid_level = 50.0
    settings.keyframe_insert("liquid_level", frame=3)
    before = input_digest.of_inputs(scene)
    play(1, 4)
    assert not this_session().refusals.error
    assert [given.liquid_level for given in this_run().world.given] == [0.0, 25.0, 25.0]  # half a metre per unit
    assert input_digest.of_inputs(scene) == before  # whatever the present frame is
    settings.liquid_level = 40.0
    settings.keyframe_insert("liquid_level", frame=3)
    assert input_digest.of_inputs(scene) != before
