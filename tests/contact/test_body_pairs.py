"""Which bodies come close: the sweep against all pairs of boxes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from softpressure_ext.core.contact.broad_phase.body_pairs import BodyPairs


def by_all_pairs(box, margin, moving_count):
    """Partners of each body, from the definition."""
    count = len(box)
    found = [[] for _ in range(count)]
    for a in range(count):
        for b in range(count):
            if a == b or (a >= moving_count and b >= moving_count):
                continue
            radius = margin[a] + margin[b]
            if (box[a, :3] - radius <= box[b, 3:]).all() and (box[b, :3] - radius <= box[a, 3:]).all():
                found[a].append(b)
    return found


def partners_of(partners, count):
    return [partners.other[partners.start[b] : partners.start[b + 1]].tolist() for b in range(count)]


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 60))
def test_the_sweep_finds_what_all_pairs_find(seed, count):
    rng = np.random.default_rng(seed)
    low = rng.uniform(-1.0, 1.0, (count, 3)) * 10.0 ** rng.uniform(-1, 1, 3)
    low[rng.random(count) < 0.3] = low[0]  # equal boxes, and boxes that just touch
    box = np.concatenate([low, low + rng.choice([0.0, 0.25, 1.0, 5.0], (count, 1))], axis=1)
    box[rng.random(count) < 0.1] = [np.inf] * 3 + [-np.inf] * 3  # bodies without points
    margin = rng.choice([0.0, 0.1, 0.5], count)
    moving_count = int(rng.integers(0, count + 1))
    partners = BodyPairs.of(box, margin, moving_count)
    expected = by_all_pairs(box, margin, moving_count)
    assert partners_of(partners, count) == expected
    np.testing.assert_array_equal(partners.bodies, [len(row) > 0 for row in expected])


@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_boxes_that_touch_to_rounding_are_told_alike_by_both(shift):
    low = shift + np.column_stack([0.1 * np.arange(40), np.zeros(40), np.zeros(40)])
    box = np.concatenate([low, low + 0.1 / 3.0], axis=1)
    margin = np.full(40, 0.1 / 3.0)  # a box and the next but one are exactly two margins and a box apart, but rounded
    assert partners_of(BodyPairs.of(box, margin, 40), 40) == by_all_pairs(box, margin, 40)


def test_a_field_of_a_thousand_bodies_compares_few_of_them():
    # one large floor, and boxes in a plane: each has four neighbours
    x, y = (1.1 * g.ravel() for g in np.meshgrid(np.arange(32), np.arange(32)))
    low = np.column_stack([x, y, np.zeros(1024)])
    box = np.concatenate([low, low + 1.0], axis=1)
    box = np.concatenate([box, [[-10, -10, -1, 50, 50, 0]]])
    partners = BodyPairs.of(box, np.full(1025, 0.051), 1024)
    sizes = np.diff(partners.start)
    assert sizes[-1] == 1024
    assert sizes[:-1].max() == 9 and sizes.sum() < 12 * 1024
