"""Removes each island's mean translation before a step is filtered, and adds it again afterwards.

The step filter (`contact.filter.step_filter`) limits absolute displacements: what is lifted together with its container
could rise by half their gap per step. A translation common to an island, bodies joined by candidate pairs, changes no
gap within it.
"""

import numpy as np

from ...jit import kernel
from ...model import BoolArray, FloatArray, Model
from ...union_find import name_islands, unite
from ..contacts import EDGE_EDGE, POINT_TRIANGLE, Contacts
from ..narrow_phase.closest_points import closest_on_edges_of, closest_on_triangle_of_row

#: Share of the distance to a collider that a common move may use up; the bound leaves that much over.
SHARE = 0.05


class CommonMotion:
    """Bodies of a model that may touch each other."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._island = np.arange(model.moving_count)
        self._any = False
        pinned = np.zeros(model.moving_count, dtype=bool)
        pinned[np.unique(model.point_body[: model.vertex_count][model.pinned])] = True
        self._pinned = pinned
        self._flat = np.flatnonzero(model.flat.depth > 0.0)
        self._inverse_mass = np.zeros(model.moving_count)  # 0 where an island does not move as a whole
        n = model.vertex_count
        # of each vertex and of each rigid body
        self._body = np.concatenate([model.point_body[:n], model.membrane_count + np.arange(model.rigid_count)])

    def follow(self, contacts: Contacts) -> None:
        """Take the islands from a contact record."""
        count = self._model.moving_count
        island = np.arange(count)
        self._any = join_bodies(contacts.first_element, contacts.bodies, contacts.kind, island)
        self._island = island
        if self._any:
            mass = np.bincount(island, self._model.body_mass[:count], count)
            held = (np.bincount(island, minlength=count) < 2) | (np.bincount(island, self._pinned, count) > 0)
            self._inverse_mass = np.where(held, 0.0, 1.0 / np.maximum(mass, 1e-300))

    def take_out(self, x: FloatArray, step: FloatArray, contacts: Contacts) -> FloatArray | None:
        """Subtract the common translation of each island from a step of the unknowns.

        Returns each moving body's [m], shape (moving_count, 3), to be put back. An island with pinned vertices, or with
        one body only, has none.
        """
        if not self._any:
            return None
        model, island = self._model, self._island
        common = np.zeros((model.moving_count, 3))
        add_moments(
            step, model.vertex_mass, model.rigid.mass, model.body_point_start, model.membrane_count, island, common
        )
        common *= self._inverse_mass[:, None]
        self._keep_in_planes(common)
        shorten_common(
            x, contacts.first_element, contacts.points, contacts.kind, contacts.side, contacts.bodies,
            model.moving_count, island, common,
        )  # fmt: skip
        moves: FloatArray = common[island]
        self._add(step, moves, -1.0)
        return moves

    def put_back(self, step: FloatArray, moves: FloatArray) -> None:
        """Add what `take_out` has subtracted."""
        self._add(step, moves, 1.0)

    def _add(self, step: FloatArray, moves: FloatArray, sign: float) -> None:
        model = self._model
        add_moves(step, moves, sign, model.vertex_count, model.body_point_start, model.membrane_count)

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
        unite(island, a, b)
    name_islands(island)
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


@kernel
def add_moments(step, vertex_mass, rigid_mass, body_point_start, membrane_count, island, moments):
    """Add mass x translation of each body to its island's row, shape (moving_count, 3), in the bodies' order."""
    vertex_count = vertex_mass.shape[0]
    for body in range(island.shape[0]):
        own = island[body]
        if body >= membrane_count:
            row = body - membrane_count
            for axis in range(3):
                moments[own, axis] += rigid_mass[row] * step[vertex_count + 2 * row, axis]
            continue
        x = y = z = 0.0
        for i in range(body_point_start[body], body_point_start[body + 1]):
            m = vertex_mass[i]
            x, y, z = x + m * step[i, 0], y + m * step[i, 1], z + m * step[i, 2]
        moments[own, 0] += x
        moments[own, 1] += y
        moments[own, 2] += z


@kernel
def add_moves(step, moves, sign, vertex_count, body_point_start, membrane_count):
    """Add each body's move, times `sign`, to its vertices or to its translation."""
    for body in range(moves.shape[0]):
        x, y, z = sign * moves[body, 0], sign * moves[body, 1], sign * moves[body, 2]
        first, last = body_point_start[body], body_point_start[body + 1]
        if body >= membrane_count:
            first = vertex_count + 2 * (body - membrane_count)
            last = first + 1
        for i in range(first, last):
            step[i, 0] += x
            step[i, 1] += y
            step[i, 2] += z
