"""Rigid bodies within the soft steps of a tick.

A body that meets nothing in an epoch is idle: it follows its parabola and turns where the epoch or the tick ends.
One that soft bodies push leaves the flight that its tick has planned; where it strays too far, the tick ends early.
"""

from math import sqrt

from ...bodies.rigid.motion import free_flight, set_matrix
from ...jit import lean_inline_kernel, lean_kernel
from .arrays import RIGID, WAKES
from .carried import refresh, respin


@lean_kernel
def kick_bodies(rigid, h):
    """Add the acceleration and the torque of the tick for a time h [s] to the velocities."""
    for q in range(rigid.inverse_mass.shape[0]):
        if rigid.asleep[q]:
            continue
        turns = False
        for axis in range(3):
            rigid.velocity[q, axis] += h * rigid.pull[q, axis]
            rigid.momentum[q, axis] += h * rigid.twist[q, axis]
            rigid.path[q, axis] += h * rigid.pose[q, axis]
            turns |= rigid.twist[q, axis] != 0.0
        if turns:
            respin(rigid, q)


@lean_kernel
def strays(rigid, h, time):
    """Add a step to the displacements from the tick's plan; whether one exceeds its room. time: since its start [s]."""
    found = False
    for q in range(rigid.inverse_mass.shape[0]):
        if rigid.asleep[q] or rigid.idle[q] or rigid.room[q] == float("inf"):
            continue
        move = turn = 0.0
        for axis in range(3):
            foreseen = rigid.plan[q, axis] + time * rigid.plan[q, 3 + axis]
            rigid.strayed[q, axis] += h * (rigid.velocity[q, axis] - foreseen)
            rigid.strayed[q, 3 + axis] += h * (rigid.spin[q, axis] - rigid.plan[q, 6 + axis])
            move += rigid.strayed[q, axis] ** 2
            turn += rigid.strayed[q, 3 + axis] ** 2
        found |= sqrt(move) + sqrt(turn) * rigid.radius[q] > rigid.room[q]
    return found


@lean_kernel
def catch_up(rigid):
    """Turn the bodies that were idle."""
    for q in range(rigid.inverse_mass.shape[0]):
        if rigid.late[q] > 0.0:
            pose = rigid.pose[q : q + 1]
            free_flight(pose, rigid.momentum[q : q + 1], rigid.inverse_inertia[q : q + 1], rigid.late[q], pose)
            set_matrix(rigid.pose[q], rigid.matrix[q])
            refresh(rigid, q)
            rigid.late[q] = 0.0


@lean_kernel
def idle_deviation(rigid, q, h, time):
    """`carried.rigid_deviation` of an idle body: a turn deviates from a straight line by half its square at most."""
    way = turn = 0.0
    for axis in range(3):
        foreseen = rigid.begin[q, axis] + time * rigid.begin_velocity[q, axis]
        way += (rigid.pose[q, axis] + h * rigid.velocity[q, axis] - foreseen) ** 2
        turn += rigid.spin[q, axis] ** 2 + (rigid.spin[q, axis] - rigid.begin_spin[q, axis]) ** 2
    return sqrt(way) + 0.5 * turn * time * time * rigid.radius[q]


@lean_inline_kernel
def note_side(rigid, bodies, body, other):
    """Note a contact of a body with another one that is answered in the steps."""
    q = body - rigid.first_body[0]
    if 0 <= q < rigid.inverse_mass.shape[0]:
        rigid.meets[q], rigid.idle[q] = True, False
        rigid.shaken[q] |= not bodies.calm[other]


@lean_kernel
def note_meeting(contact):
    """Note which rigid bodies have contacts in a new epoch; whether the motion of more of them must be limited."""
    bodies, points, rigid, run = contact.bodies, contact.points, contact.rigid, contact.run
    first = rigid.first_body[0]
    for q in range(rigid.inverse_mass.shape[0]):
        rigid.idle[q] = bodies.by_tick[first + q] and not rigid.tied[q]
        rigid.meets[q] = rigid.shaken[q] = rigid.tied[q]
    for kind, contacts in enumerate((contact.corners, contact.sides)):
        for c in range(run.found[2 + kind]):
            a, b = points.body[contacts.points[4 * c] >> 2], points.body[contacts.points[4 * c + 3] >> 2]
            if bodies.by_tick[a] and bodies.by_tick[b]:
                for body in (a, b):
                    if bodies.kind[body] == RIGID:
                        rigid.idle[body - first] = False
            else:
                note_side(rigid, bodies, a, b)
                note_side(rigid, bodies, b, a)
    more = False
    for q in range(rigid.inverse_mass.shape[0]):
        if rigid.asleep[q]:
            run.state[WAKES] |= rigid.shaken[q]
        elif bodies.by_tick[first + q] and rigid.meets[q] and not bodies.watched[first + q]:
            bodies.watched[first + q] = more = True
    return more


@lean_kernel
def note_calm(contact, velocity, limits):
    """Note which bodies are at rest: the mean square of their points' speeds is below `limits` [m^2/s^2]."""
    bodies, rigid = contact.bodies, contact.rigid
    first = rigid.first_body[0]
    for b in range(first):
        total = 0.0
        for i in range(4 * bodies.point_start[b], 4 * bodies.point_start[b + 1], 4):
            total += velocity[i] ** 2 + velocity[i + 1] ** 2 + velocity[i + 2] ** 2
        bodies.calm[b] = total <= limits[b] * (bodies.point_start[b + 1] - bodies.point_start[b])
    for q in range(rigid.inverse_mass.shape[0]):
        total = turn = 0.0
        for axis in range(3):
            total += rigid.velocity[q, axis] ** 2
            turn += rigid.spin[q, axis] ** 2
        bodies.calm[first + q] = total + turn * rigid.radius[q] ** 2 <= limits[first + q]


@lean_kernel
def note_support(contact, velocity, limits, touching, holds, shakes):
    """What the contacts of the last step mean for rigid bodies, after `note_calm`.

    Output, shape (rigid_count,): touching: pushed; holds: by a body at rest; shakes: near one that is not.
    """
    note_calm(contact, velocity, limits)
    bodies, points, rigid = contact.bodies, contact.points, contact.rigid
    first = rigid.first_body[0]
    for q in range(rigid.inverse_mass.shape[0]):
        touching[q] = holds[q] = False
        shakes[q] = rigid.tied[q]
    for kind, contacts in enumerate((contact.corners, contact.sides)):
        for c in range(contact.run.found[2 + kind]):
            a, b = points.body[contacts.points[4 * c] >> 2], points.body[contacts.points[4 * c + 3] >> 2]
            if bodies.by_tick[a] and bodies.by_tick[b]:
                continue
            for side in range(2):
                body, other = (a, b) if side == 0 else (b, a)
                q = body - first
                if 0 <= q < rigid.inverse_mass.shape[0]:
                    shakes[q] |= not bodies.calm[other]
    for row in range(contact.pressed.size[0]):
        a, b = points.body[contact.pressed.points[row, 0]], points.body[contact.pressed.points[row, 3]]
        for side in range(2):
            body, other = (a, b) if side == 0 else (b, a)
            q = body - first
            if 0 <= q < rigid.inverse_mass.shape[0]:
                touching[q] = True
                holds[q] |= bodies.calm[other]
