"""Explicit steps give the same bits: run again, with another number of threads, and continued from a saved state."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import shapes
from explicit_scene import SOLVER, bench_world, world_of
from rigid_scene import block
from scenes import BEACH_BALL, Ball, add_ball
from softpressure_ext.core import FrameInput, Model, ModelBuilder, World, team
from softpressure_ext.core.threads import available_threads

FRAMES = 16
LIMP = Ball(0.2, 0.5, 100.0, 1e3)


def pile(threads: int = 1, subdivisions: int = 3) -> World:
    """A limp ball in contact with itself under a ball that hangs by pins and a box, on a floor that moves."""
    builder = ModelBuilder()
    add_ball(
        builder, LIMP, subdivisions, (0.0, 0.0, 0.21), name="limp", self_collision=True, bend_modulus=1e-4, damping=5.0
    )
    add_ball(
        builder, BEACH_BALL, subdivisions, (0.05, 0.0, 0.7), pinned=[0, 1, 2], bend_modulus=0.01, damping=5.0,
        bounciness=0.8,
    )  # fmt: skip
    turn = shapes.rotation((1.0, 2.0, 0.0), 0.4)
    builder.add_rigid("box", *block((0.2, 0.2, 0.2), (0.3, 0.05, 0.45), turn), mass=1.0, bounciness=0.3)
    builder.add_collider("floor", *shapes.grid(3.0, 4))
    return world_of(builder, threads=threads)


def frames_of(world: World, count: int, first: int = 0) -> list[tuple[np.ndarray, ...]]:
    """All that moves on each frame, while the pins sink, the floor slides and the pressure rises."""
    rest, found = world.model.rest_positions, []
    pinned = rest[: world.model.vertex_count][world.model.pinned]
    floor = rest[world.model.moving_point_count :]
    for frame in range(first + 1, first + count + 1):
        given = FrameInput(
            pinned_positions={1: pinned - [0.0, 0.0, 0.01 * frame]},
            collider_positions={0: floor + [0.005 * frame, 0.0, 0.0]},
            gauge_pressure={1: BEACH_BALL.gauge_pressure + 100.0 * frame},
        )
        world.advance_frame(given)
        state = world.save()
        found.append((state.positions, state.velocities, state.rigid.pose, state.rigid.angular_momentum))
    return found


def assert_same(found: list[tuple[np.ndarray, ...]], expected: list[tuple[np.ndarray, ...]]) -> None:
    """The same to the last bit."""
    for frame, (now, then) in enumerate(zip(found, expected, strict=True)):
        for a, b in zip(now, then, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=f"frame {frame}")


@pytest.fixture(scope="module")
def expected() -> list[tuple[np.ndarray, ...]]:
    """The pile without interruption, on one thread."""
    world = pile()
    found = frames_of(world, FRAMES)
    assert world.diagnostics().contact_count > 0
    return found


def test_a_run_that_is_repeated_gives_the_same_bits(expected: list) -> None:
    world = pile()
    assert_same(frames_of(world, FRAMES), expected)
    world.reset()
    assert world.frame == 0
    assert_same(frames_of(world, FRAMES), expected)


def jelly() -> Model:
    """A cube of jelly that falls on a floor: 1 331 vertices, most of them inside."""
    builder = ModelBuilder()
    builder.add_solid("jelly", *shapes.box(0.4, 1, (0.0, 0.0, 0.21)), cell_size=0.04, mass=1.0, modulus=2e4)
    builder.add_collider("floor", *shapes.grid(4.0))
    return builder.build()


def scene(name: str) -> Model:
    """A scene of the benchmarks with enough vertices for two threads, or a jelly."""
    if name == "jelly":
        return jelly()
    size = {"drop": 2562, "pair": 2562, "box8": 642, "crate": 2562, "torus": 2048}[name]
    return bench_world(name, size, 1)[0].model


def bits_of(model: Model, count: int, frames: int) -> tuple[list[tuple[np.ndarray, ...]], World]:
    """All that moves on each frame with a number of threads, and the world."""
    world = World(model, frame_rate=24.0, threads=count, solver=SOLVER)
    found = []
    for _ in range(frames):
        world.advance_frame()
        state = world.save()
        found.append((state.positions, state.velocities, state.rigid.pose, state.rigid.angular_momentum))
    return found, world


@pytest.mark.parametrize("name", ["drop", "pair", "box8", "crate", "torus", "jelly"])
def test_scenes_have_the_same_bits_with_any_number_of_threads(name: str) -> None:
    model = scene(name)
    frames = 4 if name == "jelly" else FRAMES
    expected, world = bits_of(model, 1, frames)
    assert world.diagnostics().candidate_count > 0
    assert_same(bits_of(model, 2, frames)[0], expected)


def test_a_second_thread_does_its_part() -> None:
    """Within some frames, however busy the machine is."""
    if available_threads() < 2:
        pytest.skip("one core")
    world = World(scene("drop"), threads=2, solver=SOLVER)
    words: np.ndarray = world._solver.space.contact.run.team
    for _ in range(200):
        world.advance_frame()
        if words[2 * team._LINE_WORDS + team._DONE] > 0:
            return
    raise AssertionError


def test_worlds_in_two_threads_have_the_same_bits(expected: list) -> None:
    with ThreadPoolExecutor(2) as callers:
        both = [callers.submit(lambda: frames_of(pile(threads=2), FRAMES)) for _ in range(2)]
        for one in both:
            assert_same(one.result(), expected)


@pytest.mark.parametrize("cut", [1, 6, 11])
def test_a_run_continued_from_a_saved_state_gives_the_same_bits(expected: list, cut: int) -> None:
    """In the fall, in impacts and while it lies: what a state holds is all that the future depends on."""
    begun, fresh = pile(), pile()
    assert_same(frames_of(begun, cut), expected[:cut])
    state = begun.save()
    frames_of(begun, 1, cut)  # going on must not change what was saved
    for world in (fresh, begun):  # a world that has seen nothing, and one that has been elsewhere
        world.load(state)
        assert world.frame == cut
        assert_same(frames_of(world, FRAMES - cut, cut), expected[cut:])
