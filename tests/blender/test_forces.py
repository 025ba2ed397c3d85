"""Blender's force fields and goals: settings that are read, their effect, and caches that they make out of date."""

from typing import Any

import bpy
import numpy as np
import pytest
from bpy_scene import FallingWorld, add_ball, add_group, key, play
from bpy_seen import height, rest, shown, this_run, this_session, told
from softpressure_ext.softpressure.state import input_digest


def add_field(kind: str = "WIND", location: Any = (0, 0, 0), rotation: Any = (0, 0, 0), **settings: Any) -> Any:
    """An empty with a force field."""
    bpy.ops.object.effector_add(type=kind, location=location, rotation=rotation)
    obj = bpy.context.object
    obj.name = kind.title()
    for name, value in settings.items():
        setattr(obj.field, name, value)
    return obj


def inputs() -> str:
    bpy.context.view_layer.update()
    return input_digest.of_inputs(bpy.context.scene)


def given() -> Any:
    """What the world was given at frame 2."""
    FallingWorld.made.clear()
    bpy.ops.softpressure.reset()
    play(1, 2)
    return FallingWorld.made[-1].given[0]


@pytest.mark.smoke
@pytest.mark.parametrize("kind", ["SOFT", "RIGID"])
def test_a_wind_moves_a_ball_with_no_further_setting(kind: str) -> None:
    bpy.context.scene.use_gravity = False
    ball = add_ball(kind=kind, location=(0, 0, 0), mass=1.0)
    add_field("WIND", (-2, 0, 0), (0, np.pi / 2, 0))
    bpy.ops.softpressure.simulate()
    play(1, 10)
    way = shown(ball).mean(axis=0) - rest(ball).mean(axis=0) if kind == "SOFT" else np.array(ball.matrix_world)[:3, 3]
    time = 9 / 24
    assert way[0] == pytest.approx(time - (1.0 - np.exp(-time)), rel=0.05)
    assert abs(way[1]) < 2e-3 and abs(way[2]) < 2e-3
    assert "force field" not in told().lower()


@pytest.mark.usefixtures("falling")
def test_settings_of_a_field_that_are_read() -> None:
    add_ball()
    wind = add_field("WIND", (1, 2, 3), strength=7.0, flow=0.5, falloff_power=2.0, use_max_distance=True)
    wind.field.distance_max, wind.field.z_direction, wind.field.falloff_type = 4.0, "POSITIVE", "TUBE"
    harmonic = add_field("HARMONIC", strength=3.0, rest_length=0.5, harmonic_damping=0.25)
    add_field("DRAG", linear_drag=0.5, quadratic_drag=0.75)
    fields = {field.kind: field for field in given().fields}
    found = fields["WIND"]
    assert (found.strength, found.flow, found.power, found.max_distance) == (7.0, 0.5, 2.0, 4.0)
    assert (found.position, found.side, found.falloff, found.shape) == ((1.0, 2.0, 3.0), "POSITIVE", "TUBE", "PLANE")
    assert found.skin_share == 1.0 and found.shares == (1.0,) and found.radial_power == 0.0
    assert (fields["HARMONIC"].size, fields["HARMONIC"].damping) == (0.5, 0.25)
    assert (fields["DRAG"].damping, fields["DRAG"].strength) == (0.5, 0.75)
    harmonic.hide_viewport = True
    wind.field.apply_to_location = False
    assert {field.kind for field in given().fields} == {"DRAG"}


@pytest.mark.usefixtures("falling")
def test_places_and_distances_of_fields_are_in_metres() -> None:
    bpy.context.scene.unit_settings.scale_length = 0.5
    add_ball()
    add_field("WIND", (1, 2, 3), strength=7.0, use_max_distance=True, distance_max=4.0)
    add_field("TURBULENCE", falloff_type="CONE", use_radial_max=True, radial_max=30.0)
    fields = {field.kind: field for field in given().fields}
    wind, turbulence = fields["WIND"], fields["TURBULENCE"]
    assert (wind.position, wind.max_distance, wind.strength) == ((0.5, 1.0, 1.5), 2.0, 7.0)
    assert (turbulence.size, turbulence.max_radius) == (0.5, 30.0)


@pytest.mark.usefixtures("falling")
def test_weights_and_collections_select_the_bodies_of_a_field() -> None:
    first, second = add_ball("A"), add_ball("B", (3, 0, 5), "RIGID")
    wind, force = add_field("WIND"), add_field("FORCE")
    windy = bpy.data.collections.new("Windy")
    bpy.context.scene.collection.children.link(windy)
    windy.objects.link(wind)
    second.softpressure.effector_collection = windy
    first.softpressure.weight_all, first.softpressure.weight_force = 0.5, -3.0
    second.softpressure.weight_gravity = 0.25
    found = given()
    shares = {field.kind: field.shares for field in found.fields}
    assert shares == {"WIND": (0.5, 1.0), "FORCE": (-1.5, 0.0)}
    assert found.gravity_shares == (1.0, 0.25)
    first.softpressure.weight_all = 0.0
    assert [field.kind for field in given().fields] == ["WIND"]
    assert force.field.type == "FORCE"


@pytest.mark.usefixtures("falling")
def test_a_field_does_not_act_on_its_own_object() -> None:
    ball = add_ball()
    bpy.ops.object.forcefield_toggle()
    assert ball.field.type == "FORCE" and given().fields == ()
    assert add_ball("Z", (3, 0, 5)) and [field.shares for field in given().fields] == [(0.0, 1.0)]


@pytest.mark.usefixtures("falling")
def test_keyed_fields_are_read_at_every_frame() -> None:
    add_ball()
    wind = add_field("WIND", strength=0.0)
    key(wind.field, "strength", (1, 0.0), (5, 8.0))
    key(wind, "location", (1, 0.0), (5, 4.0), index=0)
    bpy.ops.softpressure.simulate()
    fields = [each.fields[0] for each in FallingWorld.made[-1].given[:4]]
    strengths = [field.strength for field in fields]
    assert strengths[0] > 0.0 and sorted(set(strengths)) == strengths and strengths[3] == pytest.approx(8.0)
    assert [field.position[0] for field in fields] == pytest.approx([value / 2 for value in strengths], rel=1e-3)


@pytest.mark.usefixtures("falling")
def test_a_field_acts_while_its_keyframes_enable_it() -> None:
    add_ball()
    key(add_field("WIND"), "hide_viewport", (1, False), (4, True), (6, False))
    bpy.context.scene.frame_set(1)
    bpy.ops.softpressure.simulate()
    assert [len(each.fields) for each in FallingWorld.made[-1].given] == [1, 1, 0, 0, 1, 1, 1, 1, 1]


@pytest.mark.usefixtures("falling")
def test_noise_changes_the_strength_from_frame_to_frame_and_not_from_run_to_run() -> None:
    add_ball()
    add_field("WIND", strength=5.0, noise=2.0, seed=3)
    runs = []
    for _ in range(2):
        bpy.ops.softpressure.reset()
        bpy.ops.softpressure.simulate()
        runs.append([each.fields[0].strength for each in FallingWorld.made[-1].given])
    assert runs[0] == runs[1] and len(set(runs[0])) == len(runs[0])
    assert all(3.0 <= strength <= 7.0 for strength in runs[0])


def test_a_collection_that_disables_a_field_makes_a_cache_out_of_date() -> None:
    add_ball()
    before, wind = inputs(), add_field("WIND")
    windy = bpy.data.collections.new("Windy")
    bpy.context.scene.collection.children.link(windy)
    windy.objects.link(wind)
    bpy.context.scene.collection.objects.unlink(wind)
    blowing, layer = inputs(), bpy.context.view_layer.layer_collection.children["Windy"]
    assert blowing != before
    layer.hide_viewport = True  # the eye: it goes on acting
    assert inputs() == blowing
    windy.hide_viewport = True
    assert inputs() == before
    windy.hide_viewport, layer.exclude = False, True
    assert inputs() == before
    layer.exclude = False
    assert inputs() == blowing


def test_a_changed_field_or_weight_makes_a_cache_out_of_date() -> None:
    ball, before = add_ball(), inputs()
    ball.softpressure.weight_wind = 0.5
    assert inputs() == before  # there is no wind
    wind = add_field("WIND")
    seen = [before, inputs()]

    def changed() -> bool:
        seen.append(inputs())
        return seen.count(seen[-1]) == 1

    assert seen[0] != seen[1]
    wind.field.strength = 2.0
    assert changed()
    wind.location.x = 1.0
    assert changed()
    ball.softpressure.weight_wind = 1.0
    assert changed()
    ball.softpressure.weight_gravity = 0.5
    assert changed()
    key(wind.field, "strength", (1, wind.field.strength), (10, 9.0))
    assert changed()
    bpy.context.scene.frame_set(7)
    bpy.context.scene.frame_set(4)
    seen.append(inputs())
    assert seen[-1] == seen[-2]  # animated: the keyframes count, not the moment
    ball.softpressure.effector_collection = bpy.data.collections.new("Empty")
    assert changed()
    wind.name = "Renamed"
    seen.append(inputs())
    assert seen[-1] == seen[-2]
    wind.field.type = "MAGNET"
    ball.softpressure.weight_gravity = 1.0
    assert inputs() == before


@pytest.mark.smoke
def test_fields_that_do_not_act_are_reported_once() -> None:
    add_ball()
    add_field("MAGNET")
    add_field("CHARGE").name = "Spark"
    assert told().count("Force fields that do not act on bodies: ") == 1
    assert "Charge (Spark)" in told() and "Magnet" in told()
    wall = add_ball("Wall", kind=None)
    bpy.ops.object.forcefield_toggle()
    wall.field.shape, wall.field.use_absorption = "SURFACE", True
    wall.modifiers.new("Dust", "PARTICLE_SYSTEM")
    assert "Particles" not in told()
    wall.particle_systems[0].settings.force_field_2.type = "WIND"
    assert told().count("; Particles (Wall)") == 1
    assert f"{wall.name}: the shape Surface" in told() and "Absorption of its force field is not supported" in told()


def add_lifting_lattice(ball: Any) -> Any:
    """A lattice that lifts a ball by 1 m from frame 1 to frame 5."""
    bpy.ops.object.add(type="LATTICE", location=ball.location)
    lattice = bpy.context.object
    lattice.scale = (2, 2, 2)
    modifier = ball.modifiers.new("Lattice", "LATTICE")
    modifier.object = lattice
    for frame, up in ((1, 0.0), (5, 0.5)):
        for point in lattice.data.points:
            point.co_deform[2] = point.co[2] + up
            point.keyframe_insert("co_deform", frame=frame)
    return lattice


@pytest.mark.smoke
def test_goals_are_read_where_the_modifiers_have_them() -> None:
    bpy.context.scene.use_gravity = False
    ball = add_ball(location=(0, 0, 2), goal_stiffness=2e4, goal_damping=20.0)
    add_group(ball, "goal_group", range(len(ball.data.vertices)), 0.9)
    add_lifting_lattice(ball)
    bpy.context.scene.frame_end = 12
    bpy.ops.softpressure.simulate()
    assert not this_session().refusals.error
    bpy.context.scene.frame_set(12)
    assert height(ball) == pytest.approx(3.0, abs=0.02)
    np.testing.assert_allclose(shown(ball), rest(ball) + (0, 0, 1), atol=0.03)


@pytest.mark.usefixtures("falling")
def test_weight_1_is_pinned_and_weight_0_is_free() -> None:
    ball = add_ball(goal_stiffness=70.0, goal_damping=3.0)
    add_group(ball, "goal_group", range(5), [1.0, 0.5, 0.0, 0.25, 0.75])
    add_group(ball, "pin_group", [4, 5])
    found, world = given(), FallingWorld.made[-1]
    body = this_run().start.bodies[0]
    assert body.pinned.tolist() == [0, 4, 5] and world.model.pinned.sum() == 3
    assert body.pulled.vertices.tolist() == [1, 3] and body.pulled.weights.tolist() == [0.5, 0.25]
    assert found.pinned_positions[0].shape == (3, 3) and found.goal_positions[0].shape == (2, 3)
    goals, mass = world.model.goals, world.model.vertex_mass
    share = mass[goals.points[:, 0]] / mass.sum()
    np.testing.assert_allclose(goals.stiffness, 70.0 * share * (0.5, 0.25))


def test_settings_of_goals_make_a_cache_out_of_date_where_there_are_goals() -> None:
    ball = add_ball()
    before = inputs()
    ball.softpressure.goal_stiffness = 10.0
    assert inputs() == before
    add_group(ball, "goal_group", [1], 0.5)
    second = inputs()
    ball.softpressure.goal_damping = 1.0
    assert len({before, second, inputs()}) == 3
