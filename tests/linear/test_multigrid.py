"""The multigrid operator: symmetric, positive definite, deterministic, aware of pins and contacts."""

import numpy as np
import pytest
from multigrid_systems import (
    Problem,
    apply,
    bending_ball,
    conjugate_gradients,
    icosphere,
    mesh_edges,
    preconditioner,
    pressurised_ball,
    random_hinges,
    uneven_problem,
)
from numba import njit
from softpressure_ext.core.linear import coarsening, multigrid
from softpressure_ext.core.linear.four_rows import four_sums
from softpressure_ext.core.linear.multigrid import set_extra_diagonal
from softpressure_ext.core.simd import lane


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


@pytest.mark.parametrize("seed", range(8))
def test_any_graph_of_springs_gives_a_positive_definite_operator(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 200))
    edges = np.unique(np.sort(rng.integers(0, n, (3 * n, 2)), axis=1), axis=0)
    edges = edges[edges[:, 0] != edges[:, 1]]
    hub = np.c_[np.zeros(n // 2, int), np.arange(1, n // 2 + 1)]
    edges = np.unique(np.vstack([edges, hub]), axis=0)
    weight = 10 ** rng.uniform(-3, 5, len(edges)) * (rng.random(len(edges)) < 0.9)
    problem = Problem(n, edges, weight, 10 ** rng.uniform(-2, 3, n), np.flatnonzero(rng.random(n) < 0.1))
    levels = problem.build()
    extra = 10 ** rng.uniform(0, 6, (n, 3)) * (rng.random((n, 3)) < 0.2)
    set_extra_diagonal(levels, extra)
    free = ~np.repeat(problem.pinned, 3)
    dense = np.array([apply(levels, unit.reshape(n, 3)).ravel() for unit in np.eye(3 * n)])[free][:, free]
    matrix, _ = problem.free_matrix(extra)
    scale = np.sqrt(matrix.diagonal())
    spectrum = np.linalg.eigvalsh(0.5 * (dense + dense.T) * scale * scale[:, None])
    # two damped Jacobi steps alone give at least 0.9 (2 - 0.9 * 2) of the inverse diagonal
    assert spectrum[0] > 0.15


# --- hinges: weights of both signs


def finest_matrix(problem):
    adjacency = problem.adjacency
    start, other = adjacency.indptr.astype(np.int32), adjacency.indices.astype(np.int32)
    return coarsening.remove_pinned(start, other, adjacency.data, problem.diagonal, problem.pinned)


def smallest_in_units_of_a_step(problem, levels, extra):
    """Smallest eigenvalue of the operator over the inverse of the diagonal with its slack and extra."""
    n = problem.vertex_count
    set_extra_diagonal(levels, extra)
    free = ~np.repeat(problem.pinned, 3)
    dense = np.array([apply(levels, unit.reshape(n, 3)).ravel() for unit in np.eye(3 * n)])[free][:, free]
    matrix, _ = problem.free_matrix()
    rows = np.asarray(abs(matrix).sum(axis=1)).ravel()
    scale = np.sqrt(np.maximum(matrix.diagonal(), 0.5 * rows) + extra.ravel()[free])
    dense *= scale * scale[:, None]
    # float32 storage: one ulp is 6e-8, the sums have a few hundred terms of either sign
    assert np.abs(dense - dense.T).max() < 2e-6 * np.abs(dense).max()
    return np.linalg.eigvalsh(0.5 * (dense + dense.T))[0]


@pytest.mark.parametrize("seed", range(8))
def test_any_graph_of_hinges_gives_a_positive_definite_operator(seed):
    problem, rng = random_hinges(seed)
    assert problem.adjacency.data.min() < -100.0 * problem.diagonal.min()  # not near a graph of springs
    levels = problem.build()
    n = problem.vertex_count
    assert smallest_in_units_of_a_step(problem, levels, np.zeros((n, 3))) > 0.15
    extra = 10 ** rng.uniform(0, 6, (n, 3)) * (rng.random((n, 3)) < 0.2)
    # two damped Jacobi steps alone give at least 0.9 (2 - 0.9 * 2) of the inverse diagonal with its slack
    assert smallest_in_units_of_a_step(problem, levels, extra) > 0.15


@pytest.mark.parametrize("pinned", [[], [0, 5], range(40)])
def test_operator_of_a_skin_that_mostly_bends_is_positive_definite(pinned):
    problem, share = bending_ball(2, pinned, modulus=1e3)
    assert share > 1000.0
    extra = np.zeros((problem.vertex_count, 3))
    extra[60:90, 2] = 1e6
    for given in (0.0 * extra, extra):
        assert smallest_in_units_of_a_step(problem, problem.build(), given) > 0.15


def test_slack_brings_a_diagonal_up_to_half_its_row():
    balls = [bending_ball(2, pinned, modulus=1e3)[0] for pinned in ([], range(40))]
    for problem in (*balls, *(random_hinges(seed)[0] for seed in range(3))):
        matrix = finest_matrix(problem)
        whole = problem.matrix.toarray()
        whole[problem.pinned] = whole[:, problem.pinned] = 0.0
        diagonal = whole.diagonal()
        expected = np.maximum(0.5 * np.abs(whole).sum(axis=1) - diagonal, 0.0)
        slack = coarsening.slack(matrix)
        np.testing.assert_allclose(slack, expected, rtol=0, atol=1e-12 * diagonal.max())
        assert slack[~problem.pinned].max() > 0.1 * diagonal.max() and (slack[problem.pinned] == 0.0).all()
        # it keeps a damped Jacobi step from overshooting: the spectrum ends at 2, and without it beyond 2 / 0.9
        ends = []
        for step in (diagonal + slack, diagonal):
            scale = np.where(problem.pinned, 0.0, 1.0 / np.sqrt(np.where(problem.pinned, 1.0, step)))
            ends.append(np.linalg.eigvalsh(whole * scale * scale[:, None])[-1])
        assert ends[0] <= 2.0 + 1e-12 and ends[1] > 2.0 / 0.9
    assert (coarsening.slack(finest_matrix(uneven_problem())) == 0.0).all()  # springs need none


def aggregates(couplings, diagonal):
    """Aggregate of each unknown after one round of pairing; `couplings` = {(i, j): minus the entry}."""
    whole = np.zeros((len(diagonal), len(diagonal)))
    for (i, j), value in couplings.items():
        whole[i, j] = whole[j, i] = value
    start = np.append(0, np.cumsum(np.count_nonzero(whole, axis=1))).astype(np.int32)
    row, other = np.nonzero(whole)
    matrix = coarsening.Matrix(start, other.astype(np.int32), whole[row, other], np.array(diagonal))
    component, count = coarsening.components(matrix, np.zeros(len(diagonal), bool))
    return coarsening.aggregate(matrix, component, count, 1)[0].tolist()


def test_couplings_that_cancel_neither_exclude_nor_bind():
    # the row of 0 sums to nothing, yet it is not a mass alone
    assert aggregates({(0, 1): 1.0, (0, 2): -1.0}, [3.0, 3.0, 3.0]) == [0, 0, 1]
    # 4 hangs on 1 and 3 alike, and is pushed away by 5: it moves with neither
    held = {(0, 1): 10.0, (2, 3): 10.0, (1, 4): 1.0, (3, 4): 1.0, (4, 5): -1.0}
    assert aggregates(held, [12.0, 13.0, 12.0, 13.0, 4.0, 2.0]) == [0, 0, 1, 1, 2, 3]
    # while held by 1 alone it does (2 and 3 are then a component of their own, numbered last)
    del held[3, 4]
    assert aggregates(held, [12.0, 13.0, 12.0, 13.0, 4.0, 2.0]) == [0, 0, 2, 2, 0, 1]


def test_too_few_levels_cost_iterations_not_definiteness(monkeypatch):
    monkeypatch.setattr(multigrid, "LEVEL_LIMIT", 2)
    points, triangles = icosphere(3)
    edges = mesh_edges(triangles)
    problem = Problem(len(points), edges, np.full(len(edges), 1e4), 1.0)
    levels = problem.build()
    rows = levels.level_start[2] - levels.level_start[1]
    assert levels.block_matrix.size == rows > multigrid.BLOCK_LIMIT  # one row per block
    dense = np.array([apply(levels, np.repeat(unit[:, None], 3, 1))[:, 0] for unit in np.eye(len(points))])
    assert np.linalg.eigvalsh(0.5 * (dense + dense.T) * problem.matrix.diagonal()[0])[0] > 0.15


def test_operator_is_linear_and_has_no_memory():
    problem = uneven_problem()
    levels = problem.build()
    a, b = np.random.default_rng(0).standard_normal((2, problem.vertex_count, 3))
    first = apply(levels, a)
    second = apply(levels, b)
    assert (apply(levels, a) == first).all()
    together = apply(levels, 2.0 * a - b)
    assert np.abs(together - (2.0 * first - second)).max() < 1e-5 * np.abs(together).max()


def test_pinned_rows_stay_zero_and_do_not_affect_others():
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


def test_vertices_without_springs_are_nearly_divided_by_their_diagonal():
    points, triangles = icosphere(1)
    edges = mesh_edges(triangles)
    problem = Problem(len(points), edges, np.zeros(len(edges)), 4.0)
    # two Jacobi steps damped by 0.9 leave 0.1^2
    np.testing.assert_allclose(apply(problem.build(), np.ones((len(points), 3))), 0.25 * 0.99, rtol=1e-6)


def test_set_up_is_deterministic():
    first, second = uneven_problem().build(), uneven_problem().build()
    for a, b in zip(first, second, strict=True):
        for one, two in zip(a, b, strict=True) if isinstance(a, tuple) else [(a, b)]:
            np.testing.assert_array_equal(one, two)


# --- contacts


def contact_extra(problem, points, stiffness):
    extra = np.zeros((problem.vertex_count, 3))
    extra[points[:, 2] < -0.85, 2] = stiffness
    return extra


def test_extra_diagonal_saves_iterations_with_a_stiff_contact_patch():
    scalar, multiply, _ = pressurised_ball(4)
    weight = np.tile([0.0, 0.0, -1.0], scalar.vertex_count)
    points, _ = icosphere(4)
    extra = contact_extra(scalar, points, 50 * scalar.adjacency.data.mean())
    levels = scalar.build()
    counts = []
    for given in (np.zeros_like(extra), extra):
        set_extra_diagonal(levels, given)
        count, _ = conjugate_gradients(
            lambda p: multiply(p) + extra.ravel() * p, weight, preconditioner(levels, scalar.vertex_count), 1e-3
        )
        counts.append(count)
    # the exact inverse of the matrix with its extra diagonal takes 18 to 20
    assert counts[1] < 0.2 * counts[0] and counts[1] <= 26


def test_extra_diagonal_replaces_the_one_before():
    problem = uneven_problem()
    points, _ = icosphere(4)
    levels, untouched = problem.build(), problem.build()
    residual = np.random.default_rng(7).standard_normal((problem.vertex_count, 3))
    set_extra_diagonal(levels, contact_extra(problem, points, 1e5))
    assert not (apply(levels, residual) == apply(untouched, residual)).all()
    set_extra_diagonal(levels, np.zeros((problem.vertex_count, 3)))
    assert (apply(levels, residual) == apply(untouched, residual)).all()


def test_four_sums_are_weights_times_rows():
    rng = np.random.default_rng(12)
    vector = rng.standard_normal(40).astype(np.float32)  # ten rows of four
    other = (4 * rng.integers(0, 10, 4 * 12)).astype(np.uint32)
    weight = rng.standard_normal(4 * 12).astype(np.float32)

    @njit
    def sums(begin, end):
        total = four_sums(begin, end, other, weight, vector)
        return [(lane(row, 0), lane(row, 1), lane(row, 2), lane(row, 3)) for row in total]

    for begin, end in ((0, 12), (3, 8), (5, 5)):
        found = sums(np.uint32(begin), np.uint32(end))
        for row in range(4):
            entries = range(4 * begin + row, 4 * end + row, 4)
            expected = sum((weight[q] * vector[other[q] : other[q] + 4] for q in entries), np.zeros(4))
            np.testing.assert_allclose(found[row], expected, rtol=1e-5, atol=1e-6)


def test_every_row_is_stored_once_but_for_the_last_of_a_chunk():
    levels = uneven_problem(subdivisions=5).build()
    assert len(levels.chunk_start) > 10
    for rows in (levels.coupling, levels.interpolation, levels.restriction):
        for first, last, head, tail in zip(
            levels.chunk_start[:-1], levels.chunk_start[1:], levels.chunk_group[:-1], levels.chunk_group[1:],
            strict=True,
        ):  # fmt: skip
            stored = rows.row[4 * head : 4 * tail] // 4
            assert set(stored) == set(range(first, last)) and len(stored) < last - first + 4
