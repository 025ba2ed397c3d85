"""The motion limit by dividing planes: nothing crosses, whatever the velocities before, and energy only falls.

Scenes in contact get velocities that would make all bodies cross in the next step.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest
import shapes
from crossings import assert_nothing_crosses
from explicit_scene import bench_world, momenta, motion, run, world_of
from rigid_scene import block
from scenes import BEACH_BALL, LIVELY, add_ball, energy
from softpressure_ext.core import FrameInput, ModelBuilder, State, World
from softpressure_ext.core.model import Model
from softpressure_ext.core.solvers.explicit import arrays, attempt, verify
from softpressure_ext.core.solvers.explicit.motion_limit import APART, TOGETHER, limit_motion

#: Speed of what is sent through everything [m/s]; a step then goes farther than contacts reach.
SPEED = 30.0
FRAME_RATE = 96.0
SCENES = {"pair": 20, "crate": 16}


def counts(world: World) -> tuple[int, int]:
    """How often the motion was limited, and how often a step came to nothing."""
    solver: Any = world._solver
    return solver.space.contact.run.state[arrays.LIMITED], solver.space.contact.run.state[arrays.STALLS]


def push(world: World, soft: Any, rigid: Any = 0.0) -> None:
    """Add velocities [m/s] to the vertices and to the rigid bodies."""
    state = world.save()
    state.velocities[: world.model.vertex_count] += soft
    state.rigid.velocity[:] += rigid
    world.load(state)


def hurl(world: World, seed: int) -> None:
    """Send every body somewhere and shear it, at random."""
    random, model = np.random.default_rng(seed), world.model
    soft = []
    for body in range(model.membrane_count):
        x = world.positions(body)
        shear = SPEED / BEACH_BALL.radius * random.standard_normal((3, 3))
        soft.append(SPEED * random.standard_normal(3) + (x - x.mean(axis=0)) @ shear)
    push(world, np.concatenate(soft), SPEED * random.standard_normal((model.rigid_count, 3)))


def limit(world: World, given: FrameInput | None = None) -> None:
    """A frame whose motion is limited: nothing crosses, and no step comes to nothing."""
    limited, stalls = counts(world)
    world.advance_frame(given)
    assert counts(world)[0] > limited and counts(world)[1] == stalls == 0
    assert_nothing_crosses(world)


@cache
def landed(name: str) -> tuple[Model, State]:
    """A scene of the benchmarks, and its state when its bodies have met."""
    world, _ = bench_world(name, 642, 1)
    run(world, SCENES[name])
    return world.model, world.save()


@pytest.mark.parametrize("seed", range(1, 7))
@pytest.mark.parametrize("name", SCENES)
def test_nothing_crosses_and_energy_falls(name: str, seed: int) -> None:
    """Also where a search runs out of room after it has asked for contacts of a box that sleeps or lies by itself."""
    model, state = landed(name)
    world = world_of(model, frame_rate=4.0 * FRAME_RATE)
    world.load(state)
    hurl(world, seed)
    before = energy(world)
    limit(world)
    assert energy(world) < before


@pytest.mark.parametrize("name", [*SCENES, "box8"])
@pytest.mark.parametrize("how", [APART, TOGETHER])
def test_no_contact_fails_after_one_limit(name: str, how: int) -> None:
    """Each way by itself, of which worlds take the second one after six attempts only."""
    world, _ = bench_world(name, 642, 1)
    run(world, SCENES.get(name, 24))
    solver: Any = world._solver
    space, state = solver.space, solver.space.contact.run.state
    before, random = solver.counts.stages, np.random.default_rng(1)
    world.advance_frame()
    steps = solver.counts.stages - before
    x, y = (space.x, space.y) if steps % 2 == 0 else (space.y, space.x)
    contact, velocity, h = space.contact, space.v, 1.0 / (world.frame_rate * steps)
    mass = np.divide(1.0, contact.points.inverse_mass, where=contact.points.inverse_mass > 0.0, out=0.0 * space.x[::4])
    velocity.reshape(-1, 4)[mass > 0.0, :3] += SPEED * random.standard_normal((int((mass > 0.0).sum()), 3))
    contact.rigid.velocity[:] += SPEED * random.standard_normal(contact.rigid.velocity.shape)

    def failing() -> int:
        attempt.drift(contact, x, y, velocity, h, (state[arrays.AGE] + 1) * h)
        return int(verify.verify(contact, y))

    def kinetic() -> float:
        rigid = contact.rigid
        soft = 0.5 * (mass[:, None] * velocity.reshape(-1, 4)[:, :3] ** 2).sum()
        turning = 0.5 * (rigid.momentum * rigid.spin).sum()
        return float(soft + turning + 0.5 * (rigid.velocity**2 / rigid.inverse_mass[:, None]).sum())

    assert failing() > 20
    held = kinetic()
    limit_motion(contact, x, y, velocity, h, how)
    assert failing() == 0
    assert kinetic() < held


def flying() -> World:
    """Two balls in the air, one of them with a box before it, with velocities at random.

    The box is turned: where two of its corners are as near to one triangle, rounding decides.
    """
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    add_ball(builder, BEACH_BALL, velocity=(1.0, 0.0, 0.0))
    add_ball(builder, BEACH_BALL, centre=(0.41, 0.05, 0.02), name="other", velocity=(-1.0, 0.0, 0.0))
    corners, triangles = block((0.2, 0.3, 0.2), (0.0, 0.0, 0.0))
    corners = corners @ shapes.rotation((1.0, 2.0, 3.0), 0.3).T + (-0.33, 0.03, 0.02)
    builder.add_rigid("box", corners, triangles, mass=0.5, velocity=(2.0, 0.0, 0.0))
    world = world_of(builder, frame_rate=16.0 * FRAME_RATE)  # some steps a frame
    run(world, 32)
    hurl(world, 6)
    return world


def test_the_momentum_of_free_bodies_stays() -> None:
    world = flying()
    before, size, held = momenta(world)[0], motion(world)[0], energy(world)
    limit(world)
    np.testing.assert_allclose(momenta(world)[0], before, rtol=0, atol=1e-12 * size)
    assert energy(world) < held


def test_a_common_motion_changes_nothing() -> None:
    """Bodies that fly past as fast as they are hurled end as they end at rest, and as much besides."""
    rest, moving, common = flying(), flying(), np.array([30.0, -15.0, 6.0])
    push(moving, common, common)
    limit(rest)
    limit(moving)
    assert counts(rest) == counts(moving)
    np.testing.assert_allclose(moving.save().velocities - common, rest.save().velocities, rtol=0, atol=1e-9)
    np.testing.assert_allclose(moving.rigid_velocity(0)[0] - common, rest.rigid_velocity(0)[0], rtol=0, atol=1e-9)


@pytest.mark.parametrize("turns", [0.0, 2.0])
def test_a_moving_collider_pushes(turns: float) -> None:
    """A ball that rises at 3 m/s, or turns about a far axis at 2 rad/s besides, under one that falls."""
    builder = ModelBuilder()
    add_ball(builder, BEACH_BALL, centre=(0.05, 0.0, 0.3 + BEACH_BALL.radius + 0.002), self_collision=True)
    lift, triangles = shapes.icosphere(3, 0.3)
    builder.add_collider("lift", lift, triangles)
    world = world_of(builder, frame_rate=FRAME_RATE)
    turned = (lift + (0.5, 0.0, 0.0)) @ shapes.rotation((0.0, 1.0, 0.0), turns / FRAME_RATE).T - (0.5, 0.0, 0.0)
    hurl(world, 6)
    push(world, (0.0, 0.0, -SPEED))
    limit(world, FrameInput(collider_positions={0: turned + (0.0, 0.0, 3.0 / FRAME_RATE)}))


def test_pins_push() -> None:
    """A ball is sent through a ball whose near side is pinned and moves at 2 m/s."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    x, _ = shapes.icosphere(3, BEACH_BALL.radius)
    pinned = np.flatnonzero(x[:, 0] > 0.12)
    add_ball(builder, BEACH_BALL, pinned=pinned)
    add_ball(builder, BEACH_BALL, centre=(2.0 * BEACH_BALL.radius + 0.004, 0.0, 0.0), name="other")
    world = world_of(builder, frame_rate=FRAME_RATE)
    push(world, np.repeat([[0.0, 0.0, 0.0], [-4.0 * SPEED, 0.0, 0.0]], len(x), axis=0))
    held = x[pinned] + (2.0 / FRAME_RATE, 0.0, 0.0)
    limit(world, FrameInput(pinned_positions={0: held}))
    np.testing.assert_allclose(world.positions(0)[pinned], held, rtol=0, atol=1e-15)


@pytest.mark.parametrize("turns", [0.0, 15.0])
def test_a_fast_bat_crosses_nothing(turns: float) -> None:
    """A block that comes at 20 m/s, or swings at 15 rad/s, hits a ball that leans on a wall."""
    builder = ModelBuilder()
    radius = BEACH_BALL.radius
    add_ball(builder, BEACH_BALL, centre=(0.0, 0.0, radius + 0.002), self_collision=True)
    builder.add_collider("floor", *block((4.0, 4.0, 0.2), (0.0, 0.0, -0.1)))
    bat, triangles = block((0.3, 0.6, 0.6), (-radius - 0.45, 0.0, 0.35))
    builder.add_collider("bat", bat, triangles)
    world = world_of(builder, frame_rate=FRAME_RATE)

    def swung(frame: int) -> FrameInput:
        time = min(frame / FRAME_RATE, 0.04)
        if turns == 0.0:
            return FrameInput(collider_positions={1: bat + (20.0 * time, 0.0, 0.0)})
        pivot = np.array([-radius - 0.3, 1.0, 0.35])
        turned = (bat - pivot) @ shapes.rotation((0.0, 0.0, 1.0), turns * time).T + pivot
        return FrameInput(collider_positions={1: turned})

    run(world, 12, swung)


def test_a_tonne_crushes_a_ball_flat_and_crosses_nothing() -> None:
    """It comes to rest on what is left of the ball: nothing stalls."""
    builder = ModelBuilder()
    add_ball(builder, BEACH_BALL, centre=(0.0, 0.0, BEACH_BALL.radius + 0.01), self_collision=True, **LIVELY)
    builder.add_collider("floor", *block((4.0, 4.0, 0.2), (0.0, 0.0, -0.1)))
    lid = block((0.8, 0.8, 0.2), (0.0, 0.0, 2.0 * BEACH_BALL.radius + 0.2))
    builder.add_rigid("crate", *lid, mass=100.0 * BEACH_BALL.mass)
    world = world_of(builder)
    run(world, 24)
    assert counts(world)[1] == 0
    assert abs(world.rigid_velocity(0)[0][2]) < 0.5
