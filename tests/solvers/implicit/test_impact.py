"""The care at impacts: what a half step must not add, against a twin."""

from types import SimpleNamespace

import numpy as np
import pytest
import reference
import rigid_reference
from softpressure_ext.core.bodies import assembly
from softpressure_ext.core.solvers.implicit.impact import (
    MOST_PASSES,
    PASS_TOLERANCE,
    RECHECK_SHARE,
    cut_impulses,
    overshoot,
)
from solver_scene import ROUNDING, Pairs, mobility_of, random_motion, two_bodies


@pytest.fixture
def model(monkeypatch):
    monkeypatch.setattr(assembly, "CHUNK_SIZE", 16)
    return two_bodies()


def across(v, normal):
    """The parts of vectors that lie in planes."""
    return v - np.sum(v * normal, axis=1)[:, None] * normal


@pytest.mark.parametrize("seed", range(4))
def test_impulse_cuts_equal_their_twin(model, seed):
    _, v1 = random_motion(model)
    rng = np.random.default_rng(seed)
    n = model.vertex_count
    pairs = Pairs(model, rng, 60)
    v1, ahead = v1[:n], v1[:n] + rng.standard_normal((n, 3))
    friction = rng.uniform(0, 0.8, len(pairs.force))
    # a contact set and the forces, as a stage leaves them
    contacts = SimpleNamespace(
        count=60, points=pairs.points, weights=pairs.weights, normal=pairs.normal, friction=friction
    )  # fmt: skip
    drag, slip = (across(rng.standard_normal((len(pairs.force), 3)), pairs.normal) for _ in range(2))
    slip[rng.random(len(slip)) < 0.5] = 0.0  # these stick
    force = pairs.force[:, None] * pairs.normal + drag
    energy = SimpleNamespace(model=model, contacts=contacts, force=force, pressing=pairs.force)
    change, taken = overshoot(energy, mobility_of(model), v1, ahead, slip, 0.003)
    jacobians = [rigid_reference.jacobian(model, None, *row) for row in zip(pairs.points, pairs.weights, strict=True)]
    rows = list(zip(jacobians, pairs.normal, pairs.force, friction, drag, slip, strict=True))[:60]
    mass = rigid_reference.inverse_masses(model, None)
    limits = PASS_TOLERANCE, MOST_PASSES, RECHECK_SHARE
    expected, expected_taken = reference.cut_impulses(rows, mass, (ahead - v1).ravel(), 0.003, *limits, n)
    expected, expected_taken = expected.reshape(n, 3), np.sum(expected_taken * pairs.normal[:60], axis=1)
    np.testing.assert_allclose(change, expected, rtol=0, atol=ROUNDING * np.abs(expected).max())
    np.testing.assert_allclose(taken, expected_taken, rtol=0, atol=ROUNDING * expected_taken.max())
    # some contacts give all of their impulse back, some a part, some nothing
    share = taken[pairs.force[:60] > 0.0] / (0.003 * pairs.force[:60][pairs.force[:60] > 0.0])
    assert (share > 1.0 - ROUNDING).any() and (share == 0.0).any() and ((share > 0.01) & (share < 0.99)).any()
    assert (change[model.pinned] == 0).all() and np.abs(change).max() > 0


def test_an_impulse_cut_takes_back_no_more_than_the_overshoot(model):
    """One contact: the parting speed ahead falls to that of the first stage, or by what the force can do."""
    n = model.vertex_count
    points, weights = np.array([[5, 50, 51, 52]], np.int32), np.array([[1.0, -0.2, -0.3, -0.5]])
    normal = np.array([[0.0, 0.0, 1.0]])
    mobility = np.sum(weights[0] ** 2 / model.vertex_mass[points[0]])
    for speed, force in ((2.0, 1e6), (2.0, 0.5 / mobility), (-2.0, 1e6)):
        excess, taken = np.zeros((n, 3)), np.zeros((1, 3))
        excess[5, 2] = speed
        before = excess.copy()
        cut_impulses(
            1, points, weights, normal, np.array([force]), force * normal, np.zeros(1), np.zeros((1, 3)),
            mobility_of(model), 1.0, PASS_TOLERANCE, excess, taken,
        )  # fmt: skip
        change = excess - before
        parting = weights[0] @ excess[points[0]]
        expected = {1e6: min(speed, 0.0)}.get(force, speed - 0.5)
        np.testing.assert_allclose(parting, [0.0, 0.0, expected], atol=ROUNDING)
        np.testing.assert_allclose(model.vertex_mass @ change, 0.0, atol=ROUNDING)
        # the impulse it reports is the one that both sides feel
        np.testing.assert_allclose(taken, -model.vertex_mass[5] * change[[5]], atol=ROUNDING)
