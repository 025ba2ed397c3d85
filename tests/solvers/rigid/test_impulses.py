"""The impulse solver of rigid bodies alone: rows, sweeps, sleep, tangled starts, colliders."""

import numpy as np
import pytest
import shapes
from rigid_scenes import GRAVITY, angular_momentum, block, centre, momentum, run, velocity, world_of
from scipy.spatial.transform import Rotation
from softpressure_ext.core import FrameInput, ModelBuilder, World
from softpressure_ext.core.solvers.rigid.impulses import Effort, solve, start_impulses
from softpressure_ext.core.solvers.rigid.rows import Solids, finish, new_rows, set_axes
from softpressure_ext.core.solvers.rigid.sleep import STILL_TIME, find_islands, settle

SIDE = 0.2
FIFTY = Effort(50, 50, 0.0)  # sweeps
THICKNESS = 0.005 * SIDE  # automatic, per body


def box(place, turn=None):
    return block((SIDE, SIDE, SIDE), place, turn)


# --- one row ----------------------------------------------------------------------------------------------------


def loose_row(friction, drop=1.0, slip=0.3):
    """A body above ground with one row under its corner; returns the rows and its motion."""
    inverse = np.diag([2.0, 3.0, 4.0])[None]
    solids = Solids(
        np.array([[slip, 0.0, -drop]]), np.zeros((1, 3)), np.array([0.5]), inverse, np.ones(1), np.ones(1, bool)
    )
    rows = new_rows(4)
    rows.body[0] = 0, -1
    rows.arm[0, 0] = 0.1, 0.2, -0.1
    set_axes(0.0, 0.0, -1.0, 0, rows.axes)
    rows.gap[0], rows.thickness[0], rows.friction[0] = 0.0, 1.0, friction
    finish(0, rows, solids, -1, 0.0, 0.0, 0.0)
    return rows, solids


def test_impulses_that_are_right_already_change_nothing():
    rows, solids = loose_row(0.5)
    solve(1, rows, solids, 0.01, False, FIFTY)
    found, after = rows.impulse[0].copy(), solids.velocity.copy()
    again, fresh = loose_row(0.5)
    again.impulse[0] = found
    start_impulses(1, again, fresh)
    assert solve(1, again, fresh, 0.01, False, Effort(1, 50, 1e-9)) == 1
    np.testing.assert_allclose(fresh.velocity, after, atol=1e-9)


@pytest.mark.parametrize(("owner", "other"), [(0, -1), (0, 1), (1, 1)])
def test_the_bend_of_a_row_is_the_second_derivative_of_its_gap(owner: int, other: int) -> None:
    """Two bodies turn and fly past each other, or one past a collider; points and normal go with them."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        velocity, spin, arm = rng.standard_normal((3, 2, 3))
        velocity[1], spin[1] = (velocity[1], spin[1]) if other == 1 else (0.0, 0.0)
        normal = rng.standard_normal(3)
        normal /= np.linalg.norm(normal)
        solids = Solids(velocity, spin, np.ones(2), np.stack([np.eye(3)] * 2), np.ones(2), np.ones(2, bool))
        rows = new_rows(4)
        rows.body[0], rows.arm[0], rows.given[0] = (0, other), arm, 0.0
        set_axes(*normal, 0, rows.axes)
        finish(0, rows, solids, owner, 0.0, 0.0, 0.0)

        def gap(time, velocity=velocity, spin=spin, arm=arm, normal=normal):
            turns = [Rotation.from_rotvec(time * each).as_matrix() for each in spin]
            points = [time * velocity[n] + turns[n] @ arm[n] - arm[n] for n in range(2)]  # they meet at the start
            return turns[owner] @ normal @ (points[1] - points[0])

        step = 1e-4
        second = (gap(step) - 2.0 * gap(0.0) + gap(-step)) / step**2
        assert rows.bend[0] == pytest.approx(min(second, 0.0), abs=1e-5)


# --- scenes -----------------------------------------------------------------------------------------------------


def test_crossed_boxes_part_within_a_second_and_keep_momentum():
    """They overlap by a tenth of their size, in free space."""
    lean = Rotation.from_euler("xyz", (0.2, 0.3, 0.1)).as_matrix()
    world = world_of((box((0.0, 0.0, 0.0)), {}), (box((0.15, 0.02, 0.03), lean), {}), gravity=(0.0, 0.0, 0.0))
    assert world.crossing_triangle_count > 0
    fastest = 0.0
    for _ in range(60):
        run(world, 1.0 / 60.0)
        fastest = max(fastest, np.abs(velocity(world, 0)).max())
    contacts = world._solver._contacts
    assert contacts.pairs.manifolds.point_count.sum() == 0 or contacts.rows.gap[: contacts.count].min() > -1e-5
    assert fastest < 0.05  # the push leaves no speed behind
    np.testing.assert_allclose(momentum(world), 0.0, atol=1e-12)
    np.testing.assert_allclose(angular_momentum(world), 0.0, atol=1e-12)


def test_a_box_that_starts_in_the_floor_comes_out_slowly():
    world = world_of((box((0.0, 0.0, 0.07)), {}), floor={})
    highest = 0.0
    for _ in range(120):
        run(world, 1.0 / 60.0)
        highest = max(highest, centre(world)[2])
    assert world.rigid_positions(0)[:, 2].min() > 0.0
    assert highest < 0.5 * SIDE + 4.0 * THICKNESS


def test_a_sleeping_pile_wakes_when_it_is_hit():
    world = world_of((box((0.0, 0.0, 0.1015)), {}), (box((0.0, 0.0, 3.0)), {"velocity": (0.0, 0.0, 6.0)}), floor={})
    run(world, 1.2)
    lying = world.rigid_positions(0)
    assert world._state.still_time[0] > STILL_TIME
    assert (velocity(world, 0) == 0.0).all()
    for _ in range(60):
        run(world, 1.0 / 60.0)
        if world._state.still_time[0] < STILL_TIME:
            break
    assert world._state.still_time[0] < STILL_TIME
    run(world, 1.0)
    assert np.abs(world.rigid_positions(0) - lying).max() > 1e-5
    assert min(world.rigid_positions(k)[:, 2].min() for k in (0, 1)) > 0.0


@pytest.mark.parametrize(("rise", "moved"), [(0.01, 0.3), (-10.0, -0.5 * GRAVITY * 0.5**2)], ids=["lifted", "gone"])
def test_sleeping_boxes_wake_when_their_floor_moves(rise, moved):
    """It rises by so much in each frame, and lifts them at its speed and at their gap to it, or is gone."""
    world = world_of((box((0.0, 0.0, 0.1015)), {}), (box((0.0, 0.0, 0.303)), {}), floor={})
    run(world, 2.0)
    assert (world._state.still_time > STILL_TIME).all()
    before, now = centre(world, 1)[2], world.frame
    floor = world._state.positions[world.model.moving_point_count :].copy()
    run(world, 0.5, lambda frame: FrameInput(collider_positions={0: floor + [0.0, 0.0, rise * (frame + 1 - now)]}))
    assert centre(world, 1)[2] - before == pytest.approx(moved, abs=0.01)
    if rise > 0.0:
        assert velocity(world, 0)[2] == pytest.approx(rise * 60.0, abs=1e-3)
        assert 0.0 < world.rigid_positions(0)[:, 2].min() - moved < 2e-3 + 1e-4


def test_a_thin_fast_plate_does_not_pass_a_thin_wall():
    """100 m/s, 0.4 m in a step, against a single sheet."""
    wall, triangles = shapes.grid(4.0, 1)
    wall = wall[:, [2, 0, 1]] + [1.0, 0.0, 0.0]
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_rigid("plate", *block((0.3, 0.2, 0.01), (0.0, 0.0, 0.0)), velocity=(100.0, 3.0, 0.0))
    builder.add_collider("wall", wall, triangles)
    world = World(builder.build(), frame_rate=240.0, substeps=1, solver="EXPLICIT")
    for _ in range(24):
        world.advance_frame()
        assert world.rigid_positions(0)[:, 0].max() < 1.0


def test_fast_boxes_head_on_do_not_pass_each_other():
    world = world_of(
        (box((-1.0, 0.01, 0.0)), {"velocity": (50.0, 0.0, 0.0)}),
        (box((1.0, 0.0, 0.02)), {"velocity": (-50.0, 0.0, 0.0)}),
        gravity=(0.0, 0.0, 0.0),
    )  # fmt: skip
    before = momentum(world)
    run(world, 0.1)
    assert centre(world, 0)[0] < centre(world, 1)[0]
    np.testing.assert_allclose(momentum(world), before, atol=1e-10)


# --- sleep ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cause", [None, "moved", "shaken", "unsupported"])
def test_an_island_sleeps_only_as_a_whole(cause):
    island = np.zeros(2, np.int32)
    find_islands(np.array([(0, 1)], np.int32), np.array([4], np.int32), island)
    poses = np.zeros((2, 7))
    poses[:, 3] = 1.0
    still_pose, still_time, awake = poses.copy(), np.full(2, STILL_TIME), np.ones(2, bool)
    supported, shaken = np.array([cause != "unsupported", False]), np.array([False, cause == "shaken"])
    if cause == "moved":
        poses[1, 0] = 0.02
    settle(island, poses, np.ones(2), supported, shaken, 0.01, still_pose, still_time, awake)
    assert (awake == (cause is not None)).all()
    assert (still_time == (STILL_TIME + 0.01 if cause is None else 0.0)).all()


def test_a_run_continued_while_something_sleeps_has_the_same_bits_with_two_threads():
    """A pile falls asleep; then a box falls on it, in the middle of a frame."""

    def made(threads):
        boxes = [(box((0.0, 0.0, 0.1015 + 0.2015 * k)), {}) for k in range(3)]
        return world_of(*boxes, (box((0.02, 0.01, 4.0)), {"velocity": (0.0, 0.0, 3.0)}), floor={}, threads=threads)

    straight = made(1)
    run(straight, 0.9)
    saved = straight.save()
    assert (saved.still_time[:3] > STILL_TIME).all()
    run(straight, 1.0)
    assert (straight._state.still_time[:3] < 1.0).all()  # it has woken up
    other = made(2)
    other.load(saved)
    run(other, 1.0)
    assert (straight._state.positions == other._state.positions).all()
    assert (straight._state.still_time == other._state.still_time).all()


def test_sleeping_bodies_take_no_work():
    world = world_of((box((0.0, 0.0, 0.1015)), {}), (box((0.0, 0.0, 0.303)), {}), floor={})
    run(world, 1.5)
    counts = world._solver.counts
    before = counts.stages, counts.sweeps, counts.contact_searches
    run(world, 1.0)
    assert (counts.stages, counts.sweeps, counts.contact_searches) == before
