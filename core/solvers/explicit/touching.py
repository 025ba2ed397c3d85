"""Sides of contacts without a gap at the start of a run, where closest points have no direction.

A box drawn on a floor has no distance from it, or is a rounding below it. The side of its plane is then taken from the
middle of the body instead of the closest points.
"""

from ...jit import lean_kernel
from ...simd import cross, dot, four, load4, store4, triple
from .arrays import GIVEN
from .carried import pair_of
from .closest import PARALLEL

#: Gap below which a contact counts as touching, as a share of the distance that it keeps.
TOUCH_SHARE = 0.02


@lean_kernel
def orient_touching(contact, x):
    """Orient the normals of contacts without a gap; edges that meet at an end, or are parallel, have none."""
    bodies = contact.bodies
    for kind, contacts in enumerate((contact.corners, contact.sides)):
        for c in range(contact.run.found[2 + kind]):
            if contacts.gap[4 * c] > TOUCH_SHARE * contacts.reach[c]:
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
            normal = cross(one, other)
            size = dot(normal, normal)
            if size > PARALLEL * dot(one, one) * dot(other, other) and (kind == 0 or contacts.presses[c]):
                free, sign = (a, 1.0) if bodies.kind[a] != GIVEN else (b, -1.0)
                middle = (load4(bodies.high, 4 * free) - load4(bodies.low, 4 * free)) * 0.5  # `low`: minus the corner
                side = 1.0 if sign * dot(middle - r, normal) > 0.0 else -1.0
                normal = normal * (side / size**0.5)
            else:
                contacts.presses[c] = False
                normal = triple(0.0, 0.0, 0.0)
            gap = dot(way, normal)
            store4(contacts.normal, 4 * c, normal)
            # until it separates it may get nearer, by the gap at which it touches
            store4(contacts.gap, 4 * c, four(gap, -TOUCH_SHARE * contacts.reach[c], gap, gap))
