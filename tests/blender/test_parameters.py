"""A setting of bodies or scenes is declared once, in `core/parameters/`: everything else follows."""

import dataclasses
import inspect
from typing import Any

import bpy
import numpy as np
import pytest
from bpy_panels import body_rows
from bpy_scene import add_ball
from bpy_seen import problem_of
from softpressure_ext.core import MethodOptions, World, parameters
from softpressure_ext.softpressure.bodies import materials
from softpressure_ext.softpressure.properties import automatic
from softpressure_ext.softpressure.simulation import build, capture
from softpressure_ext.softpressure.state import input_digest, sessions

METHODS = ("EXPLICIT", "XPBD", "RK4", "IMPLICIT_KANG")
#: Types of bodies; that of a flat mesh is the one of a closed mesh.
TYPES = tuple(body for body in parameters.BODIES if body != "FLAT_TRUSS")


def settings_of(body: str) -> Any:
    """The settings of a body of a type, which simulates what is drawn."""
    ball = add_ball(kind=body if body in ("RIGID", "COLLIDER") else "SOFT", simulation_mesh="DRAWN")
    if body in parameters.SOFT:
        ball.softpressure.body_type = body
    return ball.softpressure


@pytest.mark.parametrize("body", TYPES)
def test_a_setting_is_a_property_as_declared_with_a_row_in_the_panel(body: str) -> None:
    settings = settings_of(body)
    settings.simulation_mesh = "EVEN"
    rows = {*body_rows()}
    for each in parameters.of_body(body):
        here = settings.bl_rna.properties[each.name]
        assert (here.name, here.is_animatable) == (each.label, each.is_animated)
        assert each.name in materials.PROPERTIES or not each.is_material
        if here.type in ("FLOAT", "INT") and not here.is_array:
            assert here.default == pytest.approx(each.default)
            assert here.hard_max == pytest.approx(each.high) or each.high is None
        if parameters.counts(each, body, settings) and not each.solvers:  # others are shown where they are read
            assert {each.name, automatic.box_of(each.name)} & rows, each.name


@pytest.mark.parametrize("body", (*parameters.BODIES, parameters.SCENE))
def test_every_setting_of_a_body_is_complete(body: str) -> None:
    for parameter in parameters.of_body(body):
        assert parameter.label and len(parameter.tooltip) > 10 and not parameter.tooltip.endswith(".")
        if parameter.choices:
            assert parameter.default in parameter.names()
        elif isinstance(parameter.default, int | float) and not isinstance(parameter.default, bool):
            bounds = [parameter.low, parameter.least, parameter.soft_low, parameter.default, parameter.soft_high]
            known = [bound for bound in (*bounds, parameter.high) if bound is not None]
            assert len(known) > 1 and known == sorted(known)


def test_options_and_worlds_have_the_declared_settings() -> None:
    options = {each.option or each.name for each in parameters.of_scene("OPTIONS")}
    assert options == {field.name for field in dataclasses.fields(MethodOptions)}
    assert {each.name for each in parameters.of_scene("WORLD")} <= inspect.signature(World).parameters.keys()


def test_names_are_used_once() -> None:
    names = [parameter.name for parameter in parameters.PARAMETERS]
    assert len(names) == len(set(names))


# -- Settings of every kind of body and of scenes: each that counts reaches the model and dates a cache


def another(settings: Any, each: parameters.Parameter) -> Any:
    """Another value that a setting may have."""
    value = getattr(settings, each.name)
    if each.choices:
        return next(name for name in each.names() if name != value)
    if isinstance(each.default, bool):
        return not value
    if isinstance(each.default, tuple):
        return tuple(part + 0.5 for part in value)
    if isinstance(each.default, int):
        return value + 1
    return 0.5 * value if value == each.high else value + 0.25 * min(1.0, (each.high or value + 1.0) - value)


def digest() -> str:
    bpy.context.view_layer.update()
    sessions.mark_all()
    return input_digest.of_inputs(bpy.context.scene)


def is_dated(settings: Any, each: parameters.Parameter) -> bool:
    """Whether another value of a setting makes frames out of date, which the first one makes current again."""
    before, kept = digest(), getattr(settings, each.name)
    kept = tuple(kept) if isinstance(each.default, tuple) else kept
    setattr(settings, each.name, another(settings, each))
    after = digest()
    setattr(settings, each.name, kept)
    assert digest() == before, each.name
    return after != before


@pytest.mark.parametrize(("kind", "other"), [("SOFT", False), ("SOFT", True), ("RIGID", False), ("COLLIDER", False)])
def test_a_setting_of_a_body_dates_the_cache_if_it_counts(kind: str, other: bool) -> None:
    """`other`: with the other choice of each quantity that is given."""
    settings = add_ball(kind=kind).softpressure
    for each in parameters.GIVEN.values() if other else ():
        setattr(settings, each.name, another(settings, each))
    bodies = parameters.SOFT if kind == "SOFT" else (kind,)
    for each in parameters.PARAMETERS:
        own = set(bodies) & set(each.bodies)
        if own and each.name not in parameters.GIVEN:
            counts = each.group == "FLUID" or all(parameters.counts(each, body, settings) for body in own)
            assert is_dated(settings, each) == (each.is_dated and counts), each.name


@pytest.mark.parametrize("method", METHODS)
def test_a_setting_of_a_scene_dates_the_cache_if_the_method_reads_it(method: str) -> None:
    add_ball()
    settings = bpy.context.scene.softpressure
    settings.solver = method
    for each in parameters.of_body(parameters.SCENE):
        counts = each.name not in ("added_mass", "substeps") or parameters.counts_in_scene(each, settings)
        assert is_dated(settings, each) == (each.is_dated and counts), each.name


@pytest.mark.parametrize("body", ["MEMBRANE", "SOLID", "TRUSS", "RIGID", "COLLIDER"])
def test_a_setting_that_is_captured_reaches_the_model(body: str) -> None:
    if body == "COLLIDER":
        add_ball("Mover", (5, 0, 5))
    settings, scene = settings_of(body), bpy.context.scene
    for each in parameters.of_body(body):
        if not each.is_captured or not parameters.counts(each, body, settings) or each.name == "rigid_springs":
            continue
        kept = getattr(settings, each.name)
        kept = tuple(kept) if isinstance(each.default, tuple) else kept
        setattr(settings, each.name, another(settings, each))
        given = getattr(settings, each.name)
        model = build.model_of(scene, capture.start(scene, bpy.context.evaluated_depsgraph_get()))
        found = model.settings[1 if body == "COLLIDER" else 0][each.option or each.name]
        if each.choices or isinstance(each.default, bool):
            assert found == given, each.name
        else:
            share = 0.01 if each.unit == "%" else 1.0
            np.testing.assert_allclose(found, share * np.asarray(given), rtol=1e-6, err_msg=each.name)
        setattr(settings, each.name, kept)


@pytest.mark.parametrize("setting", ["pin_group", "weak_group", "pressure_group", "tie_group", "goal_group"])
def test_weights_of_a_vertex_group_date_the_cache_and_a_missing_group_is_named(setting: str) -> None:
    ball = add_ball()
    seen = [digest()]
    group = ball.vertex_groups.new(name="Group")
    setattr(ball.softpressure, setting, "Group")
    for weight in (1.0, 0.5):
        group.add([0], weight, "REPLACE")
        seen.append(digest())
    assert len(set(seen)) == (2 if setting == "pin_group" else 3)  # pins are compared at the first frame
    setattr(ball.softpressure, setting, "Gone")
    assert "Ball: has no vertex group Gone. Choose an existing" in problem_of(ball)
