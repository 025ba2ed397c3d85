"""What no limit settles stays at x: always possible for what is free, as nothing is nearer there than before."""

from ...jit import lean_inline_kernel, lean_kernel
from ...simd import dot, load4, triple
from .arrays import RIGID
from .carried import moves, place_carried, respin, set_velocity, try_move
from .verify import holds


@lean_kernel
def stay(contact, x, y, velocity, h, for_frame):
    """Let what fails stay at x, and what then fails against it; whether anything was left to stop.

    `for_frame`: whole bodies, and until the frame ends.
    """
    run, points = contact.run, contact.points
    any_stopped, stopped = False, True
    while stopped:
        stopped = False
        place_carried(contact, y)
        for kind, contacts in enumerate((contact.corners, contact.sides)):
            for c in range(run.found[2 + kind]):
                if holds(y, contacts, c, kind == 1):
                    continue
                for k in range(4):
                    i = contacts.points[4 * c + k] >> 2
                    if not moves(contact, i) or is_still(contact, velocity, i):
                        continue
                    stopped = any_stopped = True
                    b = points.body[i]
                    if contact.bodies.kind[b] == RIGID:
                        stop_body(contact, b, h)
                    elif not for_frame:
                        stop_point(contact, x, y, velocity, h, i)
                    else:
                        stop_skin(contact, b, x, y, velocity, h)
                    run.stopped[b] = for_frame
    return any_stopped


@lean_inline_kernel
def is_still(contact, velocity, i):
    """Whether free point i does not move at all."""
    rigid, b = contact.rigid, contact.points.body[i]
    if contact.bodies.kind[b] != RIGID:
        return velocity[4 * i] == 0.0 and velocity[4 * i + 1] == 0.0 and velocity[4 * i + 2] == 0.0
    v, w = rigid.velocity[b - rigid.first_body[0]], rigid.momentum[b - rigid.first_body[0]]
    return v[0] == 0.0 and v[1] == 0.0 and v[2] == 0.0 and w[0] == 0.0 and w[1] == 0.0 and w[2] == 0.0


@lean_kernel
def stop_point(contact, x, y, velocity, h, i):
    """Let soft point i stay where it is."""
    points, v = contact.points, load4(velocity, 4 * i)
    contact.run.cut[points.body[i]] += dot(v, v) ** 0.5 / points.inverse_mass[i]
    set_velocity(velocity, x, y, h, i, triple(0.0, 0.0, 0.0))


@lean_kernel
def stop_skin(contact, b, x, y, velocity, h):
    """Let all free points of soft body b stay where they are."""
    for i in range(contact.bodies.point_start[b], contact.bodies.point_start[b + 1]):
        if contact.points.inverse_mass[i] > 0.0:
            stop_point(contact, x, y, velocity, h, i)


@lean_kernel
def stop_body(contact, b, h):
    """Let rigid body b stay where it is."""
    rigid = contact.rigid
    q = b - rigid.first_body[0]
    v = triple(rigid.velocity[q, 0], rigid.velocity[q, 1], rigid.velocity[q, 2])
    contact.run.cut[b] += dot(v, v) ** 0.5 / rigid.inverse_mass[q]
    for axis in range(3):
        rigid.velocity[q, axis] = rigid.momentum[q, axis] = 0.0
    respin(rigid, q)
    try_move(rigid, q, h)


@lean_kernel
def hold_stopped(contact, x, y, velocity, h):
    """Let the bodies that are to stand still until the frame ends do so."""
    stopped = contact.run.stopped
    for b in range(stopped.shape[0]):
        if stopped[b] and contact.bodies.kind[b] == RIGID:
            stop_body(contact, b, h)
        elif stopped[b]:
            stop_skin(contact, b, x, y, velocity, h)


@lean_kernel
def stop_all(contact, x, y, velocity, h):
    """Let all that is free stay at x."""
    run, bodies, rigid = contact.run, contact.bodies, contact.rigid
    for b in range(run.stopped.shape[0]):
        if bodies.kind[b] == RIGID:
            if not rigid.idle[b - rigid.first_body[0]]:
                stop_body(contact, b, h)
        else:
            stop_skin(contact, b, x, y, velocity, h)
    place_carried(contact, y)
    for kind, contacts in enumerate((contact.corners, contact.sides)):
        for c in range(run.found[2 + kind]):
            holds(y, contacts, c, kind == 1)
