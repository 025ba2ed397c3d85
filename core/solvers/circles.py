"""Particles of a truss that keep a diameter apart, so that a fast one does not collapse (Kurmaly and Wu 2021, 4 and 7).

    moves        |x_i - x_j| >= d            positions only, along the line between the particles where the step ends
    velocities   n . (v_i - v_j) >= e v_in   for those that pressed, v_in the speed of approach, e the body's bounciness

by the sweeps that answer contacts (`force_based/impulses.py`), without friction. d is twice the radius, or the distance
at rest where that is less, so that nothing presses at rest. All particles of a truss count, joined by a spring or not.
Both sides are pushed along the line between them, in inverse proportion to their masses: momentum stays. Moves are
corrected without a velocity, so angular momentum changes by that push across the pair's relative velocity, except in
XPBD, which gives it back.
A particle that moves past another by more than the diameter within one substep is not seen.
"""

import numpy as np

from ..collide.circles import near_pairs
from ..collide.mobility import Mobility
from ..model import BoolArray, FloatArray, IntArray, Model
from .force_based.impulses import bounce, sweep

#: Pairs count up to this many diameters: pushing one pair apart may bring another one together.
REACH = 1.2
#: What approaches by less than gravity adds in this many steps lies there and does not bounce.
RESTING_STEPS = 4.0


class Circles:
    """Keeps the particles of the trusses of a model apart; does nothing where none has a radius."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._groups = model.circles
        self.any = len(model.circles.points) > 0
        self._gravity = float(np.sqrt(np.einsum("i,i->", model.gravity, model.gravity)))
        self._pairs: IntArray = np.zeros((0, 4), np.int32)

    def keep_apart(
        self, x: FloatArray, mobility: Mobility, moves: FloatArray, v: FloatArray, v_before: FloatArray, time: float
    ) -> None:
        """Correct moves [m] from x and velocities [m/s] of the unknowns after a step of a length [s], in place.

        `v_before`: velocities of the vertices at its start.
        """
        normal, pushed = self.part(x, mobility, moves)
        if not pushed.any():
            return
        model, count = self._model, len(self._pairs)
        weights, nothing = self._weights(), np.zeros((count, 3))
        want, impulse = np.zeros(count), np.zeros((count, 3))
        bounciness = model.bounciness[model.point_body[self._pairs[:, 0]]]
        resting = RESTING_STEPS * time * self._gravity
        bounce(
            count, self._pairs, weights, normal, nothing, pushed, bounciness, resting, mobility, v_before, want
        )  # fmt: skip
        self._sweep(normal, pushed, want, mobility, v, impulse)

    def part(self, x: FloatArray, mobility: Mobility, moves: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Correct moves of the unknowns from x [m], in place.

        Returns the direction of each pair, shape (pair_count, 3), and whether it was pushed apart.
        """
        n, groups = self._model.vertex_count, self._groups
        ends = x[:n] + moves[:n]
        found = [np.zeros((0, 2), np.int32)]
        for group, diameter in enumerate(groups.diameter.tolist()):
            own = groups.points[groups.start[group] : groups.start[group + 1]]
            found.append(near_pairs(ends, own, REACH * diameter))
        pairs = np.concatenate(found)
        group_of = np.repeat(np.arange(len(groups.diameter)), [len(part) for part in found[1:]])
        self._pairs = np.concatenate([pairs, pairs[:, :1], pairs[:, :1]], axis=1)
        start = x[pairs[:, 0]] - x[pairs[:, 1]]
        line = ends[pairs[:, 0]] - ends[pairs[:, 1]]
        passed = np.einsum("ci,ci->c", line, start) <= 0.0  # one went through the other: back to where it came from
        line[passed] = start[passed]
        normal = line / np.maximum(np.sqrt(np.einsum("ci,ci->c", line, line)), 1e-300)[:, None]
        rest = self._model.rest_positions
        apart = rest[pairs[:, 0]] - rest[pairs[:, 1]]
        least = np.minimum(groups.diameter[group_of], np.sqrt(np.einsum("ci,ci->c", apart, apart)))
        want = least - np.einsum("ci,ci->c", normal, start)
        active = self._yielding(mobility) > 0.0
        impulse = np.zeros((len(pairs), 3))
        self._sweep(normal, active, want, mobility, moves, impulse)
        return normal, np.einsum("ci,ci->c", impulse, normal) > 0.0

    def _yielding(self, mobility: Mobility) -> FloatArray:
        """How much each pair parts for a unit impulse [1/kg]; 0 where both are pinned."""
        yielding: FloatArray = mobility.inverse_mass[self._pairs[:, :2]].sum(axis=1)
        return yielding

    def _weights(self) -> FloatArray:
        """Weights of the points of each pair, as of a contact."""
        return np.tile([1.0, -1.0, 0.0, 0.0], (len(self._pairs), 1))

    def _sweep(
        self, normal: FloatArray, active: BoolArray, want: FloatArray, mobility: Mobility, rows: FloatArray,
        impulse: FloatArray,
    ) -> None:  # fmt: skip
        count = len(self._pairs)
        if count:
            sweep(
                count, self._pairs, self._weights(), normal, active, want, np.zeros((count, 3)), np.zeros(count),
                np.ones(count, np.int8), self._yielding(mobility), mobility, rows, impulse,
            )  # fmt: skip
