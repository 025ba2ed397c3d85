"""A setting of bodies or scenes is declared once, in `core/parameters/`: everything else follows."""

import dataclasses
import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from softpressure_ext.core import MethodOptions, ModelBuilder, World, parameters

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
        assert text.endswith("    ),\n)\n")
        table.write_text(text.removesuffix(")\n") + declared.lstrip("\n") + ")\n", encoding="utf-8")
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


def test_what_has_an_argument_of_the_core_has_its_declared_default() -> None:
    """And the other way round: what is declared has an argument, and in the panel the same property."""
    for add, bodies in (
        (ModelBuilder.add_membrane, ("MEMBRANE",)), (ModelBuilder.add_loop, ("LOOP",)),
        (ModelBuilder.add_solid, ("SOLID", "TRUSS")), (ModelBuilder.add_flat_truss, ("FLAT_TRUSS",)),
        (ModelBuilder.add_rigid, ("RIGID",)), (ModelBuilder.add_collider, ("COLLIDER",)),
    ):  # fmt: skip
        given = {each.name: each.default for each in inspect.signature(add).parameters.values()}
        own = {"self", "name", "positions", "triangles", "outline", "pinned", "density", "kind", "more"}
        declared = {each.name: each for body in bodies for each in parameters.of_body(body) if each.is_captured}
        assert given.keys() - own == declared.keys()
        for name, each in declared.items():
            body = next(body for body in bodies if body in each.bodies)
            assert given[name] == parameters.builder_default(each, body)
    options = {each.option or each.name for each in parameters.of_scene("OPTIONS")}
    assert options == {field.name for field in dataclasses.fields(MethodOptions)}
    assert {each.name for each in parameters.of_scene("WORLD")} <= inspect.signature(World).parameters.keys()


def test_names_are_used_once() -> None:
    names = [parameter.name for parameter in parameters.PARAMETERS]
    assert len(names) == len(set(names))
