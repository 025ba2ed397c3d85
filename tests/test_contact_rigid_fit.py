"""Moves of bodies as a whole: what flies together is not braked, what is stopped is not run into, nothing crosses."""

import contact_reference as reference
import numpy as np
import pytest
from softpressure_ext.core.contact.broad_phase.search import ContactSearch
from softpressure_ext.core.contact.contacts import Contacts
from softpressure_ext.core.contact.filter.rigid_fit import SHARE, RigidFits
from softpressure_ext.core.contact.filter.step_filter import limit_displacement
from softpressure_ext.core.contact.narrow_phase.vertex_triangle import evaluate_gaps
from test_contact_step_filter import crossings, edge_crossings

GAP = 0.01


def limited(model, x, step):
    """Moves [m] of all points after the bound, and of the vertices the rigid parts, which are taken first."""
    n, bodies = model.vertex_count, np.arange(model.membrane_count, dtype=np.int32)
    search, contacts = ContactSearch(model), Contacts(n)
    reach = np.full(model.body_count, 1.001 * np.linalg.norm(step, axis=1).max())
    reach[model.membrane_count :] = 0.0
    search.search(x, reach, contacts)
    evaluate_gaps(x, contacts, model.surfaces)
    found = []
    for distance in (None, contacts.distance):
        whole = RigidFits.of(
            x, step, bodies, model.body_point_start, model.point_body[:n], model.membrane_count
        )  # fmt: skip
        scale = np.full(n, np.nan)
        limit_displacement(x, step[:n], reference.mobility_of(model), contacts, scale, whole, distance)
        assert ((scale >= 0.0) & (scale <= 1.0)).all()
        move = np.zeros_like(step)
        move[:n] = whole.move + scale[:, None] * (step[:n] - whole.move)
        found.append(move)
    np.testing.assert_array_equal(*found)  # passing over rows that are too far apart changes nothing
    return found[0], whole.move


def stack(count, height):
    """Balls above each other, GAP apart, the lowest `height` above a floor."""
    balls = [reference.icosphere(1, 0.1, (0.0, 0.0, height + 0.1 + number * (0.2 + GAP))) for number in range(count)]
    return reference.model_of(balls, [reference.plane(1.0, 0.0)], thickness=0.004)


def test_balls_that_fall_together_fall_freely():
    model = stack(3, 2.0)
    step = np.zeros_like(model.rest_positions)
    step[: model.vertex_count] = [0.3, 0.0, -0.5]  # fifty gaps
    np.testing.assert_allclose(limited(model, model.rest_positions, step)[0], step, rtol=0, atol=1e-14)


@pytest.mark.parametrize("count", [2, 5])
def test_what_follows_a_ball_that_is_stopped_stops_too(count):
    model = stack(count, GAP)
    x = model.rest_positions
    step = np.zeros_like(x)
    step[: model.vertex_count, 2] = -0.5
    move, whole = limited(model, x, step)
    down = -whole[np.searchsorted(model.point_body[: len(whole)], np.arange(count)), 2]
    # each comes nearer to the next by what both may use of their distance; the floor stays, and gives half the room
    np.testing.assert_allclose(
        np.diff(down, prepend=0.0), SHARE * GAP * np.array([1.0] + [2.0] * (count - 1)), rtol=1e-6
    )
    assert not crossings(model, x, x + move) and not edge_crossings(model, x, x + move)


@pytest.mark.parametrize("seed", range(6))
def test_random_pushes_of_flying_bodies_never_cross(seed):
    rng = np.random.default_rng(seed)
    model = stack(3, 0.02)
    n, x = model.vertex_count, model.rest_positions.copy()
    would = 0
    for number in range(24):
        common = 0.2 * rng.normal(size=3) * (number % 3 > 0)
        own = 0.05 * rng.normal(size=(3, 3))
        spin = 0.3 * rng.normal(size=(3, 3))
        step = np.zeros_like(x)
        for body in range(3):
            points = model.point_body == body
            arm = x[points] - x[points].mean(axis=0)
            step[points] = common + own[body] + np.cross(spin[body], arm) + 0.01 * rng.normal(size=arm.shape)
        move, _ = limited(model, x, step)
        would += len(crossings(model, x, x + step))
        assert not crossings(model, x, x + move) and not edge_crossings(model, x, x + move)
        x[:n] += move[:n]
    assert would > 0
