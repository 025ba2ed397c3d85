"""No corner of a rigid body stays behind a single sheet: seen before it gets there, and remembered where it was."""

import numpy as np
import pytest
import shapes
from crossings import assert_nothing_crosses
from rigid_scenes import block, run, world_of
from scipy.spatial.transform import Rotation
from softpressure_ext.core import FrameInput, ModelBuilder, World
from softpressure_ext.core.solvers.counts import Counts
from softpressure_ext.core.solvers.rigid.colliders import ColliderContacts
from softpressure_ext.core.state import State

THICKNESS = 1e-3  # of a box by default; the floor has none
SIDE = 0.2


def turned(centre, rng):
    """A cube of edge `SIDE` [m], turned at random."""
    return block((SIDE,) * 3, centre, Rotation.random(random_state=rng.integers(1 << 30)).as_matrix())


def lowest(world):
    """Height of the lowest point of all bodies [m]."""
    return min(world.rigid_positions(k)[:, 2].min() for k in range(world.model.rigid_count))


ALONE = [(0.4 * (k % 5), 0.4 * (k // 5), 0.3 + 0.05 * k) for k in range(25)]
HEAP = 0.36 * np.stack(np.meshgrid(*[np.arange(3)] * 3), axis=-1).reshape(-1, 3) + (0.0, 0.0, 0.3)


@pytest.mark.parametrize(
    ("places", "frames", "seed"), [(ALONE, 24, 0), (ALONE, 24, 1), (ALONE, 24, 2), (HEAP, 48, 5)],
    ids=["alone-0", "alone-1", "alone-2", "heap"],
)  # fmt: skip
def test_boxes_that_fall_stay_above_a_sheet(places, frames, seed):
    """A corner must be seen before the step in which it arrives, also where the last search was some steps ago."""
    rng = np.random.default_rng(seed)
    world = world_of(*((turned(place, rng), {}) for place in places), floor={}, frame_rate=24.0, substeps=10)
    assert lowest(world) > 0.1
    for _ in range(frames):
        run(world, 1.0 / 24.0)
        # a corner that stands still while the box turns about it at w follows its arc to w^2 r h^2 / 2, below 0.7 mm
        # for 20 rad/s
        assert lowest(world) > -THICKNESS
    assert lowest(world) > 0.0


@pytest.mark.parametrize("gap", [0.003, 0.006, 0.02])
def test_a_still_box_is_not_struck_through_a_sheet(gap):
    """It does not move before it is struck; then it would go 80 mm in the step."""
    still = block((SIDE,) * 3, (0.0, 0.0, 0.5 * SIDE + gap))
    striking = block((SIDE,) * 3, (0.0, 0.0, 1.0)), {"velocity": (0.0, 0.0, -20.0), "mass": 5.0}
    world = world_of((still, {}), striking, floor={}, gravity=(0.0, 0.0, 0.0), frame_rate=24.0, substeps=10)
    for _ in range(6):
        run(world, 1.0 / 24.0)
        assert lowest(world) > 0.0


@pytest.mark.parametrize("seed", range(3))
def test_a_body_pressed_through_in_the_last_step_of_a_frame_is_pushed_back(seed):
    """Every step is the last one of its frame; boxes of a heavy heap press the lightest one through the sheet."""
    rng = np.random.default_rng(seed)
    boxes = [(turned((0.01 * k, 0.0, 0.3 + 0.36 * k), rng), {"mass": 1e4 if k else 1.0}) for k in range(3)]
    world = world_of(*boxes, floor={}, frame_rate=240.0, substeps=1)
    deepest = 0.0
    for _ in range(360):
        world.advance_frame()
        deepest = min(deepest, lowest(world))
    assert deepest < 0.0  # else nothing is tested
    assert lowest(world) > 0.0


# --- the memory of sides ------------------------------------------------------------------------------------------


def met_at(height):
    """A box that lies still with its lowest face at a height [m] over a sheet of 2 m, after a step's look."""
    builder = ModelBuilder()
    builder.add_rigid("box", *block((SIDE,) * 3, (0.0, 0.0, 0.5 * SIDE + height)))
    builder.add_collider("sheet", *shapes.grid(2.0))
    model = builder.build()
    state, contacts = State.at_rest(model), ColliderContacts(model, 1.0 / 240.0, Counts())
    contacts.start(state)
    x = state.positions.copy()
    contacts.look(x, np.zeros(1), np.zeros(1, bool), 0.0)
    return contacts, x, slice(0, model.moving_point_count)


@pytest.mark.parametrize("height", [0.001, 0.05])
def test_a_jump_beyond_the_predicted_speed_is_detected(height):
    contacts, x, box = met_at(height)
    x[box, 2] -= height + 0.5 * SIDE
    assert contacts.follow(x)
    listed = contacts.wrong_side()
    np.testing.assert_array_equal(listed[:, 0], np.flatnonzero(x[box, 2] < 0.0))
    assert (listed[:, 1:] == [1, 1]).all()  # of the sheet, whose triangles face up


def test_a_body_that_goes_around_the_rim_is_not_pushed_back():
    contacts, x, box = met_at(0.05)
    for move in ((2.0, 0.0, 0.0), (0.0, 0.0, -1.0), (-2.0, 0.0, 0.0)):
        x[box] += move
        assert not contacts.follow(x)
        contacts.look(x, np.zeros(1), np.zeros(1, bool), 0.0)
    assert len(contacts.wrong_side()) == 0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nothing_crosses_a_flat_collider_that_becomes_hilly(seed):
    builder = ModelBuilder()
    builder.add_rigid("box", *block((0.4, 0.4, 0.4), (0.02, 0.01, 0.25)), mass=1.0)
    x, triangles = shapes.grid(3.0, 8)
    builder.add_collider("ground", x, triangles, deforms=True)
    world, height = World(builder.build(), frame_rate=24.0), np.random.default_rng(seed).uniform(-0.3, 0.3, len(x))
    for frame in range(1, 31):
        there = np.column_stack([x[:, :2], min(frame / 20.0, 1.0) * height])
        world.advance_frame(FrameInput(collider_positions={0: there}))
        assert_nothing_crosses(world)
