"""Sides of contacts without a gap at the start of a run, where closest points have no direction.

A box drawn on a floor has no distance from it, or is a rounding below it. The side of its plane is then taken from the
middle of the body instead of the closest points.
"""

from ...jit import lean_inline_kernel, lean_kernel
from ...simd import four, lane, load4, store4, sum_spread, triple
from .arrays import GIVEN
from .carried import pair_of
from .closest import PARALLEL
from .turning import across

#: Gap below which a contact counts as touching, as a share of the distance that it keeps.
TOUCH_SHARE = 0.02


@lean_inline_kernel
def middle_of(bodies, b):
    """Middle of the box around a body [m]; `bodies.low` is minus the lower corner."""
    return (load4(bodies.high, 4 * b) - load4(bodies.low, 4 * b)) * 0.5


@lean_inline_kernel
def touch(contacts, c):
    """Whether the sides of contact c are too near for their closest points to give a side."""
    return contacts.gap[4 * c] <= TOUCH_SHARE * contacts.reach[c]


@lean_kernel
def orient_touching(contact, x):
    """Orient the normals of contacts without a gap; edges that meet at an end, or are parallel, have none."""
    bodies = contact.bodies
    for kind, contacts in enumerate((contact.corners, contact.sides)):
        for c in range(contact.run.found[2 + kind]):
            if not touch(contacts, c):
                continue
            i, j = contacts.points[4 * c], contacts.points[4 * c + 1]
            k, m = contacts.points[4 * c + 2], contacts.points[4 * c + 3]
            a, b = pair_of(contact, contacts, c)
            if a == b:
                continue
            p, q, r, s = load4(x, i), load4(x, j), load4(x, k), load4(x, m)
            one, other, way = r - q, s - q, p - q
            if kind == 1:
                one, other, way = q - p, s - r, p - r
            normal = across(one, other)
            size = lane(sum_spread(normal * normal), 0)
            least = PARALLEL * lane(sum_spread(one * one), 0) * lane(sum_spread(other * other), 0)
            if not size > least or (kind == 1 and not contacts.presses[c]):
                contacts.presses[c] = False
                write(contacts, c, triple(0.0, 0.0, 0.0), 0.0)
                continue
            above = middle_of(bodies, a) - r if bodies.kind[a] != GIVEN else r - middle_of(bodies, b)
            side = 1.0 if lane(sum_spread(above * normal), 0) > 0.0 else -1.0
            normal = normal * (side / size**0.5)
            write(contacts, c, normal, lane(sum_spread(way * normal), 0))


@lean_inline_kernel
def write(contacts, c, normal, gap):
    """Give contact c another normal and gap; until it separates it may get nearer, by the gap at which it touches."""
    store4(contacts.normal, 4 * c, normal)
    store4(contacts.gap, 4 * c, four(gap, -TOUCH_SHARE * contacts.reach[c], gap, gap))
