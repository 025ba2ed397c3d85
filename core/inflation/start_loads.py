"""Loads that hold bodies of gas as drawn where a run starts, and fade away.

A skin that cannot be at rest as drawn, such as a cube's, would jump: the forces that its springs and its gas leave on
the vertices, p A of a flat face, act on grams. So the start has the opposite loads, which make it an equilibrium, and
they fade within RISE_TIME, as the gas comes in; the body then follows its equilibrium slowly instead of swinging about
it (a homotopy, or load stepping). They turn with the body and have no resultant and no torque, so that momentum stays.
A body that is at rest as drawn has none, nor has one with a method of the papers or with XPBD, which rests elsewhere.
A body that has torn has none either: its gas streams out, and on vertices that nothing holds any more they would go on
pushing, which gave the shreds of a bunny of 0.5 kJ of gas 55 kJ.
"""

import numpy as np

from ..array_types import FloatArray
from ..model import Model
from .supply import RISE_TIME as RISE_TIME

#: Rate at which the relative motion of a body that its loads hold fully dies away, besides its own damping [1/s]: skins
#: that wrinkle on their way have several equilibria, and snap from one to the next, as a cylinder's caps do.
SETTLING = 100.0
#: Least load of a body over the forces of its gas; less moves nothing that could be seen.
LEAST_SHARE = 1e-3


def loads_at_start(model: Model) -> dict[int, FloatArray]:
    """Of each body that needs them: loads as drawn [N], shape (own vertex_count, 3)."""
    loads = {}
    springs = np.bincount(model.point_body[model.edges.points[:, 0]], minlength=model.membrane_count)
    for body, filling in enumerate(model.fillings):
        if filling is None or model.settings[body].get("start_at_rest") or springs[body] < len(filling.rest_lengths):
            continue
        first, last = model.body_point_start[body : body + 2].tolist()
        load = np.where(model.pinned[first:last, None], 0.0, -filling.unrest)
        if float(np.sqrt((load**2).sum(axis=1)).sum()) > LEAST_SHARE * filling.push:
            loads[body] = load
    return loads


def settling_rates(model: Model, loads: dict[int, FloatArray]) -> FloatArray:
    """Additional damping of each membrane while its loads fade [1/s], as far as they hold it against its gas."""
    rates = np.zeros(model.membrane_count)
    for body, load in loads.items():
        filling = model.fillings[body]
        assert filling is not None
        if filling.push > 0.0:
            rates[body] = SETTLING * min(1.0, float(np.sqrt((load**2).sum(axis=1)).sum()) / filling.push)
    return rates


def best_turn(before: FloatArray, after: FloatArray, mass: FloatArray) -> FloatArray:
    """Rotation of points that fits best (Kabsch 1976), shape (3, 3)."""
    share = (mass / mass.sum())[:, None]
    one, other = before - (share * before).sum(axis=0), after - (share * after).sum(axis=0)
    left, _, right = np.linalg.svd((share * other).T @ one)
    left[:, 2] *= np.sign(np.linalg.det(left) * np.linalg.det(right))
    return np.asarray(left @ right)
