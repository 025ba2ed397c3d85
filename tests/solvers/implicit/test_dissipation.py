"""Damping and bounciness: kernels against twins, and what they must leave alone."""

from types import SimpleNamespace

import numpy as np
import pytest
import reference
from softpressure_ext.core.bodies import assembly
from softpressure_ext.core.contact.restitution import bounce_strength
from softpressure_ext.core.solvers.implicit import dissipation
from softpressure_ext.core.solvers.pair_impulses import PairImpulses
from softpressure_ext.core.solvers.restitution import apply_restitution
from softpressure_ext.core.state import PairSpeeds, State
from solver_scene import EXTRA_INERTIA, ROUNDING, Pairs, key_of, motions, parts, random_motion, row_of, two_bodies


@pytest.fixture
def model(monkeypatch):
    monkeypatch.setattr(assembly, "CHUNK_SIZE", 16)
    return two_bodies()


def test_what_is_touched_is_left_out(model):
    pairs = Pairs(model, np.random.default_rng(4), 12)
    mass = np.full(model.vertex_count, 9.0)
    dissipation.mass_without_contacts(
        pairs.count, pairs.points, pairs.force, model.vertex_mass, model.body_point_start, mass
    )  # fmt: skip
    used = slice(pairs.count)
    for part in parts(model):
        local = pairs.points[used] - part.start  # other bodies' points are outside of the part
        expected = reference.untouched_mass(model.vertex_mass[part], local, pairs.force[used])
        assert (mass[part] == expected).all()
        assert 0 < np.count_nonzero(mass[part]) < len(expected)


@pytest.mark.parametrize(("left", "fallback"), [(9, False), (8, True), (0, True)])
def test_a_body_of_which_hardly_anything_is_untouched_counts_as_a_whole(model, left, fallback):
    """The 42 vertices of the ball, 9 of which have just over a fifth of the mass, pushed by rows of four."""
    n, (ball, ring) = model.vertex_count, parts(model)
    vertex_mass = np.ones(n)
    touched = np.arange(ball.stop - left)
    touched = np.concatenate([touched, np.full(-len(touched) % 4, n)])  # the rest are points of the floor
    points = touched.reshape(-1, 4).astype(np.int32)
    mass = np.zeros(n)
    dissipation.mass_without_contacts(
        len(points), points, np.ones(len(points)), vertex_mass, model.body_point_start, mass
    )
    assert ball.stop == 42 and (mass[ring] == 1.0).all()
    assert mass[ball].sum() == (42 if fallback else left)


def brake(model, x, v, mass, pairs, strength, motion, fall, approach):
    """Run `apply_restitution` for membranes of one bounciness (which only solids ask for)."""
    count = len(pairs.load)
    apply_restitution(
        x, v, 2, 2, mass, model.body_mass, model.body_point_start, pairs.low, pairs.high, pairs.impulse, pairs.point,
        pairs.load, np.full(count, np.nan), np.full(count, strength), motion, fall, approach,
    )  # fmt: skip


def apply_losses(model, state, pairs, impulses, time):
    energy = SimpleNamespace(
        contacts=SimpleNamespace(count=pairs.count, points=pairs.points), normal_force=pairs.force
    )  # fmt: skip
    losses = dissipation.Dissipation(model)
    losses.bounce(energy.contacts, energy.normal_force, impulses, state, time)
    losses.damp(state, time)


def test_a_step_is_braked_and_then_damped(monkeypatch):
    monkeypatch.setattr(assembly, "CHUNK_SIZE", 16)
    model = two_bodies(bounciness=0.6)
    state = State.at_rest(model)
    state.positions[:], state.velocities[:] = random_motion(model)
    speeds = {key_of(model, 0, 1): -1.5, key_of(model, 0, 2): -1.5, key_of(model, 1, 2): -1.5}
    state.approach = PairSpeeds(np.array(list(speeds)), np.array(list(speeds.values())))
    state.velocities[parts(model)[1]] -= [0.0, 0.0, 2.0]  # the ring leaves the ball and comes to the floor
    pairs, time = Pairs(model, np.random.default_rng(3)), 0.004
    impulses = pairs.impulses(state.positions, time)
    x, v, approach = state.positions.copy(), state.velocities.copy(), np.full(2, -1.5)
    mass = np.zeros(model.vertex_count)
    dissipation.mass_without_contacts(
        pairs.count, pairs.points, pairs.force, model.vertex_mass, model.body_point_start, mass
    )  # fmt: skip
    rows = motions(model, x, v, mass)
    brake(model, x, v, mass, impulses, bounce_strength(0.6), rows, time * model.gravity, approach)
    assert (v != state.velocities).any() and approach[row_of(model, impulses, 1, 2)] > 1.0  # one parts, one comes
    for part, rate in zip(parts(model), (4.0, 7.0), strict=True):
        rigid = reference.rigid_velocities(x[part], v[part], model.vertex_mass[part])
        free = ~model.pinned[part]
        v[part][free] = (rigid + np.exp(-rate * time) * (v[part] - rigid))[free]
    apply_losses(model, state, pairs, impulses, time)
    np.testing.assert_allclose(state.velocities, v, rtol=0, atol=EXTRA_INERTIA)
    assert (state.approach.key == impulses.key).all()  # what does not touch is forgotten
    np.testing.assert_allclose(state.approach.speed, approach, rtol=0, atol=ROUNDING)
    assert (state.positions == x).all()


def test_a_step_without_contact_forgets_the_approach(model):
    model = two_bodies(bounciness=0.6)
    state = State.at_rest(model)
    state.approach = PairSpeeds(np.array([key_of(model, 0, 1)]), np.array([2.0]))
    apply_losses(model, state, Pairs(model, np.random.default_rng(3)), PairImpulses(model), 0.004)
    assert len(state.approach.key) == 0
