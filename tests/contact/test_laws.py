"""The laws of contact: Coulomb's cone, the law of impact, and the coefficients of a pair."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from softpressure_ext.core.contact.coulomb import cone_share, cone_share_of_four
from softpressure_ext.core.contact.mixing import mixed, mixed_kernel
from softpressure_ext.core.contact.restitution import (
    RESTING_STEPS,
    damped_parting_speed,
    parting_speed,
    parting_speed_kernel,
    resting_speed,
    resting_speed_kernel,
)
from softpressure_ext.core.simd import lane, load4

ROUNDING = 1e-14
GRAVITY = np.array([0.0, 3.0, -4.0])

sizes = st.floats(1e-9, 1e9)
shares = st.floats(0.0, 1.0)
some = st.one_of(st.just(0.0), sizes)


@numba.njit
def shares_of_four(size, limit, out):
    """`cone_share_of_four` of arrays."""
    share = cone_share_of_four(load4(size, 0), load4(limit, 0))
    for k in range(4):
        out[k] = lane(share, k)


@given(limit=sizes, share=shares)
@settings(deadline=None)
def test_the_cone_leaves_what_lies_inside(limit, share):
    assert cone_share(share * limit, limit) == 1.0


@given(x=st.floats(-1e3, 1e3), y=st.floats(-1e3, 1e3), limit=st.floats(0.0, 1e3))
@settings(deadline=None)
def test_the_cone_shortens_what_lies_outside_to_its_surface(x, y, limit):
    impulse = np.array([x, y])
    size = float(np.hypot(x, y))
    held = cone_share(size, limit) * impulse
    assert np.hypot(*held) == pytest.approx(min(size, limit), rel=ROUNDING, abs=1e-300)
    assert held[0] * y - held[1] * x == pytest.approx(0.0, abs=ROUNDING * size * size)  # the same direction
    assert held @ impulse >= 0.0


@given(size=st.lists(some, min_size=4, max_size=4), limit=st.lists(some, min_size=4, max_size=4))
@settings(deadline=None)
def test_four_contacts_at_once_are_cut_like_single_ones(size, limit):
    found, expected = np.zeros(4), [cone_share(s, n) * s for s, n in zip(size, limit, strict=True)]
    shares_of_four(np.array(size), np.array(limit), found)
    np.testing.assert_allclose(found * size, expected, rtol=ROUNDING, atol=0.0)


@given(bounciness=shares, approach=st.floats(-1e3, 1e3), time=st.floats(1e-5, 0.1))
@settings(deadline=None)
def test_stiff_bodies_part_with_a_share_of_their_approach_unless_they_rest(bounciness, approach, time):
    resting = resting_speed(GRAVITY, time)
    assert resting == pytest.approx(RESTING_STEPS * 5.0 * time, rel=ROUNDING)
    assert resting_speed_kernel(GRAVITY, time, RESTING_STEPS) == pytest.approx(resting, rel=ROUNDING)
    found = parting_speed(bounciness, approach, resting)
    assert found == (bounciness * approach if approach > resting else 0.0)
    assert parting_speed_kernel(bounciness, approach, resting) == found
    assert parting_speed(np.array([bounciness]), np.array([approach]), resting)[0] == found


@given(approach=st.floats(0.01, 100.0), strength=st.floats(0.1, 20.0), speed=st.floats(1e-3, 100.0), share=shares)
@settings(deadline=None)
def test_a_braked_contact_drives_soft_bodies_towards_its_speed(approach, strength, speed, share):
    limit, added = approach / strength, share * speed
    before, rounding = speed - added, ROUNDING * (limit + speed)
    found = damped_parting_speed(speed, added, approach, strength)
    assert min(before, limit) - rounding <= found <= max(before, limit) + rounding
    assert found <= speed + rounding  # a smaller force adds less
    half = damped_parting_speed(before + 0.5 * added, 0.5 * added, approach, strength)  # the same in two halves
    in_two = damped_parting_speed(half + 0.5 * added, 0.5 * added, approach, strength)
    assert in_two == pytest.approx(found, rel=0.0, abs=4.0 * rounding)


@given(first=shares, second=shares)
@settings(deadline=None)
def test_the_coefficient_of_a_pair_lies_between_those_of_its_bodies(first, second):
    found = mixed(first, second)
    assert found == mixed(second, first) == mixed_kernel(first, second)
    assert mixed(first, 0.0) == 0.0
    is_normal = first * second >= 1e-300  # of less, few digits are left
    assert min(first, second) * (1.0 - ROUNDING) <= found <= max(first, second) * (1.0 + ROUNDING) or not is_normal
