"""What the contact set leaves out: bodies that ignore each other, and what starts crossed, until it has separated."""

from ...array_types import BoolArray
from ...contact.untangle.at_start import crossing_triangles, in_colliders, inverted, self_colliding
from ...contact.untangle.crossings import Crossings
from ...model import Model
from ...state import STAYS, State
from .arrays import Bodies
from .layout import Numbering


def list_crossing(model: Model, state: State) -> int:
    """Write the points behind a surface, and bodies inside out, into the state; returns how many triangles cross."""
    own = self_colliding(model)
    found = crossing_triangles(model, state.positions, own)
    if len(found) or len(inverted(model, state.positions, own)):
        crossings = Crossings(model)
        crossings.find(state.positions)
        state.wrong_side = crossings.listed()
    else:
        state.wrong_side = in_colliders(model, state.positions)
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
