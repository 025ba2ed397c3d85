"""Attachments: sequential impulses that stop the relative velocity of attached points.

A vertex is attached to a fixed place in the frame of a triangle of another skin, or to a point of a rigid body. Each
row removes the relative velocity, and in every step a part of the distance (Baumgarte 1972), so attachments do not
limit the step. The impulse acts at the vertex on both sides: a rigid body takes it there; a triangle takes it at its
own point, and the remaining couple as a rotation of its corners (`turning.turn_triangle`). So both momenta are
conserved. The attached place moves with the rotation of its triangle, which counts in the relative velocity and in the
effective mass.
"""

from math import inf, sqrt
from typing import NamedTuple

from ...array_types import FloatArray
from ...jit import lean_inline_kernel, lean_kernel
from ...model import Model
from ...simd import cross, lane, load4, root, spread, sum_spread, triple
from ...tiny import TINY
from .arrays import Contacts, contacts_of
from .carried import carried_inverse_mass, place_point
from .layout import Numbering
from .press import own_inverse_mass, push_sides, sides_velocity
from .turning import is_free, turn_triangle, turned_inverse_mass, turning_speed

#: Sweeps over all rows in a step, and the share of a distance that one removes.
SWEEPS, PULL_SHARE = 4, 0.2


class Glue(NamedTuple):
    """Attachments as rows of contacts, and the places where the vertices are attached."""

    rows: Contacts
    offset: FloatArray  # from the triangle's point to the vertex, in the triangle's frame [m], shape (row_count, 3)
    stiffness: FloatArray  # [N/m], for solvers that use springs (`energy/attachment.py`)


def glue_of(model: Model, numbering: Numbering, inverse_mass: FloatArray) -> Glue:
    """The attachments of a model; `inverse_mass` [1/kg] in the solver's order."""
    attached, count = model.attachments, len(model.attachments.points)
    rows = contacts_of(count)
    points = numbering.place[attached.points]
    rows.points[:] = 4 * points.ravel()
    rows.weight[:] = attached.weights.ravel()
    rows.share[:] = (attached.weights * inverse_mass[points]).ravel()
    rows.carried[:] = attached.body >= model.membrane_count
    return Glue(rows, attached.offset, attached.stiffness)


@lean_kernel
def hold_glued(contact, glue, x, velocity, h):
    """Apply the impulses of all attachments to the velocities."""
    rows = glue.rows
    for _ in range(SWEEPS):
        for c in range(glue.offset.shape[0]):
            turns = not rows.carried[c] and is_free(rows, c, contact.points)
            pulled = pulled_apart(glue, c, x) * (PULL_SHARE / h)
            if turns:
                pulled = pulled - turning_speed(velocity, rows, c, x)
            ux, uy, uz = sides_velocity(contact, rows, c, x, velocity)
            ux, uy, uz = ux + lane(pulled, 0), uy + lane(pulled, 1), uz + lane(pulled, 2)
            size = sqrt(ux * ux + uy * uy + uz * uz) + TINY
            nx, ny, nz = ux / size, uy / size, uz / size
            if turns:
                inverse_mass = turned_inverse_mass(rows, c, x, contact.points, triple(nx, ny, nz))
            else:
                inverse_mass = own_inverse_mass(rows, c)
            if rows.carried[c]:
                inverse_mass += carried_inverse_mass(contact, x, rows, c, nx, ny, nz)
            if inverse_mass == 0.0:
                continue
            jx, jy, jz = -ux / inverse_mass, -uy / inverse_mass, -uz / inverse_mass
            push_sides(contact, rows, c, jx, jy, jz, x, velocity)
            if turns:
                turn_triangle(velocity, rows, c, x, contact.points, jx, jy, jz, inf)


@lean_kernel
def place_glued(contact, glue, y):
    """Place the attached points of rigid bodies at the trial poses."""
    for c in range(glue.offset.shape[0]):
        place_point(contact, glue.rows.points[4 * c + 1] >> 2, y)


@lean_inline_kernel
def pulled_apart(glue, c, x):
    """Vector from the attached place to the vertex of row c [m]."""
    quad, weight = glue.rows.points, load4(glue.rows.weight, 4 * c)
    p, a, b, e = load4(x, quad[4 * c]), load4(x, quad[4 * c + 1]), load4(x, quad[4 * c + 2]), load4(x, quad[4 * c + 3])
    way = p * lane(weight, 0) + a * lane(weight, 1) + b * lane(weight, 2) + e * lane(weight, 3)
    if glue.offset[c, 0] == 0.0 and glue.offset[c, 1] == 0.0 and glue.offset[c, 2] == 0.0:
        return way
    along, other = b - a, e - a
    normal = cross(along, other)
    along = along / root(sum_spread(along * along) + spread(TINY))
    normal = normal / root(sum_spread(normal * normal) + spread(TINY))
    beside = cross(normal, along)
    return way - along * glue.offset[c, 0] - beside * glue.offset[c, 1] - normal * glue.offset[c, 2]
