"""Copies between a state, whose points are in the model's order, and the solver's arrays, in the solver's order.

Also what a run of steps does once, at both ends: gravity of half a step, dashpots, soft hinges.
"""

from ...jit import lean_kernel
from .arrays import GIVEN, RIGID
from .soft_hinges import choose_paces
from .springs import start_lengths


@lean_kernel
def read_points(
    positions, velocities, points, given, given_velocity, place, body, bodies, run, x, y, velocity
):  # fmt: skip
    """Read positions x = y and velocities of all points; returns the largest relative speed of two bodies [m/s].

    `points`: whose motion is `given`. `body` of each point, in the solver's order. Points of rigid bodies have no
    velocities of their own.
    """
    kind, point_start, mean = bodies.kind, bodies.point_start, bodies.mean
    for i in range(place.shape[0]):
        p = 4 * place[i]
        for axis in range(3):
            if x[p + axis] != positions[i, axis]:
                run.known[body[place[i]]] = False
            x[p + axis], velocity[p + axis] = positions[i, axis], velocities[i, axis]
    for b in range(kind.shape[0]):
        if kind[b] == GIVEN:
            velocity[4 * point_start[b] : 4 * point_start[b + 1]] = 0.0
    for q in range(points.shape[0]):
        p = 4 * place[points[q]]
        for axis in range(3):
            x[p + axis], velocity[p + axis] = given[q, axis], given_velocity[q, axis]
        run.known[body[place[points[q]]]] = False
    for i in range(x.shape[0]):
        y[i] = run.given_start[i] = x[i]
    for q in range(run.pinned.shape[0]):
        for axis in range(3):
            run.pinned_velocity[q, axis] = velocity[4 * run.pinned[q] + axis]
    fastest = 0.0
    for b in range(kind.shape[0]):
        first, last = 4 * point_start[b], 4 * point_start[b + 1]
        sx = sy = sz = size = 0.0
        for p in range(first, last, 4):
            sx, sy, sz = sx + velocity[p], sy + velocity[p + 1], sz + velocity[p + 2]
            size += abs(velocity[p]) + abs(velocity[p + 1]) + abs(velocity[p + 2])
        run.moves[b] = kind[b] == GIVEN and size > 0.0
        run.known[b] &= not run.moves[b]
        if kind[b] == RIGID:
            velocity[first:last] = 0.0
        count = max((last - first) // 4, 1)
        mean[4 * b], mean[4 * b + 1], mean[4 * b + 2] = sx / count, sy / count, sz / count
        for c in range(0, 4 * b, 4):
            dx, dy, dz = mean[c] - mean[4 * b], mean[c + 1] - mean[4 * b + 1], mean[c + 2] - mean[4 * b + 2]
            fastest = max(fastest, (dx * dx + dy * dy + dz * dz) ** 0.5)
    return fastest


@lean_kernel
def write_points(x, velocity, place, count, points, given, given_velocity, positions, velocities):
    """Write positions and velocities of the free points, which come first, and of the given ones into a state."""
    for i in range(count):
        p = 4 * place[i]
        for axis in range(3):
            positions[i, axis], velocities[i, axis] = x[p + axis], velocity[p + axis]
    for q in range(points.shape[0]):
        i = points[q]
        for axis in range(3):
            positions[i, axis], velocities[i, axis] = given[q, axis], given_velocity[q, axis]


@lean_kernel
def fall_free(touching, inverse_mass, point_start, fall, time, velocity, rigid_velocity):
    """Gravity for a time [s] on bodies without contact: half a step less and half a step more make free flight
    exact.

    Bodies with contact take gravity in whole steps, in which the contacts balance it. `fall`: acceleration of each
    moving body by gravity and by the resultant of its load [m/s^2], shape (moving_count, 3).
    """
    soft_count = touching.shape[0] - rigid_velocity.shape[0]
    for b in range(touching.shape[0]):
        for axis in range(3):
            change = time * fall[b, axis]
            if not touching[b] and b >= soft_count:
                rigid_velocity[b - soft_count, axis] += change
            elif not touching[b]:
                for i in range(point_start[b], point_start[b + 1]):
                    if inverse_mass[i] > 0.0:
                        velocity[4 * i + axis] += change


@lean_kernel
def begin_run(skins, soft, x, velocity, dashpot, rows, amount, h, steps):
    """Prepare the inner forces for a run of `steps` h [s] whose gas begins with an `amount`, nRT [J].

    `soft`: the soft hinges; `dashpot`: 2 zeta / omega of each body [s]; `rows`: of hinges [N/m] (`bounds.py`).
    """
    for body in range(amount.shape[0]):
        skins.gas.amount[body], skins.paces.dashpot[body] = amount[body], dashpot[body]
    start_lengths(x, velocity, h, skins.springs, skins.blocks, skins.paces)
    choose_paces(soft, skins.paces, skins.springs, skins.blocks, rows, h, steps)
