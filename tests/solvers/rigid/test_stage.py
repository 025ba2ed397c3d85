"""One time stage with rigid bodies: their inertia, the whole gradient, the Hessian and the linear solver."""

import numpy as np
import pytest
import reference
import rigid_reference
from rigid_scene import BEND, GAUGE, MASS, MODULUS, TAU, Pile
from softpressure_ext.core.bodies import assembly
from softpressure_ext.core.energy.rigid_inertia import evaluate_rigid_inertia
from softpressure_ext.core.linear.conjugate_gradient import Scratch, join_islands, multiply
from softpressure_ext.core.linear.direction import newton_direction
from softpressure_ext.core.linear.rigid_blocks import solve_blocks
from softpressure_ext.core.solvers.implicit.preconditioner import precondition
from softpressure_ext.core.solvers.implicit.stage_energy import RIGID_CONTACT, RIGID_RELAXATION

#: Kernel and twin do the same sums in another order.
ROUNDING = 1e-11


@pytest.fixture
def pile(monkeypatch):
    monkeypatch.setattr(assembly, "CHUNK_SIZE", 50)
    return Pile()


# --- inertia -------------------------------------------------------------------------------------------------


def inertia_case(turn, count=6):
    """Bodies turned from their targets by about `turn` [rad]."""
    rng = np.random.default_rng(4)
    mass, moment = rigid_reference.random_moments(rng, count)
    target = rigid_reference.random_poses(rng, count)
    axes = rng.standard_normal((count, 3))
    axes *= turn / np.linalg.norm(axes, axis=1)[:, None]
    steps = np.stack([rng.normal(0, 0.02, (count, 3)), axes], axis=1)
    poses = np.array([rigid_reference.moved(pose, step) for pose, step in zip(target, steps, strict=True)])
    return poses, target, mass, moment


def inertia_of(poses, target, mass, moment):
    force = np.full((2 * len(poses), 3), np.nan)
    return evaluate_rigid_inertia(poses, target, mass, moment, 0.01, force), force


@pytest.mark.parametrize("turn", [0.0, 1e-6, 0.3, 2.0, 3.1])
def test_inertia_is_that_of_mass_points(turn):
    poses, target, mass, moment = inertia_case(turn)
    energy, force = inertia_of(poses, target, mass, moment)
    total = 0.0
    for body in range(len(poses)):
        points = rigid_reference.cloud(mass[body], moment[body])
        expected = rigid_reference.cloud_inertia(points, mass[body], poses[body], target[body], 0.01)
        total += expected[0]
        np.testing.assert_allclose(force[2 * body], expected[1], rtol=0, atol=ROUNDING * np.abs(force).max())
        np.testing.assert_allclose(force[2 * body + 1], expected[2], rtol=0, atol=ROUNDING * np.abs(force).max())
    assert energy == pytest.approx(total, rel=ROUNDING)


@pytest.mark.parametrize("turn", [0.01, 1.0, 3.0])
def test_inertial_forces_are_minus_the_gradient(turn):
    poses, target, mass, moment = inertia_case(turn, 1)
    _, force = inertia_of(poses, target, mass, moment)
    h = 1e-5
    for row in range(2):
        for axis in range(3):
            step = np.zeros((2, 3))
            step[row, axis] = h
            sides = [inertia_of(rigid_reference.moved(poses[0], s * step)[None], target, mass, moment) for s in (1, -1)]
            # central differences: h^2 of the third derivative, and rounding 1e-16 / h of the energy
            slope = (sides[0][0] - sides[1][0]) / (2.0 * h)
            assert slope == pytest.approx(-force[row, axis], abs=1e-8 * np.abs(force).max())


def test_the_inertial_hessian_at_the_target_is_the_inertia():
    poses, _, mass, moment = inertia_case(0.0, 1)
    h = 1e-4
    turn = rigid_reference.matrix(poses[0])
    tensor = turn @ (np.trace(moment[0]) * np.eye(3) - moment[0]) @ turn.T / 0.01**2
    for axis in range(3):
        step = np.zeros((2, 3))
        step[1, axis] = h
        _, force = inertia_of(rigid_reference.moved(poses[0], step)[None], poses, mass, moment)
        np.testing.assert_allclose(-force[1] / h, tensor[:, axis], rtol=0, atol=1e-3 * tensor.max())  # h times a third


def test_a_body_at_its_target_has_no_inertia_to_the_last_digit():
    poses, _, mass, moment = inertia_case(1.0)
    energy, force = inertia_of(poses, poses.copy(), mass, moment)
    assert energy == 0.0 and (force == 0.0).all()


# --- the whole stage -----------------------------------------------------------------------------------------


def test_the_scene_has_every_kind_of_contact(pile):
    pressed = pile.energy.normal_force[: pile.contacts.count] > 0.0
    pairs = set(map(tuple, pile.contacts.bodies[: pile.contacts.count][pressed].tolist()))
    # ball on floor and box; box corners on the ball, on a box and on the floor
    assert {(0, 4), (0, 1), (3, 0), (2, 1), (1, 4)} <= pairs


def test_residual_is_minus_the_gradient_of_the_whole_stage(pile):
    n, energy, model = pile.model.vertex_count, pile.energy, pile.model
    forces = pile.residual()
    assert (forces[:n][model.pinned] == 0.0).all()
    directions = []
    for _ in range(6):
        d = pile.rng.standard_normal(forces.shape)
        d[:n][model.pinned] = 0.0
        directions.append(d)
    for row in range(n, model.unknown_count):
        for axis in range(3):
            d = np.zeros_like(forces)
            d[row, axis] = 1.0
            directions.append(d)
    for d in directions:
        # 1e-9 m or rad: the barrier bends by 1e-9 / 1e-3 per step; the energy of 200 J rounds to 1e-14 of itself
        h = 1e-9
        slope = (energy.evaluate(*pile.at(d, h)) - energy.evaluate(*pile.at(d, -h))) / (2 * h)
        assert slope == pytest.approx(-np.vdot(forces, d), abs=2e-4 * np.abs(forces * d).sum() + 3e-4)
    assert (np.abs(forces[n:]).max(axis=1) > 0.1).all()


def dense_hessian(pile):
    """Assembled by the twins: inertia, springs, hinges and gas of the ball, solids, contacts and friction."""
    model, energy, contacts = pile.model, pile.energy, pile.contacts
    n, (x, triangles) = model.vertex_count, pile.mesh
    now = pile.x[model.point_of_vertex[:n]]
    _, _, one = reference.stretch(now, *reference.springs(x, triangles, MODULUS))
    one += reference.bend(now, *reference.hinges(x, triangles, BEND))[2]
    volume = reference.volume(x, triangles)
    one += reference.gas(now, triangles, volume, (GAUGE + 101_325.0) * volume, 101_325.0)[2]
    one += reference.inertia(now, now, reference.vertex_masses(x, triangles, MASS), TAU)[2]
    total = np.zeros((model.unknown_count, 3, model.unknown_count, 3))
    place = model.point_of_vertex[:n]
    for row, i in enumerate(place):
        total[i][:, place] = one[row]
    for body, turned in enumerate(np.linalg.inv(pile.turned_inverse())):
        row = n + 2 * body
        total[row, :, row] = model.rigid.mass[body] / TAU**2 * np.eye(3)
        total[row + 1, :, row + 1] = turned / TAU**2
    total = total.reshape(3 * model.unknown_count, -1)
    arm = pile.x[n : model.moving_point_count] - pile.poses[model.point_body[n : model.moving_point_count] - 1, :3]
    for c in range(contacts.count):
        first, second = (pile.body_scale[body] for body in contacts.bodies[c])
        # a skin's stiffness where there is one, else a share of the lesser
        solid = 0 not in contacts.bodies[c]
        kappa = RIGID_CONTACT * min(first, second) if solid else pile.body_scale[0]
        kappa *= contacts.contact_weight[c]
        _, force, stiffness = reference.contact(contacts.gap[c], contacts.thickness[c], kappa)
        if force == 0.0:
            continue
        points, weights, normal = contacts.points[c], contacts.weights[c], contacts.normal[c]
        across = reference.tangent(normal)
        slip = across @ (energy._lag.stretch[c] + weights @ (pile.x - energy._start)[points])
        matrix = across @ reference.friction(slip, contacts.friction[c] * force, kappa)[2] @ across
        if solid:
            parting = np.array([normal @ (weights @ (pile.x - energy._start)[points])])
            stiffness += reference.friction(parting, force, RIGID_RELAXATION / TAU * stiffness)[2][0, 0]
        matrix += stiffness * np.outer(normal, normal)
        j = rigid_reference.jacobian(model, arm, points, weights)
        total += j.T @ matrix @ j
    free = np.repeat(np.concatenate([~model.pinned, np.ones(2 * model.rigid_count, bool)]), 3)
    return total, free


def prepared(pile):
    scratch = Scratch.of(pile.model)
    pile.energy.rigid_blocks(scratch.blocks)
    join_islands(
        pile.energy.acting_count,
        pile.energy.acting.points,
        pile.model.point_body,
        scratch.island,
        np.zeros(pile.model.moving_count),
    )
    return scratch


def test_hessian_products_equal_the_assembled_matrix(pile):
    model, energy, scratch = pile.model, pile.energy, prepared(pile)
    n, (matrix, free) = model.vertex_count, dense_hessian(pile)
    np.testing.assert_allclose(matrix, matrix.T, rtol=0, atol=1e-9 * np.abs(matrix).max())
    for _ in range(5):
        p = pile.rng.standard_normal((model.unknown_count, 3))
        p[:n][model.pinned] = 0.0
        curvature = np.zeros(model.moving_count)
        multiply(
            model.edges, model.hinges, model.chunks, energy.hessian, energy.acting, energy.acting_count, p,
            energy.contact_stretched, scratch.pulled, scratch.product, scratch.sums, scratch.gas,
            scratch.island, curvature, scratch.team,
        )  # fmt: skip
        found = scratch.product.copy()
        found[:n] += np.where(model.pinned[:, None], 0.0, scratch.gas[0] * energy.hessian.volume_gradient)
        expected = np.where(free, matrix @ p.ravel(), 0.0)
        # rows of forces and of torques each to their own size
        parts = (slice(0, 3 * n), slice(3 * n, None, 1))
        for part in parts:
            np.testing.assert_allclose(
                found.ravel()[part], expected[part], rtol=0, atol=ROUNDING * np.abs(expected[part]).max()
            )  # fmt: skip
        assert curvature.sum() == pytest.approx(p.ravel() @ expected, rel=ROUNDING)


def test_blocks_are_those_of_the_hessian(pile):
    model, scratch = pile.model, prepared(pile)
    matrix, _ = dense_hessian(pile)
    right, z = pile.rng.standard_normal((2, model.unknown_count, 3))
    solve_blocks(scratch.blocks, right, z)
    for body in range(model.rigid_count):
        part = slice(3 * (model.vertex_count + 2 * body), 3 * (model.vertex_count + 2 * body) + 6)
        factor = np.tril(scratch.blocks[body])
        expected = matrix[part, part]
        np.testing.assert_allclose(factor @ factor.T, expected, rtol=0, atol=ROUNDING * np.abs(expected).max())
        exact = np.linalg.solve(expected, right.ravel()[part])
        # a condition number of up to 1e4: masses against torques of arms of 0.1 m
        np.testing.assert_allclose(z.ravel()[part], exact, rtol=0, atol=1e-10 * np.abs(exact).max())


def test_conjugate_gradients_solve_the_assembled_system(pile):
    model, energy, scratch = pile.model, pile.energy, prepared(pile)
    matrix, free = dense_hessian(pile)
    right = pile.residual()
    expected = np.zeros(len(matrix))
    expected[free] = np.linalg.solve(matrix[np.ix_(free, free)], right.ravel()[free])
    multigrid = precondition(model, energy.inertia)
    diagonal = np.zeros((model.vertex_count, 3))
    solution = np.zeros((model.unknown_count, 3))
    iterations = newton_direction(
        model.edges, model.hinges, model.chunks, energy.hessian, energy.acting, energy.acting_count,
        energy.contact_stretched, model.point_body, multigrid.levels, diagonal, right.copy(), scratch,
        1e-10, np.zeros(model.moving_count), 400, solution, 0,
    )  # fmt: skip
    assert iterations < 100
    assert diagonal.max() > energy.inertia.max()  # contact matters in this system
    # the preconditioned residual has fallen by 1e-10; what it says of the error is worse by the root of the
    # preconditioned condition number, below 1e3
    np.testing.assert_allclose(solution.ravel(), expected, rtol=0, atol=1e-7 * np.abs(expected).max())
