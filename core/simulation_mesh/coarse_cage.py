"""Coarse cages: drawn meshes of few vertices that are seen subdivided.

The surface of eight vertices has no flat underside: it would sink into the floor on which the simulated body lies
pressed flat. So such a cage is moved, by least squares, until its surface stands out of the convex hull of what is
simulated nowhere.
"""

import numpy as np

from ..array_types import FloatArray
from ..topology import face_normals, vertex_normals
from .bound import bound_mesh
from .even import EvenMesh
from .inverse import InverseFollower
from .subdivision import Subdivision

#: Most vertices of a coarse cage, and the least vertices that are simulated for each of them.
MOST_VERTICES, LEAST_SHARE = 200, 4
#: Planes that touch the hull all over, and as many where most stands out; how often what stands out most is moved.
PLANES, TIMES = 64, 4
#: Steps towards the pushes that do so.
PUSHES = 40
#: What stands out by less than this share of the size is left.
TOLERANCE = 2e-4
#: Weight of moves that no simulated vertex asks for, as a share of the others.
REGULAR = 0.02


def is_coarse(cage_count: int, even_count: int) -> bool:
    """Whether a cage has too few vertices to show the shape of so many simulated ones."""
    return cage_count <= min(MOST_VERTICES, even_count // LEAST_SHARE)


class CoarseCage:
    """Keeps the surface of a coarse cage within the convex hull of what is simulated."""

    def __init__(self, even: EvenMesh, areas: FloatArray, cage: FloatArray, subdivision: Subdivision) -> None:
        """Bind an even mesh to the surface of a cage.

        Parameters: `areas`, of the even mesh's vertices; `cage`, positions at the start, shape (cage_count, 3).
        """
        shown = np.eye(len(cage))  # the weights of the cage's vertices in those of its surface
        while len(shown) < len(even.positions):
            subdivision, shown = subdivision.refined(shown)
        self._shown = subdivision.limit_points(shown)
        surface = self._shown @ cage
        even = bound_mesh(even.positions, even.triangles, surface, subdivision.triangles)
        self._triangles = np.ascontiguousarray(even.triangles, np.int64)
        self._inverse = InverseFollower(even, surface)
        places = np.einsum("vk,vkc->vc", even.nearest_weights, self._shown[even.nearest])
        squares = places.T @ (areas[:, None] * places)
        own = np.diag(squares)
        squares[np.diag_indices_from(squares)] += REGULAR * np.maximum(own, REGULAR * own.max())
        self._moves = np.linalg.solve(squares, self._shown.T)
        self._planes = np.unique(np.linspace(0, len(even.positions) - 1, PLANES).astype(int))

    def within(self, cage: FloatArray, even_positions: FloatArray) -> FloatArray:
        """Cage positions near `cage` for positions of the even mesh's vertices, shape (vertex_count, 3)."""
        surface, normals = self._shown @ cage, vertex_normals(even_positions, self._triangles)
        seen = self._inverse.positions(surface)
        outside = np.einsum("vk,vk->v", seen - even_positions, normals)
        # all of a small flat patch, as a taut body has
        outermost = np.argsort(outside[self._triangles].max(axis=1), kind="stable")[-PLANES:]
        flat = face_normals(even_positions, self._triangles[outermost])
        normals = np.concatenate([normals[self._planes], flat])
        reach = (even_positions @ normals.T).max(axis=0)
        least = TOLERANCE * float(np.ptp(even_positions, axis=0).max())
        # round between its vertices, the surface stands out there as it is drawn: that does not count by itself
        is_pressed = (seen @ normals.T - reach).max(axis=0) > least
        normals, reach = normals[is_pressed], reach[is_pressed]
        for _ in range(TIMES):
            beyond = surface @ normals.T - reach
            farthest = beyond.argmax(axis=0)
            out = np.flatnonzero(beyond[farthest, np.arange(len(reach))] > least)
            if not len(out):
                break
            farthest, along = farthest[out], normals[out]
            moves = self._moves[:, farthest]
            coupled = (self._shown[farthest] @ moves) * (along @ along.T)
            change = (moves * pushes(coupled, beyond[farthest, out])) @ along
            cage, surface = cage - change, surface - self._shown @ change
        return cage


def pushes(coupled: FloatArray, beyond: FloatArray) -> FloatArray:
    """Least pushes p, none of which pulls, that move each of several points back by what it is beyond its plane.

    p >= 0 and C p >= b with p (C p - b) = 0, by accelerated gradients (Beck and Teboulle 2009); `coupled`: C, how far a
    unit push moves each point, shape (count, count).
    """
    scale = 1.0 / np.sqrt(np.diag(coupled))
    unit, wanted = coupled * scale * scale[:, None], beyond * scale
    rate = 1.0 / np.abs(unit).sum(axis=1).max()
    found = np.zeros_like(wanted)
    ahead, inertia = found, 1.0
    for _ in range(PUSHES):
        before, found = found, np.maximum(0.0, ahead + rate * (wanted - unit @ ahead))
        inertia, last = 0.5 + np.sqrt(0.25 + inertia * inertia), inertia
        ahead = found + (last - 1.0) / inertia * (found - before)
    return np.asarray(found * scale)
