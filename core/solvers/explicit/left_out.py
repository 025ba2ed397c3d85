"""What the contact set leaves out: bodies that ignore each other, and what starts crossed, until it has separated."""

import numpy as np

from ...array_types import BoolArray
from ...contact.untangle.crossings import Crossings
from ...contact.untangle.overlap import edge_rows, find_overlaps
from ...model import Model
from ...state import STAYS, State
from .arrays import Bodies
from .layout import Numbering
from .unsupported import boxes_meet, crossing_triangles, inverted, self_colliding


def list_crossing(model: Model, state: State) -> int:
    """Write the points behind a surface, and bodies inside out, into the state; returns how many triangles cross."""
    own = self_colliding(model)
    found = crossing_triangles(model, state.positions, own)
    state.wrong_side = np.zeros((0, 3), np.int32)
    if len(found) or len(inverted(model, state.positions, own)):
        crossings = Crossings(model)
        crossings.find(state.positions)
        state.wrong_side = crossings.listed()
    elif model.rigid_count and model.moving_count < model.body_count and boxes_meet(model, state.positions):
        # edges of rigid bodies have no contact with a collider that they cross, however slightly
        pairs = find_overlaps(model, state.positions).edges_alone(model.point_body)
        rigid = range(model.membrane_count, model.moving_count)
        state.wrong_side = edge_rows(model, [(a, b) for a, b in pairs if a in rigid and b >= model.moving_count])
    return len(found)


def leave_out(
    model: Model, numbering: Numbering, bodies: Bodies, untouching: BoolArray, is_ball: BoolArray, state: State
) -> bool:
    """Mark in `bodies` what has no contact; returns whether any pair of a primitive and a body is excluded.

    `untouching`: pairs of bodies that ignore each other; `is_ball`: see `Bodies`, as the model has it.
    """
    rows, is_glued = state.wrong_side, len(model.attachments.points) > 0
    bodies.crosses[:], bodies.tangled[:], bodies.is_ball[:] = untouching, False, is_ball
    if not len(rows):
        return is_glued
    owner, body = model.point_body[rows[:, 0]], rows[:, 1]
    others = owner != body
    bodies.crosses[owner[others], body[others]] = bodies.crosses[body[others], owner[others]] = True
    tangled = ~others & (rows[:, 2] == STAYS)
    bodies.tangled[numbering.place[rows[tangled, 0]]] = True
    bodies.is_ball[body[tangled]] = False
    turned = inverted(model, state.positions, body[rows[:, 2] == 0])
    bodies.crosses[turned, turned] = True
    return is_glued or bool(bodies.tangled.any())
