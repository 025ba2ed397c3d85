"""Damping, bounciness and the care at impacts: kernels against twins, and what they must leave alone."""

import numpy as np
import pytest
import reference
import shapes
from softpressure_ext.core import ModelBuilder, builder
from softpressure_ext.core.solvers import losses
from softpressure_ext.core.solvers.impact import cut_impulses

#: Kernel and twin do the same sums in another order.
ROUNDING = 1e-11


@pytest.fixture
def model(monkeypatch):
    monkeypatch.setattr(builder, "CHUNK_SIZE", 16)
    made = ModelBuilder()
    made.add_membrane("ball", *shapes.icosphere(1, 0.12), mass=0.3, damping=4.0, pinned=[3])
    made.add_membrane("ring", *shapes.torus(0.2, 0.08, 9, 6, (0.6, 0.0, 0.1)), mass=0.8, damping=7.0)
    made.add_collider("floor", *shapes.grid(2.0, 2, -0.3))
    return made.build()


@pytest.fixture
def moving(model):
    """Positions and velocities of all points."""
    rng = np.random.default_rng(5)
    x = model.rest_positions + rng.normal(0, 0.005, model.rest_positions.shape)
    return x, rng.standard_normal(x.shape)


def parts(model):
    return [slice(model.body_point_start[b], model.body_point_start[b + 1]) for b in range(model.membrane_count)]


def motions(model, x, v):
    rows = np.zeros((model.membrane_count, 15))
    losses.rigid_motions(x, v, model.vertex_mass, model.body_point_start, rows)
    return rows


def test_rigid_motion_equals_its_twin(model, moving):
    x, v = moving
    rows = motions(model, x, v)
    for row, part in zip(rows, parts(model), strict=True):
        centre, velocity, spin = reference.rigid_motion(x[part], v[part], model.vertex_mass[part])
        np.testing.assert_allclose(row[:9], np.concatenate([centre, velocity, spin]), rtol=0, atol=ROUNDING)
        inverse = np.array([[row[9], row[12], row[13]], [row[12], row[10], row[14]], [row[13], row[14], row[11]]])
        tensor = reference.inertia_tensor(x[part], model.vertex_mass[part])
        np.testing.assert_allclose(inverse @ tensor, np.eye(3), rtol=0, atol=ROUNDING)


def test_rigid_motion_of_a_line_is_finite():
    x = np.linspace(0, 1, 7)[:, None] * [1.0, 2.0, -1.0]
    rows = np.zeros((1, 15))
    losses.rigid_motions(x, np.ones_like(x), np.ones(7), np.array([0, 7], np.int32), rows)
    assert np.isfinite(rows).all()


def test_damping_equals_its_twin_and_keeps_momenta(model, moving):
    x, v = moving
    rows, kept = motions(model, x, v), np.exp(-model.damping * 0.01)
    damped = v.copy()
    losses.relax(x, damped, model.chunks, rows, kept, np.zeros(model.vertex_count, bool))
    for share, part in zip(kept, parts(model), strict=True):
        mass = model.vertex_mass[part]
        rigid = reference.rigid_velocities(x[part], v[part], mass)
        np.testing.assert_allclose(damped[part], rigid + share * (v[part] - rigid), rtol=0, atol=ROUNDING)
        np.testing.assert_allclose(mass @ damped[part], mass @ v[part], rtol=0, atol=ROUNDING)
        before, after = (reference.angular_momentum(x[part], u, mass) for u in (v[part], damped[part]))
        # 1e-9 of the trace is added to the inertia
        np.testing.assert_allclose(after, before, rtol=0, atol=1e-8 * np.abs(before).max())
    assert (damped[model.vertex_count :] == v[model.vertex_count :]).all()


def test_damping_leaves_rigid_motion_and_pinned_vertices_alone(model, moving):
    x, v = moving
    rigid = v.copy()
    for part in parts(model):
        rigid[part] = reference.rigid_velocities(x[part], v[part], model.vertex_mass[part])
    damped = rigid.copy()
    losses.relax(x, damped, model.chunks, motions(model, x, rigid), np.zeros(2), model.pinned)
    # a billionth of the trace in the inertia, times speeds of a few m/s
    np.testing.assert_allclose(damped, rigid, rtol=0, atol=1e-8)
    damped = v.copy()
    losses.relax(x, damped, model.chunks, motions(model, x, v), np.zeros(2), model.pinned)
    pinned = np.flatnonzero(model.pinned)
    assert len(pinned) == 1 and (damped[pinned] == v[pinned]).all()


@pytest.mark.parametrize("bounciness", [0.05, 0.2, 0.5, 0.8, 0.95, 1.0])
def test_bounce_strength_gives_the_speed_back(bounciness):
    """The contact the strength is made for, integrated in time: a spring that is braked on the way out."""
    c = losses.bounce_strength(bounciness)
    # unit mass, spring and approach speed: x'' = -x on the way in, so it comes to rest at x = -1;
    # way out: v dv/dx = -x (1 - c v), Runge-Kutta in x^2 / 2 = w: dv/dw = (1 - c v) / v with w from 0 to 1/2
    count = 20_000
    # near v = 0 the slope is singular: v = sqrt(2 w) - 2 c w / 3 + ... starts it
    w0 = 1e-8
    v, step = np.sqrt(2 * w0) - 2 * c * w0 / 3, None
    grid = np.linspace(np.sqrt(w0), np.sqrt(0.5), count + 1)  # even in sqrt(w), where the solution is smooth

    def slope(s, speed):
        return 2 * s * (1 - c * speed) / speed

    for s, step in zip(grid[:-1], np.diff(grid), strict=True):
        k1 = slope(s, v)
        k2 = slope(s + step / 2, v + step / 2 * k1)
        k3 = slope(s + step / 2, v + step / 2 * k2)
        k4 = slope(s + step, v + step * k3)
        v += step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    # the start value is good to w0 = 1e-8, of which the integration keeps the root
    assert v == pytest.approx(bounciness, abs=2e-5)


def test_bounce_strength_grows_as_bounciness_falls():
    strengths = [losses.bounce_strength(e) for e in (1.0, 0.9, 0.5, 0.1, 0.05, 0.0)]
    assert strengths[0] == 0.0 and (np.diff(strengths[:-1]) > 0).all()
    assert strengths[-1] == strengths[-2]  # below 0.05 the way back would take for ever


class Pairs:
    """Contacts of the ball (0) with the ring (1) and of the ring with the floor (2)."""

    def __init__(self, model, rng, count=24):
        start = model.body_point_start
        self.bodies = np.array([(0, 1), (1, 0), (1, 2)] * (count // 3), np.int32)
        self.points = np.array(
            [
                [rng.integers(start[a], start[a + 1]), *rng.choice(np.arange(start[b], start[b + 1]), 3, replace=False)]
                for a, b in self.bodies
            ],
            np.int32,
        )
        self.weights = np.concatenate([np.ones((count, 1)), -rng.dirichlet(np.ones(3), count)], axis=1)
        sign = np.array([1.0, -1.0, 1.0] * (count // 3))
        normal = rng.normal(0, 0.3, (count, 3)) + [0, 0, 1]
        self.normal = sign[:, None] * normal / np.linalg.norm(normal, axis=1)[:, None]
        self.force = np.where(rng.random(count) < 0.7, rng.uniform(1, 5, count), 0.0)
        self.count = count

    def sums(self, x):
        shape = (2, 3)
        force, point, load = np.full((*shape, 3), 9.0), np.full((*shape, 3), 9.0), np.full(shape, 9.0)
        losses.sum_pairs(
            self.count, x, self.points, self.weights, self.normal, self.bodies, self.force, 2, force, point, load
        )
        return force, point, load


def test_forces_of_pairs_are_summed_with_their_signs(model, moving):
    x, _ = moving
    pairs = Pairs(model, np.random.default_rng(1))
    force, point, load = pairs.sums(x)
    for a, b in ((0, 1), (1, 2)):
        total, weighted, size = np.zeros(3), np.zeros(3), 0.0
        for c, (u, w) in enumerate(pairs.bodies):
            if {u, w} != {a, b}:
                continue
            total += pairs.force[c] * pairs.normal[c] * (1 if u == a else -1)
            opposite = -pairs.weights[c, 1:] @ x[pairs.points[c, 1:]]
            weighted += pairs.force[c] * 0.5 * (x[pairs.points[c, 0]] + opposite)
            size += pairs.force[c]
        np.testing.assert_allclose(force[a, b], total, rtol=0, atol=ROUNDING)
        np.testing.assert_allclose(point[a, b], weighted, rtol=0, atol=ROUNDING)
        assert load[a, b] == pytest.approx(size, rel=ROUNDING)
    assert load[0, 2] == 0.0 and (force[0, 2] == 0.0).all()


def braked(model, x, v, pairs, strength, time, known):
    """Velocities and approach speeds after `brake_pairs`."""
    v, known = v.copy(), known.copy()
    force, point, load = pairs.sums(x)
    losses.brake_pairs(
        x,
        v,
        2,
        model.body_mass,
        model.body_point_start,
        force,
        point,
        load,
        strength,
        time,
        motions(model, x, v),
        known,
    )
    return v, known


@pytest.mark.parametrize("seed", range(6))
def test_braking_a_pair_equals_its_twin(model, moving, seed):
    x, v = moving
    rng = np.random.default_rng(seed)
    v = v + np.repeat(rng.normal(0, 2, (3, 3)), np.diff(model.body_point_start), axis=0)
    pairs = Pairs(model, rng)
    strength, time = np.full((2, 3), 0.9), 0.004
    known = np.full((2, 3), 0.7)
    after, now_known = braked(model, x, v, pairs, strength, time, known)
    force, point, load = pairs.sums(x)
    expected = v.copy()
    ball, ring = parts(model)
    for a, b in ((0, 1), (1, 2)):
        size = np.linalg.norm(force[a, b])
        normal, at = force[a, b] / size, point[a, b] / load[a, b]
        first = (x[(ball, ring)[a]], expected[(ball, ring)[a]], model.vertex_mass[(ball, ring)[a]])
        if b == 1:
            second = (x[ring], expected[ring], model.vertex_mass[ring])
        else:
            floor = slice(model.body_point_start[2], None)
            second = (expected[floor][np.argmin(np.linalg.norm(x[floor] - at, axis=1))],)
        impulse = reference.brake((first, second), at, normal, size, strength[a, b], time, known[a, b])
        assert (now_known[a, b] <= 0) == (impulse > 0)
        for k, sign in ((a, -1.0), (b, 1.0)):
            if k < 2:
                part = (ball, ring)[k]
                mass = model.vertex_mass[part]
                arm = at - mass @ x[part] / mass.sum()
                turn = np.linalg.solve(reference.inertia_tensor(x[part], mass), np.cross(arm, sign * impulse * normal))
                centre = mass @ x[part] / mass.sum()
                expected[part] += sign * impulse * normal / mass.sum() + np.cross(turn, x[part] - centre)
    # the kernel updates its rigid motions, the twin finds them anew with a billionth of the trace in the inertia
    np.testing.assert_allclose(after, expected, rtol=0, atol=1e-8)
    # both bodies of the pair, and only they, exchange momentum
    moved = [model.vertex_mass[part] @ (after - v)[part] for part in (ball, ring)]
    arms = [np.sum(model.vertex_mass[p][:, None] * np.cross(x[p], (after - v)[p]), axis=0) for p in (ball, ring)]
    if now_known[1, 2] > 0:  # the floor takes nothing while the ring approaches it
        np.testing.assert_allclose(moved[0], -moved[1], rtol=0, atol=ROUNDING)
        np.testing.assert_allclose(arms[0], -arms[1], rtol=0, atol=ROUNDING)


def test_an_approach_is_noted_and_not_braked(model, moving):
    x, v = moving
    pairs = Pairs(model, np.random.default_rng(2))
    force, _, _ = pairs.sums(x)
    away = np.zeros_like(v)
    ball, ring = parts(model)
    away[ball] = -3.0 * force[0, 1] / np.linalg.norm(force[0, 1])
    away[ring] = -2.0 * force[1, 2] / np.linalg.norm(force[1, 2])
    after, known = braked(model, x, away, pairs, np.full((2, 3), 0.9), 0.004, np.zeros((2, 3)))
    assert (after == away).all()
    assert known[1, 2] == pytest.approx(2.0)
    assert known[0, 1] > 0


@pytest.mark.parametrize("seed", range(4))
def test_impulse_cuts_equal_their_twin(model, moving, seed):
    _, v1 = moving
    rng = np.random.default_rng(seed)
    n = model.vertex_count
    pairs = Pairs(model, rng, 60)
    v1, ahead = v1[:n], v1[:n] + rng.standard_normal((n, 3))
    friction, change = rng.uniform(0, 0.8, pairs.count), np.zeros((n, 3))
    cut_impulses(
        pairs.count, pairs.points, pairs.weights, pairs.normal, pairs.force, friction, model.vertex_mass, model.pinned,
        v1, ahead, 0.003, change,
    )  # fmt: skip
    rows = zip(pairs.points, pairs.weights, pairs.normal, pairs.force, friction, strict=True)
    expected = reference.cut_impulses(rows, model.vertex_mass, model.pinned, v1, ahead, 0.003)
    np.testing.assert_allclose(change, expected, rtol=0, atol=ROUNDING * np.abs(expected).max())
    assert np.abs(expected).max() > 0
    assert (change[model.pinned] == 0).all()


def test_an_impulse_cut_takes_back_no_more_than_the_overshoot(model):
    """One contact: the parting speed ahead falls to that of the first stage, or by what the force can do."""
    n = model.vertex_count
    points, weights = np.array([[5, 50, 51, 52]], np.int32), np.array([[1.0, -0.2, -0.3, -0.5]])
    normal, v1 = np.array([[0.0, 0.0, 1.0]]), np.zeros((n, 3))
    mobility = np.sum(weights[0] ** 2 / model.vertex_mass[points[0]])
    for speed, force in ((2.0, 1e6), (2.0, 0.5 / mobility), (-2.0, 1e6)):
        ahead, change = np.zeros((n, 3)), np.zeros((n, 3))
        ahead[5, 2] = speed
        cut_impulses(
            1, points, weights, normal, np.array([force]), np.zeros(1), model.vertex_mass, model.pinned, v1, ahead,
            1.0, change,
        )  # fmt: skip
        parting = weights[0] @ (ahead + change)[points[0]]
        expected = {1e6: min(speed, 0.0)}.get(force, speed - 0.5)
        np.testing.assert_allclose(parting, [0.0, 0.0, expected], atol=ROUNDING)
        np.testing.assert_allclose(model.vertex_mass @ change, 0.0, atol=ROUNDING)
