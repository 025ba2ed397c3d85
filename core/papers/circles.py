"""Particles of a truss that keep a diameter apart, so that a fast one does not collapse (Kurmaly and Wu 2021, 4 and 7).

    moves        |x_i - x_j| >= d            positions only, along the line between the particles where the step ends
    velocities   n . (v_i - v_j) >= e v_in   for those that pressed, v_in the speed of approach, e the body's bounciness

by Gauss-Seidel sweeps to and fro over the pairs, without friction. d is twice the radius, or the distance
at rest where that is less, so that nothing presses at rest. All particles of a truss count, joined by a spring or not.
Both sides are pushed along the line between them, in inverse proportion to their masses: momentum stays. Moves are
corrected without a velocity, so angular momentum changes by that push across the pair's relative velocity, except in
XPBD, which gives it back.
A particle that moves past another by more than the diameter within one substep is not seen.
"""

import numpy as np

from ..array_types import BoolArray, FloatArray, IntArray
from ..contact.restitution import parting_speed, resting_speed
from ..jit import kernel
from ..model import Model
from ..tiny import TINY

#: Pairs count up to this many diameters: pushing one pair apart may bring another one together.
REACH = 1.2
#: Pairs agree when a sweep changes no impulse by more than this share of the largest one.
AGREED = 1e-5
MOST_SWEEPS = 60


class Circles:
    """Keeps the particles of the trusses of a model apart."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._groups = model.circles
        self._pairs: IntArray = np.zeros((0, 2), np.int32)

    def keep_apart(
        self, x: FloatArray, inverse_mass: FloatArray, moves: FloatArray, v: FloatArray, v_before: FloatArray,
        time: float,
    ) -> None:  # fmt: skip
        """Correct moves [m] from x and velocities [m/s] of the vertices after a step of a length [s], in place.

        `inverse_mass` [1/kg], 0 of pinned ones; `v_before`: velocities at the start of the step.
        """
        normal, pushed = self.part(x, inverse_mass, moves)
        if not pushed.any():
            return
        i, j = self._pairs.T
        approach = np.einsum("ci,ci->c", normal, v_before[j] - v_before[i])
        bounciness = self._model.bounciness[self._model.point_body[i]]
        want = parting_speed(bounciness, approach, resting_speed(self._model.gravity, time))
        self._sweep(normal, pushed, want, inverse_mass, v)

    def part(self, x: FloatArray, inverse_mass: FloatArray, moves: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Correct moves of the vertices from x [m], in place.

        Returns the direction of each pair, shape (pair_count, 3), and whether it was pushed apart.
        """
        n, groups = self._model.vertex_count, self._groups
        ends = x[:n] + moves[:n]
        found = [np.zeros((0, 2), np.int32)]
        for group, diameter in enumerate(groups.diameter.tolist()):
            own = groups.points[groups.start[group] : groups.start[group + 1]]
            found.append(near_pairs(ends, own, REACH * diameter))
        self._pairs = pairs = np.concatenate(found)
        group_of = np.repeat(np.arange(len(groups.diameter)), [len(part) for part in found[1:]])
        start = x[pairs[:, 0]] - x[pairs[:, 1]]
        line = ends[pairs[:, 0]] - ends[pairs[:, 1]]
        passed = np.einsum("ci,ci->c", line, start) <= 0.0  # one went through the other: back to where it came from
        line[passed] = start[passed]
        normal = line / np.maximum(np.sqrt(np.einsum("ci,ci->c", line, line)), TINY)[:, None]
        rest = self._model.rest_positions
        apart = rest[pairs[:, 0]] - rest[pairs[:, 1]]
        least = np.minimum(groups.diameter[group_of], np.sqrt(np.einsum("ci,ci->c", apart, apart)))
        want = least - np.einsum("ci,ci->c", normal, start)
        return normal, self._sweep(normal, np.ones(len(pairs), bool), want, inverse_mass, moves) > 0.0

    def _sweep(
        self, normal: FloatArray, active: BoolArray, want: FloatArray, inverse_mass: FloatArray, rows: FloatArray
    ) -> FloatArray:
        impulse = np.zeros(len(self._pairs))
        push_apart(self._pairs, normal, active, want, inverse_mass, rows, impulse)
        return impulse


@kernel
def push_apart(pairs, normal, active, want, inverse_mass, rows, impulse):
    """Impulses after which each active pair parts by `want` at least along its normal; `rows` are changed by them.

    None pulls. Serial, so that the result is one.
    """
    largest = 0.0
    for turn in range(MOST_SWEEPS):
        change = 0.0
        for k in range(pairs.shape[0]):
            c = k if turn % 2 == 0 else pairs.shape[0] - 1 - k
            i, j = pairs[c, 0], pairs[c, 1]
            yielding = inverse_mass[i] + inverse_mass[j]
            if not active[c] or yielding == 0.0:
                continue
            n, a, b = normal[c], rows[i], rows[j]
            parting = n[0] * (a[0] - b[0]) + n[1] * (a[1] - b[1]) + n[2] * (a[2] - b[2])
            total = max(impulse[c] + (want[c] - parting) / yielding, 0.0)
            more = total - impulse[c]
            for axis in range(3):
                a[axis] += more * inverse_mass[i] * n[axis]
                b[axis] -= more * inverse_mass[j] * n[axis]
            impulse[c] = total
            change = max(change, abs(more))
        largest = max(largest, change)
        if change <= AGREED * largest:
            break


def near_pairs(x: FloatArray, points: IntArray, reach: float) -> IntArray:
    """Pairs of `points`, the lower number first, nearer to each other than `reach` [m] at x, ascending, (n, 2).

    By a sweep along the axis on which they are spread most.
    """
    spots = x[points]
    axis = int((spots.max(axis=0) - spots.min(axis=0)).argmax())
    order = np.argsort(spots[:, axis], kind="stable")
    spots = spots[order]
    found = np.zeros((collect_pairs(spots, axis, reach, np.zeros((0, 2), np.int32)), 2), np.int32)
    collect_pairs(spots, axis, reach, found)
    pairs = np.sort(points[order[found]], axis=1)
    return np.ascontiguousarray(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))], dtype=np.int32)


@kernel
def collect_pairs(spots, axis, reach, found):
    """Number of pairs nearer than `reach`; as many as have room are written into `found`, shape (room, 2).

    `spots` ascend along `axis`.
    """
    count = 0
    for i in range(spots.shape[0]):
        for j in range(i + 1, spots.shape[0]):
            if spots[j, axis] - spots[i, axis] >= reach:
                break
            dx, dy, dz = spots[i, 0] - spots[j, 0], spots[i, 1] - spots[j, 1], spots[i, 2] - spots[j, 2]
            if dx * dx + dy * dy + dz * dz < reach * reach:
                if count < found.shape[0]:
                    found[count, 0], found[count, 1] = i, j
                count += 1
    return count
