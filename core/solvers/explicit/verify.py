"""The guarantee: at the end of a step the frozen planes of all contacts still separate their sides.

A normal n separates two convex primitives where sep = min over A of n . x - max over B of n . x > 0. Where that holds
at both ends of a step, and points move straight in between, they never touch. A step that would end nearer than a tenth
of the distance to keep, and nearer than nine tenths of where it began, gets another plane if one separates both sides
at both ends. Otherwise its motion is limited (`motion_limit.py`).
"""

from ...jit import lean_inline_kernel, lean_kernel
from ...simd import dot, lane, load4, transposed
from .shape import LEAST_SHARE

#: Largest decrease of a separation in a step, as a share of it: limits aim at none, so rounding does not matter.
SPENT_SHARE = 0.1
#: Least length of the mean of two unit normals for it to be used as a normal.
LEAST_LENGTH = 0.1


@lean_inline_kernel
def projections(y, contacts, c):
    """The four points of contact c along its normal [m]."""
    px, py, pz, _ = transposed(
        load4(y, contacts.points[4 * c]), load4(y, contacts.points[4 * c + 1]), load4(y, contacts.points[4 * c + 2]),
        load4(y, contacts.points[4 * c + 3]),
    )  # fmt: skip
    return px * contacts.normal[4 * c] + py * contacts.normal[4 * c + 1] + pz * contacts.normal[4 * c + 2]


@lean_inline_kernel
def separation(s, are_edges):
    """sep from the projections."""
    if are_edges:
        return min(lane(s, 0), lane(s, 1)) - max(lane(s, 2), lane(s, 3))
    return lane(s, 0) - max(lane(s, 1), max(lane(s, 2), lane(s, 3)))


@lean_inline_kernel
def least_separation(contacts, c):
    """Separation that limits aim at for contact c [m]."""
    return min(LEAST_SHARE * contacts.reach[c], contacts.gap[4 * c + 1])


@lean_inline_kernel
def fails(contacts, c):
    """Whether contact c ends nearer than allowed, as last verified."""
    return not contacts.gap[4 * c + 3] >= (1.0 - SPENT_SHARE) * least_separation(contacts, c)


@lean_kernel
def holds(y, contacts, c, are_edges):
    """Whether contact c ends no nearer than allowed at y."""
    contacts.gap[4 * c + 3] = separation(projections(y, contacts, c), are_edges)
    return not fails(contacts, c)


@lean_kernel
def separate(x, y, contacts, c, other, q, are_edges):
    """Whether the normal of contact q of the others, or its mean with that of contact c, separates c's sides at x and
    y.

    If so contact c takes it. c's normal is from the closest points at x, q's from y.
    """
    least = least_separation(contacts, c)
    ax, ay, az = contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2]
    bx, by, bz = other.normal[4 * q], other.normal[4 * q + 1], other.normal[4 * q + 2]
    for share in (0.0, 0.5):
        nx, ny, nz = bx + share * (ax - bx), by + share * (ay - by), bz + share * (az - bz)
        length = (nx * nx + ny * ny + nz * nz) ** 0.5
        if not length > LEAST_LENGTH:
            continue
        contacts.normal[4 * c] = nx / length
        contacts.normal[4 * c + 1] = ny / length
        contacts.normal[4 * c + 2] = nz / length
        before = separation(projections(x, contacts, c), are_edges)
        after = separation(projections(y, contacts, c), are_edges)
        if before > 0.0 and after >= least:  # where it is limited all the same, standing still must do
            contacts.gap[4 * c + 1], contacts.gap[4 * c + 3] = before, after
            return True
    contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2] = ax, ay, az
    return False


@lean_kernel
def verify(contact, y):
    """Compute the gaps at the end of the step, y; returns how many contacts end nearer than allowed."""
    failed = 0
    for kind, contacts in enumerate((contact.corners, contact.sides)):
        for c in range(contact.run.found[2 + kind]):
            failed += not holds(y, contacts, c, kind == 1)
    return failed


@lean_kernel
def accept(contact, y):
    """Take over the gaps at the end of the step."""
    for kind, contacts in enumerate((contact.corners, contact.sides)):
        for c in range(contact.run.found[2 + kind]):
            contacts.gap[4 * c + 2] = contacts.gap[4 * c]
            contacts.gap[4 * c] = dot(projections(y, contacts, c), load4(contacts.weight, 4 * c))
            if contacts.gap[4 * c + 3] > 0.0:  # contacts without a gap at the start keep the allowance of `touching.py`
                contacts.gap[4 * c + 1] = contacts.gap[4 * c + 3]
