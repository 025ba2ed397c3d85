"""Moves that bodies in contact have in common: what falls or is lifted together must not be braked by its contacts.

The bound of a step (`collide.bound`) is set against where things are: fruit in a basket that is lifted could rise by
half its gap to the basket's floor per step, no more. So the mean translation of an island, bodies that are candidates
for contact with each other, is taken out of a step first and added again after the bound: it changes no gap inside.
"""

import numpy as np

from ..jit import kernel
from ..model import BoolArray, FloatArray, Model
from .contacts import EDGE_EDGE, POINT_TRIANGLE, Contacts
from .features import closest_on_edges_of, closest_on_triangle_of_row

#: Share of the distance to a collider that a common move may use up; the bound leaves that much over.
SHARE = 0.05


class Islands:
    """Bodies of a model that may touch each other."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._island = np.arange(model.moving_count)
        self._any = False
        pinned = np.zeros(model.moving_count, dtype=bool)
        pinned[np.unique(model.point_body[: model.vertex_count][model.pinned])] = True
        self._pinned = pinned
        self._flat = np.flatnonzero(model.flat.depth > 0.0)
        # mass of each row of unknowns that is a translation, and its body
        n = model.vertex_count
        self._rows = np.concatenate([np.arange(n), n + 2 * np.arange(model.rigid_count)])
        self._mass = np.concatenate([model.vertex_mass, model.rigid.mass])
        self._body = np.concatenate([model.point_body[:n], model.membrane_count + np.arange(model.rigid_count)])

    def follow(self, contacts: Contacts) -> None:
        """Take the islands from a contact record."""
        model = self._model
        island = np.arange(model.moving_count)
        self._any = join_bodies(contacts.first_attachment, contacts.bodies, contacts.kind, island)
        self._island = island

    def take_out(self, x: FloatArray, step: FloatArray, contacts: Contacts) -> FloatArray | None:
        """Subtract the common translation of each island from a step of the unknowns; returns what to add again.

        An island with pinned vertices, or with one body only, has none.
        """
        if not self._any:
            return None
        model, island = self._model, self._island
        count = model.moving_count
        row_island = island[self._body]
        mass = np.bincount(row_island, self._mass, count)
        common = np.stack(
            [np.bincount(row_island, self._mass * step[self._rows, axis], count) for axis in range(3)], axis=1
        ) / np.maximum(mass, 1e-300)[:, None]  # fmt: skip
        alone = np.bincount(island, minlength=count) < 2
        common[alone | (np.bincount(island, self._pinned, count) > 0)] = 0.0
        self._keep_in_planes(common)
        shorten_common(
            x, contacts.first_attachment, contacts.points, contacts.kind, contacts.side, contacts.bodies, count,
            island, common,
        )  # fmt: skip
        moves: FloatArray = common[row_island]
        step[self._rows] -= moves
        return moves

    def _keep_in_planes(self, common: FloatArray) -> None:
        """An island with a flat body moves within its plane; one with several planes that differ has no common move."""
        flat = self._model.flat
        for body in self._flat.tolist():
            own, n = self._island[body], flat.normal[body]
            moved = common[own].copy()
            common[own] -= float((moved * n).sum()) * n
            first = int(np.flatnonzero(self._island[self._flat] == own)[0])
            if not np.array_equal(np.abs(flat.normal[self._flat[first]]), np.abs(n)):
                common[own] = 0.0

    def least(self, share: FloatArray) -> FloatArray:
        """The least share of each island, for each of its vertices and rigid bodies."""
        least = np.ones(self._model.moving_count)
        np.minimum.at(least, self._island[self._body], share)
        return np.asarray(least[self._island[self._body]])

    def rows_with(self, body: int) -> BoolArray:
        """Which vertices and rigid bodies belong to the island of a body."""
        return np.asarray(self._island[self._body] == self._island[body])

    def put_back(self, step: FloatArray, moves: FloatArray | None) -> None:
        """Add what `take_out` has subtracted."""
        if moves is not None:
            step[self._rows] += moves


@kernel
def join_bodies(count, bodies, kind, island):
    """Give bodies of one island the number of its lowest body; returns whether there is any pair."""
    any_pair = False
    for row in range(count):
        a, b = bodies[row, 0], bodies[row, 1]
        if a == b or a >= island.shape[0] or b >= island.shape[0]:
            continue
        if kind[row] != POINT_TRIANGLE and kind[row] != EDGE_EDGE:
            continue
        any_pair = True
        while island[a] != a:
            a = island[a]
        while island[b] != b:
            b = island[b]
        island[max(a, b)] = min(a, b)
    for body in range(island.shape[0]):
        island[body] = island[island[body]]  # its root comes before it, and is done
    return any_pair


@kernel
def shorten_common(x, count, points, kind, side, bodies, moving_count, island, common):
    """Shorten the moves of islands so that each uses up at most SHARE of the distance to any collider."""
    share = np.ones(common.shape[0])
    for row in range(count):
        a, b = bodies[row, 0], bodies[row, 1]
        if side[row] < 0 or (a < moving_count) == (b < moving_count):
            continue
        if kind[row] == EDGE_EDGE:
            _, _, nx, ny, nz, dd = closest_on_edges_of(
                x, points[row, 0], points[row, 1], points[row, 2], points[row, 3]
            )
        elif kind[row] == POINT_TRIANGLE:
            nx, ny, nz, dd = closest_on_triangle_of_row(x, points, row)
        else:
            continue
        own = island[a] if a < moving_count else island[b]
        sign = -1.0 if a < moving_count else 1.0
        along = sign * (common[own, 0] * nx + common[own, 1] * ny + common[own, 2] * nz)
        room = SHARE * dd  # n is as long as the distance
        if along > room:
            share[own] = min(share[own], room / along)
    for own in range(common.shape[0]):
        for axis in range(3):
            common[own, axis] *= share[own]
