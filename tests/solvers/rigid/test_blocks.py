"""Sweeps over rows side by side in lanes, against a slow sweep over one row after the other."""

import numpy as np
import pytest
from softpressure_ext.core.solvers.rigid.blocks import FIELDS, Blocks, fill_headers, fill_rows, lay_out, sweep_blocks
from softpressure_ext.core.solvers.rigid.impulses import Effort, solve
from softpressure_ext.core.solvers.rigid.rows import Solids, finish, new_rows, set_axes

BODIES = 9
#: Pairs of bodies (-1: a collider) with their rows, in order: some share a body, most do not.
PAIRS = [
    (0, 1, 4),
    (0, 2, 1),
    (1, 2, 3),
    (3, 4, 4),
    (5, 6, 2),
    (7, 8, 4),
    (4, 5, 1),
    (2, -1, 4),
    (8, -1, 2),
    (6, -1, 1),
]


def scene(seed):
    """Bodies, the last asleep, that move at random, and rows between them."""
    rng = np.random.default_rng(seed)
    mass = rng.uniform(0.5, 2.0, BODIES)
    half = rng.standard_normal((BODIES, 3, 3))
    inverse = half @ half.transpose(0, 2, 1) + np.eye(3)
    velocity, spin = rng.standard_normal((2, BODIES, 3))
    awake = np.arange(BODIES) < BODIES - 1
    velocity[~awake], spin[~awake], inverse[~awake] = 0.0, 0.0, 0.0
    solids = Solids(velocity, spin, np.where(awake, 1.0 / mass, 0.0), inverse, np.ones(BODIES), awake)
    rows, row = new_rows(64), 0
    for a, b, count in PAIRS:
        for _ in range(count):
            rows.body[row], rows.arm[row], rows.given[row] = (a, b), rng.standard_normal((2, 3)), rng.standard_normal(3)
            normal = rng.standard_normal(3)
            set_axes(*(normal / np.linalg.norm(normal)), row, rows.axes)
            rows.gap[row], rows.thickness[row], rows.friction[row] = rng.uniform(-0.01, 0.01), 0.01, rng.uniform(0, 1)
            finish(row, rows, solids, -1, *(0.1 * rng.standard_normal(3)))
            row += 1
    return row, rows, solids


def moving(rows, solids, row):
    """Relative velocity of a row's points [m/s], from the definition."""
    (a, b), (r, s) = rows.body[row], rows.arm[row]
    first = solids.velocity[a] + np.cross(solids.spin[a], r)
    second = rows.given[row] if b < 0 else solids.velocity[b] + np.cross(solids.spin[b], s)
    return second - first


def pushed(rows, solids, row, impulse):
    for body, arm, j in zip(rows.body[row], rows.arm[row], (-impulse, impulse), strict=True):
        if body >= 0:
            solids.velocity[body] += solids.inverse_mass[body] * j
            solids.spin[body] += solids.inverse_inertia[body] @ np.cross(arm, j)


def slow_sweep(order, rows, solids, time):
    """Without push: the normal, then friction in its cone, row by row."""
    for row in order:
        axes, j, m = rows.axes[row], rows.impulse[row], rows.mass[row]
        speed = axes[0] @ moving(rows, solids, row) + max(rows.gap[row], 0.0) / time
        normal = max(j[0] - m[0] * speed, 0.0)
        pushed(rows, solids, row, (normal - j[0]) * axes[0])
        j[0], limit = normal, rows.friction[row] * normal
        slip = axes[1:] @ moving(rows, solids, row)
        found = j[1:] - np.array([[m[2], m[3]], [m[3], m[4]]]) @ slip
        if np.linalg.norm(found) > limit:
            found = j[1:] - m[1] * slip
            found *= min(1.0, limit / np.linalg.norm(found))
        pushed(rows, solids, row, (found - j[1:]) @ axes[1:])
        j[1:] = found


@pytest.mark.parametrize("is_backward", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_sweep_equals_a_slow_one(seed, is_backward):
    count, rows, solids = scene(seed)
    _, expected, slow = scene(seed)
    slow_sweep(range(count - 1, -1, -1) if is_backward else range(count), expected, slow, 0.01)
    blocks = Blocks(*lay_out(count, rows.body, solids.inverse_mass))
    header = fill_headers(blocks, solids.inverse_mass, solids.inverse_inertia)
    fields, impulse = np.zeros(4 * FIELDS * blocks.start[-1]), np.zeros(12 * blocks.start[-1])
    fill_rows(blocks, rows, 0.01, False, 1.0, 1.0, 1.0, fields, impulse)
    motion = np.zeros((BODIES + 1, 6))
    motion[:BODIES, :3], motion[:BODIES, 3:] = solids.velocity, solids.spin
    sweep_blocks(blocks, header, fields, impulse, motion, is_backward)
    found = impulse.reshape(-1, 3, 4)[blocks.place // 4, :, blocks.place % 4]
    # the same sums in another order, over some dozen rows
    np.testing.assert_allclose(found, expected.impulse[:count], rtol=0, atol=1e-11)
    np.testing.assert_allclose(motion[:BODIES, :3], slow.velocity, rtol=0, atol=1e-11)
    np.testing.assert_allclose(motion[:BODIES, 3:], slow.spin, rtol=0, atol=1e-11)


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_a_heavy_body_on_a_light_one_takes_few_sweeps(friction):
    """1000 : 1, one row above the other: the relative speed shrinks by a thousandth in a sweep alone."""
    rows, solids = new_rows(4), Solids(
        np.array([[0.1, 0.0, -1.0], [0.0, 0.0, -1.0]]), np.zeros((2, 3)), np.array([1e-3, 1.0]),
        np.stack([1e-4 * np.eye(3), np.eye(3)]), np.ones(2), np.ones(2, bool),
    )  # fmt: skip
    for row, (a, b) in enumerate(((1, 0), (1, -1))):
        rows.body[row], rows.arm[row], rows.thickness[row], rows.friction[row] = (a, b), 0.0, 1.0, friction
        set_axes(0.0, 0.0, 1.0 if b == 0 else -1.0, row, rows.axes)
        finish(row, rows, solids, -1, 0.0, 0.0, 0.0)
    solve(2, rows, solids, 0.01, False, Effort(10, 10, 0.0))
    np.testing.assert_allclose(solids.velocity[:, 2], 0.0, atol=1e-3)  # from 1 m/s


def test_directions_between_sweeps_keep_velocities_true_to_the_impulses():
    """Whatever the sweeps do, bodies move as all impulses together make them."""
    count, rows, solids = scene(7)
    _, start, slow = scene(7)
    solve(count, rows, solids, 0.01, False, Effort(20, 20, 0.0))
    for row in range(count):
        pushed(rows, slow, row, (rows.impulse[row] - start.impulse[row]) @ rows.axes[row])
    np.testing.assert_allclose(solids.velocity, slow.velocity, rtol=0, atol=1e-11)
    np.testing.assert_allclose(solids.spin, slow.spin, rtol=0, atol=1e-11)
