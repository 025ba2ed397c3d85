"""Binding of drawn vertices to a mesh that was not made of them: a cage, or an even mesh of what modifiers show."""

import numpy as np

from ..array_types import FloatArray, IntArray
from ..topology import vertex_normals
from .even import EvenMesh
from .nearest import nearest_triangles


def bound_mesh(
    positions: FloatArray,
    triangles: IntArray,
    drawn_positions: FloatArray,
    drawn_triangles: IntArray,
    notes: tuple[str, ...] = (),
) -> EvenMesh:
    """A closed mesh, and the nearest of its triangles that faces the same way for each drawn vertex.

    Parameters: `positions`, shape (vertex_count, 3), with `triangles`, shape (triangle_count, 3); `drawn_positions`,
    shape (drawn_count, 3), with at least one of `drawn_triangles`; all in one unit. A drawn triangle that faces away
    loses within a mean side of the mesh.
    """
    x, drawn = np.ascontiguousarray(positions, float), np.ascontiguousarray(drawn_positions, float)
    faces, drawn_faces = np.ascontiguousarray(triangles, np.int64), np.ascontiguousarray(drawn_triangles, np.int64)
    length = float(np.linalg.norm(x[faces] - x[np.roll(faces, -1, axis=1)], axis=2).mean())
    normals = vertex_normals(drawn, drawn_faces)
    face, _ = nearest_triangles(drawn, normals, x, faces, length)
    near, weights = nearest_triangles(x, vertex_normals(x, faces), drawn, drawn_faces, length)
    return EvenMesh(x, triangles, notes, face, normals, drawn_faces[near], weights)
