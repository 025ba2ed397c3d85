"""Torn triangles of an even mesh, as torn triangles of the drawn one.

A drawn triangle is torn where its middle or a corner lies on a torn one, or where the middle of a torn one lies on it:
what follows a torn triangle is carried off by its corners.
"""

import numpy as np

from ..array_types import BoolArray, FloatArray
from ..topology import face_normals
from .even import EvenMesh
from .follower import Follower
from .nearest import nearest_triangles
from .surface import Numbers


class DrawnTriangles:
    """Which drawn triangles lie on which triangles of an even mesh."""

    def __init__(
        self, even: EvenMesh, follower: Follower, drawn_positions: FloatArray, drawn_triangles: Numbers
    ) -> None:
        """`drawn_positions`: shape (drawn_count, 3); `drawn_triangles`: shape (triangle_count, 3)."""
        x, faces = np.ascontiguousarray(even.positions, float), even.triangles.astype(np.int64)
        drawn, drawn_faces = np.ascontiguousarray(drawn_positions, float), drawn_triangles.astype(np.int64)
        length = float(np.linalg.norm(x[faces] - x[np.roll(faces, -1, axis=1)], axis=2).mean())
        below = nearest_triangles(*_middles(drawn, drawn_faces), x, faces, length)[0]
        self._below = np.column_stack([below, follower.triangle[drawn_faces]])
        self._above = nearest_triangles(*_middles(x, faces), drawn, drawn_faces, length)[0]

    def torn(self, even_torn: BoolArray) -> BoolArray:
        """Which drawn triangles are torn, for the even ones that are."""
        found: BoolArray = even_torn[self._below].any(axis=1)
        found[self._above[even_torn]] = True
        return found


def _middles(x: FloatArray, triangles: Numbers) -> tuple[FloatArray, FloatArray]:
    """Middles of triangles and their unit normals."""
    return x[triangles].mean(axis=1), face_normals(x, triangles)
