"""Restitution and the damping of vibrations: kernels against twins, and bodies under a press that rises."""

import numpy as np
import pytest
import reference
import shapes
from scenes import moved_mass
from softpressure_ext.core import FrameInput, ModelBuilder, World
from softpressure_ext.core.contact.restitution import bounce_strength
from softpressure_ext.core.solvers.explicit.dissipation import leave_some
from softpressure_ext.core.solvers.restitution import apply_restitution
from softpressure_ext.core.solvers.rigid_motion import relax_points, rigid_motions
from solver_scene import EXTRA_INERTIA, ROUNDING, Pairs, motions, parts, random_motion, row_of, two_bodies


@pytest.fixture
def model():
    return two_bodies()


@pytest.fixture
def moving(model):
    return random_motion(model)


def relax(model, x, v, rows, kept, pinned):
    """`relax_points` for each membrane; returns the velocities after it."""
    after = v.copy()
    for part, row, share in zip(parts(model), rows, kept, strict=True):
        relax_points(x, after, part.start, part.stop, row, share, pinned)
    return after


def test_damping_equals_its_twin_and_keeps_momenta(model, moving):
    x, v = moving
    rows, kept = motions(model, x, v), np.exp(-model.damping * 0.01)
    damped = relax(model, x, v, rows, kept, np.zeros(model.vertex_count, bool))
    for share, part in zip(kept, parts(model), strict=True):
        mass = model.vertex_mass[part]
        rigid = reference.rigid_velocities(x[part], v[part], mass)
        np.testing.assert_allclose(damped[part], rigid + share * (v[part] - rigid), rtol=0, atol=ROUNDING)
        np.testing.assert_allclose(mass @ damped[part], mass @ v[part], rtol=0, atol=ROUNDING)
        before, after = (reference.angular_momentum(x[part], u, mass) for u in (v[part], damped[part]))
        # 1e-13 of the trace is added to the inertia
        np.testing.assert_allclose(after, before, rtol=0, atol=1e-8 * np.abs(before).max())
    assert (damped[model.vertex_count :] == v[model.vertex_count :]).all()


def test_damping_leaves_rigid_motion_and_pinned_vertices_alone(model, moving):
    x, v = moving
    rigid = v.copy()
    for part in parts(model):
        rigid[part] = reference.rigid_velocities(x[part], v[part], model.vertex_mass[part])
    damped = relax(model, x, rigid, motions(model, x, rigid), np.zeros(2), model.pinned)
    np.testing.assert_allclose(damped, rigid, rtol=0, atol=EXTRA_INERTIA)
    damped = relax(model, x, v, motions(model, x, v), np.zeros(2), model.pinned)
    pinned = np.flatnonzero(model.pinned)
    assert len(pinned) == 1 and (damped[pinned] == v[pinned]).all()


@pytest.mark.parametrize("bounciness", [0.05, 0.2, 0.5, 0.8, 0.95, 1.0])
def test_bounce_strength_gives_the_speed_back(bounciness):
    """The contact the strength is made for, integrated in time: a spring that is braked on the way out."""
    c = bounce_strength(bounciness)
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


@pytest.mark.parametrize(("left", "fallback"), [(9, False), (8, True), (0, True)])
def test_a_body_of_which_hardly_anything_is_untouched_counts_as_a_whole(model, left, fallback):
    """The 42 vertices of the ball, 9 of which have just over a fifth of the mass."""
    (ball, ring), mass = parts(model), np.ones(model.vertex_count)
    untouched = mass.copy()
    untouched[: ball.stop - left] = 0.0
    leave_some(untouched, mass, model.body_point_start, model.membrane_count)
    assert ball.stop == 42 and (untouched[ring] == 1.0).all()
    assert untouched[ball].sum() == (42 if fallback else left)


def brake(model, x, v, mass, pairs, strength, motion, fall, approach):
    """Run `apply_restitution` for membranes of one bounciness (which only solids ask for)."""
    count = len(pairs.load)
    apply_restitution(
        x, v, 2, 2, mass, model.body_mass, model.body_point_start, pairs.low, pairs.high, pairs.impulse, pairs.point,
        pairs.load, np.full(count, np.nan), np.full(count, strength), motion, fall, approach,
    )  # fmt: skip


@pytest.mark.parametrize("known", [0.7, -0.7, 30.0])
@pytest.mark.parametrize("seed", range(6))
def test_braking_a_pair_equals_its_twin(model, moving, seed, known):
    x, v = moving
    rng = np.random.default_rng(seed)
    v = v + np.repeat(rng.normal(0, 2, (3, 3)), np.diff(model.body_point_start), axis=0)
    pairs = Pairs(model, rng)
    mass = np.where(rng.random(model.vertex_count) < 0.7, model.vertex_mass, 0.0)
    strength, fall, sums = 0.9, rng.normal(0, 0.1, 3), pairs.impulses(x, 0.004)
    idle = rng.choice(3)  # a pair of the record that has no impulse
    sums.key = np.insert(sums.key, idle, -1)
    sums.low, sums.high, sums.load = (np.insert(row, idle, 0) for row in (sums.low, sums.high, sums.load))
    sums.impulse, sums.point = (np.insert(row, idle, 0.0, axis=0) for row in (sums.impulse, sums.point))
    sums.high[idle] = 2
    after, approach = v.copy(), np.full(3, known)
    brake(model, x, after, mass, sums, strength, motions(model, x, v, mass), fall, approach)
    expected = v.copy()
    bodies = parts(model)
    for a, b in ((0, 1), (1, 2)):
        row = row_of(model, sums, a, b)
        size = np.linalg.norm(sums.impulse[row])
        normal, at = sums.impulse[row] / size, sums.point[row] / sums.load[row]
        sides = [(x[part], expected[part], mass[part]) for part in bodies]
        floor = slice(model.body_point_start[2], None)
        sides.append((expected[floor][np.argmin(np.linalg.norm(x[floor] - at, axis=1))],))
        taken, now_known = reference.brake((sides[a], sides[b]), at, normal, size, strength, fall, known)
        assert approach[row] == pytest.approx(now_known, rel=EXTRA_INERTIA)
        for k, sign in ((a, -1.0), (b, 1.0)):
            if k < 2:
                part, m = bodies[k], mass[bodies[k]]
                centre = m @ x[part] / m.sum()
                turned = np.cross(at - centre, sign * taken * normal)
                turn = np.linalg.solve(reference.inertia_tensor(x[part], m), turned)
                push = sign * taken * normal / m.sum() + np.cross(turn, x[part] - centre)
                expected[part] += np.where(m[:, None] > 0.0, push, 0.0)
    # the kernel updates its rigid motions, the twin finds them anew
    np.testing.assert_allclose(after, expected, rtol=0, atol=EXTRA_INERTIA)
    assert approach[idle] == 0.0  # not in contact
    # both bodies of the pair, and only they, exchange momentum
    change = (after - v)[: model.vertex_count] * model.vertex_mass[:, None]
    if approach[row_of(model, sums, 1, 2)] > 0:  # the floor takes nothing while the ring approaches it
        np.testing.assert_allclose(change.sum(axis=0), 0.0, rtol=0, atol=ROUNDING)
        np.testing.assert_allclose(np.cross(x[: len(change)], change).sum(axis=0), 0.0, rtol=0, atol=ROUNDING)


class Block:
    """Eight corners of a cube of 3 kg over a single point of a collider, moved by hand along z."""

    def __init__(self, bounciness, speed):
        corners = [(i, j, k) for i in (-0.1, 0.1) for j in (-0.1, 0.1) for k in (-0.1, 0.1)]
        self.x = np.array([*corners, (0.0, 0.0, -0.1)])
        self.v = np.zeros((9, 3))
        self.v[:8, 2] = speed
        self.mass = np.full(8, 0.375)
        self.start = np.array([0, 8, 9], np.int32)
        self.strength = np.array([bounce_strength(bounciness)])
        self.approach = np.zeros(1)

    @property
    def speed(self):
        return self.v[0, 2]

    def push(self, impulse, fall=0.0, load=None):
        """One step: an impulse [N s] from below and the speed that gravity gives, then the braking.

        `load`: sum of the sizes of the impulses that the one from below is made of.
        """
        self.v[:8, 2] += impulse / 3.0 + fall
        rows = np.zeros((1, 15))
        rigid_motions(self.x, self.v, self.mass, self.start, rows)
        low, high = np.zeros(1, np.int32), np.ones(1, np.int32)
        apply_restitution(
            self.x, self.v, 1, 1, self.mass, np.array([3.0, 0.0]), self.start, low, high,
            np.array([[0.0, 0.0, impulse]]), impulse * self.x[8:], np.array([impulse if load is None else load]),
            np.full(1, np.nan), self.strength, rows, np.array([0.0, 0.0, fall]), self.approach,
        )  # fmt: skip


@pytest.mark.parametrize("load", [-3e-17, 0.0, 3e-17])
def test_impulses_that_cancel_are_none(load):
    """Forces of both signs leave a rounding of either sign in the load, and nothing in the impulse."""
    block = Block(0.5, -3.0)
    block.push(0.0, load=load)
    assert block.speed == -3.0 and block.approach[0] == 0.0


@pytest.mark.parametrize("bounciness", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("steps", [1, 2, 7, 500])
def test_a_steady_force_brakes_alike_in_any_number_of_steps(bounciness, steps):
    block = Block(bounciness, -2.0)
    for _ in range(steps):
        block.push(15.0 / steps)  # would give 3 m/s back
    strength = bounce_strength(bounciness)
    # m dv / dJ = 1 - (c / v_in) v from v = 0 on, over the 9 N s that are left of the 15
    expected = 2.0 / strength * (1.0 - np.exp(-strength * 3.0 / 2.0))
    assert block.speed == pytest.approx(expected, rel=ROUNDING)


def spring_bounce(bounciness, steps, speed=2.0):
    """Share of the speed that a contact spring gives back in steps of which so many make the unbraked contact."""
    block, depth = Block(bounciness, -speed), 0.0
    time = np.pi / steps  # in units of the spring's 1 / omega: half a period
    for _ in range(20 * steps):  # braked, the way out takes up to some ten times as long
        before = block.speed
        moved = depth * np.cos(time) + before * np.sin(time)
        if moved >= -1e-12:  # out: the speed follows from the energy
            block.push(3.0 * (np.hypot(before, depth) - before))
            return block.speed / speed
        block.push(3.0 * (before * np.cos(time) - depth * np.sin(time) - before))
        depth = moved
    pytest.fail("it never comes back")
    return None


@pytest.mark.parametrize("bounciness", [0.1, 0.2, 0.5, 0.8, 0.95, 1.0])
def test_a_spring_gives_the_bounciness_back_in_small_and_large_steps(bounciness):
    for steps in (1, 3, 5, 21, 101, 1001):  # odd: it turns within a step, not between two to rounding
        error = spring_bounce(bounciness, steps) - bounciness
        # A step's braking shows in its speed, not yet in where it ends: of first order, 0.2 per step at most. A single
        # step takes a steady force for the spring's: (1 - exp(-c)) / c, which is less than e by 0.061 at most.
        assert -min(0.25 / steps, 0.061) < error < 1e-6, steps
    strength = bounce_strength(bounciness)
    alone = (1.0 - np.exp(-strength)) / strength if strength > 0.0 else 1.0
    assert spring_bounce(bounciness, 1) == pytest.approx(alone, rel=ROUNDING)


#: Gravity [m/s^2]; radius of the ball and half the side of the cube [m].
GRAVITY, SIZE = 9.81, 0.2
#: Height [m] of the lowest point at which nothing is below a body any more: more than two thicknesses.
CLEAR = 0.012
#: The press goes down for so long, stays, and rises from then on [s]; by [m], with a speed [m/s].
DOWN, UP_FROM, STROKE, RISE = 0.2, 0.4, 0.15, 1.0


def press_world(kind, solver, substeps):
    """A body on a floor at z = 0, and the press above it."""
    builder, bounciness = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY)), 0.5
    middle = (0.0, 0.0, SIZE + 0.01)
    if kind == "SKIN":
        ball = shapes.icosphere(2, SIZE, middle)
        options = {"mass": 0.2, "gauge_pressure": 2e3, "stretch_modulus": 1e4}
        builder.add_membrane("ball", *ball, bounciness=bounciness, **options)
    else:
        cube = shapes.box(2.0 * SIZE, 3, middle)
        options = {"cell_size": 0.1, "mass": 2.0, "modulus": 3e4}
        builder.add_solid("cube", *cube, kind=kind, bounciness=bounciness, **options)
    builder.add_collider("floor", *shapes.grid(2.0), bounciness=bounciness)
    builder.add_collider("press", *shapes.grid(2.0, z=2.0 * SIZE + 0.03), bounciness=bounciness)
    return World(builder.build(), frame_rate=60.0, substeps=substeps, threads=1, solver=solver)


#: The papers' methods have their contacts in common.
PRESSED = [(kind, *of) for kind in ("SKIN", "SOLID", "TRUSS") for of in (("EXPLICIT", 10), ("XPBD", 20))]
PRESSED += [("SKIN", "RK4", 100), ("SOLID", "EXPLICIT_EULER", 100), ("TRUSS", "EXPLICIT_EULER", 100)]


@pytest.mark.parametrize(("kind", "solver", "substeps"), PRESSED)
def test_a_body_falls_from_a_press_that_rises(kind, solver, substeps):
    """Contacts with what is above a body only push it down: it never falls by less than g."""
    world = press_world(kind, solver, substeps)
    mass, plate = moved_mass(world), shapes.grid(2.0, z=2.0 * SIZE + 0.03)[0]
    speeds, lows = [0.0], [0.01]
    for frame in range(1, 49):
        time = frame / world.frame_rate
        height = -STROKE * min(time / DOWN, 1.0) + RISE * max(time - UP_FROM, 0.0)
        world.advance_frame(FrameInput(collider_positions={1: plate + (0.0, 0.0, height)}))
        state = world.save()
        speeds.append(mass @ state.velocities[: len(mass), 2] / mass.sum())
        lows.append(state.positions[: len(mass), 2].min())
    up = np.array(lows) > CLEAR
    gained = (np.diff(speeds) * world.frame_rate)[up[1:] & up[:-1]]
    assert (gained < -0.999 * GRAVITY).all(), gained
    assert not up[-12:].all()  # it has come down
