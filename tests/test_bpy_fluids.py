"""Gas, liquid and what surrounds bodies, from the panels to the model and back."""

import bpy
import pytest
from bpy_panels import drawn, locked
from bpy_scene import add_ball, empty_file, falling, play, this_session  # noqa: F401
from softpressure_ext.panels.body import SOFTPRESSURE_PT_body, SOFTPRESSURE_PT_fluid
from softpressure_ext.panels.scene import SOFTPRESSURE_PT_fluids
from softpressure_ext.softpressure import fingerprint

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
    assert not this_session().error
    model = this_session().world.model
    numbers = {name: value for name, value in INSIDE.items() if name != "gas_hold"}
    assert model.settings[0]["gas_hold"] == "VOLUME"
    assert {name: model.settings[0][name] for name in numbers} == pytest.approx(numbers, rel=1e-6)
    around = AROUND | {"liquid_level": 1.0}  # of half a metre per unit
    assert {name: model.settings[-1][name] for name in AROUND} == pytest.approx(around, rel=1e-6)
    assert model.fill_mass[0] == pytest.approx(500.0 * model.rest_volume[0], rel=1e-6)
    assert drawn(SOFTPRESSURE_PT_fluid) == [*INSIDE, "Liquid up to 12 cm", *FLOW, "softpressure.add_hose"]
    assert drawn(SOFTPRESSURE_PT_fluids) == list(AROUND)
    assert not {*INSIDE} & {*drawn(SOFTPRESSURE_PT_body)}


def test_each_setting_dates_the_cache_and_the_defaults_do_not() -> None:
    ball, scene = add_ball(), bpy.context.scene
    digests = [fingerprint.of_inputs(scene)]
    for settings, values in ((ball.softpressure, INSIDE), (scene.softpressure, AROUND)):
        for name, value in values.items():
            before = getattr(settings, name)
            setattr(settings, name, value)
            digests.append(fingerprint.of_inputs(scene))
            setattr(settings, name, before)
    assert len(set(digests)) == 1 + len(INSIDE) + len(AROUND)
    scene.softpressure.air_density = 1.0
    air = fingerprint.of_inputs(scene)
    scene.softpressure.air_density, scene.softpressure.liquid_density = 0.0, 1.0
    assert fingerprint.of_inputs(scene) != air


def test_a_baked_body_is_locked_and_a_solid_has_no_such_panel() -> None:
    ball = add_ball()
    ball.softpressure.is_baked = True
    assert {*locked(SOFTPRESSURE_PT_fluid)} == {*INSIDE, *FLOW}
    ball.softpressure.body_type = "SOLID"
    assert not SOFTPRESSURE_PT_fluid.poll(bpy.context)
