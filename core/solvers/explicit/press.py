"""What contacts do to velocities: impulses that keep the gap, and friction.

Contacts act one after the other on the velocities that a step has without them. An impulse only stops an approach: one
that would end nearer than the distance to keep at the end of the step (a speculative contact; Catto 2013). So resting
contacts neither store energy nor depend on which others were found, and the length of a step need not regard them.

Impulses keep angular momentum too. The points that touch slide so that the normal leads from one to the other;
friction acts at a vertex, and the triangle across the gap takes it there: as it would take a couple if its corners were
rigid. Edges of soft bodies have no friction (two edges cannot take a couple about an axis that both are along);
vertices near them have.
"""

from math import inf, sqrt

from ...contact.coulomb import cone_share
from ...contact.mixing import mixed_kernel
from ...jit import lean_inline_kernel, lean_kernel
from ...simd import four, lane, load4, store4, sum_spread, transposed, triple
from ...tiny import TINY
from .arrays import RIGID, SOFT
from .carried import carried_inverse_mass, carried_velocity, pair_of, push_carried
from .turning import push_apart, slide_into_line, turn_triangle

#: Added to the speed of a slip [m/s]: one slower than this has no direction.
LEAST_SLIP = 1e-30
#: Rate at which what is too near parts [1/s]: what starts so must not jump.
PART_RATE = 20.0
#: Gap beyond which a contact is answered only if the last step's change would close it, over the distance to keep.
LEAST_FAR = 1.1
#: How far points that touch may slide beyond their primitives, as a share of them.
BEYOND = 0.3


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
    return lane(sum_spread(load4(contacts.weight, 4 * c) * load4(contacts.share, 4 * c)), 0)


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
    largest = -1.0
    for k in range(4):
        i, weight = contacts.points[4 * c + k] >> 2, contacts.weight[4 * c + k]
        contacts.share[4 * c + k] = weight * contact.points.inverse_mass[i]
        largest = max(largest, free_weight(contact, i, weight))
    if largest < 0.0:
        contacts.reach[c] = -inf
    total = lever_limited(own_inverse_mass(contacts, c), largest)
    a, b = pair_of(contact, contacts, c)
    contacts.carried[c] = bodies.kind[a] == RIGID or bodies.kind[b] == RIGID
    if contacts.carried[c]:
        nx, ny, nz = contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2]
        total += carried_inverse_mass(contact, x, contacts, c, nx, ny, nz)
    contacts.normal[4 * c + 3] = total
    contacts.friction[c] = mixed_kernel(bodies.friction[a], bodies.friction[b])


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


@lean_inline_kernel
def push(velocity, contacts, c, jx, jy, jz):
    """An impulse [N s] on side A of contact c, and the opposite one on side B, as far as they are points."""
    impulse = triple(jx, jy, jz)
    for k in range(4):
        i = contacts.points[4 * c + k]
        store4(velocity, i, load4(velocity, i) + impulse * contacts.share[4 * c + k])


@lean_inline_kernel
def relative_velocity(velocity, contacts, c):
    """Of side A to side B [m/s], as far as they are points that move by themselves or are given."""
    vx, vy, vz, _ = transposed(
        load4(velocity, contacts.points[4 * c]), load4(velocity, contacts.points[4 * c + 1]),
        load4(velocity, contacts.points[4 * c + 2]), load4(velocity, contacts.points[4 * c + 3]),
    )  # fmt: skip
    w = load4(contacts.weight, 4 * c)
    return lane(sum_spread(vx * w), 0), lane(sum_spread(vy * w), 0), lane(sum_spread(vz * w), 0)


@lean_inline_kernel
def sides_velocity(contact, contacts, c, x, velocity):
    """Velocity of side A of contact c relative to side B [m/s]."""
    ux, uy, uz = relative_velocity(velocity, contacts, c)
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
def is_near(contacts, c):
    """Whether contact c may have to be answered in this step."""
    gap, reach = contacts.gap[4 * c], contacts.reach[c]
    closes = 2.0 * gap - contacts.gap[4 * c + 2] < reach
    return contacts.presses[c] and (gap < LEAST_FAR * reach or closes)


@lean_kernel
def press(contact, x, velocity, h):
    """Impulses of the contacts on velocities, where rigid points have rows of 0; returns whether any is near."""
    any_near = False
    for kind, contacts in enumerate((contact.corners, contact.sides)):
        for c in range(contact.run.found[2 + kind]):
            store4(contacts.grip, 4 * c, four(0.0, 0.0, 0.0, 0.0))
            if is_near(contacts, c):
                any_near = True
                contacts.aligned[c] = slide_into_line(contacts, c, kind == 1, x, BEYOND)
                if contacts.aligned[c]:
                    weigh(contact, contacts, c, x)
                press_one(contact, contacts, c, kind == 1, x, velocity, h)
    return any_near


@lean_kernel
def press_again(contact, x, velocity, h):
    """Another sweep over the contacts: what each stops, the others have changed.

    Returns the largest change of an impulse, as a share of the contact's normal one.
    """
    most = 0.0
    for kind, contacts in enumerate((contact.corners, contact.sides)):
        for c in range(contact.run.found[2 + kind]):
            if is_near(contacts, c):
                most = max(most, press_one(contact, contacts, c, kind == 1, x, velocity, h))
    return most


@lean_inline_kernel
def press_one(contact, contacts, c, are_edges, x, velocity, h):
    """Impulse of contact c that ends its approach, all in all never one that pulls (Catto 2005), and its friction.

    Returns the change, as a share of the impulse along the normal.
    """
    inverse_mass = contacts.normal[4 * c + 3]
    if inverse_mass == 0.0:
        return 0.0
    nx, ny, nz = contacts.normal[4 * c], contacts.normal[4 * c + 1], contacts.normal[4 * c + 2]
    ux, uy, uz = sides_velocity(contact, contacts, c, x, velocity)
    gap, reach, held = contacts.gap[4 * c], contacts.reach[c], contacts.grip[4 * c + 3]
    parting = (reach - gap) * (PART_RATE if gap < reach else 1.0 / h)
    along = ux * nx + uy * ny + uz * nz
    size = max((parting - along) / inverse_mass, -held)
    if held == 0.0 and size <= 0.0:
        return 0.0
    contacts.grip[4 * c + 3] = held + size
    jx, jy, jz = size * nx, size * ny, size * nz
    if contacts.aligned[c] and not contacts.carried[c]:  # nothing turns: the slide is the same before and after
        change, fx, fy, fz = grip(contact, contacts, c, are_edges, x, ux, uy, uz)
        push(velocity, contacts, c, jx + fx, jy + fy, jz + fz)
    else:
        weight = load4(contacts.weight, 4 * c)
        if contacts.aligned[c] or not push_apart(
            velocity, x, contacts, c, weight, size * inverse_mass, contact.points
        ):  # fmt: skip
            push(velocity, contacts, c, jx, jy, jz)
        if contacts.carried[c]:
            push_carried(contact, x, contacts, c, jx, jy, jz)
        ux, uy, uz = sides_velocity(contact, contacts, c, x, velocity)
        change, fx, fy, fz = grip(contact, contacts, c, are_edges, x, ux, uy, uz)
        push_sides(contact, contacts, c, fx, fy, fz, x, velocity)
    if (fx != 0.0 or fy != 0.0 or fz != 0.0) and contact.bodies.kind[pair_of(contact, contacts, c)[1]] == SOFT:
        taken = (fx * fx + fy * fy + fz * fz) * inverse_mass
        turn_triangle(velocity, contacts, c, x, contact.points, fx, fy, fz, taken)
    return max(change, abs(size) / max(held, held + size))


@lean_inline_kernel
def grip(contact, contacts, c, are_edges, x, ux, uy, uz):
    """Change of the friction of contact c [N s], whose sides move by u relative to each other [m/s].

    It stops the slide, as far as Coulomb's cone lets it in this step all in all. The first number is its size as a
    share of the most that the cone lets through.
    """
    first, kind = 4 * c, contact.bodies.kind
    a, b = pair_of(contact, contacts, c)
    if contacts.friction[c] == 0.0 or (are_edges and (kind[a] == SOFT or kind[b] == SOFT)):
        return 0.0, 0.0, 0.0, 0.0
    nx, ny, nz = contacts.normal[first], contacts.normal[first + 1], contacts.normal[first + 2]
    inverse_mass = contacts.normal[first + 3]
    along = ux * nx + uy * ny + uz * nz
    ux, uy, uz = ux - along * nx, uy - along * ny, uz - along * nz
    if contacts.carried[c]:  # it may turn more easily than it goes
        slide = sqrt(ux * ux + uy * uy + uz * uz) + LEAST_SLIP
        tx, ty, tz = ux / slide, uy / slide, uz / slide
        other = carried_inverse_mass(contact, x, contacts, c, tx, ty, tz)
        inverse_mass = max(inverse_mass, own_inverse_mass(contacts, c) + other)
    held = contacts.grip
    fx, fy, fz = (
        held[first] - ux / inverse_mass,
        held[first + 1] - uy / inverse_mass,
        held[first + 2] - uz / inverse_mass,
    )
    most = contacts.friction[c] * held[first + 3]
    share = cone_share(sqrt(fx * fx + fy * fy + fz * fz), most)
    fx, fy, fz = share * fx, share * fy, share * fz
    jx, jy, jz = fx - held[first], fy - held[first + 1], fz - held[first + 2]
    held[first], held[first + 1], held[first + 2] = fx, fy, fz
    change = sqrt(jx * jx + jy * jy + jz * jz) / most if most > 0.0 else 0.0
    return change, jx, jy, jz


@lean_kernel
def note_all(contact, losses, x):
    """Note in `losses` what pairs of bodies do to each other; returns how many contacts press."""
    pressing = 0
    for kind, contacts in enumerate((contact.corners, contact.sides)):
        for c in range(contact.run.found[2 + kind]):
            size = contacts.grip[4 * c + 3]
            if size > 0.0:
                pressing += 1
                fx, fy, fz = contacts.grip[4 * c], contacts.grip[4 * c + 1], contacts.grip[4 * c + 2]
                note(contact, contacts, c, x, losses, size, fx, fy, fz)
    return pressing


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
