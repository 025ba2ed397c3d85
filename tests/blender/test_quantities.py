"""The papers' own quantities, from the properties to the panel, the model and the frames."""

import time
from typing import Any

import bpy
import numpy as np
import pytest
from bpy_panels import drawn
from bpy_scene import add_ball, add_mesh, add_primitive, give, play
from bpy_seen import this_run, this_session
from softpressure_ext.core import nrt
from softpressure_ext.core.topology import signed_volume
from softpressure_ext.panels.body import Given
from softpressure_ext.softpressure.reports import quantities
from softpressure_ext.softpressure.reports.quantities import Quantities
from softpressure_ext.softpressure.scene_io import flat_shape, mesh_io
from softpressure_ext.softpressure.state import input_digest, sessions

PAPERS = {"gas_by": "AMOUNT", "stiffness_by": "SPRING", "mass_by": "POINTS"}


def volume(obj: Any) -> float:
    return signed_volume(flat_shape.rest_positions(obj), mesh_io.read_triangles(obj.data, np.eye(4)))


def known(obj: Any) -> Quantities:
    found: Quantities = this_run().quantities[obj.session_uid]
    return found


@pytest.mark.smoke
@pytest.mark.usefixtures("falling")
def test_what_is_given_in_the_panel_is_what_the_model_has() -> None:
    ball = add_ball(gas_amount=30.0, temperature=250.0, spring_constant=400.0, point_mass=0.02)
    give(ball, **PAPERS)
    play(1, 2)
    assert not this_session().refusals.error
    model, count = this_run().world.model, len(ball.data.vertices)
    np.testing.assert_allclose(model.edges.stiffness, 400.0, rtol=1e-6)  # Blender keeps single precision
    np.testing.assert_allclose(model.vertex_mass, 0.02, rtol=1e-6)
    assert model.body_mass[0] == pytest.approx(0.02 * count, rel=1e-6)
    pressure = nrt(30.0, 250.0) / volume(ball) - bpy.context.scene.softpressure.ambient_pressure
    assert model.gauge_pressure[0] == pytest.approx(pressure, rel=1e-5)


@pytest.mark.usefixtures("falling")
def test_a_jelly_has_springs_and_points_and_no_gas() -> None:
    ball = add_ball(body_type="SOLID", spring_constant=400.0, point_mass=0.02)
    give(ball, **PAPERS)
    play(1, 2)
    assert not this_session().refusals.error
    now, model = known(ball), this_run().world.model
    assert drawn(Given) == [
        "stiffness_by", "volumes_by", "mass_by", f"Young's modulus: {now.modulus:,.4g} Pa",
        f"Mass: {now.mass:.4g} kg",
    ]  # fmt: skip
    assert now.mass == pytest.approx(0.02 * model.vertex_count, rel=1e-6)


def test_another_choice_of_how_volumes_are_kept_counts_and_converts_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    settings = add_ball(body_type="SOLID").softpressure
    before = sessions.change_count()
    settings.volumes_by = "COMPLIANCE"
    assert sessions.change_count() > before and settings.volume_compliance == 0.0
    assert "Traceback" not in "".join(capfd.readouterr())


@pytest.mark.usefixtures("falling")
def test_a_spring_constant_is_not_taken_for_a_modulus_of_the_same_number() -> None:
    settings, scene = add_ball().softpressure, bpy.context.scene
    settings.stretch_modulus = settings.spring_constant = 700.0
    before = input_digest.of_inputs(scene)
    settings.stiffness_by = "SPRING"
    assert input_digest.of_inputs(scene) != before


@pytest.mark.usefixtures("falling")
def test_amounts_do_not_depend_on_the_unit_scale() -> None:
    scene = bpy.context.scene
    scene.unit_settings.system, scene.unit_settings.scale_length = "METRIC", 0.01
    ball = add_ball(gas_amount=1e-4, spring_constant=400.0, point_mass=0.02)
    give(ball, **PAPERS)
    text = drawn(Given)[3]
    play(1, 2)
    model = this_run().world.model
    assert model.edges.stiffness[0] == pytest.approx(400.0) and model.vertex_mass[0] == pytest.approx(0.02)
    assert model.gauge_pressure[0] == pytest.approx(nrt(1e-4) / (1e-6 * volume(ball)) - 101_325.0, rel=1e-3)
    assert drawn(Given)[3] == text


@pytest.mark.usefixtures("falling")
def test_drawing_a_large_mesh_costs_its_volume_once() -> None:
    add_primitive("ico_sphere", subdivisions=6, radius=0.5)
    bpy.context.object.softpressure.gas_by = "AMOUNT"
    drawn(Given)
    began = time.perf_counter()
    for _ in range(20):
        drawn(Given)
    assert (time.perf_counter() - began) / 20 < 0.002  # 10 242 vertices; reading them alone takes longer


# -- Another choice of what is given leaves a body what it was


def add_square(**settings):
    """A flat body of 1 m, upright."""
    obj = add_mesh("Square", [(0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1)], [(0, 1, 2, 3)])
    assert bpy.ops.softpressure.add_body(kind="SOFT") == {"FINISHED"}
    return give(obj, **settings)


def test_the_amount_of_gas_is_that_of_the_pressure():
    """It was 0.042 mol in half a cubic metre: a vacuum of -101 300 Pa."""
    ball = add_ball()
    ball.softpressure.gas_by = "AMOUNT"
    assert ball.softpressure.gas_amount == pytest.approx(18.0, rel=0.2)
    assert any("2,000 Pa as drawn" in text for text in quantities.texts(bpy.context.scene, ball))


BODIES = [
    (add_ball, {}),
    (add_ball, {"simulation_mesh": "EVEN", "simulation_vertices": 200}),
    (add_ball, {"body_type": "SOLID"}),
    (add_ball, {"body_type": "TRUSS"}),
    (add_square, {"body_type": "LOOP"}),
    (add_square, {"body_type": "TRUSS"}),
]
CHOICES = [
    ("gas_by", "AMOUNT", "PRESSURE", "gauge_pressure", "gas_amount"),
    ("stiffness_by", "SPRING", "MODULUS", "", "spring_constant"),
    ("mass_by", "POINTS", "TOTAL", "mass", "point_mass"),
]


@pytest.mark.parametrize(("choice", "there", "back", "first", "second"), CHOICES)
@pytest.mark.parametrize(("add", "given"), BODIES)
def test_there_and_back_is_the_same(add, given, choice, there, back, first, second):
    settings = add(**given).softpressure
    has_gas = settings.body_type in ("MEMBRANE", "LOOP")
    if choice == "gas_by" and not has_gas:
        return
    first = first or ("stretch_modulus" if has_gas else "modulus")
    value = 3.0 * getattr(settings, first)
    setattr(settings, first, value)
    setattr(settings, choice, there)
    found = getattr(settings, second)
    assert found != pytest.approx(settings.bl_rna.properties[second].default, rel=1e-3)
    setattr(settings, choice, back)
    assert getattr(settings, first) == pytest.approx(value, rel=1e-3)
    # what is changed meanwhile counts
    setattr(settings, choice, there)
    setattr(settings, second, 1.5 * found)
    setattr(settings, choice, back)
    assert getattr(settings, first) > 1.4 * value


def test_what_a_script_gave_before_stays():
    settings = add_ball().softpressure
    settings.gas_amount = 0.042
    settings.point_mass, settings.mass_by, settings.gas_by = 0.02, "POINTS", "AMOUNT"
    assert settings.gas_amount == pytest.approx(0.042)
    assert settings.point_mass == pytest.approx(0.02)
