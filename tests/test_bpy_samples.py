"""The sample scenes: their parts, and the files made from them."""

from pathlib import Path

import bpy
import pytest
from bpy_scene import empty_file, this_session  # noqa: F401
from softpressure_ext.core import prepare
from softpressure_ext.softpressure import preparation, samples, session

FOLDER = Path(__file__).resolve().parent.parent / "sample_blends"
COUNTS = {"bounce": (3, 0, 1), "squeeze": (1, 0, 3), "pile": (8, 0, 3), "newton": (3, 12, 2), "basket": (4, 1, 1)}


def bodies(kind):
    return session.objects(bpy.context.scene, kind)


def settings(scene):
    """What a sample is made of, to compare a file with a scene that was just built."""
    found = {"range": (scene.frame_start, scene.frame_end, scene.render.fps)}
    for obj in session.objects(scene, "SOFT", "RIGID", "COLLIDER"):
        values = obj.softpressure
        numbers = (values.mass, values.gauge_pressure, values.stretch_modulus, values.damping, values.friction)
        solid = (values.rigid_shape, values.attach_to and values.attach_to.name, values.attach_group)
        found[obj.name] = (values.kind, numbers, solid, len(obj.data.vertices), tuple(obj.location))
    return found


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_a_sample_has_its_bodies_and_no_problem(name):
    samples.build(name)
    assert tuple(len(bodies(kind)) for kind in ("SOFT", "RIGID", "COLLIDER")) == COUNTS[name]
    assert bpy.context.scene.camera is not None
    bpy.ops.softpressure.reset()
    assert this_session().error == ""
    assert this_session().cache.frame_count == 1


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_kernels_of_a_sample_follow_from_its_scene(name):
    scene = samples.build(name)
    bpy.ops.softpressure.reset()
    world = this_session().world
    assert prepare.parts_of(world.model) <= preparation.parts_of(scene)
    for _ in range(2):  # `conftest.py`: they must compile nothing
        world.advance_frame()


def test_a_second_sample_replaces_the_first():
    samples.build("pile")
    samples.build("bounce")
    names = {obj.name for obj in bpy.data.objects}
    assert "Steps" in names and not any(name.startswith("Ball ") for name in names)
    assert not any(mesh.users == 0 for mesh in bpy.data.meshes)


@pytest.mark.smoke
@pytest.mark.parametrize("name", samples.SAMPLES)
def test_the_file_of_a_sample_is_small_and_up_to_date(name):
    path = FOLDER / f"{name}.blend"
    assert path.stat().st_size < 200_000
    samples.build(name)
    expected = settings(bpy.context.scene)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert settings(bpy.context.scene) == expected, "run `nox -s samples`"
