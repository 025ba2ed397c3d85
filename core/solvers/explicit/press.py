"""Contacts as parts of a velocity: which of them press, what mass their impulses move, and what an impulse changes."""

from math import inf

from ...contact.mixing import mixed_kernel
from ...jit import lean_inline_kernel, lean_kernel
from ...simd import dot, load4, spread, store4, transposed, triple
from ...tiny import TINY
from .arrays import RIGID
from .carried import carried_inverse_mass, carried_velocity, pair_of, push_carried


@lean_kernel
def keep_nearest(corners, count, head, following):
    """A vertex presses only where its distance to a surface is least among triangles that share a corner.

    Leaves out what neither presses nor must be watched; returns how many remain. `head`, `following`: scratch.
    """
    quad, gap = corners.points, corners.gap
    for c in range(count):
        head[quad[4 * c] >> 2] = -1
    for c in range(count):
        p = quad[4 * c] >> 2
        following[c] = head[p]
        head[p] = c
    for c in range(count):
        other = head[quad[4 * c] >> 2]
        while other >= 0:
            if other != c and (gap[4 * other] < gap[4 * c] or (gap[4 * other] == gap[4 * c] and other < c)):
                for k in range(1, 4):
                    i = quad[4 * c + k]
                    if i == quad[4 * other + 1] or i == quad[4 * other + 2] or i == quad[4 * other + 3]:
                        corners.presses[c] = False
            other = following[other]
    kept = 0
    for c in range(count):
        if corners.presses[c] or corners.must[c]:
            if kept < c:
                for k in range(4):
                    quad[4 * kept + k] = quad[4 * c + k]
                store4(corners.normal, 4 * kept, load4(corners.normal, 4 * c))
                store4(corners.weight, 4 * kept, load4(corners.weight, 4 * c))
                store4(gap, 4 * kept, load4(gap, 4 * c))
                corners.presses[kept], corners.reach[kept] = corners.presses[c], corners.reach[c]
            kept += 1
    return kept


@lean_inline_kernel
def own_inverse_mass(contacts, c):
    """What the points of contact c have of the inverse mass, in every direction [1/kg]."""
    return dot(load4(contacts.weight, 4 * c), load4(contacts.share, 4 * c))


@lean_inline_kernel
def free_weight(contact, i, weight):
    """|weight| of point i in a contact; 1 of a rigid body's, -1 of a given point."""
    if contact.bodies.kind[contact.points.body[i]] == RIGID:
        return 1.0
    return abs(weight) if contact.points.inverse_mass[i] > 0.0 else -1.0


@lean_inline_kernel
def lever_limited(inverse_mass, largest):
    """Inverse mass of a contact whose free points have this `largest` weight [1/kg].

    Beside pinned points the weight of a free one may be tiny: to stop the contact it would have to be thrown. So no
    point gets more than three times the speed that its contact is to change by; a side without pins never does, as one
    of its weights is a third at least.
    """
    return inverse_mass / min(max(3.0 * largest, TINY), 1.0)


@lean_kernel
def weigh(contact, contacts, c, x):
    """Mass that impulses of contact c move, its friction; one of given points alone keeps no distance."""
    bodies = contact.bodies
    a, b = pair_of(contact, contacts, c)
    contacts.carried[c] = bodies.kind[a] == RIGID or bodies.kind[b] == RIGID
    contacts.friction[c] = mixed_kernel(bodies.friction[a], bodies.friction[b])
    if not set_share(contact, contacts, c, x):
        contacts.reach[c] = -inf


@lean_inline_kernel
def set_share(contact, contacts, c, x):
    """Shares and inverse mass of contact c, for the weights of its points; whether any of these moves by itself."""
    inverse_mass = contact.points.inverse_mass
    largest = 1.0 if contacts.carried[c] else -1.0
    for k in range(4):
        weight, free = contacts.weight[4 * c + k], inverse_mass[contacts.points[4 * c + k] >> 2]
        contacts.share[4 * c + k] = weight * free
        if free > 0.0:
            largest = max(largest, abs(weight))
    total = lever_limited(own_inverse_mass(contacts, c), largest)
    if contacts.carried[c]:
        nx, ny, nz = contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2]
        total += carried_inverse_mass(contact, x, contacts, c, nx, ny, nz)
    contacts.normal[4 * c + 3] = total
    return largest >= 0.0


@lean_kernel
def prepare(contact, x):
    """Everything about new contacts that stays for the epoch."""
    run, by_tick = contact.run, contact.bodies.by_tick
    run.found[2] = keep_nearest(contact.corners, run.found[2], run.head, run.following)
    for kind, contacts in enumerate((contact.corners, contact.sides)):
        for c in range(run.found[2 + kind]):
            a, b = pair_of(contact, contacts, c)
            if by_tick[a] and by_tick[b]:  # answered once per tick
                contacts.presses[c] = False
            weigh(contact, contacts, c, x)
            store4(contacts.kept, 4 * c, spread(0.0))


@lean_inline_kernel
def push(velocity, contacts, c, jx, jy, jz):
    """An impulse [N s] on side A of contact c, and the opposite one on side B, as far as they are points."""
    impulse = triple(jx, jy, jz)
    for k in range(4):
        i = contacts.points[4 * c + k]
        store4(velocity, i, load4(velocity, i) + impulse * contacts.share[4 * c + k])


@lean_inline_kernel
def sides_velocity(contact, contacts, c, x, velocity):
    """Velocity of side A of contact c relative to side B [m/s]."""
    vx, vy, vz, _ = transposed(
        load4(velocity, contacts.points[4 * c]), load4(velocity, contacts.points[4 * c + 1]),
        load4(velocity, contacts.points[4 * c + 2]), load4(velocity, contacts.points[4 * c + 3]),
    )  # fmt: skip
    w = load4(contacts.weight, 4 * c)
    ux, uy, uz = dot(vx, w), dot(vy, w), dot(vz, w)
    if contacts.carried[c]:
        cx, cy, cz = carried_velocity(contact, x, contacts, c)
        ux, uy, uz = ux + cx, uy + cy, uz + cz
    return ux, uy, uz


@lean_inline_kernel
def push_sides(contact, contacts, c, jx, jy, jz, x, velocity):
    """An impulse [N s] on side A of contact c, and the opposite one on side B."""
    push(velocity, contacts, c, jx, jy, jz)
    if contacts.carried[c]:
        push_carried(contact, x, contacts, c, jx, jy, jz)


@lean_inline_kernel
def note(contact, contacts, c, x, losses, size, fx, fy, fz):
    """Note the impulse of contact c, `size` along its normal, and its friction [N s], for the losses of its bodies."""
    a, b = pair_of(contact, contacts, c)
    if a == b:
        return
    nx, ny, nz = contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2]
    jx, jy, jz, push = size * nx + fx, size * ny + fy, size * nz + fz, losses.push
    push[a, 0], push[a, 1], push[a, 2] = push[a, 0] + jx, push[a, 1] + jy, push[a, 2] + jz
    push[b, 0], push[b, 1], push[b, 2] = push[b, 0] - jx, push[b, 1] - jy, push[b, 2] - jz
    count = contact.bodies.kind.shape[0]
    pair, signed = (a * count + b, size) if a < b else (b * count + a, -size)
    pairs = losses.pairs
    if not pairs.counts[pair]:
        return
    pairs.load[pair] += size
    for axis in range(3):
        pairs.impulse[pair, axis] += signed * contacts.normal[4 * c + axis]
        middle = 0.0  # halfway between the two sides
        for k in range(4):
            middle += 0.5 * abs(contacts.weight[4 * c + k]) * x[contacts.points[4 * c + k] + axis]
        pairs.point[pair, axis] += size * middle
    for k in range(4):
        i = contacts.points[4 * c + k] >> 2
        if i < losses.mass.shape[0]:
            losses.untouched[i] = 0.0


@lean_inline_kernel
def record(contact, contacts, c, size):
    """Add contact c, which pushes by `size` [N s], to those that pushed in the last step."""
    pressed = contact.pressed
    row = pressed.size[0]
    for k in range(4):
        pressed.points[row, k] = contacts.points[4 * c + k] >> 2
        pressed.weight[row, k] = contacts.weight[4 * c + k]
    pressed.impulse[row], pressed.gap[row], pressed.reach[row] = size, contacts.gap[4 * c], contacts.reach[c]
    pressed.size[0] = row + 1
