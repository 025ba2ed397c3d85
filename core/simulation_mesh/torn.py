"""Torn triangles of an even mesh, as torn triangles of the drawn one."""

import numpy as np

from ..array_types import BoolArray, FloatArray
from .even import EvenMesh
from .nearest import nearest_triangles
from .surface import Numbers


class DrawnTriangles:
    """Which drawn triangles lie on which triangles of an even mesh: by the middle of each, either way."""

    def __init__(self, even: EvenMesh, drawn_positions: FloatArray, drawn_triangles: Numbers) -> None:
        """`drawn_positions`: shape (drawn_count, 3); `drawn_triangles`: shape (triangle_count, 3)."""
        x, faces = np.ascontiguousarray(even.positions, float), even.triangles.astype(np.int64)
        drawn, drawn_faces = np.ascontiguousarray(drawn_positions, float), drawn_triangles.astype(np.int64)
        length = float(np.linalg.norm(x[faces] - x[np.roll(faces, -1, axis=1)], axis=2).mean())
        self._below = nearest_triangles(*_middles(drawn, drawn_faces), x, faces, length)[0]
        self._above = nearest_triangles(*_middles(x, faces), drawn, drawn_faces, length)[0]

    def torn(self, even_torn: BoolArray) -> BoolArray:
        """Which drawn triangles are torn: those on torn triangles, and those that have a torn triangle on them."""
        found: BoolArray = even_torn[self._below]
        found[self._above[even_torn]] = True
        return found


def _middles(x: FloatArray, triangles: Numbers) -> tuple[FloatArray, FloatArray]:
    """Middles of triangles and their unit normals."""
    a, b, c = (x[triangles[:, corner]] for corner in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
    return (a + b + c) / 3.0, normals
