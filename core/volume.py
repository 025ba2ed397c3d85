"""The volume that each moving body's surface encloses now, for diagnostics."""

import numpy as np

from . import topology
from .array_types import FloatArray, IntArray
from .bodies.flat.band import STRIP_TO_VOLUME
from .jit import kernel
from .model import Model


def closed_surface(model: Model, body: int) -> IntArray:
    """Triangles around a body, shape (triangle_count, 3): those around its gas, which bridge the holes of torn skins
    (`plasticity/deletion.py`), else its surface; of a flat body the strip, of a burst skin (`is_burst`) what is left.
    """
    surfaces = model.surfaces
    if not _has_holes(model, body) or not model.has_gas(body):
        return surfaces.triangles[slice(*surfaces.body_triangle_start[body : body + 2])]
    gas = topology.fan_triangles(model.fans.vertex_start, model.fans.corners)
    return np.ascontiguousarray(gas[model.point_body[gas[:, 0]] == body])


def is_burst(model: Model, body: int) -> bool:
    """Whether a body is a skin with holes and without gas: it encloses nothing, and has the air on both sides."""
    return _has_holes(model, body) and not model.has_gas(body)


def _has_holes(model: Model, body: int) -> bool:
    """Whether a body is a torn skin: others are closed, but for the strips of flat bodies."""
    own = slice(*model.surfaces.body_triangle_start[body : body + 2])
    is_skin = body < model.membrane_count and not model.is_lattice(body)
    return is_skin and bool((model.surfaces.triangle_neighbour[own] < 0).any())


class EnclosedVolumes:
    """Volumes of the membranes and soft solids of a model. Constants are computed once, as it is called every frame."""

    def __init__(self, model: Model) -> None:
        self._scale = np.where(model.flat.depth > 0.0, STRIP_TO_VOLUME, 1.0)
        self._surface: IntArray | None = None
        self.take(model)

    def take(self, model: Model) -> None:
        """Use the surfaces of a model that differs in what is torn."""
        if self._surface is model.surfaces.triangles:
            return
        self._surface = model.surfaces.triangles
        self._triangles = [closed_surface(model, body) for body in range(model.membrane_count)]
        # of a lattice only the outer points are corners
        self._corners = [np.flatnonzero(np.bincount(triangles.ravel())) for triangles in self._triangles]

    def __call__(self, body: int, x: FloatArray) -> float:
        """Volume [m^3] of a body at positions `x` [m] of all points; positive while it is not inside out."""
        return float(self._scale[body] * enclosed_volume(x, self._triangles[body], self._corners[body]))


@kernel
def enclosed_volume(x, triangles, corners):
    """Sum of the signed volumes [m^3] of the tetrahedra from the middle of the `corners` to each triangle.

    The middle makes it accurate far from the origin, and is in the middle plane of a flat body, whose strip is open.
    """
    ox = oy = oz = total = 0.0
    for c in range(corners.shape[0]):
        ox, oy, oz = ox + x[corners[c], 0], oy + x[corners[c], 1], oz + x[corners[c], 2]
    count = max(corners.shape[0], 1)
    ox, oy, oz = ox / count, oy / count, oz / count
    for t in range(triangles.shape[0]):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ax, ay, az = x[i, 0] - ox, x[i, 1] - oy, x[i, 2] - oz
        bx, by, bz = x[j, 0] - ox, x[j, 1] - oy, x[j, 2] - oz
        cx, cy, cz = x[k, 0] - ox, x[k, 1] - oy, x[k, 2] - oz
        total += ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    return total / 6.0
