"""Pieces of torn bodies: vertices that springs connect.

A body that came apart is still one to the solvers, whose damping would slow its pieces down to their common motion. So
those bodies have no damping of their own (`animation/segments.py`); each piece has it here, between runs of substeps:
its motion relative to its rigid motion decays, and its momentum and angular momentum stay.
"""

import numpy as np

from ..array_types import BoolArray, FloatArray, IntArray
from ..model import Model
from ..rigid_change import inverse
from ..state import State
from ..union_find import islands_of

#: Share of the sum of moments by which each is larger: a piece along a line has none about it.
EXTRA_INERTIA = 1e-12


def pieces_of(springs: IntArray, vertex_count: int) -> IntArray:
    """Piece of each vertex, named by its lowest one, shape (vertex_count,); `springs`: their ends."""
    return islands_of(vertex_count, *springs.T).astype(np.int32)


def broken_bodies(model: Model) -> BoolArray:
    """Which membranes that may tear are in more than one piece, shape (membrane_count,)."""
    count, found = model.membrane_count, np.zeros(model.membrane_count, bool)
    if model.tears:
        firsts = np.unique(pieces_of(model.edges.points, model.vertex_count))
        found = np.bincount(model.point_body[firsts], minlength=count)[:count] > 1
    return np.asarray(found & (model.plasticity.tear_strain > 0.0))


def may_split(model: Model) -> bool:
    """Whether a solid may tear: its pieces may cross others."""
    return bool((model.plasticity.tear_strain[model.point_body[model.cells[:, 0]]] > 0.0).any())


def damp_pieces(model: Model, state: State, rates: FloatArray, mass: FloatArray, time: float) -> None:
    """Damp the pieces of broken bodies for a time [s]: changes the velocities of the state.

    `rates` [1/s] of each membrane, `mass` [kg] of each vertex that the solver moves.
    """
    if not rates.any():
        return
    rates = np.where(broken_bodies(model), rates, 0.0)[model.point_body[: model.vertex_count]]
    own = np.flatnonzero(rates > 0.0)
    if not len(own):
        return
    _, piece = np.unique(pieces_of(model.edges.points, model.vertex_count)[own], return_inverse=True)
    x, v = state.positions[own], state.velocities[own]
    apart = v - rigid_motion(x, v, mass[own], piece.ravel())
    apart[model.pinned[own]] = 0.0
    state.velocities[own] += np.expm1(-time * rates[own])[:, None] * apart


def rigid_motion(x: FloatArray, v: FloatArray, mass: FloatArray, piece: IntArray) -> FloatArray:
    """Velocity at each point [m/s] of the rigid motion of its piece, with the same momentum and angular momentum."""

    def sums(values: FloatArray) -> FloatArray:
        columns = values.reshape(len(values), -1).T
        return np.stack([np.bincount(piece, mass * column) for column in columns], axis=1)

    total = sums(np.ones(len(x)))
    mean = sums(v) / total
    arm = x - (sums(x) / total)[piece]
    moment = sums(arm[:, :, None] * arm[:, None, :]).reshape(-1, 3, 3)
    size = np.trace(moment, axis1=1, axis2=2)[:, None, None]
    inertia = (1.0 + EXTRA_INERTIA) * size * np.eye(3) - moment
    turn = sums(np.cross(arm, v - mean[piece]))
    spin = (turn[:, :, None] * inverse(inertia)).sum(axis=1)
    return np.asarray(mean[piece] + np.cross(spin[piece], arm))
