"""Surfaces of smooth unions of tapered limbs, by naive surface nets (Gibson 1998); of them a sitting cat."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.array_types import FloatArray, IntArray

if TYPE_CHECKING:
    from ..softpressure.scene_io.blender_types import Mesh

Point = tuple[float, float, float]
#: Start, end [m], and radius at both [m].
Limb = tuple[Point, Point, float, float]
#: A cat that looks along +x, 1 m high to its ears.
LIMBS: tuple[Limb, ...] = (
    ((-0.22, 0.0, 0.26), (0.02, 0.0, 0.48), 0.25, 0.19),  # trunk
    ((0.02, 0.0, 0.46), (0.12, 0.0, 0.64), 0.18, 0.15),  # neck
    ((0.12, -0.07, 0.76), (0.12, 0.07, 0.76), 0.19, 0.19),  # head, wider than long
    ((0.26, 0.0, 0.71), (0.32, 0.0, 0.70), 0.09, 0.07),  # muzzle
    ((0.08, 0.14, 0.88), (0.08, 0.20, 1.04), 0.085, 0.03),  # ears
    ((0.08, -0.14, 0.88), (0.08, -0.20, 1.04), 0.085, 0.03),
    ((0.10, 0.11, 0.42), (0.17, 0.11, 0.08), 0.09, 0.075),  # fore legs
    ((0.10, -0.11, 0.42), (0.17, -0.11, 0.08), 0.09, 0.075),
    ((0.17, 0.11, 0.075), (0.25, 0.11, 0.07), 0.075, 0.07),  # fore paws
    ((0.17, -0.11, 0.075), (0.25, -0.11, 0.07), 0.075, 0.07),
    ((-0.20, 0.17, 0.20), (-0.08, 0.21, 0.09), 0.16, 0.085),  # haunches
    ((-0.20, -0.17, 0.20), (-0.08, -0.21, 0.09), 0.16, 0.085),
    ((-0.40, 0.0, 0.14), (-0.62, 0.0, 0.16), 0.085, 0.08),  # tail
    ((-0.62, 0.0, 0.16), (-0.74, 0.0, 0.40), 0.08, 0.065),
)
#: Over what distance limbs blend [m].
BLEND = 0.035


def cat(height: float, cell: float = 0.055) -> tuple[FloatArray, IntArray]:
    """Vertices [m] and quads of a closed cat that stands on z = 0; `height` [m], `cell` for a cat 1 m high [m]."""
    points, quads = surface_net(LIMBS, cell)
    points -= (0.0, 0.0, float(points[:, 2].min()))
    return points * (height / float(points[:, 2].max())), quads


def cat_mesh(name: str, height: float, cell: float = 0.055) -> "Mesh":
    """The cat as a mesh of Blender."""
    from .sample_parts import make_mesh

    points, quads = cat(height, cell)
    return make_mesh(name, points, quads.tolist())


def distance(limbs: Sequence[Limb], points: FloatArray) -> FloatArray:
    """About how far points are outside of a union of limbs [m], negative inside, shape (n,)."""
    total = np.zeros(len(points))
    for start, end, first, last in limbs:
        a, along = np.array(start), np.array(end) - np.array(start)
        share = np.clip((points - a) @ along / (along @ along), 0.0, 1.0)
        away = np.linalg.norm(points - a - share[:, None] * along, axis=1) - (first + (last - first) * share)
        total += np.exp(-away / BLEND)
    return np.asarray(-BLEND * np.log(total + 1e-300))


def surface_net(limbs: Sequence[Limb], cell: float) -> tuple[FloatArray, IntArray]:
    """Vertices [m] and outward quads of the surface, one vertex in each cell of a grid that it passes."""
    ends = np.array([limb[:2] for limb in limbs]).reshape(-1, 3)
    low, high = ends.min(axis=0) - 0.4, ends.max(axis=0) + 0.4
    shape = tuple(np.ceil((high - low) / cell).astype(int) + 1)
    grid = np.stack(np.meshgrid(*(np.arange(n) for n in shape), indexing="ij"), axis=-1)
    values = distance(limbs, (low + cell * grid).reshape(-1, 3)).reshape(shape)
    corners = np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    pairs = [(p, q) for p in range(8) for q in range(p + 1, 8) if abs(corners[p] - corners[q]).sum() == 1]
    cells = tuple(n - 1 for n in shape)
    at_corner = np.stack([values[i : i + cells[0], j : j + cells[1], k : k + cells[2]] for i, j, k in corners])
    total, count = np.zeros((*cells, 3)), np.zeros(cells)
    for p, q in pairs:  # the mean of where the edges of the cell are crossed
        a, b = at_corner[p], at_corner[q]
        is_crossed = (a < 0.0) != (b < 0.0)
        share = np.divide(a, a - b, out=np.zeros(cells), where=is_crossed)
        total += is_crossed[..., None] * (corners[p] + share[..., None] * (corners[q] - corners[p]))
        count += is_crossed
    used = count > 0
    number = np.full(cells, -1)
    number[used] = np.arange(used.sum())
    points = low + cell * (grid[:-1, :-1, :-1][used] + total[used] / count[used][:, None])
    quads = []
    for axis in range(3):  # an edge of the grid that is crossed has a quad around it
        one, two = (axis + 1) % 3, (axis + 2) % 3
        inside = np.swapaxes(values, 0, axis) < 0.0
        for place in np.argwhere(inside[:-1] != inside[1:]):
            at = place.copy()
            at[[0, axis]] = at[[axis, 0]]
            first, second = np.eye(3, dtype=int)[one], np.eye(3, dtype=int)[two]
            around = [number[tuple(at - u - v)] for u, v in ((0, 0), (first, 0), (first, second), (0, second))]
            quads.append(around if inside[tuple(place)] else around[::-1])
    return points, np.array(quads, dtype=np.int32)
