"""Bodies that cross at the start, with implicit steps: moved apart before the frame, or excluded from contact."""

import numpy as np
import pytest
import shapes
from crossings import assert_nothing_crosses, model_crossings
from scenes import BEACH_BALL, LIVELY, add_ball
from softpressure_ext.core import FrameInput, ModelBuilder, Reason, World
from softpressure_ext.core.contact.broad_phase.search import ContactSearch
from softpressure_ext.core.contact.untangle.relaxation import Relaxation
from softpressure_ext.core.state import STAYS


def made(builder):
    return World(builder.build(), frame_rate=24.0, substeps=10, threads=1, solver="IMPLICIT")


def crossed(height=0.3, gravity=0.0, **options):
    """Two balls of radius 0.2 m whose centres are less than 0.4 m apart."""
    builder = ModelBuilder(gravity=(0.0, 0.0, gravity))
    add_ball(builder, BEACH_BALL, 2, name="low", drawn_shape="INFLATED", **LIVELY, **options)
    add_ball(builder, BEACH_BALL, 2, (0.02, 0.01, height), name="high", drawn_shape="INFLATED", **LIVELY, **options)
    return made(builder)


def fastest(world):
    """Speed of the fastest vertex [m/s]."""
    return max(np.linalg.norm(world.velocities(n), axis=1).max() for n in range(world.model.membrane_count))


def centre(model, x):
    """Centre of mass of all vertices [m]."""
    return model.vertex_mass @ x[: model.vertex_count] / model.vertex_mass.sum()


def test_relaxation_shifts_whole_bodies_about_their_common_centre_of_mass():
    world = crossed()
    model, before, after = world.model, world.save(), world.save()
    moved = Relaxation(model, ContactSearch(model)).run(after)
    np.testing.assert_array_equal(moved, before.wrong_side)
    assert len(after.wrong_side) == 0 and len(model_crossings(model, after.positions)) == 0
    np.testing.assert_array_equal(after.velocities, before.velocities)
    np.testing.assert_allclose(centre(model, after.positions), centre(model, before.positions), atol=1e-14)
    for body in range(2):
        own = slice(*model.body_point_start[body : body + 2])
        shift = (after.positions - before.positions)[own]
        np.testing.assert_allclose(shift, np.broadcast_to(shift[:1], shift.shape), atol=1e-14)


@pytest.mark.parametrize("height", [0.2, 0.3, 0.39])
def test_bodies_that_are_moved_apart_are_not_thrown(height):
    world = crossed(height)
    assert len(world.save().wrong_side) > 0
    world.advance_frame()
    assert_nothing_crosses(world)
    assert fastest(world) < 0.2  # m/s
    assert world.diagnostics().counts.halved_steps == 0


def test_what_is_wedged_between_walls_is_dented():
    """A ball of 0.4 m between walls that are 0.3 m apart: no shift frees it."""
    builder = ModelBuilder()
    add_ball(builder, BEACH_BALL, 3, name="ball", **LIVELY)
    for side in (-1.0, 1.0):
        x, triangles = shapes.box(1.0, 1)
        builder.add_collider(f"wall {side}", x * (0.2, 2.0, 2.0) + (0.25 * side, 0.0, 0.0), triangles)
    world = made(builder)
    assert len(world.save().wrong_side) > 50
    for _ in range(6):
        world.advance_frame()
        assert_nothing_crosses(world)
        assert np.ptp(world.positions(0)[:, 0]) < 0.3 and fastest(world) < 1.0


def test_what_a_change_of_positions_has_crossed_is_moved_apart_as_well():
    world = crossed(0.6)
    world.advance_frame()
    assert world.reports()[0].reasons == ()
    world.set_positions(1, world.positions(1) - (0.0, 0.0, 0.3))
    world.advance_frame()
    assert_nothing_crosses(world)
    assert Reason.CROSSING in {finding.reason for finding in world.reports()[0].reasons}


def test_what_stays_crossed_has_no_contact_until_pins_part_it():
    """Two balls with pinned vertices everywhere; then the pins of one are moved away."""
    world = crossed(pinned=range(162))
    listed = world.save().wrong_side
    drawn = world.positions(1)
    world.advance_frame()
    stays = world.save().wrong_side
    np.testing.assert_array_equal(stays[:, :2], listed[:, :2])
    assert (stays[:, 2] == STAYS).all() and len(stays) > 1
    reasons = {(finding.reason, finding.bodies, finding.count) for finding in world.reports()[0].reasons}
    assert (Reason.STAY_CROSSED, (0, 1), len(stays)) in reasons
    contacts = world._solver._minimiser.contacts
    held = np.isin(contacts.points[: contacts.edge_start, 0], stays[:, 0])
    assert held.any() and np.isinf(contacts.gap[: contacts.edge_start][held]).all()

    other = made_like(world)
    for lift in (0.0, 0.05, 0.2, 0.2):
        for each in (world, other):
            each.advance_frame(FrameInput(pinned_positions={1: drawn + (0.0, 0.0, lift)}))
        np.testing.assert_array_equal(world.save().positions, other.save().positions)
    assert len(world.save().wrong_side) == 0
    assert all(finding.reason is not Reason.STAY_CROSSED for finding in world.reports()[0].reasons)


def made_like(world):
    """A world that continues from a saved state of another one."""
    other = World(world.model, frame_rate=24.0, substeps=10, threads=2, solver="IMPLICIT")
    other.load(world.save())
    return other
