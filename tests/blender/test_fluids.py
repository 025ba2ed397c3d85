"""Gas, liquid and what surrounds bodies, from the panels to the model and back."""

import bpy
import numpy as np
import pytest
from bpy_panels import drawn
from bpy_scene import add_ball, play, this_run, this_session
from softpressure_ext.panels.body import SOFTPRESSURE_PT_gas
from softpressure_ext.panels.scene import SOFTPRESSURE_PT_fluids
from softpressure_ext.softpressure.state import input_digest

INSIDE = {"gas_hold": "VOLUME", "gas_exponent": 1.4, "inflation_time": 2.0, "fill_density": 1000.0, "fill_share": 0.5}
FLOW = ("pump_rate", "leak_diameter")
AROUND = {"air_density": 1.2, "liquid_density": 998.0, "liquid_level": 2.0, "drag_coefficient": 0.25}


@pytest.mark.usefixtures("falling")
def test_settings_are_in_panels_of_their_own_and_reach_the_model() -> None:
    add_ball(**INSIDE)
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.5
    for name, value in AROUND.items():
        setattr(scene.softpressure, name, value)
    play(1, 2)
    assert not this_session().refusals.error
    model = this_run().world.model
    numbers = {name: value for name, value in INSIDE.items() if name != "gas_hold"}
    assert model.settings[0]["gas_hold"] == "VOLUME"
    assert {name: model.settings[0][name] for name in numbers} == pytest.approx(numbers, rel=1e-6)
    around = AROUND | {"liquid_level": 1.0}  # of half a metre per unit
    assert {name: model.settings[-1][name] for name in AROUND} == pytest.approx(around, rel=1e-6)
    assert model.fill_mass[0] == pytest.approx(500.0 * model.rest_volume[0], rel=1e-6)
    expected = {*INSIDE, "pressure_group", "tie_group", "Liquid up to 12 cm", *FLOW, "softpressure.add_hose"}
    assert expected <= {*drawn(SOFTPRESSURE_PT_gas)}
    assert {*AROUND} <= {*drawn(SOFTPRESSURE_PT_fluids)}


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
