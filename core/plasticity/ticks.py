"""Plastic changes of a frame: `World` calls `after` each run of substeps, which is at most a tick long.

They are split from the elastic motion: the rest lengths flow at constant positions, exactly, then springs tear and
bodies stick. This is of first order in the tick of 1/480 s,
whatever the frame rate and the substeps. All that changes is in the state.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..animation.keyed import NAMES
from ..array_types import BoolArray, FloatArray, IntArray
from ..model import Model
from ..state import State
from .bonds import Bonds
from .creep import Creep
from .cuts import Cuts, sharp_bodies
from .pieces import damp_pieces
from .tear import Tear

_DAMPING, _TEAR = NAMES.index("damping"), NAMES.index("tear_strain")


class PlasticTicks:
    """Creep, tears and bonds of a model."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._creep = Creep(model) if model.creeps else None
        self._tear = Tear(model) if model.tears else None
        self._cuts = Cuts(model, self._tear.deletion.sides) if self._tear and len(sharp_bodies(model)) else None
        self._bonds = Bonds(model) if model.plasticity.sticks.any() else None

    def after(self, state: State, now: Model, mass: FloatArray, tick: float) -> bool:
        """Changes of the state at the end of a tick [s]; whether a solver needs other parts than before.

        `now`: the model with its present springs; `mass` [kg] of the vertices that its solver moves.
        """
        lengths, keyed, x = state.rest_lengths, state.keyed, state.positions
        if self._creep is not None:
            state.rest_lengths = self._creep.after(lengths, x, tick)
        if self._tear is not None:
            if keyed.torn.any():
                damp_pieces(now, state, keyed.values[: now.membrane_count, _DAMPING], mass, tick)
            torn = keyed.torn if self._cuts is None else self._cuts.after(keyed.torn, x)
            torn = self._tear.after(torn, state.rest_lengths, x, keyed.values[: now.membrane_count, _TEAR])
            if torn is not keyed.torn:
                keyed = replace(keyed, torn=torn)
        if self._bonds is not None:
            keyed = self._bonds.after(keyed, now, x, state.gas, state.touching)
        is_other, state.keyed = keyed is not state.keyed, keyed
        if is_other or state.rest_lengths is not lengths:
            state.still[:] = 0.0
            state.still_time[:] = 0.0
        return is_other

    def torn_triangles(self, state: State, membrane: int) -> BoolArray:
        """Triangles of a membrane with a torn side, in the caller's order."""
        first, last = self._model.surfaces.body_triangle_start[membrane : membrane + 2]
        if self._tear is None:
            return np.zeros(last - first, bool)
        return np.asarray(self._tear.deletion.holes(state.keyed.torn)[first:last])

    def torn_faces(self, state: State, membrane: int, corners: NDArray[np.int64]) -> BoolArray:
        """Which triangles of a solid, vertices in the caller's order, have a corner in a deleted cell, or corners on
        different pieces, shape (triangle_count,).
        """
        if self._tear is None or not state.keyed.torn.any():
            return np.zeros(len(corners), bool)
        followers = self._model.followers
        points = followers.points[slice(*followers.vertex_start[membrane : membrane + 2])]
        pieces = self._tear.deletion.pieces_at(state.keyed.torn, points)[corners]  # -1 for a deleted cell
        return np.asarray((pieces < 0).any(axis=1) | (pieces != pieces[:, :1]).any(axis=1))

    def holes(self, state: State) -> tuple[IntArray, IntArray]:
        """Triangles that gas flows through, shape (hole_count, 3), and the membrane of each (`deletion.py`)."""
        if self._tear is None or not state.keyed.torn.any():
            return np.zeros((0, 3), np.int32), np.zeros(0, np.int32)
        return self._tear.deletion.openings(state.keyed.torn)


def plastic_ticks(model: Model) -> PlasticTicks | None:
    """The plastic changes of a model; None where all springs are elastic and nothing sticks."""
    return PlasticTicks(model) if model.creeps or model.tears or model.plasticity.sticks.any() else None
