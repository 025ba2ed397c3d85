"""Loads: forces on the vertices that are constant within a step, as those of fluids.

Where a solver gives bodies in flight half of a step's gravity before it and half after it, so that free fall is exact,
it does so with the resultant of a load, too. The rest of the load stays with the forces of the skin, which balance it.
"""

import numpy as np

from ..array_types import FloatArray
from ..model import Model
from ..rigid_change import moved_as_one
from ..state import State


def lifts(model: Model, load: FloatArray | None, mass: FloatArray) -> FloatArray:
    """Acceleration of each membrane by the resultant of its load [m/s^2], shape (membrane_count, 3).

    `load` [N], shape (vertex_count, 3), None for none; `mass` of the vertices [kg].
    """
    if load is None:
        return np.zeros((model.membrane_count, 3))
    start = model.body_point_start[: model.membrane_count]
    return np.asarray(np.add.reduceat(load, start) / np.add.reduceat(mass, start)[:, None])


def late_turn(
    model: Model, load: FloatArray | None, mass: FloatArray, state: State, lag: float, time: float
) -> FloatArray | None:
    """The turn [m/s] that a load has where its vertices are `lag` [s] later than it was applied; None without a load.

    Steps that apply a force where they begin have its arms half a step too early. The pressure on a spinning body,
    which does not turn with it, would have a torque there. `state`: where the load begins, which acts for a `time` [s]
    on vertices of this `mass` [kg]. Membranes with pins are left out.
    """
    if load is None:
        return None
    x, v, changed = state.positions, state.velocities, np.zeros_like(load)
    for body in range(model.membrane_count):
        own = slice(*model.body_point_start[body : body + 2].tolist())
        if model.pinned[own].any() or not load[own].any():
            continue
        mean = (mass[own, None] * v[own]).sum(axis=0) / mass[own].sum()
        impulses = time * load[own]
        turned = moved_as_one(x[own], mass[own], x[own] + lag * (v[own] - mean), impulses)
        changed[own] = turned - moved_as_one(x[own], mass[own], x[own], impulses)
    return changed
