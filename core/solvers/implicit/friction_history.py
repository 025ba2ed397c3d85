"""Friction history: transfers friction springs from one contact set to the next.

A vertex-triangle spring is identified by the vertex and the other body, an edge-edge spring by both edges
(`state.FrictionSprings`).
"""

import numpy as np

from ...contact.contacts import Contacts
from ...jit import kernel
from ...model import FloatArray, IntArray
from ...state import FrictionSprings


def spring_keys(contacts: Contacts, point_count: int) -> tuple[IntArray, IntArray]:
    """Two keys of the spring of each contact."""
    count, edge_start = contacts.count, contacts.edge_start
    first, other = contacts.points[:count, 0].copy(), contacts.bodies[:count, 1].copy()
    first[edge_start:] = point_count + contacts.edges[edge_start:count, 0]
    other[edge_start:] = contacts.edges[edge_start:count, 1]
    return first, other


def transfer_friction(
    contacts: Contacts, stuck: FrictionSprings, name_count: int, point_count: int, stretch: FloatArray
) -> None:
    """Copy the stretch [m] of `stuck` to the contacts with the same keys; others are unstretched.

    `name_count`: bound of the first keys, which number the `point_count` points and then the edges.
    """
    start = np.zeros(name_count + 1, np.int32)
    order = np.empty(len(stuck.point), np.int32)
    transfer_rows(
        contacts.count, contacts.edge_start, point_count, contacts.points, contacts.bodies, contacts.edges, stuck.point,
        stuck.other, stuck.stretch, start, order, stretch,
    )  # fmt: skip


@kernel
def transfer_rows(
    count, edge_start, point_count, points, bodies, edges, first, other, old_stretch, start, order, stretch,
):  # fmt: skip
    """Kernel of `transfer_friction`; the old rows are grouped by their first keys, in their order."""
    for k in range(first.shape[0]):
        start[first[k] + 1] += 1
    for name in range(1, start.shape[0]):
        start[name] += start[name - 1]
    for k in range(first.shape[0] - 1, -1, -1):
        start[first[k] + 1] -= 1
        order[start[first[k] + 1]] = k
    # now start[name + 1] is where the key's rows begin
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
                break
