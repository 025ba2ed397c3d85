"""Edges that only divide a flat face of something given: while it stands still, nothing meets them.

What lies over such an edge lies over its triangles. Another edge can only come to cross it by one of its ends passing
through a triangle, or by passing an edge that does stand out; both are seen. And of two edges the given one must stand
out for a contact of their own (`collide.edge_gaps`). On a floor they would be a third of all rows.
"""

import numpy as np

from ...collide.candidates import Candidates
from ...jit import kernel
from ...model import FloatArray, Model

#: Height of a triangle's corner over the plane of its neighbour, relative to its distance from the edge: rounding.
FLAT = 1e-9


class FlatEdges:
    """Lets the search pass over the flat edges of the given bodies of one model."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._first = int(np.searchsorted(model.surfaces.edge_body, model.moving_count))
        self._known = np.full((model.point_count - model.moving_point_count, 3), np.nan)
        self._flat = np.zeros(len(model.surfaces.edges), bool)
        self._passed = False

    def pass_over(self, candidates: Candidates, x: FloatArray, *, still: bool) -> None:
        """Tell the search before a frame in which the given points are at x [m] and do or do not move."""
        given = x[self._model.moving_point_count :]
        if still and not np.array_equal(given, self._known):
            self._known[:] = given
            mark_flat(x, self._first, self._model.surfaces.edges, self._model.surfaces.edge_apex, self._flat)
            self._passed = False
        if still != self._passed:
            candidates.pass_over_edges(self._flat if still else np.zeros_like(self._flat))
            self._passed = still


@kernel
def mark_flat(x, first, edges, apex, flat):
    """Whether the two triangles at each edge from `first` on lie in one plane, side by side."""
    for e in range(first, edges.shape[0]):
        p, q, c, d = edges[e, 0], edges[e, 1], apex[e, 0], apex[e, 1]
        flat[e] = False
        if c < 0 or d < 0:
            continue
        ex, ey, ez = x[q, 0] - x[p, 0], x[q, 1] - x[p, 1], x[q, 2] - x[p, 2]
        ax, ay, az = x[c, 0] - x[p, 0], x[c, 1] - x[p, 1], x[c, 2] - x[p, 2]
        bx, by, bz = x[d, 0] - x[p, 0], x[d, 1] - x[p, 1], x[d, 2] - x[p, 2]
        nx, ny, nz = ey * az - ez * ay, ez * ax - ex * az, ex * ay - ey * ax
        mx, my, mz = by * ez - bz * ey, bz * ex - bx * ez, bx * ey - by * ex
        nn, mm = nx * nx + ny * ny + nz * nz, mx * mx + my * my + mz * mz
        kx, ky, kz = ny * mz - nz * my, nz * mx - nx * mz, nx * my - ny * mx
        alike = nx * mx + ny * my + nz * mz > 0.0  # both normals point to one side: no fold
        flat[e] = alike and kx * kx + ky * ky + kz * kz <= FLAT * FLAT * nn * mm
