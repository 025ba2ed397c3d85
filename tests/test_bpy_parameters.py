"""A setting of bodies is declared once: everything else follows from `parameters.py`."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from softpressure_ext.softpressure import parameters

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("core", "softpressure", "operators", "panels", "tests")
#: One more setting of skins and rigid bodies.
DECLARED = """
PARAMETERS = (
    *PARAMETERS,
    Parameter(
        name="stickiness", label="Stickiness", tooltip="How much it sticks. Higher sticks more", bodies=("MEMBRANE",),
        default=0.25, unit="Pa", low=0.0, is_animated=True, is_material=True, group="CONTACT", short="Stick (Pa)",
    ),
)
"""
#: What follows from that, in a process of its own.
FOLLOWS = """
import extension
extension.load()
import bpy_scene
import bpy
import softpressure_ext
softpressure_ext.register()
from bpy_panels import drawn
from softpressure_ext.panels.body import SOFTPRESSURE_PT_body
from softpressure_ext.softpressure import capture, fingerprint, materials
ball = bpy_scene.add_ball()
scene, here = bpy.context.scene, ball.softpressure.bl_rna.properties["stickiness"]
assert (here.name, here.default, here.hard_min, here.is_animatable) == ("Stickiness", 0.25, 0.0, True)
assert "stickiness" in drawn(SOFTPRESSURE_PT_body), drawn(SOFTPRESSURE_PT_body)
before = fingerprint.of_inputs(scene)
ball.softpressure.stickiness = 0.5
assert fingerprint.of_inputs(scene) != before
ball.softpressure.stickiness = 0.25
assert fingerprint.of_inputs(scene) == before
start = capture.start(scene, bpy.context.evaluated_depsgraph_get())
assert start.bodies[0].settings["stickiness"] == 0.25
assert "stickiness" in materials.PROPERTIES
bpy.ops.mesh.primitive_cube_add()
bpy.ops.softpressure.add_body(kind="COLLIDER")
assert "stickiness" not in drawn(SOFTPRESSURE_PT_body)
print("it follows")
"""


def test_a_setting_is_added_by_one_declaration(tmp_path: Path) -> None:
    for layer in LAYERS:
        shutil.copytree(ROOT / layer, tmp_path / layer, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("__init__.py", "blender_manifest.toml", "manual.html"):
        shutil.copy(ROOT / name, tmp_path / name)
    table = tmp_path / "softpressure" / "parameters.py"
    table.write_text(table.read_text(encoding="utf-8").replace("\n\n\ndef of_body(", f"\n{DECLARED}\n\ndef of_body("))
    run = subprocess.run(
        [sys.executable, "-c", FOLLOWS], cwd=tmp_path / "tests", capture_output=True, text=True, check=False
    )
    assert run.stdout.splitlines()[-1:] == ["it follows"], run.stdout + run.stderr


@pytest.mark.parametrize("body", parameters.BODIES)
def test_every_setting_of_a_body_is_complete(body: str) -> None:
    for parameter in parameters.of_body(body):
        assert parameter.label and len(parameter.tooltip) > 10 and not parameter.tooltip.endswith(".")
        if isinstance(parameter.default, float):
            bounds = [parameter.low, parameter.soft_low, parameter.default, parameter.soft_high, parameter.high]
            known = [bound for bound in bounds if bound is not None]
            assert parameter.low is not None and known == sorted(known)
        elif isinstance(parameter.default, str):
            assert parameter.default in [choice[0] for choice in parameter.choices]


def test_names_are_used_once() -> None:
    names = [parameter.name for parameter in parameters.PARAMETERS]
    assert len(names) == len(set(names))
