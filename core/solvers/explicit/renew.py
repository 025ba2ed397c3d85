"""New normals for contacts whose old ones no longer separate their sides."""

from math import inf

from ...jit import lean_kernel
from ...simd import load4, store4
from . import verify as guarantee
from .arrays import RENEWED, STARTS
from .closest import near_edges, near_triangles
from .press import weigh
from .touching import TOUCH_SHARE

#: A slack that excludes no candidate, wherever it is: what is found is read in their order [m].
EVERYTHING = inf


@lean_kernel
def renew_failed(contact, x, y):
    """Take new normals where old ones fail at y; returns how many contacts still fail.

    Any plane that separates both sides at x and at y will do: that of the closest points at x, at y, or between the
    two.
    """
    contact.run.state[RENEWED] += 1
    return renew_kind(contact, 0, x, y) + renew_kind(contact, 1, x, y)


@lean_kernel
def renew_kind(contact, kind, x, y):
    """Take new normals for the contacts of one kind, 1 for sides, that fail at y; returns how many still fail."""
    contacts = contact.corners if kind == 0 else contact.sides
    candidates = contact.corner_candidates if kind == 0 else contact.side_candidates
    spare, spares, flight = contact.spare, contact.run.spares, contact.points.flight
    count, may_touch = contact.run.found[2 + kind], contact.run.state[STARTS] == 1
    failed = c = 0
    room = min(spare.reach.shape[0], candidates.reach.shape[0]) - 4
    while c < count:
        found = 0
        while c < count and found < room:
            if guarantee.fails(contacts, c):
                if may_touch and contacts.gap[4 * c] <= TOUCH_SHARE * contacts.reach[c]:
                    failed += 1
                    c += 1
                    continue
                as_candidate(contacts, c, candidates, found)
                spares[found] = c
                found += 1
            c += 1
        if found == 0:
            break
        closest_again(kind, x, flight, candidates, found, spare)
        left = 0
        for q in range(found):
            p = spares[q]
            store4(contacts.normal, 4 * p, load4(spare.normal, 4 * q))
            store4(contacts.weight, 4 * p, load4(spare.weight, 4 * q))
            store4(contacts.gap, 4 * p, load4(spare.gap, 4 * q))
            if not guarantee.holds(y, contacts, p, kind == 1):
                as_candidate(contacts, p, candidates, left)
                spares[found + left] = p
                left += 1
        if left > 0:
            closest_again(kind, y, flight, candidates, left, spare)
            for q in range(left):
                failed += not guarantee.separate(x, y, contacts, spares[found + q], spare, q, kind == 1)
        for q in range(found):
            weigh(contact, contacts, spares[q], x)
    return failed


@lean_kernel
def as_candidate(contacts, c, candidates, q):
    """Write contact c as candidate q, with a slack that excludes nothing."""
    for k in range(4):
        candidates.points[4 * q + k] = contacts.points[4 * c + k]
    candidates.slack[q], candidates.reach[q] = EVERYTHING, contacts.reach[c]


@lean_kernel
def closest_again(kind, x, flight, candidates, count, spare):
    """Closest points of candidates at x."""
    if kind == 0:
        near_triangles(x, flight, candidates, count, 0.0, spare)
    else:
        near_edges(x, flight, candidates, count, 0.0, spare)
