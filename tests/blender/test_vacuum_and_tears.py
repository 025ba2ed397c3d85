"""Keyed pressures below 0, keyed tear strains and sharp colliders, in Blender."""

import bpy
import numpy as np
import pytest
from bpy_scene import add_ball, empty_file, frame, play, shown, this_session  # noqa: F401
from softpressure_ext.softpressure import vacuum


def key(obj, name, values):
    """Key a setting by frame."""
    for number, value in values.items():
        setattr(obj.softpressure, name, value)
        obj.softpressure.keyframe_insert(name, frame=number)


def gauge():
    """The gauge pressure of the first body at the last frame that was simulated."""
    return this_session().world.diagnostics().bodies[0].gauge_pressure


def test_a_keyed_pressure_below_zero_is_what_the_panel_says():
    """It was -200 Pa for an instant: what gas was left held the ball at 99.8 % of its volume."""
    scene = bpy.context.scene
    scene.use_gravity, scene.frame_end = False, 16
    ball = add_ball(simulation_mesh="DRAWN")
    key(ball, "gauge_pressure", {1: 2000.0, 8: -200.0})
    assert vacuum.text(scene, ball) == "The pressure is held, as it falls below 0"
    play(1, 4)
    keyed = ball.softpressure.gauge_pressure
    assert gauge() == pytest.approx(keyed, rel=1e-3)
    play(5, 16)
    assert gauge() == pytest.approx(-200.0, abs=0.2)
    body = this_session().world.diagnostics().bodies[0]
    assert body.volume_ratio < 0.6


def test_the_panel_says_why_a_pressure_below_zero_is_not_held():
    ball = add_ball()
    key(ball, "gauge_pressure", {1: 2000.0, 8: -200.0})
    ball.softpressure.leak_diameter = 0.01
    assert "not kept, as it has a leak" in vacuum.text(bpy.context.scene, ball)


def test_pressures_above_zero_hold_the_amount():
    ball = add_ball()
    key(ball, "gauge_pressure", {1: 2000.0, 8: 100.0})
    assert vacuum.text(bpy.context.scene, ball) == ""


def test_a_keyed_tear_strain_pops_a_ball_at_a_frame():
    scene = bpy.context.scene
    scene.use_gravity = False
    ball = add_ball(simulation_mesh="DRAWN", stretch_modulus=3000.0)
    key(ball, "tear_strain", {1: 0.0, 4: 0.0, 5: 0.01})
    for curve in ball.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    play(1, 4)
    assert not this_session().world.torn_triangles(0).any()
    play(5, 9)
    assert this_session().world.torn_triangles(0).any()


def test_a_sharp_collider_pops_a_ball():
    scene = bpy.context.scene
    scene.use_gravity = False
    add_ball(simulation_mesh="DRAWN", location=(0, 0, 0))
    bpy.ops.mesh.primitive_cone_add(radius1=0.1, depth=0.6, location=(0, 0, 0.85), rotation=(np.pi, 0, 0))
    needle = bpy.context.object
    assert bpy.ops.softpressure.add_body(kind="COLLIDER") == {"FINISHED"}
    needle.softpressure.sharp = True
    needle.keyframe_insert("location", frame=1)
    needle.location.z = 0.65
    needle.keyframe_insert("location", frame=8)
    play(1, 9)
    assert this_session().world.torn_triangles(0).any()
