"""Contacts of rigid bodies: how they give way, cuts at impacts, moves that keep apart, and bodies that are carried."""

import numpy as np
import pytest
import reference
import rigid_reference
import shapes
from rigid_scene import Pile, block
from softpressure_ext.core import ModelBuilder
from softpressure_ext.core.contact.broad_phase.candidates import Candidates
from softpressure_ext.core.contact.broad_phase.search import ContactSearch
from softpressure_ext.core.contact.contacts import Contacts
from softpressure_ext.core.contact.filter.carry import carry
from softpressure_ext.core.contact.filter.closing_part import KEPT_SHARE, LEFT_OVER, remove_closing
from softpressure_ext.core.contact.filter.step_filter import StepFilter
from softpressure_ext.core.contact.inverse_mass import InverseMass, inverse_mass_along, push_sides, relative_step
from softpressure_ext.core.contact.narrow_phase.vertex_triangle import evaluate_gaps
from softpressure_ext.core.solvers.implicit.impact import (
    MOST_PASSES,
    RECHECK_SHARE,
    RIGID_PASS_TOLERANCE,
    cut_impulses,
    overshoot,
)
from softpressure_ext.core.state import State

#: Kernel and twin do the same sums in another order.
ROUNDING = 1e-11


@pytest.fixture(scope="module")
def pile():
    return Pile()


def unit(v):
    return v / np.linalg.norm(v)


class Random:
    """Made-up contacts between any points of the pile: two sides of one or two bodies each, given points too."""

    def __init__(self, pile, count=60):
        self.pile, self.model, rng = pile, pile.model, np.random.default_rng(6)
        start = self.model.body_point_start
        self.points = np.zeros((count, 4), np.int32)
        for row in self.points:
            a, b = rng.choice(self.model.body_count, 2, replace=False)
            row[0] = rng.integers(start[a], start[a + 1])
            row[1:] = rng.choice(np.arange(start[b], start[b + 1]), 3, replace=False)
        self.weights = np.concatenate([np.ones((count, 1)), -rng.dirichlet(np.ones(3), count)], axis=1)
        self.normal = np.array([unit(v) for v in rng.standard_normal((count, 3))])
        self.mobility = pile.mobility()
        self.jacobians = [
            rigid_reference.jacobian(self.model, pile.energy.arm, *row)
            for row in zip(self.points, self.weights, strict=True)
        ]
        self.inverse_mass = rigid_reference.inverse_masses(self.model, pile.turned_inverse())
        self.rng = rng


@pytest.fixture(scope="module")
def contacts(pile):
    return Random(pile)


def test_relative_motion_and_mobility_equal_their_twins(contacts):
    step = contacts.rng.standard_normal((contacts.model.unknown_count, 3))
    step[: contacts.model.vertex_count][contacts.model.pinned] = 0.0
    for c, (j, n) in enumerate(zip(contacts.jacobians, contacts.normal, strict=True)):
        found = relative_step(c, contacts.points, contacts.weights, contacts.mobility, step)
        np.testing.assert_allclose(found, j @ step.ravel(), rtol=0, atol=ROUNDING)
        found = inverse_mass_along(c, contacts.points, contacts.weights, *n, contacts.mobility)
        assert found == pytest.approx(n @ j @ contacts.inverse_mass @ j.T @ n, rel=ROUNDING)


def test_pushes_move_what_they_push(contacts):
    for c, j in enumerate(contacts.jacobians):
        impulse, step = contacts.rng.standard_normal(3), np.zeros((contacts.model.unknown_count, 3))
        push_sides(c, contacts.points, contacts.weights, *impulse, contacts.mobility, step)
        expected = contacts.inverse_mass @ j.T @ impulse
        np.testing.assert_allclose(step.ravel(), expected, rtol=0, atol=ROUNDING * max(np.abs(expected).max(), 1.0))


def momenta(pile, step):
    """Momentum and angular momentum about the origin of velocities of the unknowns."""
    model = pile.model
    n = model.vertex_count
    total = reference.momenta(pile.x[:n], step[:n], model.vertex_mass, np.zeros(3))
    for body, inverse in enumerate(pile.turned_inverse()):
        push = model.rigid.mass[body] * step[n + 2 * body]
        turn = np.linalg.solve(inverse, step[n + 2 * body + 1])
        total += np.concatenate([push, turn + np.cross(pile.poses[body, :3], push)])
    return total


def test_pushes_along_the_gap_keep_both_momenta(pile):
    """Of contacts between bodies that move; the pinned vertex is not among their points."""
    record, mobility, tried = pile.contacts, pile.mobility(), 0
    for c in range(record.count):
        points = record.points[c]
        if (points >= pile.model.moving_point_count).any():
            continue
        if any(i < pile.model.vertex_count and pile.model.pinned[i] for i in points):
            continue
        gap = record.weights[c] @ pile.x[points]
        step = np.zeros((pile.model.unknown_count, 3))
        push_sides(c, record.points, record.weights, *unit(gap), mobility, step)
        assert np.abs(step).max() > 0.1
        # unit impulses with arms of 0.3 m
        np.testing.assert_allclose(momenta(pile, step), 0.0, rtol=0, atol=1e-13)
        tried += 1
    assert tried >= 10


# --- cuts at impacts -----------------------------------------------------------------------------------------


def test_impulse_cuts_equal_their_twin(contacts):
    model, rng = contacts.model, np.random.default_rng(1)
    count, shape = len(contacts.points), (model.unknown_count, 3)
    force, friction = np.where(rng.random(count) < 0.7, rng.uniform(1, 5, count), 0.0), rng.uniform(0, 0.8, count)
    excess, taken = rng.standard_normal(shape), np.zeros((count, 3))
    excess[: model.vertex_count][model.pinned] = 0.0
    drag, slip = rng.standard_normal((2, count, 3))
    for v in (drag, slip):
        v -= np.sum(v * contacts.normal, axis=1)[:, None] * contacts.normal
    slip[rng.random(count) < 0.5] = 0.0  # these stick
    rows = list(zip(contacts.jacobians, contacts.normal, force, friction, drag, slip, strict=True))
    expected = reference.cut_impulses(
        rows,
        contacts.inverse_mass,
        excess.ravel(),
        0.03,
        RIGID_PASS_TOLERANCE,
        MOST_PASSES,
        RECHECK_SHARE,
        model.vertex_count,
    )
    after = excess.copy()
    rows = contacts.points, contacts.weights, contacts.normal
    whole = force[:, None] * contacts.normal + drag
    cut_impulses(
        count, *rows, force, whole, friction, slip, contacts.mobility, 0.03, RIGID_PASS_TOLERANCE, after, taken
    )
    change = (after - excess).ravel()
    # each pass repeats the rounding of those before it
    np.testing.assert_allclose(change, expected[0], rtol=0, atol=100 * ROUNDING * np.abs(expected[0]).max())
    np.testing.assert_allclose(taken, expected[1], rtol=0, atol=100 * ROUNDING * np.abs(expected[1]).max())


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_a_box_that_is_thrown_back_flat_stays_flat(friction):
    """Four corners share what is taken back: no spin, whichever comes first."""
    made = ModelBuilder()
    made.add_rigid("box", *block((0.2, 0.3, 0.1), (0.0, 0.0, 0.05)), mass=2.0)
    model = made.build()
    rigid = model.rigid
    mobility = InverseMass(np.zeros(0), rigid.unknown, rigid.arm, 1.0 / rigid.mass, rigid.inverse_inertia)
    low = np.flatnonzero(model.rest_positions[:, 2] < 0.01).astype(np.int32)
    points = np.concatenate([low[:, None], np.full((4, 3), 8)], axis=1).astype(np.int32)
    weights, normal = np.tile([1.0, 0.0, 0.0, -1.0], (4, 1)), np.tile([0.0, 0.0, 1.0], (4, 1))
    excess, taken = np.array([[0.0, 0.0, 3.0], [0.0, 0.0, 0.0]]), np.zeros((4, 3))
    cut_impulses(
        4, points, weights, normal, np.full(4, 1e6), 1e6 * normal, np.full(4, friction), np.zeros((4, 3)),
        mobility, 1.0, RIGID_PASS_TOLERANCE, excess, taken,
    )  # fmt: skip
    # passes end when none changes an impulse by more than a thousandth of the first
    np.testing.assert_allclose(excess[0], 0.0, atol=3 * 3e-3)
    np.testing.assert_allclose(0.15 * excess[1], 0.0, atol=3 * 3e-3)
    assert taken[:, 2].sum() == pytest.approx(6.0, rel=3e-3)


def test_overshoot_reports_normal_impulses(pile):
    energy, record = pile.energy, pile.contacts
    rng = np.random.default_rng(2)
    v1, ahead = rng.standard_normal((2, pile.model.unknown_count, 3))
    sticking = np.zeros((record.count, 3))
    change, taken = overshoot(energy, pile.mobility(), v1, ahead, sticking, 0.01)
    assert (change[: pile.model.vertex_count][pile.model.pinned] == 0.0).all()
    limit = 0.01 * energy.normal_force[: record.count]
    # rounding of the product with the normal
    assert ((taken >= -1e-15) & (taken <= limit + 1e-15)).all() and taken.max() > 0.0
    # what the sides lose along the normals is what is reported, friction aside
    kept, force = record.friction.copy(), energy.force.copy()
    record.friction[:] = 0.0
    energy.force[: record.count] = energy.normal_force[: record.count, None] * record.normal[: record.count]
    change, taken = overshoot(energy, pile.mobility(), v1, ahead, sticking, 0.01)
    record.friction[:], energy.force[:] = kept, force
    given = np.zeros(3 * pile.model.unknown_count)
    for c in range(record.count):
        j = rigid_reference.jacobian(pile.model, energy.arm, record.points[c], record.weights[c])
        given -= j.T @ record.normal[c] * taken[c]
    expected = rigid_reference.inverse_masses(pile.model, pile.turned_inverse()) @ given
    np.testing.assert_allclose(change.ravel(), expected, rtol=0, atol=ROUNDING * np.abs(expected).max())


# --- moves -----------------------------------------------------------------------------------------------------


def test_keeping_apart_leaves_the_gap_that_must_be_left():
    """A box that would fall through the floor, turning: each corner's gap after the first pass, to first order."""
    made = ModelBuilder()
    made.add_rigid("box", *block((0.2, 0.3, 0.1), (0.0, 0.0, 0.06)), mass=2.0)
    made.add_collider("floor", [(-5.0, -5.0, 0.0), (5.0, -5.0, 0.0), (0.0, 5.0, 0.0)], [(0, 1, 2)])
    model = made.build()
    search, contacts = ContactSearch(model), Contacts(model.moving_point_count)
    x, rigid = model.rest_positions, model.rigid
    mobility = InverseMass(np.zeros(0), rigid.unknown, rigid.arm, 1.0 / rigid.mass, rigid.inverse_inertia)
    search.search(x, np.array([0.5, 0.0]), contacts)
    evaluate_gaps(x, contacts, model.surfaces)
    step = np.array([[0.3, 0.0, -0.2], [0.1, -0.05, 0.4]])
    before = step.copy()
    remove_closing(step, mobility, contacts)
    kept = KEPT_SHARE * model.thickness.sum()
    heights = x[:8, 2] + step[0, 2] + np.cross(step[1], rigid.arm)[:, 2]
    assert heights.min() == pytest.approx(kept, rel=2.0 * LEFT_OVER)
    # along the floor and about its normal it goes on
    np.testing.assert_allclose(step[0, :2], before[0, :2], atol=1e-15)
    assert step[1, 2] == pytest.approx(before[1, 2], abs=1e-12)
    level = np.array([[0.0, 0.0, -0.2], [0.0, 0.0, 0.0]])
    for c in range(contacts.count):  # a single contact is met exactly
        one = level.copy()
        record = Contacts(8, 1)
        record.count = record.first_element = 1
        for name in ("points", "kind", "weights", "normal", "gap", "distance", "thickness"):
            getattr(record, name)[0] = getattr(contacts, name)[c]
        remove_closing(one, mobility, record)
        moved = relative_step(0, record.points, record.weights, mobility, one) @ record.normal[0]
        if record.gap[0] < 0.06 and np.isfinite(record.gap[0]):
            assert record.gap[0] + moved == pytest.approx(
                KEPT_SHARE * min(record.gap[0], record.thickness[0]), abs=1e-12
            )


def two_boxes():
    made = ModelBuilder()
    made.add_rigid("first", *block((0.2, 0.2, 0.2), (0.0, 0.0, 0.1005), cells=2))
    made.add_rigid("second", *block((0.15, 0.1, 0.12), (0.19, 0.0, 0.08), cells=2))
    made.add_collider("floor", *shapes.grid(3.0, 3))
    return made.build()


@pytest.mark.parametrize("seed", range(4))
def test_random_pushes_of_boxes_never_cross(seed):
    """No point of one body ends up within another, on no part of the arcs that they go along."""
    rng, model = np.random.default_rng(seed), two_boxes()
    candidates = Candidates(model, 1.05)
    step_filter, contacts = StepFilter(model, candidates), candidates.contacts
    state, rigid, half = State.at_rest(model), model.rigid, ((0.1, 0.1, 0.1), (0.075, 0.05, 0.06))
    poses, x, limited = state.rigid.pose, state.positions.copy(), 0

    def place(poses):
        out = x.copy()
        for body, pose in enumerate(poses):
            part = slice(rigid.point_start[body], rigid.point_start[body + 1])
            out[part] = pose[:3] + rigid.arm[part] @ rigid_reference.matrix(pose).T
        return out

    for k in range(40):
        push = [0.2, 0.0, 0.0] if k % 3 else [0.0, 0.0, 0.0]  # towards each other, and anywhere
        step = np.concatenate(
            [[push], 0.3 * rng.normal(size=(1, 3)), [np.negative(push)], 0.3 * rng.normal(size=(1, 3))]
        )
        step[::2, 2] += 0.1 * rng.normal(size=2)

        def at(step, share=1.0, start=poses):
            return np.array([rigid_reference.moved(p, step[2 * b : 2 * b + 2], share) for b, p in enumerate(start)])

        candidates.start_frame(state)
        candidates.cover(x, place(at(step)))
        evaluate_gaps(x, contacts, model.surfaces)
        arm = x[: model.moving_point_count] - poses[model.point_body[: model.moving_point_count], :3]
        mobility = InverseMass(np.zeros(0), rigid.unknown, arm, 1.0 / rigid.mass, rigid.inverse_inertia)
        before = step.copy()
        if k % 2:
            step_filter.filter(x, step, mobility, lambda at=at, step=step: place(at(step)))
        else:
            step_filter.shorten(x, step, mobility, lambda at=at, step=step: place(at(step)))
        limited += not np.array_equal(step, before)
        for share in np.linspace(0.0, 1.0, 21):
            there = at(step, share)
            now = place(there)
            # what is pushed down time and again comes as near as rounding
            assert now[: model.moving_point_count, 2].min() > -1e-15
            for body in (0, 1):
                others = now[rigid.point_start[1 - body] : rigid.point_start[2 - body]]
                local = (others - there[body, :3]) @ rigid_reference.matrix(there[body])
                assert not (np.abs(local) < half[body]).all(axis=1).any()
        poses, x = there, now
    assert limited > 20  # the pushes did press against something


def test_a_rising_floor_carries_a_box_as_a_whole():
    model, rise = two_boxes(), 0.08
    search, contacts = ContactSearch(model), Contacts(model.moving_point_count)
    state = State.at_rest(model)
    x, poses = state.positions.copy(), state.rigid.pose.copy()
    search.search(x, np.array([0.0, 0.0, rise]), contacts)
    evaluate_gaps(x, contacts, model.surfaces)
    moving = model.moving_point_count
    raised = x[moving:] + np.array([0.0, 0.0, rise])
    before = x.copy()
    assert carry(x, poses, raised, contacts, model) == 0
    np.testing.assert_array_equal(x[moving:], before[moving:])  # the caller moves the colliders
    assert (x[:moving, 2] > rise).all()
    for body in (0, 1):
        part = slice(model.rigid.point_start[body], model.rigid.point_start[body + 1])
        moves = x[part] - before[part]
        np.testing.assert_allclose(moves, moves[[0]] * np.ones((len(moves), 1)), rtol=0, atol=1e-15)
        np.testing.assert_allclose(poses[body, :3] - state.rigid.pose[body, :3], moves[0], rtol=0, atol=1e-15)
        assert (poses[body, 3:] == state.rigid.pose[body, 3:]).all()
