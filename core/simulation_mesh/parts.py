"""Parts of a mesh: which triangles are connected, and which parts cross or lie in each other."""

import numpy as np

from ..array_types import FloatArray
from ..jit import kernel, lean_kernel
from ..union_find import name_islands, root_of, unite
from .rays import grid_of, to_triangle
from .surface import Numbers

#: Parts that are compared with each other, at most; of more, it is taken that some cross.
MOST_PARTS = 100


def island_names(triangles: Numbers, vertex_count: int) -> Numbers:
    """The lowest vertex that each vertex is connected with, shape (vertex_count,)."""
    names = np.arange(vertex_count)
    unite_corners(triangles, names)
    return names


def part_names(triangles: Numbers, vertex_count: int) -> Numbers:
    """The lowest vertex that each triangle is connected with, shape (triangle_count,)."""
    names: Numbers = island_names(triangles, vertex_count)[triangles[:, 0]]
    return names


@lean_kernel
def unite_corners(triangles, parent):
    """Unite the corners of each triangle."""
    for t in range(triangles.shape[0]):
        unite(parent, triangles[t, 0], triangles[t, 1])
        unite(parent, triangles[t, 0], triangles[t, 2])
    name_islands(parent)


def have_parts_to_unite(x: FloatArray, triangles: Numbers) -> bool:
    """Whether parts of a closed mesh cross, or one lies in another and faces outwards like it."""
    part = part_names(triangles, len(x))
    return not np.array_equal(united(x, triangles, part), part)


def united(x: FloatArray, triangles: Numbers, part: Numbers) -> Numbers:
    """The lowest of the parts that each triangle's part crosses, or lies in and faces outwards like, shape as `part`.

    `part`: of each triangle the lowest vertex that it is connected with.
    """
    names = np.unique(part)
    if len(names) == 1:
        return part
    if len(names) > MOST_PARTS:
        return np.full_like(part, names[0])
    parent = np.arange(len(x))
    unite_crossing(grid_of(x, triangles, 0.0), part, parent)
    shells = [triangles[part == name] for name in names]
    low, high = (np.array([bound(x[shell], (0, 1)) for shell in shells]) for bound in (np.min, np.max))
    turns = [np.sign(_solid_angle(x, shell, x[shell].mean(axis=(0, 1))) or 1.0) for shell in shells]
    for a, inner in enumerate(shells):
        for b, outer in enumerate(shells):
            if a != b and turns[a] == turns[b] and (low[a] > low[b]).all() and (high[a] < high[b]).all():
                if abs(_solid_angle(x, outer, x[inner[0, 0]])) > 2.0 * np.pi:
                    unite(parent, names[a], names[b])
    name_islands(parent)
    found: Numbers = parent[part]
    return found


def _solid_angle(x: FloatArray, triangles: Numbers, point: FloatArray) -> float:
    """Solid angle of a surface as seen from a point (Van Oosterom and Strackee 1983)."""
    a, b, c = (x[triangles[:, corner]] - point for corner in range(3))
    la, lb, lc = (np.linalg.norm(side, axis=1) for side in (a, b, c))
    above = np.einsum("ij,ij->i", a, np.cross(b, c))
    below = la * lb * lc + np.einsum("ij,ij->i", a, b) * lc
    below += np.einsum("ij,ij->i", b, c) * la + np.einsum("ij,ij->i", c, a) * lb
    return float(2.0 * np.arctan2(above, below).sum())


@kernel
def unite_crossing(grid, part, parent):
    """Unite the parts of which an edge of a triangle passes through one of the other."""
    o, d = np.empty(3), np.empty(3)
    x, f = grid.x, grid.triangles
    for cell in range(grid.start.shape[0] - 1):
        for i in range(grid.start[cell], grid.start[cell + 1]):
            for j in range(grid.start[cell], grid.start[cell + 1]):
                t, u = grid.entry[i], grid.entry[j]
                if part[t] == part[u] or root_of(parent, part[t]) == root_of(parent, part[u]):
                    continue
                for k in range(3):
                    a, b = f[t, k], f[t, (k + 1) % 3]
                    for axis in range(3):
                        o[axis], d[axis] = x[a, axis], x[b, axis] - x[a, axis]
                    if to_triangle(grid, u, o, d, 2.0) <= 1.0:
                        unite(parent, part[t], part[u])
                        break
