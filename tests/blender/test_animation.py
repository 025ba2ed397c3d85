"""Animated settings are keyed, driven and followed, and caches made with others are out of date."""

from typing import Any

import bpy
import numpy as np
import pytest
from bpy_scene import (
    FallingWorld,
    add_ball,
    add_group,
    add_object,
    add_primitive,
    add_tree,
    frame,
    interpolate,
    key,
    play,
)
from bpy_seen import rest, shown, this_run, this_session
from softpressure_ext.core import parameters
from softpressure_ext.core.model import GAS_CONSTANT
from softpressure_ext.softpressure.scene_io import actions
from softpressure_ext.softpressure.simulation import kernels
from softpressure_ext.softpressure.state import input_digest

#: Settings that can be animated, of which kind of body, with two values.
KEYED = {
    "gauge_pressure": ("MEMBRANE", 1_000.0, 3_000.0),
    "stretch_modulus": ("MEMBRANE", 10_000.0, 30_000.0),
    "bend_modulus": ("MEMBRANE", 0.0, 0.5),
    "damping": ("MEMBRANE", 1.0, 9.0),
    "modulus": ("SOLID", 10_000.0, 30_000.0),
    "friction": ("MEMBRANE", 0.0, 1.0),
    "bounciness": ("SOLID", 0.25, 0.75),
    "linear_damping": ("RIGID", 0.0, 4.0),
    "angular_damping": ("RIGID", 0.0, 4.0),
    "spring_constant": ("MEMBRANE", 200.0, 1_000.0),
    "gas_amount": ("MEMBRANE", 100.0, 700.0),
    "temperature": ("LOOP", 200.0, 400.0),
}


def body_of(kind: str, name: str = "Body", setting: str = "") -> Any:
    """A body for which a setting counts."""
    if kind in {"RIGID", "COLLIDER"}:
        return add_ball(name, kind=kind)
    obj = add_ball(name) if kind != "LOOP" else add_primitive("circle", vertices=12, radius=0.5)
    obj.softpressure.body_type = kind
    [choice] = [each.where for each in parameters.PARAMETERS if each.name == setting] or [("", "")]
    if choice[0]:
        setattr(obj.softpressure, *choice)
    return obj


def given_values(name: str) -> list[float]:
    """What the world of the first body was given in each frame."""
    given = FallingWorld.made[-1].given
    if name == "gauge_pressure":
        return [each.gauge_pressure[0] for each in given]
    if name in {"gas_amount", "temperature"}:
        settings = bpy.context.object.softpressure
        other = settings.temperature if name == "gas_amount" else settings.gas_amount
        return [each.gas[0] / (GAS_CONSTANT * other) for each in given]
    return [each.values[0][name] for each in given]


@pytest.mark.smoke
@pytest.mark.usefixtures("falling")
@pytest.mark.parametrize("name", KEYED)
def test_a_keyed_setting_is_read_in_each_frame(name: str) -> None:
    kind, low, high = KEYED[name]
    obj = body_of(kind, setting=name)
    key(obj.softpressure, name, (1, low), (5, high))
    play(1, 6)
    np.testing.assert_allclose(given_values(name)[-2:], high, rtol=1e-6)
    assert low < given_values(name)[0] < given_values(name)[1] < high
    for number in (6, 2, 4):  # what it is at the moment does not count for the cache
        frame(number)
        assert not this_session().is_out_of_date(bpy.context.scene)
    key(obj.softpressure, name, (4, low))
    frame(2)
    assert this_session().is_out_of_date(bpy.context.scene)


@pytest.mark.usefixtures("falling")
@pytest.mark.parametrize("name", ["gauge_pressure", "gas_amount", "angular_damping"])  # of each way to be given
def test_a_driver_is_followed(name: str) -> None:
    kind, low, high = KEYED[name]
    obj = body_of(kind, setting=name)
    driver = obj.softpressure.driver_add(name).driver
    driver.expression = f"{low} if frame < 3 else {high}"
    play(1, 4)
    np.testing.assert_allclose(given_values(name), [low, high, high], rtol=1e-6)


@pytest.mark.usefixtures("falling")
def test_colliders_and_gravity_are_followed() -> None:
    add_ball()
    floor = add_ball("Floor", location=(0, 0, -3), kind="COLLIDER")
    key(floor.softpressure, "friction", (1, 0.0), (3, 1.0))
    scene = bpy.context.scene
    key(scene, "gravity", (1, -9.0), (3, 9.0), index=2)
    play(1, 3)
    given = FallingWorld.made[-1].given
    assert [each.values[1]["friction"] for each in given] == pytest.approx([0.5, 1.0])
    assert [each.gravity[2] for each in given] == pytest.approx([0.0, 9.0])
    assert not this_session().is_out_of_date(scene)


def test_settings_that_have_no_dot_cannot_be_keyed() -> None:
    obj = add_ball()
    animatable = {prop.identifier for prop in obj.softpressure.bl_rna.properties if prop.is_animatable}
    assert animatable - {"rna_type", "name"} >= {*KEYED, "is_active", "is_attached"}
    for name in ("mass", "thickness", "cell_size", "body_type", "self_collision"):
        assert name not in animatable
        with pytest.raises(TypeError, match="not animatable"):
            obj.softpressure.keyframe_insert(name)


@pytest.mark.usefixtures("falling")
def test_an_inactive_body_is_given_where_its_own_animation_has_it() -> None:
    obj = add_ball()
    key(obj.softpressure, "is_active", (1, False), (4, False), (5, True))
    key(obj, "location", (1, 0.0), (6, 5.0), index=0)
    frame(1)
    drawn = rest(obj)
    play(2, 6)
    given = FallingWorld.made[-1].given
    assert [0 in each.held for each in given] == [True, True, True, False, False]
    # the ball moves along x as keyed, eased: where it is read is where it is, not what is simulated
    along = [float(np.asarray(each.held[0])[:, 0].mean()) for each in given[:3]]
    assert drawn[:, 0].mean() < along[0] < along[1] < along[2]
    frame(3)
    np.testing.assert_allclose(shown(obj), np.asarray(given[1].held[0]), atol=1e-6)


@pytest.mark.smoke
def test_a_body_hangs_until_it_is_active_and_then_falls() -> None:
    obj = add_ball()
    key(obj.softpressure, "is_active", (1, False), (5, False), (6, True))
    bpy.context.scene.frame_end = 12
    frame(1)
    start = shown(obj)
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert not this_session().refusals.error
    frame(5)
    np.testing.assert_allclose(shown(obj), start, atol=1e-5)
    frame(11)
    fall = start[:, 2].mean() - shown(obj)[:, 2].mean()
    assert fall == pytest.approx(0.5 * 9.81 * (6 / 24) ** 2, rel=0.05)


def test_an_attachment_is_switched_off_and_the_run_goes_on_from_disk(tmp_path: Any) -> None:
    ball, other = add_ball(), add_ball("Other", location=(0, 0, 6.05))
    other.softpressure.is_active = False
    add_group(ball, "attach_group", [v.index for v in ball.data.vertices if v.co.z > 0.4])
    ball.softpressure.attach_to = other
    key(ball.softpressure, "is_attached", (1, True), (5, True), (6, False))
    key(ball.softpressure, "stretch_modulus", (1, 20_000.0), (10, 40_000.0))
    scene = bpy.context.scene
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    scene.frame_end = 7
    frame(1)
    start = shown(ball)[:, 2].mean()
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    frame(5)
    assert abs(shown(ball)[:, 2].mean() - start) < 0.1
    whole = []
    for _ in range(2):
        scene = bpy.context.scene
        scene.frame_end = 7 if not whole else 10
        assert bpy.ops.softpressure.simulate() == {"FINISHED"}
        scene.frame_end = 10
        bpy.ops.wm.save_mainfile()
        if not whole:
            bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
        scene = bpy.context.scene
        ball = bpy.data.objects["Ball"]
        whole.append(this_run().cache)
    assert this_run().cache.last_frame == 10
    continued = this_run().cache.positions(0, 10)
    assert continued[:, 2].mean() < start - 0.05
    bpy.ops.softpressure.reset()
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    np.testing.assert_array_equal(this_run().cache.positions(0, 10), continued)


def test_a_rigid_body_follows_its_keys_then_falls_with_their_velocity_and_is_baked() -> None:
    obj = body_of("RIGID")
    height = obj.location.z
    key(obj.softpressure, "is_active", (1, False), (7, False), (8, True))
    key(obj, "location", (1, 0.0), (7, 1.5), index=0)
    interpolate(obj)
    bpy.context.scene.frame_end = 13
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    seen = {}
    for number in (4, 7, 13):
        frame(number)
        seen[number] = np.array(obj.matrix_world)[:3, 3]
    np.testing.assert_allclose(seen[4][[0, 2]], [0.75, height], rtol=0, atol=1e-5)
    np.testing.assert_allclose(seen[7][[0, 2]], [1.5, height], rtol=0, atol=1e-5)
    time = 6.0 / 24.0
    np.testing.assert_allclose(seen[13][[0, 2]], [1.5 + 6.0 * time, height - 0.5 * 9.81 * time**2], rtol=0, atol=2e-3)
    assert bpy.ops.softpressure.bake() == {"FINISHED"}
    for number, place in seen.items():
        frame(number)
        np.testing.assert_allclose(np.array(obj.matrix_world)[:3, 3], place, rtol=0, atol=1e-5)


def test_a_rigid_body_stays_where_it_is_shown_while_frames_are_added() -> None:
    """The frames to come are read where its own animation has it."""
    obj, scene = body_of("RIGID"), bpy.context.scene
    height = obj.location.z
    key(obj.softpressure, "is_active", (1, False), (3, False), (4, True))
    scene.frame_end = 8
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    frame(8)
    fallen = np.array(obj.matrix_world)[2, 3]
    assert fallen < height - 0.1
    scene.frame_end = 12
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    bpy.context.view_layer.update()
    assert scene.frame_current == 8
    assert np.array(obj.matrix_world)[2, 3] == pytest.approx(fallen, abs=1e-5)


def test_an_inactive_rigid_body_keeps_its_size_and_follows_the_rest() -> None:
    obj = body_of("RIGID")
    obj.softpressure.is_active = False
    for at, size, x, angle in ((1, 1.0, 0.0, 0.0), (6, 1.5, 2.0, 0.5)):
        obj.scale, obj.location.x, obj.rotation_euler.z = (size, size, size), x, angle
        for path in ("scale", "location", "rotation_euler"):
            obj.keyframe_insert(path, frame=at)
    bpy.context.scene.frame_end = 6
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    frame(6)
    shown_at = np.array(obj.matrix_world)
    assert shown_at[0, 3] == pytest.approx(2.0, abs=1e-5)
    turn = [[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]]
    np.testing.assert_allclose(shown_at[:2, :2], turn, rtol=0, atol=1e-5)


def test_an_inactive_rigid_body_follows_one_that_is_simulated() -> None:
    leader, obj = body_of("RIGID", "Leader"), add_ball("Follower", kind="RIGID", location=(5, 0, 2))
    obj.softpressure.is_active = False
    constraint: Any = obj.constraints.new("COPY_LOCATION")
    constraint.target, constraint.use_offset = leader, True
    bpy.context.scene.frame_end = 10
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    cache, uids = this_run().cache, this_run().object_uids
    heights = {
        each.name: np.array([cache.transform(uids.index(each.session_uid), at)[2, 3] for at in range(1, 11)])
        for each in (leader, obj)
    }
    fall = heights["Leader"] - heights["Leader"][0]
    assert fall[-1] < -0.5
    # what is simulated in a frame is followed in the next
    np.testing.assert_allclose((heights["Follower"] - heights["Follower"][0])[1:], fall[:-1], rtol=0, atol=1e-4)


def test_kernels_for_crossing_are_prepared_if_a_rigid_body_may_be_released() -> None:
    scene = bpy.context.scene
    cube = add_primitive("cube", "RIGID", size=1.0, location=(3, 0, 3))
    add_ball()
    assert "CROSSED" not in kernels.parts_of(scene)
    key(cube.softpressure, "is_active", (1, False), (5, True))
    assert {"COUPLED", "CROSSED"} <= kernels.parts_of(scene)
    bpy.data.objects.remove(bpy.data.objects["Ball"])
    assert kernels.parts_of(scene) == {"RIGID"}  # impulses part them


#: Animated values of modifiers and constraints that Blender has under two names, or that count in another way.
STORED_ONCE = [
    ("modifiers", "SIMPLE_DEFORM", "angle", 0.5), ("modifiers", "SIMPLE_DEFORM", "factor", 0.5),
    ("modifiers", "BEVEL", "width", 0.2), ("modifiers", "WAVE", "show_viewport", False),
    ("constraints", "CHILD_OF", "enabled", False), ("constraints", "CHILD_OF", "mute", True),
    ("constraints", "COPY_ROTATION", "mix_mode", "OFFSET"),
]  # fmt: skip


@pytest.mark.parametrize(("items", "kind", "name", "end"), STORED_ONCE)
def test_the_digest_of_what_is_animated_is_that_of_every_frame(items: str, kind: str, name: str, end: Any) -> None:
    floor = add_ball("Floor", kind="COLLIDER")
    add_ball()
    added = getattr(floor, items)
    item = added.new("Item", kind) if items == "modifiers" else added.new(kind)
    key(item, name, (1, getattr(item, name)), (5, end))
    found = []
    for number in (1, 3, 5):
        frame(number)
        found.append(input_digest.of_inputs(bpy.context.scene))
    assert len(set(found)) == 1
    key(item, name, (4, end))
    assert input_digest.of_inputs(bpy.context.scene) != found[0]


def add_led(kind: str) -> tuple[Any, str]:
    """What moves a collider by other data than its own; returns where to key it, and the property."""
    floor = add_ball("Floor", kind="COLLIDER")
    add_ball()
    if kind == "PATH":
        bpy.ops.curve.primitive_bezier_circle_add()
        path = bpy.context.object
        floor.constraints.new("FOLLOW_PATH").target = path
        return path.data, "eval_time"
    if kind == "LATTICE":
        lattice = add_object("Lattice", bpy.data.lattices.new("Lattice"))
        floor.modifiers.new("Lattice", "LATTICE").object = lattice
        return lattice.data.points[0], "co_deform"
    if kind == "CUTTER":
        cutter = add_ball("Cutter", kind=None)
        cutter.shape_key_add(name="Basis")
        floor.modifiers.new("Boolean", "BOOLEAN").object = cutter
        return cutter.shape_key_add(name="Wide"), "value"
    if kind == "NODES":
        modifier = add_tree(floor, "GeometryNodeTransform", {}, True)
        return modifier.node_group.nodes[1].inputs["Translation"], "default_value"
    bpy.ops.object.armature_add()
    floor.parent, target = bpy.context.object, add_object("Target")
    floor.parent.pose.bones[0].constraints.new("COPY_LOCATION").target = target
    return target, "location"


@pytest.mark.parametrize("kind", ["PATH", "LATTICE", "CUTTER", "NODES", "BONE"])
def test_keys_of_what_leads_a_collider_count_for_the_fingerprint(kind: str) -> None:
    owner, path = add_led(kind)
    value = getattr(owner, path)
    start, end = (0.0, 1.0) if isinstance(value, float) else ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    found = [input_digest.of_inputs(bpy.context.scene)]
    for keys in (((1, start), (9, start)), ((9, end),)):
        key(owner, path, *keys)
        seen = set()
        for number in (1, 5):
            frame(number)
            seen.add(input_digest.of_inputs(bpy.context.scene))
        assert len(seen) == 1
        found += seen
    assert len(set(found)) == 3


def test_modifiers_of_curves_count_for_the_fingerprint() -> None:
    floor = add_ball("Floor", kind="COLLIDER")
    add_ball()
    key(floor, "location", (1, 0.0), (5, 1.0), index=2)
    found = {input_digest.of_inputs(bpy.context.scene)}
    cycles = actions.curves(floor)[0].modifiers.new("CYCLES")
    found.add(input_digest.of_inputs(bpy.context.scene))
    cycles.mode_after = "MIRROR"
    found.add(input_digest.of_inputs(bpy.context.scene))
    assert len(found) == 3


def test_where_nla_strips_lie_and_how_they_are_mixed_counts_for_the_fingerprint() -> None:
    floor = add_ball("Floor", kind="COLLIDER")
    add_ball()
    key(floor, "location", (1, 0.0), (10, 1.0), index=2)
    data = floor.animation_data
    track = data.nla_tracks.new()
    strip = track.strips.new("Rise", 5, data.action)
    data.action = None
    found = []

    def changed() -> bool:
        digests = set()
        for number in (1, 9, 14):
            frame(number)
            digests.add(input_digest.of_inputs(bpy.context.scene))
        found.extend(digests)
        return len(digests) == 1 and found.count(found[-1]) == 1

    assert changed()
    strip.frame_start_ui = 8.0
    assert changed()
    strip.repeat = 2.0
    assert changed()
    strip.use_animated_influence = True
    key(strip, "influence", (8, 0.0), (12, 1.0))
    assert changed()
    track.mute = True
    assert changed()
    track.select = strip.select = False
    assert not changed()
