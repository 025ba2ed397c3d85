"""Contacts of the pairs of edges that the broad phase has found."""

import numpy as np

from ...array_types import FloatArray, IntArray
from ...jit import kernel
from ...model import Model
from ...tiny import ROUNDING
from ..contacts import RIGHT_SIDE, WRONG_SIDE, Contacts
from ..narrow_phase.closest_points import edge_meets
from ..untangle.recovery import WrongSide
from .pair_search import is_listed


def rim_normals(model: Model) -> FloatArray:
    """Unit normal of the plane of each edge along a flat body's outline, 0 of all others, shape (edge_count, 3).

    Empty where nothing is flat.
    """
    edges, flat = model.surfaces.edges, model.flat
    if not len(flat.pairs):
        return np.zeros((0, 3))
    body = np.minimum(model.surfaces.edge_body, model.membrane_count - 1)
    is_flat = (model.surfaces.edge_body < model.membrane_count) & (flat.depth[body] > 0.0)
    copy = (edges - model.body_point_start[body][:, None]) % 2
    return np.asarray(np.where((is_flat & (copy[:, 0] == copy[:, 1]))[:, None], flat.normal[body], 0.0))


def without_rims(pairs: IntArray, rim: FloatArray) -> IntArray:
    """Pairs of edges but for outlines of flat bodies in one plane; `rim`: see `rim_normals`.

    These would cross at distance 0; the bands' points and other edges have the contacts.
    """
    if not len(rim):
        return pairs
    normal = rim[pairs]
    return pairs[np.abs(np.einsum("pi,pi->p", normal[:, 0], normal[:, 1])) < 1.0 - ROUNDING]


def write_edges(model: Model, x: FloatArray, pairs: IntArray, wrong: WrongSide, contacts: Contacts) -> None:
    """Append a row for each pair of edges to the contacts, which have room for them.

    Its side is -1 where an end of one is on the wrong side of the other's body, or one passes through a triangle at the
    other: such a pair limits no step.
    """
    surfaces, first = model.surfaces, contacts.count
    contacts.edge_start = first
    contacts.count = first + len(pairs)
    write_rows(
        first, pairs, surfaces.edges, surfaces.edge_apex, surfaces.edge_body, model.membrane_count,
        model.thickness, contacts.points, contacts.triangle, contacts.edges,
        contacts.apex, contacts.bodies, contacts.soft, contacts.thickness, contacts.facing,
    )  # fmt: skip
    set_sides(
        x, first, contacts.count, contacts.points, contacts.apex, contacts.bodies, wrong.start, wrong.body,
        contacts.side,
    )  # fmt: skip


@kernel
def write_rows(
    first, pairs, edge_points, edge_apex, edge_body, membrane_count, body_thickness,
    points, triangle, edges, apex, bodies, soft, thickness, facing,
):  # fmt: skip
    """Write the constant fields of edge pairs, from row `first` on."""
    for pair in range(pairs.shape[0]):
        row = first + pair
        triangle[row], facing[row] = -1, 0
        for side in range(2):
            edge = pairs[pair, side]
            edges[row, side], bodies[row, side] = edge, edge_body[edge]
            soft[row, side] = edge_body[edge] < membrane_count
            for end in range(2):
                points[row, 2 * side + end] = edge_points[edge, end]
                apex[row, 2 * side + end] = edge_apex[edge, end]
        a, b = bodies[row, 0], bodies[row, 1]
        thickness[row] = body_thickness[a] + body_thickness[b]


@kernel
def set_sides(x, first, last, points, apex, bodies, listed_start, listed_body, side):
    """Write the sides of edge pairs first .. last - 1, see `write_edges`."""
    for row in range(first, last):
        p, p_end, q, q_end = points[row, 0], points[row, 1], points[row, 2], points[row, 3]
        crossed = (
            is_listed(p, bodies[row, 1], listed_start, listed_body)
            or is_listed(p_end, bodies[row, 1], listed_start, listed_body)
            or is_listed(q, bodies[row, 0], listed_start, listed_body)
            or is_listed(q_end, bodies[row, 0], listed_start, listed_body)
        )
        for k in range(2):
            c, d = apex[row, k], apex[row, 2 + k]
            if d >= 0 and d != p and d != p_end:
                crossed = crossed or edge_meets(x, p, p_end, q, q_end, d) >= 0.0
            if c >= 0 and c != q and c != q_end:
                crossed = crossed or edge_meets(x, q, q_end, p, p_end, c) >= 0.0
        side[row] = WRONG_SIDE if crossed else RIGHT_SIDE
