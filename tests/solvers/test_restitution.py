"""Restitution and the damping of vibrations: kernels by closed forms, and bodies under a press that rises."""

import numpy as np
import pytest
import reference
import shapes
from scenes import moved_mass
from softpressure_ext.core import FrameInput, ModelBuilder, World
from softpressure_ext.core.contact.restitution import bounce_strength
from softpressure_ext.core.solvers.explicit.dissipation import leave_some
from softpressure_ext.core.solvers.restitution import apply_restitution
from softpressure_ext.core.solvers.rigid_motion import point_velocity, relax_points, rigid_motions

#: The same sums in another order.
ROUNDING = 1e-11
#: A billionth of the trace is added to the inertia: what turns is met to that, times speeds of a few m/s.
EXTRA_INERTIA = 1e-8


@pytest.fixture
def model():
    """A ball (0) with one pinned vertex, a ring (1) and a floor (2)."""
    made = ModelBuilder()
    made.add_membrane("ball", *shapes.icosphere(1, 0.12), mass=0.3, damping=4.0, pinned=[3])
    made.add_membrane("ring", *shapes.torus(0.2, 0.08, 9, 6, (0.6, 0.0, 0.1)), mass=0.8, damping=7.0)
    made.add_collider("floor", *shapes.grid(2.0, 2, -0.3))
    return made.build()


@pytest.fixture
def moving(model):
    """Positions [m] and velocities [m/s] of all points."""
    rng = np.random.default_rng(5)
    x = model.rest_positions + rng.normal(0, 0.005, model.rest_positions.shape)
    return x, rng.standard_normal(x.shape)


def parts(model):
    """The vertices of each membrane."""
    return [slice(model.body_point_start[b], model.body_point_start[b + 1]) for b in range(model.membrane_count)]


def motions(model, x, v):
    """Rows of `rigid_motions`."""
    rows = np.zeros((model.membrane_count, 16))
    rigid_motions(x, v, model.vertex_mass, model.body_point_start, rows)
    return rows


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
        rows = np.zeros((1, 16))
        rigid_motions(self.x, self.v, self.mass, self.start, rows)
        low, high = np.zeros(1, np.int32), np.ones(1, np.int32)
        apply_restitution(
            self.x, self.v, 1, 1, self.mass, self.start, low, high,
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


@pytest.mark.parametrize("steps", [1, 3, 50])
def test_two_bodies_that_meet_off_their_middles_part_as_a_block_does(steps):
    """Cubes of 3 and 1 kg, the lower one spinning: their speed where they touch, and their momenta."""
    corners = np.array([(i, j, k) for i in (-0.1, 0.1) for j in (-0.1, 0.1) for k in (-0.1, 0.1)])
    x = np.concatenate([corners + (0.0, 0.0, 0.1), corners + (0.05, 0.02, -0.1)])
    mass, start = np.repeat([0.375, 0.125], 8), np.array([0, 8, 16], np.int32)
    v = np.concatenate([np.tile([0.0, 0.3, -1.5], (8, 1)), np.cross((1.0, -2.0, 0.5), corners) + (0.0, 0.0, 0.5)])
    place, normal, rows = np.array([0.08, 0.03, 0.0]), np.array([0.0, 0.0, 1.0]), np.zeros((2, 16))

    def motion():
        rigid_motions(x, v, mass, start, rows)
        return [np.array(point_velocity(rows, body, *place)) for body in range(2)]

    def momenta():
        return np.concatenate([mass @ v, mass @ np.cross(x, v)])

    above, below = motion()
    approach = float((below - above) @ normal)
    arms = [np.cross(place - row[:3], normal) for row in rows]
    turns = [arm / (np.diff(start)[0] * m * 0.02) for arm, m in zip(arms, mass[::8], strict=True)]  # of a cube
    mobility = 1.0 / 3.0 + 1.0 + sum(arm @ turn for arm, turn in zip(arms, turns, strict=True))
    impulse = (approach + 3.0) / mobility / steps  # in all it would give 3 m/s back
    strength, known, before = bounce_strength(0.5), np.zeros(1), momenta()
    one, other, nothing = np.zeros(1, np.int32), np.ones(1, np.int32), np.zeros(3)
    for _ in range(steps):
        for body, sign in ((0, impulse), (1, -impulse)):
            own = slice(8 * body, 8 * body + 8)
            v[own] += sign * (normal / mass[own].sum() + np.cross(turns[body], x[own] - x[own].mean(axis=0)))
        motion()
        apply_restitution(
            x, v, 2, 2, mass, start, one, other, impulse * normal[None], impulse * place[None],
            np.array([impulse]), np.full(1, np.nan), np.array([strength]), rows, nothing, known,
        )  # fmt: skip
    above, below = motion()
    expected = approach / strength * (1.0 - np.exp(-strength * 3.0 / approach))
    assert (above - below) @ normal == pytest.approx(expected, rel=EXTRA_INERTIA)
    np.testing.assert_allclose(momenta(), before, rtol=0, atol=ROUNDING)


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
