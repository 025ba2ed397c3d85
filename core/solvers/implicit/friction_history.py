"""Friction history: carries friction springs from one contact record to the next.

A vertex-triangle spring is identified by the vertex and the other body, an edge-edge spring by both edges
(`state.StuckContacts`).
"""

import numpy as np

from ...contact.contacts import Contacts
from ...jit import kernel
from ...model import FloatArray, IntArray
from ...state import StuckContacts


def friction_names(contacts: Contacts, point_count: int) -> tuple[IntArray, IntArray]:
    """What a spring is known by, for each contact."""
    count, edge_start = contacts.count, contacts.edge_start
    first, other = contacts.points[:count, 0].copy(), contacts.bodies[:count, 1].copy()
    first[edge_start:] = point_count + contacts.edges[edge_start:count, 0]
    other[edge_start:] = contacts.edges[edge_start:count, 1]
    return first, other


def hand_on_friction(
    contacts: Contacts, stuck: StuckContacts, name_count: int, point_count: int, stretch: FloatArray
) -> None:
    """Give each row its stretch [m] and share of `stuck`, by its name; unstretched where it has none.

    `name_count`: first names are lower, those of points and of edges, which follow the `point_count` points.
    """
    start = np.zeros(name_count + 1, np.int32)
    order = np.empty(len(stuck.point), np.int32)
    hand_rows(
        contacts.count, contacts.edge_start, point_count, contacts.points, contacts.bodies, contacts.edges, stuck.point,
        stuck.other, stuck.stretch, stuck.share, start, order, stretch, contacts.share,
    )  # fmt: skip


@kernel
def hand_rows(
    count, edge_start, point_count, points, bodies, edges, first, other, old_stretch, old_share, start, order, stretch,
    share,
):  # fmt: skip
    """`hand_on_friction`; the old rows are listed by their first names: those of one, few, in their order."""
    for k in range(first.shape[0]):
        start[first[k] + 1] += 1
    for name in range(1, start.shape[0]):
        start[name] += start[name - 1]
    for k in range(first.shape[0] - 1, -1, -1):
        start[first[k] + 1] -= 1
        order[start[first[k] + 1]] = k
    # now start[name + 1] is where the name's rows begin
    last = start.shape[0] - 1
    for row in range(count):
        stretch[row, 0] = stretch[row, 1] = stretch[row, 2] = 0.0
        name, second = points[row, 0], bodies[row, 1]
        if row >= edge_start:
            name, second = point_count + edges[row, 0], edges[row, 1]
        end = start[name + 2] if name + 2 <= last else first.shape[0]
        for k in range(start[name + 1], end):
            old = order[k]
            if other[old] == second:
                for axis in range(3):
                    stretch[row, axis] = old_stretch[old, axis]
                share[row] = old_share[old]
                break
