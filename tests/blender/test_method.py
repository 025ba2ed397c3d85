"""Choosing the method in Blender: the offer, its effect, and a method that diverges."""

from typing import Any

import bpy
import numpy as np
import pytest
from bpy_panels import drawn
from bpy_scene import FallingWorld, add_mesh, add_primitive, frame, give, key, play, select
from bpy_seen import shown, this_run, this_session
from softpressure_ext.core import MethodOptions
from softpressure_ext.core.parameters.methods import METHODS
from softpressure_ext.core.solvers.choice import FORCE_BASED
from softpressure_ext.panels.scene import Method
from softpressure_ext.softpressure.bodies import paper_setups
from softpressure_ext.softpressure.reports import status


def add_sphere(height: float = 0.8, **settings: Any) -> Any:
    return give(add_primitive("ico_sphere", subdivisions=2, radius=0.5, location=(0, 0, height)), **settings)


def test_methods_keep_the_numbers_that_files_hold() -> None:
    names = ("", "XPBD", *FORCE_BASED, "", "EXPLICIT")  # 0 and 8 were those of earlier versions
    offered = {number: name for name, _, _, number in METHODS}
    assert offered == {number: name for number, name in enumerate(names) if name}


def test_the_method_reaches_the_world_and_makes_the_cache_out_of_date(falling: Any) -> None:
    add_sphere()
    play(1, 3)
    assert FallingWorld.made[-1].solver == "EXPLICIT"
    assert not this_session().is_out_of_date(bpy.context.scene)
    bpy.context.scene.softpressure.solver = "RK4"
    assert this_session().is_out_of_date(bpy.context.scene)
    play(1, 2)
    assert FallingWorld.made[-1].solver == "RK4"
    assert not this_session().is_out_of_date(bpy.context.scene)


def test_a_method_that_gives_up_says_so_and_leaves_the_frames_before() -> None:
    """A key raises the pressure from frame 6 on beyond what the substeps can follow."""
    scene = bpy.context.scene
    scene.use_gravity = False
    scene.frame_end = 20
    scene.softpressure.solver = "RK4"
    scene.softpressure.substeps = 40
    ball = add_sphere()
    key(ball.softpressure, "gauge_pressure", (1, 2000.0), (6, 2000.0), (12, 10000000.0))
    with pytest.raises(RuntimeError, match=r"Icosphere: the motion grows beyond all bounds in frame \d+"):
        bpy.ops.softpressure.simulate()
    session = this_session()
    assert session.refusals.error.startswith("Icosphere: the motion grows beyond all bounds in frame ")
    assert (
        "Raise the substeps to about" in session.refusals.error
        and "choose the method EXPLICIT" in session.refusals.error
    )
    assert any(session.refusals.error in sentence for sentence in status.notices(scene))
    last = session.run.cache.last_frame
    assert 5 <= last < 20 and f" in frame {last + 1}" in session.refusals.error
    for number in range(1, last + 1):
        assert np.isfinite(session.run.cache.positions(0, number)).all()
    frame(last)
    np.testing.assert_allclose(shown(ball), session.run.cache.positions(0, last), atol=1e-6 * np.abs(shown(ball)).max())
    scene.softpressure.solver = "EXPLICIT"  # the remedy
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert not session.refusals.error and this_run().cache.last_frame == 20


def test_the_options_reach_the_world(falling: Any) -> None:
    add_sphere()
    settings = bpy.context.scene.softpressure
    play(1, 2)
    assert FallingWorld.made[-1].options == MethodOptions()
    for name, value in (
        ("volume_rule", "BOUNDING_BOX"), ("pressure_spread", "VALENCE"), ("detection", "FEATURE_PARTICLES"),
        ("collider_rule", "REFLECTION"), ("neighbour_damping", "ALL"), ("ramp_time", 0.5),
        ("use_step_damping", True), ("stiffest_spring", 1e6), ("added_mass", 2.5),
    ):  # fmt: skip
        setattr(settings, name, value)
    play(1, 2)
    assert FallingWorld.made[-1].options == MethodOptions(
        volume="BOUNDING_BOX", spread="VALENCE", detection="FEATURE_PARTICLES", collider_rule="REFLECTION",
        neighbour_damping="ALL", ramp_time=0.5, step_damping=True, stiffest_spring=1e6, added_mass=0.025,
    )  # fmt: skip


def test_a_choice_that_the_method_does_not_have_is_refused_with_a_remedy() -> None:
    add_sphere()
    bpy.context.scene.softpressure.detection = "FEATURE_PARTICLES"
    with pytest.raises(RuntimeError, match=r"FEATURE_PARTICLES with the method EXPLICIT.*Choose SURFACE, or one of"):
        bpy.ops.softpressure.simulate()


def test_xpbd_reports_slack_skins_and_the_panel_only_reads_that() -> None:
    scene = bpy.context.scene
    scene.frame_end = 14
    scene.softpressure.solver = "XPBD"
    ball = add_sphere(2.0)
    ball.softpressure.mass = 0.1
    ball.softpressure.gauge_pressure = 55e3
    ball.softpressure.stretch_modulus = 1e6
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    found = [sentence for sentence in status.notices(scene) if "of its pressure" in sentence]
    assert len(found) == 1
    share = float(found[0].removeprefix("Icosphere holds ").partition(" %")[0])
    assert found[0].endswith("% of its pressure. Use the method Soft Pressure, or more substeps.")
    # by the closed form of a ball and the gauges that the panel shows
    gauges = [this_run().measured[number][0][1] for number in range(3, 15)]
    low, high = 0.0, 1.0
    for _ in range(60):
        e = 0.5 * (low + high)
        outwards = (156_325 / (1 + e) ** 3 - 101_325) * 0.5 * (1 + e) / 2 > 1.5e6 * e
        low, high = (e, high) if outwards else (low, e)
    expected = 156_325 / (1 + low) ** 3 - 101_325
    assert share == pytest.approx(100 * np.mean(gauges) / expected, abs=5)  # a mesh is no ball
    scene.softpressure.solver = "EXPLICIT"
    bpy.ops.softpressure.simulate()
    assert not [sentence for sentence in status.notices(scene) if "of its pressure" in sentence]


def test_xpbd_reports_solids_that_are_too_soft() -> None:
    scene = bpy.context.scene
    scene.frame_end = 3
    scene.softpressure.solver = "XPBD"
    jelly = add_sphere(2.0)
    jelly.softpressure.body_type = "SOLID"
    jelly.softpressure.cell_size = 0.1
    jelly.softpressure.mass = 100.0
    for modulus, is_said in ((1e4, False), (1e7, True)):
        jelly.softpressure.modulus = modulus
        bpy.ops.softpressure.simulate()
        found = [sentence for sentence in status.notices(scene) if "times softer than set" in sentence]
        assert bool(found) == is_said
    jelly.data.calc_loop_triangles()
    triangles = np.array([t.vertices[:] for t in jelly.data.loop_triangles])
    corners = np.array([v.co[:] for v in jelly.data.vertices])[triangles]
    density = 100.0 / (np.linalg.det(corners).sum() / 6.0)
    times = 0.85 + 0.6 * 1e7 / (24 * scene.softpressure.substeps) ** 2 / (density * 0.1**2)
    assert found == [
        f"Icosphere is about {times:.2g} times softer than set. Use the method Soft Pressure, or more substeps."
    ]


# -- *Set Up as in ...*: each of the five texts, for meshes of any kind and size


FLAT = {"MATYKA", "MESIT", "MARTIN", "KURMALY"}


def mesh(kind: str) -> Any:
    """A mesh that nobody made a body of: a ball, a monkey without its eyes, or a flat disc."""
    if kind == "disc":
        turn = 2.0 * np.pi * np.arange(24) / 24.0
        ring = np.stack([0.4 * np.cos(turn), 0.0 * turn, 1.0 + 0.4 * np.sin(turn)], axis=1)
        return add_mesh("Disc", ring.tolist(), [list(range(24))])
    if kind == "ball":
        return add_primitive("ico_sphere", None, subdivisions=3, radius=0.5, location=(0, 0, 1))
    size = {"major_radius": 2.0, "minor_radius": 0.7, "major_segments": 20, "minor_segments": 10}
    return add_primitive("torus", None, location=(0, 0, 3), **size)


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
    assert "set_up_as" in str(drawn(Method))
