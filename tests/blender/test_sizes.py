"""Defaults fit the size of what is added, in the scene's units."""

import bpy
import numpy as np
import pytest
from bpy_scene import add_ball, add_primitive
from softpressure_ext.softpressure.bodies import mesh_checks, setup


def add_sized(diameter, kind="SOFT"):
    return add_primitive("uv_sphere", kind, radius=0.5 * diameter).softpressure


def likeness(settings, size):
    """Weight over pressure times area, strain of the skin, and bending over stretching."""
    return np.array(
        [
            9.81 * settings.mass / (settings.gauge_pressure * size**2),
            settings.gauge_pressure * size / settings.stretch_modulus,
            settings.bend_modulus / (settings.stretch_modulus * size**2),
        ]
    )


@pytest.mark.parametrize("diameter", [0.01, 0.1, 10.0, 100.0])
def test_a_ball_of_any_size_is_like_that_of_a_metre(diameter):
    settings = add_sized(diameter)
    assert likeness(settings, diameter) == pytest.approx(likeness(add_sized(1.0), 1.0), rel=0.02)
    assert not [flaw for flaw in mesh_checks.of_scene(bpy.context.scene) if "FIT_SIZE" in flaw.fixes]


@pytest.mark.parametrize("diameter", [0.5, 1.0, 2.0])
def test_a_skin_of_usual_size_has_the_mass_of_its_area_and_the_other_defaults(diameter):
    settings = add_sized(diameter)
    assert settings.area_density == pytest.approx(1.0, rel=0.005)
    assert (settings.gauge_pressure, settings.stretch_modulus) == (2000.0, 20_000.0)


def test_a_change_of_type_gives_the_mass_of_the_new_type_unless_one_was_chosen():
    settings = add_sized(1.0)
    for kind, density in (("SOLID", 27.4), ("MEMBRANE", 1.0)):
        assert bpy.ops.softpressure.set_type(type=kind) == {"FINISHED"}
        assert settings.area_density == pytest.approx(density, rel=0.005)
    settings.mass = 7.0
    for kind in ("SOLID", "MEMBRANE"):
        assert bpy.ops.softpressure.set_type(type=kind) == {"FINISHED"}
        assert settings.mass == 7.0


def test_the_unit_scale_counts():
    bpy.context.scene.unit_settings.scale_length = 0.001
    metre, one = add_sized(1000.0), add_sized(1.0)
    assert metre.mass == pytest.approx(np.pi, rel=0.02)
    assert one.mass == pytest.approx(1e-6 * np.pi, rel=0.02)


def test_what_was_set_before_stays():
    settings = add_primitive("uv_sphere", None, radius=50.0).softpressure
    settings.mass = 7.0
    bpy.ops.softpressure.add_body(kind="SOFT")
    assert settings.mass == 7.0
    assert settings.stretch_modulus == pytest.approx(2e6, rel=0.02)


def test_rigid_bodies_have_a_mass_of_their_size():
    assert add_sized(0.1, "RIGID").mass == pytest.approx(0.01, rel=0.02)


@pytest.mark.parametrize(
    ("kind", "body_type", "said"),
    [("RIGID", "", "fits"), ("SOFT", "SOLID", "fits"), ("SOFT", "MEMBRANE", "and its stiffness fit")],
)
def test_what_is_said_to_fit_is_what_was_fitted(kind, body_type, said):
    obj = add_primitive("uv_sphere", None, radius=0.05)
    done, refused = setup.add_all(bpy.context.scene, [obj], kind, body_type)
    assert not refused and f" kg {said} its size" in done[0]


def test_check_tells_of_a_body_that_was_scaled_later_and_fits_it():
    settings = add_sized(1.0)
    obj = bpy.context.object
    obj.scale = (0.02, 0.02, 0.02)
    bpy.context.view_layer.update()
    flaw = next(flaw for flaw in mesh_checks.of_scene(bpy.context.scene) if "FIT_SIZE" in flaw.fixes)
    assert "2 cm" in flaw.sentence
    assert bpy.ops.softpressure.fix(object_name=obj.name, fix="FIT_SIZE") == {"FINISHED"}
    assert settings.area_density == pytest.approx(1.0, rel=0.005)
    assert not [flaw for flaw in mesh_checks.of_scene(bpy.context.scene) if "FIT_SIZE" in flaw.fixes]


def test_check_tells_once_of_gravity_that_a_unit_scale_makes_weak():
    scene = bpy.context.scene
    add_ball()
    add_ball("Other", (3, 0, 5))
    assert not [flaw for flaw in mesh_checks.of_scene(scene) if "unit scale" in flaw.sentence]
    scene.unit_settings.scale_length = 0.001
    told = [flaw.sentence for flaw in mesh_checks.of_scene(scene) if "unit scale" in flaw.sentence]
    assert len(told) == 1
    assert "0.0098 m/s\u00b2" in told[0]
    scene.gravity = (0.0, 0.0, -9810.0)
    assert not [flaw for flaw in mesh_checks.of_scene(scene) if "unit scale" in flaw.sentence]
