"""Filters the rigid part of each body's displacement by itself, so that contacts do not brake common flight or spin.

The step filter (`contact.filter.step_filter`) limits absolute displacements. Two walls of one body that lie on each
other, and two bodies that fall one close above the other, would be allowed less than their gap per step. So the rigid
part of a body's displacement is separated first. It is an affine map, which brings no two points of the body nearer, at
any fraction of it. Of the distance to a neighbouring body it may close a share, so what follows a body that is stopped
does not run into it.
"""

import math
from dataclasses import dataclass

import numpy as np

from ...jit import inline_kernel, kernel
from ...model import FloatArray, IntArray
from ..contacts import EDGE_EDGE, POINT_TRIANGLE
from ..narrow_phase.closest_points import closest_on_edges_of, closest_on_triangle_of_row, least_distance
from .relative_motion import rigid_part

#: Share of the distance to another body that the move of the whole may use up.
SHARE = 0.2
#: Excess over that which is rounding.
SLACK = 1e-9
#: Passes over the rows until no body follows another too far; a body that stops is felt by one more in each.
PASSES = 20


@dataclass(frozen=True, slots=True)
class RigidFits:
    """Rigid moves of the membranes that may touch themselves or each other."""

    vertex_body: IntArray  # shape (vertex_count,)
    move: FloatArray  # of each vertex [m], zero for other bodies, shape (vertex_count, 3)
    turn: FloatArray  # its angle [rad], shape (membrane_count,)

    @staticmethod
    def none() -> "RigidFits":
        """No body moves as a whole."""
        return RigidFits(np.zeros(0, np.int32), np.zeros((0, 3)), np.zeros(0))

    @staticmethod
    def of(
        x: FloatArray, step: FloatArray, bodies: IntArray, body_point_start: IntArray, vertex_body: IntArray,
        membrane_count: int,
    ) -> "RigidFits":  # fmt: skip
        """The rigid parts of a step [m] of the vertices of `bodies`; x positions [m]."""
        whole = RigidFits(vertex_body, np.zeros((len(vertex_body), 3)), np.zeros(membrane_count))
        for body in bodies.tolist():
            first, last = body_point_start[body], body_point_start[body + 1]
            whole.turn[body] = rigid_part(x, step, first, last, whole.move)
        return whole


@kernel
def shorten_whole(x, count, points, kind, side, bodies, vertex_count, vertex_body, distance, move, turn):
    """Scale each body's move and turn so that it closes at most SHARE of the distance to anything that stays, and twice
    that of the distance to another body that moves as a whole.

    distance: of each row at x [m], or none if they are not known.
    """
    share = np.ones(turn.shape[0])
    length, longest = np.zeros(vertex_count), 0.0
    for vertex in range(vertex_count):
        length[vertex] = math.sqrt(move[vertex, 0] ** 2 + move[vertex, 1] ** 2 + move[vertex, 2] ** 2)
        longest = max(longest, length[vertex])
    known = distance.shape[0] > 0
    near = 0  # rows that may be closed too far: of each, the direction from its second side to its first, and the room
    row_of = np.empty(count, np.int64)
    direction = np.empty((count, 4))
    for row in range(count):
        if known and longest < SHARE * distance[row]:
            continue
        if side[row] < 0 or bodies[row, 0] == bodies[row, 1]:
            continue
        if known:
            farthest = 0.0
            for slot in range(4):
                if points[row, slot] < vertex_count:
                    farthest = max(farthest, length[points[row, slot]])
            if farthest < SHARE * distance[row]:
                continue
        if kind[row] == EDGE_EDGE:
            _, _, nx, ny, nz, dd = closest_on_edges_of(
                x, points[row, 0], points[row, 1], points[row, 2], points[row, 3]
            )
        elif kind[row] == POINT_TRIANGLE:
            nx, ny, nz, dd = closest_on_triangle_of_row(x, points, row)
        else:
            continue
        d = math.sqrt(dd)
        if not d > 0.0:  # no direction is known to be safe
            for slot in range(4):
                if points[row, slot] < vertex_count:
                    share[vertex_body[points[row, slot]]] = 0.0
            continue
        nx, ny, nz = nx / d, ny / d, nz / d
        # of a distance that is but rounding nothing is given away
        room = SHARE * d if d > least_distance(x, points[row, 0]) else 0.0
        direction[near, 0], direction[near, 1], direction[near, 2], direction[near, 3] = nx, ny, nz, room
        row_of[near] = row
        near += 1
    for _ in range(PASSES):
        again = False
        for k in range(near):
            again |= shorten_pair(row_of[k], direction[k], points, kind, vertex_count, vertex_body, move, share)
        if not again:
            break
    else:  # a long chain of bodies, each of which follows the next: stop them all
        share[:] = 0.0
    for vertex in range(vertex_count):
        for axis in range(3):
            move[vertex, axis] *= share[vertex_body[vertex]]
    for body in range(turn.shape[0]):
        turn[body] *= share[body]


@kernel
def shorten_pair(row, direction, points, kind, vertex_count, vertex_body, move, share):
    """Shorten the shares of the bodies of a row that close too much of its distance; returns whether they did."""
    n, room = direction, direction[3]
    split = 2 if kind[row] == EDGE_EDGE else 1
    first, second = -np.inf, -np.inf  # how far each side comes towards the other [m]
    for slot in range(4):
        point = points[row, slot]
        along = 0.0
        if point < vertex_count:
            along = move[point, 0] * n[0] + move[point, 1] * n[1] + move[point, 2] * n[2]
            along *= share[vertex_body[point]]
        if slot < split:
            first = max(first, -along)
        else:
            second = max(second, along)
    a, b = points[row, 0], points[row, 3]
    if a < vertex_count and b < vertex_count:
        room *= 2.0
    else:  # what stays, or has no move as a whole, does not make room
        first, second = max(first, 0.0), max(second, 0.0)
    closing = first + second
    if not closing > room * (1.0 + SLACK):
        return False
    if first > 0.0:
        share[vertex_body[a]] *= room / closing if second > 0.0 else (room - second) / first
    if second > 0.0:
        share[vertex_body[b]] *= room / closing if first > 0.0 else (room - first) / second
    return True


@inline_kernel
def plane_move(row, split, nx, ny, nz, points, vertex_count, move):
    """How far the plane between the sides of a row goes along its unit normal with them [m]: halfway between both.

    The normal points from the second side, slots `split` .., to the first. 0 where a side has no move as a whole.
    """
    lowest, highest = np.inf, -np.inf
    for slot in range(4):
        point = points[row, slot]
        if point >= vertex_count:
            return 0.0
        along = move[point, 0] * nx + move[point, 1] * ny + move[point, 2] * nz
        if slot < split:
            lowest = min(lowest, along)
        else:
            highest = max(highest, along)
    return 0.5 * (lowest + highest)
