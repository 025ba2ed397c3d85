"""The motion limit by dividing planes: no contact fails afterwards, whatever the velocities before; energy only falls.

Scenes in contact get velocities that would make all bodies cross, and are limited by the kernels alone.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
import shapes
from explicit_scene import bench_world, run, world_of
from rigid_scene import block
from scenes import BEACH_BALL, LIVELY, add_ball
from softpressure_ext.core import FrameInput, ModelBuilder, State, World
from softpressure_ext.core.solvers.explicit import arrays, attempt, verify
from softpressure_ext.core.solvers.explicit.motion_limit import APART, TOGETHER, limit_motion

#: Speed of what is sent through everything [m/s]; a step then goes farther than contacts reach.
SPEED = 30.0
ROUNDING = 1e-12


class Step(NamedTuple):
    """A step that is not taken yet."""

    contact: Any
    x: np.ndarray
    y: np.ndarray
    velocity: np.ndarray
    h: float

    def drift(self) -> None:
        """Go where the velocities lead."""
        state = self.contact.run.state
        attempt.drift(self.contact, self.x, self.y, self.velocity, self.h, (state[arrays.AGE] + 1) * self.h)

    def limit(self, how: int) -> None:
        """Limit the motion."""
        limit_motion(self.contact, self.x, self.y, self.velocity, self.h, how)

    def failing(self) -> int:
        """Contacts that end nearer than they may."""
        self.drift()
        return int(verify.verify(self.contact, self.y))

    def momenta(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Momentum, angular momentum and energy of motion of the skins and the rigid bodies."""
        inverse, rigid = self.contact.points.inverse_mass, self.contact.rigid
        free = inverse > 0.0
        x, v = (array.reshape(-1, 4)[free, :3] for array in (self.x, self.velocity))
        impulse = v / inverse[free, None]
        push, turn = impulse.sum(axis=0), np.cross(x, impulse).sum(axis=0)
        energy = 0.5 * (impulse * v).sum()
        for q, share in enumerate(rigid.inverse_mass):
            push = push + rigid.velocity[q] / share
            turn = turn + np.cross(rigid.pose[q, :3], rigid.velocity[q] / share) + rigid.momentum[q]
            energy += 0.5 * (rigid.velocity[q] @ rigid.velocity[q] / share + rigid.momentum[q] @ rigid.spin[q])
        return push, turn, float(energy)


def next_step(world: World, given: FrameInput | None = None) -> Step:
    """The step after those of the next frame."""
    solver: Any = world._solver
    before = solver.counts.stages
    world.advance_frame(given)
    count = solver.counts.stages - before
    x, y = (solver.space.x, solver.space.y) if count % 2 == 0 else (solver.space.y, solver.space.x)
    return Step(solver.space.contact, x, y, solver.space.v, 1.0 / (world.frame_rate * count))


def disturbed(world: World, seed: int) -> Step:
    """The next step, with velocities at random."""
    step, random = next_step(world), np.random.default_rng(seed)
    free, rigid = step.contact.points.inverse_mass > 0.0, step.contact.rigid
    step.velocity.reshape(-1, 4)[free, :3] += SPEED * random.standard_normal((int(free.sum()), 3))
    rigid.velocity[:] += SPEED * random.standard_normal(rigid.velocity.shape)
    return step


SCENES = {"pair": 20, "crate": 16, "box8": 24}


@cache
def landed(name: str) -> tuple[World, State]:
    """A scene of the benchmarks, and its state when its bodies have met."""
    world, _ = bench_world(name, 642, 1)
    run(world, SCENES[name])
    return world, world.save()


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("how", [APART, TOGETHER])
def test_no_contact_fails_afterwards_and_energy_falls(name: str, how: int) -> None:
    world, state = landed(name)
    world.load(state)
    step = disturbed(world, 1)
    assert step.failing() > 20
    energy = step.momenta()[2]
    step.limit(how)
    assert step.failing() == 0
    assert step.momenta()[2] < energy


def flying() -> Step:
    """Two balls in the air, one of them with a box before it, with velocities at random."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    add_ball(builder, BEACH_BALL, velocity=(1.0, 0.0, 0.0))
    add_ball(builder, BEACH_BALL, centre=(0.41, 0.05, 0.02), name="other", velocity=(-1.0, 0.0, 0.0))
    builder.add_rigid("box", *block((0.2, 0.3, 0.2), (-0.31, 0.03, 0.02)), mass=0.5, velocity=(2.0, 0.0, 0.0))
    world = world_of(builder, frame_rate=96.0)
    run(world, 2)
    return disturbed(world, 1)


@pytest.mark.parametrize("how", [APART, TOGETHER])
def test_the_momentum_of_free_bodies_stays(how: int) -> None:
    step = flying()
    assert step.failing() > 10
    push, _, energy = step.momenta()
    step.limit(how)
    after = step.momenta()
    size = np.abs(step.velocity).sum() / step.contact.points.inverse_mass.max()
    np.testing.assert_allclose(after[0], push, rtol=0, atol=ROUNDING * size)
    assert after[2] < energy


def test_a_common_motion_changes_nothing() -> None:
    """Bodies that fly past at 100 m/s end where they end at rest, and as much besides."""
    rest, moving = flying(), flying()
    common = np.array([100.0, -50.0, 20.0])
    free = moving.contact.points.inverse_mass > 0.0
    moving.velocity.reshape(-1, 4)[free, :3] += common
    moving.contact.rigid.velocity[:] += common
    assert rest.failing() == moving.failing() > 10
    for step in (rest, moving):
        step.limit(APART)
    found = moving.velocity.reshape(-1, 4)[free, :3] - common
    np.testing.assert_allclose(found, rest.velocity.reshape(-1, 4)[free, :3], rtol=0, atol=1e-6)
    np.testing.assert_allclose(moving.contact.rigid.velocity - common, rest.contact.rigid.velocity, rtol=0, atol=1e-6)


@pytest.mark.parametrize("turns", [0.0, 2.0])
def test_a_moving_collider_pushes(turns: float) -> None:
    """A ball that rises at 3 m/s, or turns about a far axis at 2 rad/s besides, under one that falls."""
    builder = ModelBuilder()
    add_ball(builder, BEACH_BALL, centre=(0.05, 0.0, 0.3 + BEACH_BALL.radius + 0.002), self_collision=True)
    lift, triangles = shapes.icosphere(3, 0.3)
    builder.add_collider("lift", lift, triangles)
    world = world_of(builder, frame_rate=96.0)
    turned = (lift + (0.5, 0.0, 0.0)) @ shapes.rotation((0.0, 1.0, 0.0), turns / 96.0).T - (0.5, 0.0, 0.0)
    step = next_step(world, FrameInput(collider_positions={0: turned + (0.0, 0.0, 3.0 / 96.0)}))
    free = step.contact.points.inverse_mass > 0.0
    step.velocity.reshape(-1, 4)[free, 2] -= SPEED
    assert step.failing() > 3
    step.limit(APART)
    assert step.failing() == 0


def test_pins_push() -> None:
    """A ball is sent through a ball whose near side is pinned and moves at 2 m/s."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    x, _ = shapes.icosphere(3, BEACH_BALL.radius)
    pinned = np.flatnonzero(x[:, 0] > 0.12)
    add_ball(builder, BEACH_BALL, pinned=pinned)
    add_ball(builder, BEACH_BALL, centre=(2.0 * BEACH_BALL.radius + 0.004, 0.0, 0.0), name="other")
    world = world_of(builder, frame_rate=96.0)
    step = next_step(world, FrameInput(pinned_positions={0: x[pinned] + (2.0 / 96.0, 0.0, 0.0)}))
    free = (step.contact.points.inverse_mass > 0.0) & (step.contact.points.body == 1)
    held = step.contact.run.pinned
    before = step.velocity.reshape(-1, 4)[held].copy()
    assert before[:, 0].min() > 1.0
    step.velocity.reshape(-1, 4)[free, 0] -= 4.0 * SPEED
    assert step.failing() > 3
    step.limit(APART)
    assert step.failing() == 0
    np.testing.assert_array_equal(step.velocity.reshape(-1, 4)[held], before)


@pytest.mark.parametrize("turns", [0.0, 15.0])
def test_a_fast_bat_crosses_nothing(turns: float) -> None:
    """A block that comes at 20 m/s, or swings at 15 rad/s, hits a ball that leans on a wall."""
    builder = ModelBuilder()
    radius = BEACH_BALL.radius
    add_ball(builder, BEACH_BALL, centre=(0.0, 0.0, radius + 0.002), self_collision=True)
    builder.add_collider("floor", *block((4.0, 4.0, 0.2), (0.0, 0.0, -0.1)))
    bat, triangles = block((0.3, 0.6, 0.6), (-radius - 0.45, 0.0, 0.35))
    builder.add_collider("bat", bat, triangles)
    world = world_of(builder, frame_rate=96.0)

    def swung(frame: int) -> FrameInput:
        time = min(frame / 96.0, 0.04)
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
    solver: Any = world._solver
    assert solver.space.contact.run.state[arrays.STALLS] == 0
    assert abs(world.rigid_velocity(0)[0][2]) < 0.5
