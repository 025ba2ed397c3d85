"""The multigrid preconditioner against independent systems assembled with scipy."""

import numpy as np
import pytest
from numba import set_num_threads

sparse = pytest.importorskip("scipy.sparse")
linalg = pytest.importorskip("scipy.sparse.linalg")

from softpressure_ext.core.linear.multigrid import Multigrid, apply_multigrid, set_extra_diagonal  # noqa: E402

TIME_STEP = 1.0 / 240.0


# --- meshes and matrices, written without the code under test


def icosphere(subdivisions):
    """Unit sphere: points (n, 3), triangles (m, 3); neighbours close in numbering (sorted along a 3D Z-curve)."""
    g = (1 + 5**0.5) / 2
    corners = "-1 g 0 1 g 0 -1 -g 0 1 -g 0 0 -1 g 0 1 g 0 -1 -g 0 1 -g g 0 -1 g 0 1 -g 0 -1 -g 0 1"
    points = np.array([float(word.replace("g", str(g))) for word in corners.split()]).reshape(-1, 3)
    points /= np.linalg.norm(points[0])
    faces = "0 11 5 0 5 1 0 1 7 0 7 10 0 10 11 1 5 9 5 11 4 11 10 2 10 7 6 7 1 8 "
    faces += "3 9 4 3 4 2 3 2 6 3 6 8 3 8 9 4 9 5 2 4 11 6 2 10 8 6 7 9 8 1"
    triangles = np.array(faces.split(), int).reshape(-1, 3)
    for _ in range(subdivisions):
        sides = np.sort(np.vstack([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
        unique, number = np.unique(sides, axis=0, return_inverse=True)
        middle = points[unique].sum(1)
        x, y, z = number.reshape(3, -1) + len(points)
        points = np.vstack([points, middle / np.linalg.norm(middle, axis=1)[:, None]])
        a, b, c = triangles.T
        triangles = np.vstack([np.c_[a, x, z], np.c_[b, y, x], np.c_[c, z, y], np.c_[x, y, z]])
    cell = ((points + 1) * 511).astype(np.int64)
    key = sum(((cell[:, axis] >> bit) & 1) << (3 * bit + axis) for bit in range(10) for axis in range(3))
    order = np.argsort(key, kind="stable")
    new = np.empty(len(points), int)
    new[order] = np.arange(len(points))
    return points[order], new[triangles]


def mesh_edges(triangles):
    sides = np.vstack([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    return np.unique(np.sort(sides, axis=1), axis=0)


class Problem:
    """Scalar matrix `diag(diagonal) + Laplacian(weight)` over edges, as scipy matrix and as the code's input."""

    def __init__(self, vertex_count, edges, weight, diagonal, pinned=()):
        self.vertex_count = vertex_count
        self.diagonal = np.broadcast_to(np.asarray(diagonal, float), vertex_count).copy()
        self.pinned = np.zeros(vertex_count, bool)
        self.pinned[list(pinned)] = True
        i, j = edges.T
        self.adjacency = sparse.csr_matrix(
            (np.r_[weight, weight], (np.r_[i, j], np.r_[j, i])), (vertex_count, vertex_count)
        )
        self.matrix = sparse.diags(self.diagonal + np.asarray(self.adjacency.sum(1)).ravel()) - self.adjacency

    def build(self, chunk_rows=512):
        n = self.vertex_count
        return Multigrid.build(
            self.adjacency.indptr.astype(np.int32),
            self.adjacency.indices.astype(np.int32),
            self.adjacency.data,
            self.diagonal,
            self.pinned,
            np.r_[np.arange(0, n, chunk_rows), n].astype(np.int32),
        ).levels

    def free_matrix(self, extra=None):
        """3 n x 3 n matrix with pinned rows and columns removed, and the free unknowns."""
        full = sparse.kron(self.matrix, sparse.eye(3)).tocsr()
        if extra is not None:
            full = full + sparse.diags(extra.ravel())
        free = np.flatnonzero(~np.repeat(self.pinned, 3))
        return full[free][:, free].tocsr(), free


def apply(levels, residual):
    z = np.full(residual.shape, np.nan)
    apply_multigrid(levels, residual, z)
    return z


def preconditioner(levels, vertex_count, free=None):
    free = np.arange(3 * vertex_count) if free is None else free

    def multiply(residual):
        full = np.zeros(3 * vertex_count)
        full[free] = residual
        return apply(levels, full.reshape(-1, 3)).ravel()[free]

    return multiply


def conjugate_gradients(multiply, right, precondition, tolerance, limit=2000):
    """Iterations until sqrt(r . B r) has fallen by `tolerance`, and the solution."""
    solution, residual = np.zeros_like(right), right.copy()
    z = precondition(residual)
    direction, rz = z.copy(), residual @ z
    target = tolerance**2 * rz
    for iteration in range(1, limit + 1):
        product = multiply(direction)
        alpha = rz / (direction @ product)
        solution += alpha * direction
        residual -= alpha * product
        z = precondition(residual)
        rz, old = residual @ z, rz
        if rz < target:
            return iteration, solution
        direction = z + rz / old * direction
    return limit + 1, solution


def pressurised_ball(subdivisions):
    """Newton system of a basketball under 55 kPa: scalar problem, matrix product, push on its lowest points."""
    radius, mass, gauge, modulus, stretch = 0.12, 0.6, 55e3, 1e5, 1.019
    points, triangles = icosphere(subdivisions)
    points *= radius
    n = len(points)
    edges = mesh_edges(triangles)
    i, j = edges.T
    number = {(a, b): k for k, (a, b) in enumerate(edges.tolist())}
    area = 0.5 * np.linalg.norm(
        np.cross(points[triangles[:, 1]] - points[triangles[:, 0]], points[triangles[:, 2]] - points[triangles[:, 0]]),
        axis=1,
    )
    edge_area = np.zeros(len(edges))
    for a, b, c, s in zip(*triangles.T.tolist(), area, strict=True):
        for u, v in ((a, b), (b, c), (c, a)):
            edge_area[number[min(u, v), max(u, v)]] += s
    rest = np.linalg.norm(points[i] - points[j], axis=1)
    stiffness = modulus * edge_area / rest**2
    volume = np.einsum("ij,ij", points[triangles[:, 0]], np.cross(points[triangles[:, 1]], points[triangles[:, 2]])) / 6
    points *= stretch
    along = (points[i] - points[j]) / (stretch * rest)[:, None]
    tension = stiffness * (1 - 1 / stretch)
    block = (stiffness - tension)[:, None, None] * along[:, :, None] * along[:, None, :]
    block += tension[:, None, None] * np.eye(3)
    incidence = sparse.kron(
        sparse.csr_matrix((np.r_[np.ones(len(i)), -np.ones(len(i))], (np.r_[: len(i), : len(i)], np.r_[i, j]))),
        sparse.eye(3),
    ).tocsr()
    inertia = mass / n / TIME_STEP**2
    elastic = incidence.T @ sparse.block_diag(list(block)).tocsr() @ incidence + inertia * sparse.eye(3 * n)
    gradient = np.zeros((n, 3))
    for corner in range(3):
        b, c = points[triangles[:, (corner + 1) % 3]], points[triangles[:, (corner + 2) % 3]]
        np.add.at(gradient, triangles[:, corner], np.cross(b, c) / 6)
    gradient = gradient.ravel()
    gas = (gauge + 101325.0) * volume / (volume * stretch**3) ** 2
    elastic = elastic.tocsr()
    push = np.zeros((n, 3))
    push[np.argsort(points[:, 2])[: max(6, n // 50)], 2] = 1.0
    scalar = Problem(n, edges, 0.5 * stiffness, inertia)
    return scalar, lambda p: elastic @ p + gas * gradient * (gradient @ p), push.ravel()


@pytest.fixture(scope="module")
def balls():
    return {subdivisions: pressurised_ball(subdivisions) for subdivisions in (3, 4, 5)}


def uneven_problem(seed=3, subdivisions=4):
    """A mesh whose edge weights are scattered over four orders of magnitude."""
    points, triangles = icosphere(subdivisions)
    edges = mesh_edges(triangles)
    weight = 10 ** np.random.default_rng(seed).uniform(0, 4, len(edges))
    return Problem(len(points), edges, weight, 0.1)


def merged(problems):
    """Disconnected bodies in one matrix."""
    edges, weights, first = [], [], 0
    for problem in problems:
        upper = sparse.triu(problem.adjacency).tocoo()
        edges.append(np.c_[upper.row, upper.col] + first)
        weights.append(upper.data)
        first += problem.vertex_count
    diagonal = np.concatenate([p.diagonal for p in problems])
    return Problem(first, np.vstack(edges), np.concatenate(weights), diagonal)


# --- the operator


@pytest.mark.parametrize("subdivisions", [0, 2, 5])
def test_operator_is_symmetric_and_positive(subdivisions):
    points, triangles = icosphere(subdivisions)
    edges = mesh_edges(triangles)
    rng = np.random.default_rng(subdivisions)
    problem = Problem(len(points), edges, 1e4 * rng.uniform(0.5, 2.0, len(edges)), 3.0, pinned=[0, 5])
    levels = problem.build()
    extra = np.zeros((len(points), 3))
    extra[3:9, 2] = 1e6
    for given in (np.zeros_like(extra), extra):
        set_extra_diagonal(levels, given)
        vectors = rng.standard_normal((6, len(points), 3))
        vectors[5] = 1.0
        vectors[:, problem.pinned] = 0.0
        images = np.array([apply(levels, v) for v in vectors])
        products = np.einsum("anc,bnc->ab", vectors, images)
        size = np.sqrt(np.outer(products.diagonal(), products.diagonal()))
        assert (products.diagonal() > 0).all()
        # float32 storage: one ulp is 6e-8, the sums have a few hundred terms of either sign
        np.testing.assert_allclose(products / size, products.T / size, atol=2e-6)


def test_smallest_eigenvalue_is_positive_with_stiff_contacts():
    problem = uneven_problem(subdivisions=2)
    n = problem.vertex_count
    levels = problem.build()
    extra = np.zeros((n, 3))
    extra[:20] = 1e6
    set_extra_diagonal(levels, extra)
    dense = np.array([apply(levels, unit.reshape(n, 3)).ravel() for unit in np.eye(3 * n)])
    scale = 1 / np.sqrt(dense.diagonal())
    assert np.linalg.eigvalsh(0.5 * (dense + dense.T) * scale * scale[:, None])[0] > 1e-5


def test_operator_is_linear_and_has_no_memory():
    problem = uneven_problem()
    levels = problem.build()
    a, b = np.random.default_rng(0).standard_normal((2, problem.vertex_count, 3))
    first = apply(levels, a)
    second = apply(levels, b)
    assert (apply(levels, a) == first).all()
    together = apply(levels, 2.0 * a - b)
    assert np.abs(together - (2.0 * first - second)).max() < 1e-5 * np.abs(together).max()


def test_pinned_rows_stay_zero_and_others_do_not_feel_them():
    points, triangles = icosphere(4)
    edges = mesh_edges(triangles)
    pinned = np.flatnonzero(points[:, 2] > 0.8)
    problem = Problem(len(points), edges, np.full(len(edges), 1e4), 3.0, pinned)
    levels = problem.build()
    residual = np.random.default_rng(1).standard_normal((len(points), 3))
    z = apply(levels, residual)
    assert (z[pinned] == 0).all() and (z[~problem.pinned] != 0).all()
    residual[pinned] = 1e9
    assert (apply(levels, residual) == z).all()


def test_everything_pinned_gives_zero():
    points, triangles = icosphere(1)
    edges = mesh_edges(triangles)
    problem = Problem(len(points), edges, np.full(len(edges), 1e4), 3.0, range(len(points)))
    assert (apply(problem.build(), np.ones((len(points), 3))) == 0).all()


def test_vertices_without_springs_are_divided_by_their_diagonal():
    points, triangles = icosphere(1)
    edges = mesh_edges(triangles)
    problem = Problem(len(points), edges, np.zeros(len(edges)), 4.0)
    assert (apply(problem.build(), np.ones((len(points), 3))) == 0.25).all()


def test_one_thread_and_two_give_the_same_bits():
    points, triangles = icosphere(6)
    edges = mesh_edges(triangles)
    problem = Problem(len(points), edges, np.full(len(edges), 2.8e4), 3.0)
    levels = problem.build()
    assert (np.diff(levels.level_chunk)[:2] > 1).all()  # two levels run in parallel
    residual = np.random.default_rng(2).standard_normal((len(points), 3))
    set_num_threads(1)
    one = apply(levels, residual)
    set_num_threads(2)
    assert (apply(levels, residual) == one).all()


def test_set_up_is_deterministic():
    first, second = uneven_problem().build(), uneven_problem().build()
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


# --- iterations


def test_iterations_stay_near_those_of_the_exact_inverse_and_do_not_grow(balls):
    counts = {}
    for subdivisions, (scalar, multiply, push) in balls.items():
        n = scalar.vertex_count
        factor = linalg.splu(scalar.matrix.tocsc())
        exact, truth = conjugate_gradients(
            multiply, push, lambda r, f=factor, n=n: f.solve(r.reshape(n, 3)).ravel(), 1e-3
        )
        counts[subdivisions], solution = conjugate_gradients(multiply, push, preconditioner(scalar.build(), n), 1e-3)
        assert counts[subdivisions] <= 1.5 * exact
        assert np.abs(solution - truth).max() < 0.02 * np.abs(truth).max()
    assert counts[5] <= counts[3] + 6


def test_matrix_itself_is_solved_fast_at_every_size():
    for subdivisions in (3, 4, 5):
        points, triangles = icosphere(subdivisions)
        edges = mesh_edges(triangles)
        problem = Problem(len(points), edges, np.full(len(edges), 2.8e4), 0.6 / len(points) / TIME_STEP**2)
        matrix, _ = problem.free_matrix()
        right = np.random.default_rng(subdivisions).standard_normal(matrix.shape[0])
        count, solution = conjugate_gradients(
            matrix.__matmul__, right, preconditioner(problem.build(), len(points)), 1e-6
        )
        assert count <= 12
        # relative error in energy: 1e-6 of the start, which is the solution itself
        truth = linalg.spsolve(matrix.tocsc(), right)
        assert (solution - truth) @ (matrix @ (solution - truth)) < 1e-11 * (truth @ (matrix @ truth))


def test_scattered_stiffness_converges():
    problem = uneven_problem()
    matrix, _ = problem.free_matrix()
    right = np.random.default_rng(4).standard_normal(matrix.shape[0])
    count, _ = conjugate_gradients(
        matrix.__matmul__, right, preconditioner(problem.build(), problem.vertex_count), 1e-6
    )
    jacobi = matrix.diagonal()
    plain, _ = conjugate_gradients(matrix.__matmul__, right, lambda r: r / jacobi, 1e-6)
    assert count <= 25 and count < plain / 5


def test_stiff_patch_in_a_soft_skin_converges():
    points, triangles = icosphere(4)
    edges = mesh_edges(triangles)
    weight = np.where((points[edges, 0] > 0.3).all(1), 1e4, 1.0)
    problem = Problem(len(points), edges, weight, 1e-3)
    matrix, _ = problem.free_matrix()
    right = np.random.default_rng(4).standard_normal(matrix.shape[0])
    count, _ = conjugate_gradients(matrix.__matmul__, right, preconditioner(problem.build(), len(points)), 1e-6)
    assert count <= 20


def test_pinned_patch_converges():
    points, triangles = icosphere(4)
    edges = mesh_edges(triangles)
    problem = Problem(len(points), edges, np.full(len(edges), 1e4), 1e-3, np.flatnonzero(points[:, 2] > 0.8))
    matrix, free = problem.free_matrix()
    right = np.random.default_rng(4).standard_normal(matrix.shape[0])
    count, _ = conjugate_gradients(matrix.__matmul__, right, preconditioner(problem.build(), len(points), free), 1e-6)
    assert count <= 15


def test_disconnected_bodies_of_different_size_and_stiffness():
    bodies = []
    for subdivisions, weight, inertia in ((4, 1e6, 1e-2), (2, 1.0, 1e-5), (3, 1e3, 10.0), (0, 1e8, 1.0)):
        points, triangles = icosphere(subdivisions)
        edges = mesh_edges(triangles)
        bodies.append(Problem(len(points), edges, np.full(len(edges), weight), inertia))
    problem = merged(bodies)
    matrix, _ = problem.free_matrix()
    right = np.random.default_rng(5).standard_normal(matrix.shape[0])
    count, _ = conjugate_gradients(
        matrix.__matmul__, right, preconditioner(problem.build(), problem.vertex_count), 1e-6
    )
    assert count <= 20
    # what pushes one body moves no other
    push = np.zeros((problem.vertex_count, 3))
    first = bodies[0].vertex_count
    push[first : first + bodies[1].vertex_count] = 1.0
    moved = apply(problem.build(), push).any(1)
    assert moved[first : first + bodies[1].vertex_count].all() and moved.sum() == bodies[1].vertex_count


def test_a_hundred_small_bodies_keep_the_coarsest_level_small():
    points, triangles = icosphere(2)
    edges = mesh_edges(triangles)
    problem = merged([Problem(len(points), edges, np.full(len(edges), 1e4), 1.0) for _ in range(100)])
    levels = problem.build()
    assert levels.block_start.shape[0] - 1 == 100
    assert levels.block_matrix.size <= 100 * 24**2
    matrix, _ = problem.free_matrix()
    right = np.random.default_rng(6).standard_normal(matrix.shape[0])
    count, _ = conjugate_gradients(matrix.__matmul__, right, preconditioner(levels, problem.vertex_count), 1e-6)
    assert count <= 10


# --- contacts


def contact_extra(problem, points, stiffness):
    extra = np.zeros((problem.vertex_count, 3))
    extra[points[:, 2] < -0.85, 2] = stiffness
    return extra


def test_extra_diagonal_saves_iterations_with_a_stiff_contact_patch(balls):
    scalar, multiply, push = balls[4]
    points, _ = icosphere(4)
    extra = contact_extra(scalar, points, 50 * scalar.adjacency.data.mean())
    levels = scalar.build()
    counts = []
    for given in (np.zeros_like(extra), extra):
        set_extra_diagonal(levels, given)
        count, _ = conjugate_gradients(
            lambda p: multiply(p) + extra.ravel() * p, push, preconditioner(levels, scalar.vertex_count), 1e-3
        )
        counts.append(count)
    assert counts[1] < 0.7 * counts[0] and counts[1] <= 35


def test_extra_diagonal_replaces_the_one_before():
    problem = uneven_problem()
    points, _ = icosphere(4)
    levels, untouched = problem.build(), problem.build()
    residual = np.random.default_rng(7).standard_normal((problem.vertex_count, 3))
    set_extra_diagonal(levels, contact_extra(problem, points, 1e5))
    assert not (apply(levels, residual) == apply(untouched, residual)).all()
    set_extra_diagonal(levels, np.zeros((problem.vertex_count, 3)))
    assert (apply(levels, residual) == apply(untouched, residual)).all()
