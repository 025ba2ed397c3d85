"""Area vectors at the vertices of soft bodies, for wind that acts along normals."""

import numpy as np

from ..array_types import FloatArray
from ..model import Model
from ..topology import vertex_vectors


class Skins:
    """Distribution of forces on whole bodies along the normals of their skins.

    Vertex i with the area vector a_i (a third of those of its triangles) and the unit normal n_i has the share

        f_i = s |a_i| n_i (n_i . F),      s = d / sum |a_i| at rest,  d = 3 (2 for flat bodies, which have a rim only)

    so that over all directions of F the total force is F on average; a ball gets F in each, a plate three times F
    broadside and nothing edge-on.
    """

    def __init__(self, model: Model) -> None:
        self._count = model.vertex_count
        self.take(model)
        self._body = model.point_body[: model.vertex_count]
        rest, _ = self._areas(model.rest_positions)
        dimensions = np.where(model.flat.depth > 0.0, 2.0, 3.0)
        total = np.bincount(self._body, rest, model.membrane_count)
        self._scale = dimensions / np.where(total > 0.0, total, 1.0)

    def take(self, model: Model) -> None:
        """Use the surfaces of a model that differs in what is torn."""
        self._triangles = model.surfaces.triangles[: model.surfaces.body_triangle_start[model.membrane_count]]

    def shares(self, positions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """s |a_i| of each vertex, shape (vertex_count,), and n_i, shape (vertex_count, 3); `positions` of all [m]."""
        area, normal = self._areas(positions)
        return self._scale[self._body] * area, normal

    def _areas(self, positions: FloatArray) -> tuple[FloatArray, FloatArray]:
        normal = vertex_vectors(positions[: self._count], self._triangles) / 6.0
        area = np.sqrt((normal * normal).sum(axis=1))
        return area, normal / np.where(area > 0.0, area, 1.0)[:, None]
