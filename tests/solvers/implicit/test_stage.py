"""One time stage: the gradient of its whole energy, and its linear solver against a dense one."""

import numpy as np
import pytest
import reference
import shapes
from softpressure_ext.core import ModelBuilder
from softpressure_ext.core.bodies import assembly
from softpressure_ext.core.contact.broad_phase.search import ContactSearch
from softpressure_ext.core.contact.contacts import Contacts
from softpressure_ext.core.linear.conjugate_gradient import Scratch
from softpressure_ext.core.linear.direction import newton_direction
from softpressure_ext.core.solvers.implicit.preconditioner import precondition
from softpressure_ext.core.solvers.implicit.stage_energy import StageEnergy
from softpressure_ext.core.state import FrictionSprings, State

TAU = 1.2e-3
NO_POSES = np.zeros((0, 7))  # no rigid bodies
MODULUS, BEND, MASS, GAUGE = 2e4, 0.03, 0.2, 8e3


class PressedBalls:
    """Two balls pressed on each other and on a floor, slipping, bending, one vertex of each pinned."""

    def __init__(self, seed=0):
        rng = np.random.default_rng(seed)
        made = ModelBuilder()
        self.meshes = [shapes.icosphere(2, 0.1, (0, 0, 0.0996)), shapes.icosphere(2, 0.1, (0.11623, 0.02906, 0.25535))]
        for k, (x, triangles) in enumerate(self.meshes):
            made.add_membrane(
                f"ball {k}", x, triangles, mass=MASS, gauge_pressure=GAUGE, stretch_modulus=MODULUS,
                bend_modulus=BEND, thickness=1.5e-3, pinned=[7],
            )  # fmt: skip
        made.add_collider("floor", *shapes.grid(1.0, 4, -1e-3), thickness=1e-3)
        self.model = model = made.build()
        n = model.vertex_count
        self.state = State.at_rest(model)
        self.contacts = Contacts(n)
        self.energy = StageEnergy(model, self.contacts, TAU)
        self.scale = np.array([4e4, 6e4, 0.0])
        self.x = model.rest_positions.copy()
        self.x[:n] += rng.normal(0, 2e-5, (n, 3))
        start = model.rest_positions.copy()
        start[:n] += rng.normal(0, 2e-5, (n, 3))
        ContactSearch(model).search(self.x, np.full(3, 2e-3), self.contacts)
        # half of the lowest points hold a stretched friction spring from before
        low = np.argsort(self.x[:n, 2])[:6].astype(np.int32)
        stretch = rng.normal(0, 1e-5, (6, 3)) * [1, 1, 0]
        stuck = FrictionSprings(low, np.full(6, 2, np.int32), stretch, 0.0)
        self.energy.start(start)
        self.energy.update_contacts(self.x, stuck)
        self.energy.set_contact_scale(self.scale, np.zeros(3))
        self.energy.begin(self.x[:n] + rng.normal(0, 1e-4, (n, 3)), NO_POSES, self.state.gas, TAU)
        self.energy.evaluate(self.x, NO_POSES)
        self.energy.linearise(self.x)
        self.rng = rng

    def residual(self, x):
        r = np.zeros((self.model.vertex_count, 3))
        self.energy.residual(x, r)
        return r


@pytest.fixture
def balls(monkeypatch):
    monkeypatch.setattr(assembly, "CHUNK_SIZE", 50)
    return PressedBalls()


def test_the_scene_has_every_kind_of_contact(balls):
    pressed = balls.energy.normal_force[: balls.contacts.count] > 0.0
    bodies = balls.contacts.bodies[: balls.contacts.count][pressed]
    pairs = set(map(tuple, bodies.tolist()))
    assert {(0, 1), (1, 0)} <= pairs and (0, 2) in pairs and pressed.sum() >= 6


def test_residual_is_minus_the_gradient_of_the_whole_stage(balls):
    n, energy, x = balls.model.vertex_count, balls.energy, balls.x
    pressed = np.flatnonzero(energy.normal_force[: balls.contacts.count] > 0.0)
    touched = [p for p in np.unique(balls.contacts.points[pressed]) if p < n and not balls.model.pinned[p]]
    forces = balls.residual(x)
    assert (forces[balls.model.pinned] == 0.0).all()
    directions = []
    for _ in range(4):  # everything at once
        d = balls.rng.standard_normal((n, 3))
        d[balls.model.pinned] = 0.0
        directions.append(d)
    for point in touched:  # each vertex in contact alone, where contact and friction rule
        for axis in range(3):
            d = np.zeros((n, 3))
            d[point, axis] = 1.0
            directions.append(d)
    assert len(touched) >= 6
    for d in directions:
        along = np.zeros_like(x)
        along[:n] = d
        # 1e-9 m: the barrier bends by 1e-9 / 1e-3 per step; the energy of 200 J rounds to 1e-14 of itself
        h = 1e-9
        slope = (energy.evaluate(x + h * along, NO_POSES) - energy.evaluate(x - h * along, NO_POSES)) / (2 * h)
        assert slope == pytest.approx(-np.vdot(forces, d), rel=2e-4, abs=2e-4 * np.abs(forces * d).sum() + 3e-4)


def dense_hessian(balls):
    """The Hessian of the stage, assembled by the twins: inertia, springs, hinges, gas, contacts and friction."""
    model, energy = balls.model, balls.energy
    n, contacts = model.vertex_count, balls.contacts
    total, first = np.zeros((n, 3, n, 3)), 0
    for x, triangles in balls.meshes:
        place = model.point_of_vertex[first : first + len(x)]
        now = balls.x[place]
        _, _, one = reference.stretch(now, *reference.springs(x, triangles, MODULUS))
        one += reference.bend(now, *reference.hinges(x, triangles, BEND))[2]
        amount = (GAUGE + 101_325.0) * reference.volume(x, triangles)
        one += reference.gas(now, triangles, reference.volume(x, triangles), amount, 101_325.0)[2]
        one += reference.inertia(now, now, reference.vertex_masses(x, triangles, MASS), TAU)[2]
        for row, i in enumerate(place):
            total[i][:, place] = one[row]
        first += len(x)
    for c in range(contacts.count):
        kappa = balls.scale[contacts.bodies[c]].max()
        _, force, stiffness = reference.contact(contacts.gap[c], contacts.thickness[c], kappa)
        if force == 0.0:
            continue
        points, weights, normal = contacts.points[c], contacts.weights[c], contacts.normal[c]
        across = reference.tangent(normal)
        slip = across @ (energy._lag.stretch[c] + weights @ (balls.x - energy._start)[points])
        matrix = across @ reference.friction(slip, contacts.friction[c] * force, kappa)[2] @ across
        matrix += stiffness * np.outer(normal, normal)
        for a in range(4):
            for b in range(4):
                if points[a] < n and points[b] < n:
                    total[points[a], :, points[b]] += weights[a] * weights[b] * matrix
    return total.reshape(3 * n, 3 * n)


def test_conjugate_gradients_solve_the_assembled_system(balls):
    model, energy = balls.model, balls.energy
    n = model.vertex_count
    matrix = dense_hessian(balls)
    free = np.repeat(~model.pinned, 3)
    right = balls.residual(balls.x)
    expected = np.zeros(3 * n)
    expected[free] = np.linalg.solve(matrix[np.ix_(free, free)], right.ravel()[free])
    multigrid = precondition(model, energy.inertia)
    diagonal = np.zeros((n, 3))
    solution = np.zeros((n, 3))
    iterations = newton_direction(
        model.edges, model.hinges, model.chunks, energy.hessian, energy.acting, energy.acting_count,
        energy.contact_stretched, model.point_body, multigrid.levels, diagonal, right.copy(), Scratch.of(model),
        1e-10, np.zeros(model.moving_count), 400, solution, 0,
    )  # fmt: skip
    assert iterations < 400
    assert diagonal.max() > energy.inertia.max()  # contact matters in this system
    # the preconditioned residual has fallen by 1e-10; what it says of the error is worse by the root of the
    # preconditioned condition number, below 1e3
    np.testing.assert_allclose(solution.ravel(), expected, rtol=0, atol=1e-7 * np.abs(expected).max())


def test_conjugate_gradients_do_nothing_where_the_residual_is_small_enough(balls):
    model, energy = balls.model, balls.energy
    n = model.vertex_count
    multigrid = precondition(model, energy.inertia)
    scratch, solution = Scratch.of(model), np.ones((n, 3))
    iterations = newton_direction(
        model.edges, model.hinges, model.chunks, energy.hessian, energy.acting, energy.acting_count,
        energy.contact_stretched, model.point_body, multigrid.levels, np.zeros((n, 3)), balls.residual(balls.x),
        scratch, 0.1, np.full(model.moving_count, 1e300), 400, solution, 0,
    )  # fmt: skip
    assert iterations == 0 and (scratch.islands[0, 0] > 0.0) and (solution == 0.0).all()
