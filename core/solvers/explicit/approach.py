"""Inelastic impulses that only remove approach where contacts fail, so that the motion limit has little to cut."""

from ...jit import lean_inline_kernel, lean_kernel
from ...simd import dot, four, lane, load4, store4, triple
from .arrays import GIVEN, RIGID, SOFT
from .carried import answer, middle, pair_of, place_point, push_body, side_body, try_move, velocity_at
from .press import free_weight, lever_limited
from .turning import push_apart
from .verify import SPENT_SHARE, fails, least_separation, projections, separation

#: By how much impulses leave a contact wider than it must be, as a share of its reach.
MARGIN = 1e-6


@lean_kernel
def remove_approach(contact, x, y, velocity, h, again):
    """An inelastic impulse on each contact that fails: as last verified, or `again`, after other impulses."""
    points, rigid = contact.points, contact.rigid
    for kind, contacts in enumerate((contact.corners, contact.sides)):
        for c in range(contact.run.found[2 + kind]):
            if not (again or fails(contacts, c)):
                continue
            for k in range(4):
                place_point(contact, contacts.points[4 * c + k] >> 2, y)
            s, least = projections(y, contacts, c), least_separation(contacts, c)
            end = separation(s, kind == 1)
            if end >= (1.0 - SPENT_SHARE) * least:
                continue
            wanted, weight = least + MARGIN * contacts.reach[c], load4(contacts.weight, 4 * c)
            gap = dot(s, weight)
            if gap < least:
                stop(contact, velocity, x, contacts, c, weight, (wanted - gap) / h)
            else:  # two corners only
                weight = nearest_points(s, kind == 1)
                stop(contact, velocity, x, contacts, c, weight, (wanted - end) / h)
            for k in range(4):
                i = contacts.points[4 * c + k]
                if points.inverse_mass[i >> 2] > 0.0:
                    store4(y, i, load4(x, i) + load4(velocity, i) * h)
            for side in range(2):
                b = side_body(contact, contacts, c, side)
                if b >= 0:
                    try_move(rigid, b - rigid.first_body[0], h)


@lean_inline_kernel
def nearest_points(s, are_edges):
    """Weights of the two points that are nearest along the normal, from their projections."""
    first = 0 if not are_edges or lane(s, 0) <= lane(s, 1) else 1
    second = 2 if lane(s, 2) >= lane(s, 3) else 3
    if not are_edges and lane(s, 1) >= max(lane(s, 2), lane(s, 3)):
        second = 1
    return four(
        1.0 if first == 0 else 0.0, 1.0 if first == 1 else (-1.0 if second == 1 else 0.0),
        -1.0 if second == 2 else 0.0, -1.0 if second == 3 else 0.0,
    )  # fmt: skip


@lean_kernel
def stop(contact, velocity, x, contacts, c, weight, speed):
    """An impulse that makes a weighted sum of the points of contact c grow faster along its normal by `speed` [m/s].

    At most what stops the approach of the very points that it acts on, so it never adds energy. A rigid side takes it
    where the other side does, so that together they are not turned.
    """
    points, rigid = contact.points, contact.rigid
    if push_apart(velocity, x, contacts, c, weight, speed, points):
        return
    nx, ny, nz = contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2]
    inverse_mass = along = 0.0
    largest = -1.0
    for k in range(4):
        i, w = contacts.points[4 * c + k], lane(weight, k)
        largest = max(largest, free_weight(contact, i >> 2, w))
        if contact.bodies.kind[points.body[i >> 2]] != RIGID:
            inverse_mass += w * w * points.inverse_mass[i >> 2]
            along += w * (velocity[i] * nx + velocity[i + 1] * ny + velocity[i + 2] * nz)
    px, py, pz = middle(contact, x, contacts, c, weight, common_side(contact, contacts, c))
    for side in range(2):
        b = side_body(contact, contacts, c, side)
        if b >= 0:
            q = b - rigid.first_body[0]
            inverse_mass += answer(rigid, q, px, py, pz, nx, ny, nz, 0.0)
            vx, vy, vz = velocity_at(rigid, q, px, py, pz)
            along += (1.0 - 2.0 * side) * (vx * nx + vy * ny + vz * nz)
    if not (inverse_mass > 0.0 and along < 0.0):
        return
    size = min(speed, -along) / lever_limited(inverse_mass, largest)
    for k in range(4):
        i = contacts.points[4 * c + k]
        share = size * lane(weight, k) * points.inverse_mass[i >> 2]
        store4(velocity, i, load4(velocity, i) + triple(nx, ny, nz) * share)
    for side in range(2):
        b = side_body(contact, contacts, c, side)
        if b >= 0:
            j = size * (1.0 - 2.0 * side)
            push_body(rigid, b - rigid.first_body[0], px, py, pz, j * nx, j * ny, j * nz)


@lean_inline_kernel
def common_side(contact, contacts, c):
    """The side of contact c where both take an impulse: a soft one, as a rigid body takes it anywhere."""
    a, b = pair_of(contact, contacts, c)
    a, b = contact.bodies.kind[a], contact.bodies.kind[b]
    if a == SOFT or b == GIVEN:
        return 0
    return 1 if b == SOFT or a == GIVEN else 0
