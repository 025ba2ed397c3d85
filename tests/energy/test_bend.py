"""Bending: the kernels against their slow twin, finite differences, closed forms, and states far from rest."""

import numpy as np
import pytest
import reference
import shapes
from force_scene import BEND, ROUNDING, Scene, check_gradient, close, hinge_energies, hinge_forces
from softpressure_ext.core import ModelBuilder, topology
from softpressure_ext.core.energy.hinges import levels, rest_hinges
from softpressure_ext.core.model import Edges
from validation import validated

#: Scatter of the vertices [m], on edges of 0.06 m: bent a little, and crumpled with many triangles turned over.
SCATTER = (0.006, 0.06)


@pytest.fixture(params=range(3))
def scene(request):
    return Scene(request.param)


# --- the kernels as functions of positions ------------------------------------------------------------------------


def bend_terms(hinges, x):
    """Energy [J] and force on the vertices [N]."""
    return hinge_energies(x, hinges).sum(), hinge_forces(x, hinges)


def hinges_of(x, triangles, modulus=0.03):
    """Hinges of a mesh with a border, which a model does not take."""
    skin = np.asarray(triangles, np.int32)
    edges = topology.unique_edges(skin)[0]
    length = np.linalg.norm(np.diff(x[edges], axis=1)[:, 0], axis=1)
    springs = Edges(edges, length, np.full(len(edges), 1e9))
    return rest_hinges(x, skin, np.full(len(x), modulus), np.zeros(len(x), np.int32), springs)


# --- the twin -----------------------------------------------------------------------------------------------------


def test_hinges_follow_the_rest_mesh(scene):
    model, first, count = scene.model, 0, 0
    ours = {tuple(sorted(p[:2])): number for number, p in enumerate(model.hinges.points.tolist())}
    for k, (x, triangles) in enumerate(scene.meshes):
        place = model.point_of_vertex[first : first + len(x)]
        points, weights, bends, scales, constants = reference.hinges(x, triangles, BEND[k])
        number = [ours[tuple(sorted(place[pair].tolist()))] for pair in points[:, :2]]
        close(model.hinges.rest_bend[number], bends, ROUNDING)
        close(model.hinges.stiffness[number], constants, ROUNDING)
        for h, hinge, weight, scale in zip(number, place[points], weights, scales, strict=True):
            # the builder's numbering may run the edge the other way, which swaps the triangles too
            slots = [model.hinges.points[h].tolist().index(i) for i in hinge]
            close(model.hinges.weight[h, slots], weight, ROUNDING)
            close(model.hinges.normal_scale[h, [slots[2] - 2, slots[3] - 2]], scale, ROUNDING)
        first, count = first + len(x), count + len(points)
    assert count == len(model.hinges.points)
    assert model.hinges.rest_bend.min() < 0.0 < model.hinges.rest_bend.max()  # ridges and valleys


@pytest.mark.parametrize("scatter", SCATTER)
def test_bend_equals_its_twin(scene, scatter):
    x, first, expected = scene.scattered(scatter), 0, []
    for k, (rest, triangles) in enumerate(scene.meshes):
        place = scene.model.point_of_vertex[first : first + len(rest)]
        expected.append(reference.bend(x[place], *reference.hinges(rest, triangles, BEND[k])))
        first += len(rest)
    energy, force = bend_terms(scene.model.hinges, x)
    validated(
        "energy of bending", room="energy", measured=energy, expected=sum(e for e, _ in expected), unit="J",
        rel=ROUNDING, source="hinges one by one in plain numpy", reason="rounding",
    )  # fmt: skip
    close(force, scene.inner([f for _, f in expected]), ROUNDING)


# --- finite differences -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scatter", SCATTER)
def test_bend_force_is_minus_the_gradient(scene, scatter):
    check_gradient(lambda x: bend_terms(scene.model.hinges, x), scene.scattered(scatter), scene.direction())


# --- what a hinge feels -------------------------------------------------------------------------------------------


def test_the_rest_shape_is_free_of_force(scene):
    hinges = scene.model.hinges
    # each hinge holds k c against itself; what is left are roundings of its sums
    held = np.abs(hinges.stiffness * hinges.rest_bend * np.abs(hinges.weight).max(axis=1)).max()
    energy, force = bend_terms(scene.model.hinges, scene.model.rest_positions)
    assert held > 1.0
    assert np.abs(force).max() < ROUNDING * held
    assert 0.0 <= energy < ROUNDING**2 * (hinges.stiffness * hinges.rest_bend**2).sum()


def test_bending_is_invariant_under_rigid_motion(scene):
    model, x = scene.model, scene.scattered(0.02)
    energy, force = bend_terms(model.hinges, x)
    turn = shapes.rotation((0.3, -1.0, 2.0), 2.5)
    turned_energy, turned_force = bend_terms(model.hinges, x @ turn.T + [0.1, -0.2, 0.4])
    assert turned_energy == pytest.approx(energy, rel=ROUNDING)
    close(turned_force, force @ turn.T, ROUNDING)
    for body in range(2):
        own = slice(model.body_point_start[body], model.body_point_start[body + 1])
        size = np.abs(force[own]).sum()
        assert np.abs(force[own].sum(axis=0)).max() < ROUNDING * size
        assert np.abs(np.cross(x[own], force[own]).sum(axis=0)).max() < ROUNDING * size
    far_energy, far_force = bend_terms(model.hinges, x + [1000.0, -700.0, 300.0])
    # positions are rounded to 1e-13 m, edges of 0.05 m to 2e-12 of themselves
    assert far_energy == pytest.approx(energy, rel=1e-10)
    close(far_force, force, 1e-9)


PAIR = np.array([[0, 1, 2], [1, 0, 3]])
#: Edge [m], then foot along the edge and height [m] of either triangle.
EDGE, FEET, HEIGHTS = 0.05, (0.02, 0.06), (0.04, 0.03)


def pair_at(angle):
    """Two triangles at a dihedral angle [rad]: 0 flat, positive for a ridge, half a turn folded onto each other."""
    back = np.array([FEET[1], -HEIGHTS[1] * np.cos(angle), -HEIGHTS[1] * np.sin(angle)])
    return np.array([[0, 0, 0], [EDGE, 0, 0], [FEET[0], HEIGHTS[0], 0], back])


@pytest.mark.parametrize("rest", np.radians([0.0, 5.0, 60.0, -130.0, 170.0, 178.0, 180.0]))
def test_a_hinge_that_folds_bends_by_twice_the_sine_of_half_its_angle(rest):
    hinges = hinges_of(pair_at(rest), PAIR)
    k = 3.0 * 0.03 / (0.5 * EDGE * sum(HEIGHTS))
    # the unit normals' sum is 2 cos(a / 2) long; c lengthens the bend at rest as FOLD shortens m, up to root 2
    length = 2.0 * np.cos(0.5 * rest)
    c = 2.0 * EDGE * np.sin(0.5 * rest) * np.sqrt(length**2 + 0.1**2) * length / max(length**2, 0.1**2)
    # past half a turn the triangles have passed through each other
    for angle in np.radians([-190.0, -179.0, -120.0, -30.0, 0.0, 5.0, 60.0, 90.0, 150.0, 179.0, 180.0, 200.0]):
        length = 2.0 * np.cos(0.5 * angle)
        apart = 2.0 * EDGE * np.sin(0.5 * angle) - c * length / np.sqrt(length**2 + 0.1**2)
        validated(
            "energy of a folded hinge", room="energy", measured=bend_terms(hinges, pair_at(angle))[0],
            expected=0.5 * k * apart**2, unit="J", rel=1e-10, abs=1e-32 * k, source="½ k (2 e sin(a / 2) - c m)²",
            reason="rounding; equal angles leave 1e-17 m",
        )  # fmt: skip


# --- what a skin feels ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0.8, 1.3, 2.0])
def test_the_energy_of_a_sphere_is_the_square_of_its_growth(size):
    # B/2 (2 / r)^2 over the sphere is 8 pi B; at another radius and the same angles the curvature is 1 / size of it
    x, triangles = shapes.icosphere(3, 0.2)
    made = ModelBuilder()
    made.add_membrane("ball", x, triangles, bend_modulus=0.03)
    model = made.build()
    energy, _ = bend_terms(model.hinges, size * model.rest_positions)
    points, weights, _, scales, constants = reference.hinges(x, triangles, 0.03)
    bends = np.linalg.norm(np.einsum("hs,hsk->hk", weights, x[points]), axis=1)
    normal2 = np.array([np.sum(reference.unfolded(x[p], s) ** 2) for p, s in zip(points, scales, strict=True)])
    # the normals grow by size^2, and FOLD is 1 / 20 of them
    faded = size**2 * np.sqrt((normal2 + 0.1**2) / (size**4 * normal2 + 0.1**2))
    assert energy == pytest.approx(0.5 * np.sum(constants * (bends * (size - faded)) ** 2), rel=ROUNDING)
    validated(
        "bending energy of a sphere at another radius", room="energy", measured=energy,
        expected=8.0 * np.pi * 0.03 * (size - 1.0) ** 2, unit="J", rel=0.03, source="8π B (s - 1)²",
        reason="folds' softening takes up to 2 %; the triangles are not quite equilateral: 1.5 %",
    )  # fmt: skip


def lattice(edge, turn, reach=2):
    """Flat sheet of equilateral triangles about the origin, turned in its plane by `turn` [rad]."""
    line = np.arange(-reach, reach + 1)
    i, j = np.meshgrid(line, line, indexing="ij")
    flat = edge * np.stack([i + 0.5 * j, np.sqrt(0.75) * j, 0.0 * j], axis=-1).reshape(-1, 3)
    number = np.arange(len(flat)).reshape(len(line), len(line))
    a, b, c, d = (part.ravel() for part in (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]))
    return flat @ shapes.rotation((0, 0, 1), turn).T, np.concatenate([np.c_[a, b, d], np.c_[b, c, d]])


def rolled(x, kappa):
    return np.stack([np.sin(kappa * x[:, 0]) / kappa, x[:, 1], (np.cos(kappa * x[:, 0]) - 1.0) / kappa], axis=1)


BENT = {
    "cylinder": (1.5, rolled),
    "sphere": (2.0, lambda x, kappa: x - 0.5 * kappa * np.outer(x[:, 0] ** 2 + x[:, 1] ** 2, [0, 0, 1])),
    "saddle": (4.0, lambda x, kappa: x - 0.5 * kappa * np.outer(x[:, 0] ** 2 - x[:, 1] ** 2, [0, 0, 1])),
}


@pytest.mark.parametrize("turn", [0.0, 0.3, np.pi / 6])
@pytest.mark.parametrize("surface", BENT)
def test_a_bent_sheet_of_equilateral_triangles_has_the_energy_of_a_plate(surface, turn):
    """B/2 [(k1 + k2)^2 + 2 (k1 - k2)^2] per area, as the edge length falls, however the triangles are turned.

    With k the curvature across an edge and l that along it, the edge turns by height (k - l / 3) and costs
    1.5 B edge height (k - l / 3)^2; three edges stand for the area edge height. It is the plate of Seung and Nelson
    1988 with their spring 2 sqrt(3) B: rigidity 3 B and Gaussian modulus -4 B.
    """
    expected, shape = BENT[surface]
    kappa, off = 2.0, []
    for edge in (0.02, 0.01):
        flat, triangles = lattice(edge, turn)
        hinges = hinges_of(flat, triangles, 0.03)
        points = hinges.points
        _, direction = np.unique(
            np.round((flat[points[:, 1]] - flat[points[:, 0]]) / edge, 6), axis=0, return_inverse=True
        )
        energies = hinge_energies(shape(flat, kappa), hinges)
        per_vertex = (np.bincount(direction.ravel(), energies) / np.bincount(direction.ravel())).sum()
        off.append(per_vertex / (np.sqrt(0.75) * edge**2) / (0.03 * kappa**2) - expected)
    # what is left is of second order in the edge: a quarter at half the length
    validated(
        "bending energy of a curved sheet per area and B κ²", room="energy", measured=expected + off[1],
        expected=expected, rel=0.01, source="½ [(k₁ + k₂)² + 2 (k₁ - k₂)²] (Seung and Nelson 1988)",
        reason="second order in the edge length",
    )  # fmt: skip
    assert off[1] == pytest.approx(off[0] / 4.0, rel=0.05)


# --- far from rest ------------------------------------------------------------------------------------------------


def test_a_triangle_turns_over_without_a_jump(scene):
    # one vertex is drawn straight through the opposite edge of its triangle, where its normal vanishes
    model, x = scene.model, scene.model.rest_positions
    for hinge in scene.rng.choice(len(model.hinges.points), 4, replace=False):
        i, j, k, _ = model.hinges.points[hinge]
        middle = 0.5 * (x[i] + x[j])

        def at(share, k=k, middle=middle):
            y = x.copy()
            y[k] = middle + share * (x[k] - middle)
            return bend_terms(model.hinges, y)

        energy, force = at(0.0)
        for share in (1e-3, 1e-6, 1e-9):
            for side in (share, -share):
                near_energy, near_force = at(side)
                # all changes over the height of the triangle, nothing within a fraction of it
                assert abs(near_energy - energy) < 10.0 * share * energy
                assert np.abs(near_force - force).max() < 10.0 * share * np.abs(force).max()
        # and pulls back the harder the farther it went
        assert np.abs(force).max() < np.abs(at(-1.0)[1]).max()


@pytest.mark.parametrize("rest", np.radians([0.0, 60.0, -130.0, 170.0, 178.0]))
def test_two_triangles_fold_through_each_other_without_a_jump(rest):
    hinges = hinges_of(pair_at(rest), PAIR)
    k, c = hinges.stiffness[0], abs(hinges.rest_bend[0])
    sides = [max(np.hypot(EDGE - foot, height), np.hypot(foot, height), EDGE)
             for foot, height in zip(FEET, HEIGHTS, strict=True)]  # fmt: skip
    # |b - c m| <= 2 edge + c; a vertex turns n by its sides' scales and m by at most that over FOLD
    limit = k * (2.0 * EDGE + c) * (np.abs(hinges.weight).max() + c / 0.1 * (hinges.normal_scale[0] @ sides))
    jumps = []
    for count in (100, 200):
        path = [bend_terms(hinges, pair_at(angle)) for angle in np.radians(np.linspace(150.0, 210.0, count + 1))]
        energies, forces = (np.array(part) for part in zip(*path, strict=True))
        jumps.append([np.abs(np.diff(energies)).max(), np.abs(np.diff(forces, axis=0)).max()])
        assert np.linalg.norm(forces, axis=2).max() < limit * (1.0 + ROUNDING)
    # half the step, half the change; a jump would stay
    np.testing.assert_array_less(jumps[1], 0.55 * np.array(jumps[0]))


# --- hinges at slivers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_rows_that_are_cut_to_their_level_add_up_to_the_limit(seed):
    rng = np.random.default_rng(seed)
    row, place = 10.0 ** rng.uniform(-9.0, 9.0, 200), rng.integers(0, 30, 200)
    held = np.bincount(place, row, 31)
    limit = held * rng.choice([1e-9, 0.01, 0.3, 0.99, 2.0], 31) + 1e-12
    level = levels(row, place, limit)
    np.testing.assert_allclose(
        np.bincount(place, np.minimum(row, level[place]), 31), np.minimum(held, limit), rtol=1e-12
    )
    assert (level[held < limit] == np.inf).all()


def test_an_even_hinge_beside_a_sliver_keeps_its_stiffness():
    """A row of squares whose last ones are 1e-4 as wide: theirs give way."""
    wide = np.append(np.arange(9.0), 8.0001 + 1e-4 * np.arange(2))
    x = np.array([(along, across, 0.0) for along in wide for across in (0.0, 1.0)])
    first = 2 * np.arange(len(wide) - 1)[:, None]
    hinges = hinges_of(x, np.concatenate([first + (0, 2, 3), first + (0, 3, 1)]))
    share = hinges.stiffness / (6.0 * 0.03 / (1.0 / hinges.normal_scale).sum(axis=1))
    is_even = (hinges.points < 18).all(axis=1)
    np.testing.assert_allclose(share[is_even], 1.0, rtol=1e-12)
    assert share.min() < 0.01
