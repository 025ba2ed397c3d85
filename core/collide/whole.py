"""Moves of bodies as a whole: what touches itself must not be braked because the body flies or spins.

The bound of a move (`collide.bound`) is set against where things are. Two walls of one body that lie on each other
would so be allowed less than their gap per step, however the body flies. So the rigid part of the move of a body that
touches itself is taken first: it is an affine map that brings no two points nearer, whatever share of it is taken.
"""

import math
from dataclasses import dataclass

import numpy as np

from ..jit import kernel
from ..model import FloatArray, IntArray
from .contacts import EDGE_EDGE, POINT_TRIANGLE
from .features import closest_on_edges_of, closest_on_triangle_of_row, least_distance
from .own_motion import rigid_part

#: Share of the distance to another body that the move of the whole may use up.
SHARE = 0.2


@dataclass(frozen=True, slots=True)
class WholeMoves:
    """Rigid moves of the membranes that touch themselves."""

    vertex_body: IntArray  # shape (vertex_count,)
    move: FloatArray  # of each vertex [m], zero for other bodies, shape (vertex_count, 3)
    turn: FloatArray  # its angle [rad], shape (membrane_count,)

    @staticmethod
    def none() -> "WholeMoves":
        """No body touches itself."""
        return WholeMoves(np.zeros(0, np.int32), np.zeros((0, 3)), np.zeros(0))

    @staticmethod
    def of(
        x: FloatArray, step: FloatArray, bodies: IntArray, body_point_start: IntArray, vertex_body: IntArray,
        membrane_count: int,
    ) -> "WholeMoves":  # fmt: skip
        """The rigid parts of a step [m] of the vertices of `bodies`; x positions [m]."""
        whole = WholeMoves(vertex_body, np.zeros((len(vertex_body), 3)), np.zeros(membrane_count))
        for body in bodies.tolist():
            first, last = body_point_start[body], body_point_start[body + 1]
            whole.turn[body] = rigid_part(x, step, first, last, whole.move)
        return whole


@kernel
def shorten_whole(x, count, points, kind, side, bodies, vertex_count, vertex_body, distance, move, turn):
    """Scale each body's move and turn so that it uses up at most SHARE of the distance to any other body.

    distance: of each row at x [m], or none if they are not known.
    """
    share = np.ones(turn.shape[0])
    length = np.zeros(vertex_count)
    for vertex in range(vertex_count):
        length[vertex] = math.sqrt(move[vertex, 0] ** 2 + move[vertex, 1] ** 2 + move[vertex, 2] ** 2)
    for row in range(count):
        if side[row] < 0 or bodies[row, 0] == bodies[row, 1]:
            continue
        if distance.shape[0] > 0:
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
            first = 2
        elif kind[row] == POINT_TRIANGLE:
            nx, ny, nz, dd = closest_on_triangle_of_row(x, points, row)
            first = 1
        else:
            continue
        # n is as long as the distance, of which nothing is given away where it is but rounding
        near = least_distance(x, points[row, 0])
        room = SHARE * dd if dd > near * near else 0.0
        for slot in range(4):
            point = points[row, slot]
            if point < vertex_count:
                along = move[point, 0] * nx + move[point, 1] * ny + move[point, 2] * nz
                if slot < first:
                    along = -along
                if along > room:
                    body = vertex_body[point]
                    share[body] = min(share[body], room / along)
    for vertex in range(vertex_count):
        for axis in range(3):
            move[vertex, axis] *= share[vertex_body[vertex]]
    for body in range(turn.shape[0]):
        turn[body] *= share[body]
