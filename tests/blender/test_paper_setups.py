"""*Set Up as in ...*: each of the five texts, for meshes of any kind and size."""

from typing import Any

import bpy
import numpy as np
import pytest
from bpy_panels import drawn
from bpy_scene import add_mesh, play, select, this_session
from softpressure_ext.panels.scene import SOFTPRESSURE_PT_method
from softpressure_ext.softpressure.bodies import paper_setups

FLAT = {"MATYKA", "MESIT", "MARTIN", "KURMALY"}


def mesh(kind: str) -> Any:
    """A mesh that nobody made a body of: a ball, a monkey without its eyes, or a flat disc."""
    if kind == "disc":
        turn = 2.0 * np.pi * np.arange(24) / 24.0
        ring = np.stack([0.4 * np.cos(turn), 0.0 * turn, 1.0 + 0.4 * np.sin(turn)], axis=1)
        return add_mesh("Disc", ring.tolist(), [list(range(24))])
    if kind == "ball":
        bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=0.5, location=(0, 0, 1))
    else:
        bpy.ops.mesh.primitive_torus_add(
            major_radius=2.0, minor_radius=0.7, major_segments=20, minor_segments=10, location=(0, 0, 3)
        )
    return bpy.context.object


@pytest.mark.parametrize("kind", ["ball", "torus", "disc"])
@pytest.mark.parametrize("name", paper_setups.SETUPS)
def test_a_mesh_is_set_up_and_plays(name: str, kind: str) -> None:
    """A second of it: nothing is refused, nothing diverges, and the body keeps half of its volume or more."""
    obj = mesh(kind)
    select(obj)
    if kind == "disc" and name not in FLAT:
        with pytest.raises(RuntimeError, match="Disc: is flat, and has no volume to keep"):
            bpy.ops.softpressure.set_up_as(text=name)
        return
    assert bpy.ops.softpressure.set_up_as(text=name) == {"FINISHED"}
    setup, scene = paper_setups.SETUPS[name], bpy.context.scene
    assert scene.softpressure.solver == setup.scene["solver"] and obj.softpressure.kind == "SOFT"
    rate = scene.render.fps * scene.softpressure.substeps
    assert setup.steps <= rate < setup.steps + scene.render.fps
    scene.frame_end = scene.render.fps
    play(1, scene.frame_end)
    session = this_session()
    assert not session.refusals.error and session.run.cache.last_frame == scene.frame_end, session.refusals.error
    assert session.run.world.diagnostics().bodies[0].volume_ratio > 0.5
    x = session.run.world.positions(0)
    assert np.isfinite(x).all() and np.ptp(x, axis=0).max() < 3.0 * max(obj.dimensions)


def test_a_setup_takes_the_place_of_another() -> None:
    obj = mesh("ball")
    select(obj)
    settings = bpy.context.scene.softpressure
    bpy.ops.softpressure.set_up_as(text="KURMALY")
    assert obj.softpressure.body_type == "TRUSS" and settings.collider_rule == "REFLECTION"
    bpy.ops.object.select_all(action="DESELECT")  # then all soft bodies
    bpy.ops.softpressure.set_up_as(text="MESIT")
    assert obj.softpressure.body_type == "MEMBRANE" and settings.collider_rule == "CONTACT"
    assert settings.volume_rule == "BOUNDING_BOX" and not settings.restore_momentum
    assert obj.softpressure.gauge_pressure == pytest.approx(0.33 * 1000.0 / max(obj.dimensions), rel=1e-6)
    assert "set_up_as" in str(drawn(SOFTPRESSURE_PT_method))
