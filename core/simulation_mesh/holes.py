"""Fill holes: each rim gets the triangles of least total area (Barequet and Sharir 1995)."""

import numpy as np

from ..array_types import FloatArray
from ..jit import kernel
from ..topology import triangle_areas
from .parts import island_names
from .repair import Mesh, list_rims
from .surface import Numbers, set_twins

#: A part is filled where its filling is at most this share of its whole surface: half a sphere has 0.33, a sheet 0.5.
MOST_FILLED = 0.4
#: Rims of more vertices are filled from their centre, as the least area takes time by the cube of their number.
LONGEST_RIM = 250
#: No triangle counts as less than this share of its squared sides where shapes count.
FLAT = 1e-4


def fill_holes(mesh: Mesh, shape: float = 0.0) -> Mesh:
    """Close the holes of parts that are mostly closed; others stay open.

    `shape`: what shapes of triangles count beside their areas. Without, vertices on a straight rim may get some of no
    area.
    """
    twin = np.zeros(mesh.triangles.size, np.int64)
    set_twins(mesh.triangles, twin)
    if (twin >= 0).all():
        return mesh
    rim, start = np.zeros(len(twin), np.int64), np.zeros(len(twin) + 1, np.int64)
    count = int(list_rims(twin, rim, start))
    if count < 0:
        return mesh  # more than two faces at an edge
    part = island_names(mesh.triangles, len(mesh.x))
    own = np.bincount(part[mesh.triangles[:, 0]], triangle_areas(mesh.x, mesh.triangles), len(mesh.x))
    x, fillings, owners = mesh.x, list[Numbers](), list[int]()
    for number in range(count):
        loop = mesh.triangles.ravel()[rim[start[number] : start[number + 1]]]
        if len(np.unique(loop)) < len(loop):
            return mesh  # the rim passes a vertex twice
        x, filling = _filled(x, loop, shape)
        fillings.append(filling)
        owners.append(int(part[loop[0]]))
    areas = np.array([triangle_areas(x, filling).sum() for filling in fillings])
    filled = np.bincount(owners, areas, len(own))
    kept = [f for f, owner in zip(fillings, owners, strict=True) if filled[owner] < MOST_FILLED * (filled + own)[owner]]
    triangles = np.concatenate([mesh.triangles, *kept])
    used = np.zeros(len(x), bool)
    used[triangles] = True
    used[: len(mesh.x)] = True
    return Mesh(x[used], (np.cumsum(used) - 1)[triangles], mesh.vertex)


def _filled(x: FloatArray, loop: Numbers, shape: float) -> tuple[FloatArray, Numbers]:
    """Triangles of a rim, and positions with a further one where they need it."""
    n = len(loop)
    if n > LONGEST_RIM:
        spokes = np.stack([loop, np.roll(loop, -1), np.full(n, len(x))], axis=1)
        return np.concatenate([x, x[loop].mean(axis=0, keepdims=True)]), spokes
    triangles, cost, apex = np.zeros((n - 2, 3), np.int64), np.zeros((n, n)), np.zeros((n, n), np.int64)
    least_area(x[loop], shape, cost, apex, triangles)
    return x, loop[triangles]


@kernel
def least_area(p, shape, cost, apex, triangles):
    """Triangles of a polygon with the least total area, shape (corner_count - 2, 3).

    To each its squared sum of squared sides by its area is added, times `shape`.
    """
    n = p.shape[0]
    for width in range(2, n):
        for i in range(n - width):
            k = i + width
            cost[i, k] = np.inf
            for j in range(i + 1, k):
                ux, uy, uz = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
                vx, vy, vz = p[k, 0] - p[i, 0], p[k, 1] - p[i, 1], p[k, 2] - p[i, 2]
                cx, cy, cz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
                area = np.sqrt(cx * cx + cy * cy + cz * cz)
                wx, wy, wz = vx - ux, vy - uy, vz - uz
                sides = ux * ux + uy * uy + uz * uz + vx * vx + vy * vy + vz * vz + wx * wx + wy * wy + wz * wz
                total = cost[i, j] + cost[j, k] + area
                if shape > 0.0:
                    total += shape * sides * sides / (area + FLAT * sides)
                if total < cost[i, k]:
                    cost[i, k], apex[i, k] = total, j
    first, last = np.zeros(n, np.int64), np.zeros(n, np.int64)
    first[0], last[0] = 0, n - 1
    waiting, count = 1, 0
    while waiting > 0:
        waiting -= 1
        i, k = first[waiting], last[waiting]
        if k - i < 2:
            continue
        j = apex[i, k]
        triangles[count, 0], triangles[count, 1], triangles[count, 2] = i, j, k
        count += 1
        first[waiting], last[waiting] = i, j
        first[waiting + 1], last[waiting + 1] = j, k
        waiting += 2
