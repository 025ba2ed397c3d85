"""Cages whose Catmull-Clark surface is where it is wanted: of drawn meshes that are shown subdivided.

The surface lies inside of its cage by the curvature there. A cage that only followed what is simulated would keep its
distance where a body is pressed flat, and its surface would sink into the floor by as much. So the cage is moved until
its vertices' limit points (Catmull and Clark 1978; Halstead, Kass, DeRose 1993) are where those of the surface are.
"""

import numpy as np

from ..array_types import FloatArray, IntArray

#: Times that a cage is moved by what its limit points lack: more would fit what is finer than its faces.
TIMES = 5
#: A cage fits a surface if its limit points differ from those that are seen by this share of their distance at most.
FITS = 0.02
#: Distance of a cage from its surface that matters, as a share of its size.
LEAST_DISTANCE = 0.002


class Subdivision:
    """The limit points of a mesh's vertices under Catmull and Clark's subdivision.

    Of a vertex v with n edges that is ((n^2 - n) v + 2 sum of their other ends + 4 sum of the middles of its faces) /
    (n (n + 5)); on a rim a sixth of (4 v + both neighbors there). Where rims meet, v.
    """

    def __init__(self, corners: IntArray, face_start: IntArray) -> None:
        """`corners`: vertices of all faces in a row; `face_start`: where each begins, and the end of the last."""
        sizes = np.diff(face_start)
        self._corners, self._face_start, self._sizes = corners, face_start[:-1], sizes[:, None]
        self._following, self._face_of_side = np.arange(1, len(corners) + 1), np.repeat(np.arange(len(sizes)), sizes)
        self._following[face_start[1:] - 1] = face_start[:-1]
        sides = np.sort(np.stack([corners, corners[self._following]], axis=1), axis=1)
        edges, side, faces_beside = np.unique(sides, axis=0, return_inverse=True, return_counts=True)
        self._edges, self._edge_of_side, self._is_inner = edges, side.ravel(), faces_beside == 2
        self._used, self._face, self._face_rows = _by_vertex(corners, self._face_of_side)
        _, self._other, self._edge_rows = _by_vertex(edges.ravel(), edges[:, ::-1].ravel())
        self._valence = n = np.diff(np.append(self._edge_rows, edges.size))[:, None]
        self._shares = (n - 1.0) / (n + 5.0), 2.0 / (n * (n + 5.0)), 4.0 / (n * (n + 5.0))
        rim = edges[~self._is_inner]
        ends, beside, rows = _by_vertex(rim.ravel(), rim[:, ::-1].ravel())
        is_plain = np.diff(np.append(rows, rim.size)) == 2
        self._rim, self._held = ends[is_plain], ends[~is_plain]
        self._beside = beside[rows[is_plain, None] + [0, 1]]

    @property
    def triangles(self) -> IntArray:
        """Triangles of a mesh of squares."""
        squares = self._corners.reshape(-1, 4)
        return np.concatenate([squares[:, :3], squares[:, [0, 2, 3]]])

    def limit_points(self, x: FloatArray) -> FloatArray:
        """Where the vertices of the mesh at positions x go, shape (vertex_count, 3)."""
        own, edge, face = self._shares
        middles = np.add.reduceat(x[self._corners], self._face_start) / self._sizes
        found = x.copy()
        found[self._used] = (
            own * x[self._used]
            + edge * np.add.reduceat(x[self._other], self._edge_rows)
            + face * np.add.reduceat(middles[self._face], self._face_rows)
        )
        found[self._rim] = (4.0 * x[self._rim] + x[self._beside].sum(axis=1)) / 6.0
        found[self._held] = x[self._held]
        return found

    def refined(self, x: FloatArray) -> "tuple[Subdivision, FloatArray]":
        """The squares that one step of subdivision makes, and their vertices for those at x, shape (count, ...)."""
        middles = np.add.reduceat(x[self._corners], self._face_start) / self._sizes
        halves = 0.5 * x[self._edges].sum(axis=1)
        beside = np.zeros_like(halves)
        np.add.at(beside, self._edge_of_side, middles[self._face_of_side])
        edge_points = np.where(self._is_inner[:, None], 0.5 * halves + 0.25 * beside, halves)
        points = x.copy()
        around = np.add.reduceat(middles[self._face], self._face_rows) + np.add.reduceat(
            x[self._other], self._edge_rows
        )
        points[self._used] = (around / self._valence + (self._valence - 2.0) * x[self._used]) / self._valence
        points[self._rim] = (6.0 * x[self._rim] + x[self._beside].sum(axis=1)) / 8.0
        points[self._held] = x[self._held]
        first = len(x) + self._edge_of_side
        before = np.empty_like(first)
        before[self._following] = first
        squares = np.stack([self._corners, first, len(x) + len(halves) + self._face_of_side, before], axis=1)
        refined = Subdivision(squares.ravel(), np.arange(0, squares.size + 1, 4))
        return refined, np.concatenate([points, edge_points, middles])

    def is_of(self, cage: FloatArray, surface: FloatArray) -> bool:
        """Whether the limit points of a cage are these, and so far from it that it matters."""
        away = float(np.abs(surface - cage).max(initial=0.0))
        if not away > LEAST_DISTANCE * float(np.ptp(cage, axis=0).max(initial=0.0)):
            return False
        return bool(np.abs(self.limit_points(cage) - surface).max() <= FITS * away)

    def cage(self, near: FloatArray, surface: FloatArray) -> FloatArray:
        """A cage whose limit points are on a surface, from one that is near."""
        for _ in range(TIMES):
            near = near + surface - self.limit_points(near)
        return near


def _by_vertex(vertices: IntArray, values: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """The vertices, each once, the values in their order, and where those of each begin."""
    order = np.argsort(vertices, kind="stable")
    found, start = np.unique(vertices[order], return_index=True)
    return found, values[order], start
