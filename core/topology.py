"""Connectivity of triangle meshes: checks, edges, hinges and compressed adjacency lists. Runs once, in numpy."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .array_types import BoolArray, FloatArray, IntArray
from .errors import MeshError
from .tiny import TINY


def check_closed_surface(name: str, positions: FloatArray, triangles: IntArray) -> None:
    """Raise `MeshError` unless the triangles form a closed, consistently wound, outward surface.

    Parameters: `positions` [m], shape (vertex_count, 3); `triangles`, shape (triangle_count, 3).
    Checked in this order: coordinates, faces, loose vertices, zero-area faces, open edges, edges of more
    than two faces, winding, enclosed volume.
    """
    check_surface(name, positions, triangles)
    start, end = triangles.ravel().astype(np.int64), np.roll(triangles, -1, axis=1).ravel().astype(np.int64)
    low, high = np.minimum(start, end), np.maximum(start, end)
    # key of each edge, with the direction in which a face traverses it in the last bit
    side = np.sort((low * len(positions) + high) * 2 + (start == low))
    first = np.flatnonzero(np.diff(side >> 1, prepend=-1))
    uses, forward = np.diff(first, append=len(side)), np.add.reduceat(side & 1, first)
    open_count = int(np.count_nonzero(uses == 1))
    if open_count:
        raise MeshError(
            f"{name}: {open_count} open edges; a pressurized mesh must be closed. Fill the holes, or merge doubled "
            "vertices.",
            "OPEN",
        )
    crowded_count = int(np.count_nonzero(uses > 2))
    if crowded_count:
        raise MeshError(
            f"{name}: {crowded_count} non-manifold edges (shared by three or more faces); a skin has two faces at "
            "each edge. Delete inner faces.",
            "CROWDED",
        )
    twisted_count = int(np.count_nonzero(forward != 1))
    if twisted_count:
        raise MeshError(
            f"{name}: {twisted_count} edges join faces of opposite winding; inside and outside are undefined. "
            "Recalculate the normals.",
            "TWISTED",
        )
    volume = signed_volume(positions, triangles)
    if not volume > 0.0:
        raise MeshError(f"{name}: inside out, it encloses {volume:.3g} m\u00b3. Flip the normals.", "INSIDE_OUT")


def check_surface(name: str, positions: FloatArray, triangles: IntArray) -> None:
    """Raise `MeshError` unless coordinates are finite and every vertex belongs to a face of non-zero area."""
    if not np.all(np.isfinite(positions)):
        bad_count = int(np.count_nonzero(~np.isfinite(positions).all(axis=1)))
        raise MeshError(
            f"{name}: {bad_count} vertices with invalid coordinates (NaN or infinite). Delete or move them."
        )
    if len(triangles) == 0:
        raise MeshError(f"{name}: no faces; a body needs a surface. Add faces to the mesh.")
    if triangles.min() < 0 or triangles.max() >= len(positions):
        raise MeshError(f"{name}: a face names vertex {int(triangles.max())} of {len(positions)}. Rebuild the mesh.")
    used = np.zeros(len(positions), dtype=bool)
    used[triangles.ravel()] = True
    loose_count = int(np.count_nonzero(~used))
    if loose_count:
        raise MeshError(f"{name}: {loose_count} loose vertices that belong to no face. Delete them.", "LOOSE")
    area = triangle_areas(positions, triangles)
    size = float(np.ptp(positions, axis=0).max())
    flat_count = int(np.count_nonzero(area <= 1e-14 * size * size))
    if flat_count:
        raise MeshError(f"{name}: {flat_count} faces of zero area. Dissolve them.", "DEGENERATE")


def check_extent(name: str, positions: NDArray[Any]) -> None:
    """Raise `MeshError` if all vertices [m] coincide: checked first, as other flaws follow from that."""
    if len(positions) > 1 and np.array_equal(positions.min(axis=0), positions.max(axis=0)):
        raise MeshError(
            f"{name}: all {len(positions)} vertices lie in one point. Scale them apart, or undo what moved them there."
        )


def cross(first: FloatArray, second: FloatArray) -> FloatArray:
    """Cross products of rows, the bits of numpy's, which takes twice as long."""
    (ax, ay, az), (bx, by, bz) = first.T, second.T
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=1)


def triangle_areas(positions: FloatArray, triangles: NDArray[np.integer[Any]]) -> FloatArray:
    """Areas [m^2], shape (triangle_count,)."""
    areas: FloatArray = 0.5 * np.linalg.norm(face_vectors(positions, triangles), axis=1)
    return areas


def face_vectors(positions: FloatArray, triangles: NDArray[np.integer[Any]]) -> FloatArray:
    """Twice the area vectors [m^2], along the normals, shape (triangle_count, 3)."""
    a, b, c = (positions[triangles[:, corner]] for corner in range(3))
    return cross(b - a, c - a)


def face_normals(positions: FloatArray, triangles: NDArray[np.integer[Any]]) -> FloatArray:
    """Unit normals, shape (triangle_count, 3); zero where a triangle has no area."""
    return _unit(face_vectors(positions, triangles))


def vertex_vectors(positions: FloatArray, triangles: NDArray[np.integer[Any]]) -> FloatArray:
    """The sums of `face_vectors` around each vertex [m^2], shape (vertex_count, 3)."""
    vectors, corners = np.repeat(face_vectors(positions, triangles), 3, axis=0), triangles.ravel()
    return np.stack([np.bincount(corners, along, len(positions)) for along in vectors.T], axis=1).astype(float)


def vertex_areas(positions: FloatArray, triangles: NDArray[np.integer[Any]]) -> FloatArray:
    """A third of the area of the triangles around each vertex [m^2], shape (vertex_count,)."""
    third = np.repeat(triangle_areas(positions, triangles) / 3.0, 3)
    return np.bincount(triangles.ravel(), third, len(positions)).astype(float)


def vertex_normals(positions: FloatArray, triangles: NDArray[np.integer[Any]]) -> FloatArray:
    """Unit normals of vertices, by the areas of the triangles around each, shape (vertex_count, 3)."""
    return _unit(vertex_vectors(positions, triangles))


def _unit(vectors: FloatArray) -> FloatArray:
    unit: FloatArray = vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1e-300)[:, None]
    return unit


def signed_volume(positions: FloatArray, triangles: NDArray[np.integer[Any]]) -> float:
    """Enclosed volume [m^3], positive for outward winding; taken about the centre for accuracy far from the origin."""
    middle = positions.mean(axis=0)
    a, b, c = (positions[triangles[:, corner]] - middle for corner in range(3))
    return float(np.einsum("ij,ij->", a, cross(b, c)) / 6.0)


def part_middles(
    positions: FloatArray, triangles: NDArray[np.integer[Any]], sides: NDArray[np.int64]
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Middles of equal parts of triangles [m], of each as many as the square of `sides`, and the triangle of each."""
    points, faces = [np.empty((0, 3))], [np.empty(0, np.int64)]
    for n in np.unique(sides[sides > 0]):
        i, j = (numbers.ravel() for numbers in np.meshgrid(np.arange(n), np.arange(n)))
        place = np.stack([i, j], axis=1)
        weights = np.concatenate([place[i + j < n] + 1 / 3, place[i + j < n - 1] + 2 / 3]) / n
        weights = np.column_stack([1.0 - weights.sum(axis=1), weights])
        own = np.flatnonzero(sides == n)
        points.append(np.einsum("wk,tkc->twc", weights, positions[triangles[own]]).reshape(-1, 3))
        faces.append(np.repeat(own, len(weights)))
    return np.concatenate(points), np.concatenate(faces)


def unique_edges(triangles: NDArray[np.integer[Any]]) -> tuple[IntArray, IntArray]:
    """Edges (low, high), sorted, shape (edge_count, 2), and the edge of each triangle side, shape (triangle_count, 3).

    Side k joins corners k and k + 1.
    """
    sides = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2)
    low, high = np.sort(sides.astype(np.int64), axis=1).T
    base = int(high.max(initial=0)) + 1
    key, inverse = np.unique(low * base + high, return_inverse=True)  # scalar keys: sorting rows is ten times slower
    return np.stack([key // base, key % base], axis=1).astype(np.int32), inverse.reshape(-1, 3).astype(np.int32)


def edge_apexes(triangles: IntArray, edges: IntArray, side_edge: IntArray) -> IntArray:
    """Corner opposite each edge in its first two triangles, -1 where there is none, shape (edge_count, 2).

    `edges` and `side_edge` are those of `unique_edges`.
    """
    start, side = grouped(side_edge.ravel(), len(edges))
    opposite = np.roll(triangles, -2, axis=1).ravel()[side]
    uses = np.diff(start)
    apex = np.full((len(edges), 2), -1, dtype=np.int32)
    for place in range(2):
        is_used = uses > place
        apex[is_used, place] = opposite[start[:-1][is_used] + place]
    return apex


def starts(counts: list[int]) -> IntArray:
    """CSR starts of groups of these sizes."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)


def grouped(keys: IntArray, group_count: int) -> tuple[IntArray, IntArray]:
    """Compressed lists: (start, index) so that index[start[g]:start[g + 1]] are the places of keys == g, in order."""
    order = np.argsort(keys, kind="stable").astype(np.int32)
    start = np.searchsorted(keys[order], np.arange(group_count + 1)).astype(np.int32)
    return start, order


def fan_triangles(vertex_start: IntArray, corners: IntArray) -> IntArray:
    """Triangles of fans, which list the two other corners at each vertex, each once: shape (triangle_count, 3)."""
    first = np.repeat(np.arange(len(vertex_start) - 1, dtype=np.int32), np.diff(vertex_start))
    once = first < corners.min(axis=1, initial=len(vertex_start))
    return np.column_stack([first[once], corners[once]])


def triangle_neighbours(triangles: IntArray) -> IntArray:
    """Triangle across each side, -1 where there is none or more than one, shape (triangle_count, 3)."""
    edges, side_edge = unique_edges(triangles)
    flat = side_edge.ravel()
    owner = np.repeat(np.arange(len(triangles)), 3)
    total = np.bincount(flat, weights=owner, minlength=len(edges)).astype(np.int64)
    uses = np.bincount(flat, minlength=len(edges))
    neighbour = np.where(uses[flat] == 2, total[flat] - owner, -1)
    return neighbour.reshape(-1, 3).astype(np.int32)


def hinges(triangles: IntArray) -> IntArray:
    """Pairs of triangles at an edge: (edge start, edge end, apex, other apex), shape (hinge_count, 4).

    The first triangle runs start, end, apex; the second end, start, other apex.
    """
    edges, side_edge = unique_edges(triangles)
    flat = side_edge.ravel()
    start = triangles.ravel()
    end = np.roll(triangles, -1, axis=1).ravel()
    apex = np.roll(triangles, -2, axis=1).ravel()
    forward = start < end
    table = np.full((len(edges), 2), -1, dtype=np.int32)
    table[flat[forward], 0] = apex[forward]
    table[flat[~forward], 1] = apex[~forward]
    both = (table >= 0).all(axis=1)
    return np.concatenate([edges[both], table[both]], axis=1).astype(np.int32)


def graph(pairs: IntArray, weight: FloatArray, vertex_count: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Weighted pairs of vertices, repeated ones added up, as a symmetric graph in CSR: (start, other, weight)."""
    low, high = np.sort(pairs.astype(np.int64), axis=1).T
    key, entry = np.unique(low * vertex_count + high, return_inverse=True)
    total = np.bincount(entry, weight, minlength=len(key)).astype(
        float, copy=False
    )  # bincount of nothing gives integers
    # each pair from both ends, with the same weight
    both = np.concatenate([key, key % vertex_count * vertex_count + key // vertex_count])
    order = np.argsort(both)
    start = np.searchsorted(both[order], np.arange(vertex_count + 1) * vertex_count).astype(np.int32)
    return start, (both[order] % vertex_count).astype(np.int32), np.concatenate([total, total])[order]


def space_filling_order(positions: FloatArray) -> IntArray:
    """Vertices along a Morton curve, so that neighbours in space are neighbours in memory, shape (vertex_count,)."""
    low = positions.min(axis=0)
    scale = 1023.0 / max(float((positions.max(axis=0) - low).max()), TINY)
    cell = ((positions - low) * scale).astype(np.uint64)
    code = np.zeros(len(positions), dtype=np.uint64)
    for axis in range(3):
        bits = cell[:, axis]
        for shift, mask in ((16, 0x30000FF), (8, 0x300F00F), (4, 0x30C30C3), (2, 0x9249249)):
            bits = (bits | (bits << np.uint64(shift))) & np.uint64(mask)
        code |= bits << np.uint64(axis)
    return np.argsort(code, kind="stable").astype(np.int32)


def pin_mask(name: str, vertex_count: int, pinned: ArrayLike | None) -> BoolArray:
    """Boolean mask of pinned vertices from their numbers; raises `MeshError` for a number out of range."""
    mask = np.zeros(vertex_count, dtype=bool)
    numbers = np.asarray([] if pinned is None else pinned, dtype=np.int32)
    bad = numbers[(numbers < 0) | (numbers >= vertex_count)]
    if len(bad):
        raise MeshError(f"{name}: pinned vertex {bad[0]} of {vertex_count}. Give numbers from 0 below the count.")
    mask[numbers] = True
    return mask
