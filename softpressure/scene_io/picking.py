"""Rays from the mouse to the surfaces of bodies."""

import numpy as np

from .mesh_io import FloatArray, IntArray


def nearest(origin: FloatArray, direction: FloatArray, positions: FloatArray, triangles: IntArray) -> float:
    """Where a ray first meets triangles, in lengths of its direction; infinity where it does not.

    Either side counts. Shapes (3,), (3,), (vertex_count, 3), (triangle_count, 3).
    """
    a, b, c = (positions[triangles[:, corner]] for corner in range(3))
    # Moeller and Trumbore 1997
    across = np.cross(direction, c - a)
    size = ((b - a) * across).sum(axis=1)
    inverse = np.divide(1.0, size, where=size != 0.0, out=np.full_like(size, np.nan))
    u = ((origin - a) * across).sum(axis=1) * inverse
    turned = np.cross(origin - a, b - a)
    v = (turned @ direction) * inverse
    along = ((c - a) * turned).sum(axis=1) * inverse
    with np.errstate(invalid="ignore"):
        hits = along[(u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (along > 0.0)]
    return float(hits.min(initial=np.inf))


def fan(outline: IntArray, positions: FloatArray) -> tuple[FloatArray, IntArray]:
    """Triangles from the middle of a flat body to the edges of its outline, which a ray can meet."""
    middle = np.full((len(outline), 1), len(positions), np.int32)
    return np.vstack([positions, positions.mean(axis=0)]), np.hstack([outline, middle])
