"""Explicit steps give the same bits: run again, with another number of threads, and continued from a saved state."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import shapes
from explicit_scene import SOLVER, bench_world, world_of
from rigid_scene import block
from scenes import BEACH_BALL, Ball, add_ball, assert_continues, assert_same_bits, played
from softpressure_ext.core import FrameInput, Model, ModelBuilder, State, World, team
from softpressure_ext.core.threads import available_threads

FRAMES = 16
LIMP = Ball(0.2, 0.5, 100.0, 1e3)


@cache
def pile_model() -> Model:
    """A limp ball in contact with itself under a ball that hangs by pins and a box, on a floor that moves."""
    builder = ModelBuilder()
    add_ball(builder, LIMP, 3, (0.0, 0.0, 0.21), name="limp", self_collision=True, bend_modulus=1e-4, damping=5.0)
    add_ball(builder, BEACH_BALL, 3, (0.05, 0.0, 0.7), pinned=[0, 1, 2], bend_modulus=0.01, damping=5.0, bounciness=0.8)
    turn = shapes.rotation((1.0, 2.0, 0.0), 0.4)
    builder.add_rigid("box", *block((0.2, 0.2, 0.2), (0.3, 0.05, 0.45), turn), mass=1.0, bounciness=0.3)
    builder.add_collider("floor", *shapes.grid(3.0, 4))
    return builder.build()


def pile(threads: int = 1) -> World:
    return world_of(pile_model(), threads=threads)


def given(frame: int) -> FrameInput:
    """The pins sink, the floor slides and the pressure rises."""
    model = pile_model()
    pinned, floor = model.rest_positions[: model.vertex_count][model.pinned], model.rest_positions
    return FrameInput(
        pinned_positions={1: pinned - [0.0, 0.0, 0.01 * (frame + 1)]},
        collider_positions={0: floor[model.moving_point_count :] + [0.005 * (frame + 1), 0.0, 0.0]},
        gauge_pressure={1: BEACH_BALL.gauge_pressure + 100.0 * (frame + 1)},
    )


def end_of(world: World) -> State:
    """The state after all frames."""
    for frame in range(FRAMES):
        world.advance_frame(given(frame))
    return world.save()


def test_a_run_that_is_repeated_or_continued_gives_the_same_bits() -> None:
    """In the fall, in impacts and while it lies: what a state holds is all that the future depends on."""
    world = assert_continues(pile, FRAMES, 1, 6, 11, given=given)
    assert world.diagnostics().contact_count > 0
    state = world.save()
    world.reset()
    assert world.frame == 0
    assert_same_bits(end_of(world), state)
    assert_continues(pile, 8, 6, given=given, fresh=lambda: world)  # one that has been elsewhere


def test_a_floor_that_rests_between_two_ways_leaves_the_same_bits() -> None:
    """Boxes of a collider at rest are kept: until it moves, and only where the state has it where it was."""

    def now_and_then(frame: int) -> FrameInput:
        whole = given(frame)
        return whole if frame < 4 or frame > 9 else replace(whole, collider_positions={})

    world = assert_continues(pile, FRAMES, 2, 5, 8, 11, given=now_and_then)
    assert_continues(pile, FRAMES, 2, 5, 8, 11, given=now_and_then, fresh=lambda: world)


def test_what_earlier_frames_left_in_the_arrays_of_contacts_reaches_no_later_one() -> None:
    """A jelly is crushed, in many runs of steps, while a ring falls: searches end some of the runs."""
    x, triangles = shapes.icosphere(2, 0.3)
    ring, faces = shapes.torus(0.2, 0.0875)
    builder = ModelBuilder()
    builder.add_solid("jelly", x + (0, 0, 0.4), triangles, cell_size=0.1, mass=20.0, modulus=2e3, velocity=(0, 0, -6))
    turned = ring @ shapes.rotation((1.0, 0.0, 0.0), 1.4) + (0.85, 0.0, 0.6)
    builder.add_rigid("ring", turned, faces, mass=1.0, bounciness=0.5, velocity=(0.0, 0.0, -3.0))
    builder.add_collider("floor", *shapes.grid(6.0, 1))
    model = builder.build()
    clean, used = world_of(model), world_of(model)
    for _ in range(14):
        used._solver.space.contact.pressed.size[0] = 5
        clean.advance_frame()
        used.advance_frame()
    assert_same_bits(used.save(), clean.save())


def test_worlds_in_two_threads_have_the_same_bits() -> None:
    with ThreadPoolExecutor(2) as callers:
        one, other = (callers.submit(end_of, pile(threads=2)) for _ in range(2))
    assert_same_bits(one.result(), other.result())
    assert_same_bits(one.result(), end_of(pile()))


def jelly() -> Model:
    """A cube of jelly that falls on a floor: 1 331 vertices, most of them inside."""
    builder = ModelBuilder()
    builder.add_solid("jelly", *shapes.box(0.4, 1, (0.0, 0.0, 0.21)), cell_size=0.04, mass=1.0, modulus=2e4)
    builder.add_collider("floor", *shapes.grid(4.0))
    return builder.build()


def unlike() -> Model:
    """Two soft balls, which act in one of several steps, and a stiff one that falls on both."""
    builder = ModelBuilder()
    for number in range(2):
        add_ball(builder, LIMP, 3, (0.41 * number, 0.0, 0.21), name=f"limp {number}", bend_modulus=1e-4)
    add_ball(builder, Ball(0.15, 0.2, 2e4, 1e5), 2, (0.2, 0.02, 0.5), name="stiff", velocity=(0.0, 0.0, -2.0))
    builder.add_collider("floor", *shapes.grid(4.0))
    return builder.build()


def scene(name: str) -> Model:
    """A scene of the benchmarks with enough vertices for two threads, or one of those above."""
    if name in {"jelly", "unlike"}:
        return jelly() if name == "jelly" else unlike()
    size = {"drop": 2562, "box8": 642, "crate": 2562, "torus": 2048}[name]
    return bench_world(name, size, 1)[0].model


@pytest.mark.parametrize("name", ["box8", "crate", "torus", "jelly", "unlike"])
def test_scenes_have_the_same_bits_with_any_number_of_threads(name: str) -> None:
    model = scene(name)
    world = assert_continues(
        lambda: world_of(model), 3 if name == "jelly" else FRAMES, 0, fresh=lambda: world_of(model, threads=2)
    )
    assert world.diagnostics().candidate_count > 0


def test_a_second_thread_does_its_part() -> None:
    """Within some frames, however busy the machine is."""
    if available_threads() < 2:
        pytest.skip("one core")
    world = World(scene("drop"), threads=2, solver=SOLVER)
    words: np.ndarray = world._solver.space.contact.run.team
    for _ in played(world, 200):
        if words[2 * team._LINE_WORDS + team._DONE] > 0:
            return
    raise AssertionError
