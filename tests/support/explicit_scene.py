"""Shared by the tests of explicit steps: the solver's name, scenes of the benchmarks a little moved, and measures."""

from collections.abc import Callable
from typing import Any

import numpy as np
import rigid_scenes
import scenes
import shapes
from crossings import assert_nothing_crosses
from numpy.typing import NDArray
from softpressure_ext.benchmarks import scenes as bench_scenes
from softpressure_ext.benchmarks.engines.ours import builder_of
from softpressure_ext.core import FrameInput, Model, ModelBuilder, World

FloatArray = NDArray[np.float64]
#: The solver that these tests are about.
SOLVER = "EXPLICIT"
FRAME_RATE = 24.0
#: By how much bodies of the benchmarks are moved [m] and turned [rad], at most.
MOVED, TURNED = 2e-3, 0.05
#: Frames between two looks for crossings.
EVERY = 3


def world_of(made: ModelBuilder | Model, *, frame_rate: float = FRAME_RATE, threads: int = 1) -> World:
    """A world of a model or of a builder's."""
    model = made if isinstance(made, Model) else made.build()
    return World(model, frame_rate=frame_rate, threads=threads, solver=SOLVER)


def jittered(positions: FloatArray, noise: np.random.Generator) -> FloatArray:
    """A body a little turned about its middle and moved."""
    turn = shapes.rotation(noise.normal(size=3), noise.uniform(-TURNED, TURNED))
    middle = positions.mean(axis=0)
    return (positions - middle) @ turn.T + middle + noise.uniform(-MOVED, MOVED, 3)


def bench_world(name: str, size: int, seed: int) -> tuple[World, bench_scenes.Scene]:
    """A scene of the benchmarks, every body moved as the seed says, skins in contact with themselves.

    Seed 0 leaves it as it is.
    """
    scene, noise = bench_scenes.make(name, size), np.random.default_rng(seed)
    return scene_world(scene, noise if seed else None), scene


def scene_world(
    scene: bench_scenes.Scene, noise: np.random.Generator | None, *, pressure: float = bench_scenes.PRESSURE,
    spring: float = bench_scenes.SPRING,
) -> World:  # fmt: skip
    """A scene in the form of the benchmarks, moved at random if there is `noise`; its gas [Pa] and springs [N/m]."""

    def placed(positions: FloatArray) -> FloatArray:
        return positions if noise is None else jittered(positions, noise)

    builder = builder_of(scene, placed, pressure=pressure, spring=spring)
    return world_of(builder, frame_rate=1.0 / scene.frame_time)


def shaken(world: World, speed: float) -> World:
    """With random velocities of the first body's vertices [m/s], which excite every frequency."""
    state = world.save()
    part = state.velocities[slice(*world.model.body_point_start[:2])]
    part[:] = np.random.default_rng(5).normal(0.0, speed, part.shape)
    world.load(state)
    return world


def paces_of_free(world: World, pace: Callable[[World], int]) -> set[int]:
    """The `pace` in each of 24 frames, in which what flies freely keeps its momenta and gains no energy."""
    before, start, found = momenta(world), scenes.energy(world), set[int]()
    for _ in scenes.played(world, 24):
        assert scenes.energy(world) <= start
        found.add(pace(world))
    for kept, old, size in zip(momenta(world), before, motion(world), strict=True):
        np.testing.assert_allclose(kept, old, atol=1e-12 * size)
    return found


def run(world: World, frames: int, given: Callable[[int], FrameInput] | None = None) -> None:
    """Advance, with an input from `given(frame)`, frames counted from 1; nothing crosses on every third frame."""
    for frame in range(1, frames + 1):
        world.advance_frame(None if given is None else given(frame))
        if frame % EVERY == 0 or frame == frames:
            assert_nothing_crosses(world)


# --- measures ---------------------------------------------------------------------------------------------------


def momenta(world: World) -> tuple[FloatArray, FloatArray]:
    """Momentum [kg m/s] and angular momentum about the origin [kg m^2/s] of all membranes and rigid bodies."""
    push, turn = scenes.momenta(world)
    return push + rigid_scenes.momentum(world), turn + rigid_scenes.angular_momentum(world)


def motion(world: World) -> tuple[float, float]:
    """Sums of |m v| [kg m/s] and |x| |m v| [kg m^2/s] of the membranes, the scales of rounding in momenta."""
    state, n = world.save(), world.model.vertex_count
    impulse = scenes.moved_mass(world) * np.linalg.norm(state.velocities[:n], axis=1)
    return float(impulse.sum()), float(impulse @ np.linalg.norm(state.positions[:n], axis=1))


def contact_energy(world: World) -> float:
    """What contacts hold [J] that keep less than their distance: their forces times what it lacks.

    They part at a bounded rate, so a body that was pressed into that layer gets this back.
    """
    solver: Any = world._solver
    pressed, step = solver.space.pressed(), solver.space.frame.step_time
    return float(pressed.impulse @ np.maximum(pressed.reach - pressed.gap, 0.0)) / max(step, 1e-300)


def fastest(world: World) -> float:
    """How fast any point of a moving body goes in the next frame, on average over it [m/s]."""
    moving = world.model.moving_point_count
    before = world.save().positions[:moving]
    world.advance_frame()
    moved = np.linalg.norm(world.save().positions[:moving] - before, axis=1)
    return float(moved.max() * world.frame_rate)
