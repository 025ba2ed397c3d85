"""Impulses of contacts, one after the other and again, until contacts hardly change what the others have left.

They act on the velocities that a step has without them. An impulse only stops an approach: one that would end nearer
than the distance to keep at the end of the step (a speculative contact; Catto 2013). So resting contacts neither store
energy nor depend on which others were found, and the length of a step need not regard them.

Impulses keep angular momentum too. The points that touch slide so that the normal leads from one to the other;
friction acts at a vertex, and the triangle across the gap takes it there: as it would take a couple if its corners were
rigid. Edges of soft bodies have no friction (two edges cannot take a couple about an axis that both are along);
vertices near them have.

What stays the same of a contact in the step is computed once, into a row. Nearly all are of soft bodies or colliders,
with points in line (`answer_points`), and begin with impulses of the step before (a warm start): half of the sweeps.
Those of rigid bodies, and those without a line, begin without any and are answered by `answer_bodies`.
"""

from math import sqrt

from ...contact.coulomb import cone_share_of_square
from ...jit import lean_inline_kernel, lean_kernel
from ...simd import dot, four, lane, load3, load4, spread, store3, store4, triple
from ...tiny import TINY
from .arrays import PRESSING, SOFT, SWEEPS
from .carried import carried_inverse_mass, pair_of, push_carried
from .press import note, own_inverse_mass, push, push_sides, record, set_share, sides_velocity
from .turning import is_free, push_apart, set_turn, slide_into_line, turn_by_row, turn_triangle

#: Added to the speed of a slip [m/s]: one slower than this has no direction.
LEAST_SLIP = 1e-30
#: Rate at which what is too near parts [1/s]: what starts so must not jump.
PART_RATE = 20.0
#: Gap beyond which a contact is answered only if the last step's change would close it, over the distance to keep.
LEAST_FAR = 1.1
#: How far points that touch may slide beyond their primitives, as a share of them.
BEYOND = 0.3
#: Numbers in the row of a contact: the speed at which its sides are to part [m/s], the mass its impulse moves
#: [kg], the coefficient of friction, and the kind of answer; the impulses of friction and of the normal so far [N s];
#: weights and shares of its points, normal and inverse mass, see `arrays.Contacts`; the map of `turning.set_turn`; by
#: how much the last answer changed its speed [m/s].
PARTING, MASS, FRICTION, KIND, GRIP, PUSH, WEIGHT, SHARE, NORMAL, TURN, CHANGE = *range(5), 7, 8, 12, 16, 20, 32
#: Kinds of answers: of points without a couple, of points with that of a triangle, the same once its map is known, of
#: all else.
PLAIN, TURNS, TURNED, OTHER = 0.0, 1.0, 2.0, 3.0
#: Share of the impulses of the step before that a contact begins with: with more of them a jelly of 0.2 m that some
#: fingers hold trembles by up to 1 mm a frame; with this it is as still as without any, after half of the sweeps.
KEPT = 0.5
#: Speeds that the last sweep may change, as a share of all that impulses change, and the most sweeps.
UNSETTLED, MOST_SWEEPS = 1e-2, 26
#: What a contact's share of that end is multiplied by: one that changes by less stands alone, and is not asked again.
ALONE = 1e-3
#: How many times the change of a rigid body's contact counts: with once, five boxes on a jelly sway for seven seconds.
COUNTED = 10.0


@lean_inline_kernel
def press_all(contact, losses, x, velocity, h):
    """Impulses of all contacts on velocities, where rigid points have rows of 0."""
    list_near(contact, x, velocity, h)
    least = 0.0
    for _ in range(MOST_SWEEPS):
        contact.run.state[SWEEPS] += 1
        changed, total = sweep(contact, x, velocity, least)
        if changed <= UNSETTLED * total:
            break
        least = ALONE * UNSETTLED * total / contact.answers.size[0]
    note_all(contact, losses, x)


@lean_kernel
def list_near(contact, x, velocity, h):
    """List the contacts that may have to be answered in a step, with what stays the same of them in it.

    They begin with a share of the impulses that they have kept.
    """
    answers, count = contact.answers, 0
    for kind, contacts in enumerate((contact.corners, contact.sides)):
        for c in range(contact.run.found[2 + kind]):
            gap, reach = contacts.gap[4 * c], contacts.reach[c]
            is_near = gap < LEAST_FAR * reach or 2.0 * gap - contacts.gap[4 * c + 2] < reach
            if contacts.presses[c] and is_near:
                contacts.aligned[c] = slide_into_line(contacts, c, kind == 1, x, BEYOND)
                if contacts.aligned[c]:
                    set_share(contact, contacts, c, x)
                if contacts.normal[4 * c + 3] > 0.0:
                    answers.number[count] = 2 * c + kind
                    quad, row = answers.quad[count], answers.row[count]
                    set_row(contact, contacts, c, kind == 1, x, h, quad, row)
                    if row[KIND] != OTHER and contacts.kept[4 * c + 3] > 0.0:
                        begin(quad, row, load4(contacts.kept, 4 * c) * KEPT, x, velocity, contact.points.inverse_mass)
                    count += 1
            store4(contacts.kept, 4 * c, spread(0.0))
    answers.size[0] = count


@lean_inline_kernel
def set_row(contact, contacts, c, are_edges, x, h, quad, row):
    """What stays the same of contact c in a step, into its row; no impulses yet."""
    gap, reach, kind = contacts.gap[4 * c], contacts.reach[c], contact.bodies.kind
    a, b = pair_of(contact, contacts, c)
    grips = not (are_edges and (kind[a] == SOFT or kind[b] == SOFT))
    for k in range(4):
        quad[k] = contacts.points[4 * c + k]
    row[PARTING] = (reach - gap) * (PART_RATE if gap < reach else 1.0 / h)
    row[MASS] = 1.0 / contacts.normal[4 * c + 3]
    row[FRICTION] = contacts.friction[c] if grips else 0.0
    row[KIND] = PLAIN if contacts.aligned[c] and not contacts.carried[c] else OTHER
    store4(row, GRIP, spread(0.0))
    store4(row, WEIGHT, load4(contacts.weight, 4 * c))
    store4(row, SHARE, load4(contacts.share, 4 * c))
    store4(row, NORMAL, load4(contacts.normal, 4 * c))
    if row[KIND] == PLAIN and row[FRICTION] > 0.0 and is_free(contacts, c, contact.points):
        row[KIND] = TURNS


@lean_inline_kernel
def begin(quad, row, kept, x, velocity, inverse_mass):
    """Apply what a contact has `kept` of its impulses in the step before to its present points.

    Friction stays in the plane across the normal, which may have turned.
    """
    normal = load3(row, NORMAL)
    grip = triple(lane(kept, 0), lane(kept, 1), lane(kept, 2))
    grip = grip - normal * dot(grip, normal)
    row[PUSH] = lane(kept, 3)
    store3(row, GRIP, grip)
    push_points(quad, row, normal * row[PUSH], grip, x, velocity, inverse_mass)


@lean_inline_kernel
def push_points(quad, row, push, grip, x, velocity, inverse_mass):
    """Change the impulses of a contact of points: along the normal by `push`, across it by `grip` [N s].

    Returns the squared size of the latter.
    """
    i0, i1, i2, i3 = quad[0], quad[1], quad[2], quad[3]
    s, pushed, square = load4(row, SHARE), push + grip, dot(grip, grip)
    store4(velocity, i0, load4(velocity, i0) + pushed * lane(s, 0))
    store4(velocity, i1, load4(velocity, i1) + pushed * lane(s, 1))
    store4(velocity, i2, load4(velocity, i2) + pushed * lane(s, 2))
    store4(velocity, i3, load4(velocity, i3) + pushed * lane(s, 3))
    if row[KIND] != PLAIN and square > 0.0:
        if row[KIND] == TURNS:
            set_turn(x, quad, row, TURN)
            row[KIND] = TURNED
        turn_by_row(velocity, x, quad, row, TURN, load4(row, WEIGHT), inverse_mass, grip, square * row[NORMAL + 3])
    return square


@lean_kernel
def sweep(contact, x, velocity, least):
    """Answer each contact once, as others have changed what it stopped, unless it changed by less than `least` [m/s].

    Returns how much speed that changes, and all that the impulses of the step change [m/s]. It is speeds that are
    compared, so that light bodies settle beside heavy ones.
    """
    answers, changed, total = contact.answers, 0.0, TINY
    for q in range(answers.size[0]):
        row = answers.row[q]
        if row[PUSH] == 0.0 or row[CHANGE] >= least:
            row[CHANGE] = answer(contact, answers.number[q], answers.quad[q], row, x, velocity) * row[NORMAL + 3]
            changed += row[CHANGE]
        total += row[PUSH] * row[NORMAL + 3]
    return changed, total


@lean_inline_kernel
def answer(contact, number, quad, row, x, velocity):
    """Change the impulses of a contact; returns by how much [N s]."""
    if row[KIND] != OTHER:
        return answer_points(quad, row, x, velocity, contact.points.inverse_mass)
    contacts, c = contact.sides if number & 1 else contact.corners, number >> 1
    return answer_bodies(contact, contacts, c, row, x, velocity) * (COUNTED if contacts.carried[c] else 1.0)


@lean_inline_kernel
def answer_points(quad, row, x, velocity, inverse_mass):
    """Impulse of a contact that ends its approach, all in all never one that pulls (Catto 2005), and its friction.

    Of points in line that move by themselves or are given: nothing turns, so one push does for both. Returns by how
    much the two change [N s].
    """
    v0, v1, v2, v3 = (
        load4(velocity, quad[0]),
        load4(velocity, quad[1]),
        load4(velocity, quad[2]),
        load4(velocity, quad[3]),
    )
    w, normal = load4(row, WEIGHT), load3(row, NORMAL)
    u = (v0 * lane(w, 0) + v1 * lane(w, 1)) + (v2 * lane(w, 2) + v3 * lane(w, 3))
    along, held = dot(u, normal), row[PUSH]
    size = max((row[PARTING] - along) * row[MASS], -held)
    if held == 0.0 and size <= 0.0:
        return 0.0
    row[PUSH] = held + size
    gripped = load3(row, GRIP)
    wanted = gripped - (u - normal * along) * row[MASS]
    wanted = wanted * cone_share_of_square(dot(wanted, wanted), row[FRICTION] * row[PUSH])
    store3(row, GRIP, wanted)
    return abs(size) + sqrt(push_points(quad, row, normal * size, wanted - gripped, x, velocity, inverse_mass))


@lean_inline_kernel
def answer_bodies(contact, contacts, c, row, x, velocity):
    """`answer_points` of any contact: the slide is another one where the normal impulse has turned a body."""
    first, inverse_mass = 4 * c, contacts.normal[4 * c + 3]
    nx, ny, nz = contacts.normal[first], contacts.normal[first + 1], contacts.normal[first + 2]
    ux, uy, uz = sides_velocity(contact, contacts, c, x, velocity)
    held = row[PUSH]
    size = max((row[PARTING] - ux * nx - uy * ny - uz * nz) * row[MASS], -held)
    if held == 0.0 and size <= 0.0:
        return 0.0
    row[PUSH] = held + size
    jx, jy, jz = size * nx, size * ny, size * nz
    weight = load4(contacts.weight, first)
    if contacts.aligned[c] or not push_apart(velocity, x, contacts, c, weight, size * inverse_mass, contact.points):
        push(velocity, contacts, c, jx, jy, jz)
    if contacts.carried[c]:
        push_carried(contact, x, contacts, c, jx, jy, jz)
    square = 0.0
    if row[FRICTION] > 0.0:
        ux, uy, uz = sides_velocity(contact, contacts, c, x, velocity)
        fx, fy, fz = grip(contact, contacts, c, row, x, ux, uy, uz)
        push_sides(contact, contacts, c, fx, fy, fz, x, velocity)
        square = fx * fx + fy * fy + fz * fz
        if square > 0.0 and contact.bodies.kind[pair_of(contact, contacts, c)[1]] == SOFT:
            turn_triangle(velocity, contacts, c, x, contact.points, fx, fy, fz, square * inverse_mass)
    return abs(size) + sqrt(square)


@lean_inline_kernel
def grip(contact, contacts, c, row, x, ux, uy, uz):
    """Change of the friction of contact c [N s], whose sides move by u relative to each other [m/s].

    It stops the slide, as far as Coulomb's cone lets it in this step all in all.
    """
    first, inverse_mass = 4 * c, contacts.normal[4 * c + 3]
    nx, ny, nz = contacts.normal[first], contacts.normal[first + 1], contacts.normal[first + 2]
    along = ux * nx + uy * ny + uz * nz
    ux, uy, uz = ux - along * nx, uy - along * ny, uz - along * nz
    if contacts.carried[c]:  # it may turn more easily than it goes
        slide = sqrt(ux * ux + uy * uy + uz * uz) + LEAST_SLIP
        tx, ty, tz = ux / slide, uy / slide, uz / slide
        other = carried_inverse_mass(contact, x, contacts, c, tx, ty, tz)
        inverse_mass = max(inverse_mass, own_inverse_mass(contacts, c) + other)
    held = row[GRIP:PUSH]
    fx, fy, fz = held[0] - ux / inverse_mass, held[1] - uy / inverse_mass, held[2] - uz / inverse_mass
    most = row[FRICTION] * row[PUSH]
    share = cone_share_of_square(fx * fx + fy * fy + fz * fz, most)
    fx, fy, fz = share * fx, share * fy, share * fz
    jx, jy, jz = fx - held[0], fy - held[1], fz - held[2]
    held[0], held[1], held[2] = fx, fy, fz
    return jx, jy, jz


@lean_kernel
def note_all(contact, losses, x):
    """Note what contacts do: in `losses` to pairs of bodies, and which have pushed."""
    answers = contact.answers
    contact.pressed.size[0] = 0
    for q in range(answers.size[0]):
        row, c = answers.row[q], answers.number[q] >> 1
        if row[PUSH] > 0.0:
            contacts = contact.sides if answers.number[q] & 1 else contact.corners
            note(contact, contacts, c, x, losses, row[PUSH], row[GRIP], row[GRIP + 1], row[GRIP + 2])
            record(contact, contacts, c, row[PUSH])
            store4(contacts.kept, 4 * c, four(row[GRIP], row[GRIP + 1], row[GRIP + 2], row[PUSH]))
    contact.run.state[PRESSING] = contact.pressed.size[0]
