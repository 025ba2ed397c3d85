"""Renaming objects makes no cache out of date and changes no result."""

from pathlib import Path

import bpy
import numpy as np
import pytest
from bpy_scene import FallingWorld, add_ball, add_floor, add_group, add_object, frame, play
from bpy_seen import shown, this_run, this_session
from softpressure_ext.core.frame_reading import points_of
from softpressure_ext.softpressure.state import input_digest

pytestmark = pytest.mark.usefixtures("falling")


def add_scene() -> None:
    """Three balls of different masses, the last glued to the first, and two colliders."""
    for number, name in enumerate("ABC"):
        add_ball(name, (2 * number, 0, 5), mass=1.0 + number)
    glued = bpy.data.objects["C"]
    glued.softpressure.attach_to = bpy.data.objects["A"]
    add_group(glued, "attach_group", [0, 1, 2])
    for name, z in (("Floor", 0.0), ("Lid", 9.0)):
        add_floor(z, 10.0, name)


def rename() -> None:
    """Reverse the order of the names."""
    for old, new in (("A", "Zoe"), ("C", "Ada"), ("Floor", "Zenith")):
        bpy.data.objects[old].name = new
    bpy.context.view_layer.update()


@pytest.mark.smoke
def test_renaming_keeps_the_cache_and_the_simulation_goes_on() -> None:
    add_scene()
    play(1, 4)
    rename()
    assert not this_session().is_out_of_date(bpy.context.scene)
    play(5, 6)
    frame(1)  # the first frame finds nothing changed
    assert this_run().cache.last_frame == 6 and len(FallingWorld.made) == 1


def test_a_renamed_file_finds_its_cache_and_goes_on(tmp_path: Path) -> None:
    path = str(tmp_path / "scene.blend")
    add_scene()
    play(1, 4)
    rename()
    bpy.ops.wm.save_as_mainfile(filepath=path)
    before = {obj.softpressure.mass: shown(obj) for obj in bpy.context.scene.objects if obj.softpressure.kind == "SOFT"}
    bpy.ops.wm.open_mainfile(filepath=path)
    assert this_run().cache.body_names == ("Zoe", "B", "Ada")
    assert not this_session().is_out_of_date(bpy.context.scene)
    for obj in bpy.context.scene.objects:
        if obj.softpressure.kind == "SOFT":
            np.testing.assert_allclose(shown(obj), before[obj.softpressure.mass], atol=1e-6)
    frame(1)
    play(5, 6)
    assert this_run().cache.last_frame == 6
    start, world = this_run().start, FallingWorld.made[-1]
    assert [body.settings["mass"] for body in start.bodies] == [1.0, 2.0, 3.0]  # as the state it goes on from
    assert [float(obstacle.positions[0, 2]) for obstacle in start.colliders] == [0.0, 9.0]
    masses = [world.model.vertex_mass[points_of(world.model, number)].sum() for number in range(3)]
    np.testing.assert_allclose(masses, [1.0, 2.0, 3.0])


def test_attachments_and_constraints_still_count() -> None:
    """Not the name of the other object, but what it is."""
    add_scene()
    scene, glued = bpy.context.scene, bpy.data.objects["C"]
    before = input_digest.of_inputs(scene)
    glued.softpressure.attach_to = bpy.data.objects["B"]
    assert input_digest.of_inputs(scene) != before
    glued.softpressure.attach_to = bpy.data.objects["A"]
    assert input_digest.of_inputs(scene) == before
    empty = add_object("Empty")
    glued.constraints.new("COPY_LOCATION").target = empty
    after = input_digest.of_inputs(scene)
    empty.name = "Other"
    assert input_digest.of_inputs(scene) == after
    empty.location.x = 1.0
    bpy.context.view_layer.update()
    assert input_digest.of_inputs(scene) != after
