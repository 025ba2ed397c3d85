"""Loads: forces on the vertices that are constant within a step, as those of fluids.

Where a solver gives bodies in flight half of a step's gravity before it and half after it, so that free fall is exact,
it does so with the resultant of a load, too. The rest of the load stays with the forces of the skin, which balance it.
"""

import numpy as np

from ..model import FloatArray, Model


def lifts(model: Model, load: FloatArray | None, mass: FloatArray) -> FloatArray:
    """Acceleration of each membrane by the resultant of its load [m/s^2], shape (membrane_count, 3).

    `load` [N], shape (vertex_count, 3), None for none; `mass` of the vertices [kg].
    """
    if load is None:
        return np.zeros((model.membrane_count, 3))
    start = model.body_point_start[: model.membrane_count]
    return np.asarray(np.add.reduceat(load, start) / np.add.reduceat(mass, start)[:, None])
