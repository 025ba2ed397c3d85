"""A setting of bodies or scenes is declared once, in `core/parameters/`: everything else follows."""

import dataclasses
import inspect
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from bpy_scene import add_ball, problem_of
from softpressure_ext.core import MethodOptions, World, parameters
from softpressure_ext.softpressure.simulation import build, capture
from softpressure_ext.softpressure.state import input_digest, sessions

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ("core", "softpressure", "operators", "panels", "tests")
#: One more setting of skins, and one of scenes: where each is declared.
DECLARED = {
    "motion.py": """
    Parameter(
        name="stickiness", label="Stickiness", tooltip="How much it sticks. Higher sticks more", bodies=("MEMBRANE",),
        default=0.25, plain={"MEMBRANE": 0.0}, unit="Pa", low=0.0, high=9.0, is_animated=True, is_material=True,
        group="CONTACT", short="Stick (Pa)",
    ),
""",
    "scene.py": """
    Parameter(
        name="humidity", label="Humidity", tooltip="How damp the air is. Higher is damper", bodies=(SCENE,),
        default=40.0, plain={SCENE: 0.0}, unit="%", low=0.0, high=100.0, group="FLUID",
    ),
""",
}
#: Loads the copy, in a process of its own.
LOADED = """
import extension
extension.load()
import bpy_scene
import bpy
import softpressure_ext
softpressure_ext.register()
from bpy_panels import body_rows, drawn
from softpressure_ext.core import ModelBuilder, ParameterError
from softpressure_ext.softpressure.simulation import build, capture
from softpressure_ext.softpressure.state import input_digest
ball = bpy_scene.add_ball()
scene = bpy.context.scene

def is_dated(settings, name, value):
    kept, before = getattr(settings, name), input_digest.of_inputs(scene)
    setattr(settings, name, value)
    now = input_digest.of_inputs(scene)
    setattr(settings, name, kept)
    assert input_digest.of_inputs(scene) == before
    return now != before

def built():
    start = capture.start(scene, bpy.context.evaluated_depsgraph_get())
    return build.model_of(scene, start)

def refuses(call, **wrong):
    try:
        call(**wrong)
    except ParameterError as error:
        return str(error)
"""
#: What follows from them.
FOLLOWS = """
import shapes
from softpressure_ext.core.animation.keyed import Keyed, changed
from softpressure_ext.core.animation.segments import with_values
from softpressure_ext.softpressure.bodies import materials
here = ball.softpressure.bl_rna.properties["stickiness"]
assert (here.name, here.default, here.hard_min, here.hard_max, here.is_animatable) == ("Stickiness", 0.25, 0, 9, True)
assert "stickiness" in body_rows(), body_rows()
assert is_dated(ball.softpressure, "stickiness", 0.5)
assert "stickiness" in materials.PROPERTIES
ball.softpressure.stickiness = 0.5
model = built()
assert model.settings[0]["stickiness"] == 0.5
keyed = changed(model, Keyed.at_start(model), {0: {"stickiness": 0.75}}, {}, (), (), None)
assert with_values(model, model, keyed).settings[0]["stickiness"] == 0.75
builder, mesh = ModelBuilder(), shapes.icosphere(1, 0.2)
builder.add_membrane("plain", *mesh)
builder.add_membrane("sticky", *mesh, stickiness=1.0)
builder.add_collider("floor", *shapes.grid(1.0))
assert [own.get("stickiness") for own in builder.build().settings] == [0.0, 1.0, None, None]
wrong = refuses(lambda **more: builder.add_membrane("toy", *mesh, **more), stickiness=-1.0)
assert wrong == "toy: stickiness -1 Pa; give a number at least 0 and at most 9.", wrong
assert refuses(lambda **more: builder.add_collider("toy", *mesh, **more), stickiness=1.0).startswith("toy: stickiness;")
bpy.ops.mesh.primitive_cube_add()
bpy.ops.softpressure.add_body(kind="COLLIDER")
assert "stickiness" not in body_rows()
from softpressure_ext.panels.scene import SOFTPRESSURE_PT_fluids
here = scene.softpressure.bl_rna.properties["humidity"]
assert (here.name, here.default, here.hard_max, here.subtype) == ("Humidity", 40.0, 100.0, "PERCENTAGE")
assert "humidity" in drawn(SOFTPRESSURE_PT_fluids), drawn(SOFTPRESSURE_PT_fluids)
assert is_dated(scene.softpressure, "humidity", 50.0)
scene.softpressure.humidity = 25.0
assert built().settings[-1]["humidity"] == 0.25
assert refuses(ModelBuilder, humidity=1.5) == "scene: humidity 1.5; give a number at least 0 and at most 1."
"""


def test_a_setting_is_added_by_one_declaration(tmp_path: Path) -> None:
    for layer in LAYERS:
        shutil.copytree(ROOT / layer, tmp_path / layer, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("__init__.py", "blender_manifest.toml", "manual.html"):
        shutil.copy(ROOT / name, tmp_path / name)
    for file, declared in DECLARED.items():
        table = tmp_path / "core" / "parameters" / file
        text = table.read_text(encoding="utf-8")
        end = ")  # fmt: skip\n"
        assert text.endswith(f"    ),\n{end}")
        table.write_text(text.removesuffix(end) + declared.lstrip("\n") + end, encoding="utf-8")
    script = LOADED + FOLLOWS + "print('it follows')"
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path / "tests" / "support", capture_output=True, text=True, check=False
    )
    assert run.stdout.splitlines()[-1:] == ["it follows"], run.stdout + run.stderr


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
