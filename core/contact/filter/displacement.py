"""The displacement filter: removes only what would bring a pair too near.

The step filter (`contact.filter.step_filter`) allows each side of a pair less than half of their distance, measured
against the start or against rigid motion. Skins that press each other move together, farther than that, though no body
moves as a whole. So a pair is unconstrained as long as its two sides keep a share of their distance. Otherwise the
closing part is removed along the pair's direction. That may affect other pairs, so all are checked again until nothing
changes.

Points move in straight lines, so along any direction the gap between two sides is a concave function of time: its
minimum is at the start or at the end. The same holds for any common fraction of all displacements.
"""

import math

import numpy as np

from ...jit import inline_kernel, kernel
from ...model import FloatArray
from ..contacts import EDGE_EDGE, POINT_TRIANGLE, Contacts
from ..narrow_phase.closest_points import (
    closest_on_edges_of,
    closest_on_triangle_of_row,
    closing,
    least_distance,
    move_of,
    unit_normal,
)
from ..narrow_phase.edge_edge import across
from .rigid_fit import RigidFits

#: Share of their distance along some direction that both sides of a pair must keep, and that they are left where
#: something is taken out: hardly more, for a fine skin that is stopped too early on a floor loses some of its bounce.
KEPT, LEFT = 0.1, 0.12
#: Passes over the pairs.
PASSES = 40
CHUNK = 256  # rows per unit of parallel work
NO_TURN: FloatArray = np.zeros(0)


def filter_displacement(
    x: FloatArray, step: FloatArray, contacts: Contacts, vertex_count: int, whole: RigidFits | None
) -> bool:
    """Take out of a step of membranes' vertices [m] what would bring the sides of a pair too near, in place.

    x: positions [m] of all points, where the gaps were evaluated; what is given does not move. `whole`: rigid parts of
    the step; what they do to a body's pairs with itself is nothing. False, and the step as it was, if no end is found.
    """
    moved = step[:vertex_count].copy()
    rest = moved - whole.move if whole is not None else moved.copy()
    found = take_out_closing(
        x, moved, rest, whole.turn if whole is not None else NO_TURN, contacts.count, contacts.points, contacts.kind,
        contacts.side, contacts.bodies, contacts.distance,
    )  # fmt: skip
    if found:
        step[:vertex_count] = moved
    return bool(found)


@kernel
def take_out_closing(x, step, rest, turn, count, points, kind, side, bodies, distance):
    """`filter_displacement`; returns whether all pairs end apart. `rest`: the step without the rigid parts.

    First all rows are asked, then again those of vertices that were changed.
    """
    vertex_count = step.shape[0]
    near = 0
    row_of = np.empty(count, np.int64)
    asked = np.empty(count, np.bool_)
    ask(step, count, points, kind, side, distance, asked)
    for row in range(count):
        if asked[row] and has_pair(side, kind, row):
            row_of[near] = row
            near += 1
    changed = np.zeros(vertex_count, np.bool_)
    for _ in range(PASSES):
        again = False
        for k in range(near):
            row = row_of[k]
            own = bodies[row, 0] == bodies[row, 1]
            moves = rest if own else step
            turned = turn[bodies[row, 0]] if own and turn.shape[0] > 0 else 0.0
            if keeps_distance(moves, turned, points, kind, row, distance[row]) or stays_apart(
                x, moves, turned, points, kind, row
            ):
                continue
            if not part(x, moves, turned, points, kind, row, rest if not own else step):
                return False
            for slot in range(4):
                if points[row, slot] < vertex_count:
                    changed[points[row, slot]] = True
            again = True
        if again:
            continue
        before = near
        for row in range(count):
            if asked[row] or not has_changed(changed, points, row):
                continue
            if not keeps_distance(step, 0.0, points, kind, row, distance[row]):
                asked[row] = True
                row_of[near] = row
                near += 1
        if near == before:
            return True
        changed[:] = False
    return False


@kernel
def ask(step, count, points, kind, side, distance, asked):
    """Which rows may not keep their distance; also those without a pair, which are not to be asked."""
    for chunk in range((count + CHUNK - 1) // CHUNK):
        for row in range(chunk * CHUNK, min(count, (chunk + 1) * CHUNK)):
            asked[row] = not has_pair(side, kind, row) or not keeps_distance(
                step, 0.0, points, kind, row, distance[row]
            )


@inline_kernel
def has_pair(side, kind, row):
    """Whether a row is of two sides that must not meet."""
    return side[row] >= 0 and (kind[row] == POINT_TRIANGLE or kind[row] == EDGE_EDGE)


@inline_kernel
def has_changed(changed, points, row):
    """Whether a vertex of a row was changed."""
    for slot in range(4):
        if points[row, slot] < changed.shape[0] and changed[points[row, slot]]:
            return True
    return False


@inline_kernel
def keeps_distance(moves, turn, points, kind, row, distance):
    """Whether both sides of a row move so much alike that they keep KEPT of their distance [m] in any direction."""
    room = (1.0 - KEPT) * distance - lost_by_turning(moves, turn, points, row)
    most = closing(moves, points, row, 2) if kind[row] == EDGE_EDGE else closing(moves, points, row, 1)
    return room > 0.0 and most < room * room


@inline_kernel
def direction_between(x, points, kind, row):
    """Unit vector from a row's second side to its first between their closest points, their distance [m], and the slot
    with which the second side begins. The distance is 0 where it is but rounding.
    """
    if kind[row] == EDGE_EDGE:
        split = 2
        _, _, nx, ny, nz, dd = closest_on_edges_of(x, points[row, 0], points[row, 1], points[row, 2], points[row, 3])
    else:
        split = 1
        nx, ny, nz, dd = closest_on_triangle_of_row(x, points, row)
    d = math.sqrt(dd)
    if not d > least_distance(x, points[row, 0]):
        return 0.0, 0.0, 0.0, 0.0, split
    return nx / d, ny / d, nz / d, d, split


@inline_kernel
def along(moves, point, nx, ny, nz):
    """How far a point goes along a unit vector [m]."""
    ux, uy, uz = move_of(moves, point)
    return ux * nx + uy * ny + uz * nz


@kernel
def stays_apart(x, moves, turn, points, kind, row):
    """Whether a plane between the sides of a row keeps KEPT of their gap when its points go by `moves` [m].

    turn: angle by which that plane may turn meanwhile [rad]. Then, and against what is given, only the plane between
    the closest points counts: what bodies have in common, which is put back later, is measured by that
    (`islands.shorten_common`).
    """
    nx, ny, nz, d, split = direction_between(x, points, kind, row)
    if d > 0.0 and keeps_gap(x, moves, turn, points, row, split, nx, ny, nz):
        return True
    if turn > 0.0:
        return False
    for slot in range(4):
        if points[row, slot] >= moves.shape[0]:
            return False
    if kind[row] == EDGE_EDGE:
        nx, ny, nz, _ = across(x, points[row, 0], points[row, 1], points[row, 2], points[row, 3])
    else:
        nx, ny, nz = unit_normal(x, points[row, 1], points[row, 2], points[row, 3])
    return keeps_gap(x, moves, turn, points, row, split, nx, ny, nz)


@inline_kernel
def keeps_gap(x, moves, turn, points, row, split, nx, ny, nz):
    """Whether the sides of a row, slots before `split` and from it on, keep KEPT of their gap along +n or -n."""
    low, high, low_after, high_after = np.inf, -np.inf, np.inf, -np.inf  # of the first side
    bottom, top, bottom_after, top_after = np.inf, -np.inf, np.inf, -np.inf  # of the second
    for slot in range(4):
        i = points[row, slot]
        before = x[i, 0] * nx + x[i, 1] * ny + x[i, 2] * nz
        after = before + along(moves, i, nx, ny, nz)
        if slot < split:
            low, high = min(low, before), max(high, before)
            low_after, high_after = min(low_after, after), max(high_after, after)
        else:
            bottom, top = min(bottom, before), max(top, before)
            bottom_after, top_after = min(bottom_after, after), max(top_after, after)
    least, lost = least_distance(x, points[row, 0]), lost_by_turning(moves, turn, points, row)
    over, under = low - top, bottom - high
    if over > least and low_after - top_after - lost >= KEPT * over:
        return True
    return under > least and bottom_after - high_after - lost >= KEPT * under


@inline_kernel
def lost_by_turning(moves, turn, points, row):
    """How much nearer the sides of a row may come because the plane between them turns [m]."""
    if not turn > 0.0:
        return 0.0
    farthest = 0.0
    for slot in range(4):
        ux, uy, uz = move_of(moves, points[row, slot])
        farthest = max(farthest, ux * ux + uy * uy + uz * uz)
    return 2.0 * turn * math.sqrt(farthest)


@kernel
def part(x, moves, turn, points, kind, row, others):
    """Take out of the moves of a row's sides what closes more than all but LEFT of their distance; whether it can be.

    Both sides give way alike, or one if the other is given. `others` changes likewise.
    """
    nx, ny, nz, d, split = direction_between(x, points, kind, row)
    room = (1.0 - LEFT) * d - lost_by_turning(moves, turn, points, row)
    if not room > 0.0:
        return False
    first, second = np.inf, -np.inf
    for slot in range(4):
        u = along(moves, points[row, slot], nx, ny, nz)
        if slot < split:
            first = min(first, u)
        else:
            second = max(second, u)
    below = above = 0.5 * room
    plane = 0.5 * (first + second)
    if points[row, 0] >= moves.shape[0]:
        plane, below, above = first, 0.0, room
    elif points[row, 3] >= moves.shape[0]:
        plane, below, above = second, room, 0.0
    for slot in range(4):
        i = points[row, slot]
        if i >= moves.shape[0]:
            continue
        u = along(moves, i, nx, ny, nz)
        lack = max(plane - below - u, 0.0) if slot < split else min(plane + above - u, 0.0)
        for out in (moves, others):
            out[i, 0] += lack * nx
            out[i, 1] += lack * ny
            out[i, 2] += lack * nz
    return True
