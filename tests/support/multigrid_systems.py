"""Systems for the tests of the multigrid preconditioner, written without the code under test (but for `build`)."""

from itertools import combinations

import numpy as np
import pytest
from softpressure_ext.core.linear.multigrid import Multigrid, apply_multigrid
from softpressure_ext.core.team import team_of_one

sparse = pytest.importorskip("scipy.sparse")

TIME_STEP = 1.0 / 240.0


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
    apply_multigrid(levels, residual, z, team_of_one())
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
    blocks = sparse.bsr_matrix((block, np.arange(len(i)), np.arange(len(i) + 1))).tocsr()
    elastic = incidence.T @ blocks @ incidence + inertia * sparse.eye(3 * n)
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


def graph_of_hinges(points, weights, stiffness):
    """Edges and their weights, of both signs, of the sum of k w w' over hinges; each w sums to zero."""
    slots = list(combinations(range(points.shape[1]), 2))
    edges = np.vstack([points[:, pair] for pair in slots])
    return edges, np.concatenate([-stiffness * weights[:, s] * weights[:, t] for s, t in slots])


def random_hinges(seed):
    """Four vertices of many at random, joined by weights and stiffnesses at random; a tenth is pinned."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 200))
    points = np.array([rng.choice(n, 4, replace=False) for _ in range(3 * n)])
    weights = rng.standard_normal(points.shape)
    weights -= weights.mean(axis=1)[:, None]
    edges, weight = graph_of_hinges(points, weights, 10 ** rng.uniform(-3, 5, len(points)))
    return Problem(n, edges, weight, 10 ** rng.uniform(-2, 3, n), np.flatnonzero(rng.random(n) < 0.1)), rng


def bending_ball(subdivisions, pinned=(), modulus=3.0):
    """Scalar problem of a ball that bends hard, and the trace of its hinges in units of that of its springs.

    Hinges with k = 3 B / area (Bergou et al. 2006), B = `modulus` [N m]; springs at half of Y = 1e4 N/m.
    """
    points, triangles = icosphere(subdivisions)
    points *= 0.12
    sides = np.vstack([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    opposite = triangles[:, [2, 0, 1]].T.ravel()
    first, second = np.lexsort(np.sort(sides, axis=1).T).reshape(-1, 2).T  # the two triangles of each edge
    (i, j), p, q = sides[first].T, opposite[first], opposite[second]

    def cotangent_and_area(at, a, b):
        u, v = points[a] - points[at], points[b] - points[at]
        doubled = np.linalg.norm(np.cross(u, v), axis=1)
        return (u * v).sum(axis=1) / doubled, 0.5 * doubled

    (ip, p_area), (iq, q_area) = cotangent_and_area(i, j, p), cotangent_and_area(i, j, q)
    (jp, _), (jq, _) = cotangent_and_area(j, i, p), cotangent_and_area(j, i, q)
    weights, area = np.stack([jp + jq, ip + iq, -ip - jp, -iq - jq], axis=1), p_area + q_area
    stiffness = 3.0 * modulus / area
    edges, weight = graph_of_hinges(np.stack([i, j, p, q], axis=1), weights, stiffness)
    springs = 0.5 * 1e4 * area / ((points[i] - points[j]) ** 2).sum(axis=1)
    problem = Problem(
        len(points), np.vstack([edges, np.c_[i, j]]), np.r_[weight, springs], 0.6 / len(points) / TIME_STEP**2, pinned
    )
    return problem, (stiffness * (weights**2).sum(axis=1)).sum() / (2.0 * springs).sum()


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


def stretched_sphere(rings, sectors):
    """Edges of a sphere of latitudes and longitudes and their areas' weights [1]: long thin triangles at the poles."""
    polar, around = np.meshgrid(np.linspace(0, np.pi, rings + 1)[1:-1], np.arange(sectors) * 2 * np.pi / sectors)
    ring = np.stack([np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)], -1)
    points = np.vstack([ring.transpose(1, 0, 2).reshape(-1, 3), [[0, 0, 1]], [[0, 0, -1]]])
    number = np.arange((rings - 1) * sectors).reshape(rings - 1, sectors)
    right = np.roll(number, -1, axis=1)
    top, bottom = np.full(sectors, len(points) - 2), np.full(sectors, len(points) - 1)
    a, b, c, d = (grid.ravel() for grid in (number[:-1], number[1:], right[:-1], right[1:]))
    triangles = np.vstack([np.c_[a, b, c], np.c_[c, b, d], np.c_[top, number[0], right[0]]])
    triangles = np.vstack([triangles, np.c_[bottom, right[-1], number[-1]]])
    edges = mesh_edges(triangles)
    number = {(a, b): k for k, (a, b) in enumerate(edges.tolist())}
    x, y, z = (points[corner] for corner in triangles.T)
    area = 0.5 * np.linalg.norm(np.cross(y - x, z - x), axis=1)
    weight = np.zeros(len(edges))
    for a, b, c, s in zip(*triangles.T.tolist(), area, strict=True):
        for u, v in ((a, b), (b, c), (c, a)):
            weight[number[min(u, v), max(u, v)]] += s
    return points, edges, weight / ((points[edges[:, 0]] - points[edges[:, 1]]) ** 2).sum(1)
