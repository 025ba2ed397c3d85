"""Contacts of XPBD: what counts as passed through, and the projection of positions and velocities."""

import numpy as np
import pytest
from softpressure_ext.core.collide.contacts import EDGE_EDGE, POINT_TRIANGLE
from softpressure_ext.core.collide.mobility import Mobility
from softpressure_ext.core.solvers.xpbd.contacts import project_attachments, project_contacts, project_velocities
from softpressure_ext.core.solvers.xpbd.swept import NEVER, find_crossed

TIME = 1 / 480


def crossing(before, after, kind):
    """Time of crossing, weights, normal and gap of one row of four points."""
    points = np.arange(4, dtype=np.int32)[None]
    weights, normal, gap, crossed = np.zeros((1, 4)), np.zeros((1, 3)), np.full(1, np.inf), np.zeros(1)
    find_crossed(
        before, after, 1, np.zeros(1, np.int32), points, np.array([kind], np.int8), np.ones(1, np.int8),
        np.zeros((1, 2), np.int32), np.zeros(1), np.zeros(1), 1.0, weights, normal, gap, crossed,
    )  # fmt: skip
    return crossed[0], weights[0], normal[0], gap[0]


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("seed", range(5))
def test_a_point_that_passes_through_a_moving_triangle_is_found(seed, sign):
    """At the time t it is at known shares of the triangle; before and after it is on opposite sides."""
    rng = np.random.default_rng(seed)
    corners = rng.normal(0.0, 1.0, (3, 3))
    shares = rng.dirichlet((3.0, 3.0, 3.0))
    drift = rng.normal(0.0, 1.0, 3)
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    normal *= sign / np.linalg.norm(normal)
    spot, t = shares @ corners, 0.3
    before = np.vstack([spot + t * 2.0 * normal, corners])
    after = np.vstack([spot - (1.0 - t) * 2.0 * normal + drift, corners + drift])
    crossed, weights, found, gap = crossing(before, after, POINT_TRIANGLE)
    assert crossed == pytest.approx(t, abs=1e-12)
    np.testing.assert_allclose(weights, [1.0, *-shares], atol=1e-12)
    np.testing.assert_allclose(found, normal, atol=1e-12)  # to where it came from
    assert gap == pytest.approx(-(1.0 - t) * 2.0, abs=1e-12)


def test_a_point_that_passes_beside_a_triangle_is_not():
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    for spot in ([0.6, 0.6, 0.0], [-0.1, 0.5, 0.0], [0.5, -0.1, 0.0]):
        before, after = np.vstack([np.add(spot, [0, 0, 1]), corners]), np.vstack([np.add(spot, [0, 0, -1]), corners])
        assert crossing(before, after, POINT_TRIANGLE)[0] == NEVER
    near = np.vstack([[0.2, 0.2, 1.0], corners]), np.vstack([[0.2, 0.2, 1e-9], corners])
    assert crossing(*near, POINT_TRIANGLE)[0] == NEVER  # it has come close, no more


def test_edges_that_pass_through_each_other_are_found():
    edge, other = np.array([[-1.0, 0.0, 0.5], [1.0, 0.2, 0.5]]), np.array([[0.0, -1.0, 0.0], [0.3, 1.0, 0.0]])
    crossed, weights, normal, gap = crossing(
        np.vstack([edge, other]), np.vstack([edge - [0, 0, 0.8], other]), EDGE_EDGE
    )
    assert crossed == pytest.approx(0.625, abs=2.0**-12)
    np.testing.assert_allclose(normal, [0.0, 0.0, 1.0], atol=1e-12)
    assert gap == pytest.approx(-0.3, abs=1e-12)
    np.testing.assert_allclose(weights[:2] @ edge[:, :2], -(weights[2:] @ other[:, :2]), atol=1e-12)
    beside = edge + [3.0, 0.0, 0.0]
    assert crossing(np.vstack([beside, other]), np.vstack([beside - [0, 0, 0.8], other]), EDGE_EDGE)[0] == NEVER


class Rows:
    """Random contacts between eight soft vertices, two rigid bodies of six points each and four given points."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.soft, self.solid = 8, 12
        self.x = rng.normal(0.0, 1.0, (self.soft + self.solid + 4, 3))
        self.owner = np.repeat([0, 1], 6)
        self.centre = np.array([self.x[8:14].mean(axis=0), self.x[14:20].mean(axis=0)])
        self.mass = np.array([0.5, 3.0])
        tensors = rng.normal(0.0, 1.0, (2, 3, 3))
        self.inverse_inertia = np.einsum("bij,bkj->bik", tensors, tensors) + 0.1 * np.eye(3)
        inverse_mass = 1.0 / rng.uniform(0.01, 0.1, self.soft)
        inverse_mass[3] = 0.0
        self.mobility = Mobility(
            inverse_mass, (self.soft + 2 * self.owner).astype(np.int32),
            self.x[8:20] - self.centre[self.owner], 1.0 / self.mass, self.inverse_inertia,
        )  # fmt: skip
        # soft against soft, soft against solid, solid against solid, solid against given
        self.points = np.array([[0, 4, 5, 6], [1, 8, 9, 10], [11, 14, 15, 16], [17, 20, 21, 22]], np.int32)
        shares = rng.dirichlet((2.0, 2.0, 2.0), 4)
        self.weights = np.column_stack([np.ones(4), -shares])
        self.normal = rng.normal(0.0, 1.0, (4, 3))
        self.normal /= np.linalg.norm(self.normal, axis=1)[:, None]
        self.before = self.x + rng.normal(0.0, 1e-3, self.x.shape)
        self.depth = rng.uniform(-2e-4, 1e-3, 4)
        self.friction = np.array([0.3, 0.0, 0.6, 5.0])

    def inverse_masses(self):
        """Block diagonal, unknowns x unknowns."""
        size = self.soft + 4
        matrix = np.zeros((size, 3, size, 3))
        for i in range(self.soft):
            matrix[i, :, i] = self.mobility.inverse_mass[i] * np.eye(3)
        for body in range(2):
            matrix[self.soft + 2 * body, :, self.soft + 2 * body] = np.eye(3) / self.mass[body]
            matrix[self.soft + 2 * body + 1, :, self.soft + 2 * body + 1] = self.inverse_inertia[body]
        return matrix.reshape(3 * size, 3 * size)


def jacobian_of(rows, row):
    """How a row's two sides move apart, shape (3, unknowns): u + t x r of every rigid point, unknown by unknown."""
    size = rows.soft + 4
    result = np.zeros((3, 3 * size))
    for unknown, axis in np.ndindex(size, 3):
        unit = np.eye(3)[axis]
        for i, w in zip(rows.points[row], rows.weights[row], strict=True):
            if i < rows.soft:
                moved = unit if unknown == i else np.zeros(3)
            elif i < rows.soft + rows.solid:
                body = rows.owner[i - rows.soft]
                if unknown == rows.soft + 2 * body:
                    moved = unit
                elif unknown == rows.soft + 2 * body + 1:
                    moved = np.cross(unit, rows.x[i] - rows.centre[body])
                else:
                    continue
            else:
                continue
            result[:, 3 * unknown + axis] += w * moved
    return result


def projected_by_hand(rows, sweeps):
    """Gauss-Seidel with dense matrices; returns step, lambda, j."""
    inverse, size = rows.inverse_masses(), 3 * (rows.soft + 4)
    step, pressed, held = np.zeros(size), np.zeros(4), np.zeros((4, 3))
    slip0 = [rows.weights[c] @ (rows.x - rows.before)[rows.points[c]] for c in range(4)]
    for _ in range(sweeps):
        for c in range(4):
            j, n = jacobian_of(rows, c), rows.normal[c]
            give = j @ inverse @ j.T
            reached = max(pressed[c] + (rows.depth[c] - n @ j @ step) / (n @ give @ n), 0.0)
            step += inverse @ j.T @ n * (reached - pressed[c])
            pressed[c] = reached
            u = slip0[c] + j @ step
            u = u - n * (n @ u)
            t = u / np.linalg.norm(u)
            wanted = held[c] - u / (t @ give @ t)
            most = rows.friction[c] * reached
            wanted *= min(1.0, most / np.linalg.norm(wanted))
            step += inverse @ j.T @ (wanted - held[c])
            held[c] = wanted
    return step.reshape(-1, 3), pressed, held


@pytest.mark.parametrize("seed", range(4))
def test_contacts_equal_plain_numpy_and_obey_coulomb(seed):
    rows = Rows(seed)
    step, pressed, held = np.zeros((rows.soft + 4, 3)), np.zeros(4), np.zeros((4, 3))
    project_contacts(
        4, np.arange(4, dtype=np.int32), rows.depth, rows.points, rows.weights, rows.normal, rows.friction,
        rows.before, rows.x, rows.mobility, 3, step, pressed, held,
    )  # fmt: skip
    expected = projected_by_hand(rows, 3)
    assert (pressed > 0.0).any()
    np.testing.assert_allclose(step, expected[0], rtol=0.0, atol=1e-12 * np.abs(expected[0]).max())
    np.testing.assert_allclose(pressed, expected[1], rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(held, expected[2], rtol=1e-9, atol=1e-15)
    assert (np.linalg.norm(held, axis=1) <= rows.friction * pressed * (1.0 + 1e-12)).all()
    # what one side gets the other loses: of the soft vertices and solids together
    inverse_mass = rows.mobility.inverse_mass
    free = inverse_mass > 0.0
    gained = (step[:8][free] / inverse_mass[free, None]).sum(axis=0) + rows.mass @ step[8::2]
    outside = pressed[3] * rows.normal[3] + held[3]  # what the given points give
    np.testing.assert_allclose(gained, outside, atol=1e-14)


@pytest.mark.parametrize("bounciness", [0.0, 0.5, 1.0])
def test_two_solids_part_with_their_bounciness(bounciness):
    rows = Rows(7)
    rows.friction[:] = 0.0
    row, n = np.array([2], np.int32), rows.normal[2]
    velocity = np.random.default_rng(2).normal(0.0, 1.0, (rows.soft + 4, 3))
    jacobian = jacobian_of(rows, 2)
    met = n @ jacobian @ velocity.ravel()
    if met > 0.0:
        velocity, met = -velocity, -met
    earlier = velocity.copy()
    pressed, held = np.array([1.0]), np.zeros((1, 3))
    momentum = rows.mass @ velocity[8::2]
    project_velocities(
        1, row, rows.points, np.array([[0, 0], [0, 1], [1, 2], [2, 3]]), rows.weights, rows.normal, rows.friction,
        np.array([1.0, bounciness, bounciness, 1.0]), 0.1 * abs(met), np.zeros_like(rows.x), rows.mobility, TIME, 2,
        earlier, velocity, pressed, held,
    )  # fmt: skip
    assert n @ jacobian @ velocity.ravel() == pytest.approx(-bounciness * met, abs=1e-12)
    np.testing.assert_allclose(rows.mass @ velocity[8::2], momentum, atol=1e-12)


def test_an_attachment_gives_way_as_its_compliance_says():
    rows = Rows(5)
    k, offset = 300.0, np.array([[0.1, -0.2, 0.3]])
    step = np.zeros((rows.soft + 4, 3))
    jacobian, inverse = jacobian_of(rows, 1), rows.inverse_masses()
    d = rows.weights[1] @ rows.x[rows.points[1]] - offset[0]
    unit = d / np.linalg.norm(d)
    impulse = -np.linalg.norm(d) / (unit @ jacobian @ inverse @ jacobian.T @ unit + 1.0 / (k * TIME**2))
    project_attachments(rows.points[1:2], rows.weights[1:2], offset, np.array([k]), TIME, rows.x, rows.mobility, step)
    np.testing.assert_allclose(step.ravel(), inverse @ jacobian.T @ unit * impulse, rtol=1e-10, atol=1e-14)
