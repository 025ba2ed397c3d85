"""Attachments at the start, as rows for the solvers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..array_types import FloatArray, IntArray
from ..contact.narrow_phase.closest_points import closest_on_triangle
from ..model import Attachments, Edges

#: Stiffness of an attachment in units of the springs at its vertex: stiffer than the skin around it.
ATTACHMENT_STIFFNESS = 4.0


@dataclass(frozen=True, slots=True)
class Attached:
    """Vertices (internal numbers) of a membrane, attached to a rigid body or to another membrane."""

    membrane: int
    vertices: IntArray
    rigid: int = -1
    other: int = -1


class _Placed(Protocol):
    @property
    def positions(self) -> FloatArray: ...


def anchor_positions(attached: list[Attached], rigid: int, membranes: Sequence[_Placed]) -> FloatArray:
    """Points [m] that are added to a rigid body for its attachments, in the order of `attached`."""
    anchors = [membranes[part.membrane].positions[part.vertices] for part in attached if part.rigid == rigid]
    return np.concatenate([np.zeros((0, 3)), *anchors])


def rest_attachments(
    attached: list[Attached],
    positions: FloatArray,
    point_start: IntArray,
    first_rigid: int,
    rigid_vertex_counts: list[int],
    skin: IntArray,
    triangle_start: IntArray,
    edges: Edges,
) -> Attachments:
    """Rows of all attachments: positions [m] of all points, `skin` the triangles of the membranes.

    `first_rigid`: the number of the first rigid body.
    """
    next_anchor = [0] * len(rigid_vertex_counts)
    points, weights, offsets, bodies = [], [], [], []
    for part in attached:
        vertices = part.vertices + point_start[part.membrane]
        if part.rigid >= 0:
            body = first_rigid + part.rigid
            first = point_start[body] + rigid_vertex_counts[part.rigid] + next_anchor[part.rigid]
            next_anchor[part.rigid] += len(vertices)
            anchors = first + np.arange(len(vertices))
            points.append(np.stack([vertices, anchors, anchors, anchors], axis=1))
            weights.append(np.tile([1.0, -1.0, 0.0, 0.0], (len(vertices), 1)))
            offsets.append(np.zeros((len(vertices), 3)))
        else:
            body = part.other
            triangles = skin[triangle_start[body] : triangle_start[body + 1]]
            rows = [nearest_row(positions, int(vertex), triangles) for vertex in vertices]
            points.append(np.array([row[0] for row in rows]))
            weights.append(np.array([row[1] for row in rows]))
            offsets.append(np.array([row[2] for row in rows]))
        bodies.append(np.full(len(vertices), body))
    table = np.concatenate([np.zeros((0, 4), np.int32), *points]).astype(np.int32)
    return Attachments(
        points=table,
        weights=np.concatenate([np.zeros((0, 4)), *weights]),
        offset=np.concatenate([np.zeros((0, 3)), *offsets]),
        body=np.concatenate([np.zeros(0, np.int32), *bodies]).astype(np.int32),
        stiffness=attachment_stiffness(edges, table[:, 0]),
    )


def attachment_stiffness(edges: Edges, vertices: IntArray) -> FloatArray:
    """Stiffness of attachments at vertices [N/m]."""
    springs = np.bincount(edges.points.ravel(), np.repeat(edges.stiffness, 2), vertices.max(initial=0) + 1)
    return np.asarray(ATTACHMENT_STIFFNESS * springs[vertices])


def nearest_row(positions: FloatArray, vertex: int, triangles: IntArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """The vertex and the corners of the nearest triangle, their weights, and the offset in the triangle's frame."""
    p = positions[vertex]
    best, chosen = np.inf, (triangles[0], np.zeros(3), np.zeros(3))
    for corners in triangles:
        u, v, w, qx, qy, qz, d, _ = closest_on_triangle(*p, *positions[corners].ravel())
        if d < best:
            best, chosen = d, (corners, np.array([u, v, w]), np.array([qx, qy, qz]))
    corners, shares, away = chosen
    frame = triangle_frame(*positions[corners])
    return np.append(vertex, corners), np.append(1.0, -shares), frame @ away


def triangle_frame(a: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
    """Rows: unit vectors along the first edge, across it in the plane, and along the normal, shape (3, 3)."""
    along = (b - a) / np.linalg.norm(b - a)
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal)
    return np.stack([along, np.cross(normal, along), normal])
