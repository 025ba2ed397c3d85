"""Lattice of a solid: cells that fill a closed mesh, snapped to its surface, split into tetrahedra.

The grid is laid along the main directions of the faces, into the box around the mesh, so that a box is filled exactly.
Cells are kept whose centre is inside the mesh, and those of parts that are too thin for that, so that each part of the
mesh is one piece of cells joined by sides; small parts are dropped. The outer vertices are moved to the nearest points
of the mesh's surface, as far as every tetrahedron keeps the share `LEAST_VOLUME` of its volume, and the inner ones make
room; those that would cross others stay. Each cell is cut into six tetrahedra around the diagonal from its lowest to
its highest corner (Kuhn 1960): the same in every cell, so the faces of neighbours agree. They carry what follows the
lattice, and their outer faces are its surface; volumes are measured at the corners of the cells (`energy/volume.py`),
which are the same in every mirror image.
"""

from itertools import permutations
from typing import NamedTuple

import numpy as np

from ...array_types import BoolArray, FloatArray, IntArray
from ...energy.volume import FACES as INNER_FACES
from ...errors import MeshError, ParameterError
from ...jit import kernel
from ...simulation_mesh.crossings import without_crossings
from ...simulation_mesh.nearest import nearest_triangles
from ...simulation_mesh.parts import part_names
from ...topology import grouped, space_filling_order
from .thin_parts import SPACING, fill_thin, pieces_of_cells, surface_samples

#: Most cells of one solid.
CELL_LIMIT = 200_000
#: Share of its volume that a tetrahedron keeps when the surface is snapped.
LEAST_VOLUME = 0.1
#: Sweeps over the vertices, and halvings of a move that would take more.
SWEEPS = 12
HALVINGS = 5
#: Pieces with less than this share of the largest one's cells are dropped.
CRUMB_SHARE = 0.1
#: How much finer than asked for the grid may be, so that its cells are nearly cubes.
FINEST_SHARE = 0.75
#: Where rays pass a column of cells, off its middle [cells], so that they miss the edges of regular meshes.
RAY_OFFSET = (0.0131, 0.0173)

#: Corners of a cell: number = 4 i + 2 j + k for the corner at (i, j, k).
CORNERS = np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)])


class Cells(NamedTuple):
    """The lattice of one solid."""

    positions: FloatArray  # of the vertices along a space-filling curve [m], shape (vertex_count, 3)
    corners: IntArray  # vertices of each cell, numbered as `CORNERS`, shape (cell_count, 8)
    tetrahedra: IntArray  # of positive volume, six of each cell in turn, shape (6 * cell_count, 4)
    triangles: IntArray  # the outer faces, counter-clockwise from outside, shape (triangle_count, 3)
    place: IntArray  # of each cell in the grid, shape (cell_count, 3)
    origin: FloatArray  # lowest corner of the grid [m], shape (3,)
    size: FloatArray  # of a cell before snapping [m], shape (3,)


def _tetrahedra_of_a_cell() -> IntArray:
    """Six paths along the axes from corner 0 to corner 7, each turned to a positive volume."""
    found = np.array([np.cumsum([0, *order]) for order in permutations((4, 2, 1))], np.int32)
    is_turned = np.linalg.det(CORNERS[found[:, 1:]] - CORNERS[found[:, :1]]) < 0.0
    found[is_turned] = found[is_turned][:, [0, 2, 1, 3]]
    return found


CELL_TETRAHEDRA = _tetrahedra_of_a_cell()
#: Faces of a tetrahedron, counter-clockwise from outside.
FACES = INNER_FACES[:, [0, 2, 1]]


def fill(name: str, positions: FloatArray, triangles: IntArray, cell_size: float) -> Cells:
    """Cells of about `cell_size` [m] that fill a closed, outward mesh.

    Raises `ParameterError` for a cell size that is too small (more than `CELL_LIMIT` cells) or too large (none fits).
    """
    low = positions.min(axis=0)
    extent = np.ptp(positions, axis=0)
    if cell_size > 1.0001 * extent.min():
        raise ParameterError(
            f"{name}: cell size {cell_size:g} m, but the mesh is only {extent.min():.3g} m thick. "
            f"Give at most {extent.min():.3g} m."
        )
    count = grid_counts(extent, cell_size)
    if count.prod() > 8 * CELL_LIMIT:
        raise _too_many(name, cell_size, float(count.prod()))
    size = extent / count
    kept = _centred(positions, triangles, size, count)
    if kept.any():
        spots, sampled = surface_samples(positions, triangles, SPACING * float(size.min()))
        fill_thin(kept, (spots - low) / size, part_names(triangles, len(positions))[sampled])
        drop_small_pieces(kept)
    cell_count = int(kept.sum())
    if cell_count == 0:
        raise ParameterError(
            f"{name}: cell size {cell_size:g} m; no cell fits into the mesh. Give about {cell_size / 3:.2g} m."
        )
    if cell_count > CELL_LIMIT:
        raise _too_many(name, cell_size, cell_count)
    place = np.argwhere(kept).astype(np.int32)
    spots = place[:, None, :] + CORNERS
    number = np.ravel_multi_index(tuple(np.moveaxis(spots, 2, 0)), tuple(count + 1))
    used, corners = np.unique(number, return_inverse=True)
    points = low + np.stack(np.unravel_index(used, tuple(count + 1)), axis=1) * size
    order = space_filling_order(points)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order), dtype=np.int32)
    points = np.ascontiguousarray(points[order])
    corners = rank[corners.reshape(-1, 8)]
    tetrahedra = corners[:, CELL_TETRAHEDRA].reshape(-1, 4)
    outer = outer_faces(tetrahedra)
    points = _snapped(points, outer, tetrahedra, positions, triangles)
    if not tetrahedron_volumes(points, tetrahedra).min() > 0.0:
        raise MeshError(f"{name}: too flat for cells of {cell_size:g} m. Give a smaller cell size.")
    return Cells(points, corners, tetrahedra, outer, place, low, size)


def fits(positions: FloatArray, triangles: IntArray, cell_size: float) -> bool:
    """Whether any cell of this size has its centre in a closed mesh; more cells than there may be are not tried."""
    extent = np.ptp(positions, axis=0)
    if not (extent / cell_size).prod() <= 8 * CELL_LIMIT:
        return True
    count = grid_counts(extent, cell_size)
    return bool(_centred(positions, triangles, extent / count, count).any())


def _centred(positions: FloatArray, triangles: IntArray, size: FloatArray, count: IntArray) -> BoolArray:
    """Which cells of the grid in the box around a mesh have their centres inside."""
    inside = np.zeros(count, np.int32)
    wind_columns(positions, triangles, positions.min(axis=0), size, np.array(RAY_OFFSET), inside)
    return np.asarray(inside > 0)


def _too_many(name: str, cell_size: float, count: float) -> ParameterError:
    enough = cell_size * (count / CELL_LIMIT) ** (1.0 / 3.0)
    return ParameterError(
        f"{name}: cell size {cell_size:g} m makes {count:.0f} cells, more than {CELL_LIMIT}. "
        f"Give at least {1.1 * enough:.2g} m."
    )


def grid_counts(extent: FloatArray, cell_size: float) -> IntArray:
    """Cells along each axis: of the grids as coarse as asked for or a bit finer, the one whose cells are most cubic."""
    best, chosen = np.inf, np.ones(3, int)
    for size in np.linspace(cell_size, FINEST_SHARE * cell_size, 26):
        count = np.maximum(1, np.round(extent / size)).astype(int)
        edge = extent / count
        # a percent of shape weighs as much as ten of size
        worse = edge.max() / edge.min() - 1.0 + 0.1 * abs(1.0 - size / cell_size)
        if worse < best - 1e-9:
            best, chosen = worse, count
    return chosen


def drop_small_pieces(kept: BoolArray) -> None:
    """Drop small parts of the mesh that lie apart, in place: they follow the nearest cells."""
    piece = pieces_of_cells(kept)
    sizes = np.bincount(piece[kept])
    kept &= sizes[piece] >= CRUMB_SHARE * sizes.max()


def outer_faces(tetrahedra: IntArray) -> IntArray:
    """Faces that belong to one tetrahedron only."""
    faces = tetrahedra[:, FACES].reshape(-1, 3)
    _, first, uses = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    return np.ascontiguousarray(faces[np.sort(first[uses == 1])])


def tetrahedron_volumes(x: FloatArray, tetrahedra: IntArray) -> FloatArray:
    """Signed volumes [m^3], shape (tetrahedron_count,)."""
    a, b, c = (x[tetrahedra[:, corner]] - x[tetrahedra[:, 0]] for corner in (1, 2, 3))
    volumes: FloatArray = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    return volumes


def _snapped(
    points: FloatArray, outer: IntArray, tetrahedra: IntArray, positions: FloatArray, triangles: IntArray
) -> FloatArray:
    """The points with those of the outer faces moved towards the nearest ones of the mesh; the others make room."""
    target, vertices = np.full(points.shape, np.nan), np.unique(outer)  # inner vertices have none
    cell = float(np.cbrt(6.0 * tetrahedron_volumes(points, tetrahedra).min()))
    face, weights = nearest_triangles(points[vertices], np.zeros((len(vertices), 3)), positions, triangles, cell)
    target[vertices] = np.einsum("ik,ikx->ix", weights, positions[triangles[face]])
    start, entry = grouped(tetrahedra.ravel(), len(points))
    least = LEAST_VOLUME * cell**3 / 6.0

    def snap(fixed: BoolArray) -> FloatArray:
        x = points.copy()
        snap_vertices(x, np.where(fixed[:, None], x, target), tetrahedra, start, entry, least, SWEEPS, 1e-6 * cell)
        return x

    return without_crossings(snap, outer, np.zeros(len(points), bool))


@kernel
def snap_vertices(x, target, tetrahedra, start, entry, least, sweeps, slight):
    """Move each vertex towards its target, or to the middle of its neighbours where that is NaN, in place.

    One after the other, in sweeps; a move is halved until no tetrahedron at the vertex has less than the volume
    `least` [m^3]. Moves below `slight` [m] are not made. `start`, `entry`: the corners of tetrahedra at each vertex.
    """
    old, move = np.empty(3), np.empty(3)
    for _ in range(sweeps):
        for v in range(x.shape[0]):
            first, last = start[v], start[v + 1]
            old[:] = x[v]
            if np.isnan(target[v, 0]):
                move[:] = 0.0
                for q in range(first, last):
                    for slot in range(4):
                        move += x[tetrahedra[entry[q] >> 2, slot]] - old
                move /= 3.0 * (last - first)
            else:
                move[:] = target[v] - old
            if move[0] * move[0] + move[1] * move[1] + move[2] * move[2] < slight * slight:
                continue
            share = 1.0
            for _ in range(HALVINGS):
                x[v] = old + share * move
                if smallest_volume(x, tetrahedra, entry, first, last) >= least:
                    break
                x[v] = old
                share *= 0.5


@kernel
def smallest_volume(x, tetrahedra, entry, first, last):
    """Least volume [m^3] of the tetrahedra of the corners first .. last - 1 of `entry`."""
    smallest = np.inf
    for q in range(first, last):
        t = entry[q] >> 2
        o = x[tetrahedra[t, 0]]
        a, b, c = x[tetrahedra[t, 1]] - o, x[tetrahedra[t, 2]] - o, x[tetrahedra[t, 3]] - o
        volume = a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2])
        volume = (volume + a[2] * (b[0] * c[1] - b[1] * c[0])) / 6.0
        smallest = min(smallest, volume)
    return smallest


@kernel
def wind_columns(positions, triangles, low, size, offset, inside):
    """Winding number of the surface about each cell's centre into `inside`, shape of the grid; 1 is inside.

    One ray up each column of cells: a triangle above that faces up counts 1, one that faces down -1.
    """
    count_x, count_y, count_z = inside.shape
    for t in range(triangles.shape[0]):
        ax, ay, az = _in_cells(positions, triangles[t, 0], low, size)
        bx, by, bz = _in_cells(positions, triangles[t, 1], low, size)
        cx, cy, cz = _in_cells(positions, triangles[t, 2], low, size)
        ax, bx, cx = ax - 0.5 - offset[0], bx - 0.5 - offset[0], cx - 0.5 - offset[0]
        ay, by, cy = ay - 0.5 - offset[1], by - 0.5 - offset[1], cy - 0.5 - offset[1]
        area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
        if area == 0.0:
            continue
        turn = 1 if area > 0.0 else -1
        first_x, last_x = max(0, int(np.ceil(min(ax, bx, cx)))), min(count_x - 1, int(np.floor(max(ax, bx, cx))))
        first_y, last_y = max(0, int(np.ceil(min(ay, by, cy)))), min(count_y - 1, int(np.floor(max(ay, by, cy))))
        for i in range(first_x, last_x + 1):
            for j in range(first_y, last_y + 1):
                u = (bx - i) * (cy - j) - (cx - i) * (by - j)
                v = (cx - i) * (ay - j) - (ax - i) * (cy - j)
                w = (ax - i) * (by - j) - (bx - i) * (ay - j)
                if u * turn < 0.0 or v * turn < 0.0 or w * turn < 0.0:
                    continue
                height = (u * az + v * bz + w * cz) / area
                top = min(count_z, int(np.ceil(height - 0.5)))
                for k in range(top):
                    inside[i, j, k] += turn


@kernel
def _in_cells(positions, vertex, low, size):
    """A vertex in units of cells from the grid's lowest corner."""
    return (
        (positions[vertex, 0] - low[0]) / size[0],
        (positions[vertex, 1] - low[1]) / size[1],
        (positions[vertex, 2] - low[2]) / size[2],
    )
