"""Another choice of what is given leaves a body what it was."""

import bpy
import pytest
from bpy_scene import add_ball, add_mesh
from softpressure_ext.softpressure.reports import quantities


def add_square(**settings):
    """A flat body of 1 m, upright."""
    obj = add_mesh("Square", [(0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1)], [(0, 1, 2, 3)])
    assert bpy.ops.softpressure.add_body(kind="SOFT") == {"FINISHED"}
    for name, value in settings.items():
        setattr(obj.softpressure, name, value)
    return obj


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
