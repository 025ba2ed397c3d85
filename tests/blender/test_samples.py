"""The sample scenes: their parts, and the files made from them."""

import shutil
from pathlib import Path

import bpy
import pytest
from bpy_seen import this_run, this_session
from softpressure_ext.core import prepare
from softpressure_ext.core.parameters import SCENE, of_body
from softpressure_ext.sample_blends import samples
from softpressure_ext.softpressure.simulation import kernels
from softpressure_ext.softpressure.state import sessions

FOLDER = Path(__file__).resolve().parents[2] / "sample_blends"
COUNTS = {
    "bounce": (3, 0, 1), "squeeze": (1, 0, 3), "pile": (8, 0, 3), "newton": (3, 12, 2), "basket": (4, 1, 1),
    "walker": (2, 0, 1), "matyka_loop": (2, 0, 1), "kurmaly_truss": (3, 0, 1), "martin_cat": (2, 1, 1),
    "mesit_heap": (12, 0, 3), "xpbd_unbreakable": (2, 0, 2),
}  # fmt: skip
#: Of the samples of the papers: the method, and a second of frames at which much happens.
METHODS = {
    "matyka_loop": ("EXPLICIT_EULER", 60), "kurmaly_truss": ("RK4", 30), "martin_cat": ("RK4_MARTIN", 150),
    "mesit_heap": ("IMPLICIT_MESIT", 40), "xpbd_unbreakable": ("XPBD", 100),
}  # fmt: skip


def bodies(kind):
    return sessions.objects(bpy.context.scene, kind)


def settings(scene):
    """What a sample is made of, to compare a file with a scene that was just built."""
    chosen = scene.softpressure
    method = tuple(getattr(chosen, each.name) for each in of_body(SCENE))
    found = {"range": (scene.frame_start, scene.frame_end, scene.render.fps), "method": method}
    for obj in sessions.objects(scene, "SOFT", "RIGID", "COLLIDER"):
        values = obj.softpressure
        numbers = (values.mass, values.gauge_pressure, values.stretch_modulus, values.damping, values.friction)
        numbers += (values.gas_amount, values.temperature, values.spring_constant, values.point_mass, values.cell_size)
        numbers += (values.gas_by, values.stiffness_by, values.mass_by, values.body_type)
        solid = (values.rigid_shape, values.attach_to and values.attach_to.name, values.attach_group)
        found[obj.name] = (values.kind, numbers, solid, len(obj.data.vertices), tuple(obj.location))
    return found


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_a_sample_has_its_bodies_and_no_problem(name):
    samples.build(name)
    assert tuple(len(bodies(kind)) for kind in ("SOFT", "RIGID", "COLLIDER")) == COUNTS[name]
    assert bpy.context.scene.camera is not None
    bpy.ops.softpressure.reset()
    assert this_session().refusals.error == ""
    assert this_run().cache.frame_count == 1
    world = this_run().world
    assert prepare.parts_of(world.model) <= kernels.parts_of(bpy.context.scene)
    for _ in range(2):  # `conftest.py`: they must compile nothing
        world.advance_frame()


@pytest.mark.smoke
@pytest.mark.parametrize("name", samples.SAMPLES)
def test_the_file_of_a_sample_is_small_and_up_to_date(name):
    path = FOLDER / f"{name}.blend"
    assert path.stat().st_size < 200_000
    samples.build(name)
    expected = settings(bpy.context.scene)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert settings(bpy.context.scene) == expected, "run `nox -s samples`"


@pytest.mark.parametrize("name", METHODS)
def test_a_sample_of_a_paper_opens_with_its_method_and_plays(name, tmp_path):
    """Nothing is refused and nothing crosses; what was pressed flat or has fallen is whole."""
    method, last = METHODS[name]
    bpy.ops.wm.open_mainfile(filepath=shutil.copy(FOLDER / f"{name}.blend", tmp_path))  # a cache is written beside it
    scene = bpy.context.scene
    assert scene.softpressure.solver == method
    scene.frame_end = last
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    session = this_session()
    assert session.refusals.error == "" and session.run.cache.last_frame == last
    assert not session.run.overstretched and session.run.crossing_count == 0
    world = session.run.world
    assert all(0.5 < body.volume_ratio < 2.5 for body in world.diagnostics().bodies)
    world._untangle()  # looks for crossings anew
    # feature particles and vertices alone are tested there: edges of the cube may cross a skin
    assert world.crossing_triangle_count == 0 or scene.softpressure.detection == "FEATURE_PARTICLES"
