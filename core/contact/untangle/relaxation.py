"""Moves bodies that cross apart, and skins out of themselves, before a frame; velocities stay.

Each pass finds the points on the wrong side and moves them towards the surface that they have passed, by a share of an
edge at most:

* bodies as a whole, against the sum of the gaps that each pair lacks, in the inverse ratio of their masses, so that the
  centre of mass of a pair stays where it is; where edges alone cross, as of a plank across a beam, in the direction in
  which the volume in common falls fastest;
* where that has not sufficed, and for skins that cross themselves, their vertices. A move is spread over rings of
  edges around them, so that skins dent instead of crumpling.

What cannot be moved apart keeps crossing: bodies wedged between colliders, pinned within them, or attached to each
other, parts without a vertex inside.
Its points on the wrong side have no contact with that body until they have separated.
"""

import numpy as np

from ...array_types import BoolArray, FloatArray, IntArray
from ...bodies.flat.plane import Planes
from ...bodies.rigid.motion import place_points
from ...inside_out import is_inside_out
from ...model import Model
from ...state import STAYS, State
from ...tiny import TINY
from ..near_pairs import NearPairs
from .crossings import Crossings
from .overlap import crosses_itself, ways_out

#: Passes at most, and those in which the number of points on the wrong side must fall.
PASSES, PATIENCE = 200, 20
#: Longest move of a pass [mean edge of the body with the shortest ones].
LONGEST_MOVE = 0.1
#: Gap below which points on their right side are moved as well [thickness of the pair].
NEAR_SHARE = 0.5
#: Rings of edges over which the move of a vertex is spread.
SPREAD_RINGS = 6
#: Growth per pass of the gap that is aimed at where edges alone still cross [thickness].
FURTHER = 0.1


class Relaxation:
    """Moves the crossing bodies of one model; bodies with pins, held ones and colliders stay."""

    def __init__(self, model: Model) -> None:
        self._model, self._crossings = model, Crossings(model)
        self._planes = Planes(model)
        edges, body = model.surfaces.edges, model.surfaces.edge_body
        length = np.linalg.norm(model.rest_positions[edges[:, 1]] - model.rest_positions[edges[:, 0]], axis=1)
        count = np.maximum(np.bincount(body, minlength=model.body_count), 1)
        moving = (np.bincount(body, length, model.body_count) / count)[: model.moving_count]
        self._longest = LONGEST_MOVE * float(moving[moving > 0.0].min(initial=np.inf))
        self._inverse = np.zeros(model.body_count)  # inverse mass of each body that may move as a whole [1/kg]
        self._free = np.zeros(model.point_count, bool)  # vertices that may move by themselves
        self._joined = np.zeros((model.body_count, model.body_count), bool)  # pairs that stay as they are

    def run(self, state: State) -> IntArray:
        """Move what crosses apart in a state, in place; returns the rows of `State.wrong_side` that were moved.

        Afterwards the state lists what stays crossed, with STAYS as facing: the points on the wrong side of another
        body, or one where edges alone cross; of a skin that crosses itself, all corners of triangles that cross, until
        none do. A skin that its moves do not free stays where it is.
        """
        listed = state.wrong_side
        own = self._model.point_body[listed[:, 0]] == listed[:, 1]
        self._join(state)
        joined = self._joined[self._model.point_body[listed[:, 0]], listed[:, 1]]
        moved, waiting = (np.abs(listed[:, 2]) == 1) & ~joined, listed[:, 2] == 0
        tangled = listed[own & ~moved & ~waiting]
        if moved.any():
            self._allow(state)
            before, poses = state.positions.copy(), state.rigid.pose.copy()
            kept = np.unique(tangled[:, 1])
            while True:
                self._crossings.relist(listed[(moved & ~(own & np.isin(listed[:, 1], kept))) | waiting])
                self._move_apart(state.positions, state.rigid.pose, kept)
                crossing = self._crossings.find(state.positions, kept).bodies
                failed = np.setdiff1d(crossing[crossing[:, 0] == crossing[:, 1], 0], listed[waiting, 1])
                if not len(failed):
                    break
                kept = np.union1d(kept, failed)
                state.positions[:], state.rigid.pose[:] = before, poses
        if len(listed):
            tangled = self._still_tangled(state.positions, tangled)
            if moved.any() or not own.all() or waiting.any():
                others = self._still_crossed(state.positions, listed[waiting, 1], np.unique(tangled[:, 1]))
                tangled = np.concatenate([tangled, others])
            state.wrong_side = tangled
        return listed[moved]

    def _still_tangled(self, x: FloatArray, tangled: IntArray) -> IntArray:
        """Those rows of skins that crossed themselves before that still do at x [m].

        Of an edge and a triangle that cross, one has a listed corner: contact keeps all others apart.
        """
        model = self._model
        among, still = np.zeros(model.point_count, bool), np.zeros(len(tangled), bool)
        among[tangled[:, 0]] = True
        for body in np.unique(tangled[:, 1]).tolist():
            still[tangled[:, 1] == body] = crosses_itself(model, x, np.array([body]), among)
        return tangled[still]

    def _still_crossed(self, x: FloatArray, waiting: IntArray, known: IntArray) -> IntArray:
        """Rows of `State.wrong_side` at x [m], all with STAYS as facing, or 0 for bodies that are inside out.

        `waiting`: bodies whose self-contact was suspended; `known`: bodies that are listed as crossing themselves.
        """
        model, crossings = self._model, self._crossings
        overlaps = crossings.find(x, known, own_sides=False)
        pairs = crossings.pairs
        still = np.array([body for body in np.unique(waiting) if is_inside_out(model, x, body)], np.int32)
        rows = [pairs[model.point_body[pairs[:, 0]] != pairs[:, 1]]]
        rows += [np.array([[model.body_point_start[a], b]]) for a, b in overlaps.edges_alone(model.point_body)]
        for body in np.setdiff1d(overlaps.bodies[overlaps.bodies[:, 0] == overlaps.bodies[:, 1], 0], still):
            corners = model.surfaces.triangles[overlaps.crossing_triangles]
            corners = np.unique(corners[model.point_body[corners[:, 0]] == body])
            rows.append(np.stack([corners, np.full_like(corners, body)], axis=1))
        waiting = np.stack([model.body_point_start[still], still, np.zeros_like(still)], axis=1)
        return np.concatenate([np.insert(np.concatenate(rows), 2, STAYS, axis=1), waiting]).astype(np.int32)

    def _join(self, state: State) -> None:
        """Mark pairs of bodies that are joined: one is attached to the other, or pinned within what stays."""
        model, listed = self._model, state.wrong_side
        point, body = listed[:, 0], listed[:, 1]
        fixed, pinned = np.ones(model.body_count, bool), np.zeros(model.point_count, bool)
        fixed[: model.moving_count] = state.keyed.held
        pinned[: model.vertex_count] = model.pinned | fixed[model.point_body[: model.vertex_count]]
        within = pinned[point] & fixed[body]
        owner = model.point_body[np.concatenate([model.attachments.points[:, 0], point[within]])]
        body = np.concatenate([model.attachments.body, body[within]])
        self._joined[:] = False
        self._joined[owner, body] = self._joined[body, owner] = True

    def _allow(self, state: State) -> None:
        """Mark what may move."""
        model, held = self._model, state.keyed.held
        self._free[: model.vertex_count] = ~model.pinned & ~held[model.point_body[: model.vertex_count]]
        first = model.body_point_start[: model.membrane_count]
        whole = ~held
        if len(first):
            whole[: model.membrane_count] &= ~np.logical_or.reduceat(model.pinned, first)
        self._inverse[: model.moving_count] = whole / model.body_mass[: model.moving_count]

    def _move_apart(self, x: FloatArray, poses: FloatArray, kept: IntArray) -> None:
        """Move points and poses, in place, until nothing crosses or nothing is gained.

        `kept`: bodies that may cross themselves.
        """
        model, crossings = self._model, self._crossings
        least, since, whole = np.inf, 0, True
        # added to the gap that a pair of bodies aims at while its edges alone still cross [m]
        further = np.zeros((model.body_count, model.body_count))
        for number in range(PASSES):
            contacts, bodies, ways = crossings.gaps(x), np.zeros((0, 2), np.int32), np.zeros((0, 3))
            count = len(contacts.gap)
            if count == 0:
                overlaps = crossings.find(x, kept)
                if not len(overlaps.crossing_triangles):
                    return
                crossed = np.unique(np.sort(overlaps.bodies, axis=1), axis=0).T
                further[tuple(crossed)] += FURTHER * model.thickness[crossed].max(axis=0)
                if len(crossings.pairs):
                    contacts = crossings.gaps(x)
                else:
                    contacts = crossings.gaps_near(x, overlaps)
                    bodies, ways = ways_out(model, x)
                    loose = ~self._joined[tuple(bodies.T)]
                    bodies, ways = bodies[loose], ways[loose]
                    ways *= further[tuple(bodies.T)][:, None]
            if count and count < least:
                least, since = count, number
            if number - since > PATIENCE and not len(ways):
                if not whole or (contacts.bodies[:, 0] == contacts.bodies[:, 1]).all():
                    return
                whole, since = False, number
            rows, push = self._lacking(contacts, further)
            if not len(rows) and not len(bodies):
                return
            own = contacts.bodies[rows, 0] == contacts.bodies[rows, 1]
            is_led = np.zeros(further.shape, bool)
            is_led[tuple(bodies.T)] = True
            as_one = ~is_led[tuple(np.sort(contacts.bodies[rows], axis=1).T)] & ~own
            shift = self._shift_bodies(
                np.concatenate([contacts.bodies[rows[as_one]], bodies]), np.concatenate([push[as_one], ways])
            )
            move = shift[model.point_body]
            deforms = own | (not whole)
            move[: model.vertex_count] += self._move_vertices(contacts, rows[deforms], push[deforms])
            before = x.copy() if self._planes.any else x
            x[: model.moving_point_count] += move[: model.moving_point_count]
            self._planes.hold_moves(before, x)
            if model.rigid_count:
                poses[:, :3] += shift[model.membrane_count : model.moving_count]
                place_points(poses, model.rigid.arm, model.rigid.point_start, x)

    def _lacking(self, contacts: NearPairs, further: FloatArray) -> tuple[IntArray, FloatArray]:
        """Rows of points whose gap is too small, and what it lacks along the normal [m], shape (n, 3)."""
        lack = np.where(contacts.side < 0, 1.0, NEAR_SHARE) * contacts.thickness - contacts.gap
        lack += further[tuple(np.sort(contacts.bodies, axis=1).T)]
        lacks = np.flatnonzero((lack > 0.0) & ~self._joined[tuple(contacts.bodies.T)])
        return lacks, lack[lacks, None] * contacts.normal[lacks]

    def _shift_bodies(self, bodies: IntArray, pushes: FloatArray) -> FloatArray:
        """Displacement of each body as a whole [m], shape (body_count, 3)."""
        model, inverse = self._model, self._inverse
        shift = np.zeros((model.body_count, 3))
        pairs = np.sort(bodies, axis=1)
        for low, high in np.unique(pairs, axis=0).tolist():
            total = inverse[low] + inverse[high]
            rows = (pairs == (low, high)).all(axis=1)
            push = np.where(bodies[rows, :1] == low, 1.0, -1.0) * pushes[rows]
            way = push.sum(axis=0)
            length = float(np.linalg.norm(way))
            if total > 0.0 and length > 0.0:
                lack = float(np.linalg.norm(push, axis=1).max())
                way *= min(lack, self._longest) / (length * total)
                shift[low] += inverse[low] * way
                shift[high] -= inverse[high] * way
        return shift

    def _move_vertices(self, contacts: NearPairs, rows: IntArray, push: FloatArray) -> FloatArray:
        """Displacement of each vertex by itself [m], shape (vertex_count, 3), without that of its body."""
        model, count = self._model, self._model.vertex_count
        move, weight = np.zeros((model.point_count, 3)), np.zeros(model.point_count)
        if not len(rows):
            return move[:count]
        points, weights = contacts.points[rows], np.clip(contacts.weights[rows], -1.0, 1.0)
        length = np.linalg.norm(push, axis=1, keepdims=True)
        both = self._free[points[:, :2]].all(axis=1, keepdims=True)
        push = push * np.minimum(np.where(both, 0.5, 1.0), self._longest / np.maximum(length, TINY))
        for slot in range(4):
            np.add.at(move, points[:, slot], weights[:, slot, None] * push)
            np.add.at(weight, points[:, slot], np.abs(weights[:, slot]))
        move = _spread(move / np.maximum(weight, 1.0)[:, None], weight > 0.0, model.surfaces.edges)[:count]
        move[~self._free[:count]] = 0.0
        for body in np.flatnonzero(self._inverse[: model.membrane_count]).tolist():
            own = slice(model.body_point_start[body], model.body_point_start[body + 1])
            mass = model.vertex_mass[own]
            move[own] -= (mass[:, None] * move[own]).sum(axis=0) / mass.sum()
        return move


def _spread(move: FloatArray, known: BoolArray, edges: IntArray) -> FloatArray:
    """Average moves [m] over neighbours, SPREAD_RINGS times; those of `known` points by half."""
    given = 0.5 * known[:, None] * move
    ends, others = edges.ravel("F"), edges[:, ::-1].ravel("F")
    neighbours = np.maximum(np.bincount(ends, minlength=len(move)), 1)[:, None]
    for _ in range(SPREAD_RINGS):
        sums = [np.bincount(ends, move[others, axis], len(move)) for axis in range(3)]
        mean = np.stack(sums, axis=1) / neighbours
        move = np.where(known[:, None], given + 0.5 * mean, mean)
    return move
