"""Convex shapes of few faces, for separating axes (Martin 2009, 5.2.3).

Triangles that lie in one plane are one face. Everything is kept in the frame of the body: its start orientation,
relative to the centre of mass.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...array_types import BoolArray, FloatArray, IntArray
from ...latest import keep_latest
from ...model import Model
from ...tiny import TINY
from ...topology import cross, face_vectors, starts, triangle_neighbours

#: Most faces of a simple shape: more are costly for separating axes, and round shapes lose speed as they roll.
MOST_FACES = 32
#: Largest distance of corners beyond a face, as a share of the body's radius: rounding of single precision.
FLATNESS = 1e-5
#: Two neighbouring triangles whose unit normals differ by less than this are one face.
SAME_FACE = 1e-4


class ConvexShapes(NamedTuple):
    """Faces, edges and corners of the bodies that are simple; the others have none of them."""

    simple: BoolArray  # whether the body is convex and has few faces, shape (rigid_count,)
    corner_start: IntArray  # CSR over bodies, shape (rigid_count + 1,)
    corners: FloatArray  # [m], shape (corner_count, 3)
    face_start: IntArray  # CSR over bodies, shape (rigid_count + 1,)
    normals: FloatArray  # outward unit normal of each face, shape (face_count, 3)
    offsets: FloatArray  # its distance from the centre [m], shape (face_count,)
    loop_start: IntArray  # CSR over faces, shape (face_count + 1,)
    loops: IntArray  # corners around each face, counter-clockwise from outside
    edge_start: IntArray  # CSR over bodies, shape (rigid_count + 1,)
    edges: IntArray  # its two corners, then the two faces at it, shape (edge_count, 4)


@keep_latest
def convex_shapes(model: Model) -> ConvexShapes:
    """Shapes of a model's rigid bodies."""
    solids, surfaces = model.rigid, model.surfaces
    parts: list[_Shape | None] = []
    for body in range(model.rigid_count):
        first = solids.point_start[body]
        arm = solids.arm[first - model.vertex_count :][: solids.vertex_count[body]]
        start = surfaces.body_triangle_start[model.membrane_count + body :]
        parts.append(_shape(arm, surfaces.triangles[start[0] : start[1]] - first))
    corner_start, face_start, edge_start = (
        starts([0 if part is None else len(part[key]) for part in parts]) for key in (0, 1, 4)
    )
    shapes = [part for part in parts if part is not None]
    loops, edges, lengths = [np.zeros(0, np.int32)], [np.zeros((0, 4), np.int32)], []
    for body, part in enumerate(parts):
        if part is not None:
            loops += [loop + corner_start[body] for loop in part[3]]
            lengths += [len(loop) for loop in part[3]]
            base = [corner_start[body]] * 2 + [face_start[body]] * 2
            edges.append(part[4] + np.array(base, np.int32))
    return ConvexShapes(
        simple=np.array([part is not None for part in parts], dtype=bool),
        corner_start=corner_start,
        corners=np.concatenate([np.zeros((0, 3)), *(shape[0] for shape in shapes)]),
        face_start=face_start,
        normals=np.concatenate([np.zeros((0, 3)), *(shape[1] for shape in shapes)]),
        offsets=np.concatenate([np.zeros(0), *(shape[2] for shape in shapes)]),
        loop_start=starts(lengths),
        loops=np.concatenate(loops).astype(np.int32),
        edge_start=edge_start,
        edges=np.concatenate(edges).astype(np.int32),
    )


#: Corners, normals, offsets, loops, edges of one body.
_Shape = tuple[FloatArray, FloatArray, FloatArray, list[IntArray], IntArray]


def _shape(arm: FloatArray, triangles: IntArray) -> _Shape | None:
    """A body's faces; None where it is not convex or has too many."""
    radius = np.linalg.norm(arm, axis=1).max()
    cross = face_vectors(arm, triangles)
    area = np.linalg.norm(cross, axis=1)
    good = area > 1e-12 * radius**2
    normal = cross / np.where(good, area, 1.0)[:, None]
    face = _faces(normal, area, good, triangle_neighbours(triangles))
    if face is None:
        return None
    count = int(face.max()) + 1
    weighted = np.stack([np.bincount(face, cross[:, axis], count) for axis in range(3)], axis=1)
    normals = weighted / np.linalg.norm(weighted, axis=1)[:, None]
    # the plane touches the outermost corner, so that nothing stands out of the shape
    height = arm @ normals.T
    offsets = height.max(axis=0)
    lowest = np.full(count, np.inf)
    np.minimum.at(lowest, np.repeat(face, 3), height[triangles.ravel(), np.repeat(face, 3)])
    if (offsets - lowest > FLATNESS * radius).any():
        return None
    loops = _loops([_border(triangles[face == number]) for number in range(count)], arm, normals)
    if any(len(loop) < 3 for loop in loops):
        return None
    used = np.unique(np.concatenate(loops))
    edges: dict[tuple[int, int], list[int]] = {}
    place = {int(point): number for number, point in enumerate(used)}
    loops = [np.array([place[int(point)] for point in loop], np.int32) for loop in loops]
    for number, loop in enumerate(loops):
        for a, b in zip(loop.tolist(), np.roll(loop, -1).tolist(), strict=True):
            edges.setdefault((min(a, b), max(a, b)), []).append(number)
    if any(len(faces) != 2 for faces in edges.values()):
        return None
    rows = np.array([[*ends, *faces] for ends, faces in sorted(edges.items())], np.int32)
    return arm[used], normals, offsets, loops, rows


def _faces(normal: FloatArray, area: FloatArray, good: BoolArray, neighbour: IntArray) -> IntArray | None:
    """Face of each triangle: those in one plane, grown from the largest triangles; None if there are too many."""
    face, count, beside = [-1] * len(normal), 0, neighbour.tolist()
    for seed in np.argsort(-area, kind="stable").tolist():
        if face[seed] >= 0:
            continue
        if count == MOST_FACES or not good[seed]:
            return None
        is_flat = (~good | (((normal - normal[seed]) ** 2).sum(axis=1) < SAME_FACE**2)).tolist()
        face[seed], stack = count, [seed]
        while stack:
            for other in beside[stack.pop()]:
                if other >= 0 and face[other] < 0 and is_flat[other]:
                    face[other] = count
                    stack.append(other)
        count += 1
    return np.array(face)


def _border(triangles: IntArray) -> list[int]:
    """Points around a face; empty where its border is no single loop."""
    sides = {(a, b) for t in triangles.tolist() for a, b in ((t[0], t[1]), (t[1], t[2]), (t[2], t[0]))}
    after = {a: b for a, b in sides if (b, a) not in sides}
    if len(after) != sum((b, a) not in sides for a, b in sides):
        return []
    border = [min(after)]
    while after[border[-1]] != border[0] and len(border) <= len(after):
        border.append(after[border[-1]])
    return border if len(border) == len(after) else []


def _loops(borders: list[list[int]], arm: FloatArray, normals: FloatArray) -> list[IntArray]:
    """Corners around each face; points on a straight border are left out."""
    before = np.array([point for border in borders for point in border[-1:] + border[:-1]], np.int32)
    points = np.array([point for border in borders for point in border], np.int32)
    after = np.array([point for border in borders for point in border[1:] + border[:1]], np.int32)
    lengths = [len(border) for border in borders]
    came, goes = arm[points] - arm[before], arm[after] - arm[points]
    turn = (cross(came, goes) * np.repeat(normals, lengths, axis=0)).sum(axis=1)
    size = np.linalg.norm(came, axis=1) * np.linalg.norm(goes, axis=1)
    is_corner = turn > SAME_FACE * np.maximum(size, TINY)
    return [points[a:b][is_corner[a:b]] for a, b in pairwise(starts(lengths))]
