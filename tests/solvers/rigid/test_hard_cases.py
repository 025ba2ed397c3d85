"""Hard cases of rigid contact: nothing crosses, by an independent check, and no scene gains energy."""

import math

import numpy as np
import pytest
import shapes
from crossings import assert_nothing_crosses
from hard_scenes import card_house, cliff_edges, heap, heavy_on_light, spikes, stack, tetrahedra, tunnel, wedges
from rigid_scene import block
from rigid_scenes import energy
from scenes import GRAVITY, played
from softpressure_ext.core import FrameInput, ModelBuilder, World
from softpressure_ext.core.solvers.rigid.rows import PUSH

#: Largest rise of the energy above its start, of the start.
RISE = 1e-6


def advance(world, frames, *, crosses=False):
    """Advance and check the energy after each frame, and, unless something `crosses` for a while, that nothing does."""
    start = energy(world)
    for _ in played(world, frames):
        now = energy(world)
        assert now <= start + RISE * abs(start), f"frame {world.frame}: {now} J, {start} J at the start"
        if not crosses:
            assert_nothing_crosses(world)
    return world


def fastest(world):
    return np.abs(world.save().rigid.velocity).max()


@pytest.mark.parametrize("yaw", [0.0, 5.0])
@pytest.mark.parametrize("scene", [tetrahedra, wedges])
def test_sharp_edges_do_not_pass_each_other(scene, yaw):
    """Edge on edge, almost or wholly parallel, without friction: what meets in the middle stays or slides off."""
    world = advance(scene(yaw), 48)
    if scene is tetrahedra and yaw:  # it rests on an edge
        assert world.rigid_positions(0)[:, 2].min() == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scene", [tetrahedra, wedges])
def test_sharp_edges_out_of_place_do_not_pass_each_other(scene, seed):
    rng = np.random.default_rng(seed)
    advance(scene(rng.uniform(0.0, 5.0), friction=0.5 * (seed % 2), shift=rng.normal(0.0, 0.02, 2)), 36)


@pytest.mark.parametrize("bounciness", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("shift", [(0.0, 0.0), (0.01, 0.02), (0.1, 0.03)])
def test_spikes_gain_no_energy(shift, bounciness):
    advance(spikes(shift=shift, bounciness=bounciness), 60)


@pytest.mark.parametrize("bounciness", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("shift", [0.0, 0.001, 0.01])
def test_cliff_edges_gain_no_energy(shift, bounciness):
    advance(cliff_edges(shift=shift, bounciness=bounciness), 60)


@pytest.mark.parametrize("walls", [2, 3, 4])
def test_a_box_slides_through_a_tunnel_with_little_play(walls):
    """0.1 mm on each side, a fiftieth of the thickness; 10 m/s, without friction."""
    world = advance(tunnel(walls), 36)
    speed = world.save().rigid.velocity[0]
    # where it is pushed up from 0.1 mm to the resting gap over the floor, its motion pays for it
    np.testing.assert_allclose(speed, [10.0, 0.0, 0.0], rtol=0, atol=0.01)


@pytest.mark.parametrize("walls", [3, 4])
def test_a_tight_tunnel_brakes_a_box_by_its_weight_alone(walls):
    world = advance(tunnel(walls, friction=0.5), 24)
    assert world.save().rigid.velocity[0, 0] == pytest.approx(10.0 - 0.5 * GRAVITY, rel=0.02)


@pytest.mark.parametrize("play", [1e-4, 1e-3])
@pytest.mark.parametrize("speed", [1.0, 10.0])
def test_a_box_turned_within_its_play_does_not_jam(play, speed):
    world = advance(tunnel(4, play, speed=speed, angular_velocity=(0.0, 0.01, 0.02)), 24)
    assert world.save().rigid.velocity[0, 0] == pytest.approx(speed, rel=0.01)


@pytest.mark.parametrize(("ratio", "gap"), [(100.0, 0.03), (300.0, 0.1), (1000.0, 0.01), (1000.0, 0.03)])
def test_a_heavy_cube_lies_on_a_light_one(ratio, gap):
    world = advance(heavy_on_light(ratio, gap=gap), 48)
    assert fastest(world) == 0.0
    top = world.rigid_positions(0)[:, 2].max()
    assert np.ptp(world.rigid_positions(0)[:, 2]) == pytest.approx(1.0, abs=1e-3)
    assert world.rigid_positions(1)[:, 2].min() > top


@pytest.mark.parametrize("friction", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("bounciness", [0.0, 0.5, 1.0])
def test_a_stack_gains_no_energy(bounciness, friction):
    for seed in range(2):
        advance(stack(10, seed, friction=friction, bounciness=bounciness), 36)


@pytest.mark.parametrize("friction", [0.0, 1.0])
@pytest.mark.parametrize("bounciness", [0.0, 0.5, 1.0])
def test_a_heap_gains_no_energy(bounciness, friction):
    advance(heap(48, friction=friction, bounciness=bounciness), 36, crosses=True)


@pytest.mark.parametrize(("angle", "height", "gap"), [(20.0, 1.0, 1.5e-3), (20.0, 0.2, 1e-3), (15.0, 0.3, 2e-3)])
def test_a_card_house_of_two_levels_stands(angle, height, gap):
    """Cards of 10 mm, friction 0.5, for 10 s: the cards lean less than friction holds them."""
    world = card_house(2, angle=angle, height=height, gap=gap)
    before = world.save().rigid.pose[:, :3]
    for _ in range(240):
        world.advance_frame()
    assert_nothing_crosses(world)
    assert fastest(world) == 0.0
    assert np.abs(world.save().rigid.pose[:, :3] - before).max() < 4.0 * gap


def press_down(count, way, beside):
    """Stacked boxes of 0.8 m and a press 0.19 m above them that goes down by `way` [m] in a second; then one more."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
    if beside == "a ball":
        x, triangles = shapes.icosphere(2)
        builder.add_membrane("ball", 0.5 * x + [-3.0, 0.0, 0.51], triangles, mass=1.0, gauge_pressure=2e3,
                             stretch_modulus=2e4)  # fmt: skip
    for k in range(count):
        builder.add_rigid(f"box {k}", *block((0.8, 0.8, 0.8), (0.0, 0.0, 0.41 + 0.81 * k)), mass=1.0)
    builder.add_collider("floor", *block((20.0, 20.0, 1.0), (0.0, 0.0, -0.5)))
    above, faces = block((3.0, 3.0, 0.2), (0.0, 0.0, 0.29 + 0.81 * count))
    press = builder.add_collider("press", above, faces)
    world, frames = World(builder.build(), frame_rate=24), 24
    for frame in range(2 * frames):
        down = way * min(frame / frames, 1.0)
        world.advance_frame(FrameInput(collider_positions={press: above - [0.0, 0.0, down]}))
        yield world


@pytest.mark.parametrize("beside", ["nothing", "a ball"])
@pytest.mark.parametrize("room", [0.35, 0.75])
def test_a_press_that_leaves_no_room_does_not_shoot_a_box_away(room, beside):
    """It stays between press and floor, with half of the press in either, and goes no faster than the press."""
    for world in press_down(1, 1.0 - room, beside):
        assert fastest(world) < 1.0 - room + 0.3
    x = world.rigid_positions(0)
    assert np.ptp(x[:, 2]) == pytest.approx(0.8, abs=0.01)
    assert np.abs(x[:, :2].mean(axis=0)).max() < 0.01


@pytest.mark.parametrize("beside", ["nothing", "a ball"])
@pytest.mark.parametrize("count", [2, 3])
def test_a_press_pushes_stacked_boxes_aside(count, beside):
    """Half of the stack has room: boxes go aside as fast as they are pushed apart, and lie there (44 m/s once)."""
    way = 0.19 + 0.41 * count
    for world in press_down(count, way, beside):
        assert fastest(world) < way + 2.0 * PUSH * 0.4 * math.sqrt(3.0)
    x = np.array([world.rigid_positions(k) for k in range(count)])
    assert x[:, :, 2].min() > -0.01
    assert np.abs(x.mean(axis=1)).max() < 3.0
