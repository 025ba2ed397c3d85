"""The integrators of the papers against slow twins that follow the papers line by line, and their order."""

import numpy as np
import pytest
import reference
from force_scene import AMBIENT, BEND, GAUGE, MASS, MODULUS, Scene
from scenes import Ball, ball_world, inflate, played
from softpressure_ext.core import ModelBuilder, World
from softpressure_ext.core.papers.schemes import SCHEMES, stable_angle
from softpressure_ext.core.papers.simplified import stiffness_at_vertices
from softpressure_ext.core.solvers.choice import FORCE_BASED
from validation import validated

GRAVITY = np.array([0.3, -0.4, -9.81])
#: Kernel and twin do the same sums in another order; forces are differences of terms some hundred times as large.
ROUNDING = 1e-9


class Twin:
    """Forces on one random body, by the twins of the energies."""

    def __init__(self, seed, body):
        self.scene = Scene(seed)
        self.x, self.triangles = self.scene.meshes[body]
        self.springs = reference.springs(self.x, self.triangles, MODULUS[body])
        self.hinges = reference.hinges(self.x, self.triangles, BEND[body])
        self.mass = reference.vertex_masses(self.x, self.triangles, MASS[body])[:, None]
        self.rest_volume = reference.volume(self.x, self.triangles)
        self.gas = (GAUGE[body] + AMBIENT) * self.rest_volume
        self.body = body

    def force(self, x):
        total = self.mass * GRAVITY + reference.stretch(x, *self.springs)[1] + reference.bend(x, *self.hinges)[1]
        return total + reference.gas(x, self.triangles, self.rest_volume, self.gas, AMBIENT)[1]

    def neighbours(self):
        edges, _, constants = self.springs
        for (i, j), k in zip(edges, constants, strict=True):
            yield i, j, k
            yield j, i, k

    def world(self, method, h):
        builder = ModelBuilder(gravity=GRAVITY)
        builder.add_membrane(
            "body", self.x, self.triangles, mass=MASS[self.body], stretch_modulus=MODULUS[self.body],
            bend_modulus=BEND[self.body], gauge_pressure=GAUGE[self.body],
        )  # fmt: skip
        return World(builder.build(), frame_rate=1.0 / h, substeps=1, threads=1, solver=method)


def explicit_euler(twin, x, v, h):
    """Matyka 2004, section 6: the new velocity moves the point."""
    v = v + h * twin.force(x) / twin.mass
    return x + h * v, v


def heun(twin, x, v, h):
    """Matyka 2004, eq. 13, 14 with y = (x, v)."""
    f0 = (v, twin.force(x) / twin.mass)
    x1, v1 = x + h * f0[0], v + h * f0[1]
    f1 = (v1, twin.force(x1) / twin.mass)
    return x + h / 2 * (f0[0] + f1[0]), v + h / 2 * (f0[1] + f1[1])


def rk4(twin, x, v, h):
    """Kutta's classical method with y = (x, v)."""

    def slope(y):
        return np.array([y[1], twin.force(y[0]) / twin.mass])

    y = np.array([x, v])
    k1 = slope(y)
    k2 = slope(y + h / 2 * k1)
    k3 = slope(y + h / 2 * k2)
    k4 = slope(y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


EXPLICIT = {"EXPLICIT_EULER": explicit_euler, "HEUN": heun, "RK4_MARTIN": reference.rk4_martin, "RK4": rk4}


def simplified(method, twin, x, v, h, earlier):
    """Mesit 2007, eq. 9 with 21 or 24; F holds the damping of eq. 12. Momentum is given back to each body.

    Returns x', v' and |dv|.
    """
    force = twin.force(x)
    damped, stiffness, pull = force.copy(), np.zeros(len(x)), np.zeros_like(x)
    for i, j, k in twin.neighbours():
        damped[i] += k * h * (v[j] - v[i])
        stiffness[i] += k
    for i, j, k in twin.neighbours():
        source = j if method == "IMPLICIT_KANG" else i
        pull[i] += k * earlier[source] * damped[source] / np.linalg.norm(damped[source])
    change = (damped * h + h * h * pull) / (twin.mass + h * h * stiffness[:, None])
    lack = h * force / twin.mass - change
    change = change + reference.rigid_velocities(x, lack, twin.mass[:, 0])
    return x + h * (v + change), v + change, np.linalg.norm(change, axis=1)


@pytest.fixture(scope="module", params=[0, 1], ids=["ball", "ring"])
def twin(request):
    return Twin(7, request.param)


def start(twin, seed=3):
    """Positions away from rest and velocities, fast enough that all terms matter in a step."""
    rng = np.random.default_rng(seed)
    return twin.scene.moved[twin.body], rng.normal(0, 0.5, twin.x.shape)


def started(world, x, v):
    state = world.save()
    points = world.model.point_of_vertex
    state.positions[points], state.velocities[points] = x, v
    world.load(state)
    return world


@pytest.mark.parametrize("method", EXPLICIT)
def test_a_step_is_the_paper_s(twin, method):
    h, (x, v) = 2e-4, start(twin)
    world = started(twin.world(method, h), x, v)
    world.advance_frame()
    x1, v1 = EXPLICIT[method](twin, x, v, h)
    validated(
        "positions after a step of an explicit integrator", room="papers", measured=world.positions(0), expected=x1,
        unit="m", abs=ROUNDING * h * np.abs(v1).max(), source="the paper's equations in plain numpy",
        reason="sums in another order; forces are differences of terms some hundred times as large",
    )  # fmt: skip
    validated(
        "velocities after a step of an explicit integrator", room="papers", measured=world.velocities(0), expected=v1,
        unit="m/s", abs=ROUNDING * np.abs(v1 - v).max(), source="the paper's equations in plain numpy",
        reason="sums in another order; forces are differences of terms some hundred times as large",
    )  # fmt: skip


@pytest.mark.parametrize("method", ["IMPLICIT_KANG", "IMPLICIT_MESIT"])
def test_two_simplified_steps_are_the_paper_s(twin, method):
    h, (x, v) = 2e-4, start(twin)
    world = started(twin.world(method, h), x, v)
    earlier = np.zeros(len(x))
    for _ in played(world, 2):
        x, v, earlier = simplified(method, twin, x, v, h, earlier)
    validated(
        "velocities after two simplified implicit steps", room="papers", measured=world.velocities(0), expected=v,
        unit="m/s", abs=1e-8 * np.abs(v).max(), source="Mesit 2007, eq. 9, 12, 21, 24 in plain numpy",
        reason="a billionth of the trace is added to the inertia of a body's rigid motion",
    )  # fmt: skip
    np.testing.assert_allclose(world.positions(0), x, rtol=0, atol=1e-8 * h * np.abs(v).max())


def test_the_simplified_jacobian_bounds_the_true_one(twin):
    """H_ii = -K_i is the trace of the springs' true block at rest, and no true eigenvalue lies below it elsewhere."""
    model = twin.world("RK4", 1e-3).model
    stiffness = stiffness_at_vertices(model.edges, model.vertex_count)[model.point_of_vertex]
    step = 1e-7

    def block(x, i):
        found = np.zeros((3, 3))
        for axis in range(3):
            ahead, behind = x.copy(), x.copy()
            ahead[i, axis] += step
            behind[i, axis] -= step
            difference = reference.stretch(ahead, *twin.springs)[1] - reference.stretch(behind, *twin.springs)[1]
            found[:, axis] = difference[i] / (2 * step)
        return found

    # central differences: rounding 1e-16 k l / step, truncation (step / l)^2 k
    for i in range(0, len(x := twin.x), 5):
        assert abs(np.trace(block(x, i)) / stiffness[i] + 1.0) < 1e-6
        assert np.linalg.eigvalsh(block(twin.scene.moved[twin.body], i)).min() > -stiffness[i] * (1.0 + 1e-6)


# --- order of convergence ------------------------------------------------------------------------------------------

SOFT = Ball(0.2, 0.2, 2e3, 2e3)


def ringing(method, substeps, time=0.02):
    """Positions of a ball under pressure that was let go slightly squashed, after a time [s]."""
    world = ball_world(SOFT, 1, floor=False, frame_rate=1.0 / time, substeps=substeps, solver=method)
    inflate(world, SOFT)
    x = world.positions(0)
    centre = x.mean(axis=0)
    world.set_positions(0, centre + (x - centre) * (1.0, 1.02, 0.98))
    world.advance_frame()
    return world.positions(0)


@pytest.fixture(scope="module")
def exact():
    """Fourth order, with 8 times the steps of the finest fourth-order run below: its error is 1/4096 of that one's."""
    return ringing("RK4", 4096)


#: Order, and steps in 0.02 s from which on it shows.
ORDERS = {
    "EXPLICIT_EULER": (1, 1024),
    "HEUN": (2, 512),
    "RK4_MARTIN": (1, 1024),
    "RK4": (4, 256),
    "IMPLICIT_KANG": (1, 1024),
    "IMPLICIT_MESIT": (1, 1024),
}


@pytest.mark.parametrize("method", FORCE_BASED)
def test_the_order_of_convergence(method, exact):
    order, count = ORDERS[method]
    coarse, fine = (np.sqrt(((ringing(method, n) - exact) ** 2).mean()) for n in (count, 2 * count))
    validated(
        "order of convergence of an integrator", room="papers", measured=np.log2(coarse / fine), expected=order,
        abs=0.1, source="order of the method",
        reason="the next power of the step: from 64 to 2048 steps the difference halves with the step",
    )  # fmt: skip


@pytest.mark.parametrize(("method", "expected"), [("EXPLICIT_EULER", 2.0), ("RK4", 8.0**0.5), ("RK4_MARTIN", 2.0)])
def test_the_stable_angle_is_the_textbook_s(method, expected):
    validated(
        "largest stable ω h", room="papers", measured=stable_angle(SCHEMES[method]), expected=expected, abs=0.006,
        source="2 (Euler, Martin); sqrt 8 (RK4)", reason="found in steps of 0.005",
    )  # fmt: skip


def test_heun_grows_as_its_fourth_power():
    # |R|^2 = 1 + z^4 / 4 on the imaginary axis, so |R| = 1 + GROWTH at z = (8 GROWTH)^(1/4)
    validated(
        "ω h at which Heun's method grows by 1e-4 per step", room="papers", measured=stable_angle(SCHEMES["HEUN"]),
        expected=(8e-4) ** 0.25, abs=0.006, source="|R|² = 1 + (ω h)⁴ / 4", reason="found in steps of 0.005",
    )  # fmt: skip
