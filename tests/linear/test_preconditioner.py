"""The constant matrix behind the preconditioner: springs at half their stiffness and hinges, as one graph."""

import numpy as np
import reference
import shapes
from force_scene import BEND, MODULUS, ROUNDING, Scene, close
from softpressure_ext.core import ModelBuilder
from softpressure_ext.core.solvers.implicit.preconditioner import precondition, stiffness_graph


def assembled(scene):
    """Sum of k w w' over the twins' hinges and springs, w = (1, -1) / sqrt(2) of these, in the model's order."""
    n = scene.model.vertex_count
    matrix, first = np.zeros((n, n)), 0
    for k, (x, triangles) in enumerate(scene.meshes):
        place = scene.model.point_of_vertex[first : first + len(x)]
        for pair, _, stiffness in zip(*reference.springs(x, triangles, MODULUS[k]), strict=True):
            matrix[np.ix_(place[pair], place[pair])] += 0.5 * stiffness * np.array([[1.0, -1.0], [-1.0, 1.0]])
        for points, weight, _, _, stiffness, _ in zip(*reference.hinges(x, triangles, BEND[k]), strict=True):
            matrix[np.ix_(place[points], place[points])] += stiffness * np.outer(weight, weight)
        first += len(x)
    return matrix


def dense(start, other, weight):
    matrix = np.zeros((len(start) - 1, len(start) - 1))
    row = np.repeat(np.arange(len(matrix)), np.diff(start))
    assert len(np.unique(row * len(matrix) + other)) == len(other)  # each pair once
    matrix[row, other] = -weight
    return matrix


def test_graph_is_the_assembled_stiffness():
    scene = Scene(0)
    expected = assembled(scene)
    start, other, weight = stiffness_graph(scene.model)
    assert start.dtype == other.dtype == np.int32
    found = dense(start, other, weight)
    close(found, found.T, 1e-15)  # the same few terms, summed in another order
    assert (found.diagonal() == 0.0).all()
    assert (weight < 0.0).any() and (weight > 0.0).any()
    # a shift of all costs nothing: rows sum to zero, so the couplings give the diagonal
    found[np.diag_indices_from(found)] = -found.sum(axis=1)
    close(found, expected, ROUNDING)
    spectrum = np.linalg.eigvalsh(found)
    assert spectrum[0] > -ROUNDING * spectrum[-1] and spectrum[2] > 1e-4 * spectrum[-1]  # two bodies, two shifts


def test_graph_of_a_skin_that_does_not_bend_is_its_springs():
    made = ModelBuilder()
    made.add_membrane("ball", *shapes.icosphere(1, 0.1), stretch_modulus=3e4)
    edges = made.build().edges
    start, other, weight = stiffness_graph(made.build())
    np.testing.assert_array_equal(start, edges.vertex_start)
    expected = np.zeros((2, len(start) - 1, len(start) - 1))
    row = np.repeat(np.arange(len(start) - 1), np.diff(start))
    expected[0, row, other] = weight
    expected[1, row, edges.vertex_other] = 0.5 * edges.stiffness[edges.vertex_edge]
    np.testing.assert_array_equal(*expected)


def test_preconditioner_has_the_diagonal_of_inertia_springs_and_hinges():
    scene = Scene(1)
    n = scene.model.vertex_count
    inertia = np.linspace(1e2, 1e4, n)
    levels = precondition(scene.model, inertia).levels
    close(levels.diagonal[:n], inertia + assembled(scene).diagonal(), ROUNDING)
