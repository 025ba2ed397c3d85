"""Settings of every kind of body and of scenes: each that counts reaches the model and dates a cache."""

from typing import Any

import bpy
import numpy as np
import pytest
from bpy_scene import add_ball, problem_of
from softpressure_ext.core import parameters
from softpressure_ext.softpressure.simulation import build, capture
from softpressure_ext.softpressure.state import input_digest, sessions

METHODS = ("EXPLICIT", "XPBD", "RK4", "IMPLICIT_KANG")


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
    kind = body if body in ("RIGID", "COLLIDER") else "SOFT"
    if kind == "COLLIDER":
        add_ball("Mover", (5, 0, 5))
    ball, scene = add_ball(kind=kind), bpy.context.scene
    ball.softpressure.simulation_mesh = "DRAWN"
    if kind == "SOFT":
        ball.softpressure.body_type = body
    for each in parameters.of_body(body):
        if not each.is_captured or not parameters.counts(each, body, ball.softpressure) or each.name == "rigid_springs":
            continue
        kept = getattr(ball.softpressure, each.name)
        kept = tuple(kept) if isinstance(each.default, tuple) else kept
        setattr(ball.softpressure, each.name, another(ball.softpressure, each))
        given = getattr(ball.softpressure, each.name)
        model = build.model_of(scene, capture.start(scene, bpy.context.evaluated_depsgraph_get()))
        found = model.settings[1 if kind == "COLLIDER" else 0][each.option or each.name]
        if each.choices or isinstance(each.default, bool):
            assert found == given, each.name
        else:
            share = 0.01 if each.unit == "%" else 1.0
            np.testing.assert_allclose(found, share * np.asarray(given), rtol=1e-6, err_msg=each.name)
        setattr(ball.softpressure, each.name, kept)


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
