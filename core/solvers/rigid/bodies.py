"""Rigid bodies before and after the impulses of a step: velocities, inertia, flight, and the positions of their
points.

Sleeping bodies are skipped: they have no velocity and their arrays are up to date.
"""

import math

from ...bodies.rigid.motion import free_flight, place_points, set_matrices, turned_tensors
from ...jit import kernel


@kernel
def next_run(resting, first):
    """The first run of awake bodies from `first` on: its start and its end; both the count if there is none."""
    count = resting.shape[0]
    while first < count and resting[first]:
        first += 1
    last = first
    while last < count and not resting[last]:
        last += 1
    return first, last


@kernel
def place_bodies(resting, poses, inverse_inertia, matrices, inverse):
    """Rotation matrices, and inverse inertia in world axes [1/(kg m^2)], of awake bodies."""
    i, j = next_run(resting, 0)
    while i < j:
        set_matrices(poses[i:j], matrices[i:j])
        turned_tensors(poses[i:j], inverse_inertia[i:j], inverse[i:j])
        i, j = next_run(resting, j)


@kernel
def start_bodies(resting, velocity, momentum, inverse, radius, touching, falls, fall, kicked, spin, speed):
    """Velocities before the impulses of a step, and the speed of each body's fastest point [m/s].

    fall: velocity that gravity adds in the step [m/s]; half of it comes before the move, all of it for bodies in
    contact. kicked [m/s], spin [1/s], speed: output; 0 for sleeping bodies, but for `fall`.
    """
    for body in range(velocity.shape[0]):
        share = falls[body] * (1.0 if touching[body] else 0.5)
        turn = square = 0.0
        for axis in range(3):
            kicked[body, axis] = velocity[body, axis] + share * fall[axis]
            spin[body, axis] = 0.0
        speed[body] = 0.0
        if resting[body]:
            continue
        for axis in range(3):
            for k in range(3):
                spin[body, axis] += inverse[body, axis, k] * momentum[body, k]
            turn += spin[body, axis] * spin[body, axis]
            square += velocity[body, axis] * velocity[body, axis]
        speed[body] = math.sqrt(square) + radius[body] * math.sqrt(turn)


@kernel
def fall_asleep(awake, mass, velocity, spin, inverse, inverse_mass, inverse_inertia):
    """Set velocities [m/s, 1/s], inverse mass and inverse inertia of sleeping bodies to 0; others keep theirs."""
    for body in range(awake.shape[0]):
        share = 1.0 if awake[body] else 0.0
        inverse_mass[body] = share / mass[body]
        for axis in range(3):
            velocity[body, axis] *= share
            spin[body, axis] *= share
            for k in range(3):
                inverse_inertia[body, axis, k] = share * inverse[body, axis, k]


@kernel
def add_turn(awake, matrices, inertia, spin, spin_before, momentum, out):
    """Angular momentum [kg m^2/s] after impulses that changed the angular velocity [1/s], into `out`; 0 for sleeping
    bodies.

    `inertia` [kg m^2] is that of the start orientation.
    """
    for body in range(awake.shape[0]):
        m, tensor = matrices[body], inertia[body]
        x = y = z = 0.0
        if awake[body]:
            dx, dy, dz = (
                spin[body, 0] - spin_before[body, 0], spin[body, 1] - spin_before[body, 1],
                spin[body, 2] - spin_before[body, 2],
            )  # fmt: skip
            lx = m[0, 0] * dx + m[1, 0] * dy + m[2, 0] * dz
            ly = m[0, 1] * dx + m[1, 1] * dy + m[2, 1] * dz
            lz = m[0, 2] * dx + m[1, 2] * dy + m[2, 2] * dz
            ax = tensor[0, 0] * lx + tensor[0, 1] * ly + tensor[0, 2] * lz
            ay = tensor[1, 0] * lx + tensor[1, 1] * ly + tensor[1, 2] * lz
            az = tensor[2, 0] * lx + tensor[2, 1] * ly + tensor[2, 2] * lz
            x = momentum[body, 0] + m[0, 0] * ax + m[0, 1] * ay + m[0, 2] * az
            y = momentum[body, 1] + m[1, 0] * ax + m[1, 1] * ay + m[1, 2] * az
            z = momentum[body, 2] + m[2, 0] * ax + m[2, 1] * ay + m[2, 2] * az
        out[body, 0], out[body, 1], out[body, 2] = x, y, z


@kernel
def fly_awake(awake, poses, velocity, momentum, inverse_inertia, time, out):
    """Poses after a time [s] without forces, into `out`, which holds the poses before."""
    resting = ~awake
    i, j = next_run(resting, 0)
    while i < j:
        for body in range(i, j):
            for axis in range(3):
                out[body, axis] = poses[body, axis] + time * velocity[body, axis]
        free_flight(poses[i:j], momentum[i:j], inverse_inertia[i:j], time, out[i:j])
        i, j = next_run(resting, j)


@kernel
def spins_of(resting, inverse, momentum, spin):
    """Angular velocity [1/s] of awake bodies, from their angular momentum and inverse inertia in world axes."""
    for body in range(resting.shape[0]):
        if not resting[body]:
            for axis in range(3):
                spin[body, axis] = (
                    inverse[body, axis, 0] * momentum[body, 0]
                    + inverse[body, axis, 1] * momentum[body, 1]
                    + inverse[body, axis, 2] * momentum[body, 2]
                )


@kernel
def turn_on(awake, inverse, momentum, spin, inverse_inertia):
    """Angular velocity [1/s] and inverse inertia of awake bodies in new poses, from their angular momentum there."""
    spins_of(~awake, inverse, momentum, spin)
    for body in range(awake.shape[0]):
        if awake[body]:
            for axis in range(3):
                for k in range(3):
                    inverse_inertia[body, axis, k] = inverse[body, axis, k]


@kernel
def finish_bodies(awake, touching, falls, fall, velocity):
    """Add the remaining velocity of gravity [m/s] to awake bodies, see `start_bodies`."""
    for body in range(awake.shape[0]):
        if awake[body] and not touching[body]:
            for axis in range(3):
                velocity[body, axis] += 0.5 * falls[body] * fall[axis]


@kernel
def place_awake(resting, poses, velocity, spin, arm, point_start, x, x_velocity):
    """Positions [m] and velocities [m/s] of the points of awake bodies.

    `arm`: in the start orientation [m]; body b has the points point_start[b] .. of x.
    """
    i, j = next_run(resting, 0)
    while i < j:
        place_points(poses[i:j], arm[point_start[i] - point_start[0] :], point_start[i : j + 1], x)
        for body in range(i, j):
            v, w = velocity[body], spin[body]
            for point in range(point_start[body], point_start[body + 1]):
                rx, ry, rz = (
                    x[point, 0] - poses[body, 0], x[point, 1] - poses[body, 1], x[point, 2] - poses[body, 2]
                )  # fmt: skip
                x_velocity[point, 0] = v[0] + w[1] * rz - w[2] * ry
                x_velocity[point, 1] = v[1] + w[2] * rx - w[0] * rz
                x_velocity[point, 2] = v[2] + w[0] * ry - w[1] * rx
        i, j = next_run(resting, j)
