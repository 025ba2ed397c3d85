"""Friction springs go on by name from one contact set to the next."""

import numpy as np
import pytest
from softpressure_ext.core.contact.contacts import Contacts
from softpressure_ext.core.solvers.implicit.friction_history import spring_keys, transfer_friction
from softpressure_ext.core.state import FrictionSprings

POINTS, EDGES, BODIES = 9, 12, 3


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("stuck_count", [0, 40])
def test_each_row_gets_the_spring_of_its_name(seed, stuck_count):
    rng = np.random.default_rng(seed)
    contacts = Contacts(POINTS, 80)
    contacts.count, contacts.edge_start = 70, 30
    contacts.points[:70] = rng.integers(0, POINTS, (70, 4))
    contacts.bodies[:70] = rng.integers(0, BODIES, (70, 2))
    contacts.edges[30:70] = rng.integers(0, EDGES, (40, 2))
    contacts.points[0, 0], contacts.bodies[0, 1] = POINTS - 1, BODIES - 1
    contacts.edges[30] = EDGES - 1  # the last name
    # names of points and of edges, some more than once: the first of them counts
    edge = rng.random(stuck_count) < 0.5
    point = np.where(edge, POINTS + rng.integers(0, EDGES, stuck_count), rng.integers(0, POINTS, stuck_count))
    other = np.where(edge, rng.integers(0, EDGES, stuck_count), rng.integers(0, BODIES, stuck_count))
    if stuck_count:
        point[:2], other[:2] = (POINTS + EDGES - 1, POINTS - 1), (EDGES - 1, BODIES - 1)
    stretch = rng.standard_normal((stuck_count, 3))
    stuck = FrictionSprings(point.astype(np.int32), other.astype(np.int32), stretch, 0.0)
    now = np.full((80, 3), 7.0)
    transfer_friction(contacts, stuck, POINTS + EDGES, POINTS, now)
    known = {}
    for k in range(stuck_count):
        known.setdefault((point[k], other[k]), k)
    first, second = spring_keys(contacts, POINTS)
    found = 0
    for row in range(70):
        name = (contacts.points[row, 0], contacts.bodies[row, 1])
        if row >= 30:
            name = (POINTS + contacts.edges[row, 0], contacts.edges[row, 1])
        assert (first[row], second[row]) == name
        k = known.get(name)
        found += k is not None
        np.testing.assert_array_equal(now[row], 0.0 if k is None else stretch[k])
    assert (now[70:] == 7.0).all() and (found > 5 if stuck_count else found == 0)
