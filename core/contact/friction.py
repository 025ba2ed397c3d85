"""Coulomb friction with true sticking: a tangential spring that yields at the friction limit (`coulomb.py`).

    D = k/2 |s|^2            while k |s| <= mu N
        mu N |s| - (mu N)^2 / (2 k)   beyond,        s = s0 + u_t

u_t is the tangential displacement of a contact since the start of the substep, s0 the stretch of its spring then. So a
body at rest on a slope stays where it is (Cundall and Strack 1979). N, the normal and the weights are those of the
last accepted iterate ("lagged", as in Li et al. 2020): D is convex.
Rocking of two rigid bodies on each other has no other damping: their normal force gets a damper of the same form, on
the normal displacement since the start, proportional to the normal stiffness and bounded by the normal force.
Hessian: k (1 - n n') while it sticks, mu N / |s| (1 - n n' - d d' / 2) with d = s / |s| while it slips. Along d the
tangent stiffness of a slipping contact is 0, but its slope changes sign at s = 0: Newton steps with the tangent
oscillate between two points of equal energy. The secant stiffness mu N / |s| bounds the energy from above: no step
overshoots, but many fall short. Half of it takes the fewest steps.
"""

from math import sqrt
from typing import Any, NamedTuple

from ..jit import kernel
from .coulomb import cone_share, slip_potential


class FrictionLag(NamedTuple):
    """Lagged quantities of the last accepted iterate, one row per contact; without normal force only limit is set."""

    points: Any  # shape (contact_count, 4)
    weights: Any  # shape (contact_count, 4)
    normal: Any  # shape (contact_count, 3)
    limit: Any  # friction coefficient times normal force [N], shape (contact_count,)
    stretch: Any  # s0: stretch of the spring at the start of the substep [m], shape (contact_count, 3)
    pressed: Any  # normal force [N], shape (contact_count,)
    damper: Any  # normal damping over the time since the start [N/m], 0 for soft bodies, shape (contact_count,)


@kernel
def lag_friction(count, weights, normal, friction, normal_force, lag):
    """Lag weights, normals and limits of contacts with `normal_force` > 0 [N]; others get the limit 0."""
    for c in range(count):
        lag.limit[c] = friction[c] * normal_force[c]
        if normal_force[c] > 0.0:
            for slot in range(4):
                lag.weights[c, slot] = weights[c, slot]
            for axis in range(3):
                lag.normal[c, axis] = normal[c, axis]


@kernel
def friction_energy(count, x, start, lag, spring):
    """D [J] at positions x; `start`: positions at the start of the substep.

    `spring` = k of each contact [N/m], shape (contact_count,).
    """
    total = 0.0
    for c in range(count):
        if lag.limit[c] > 0.0:
            ux, uy, uz = slip_vector(c, x, start, lag)
            total += slip_potential(sqrt(ux * ux + uy * uy + uz * uz), lag.limit[c], spring[c])[0]
        if lag.damper[c] > 0.0:
            total += slip_potential(abs(normal_displacement(c, x, start, lag)), lag.pressed[c], lag.damper[c])[0]
    return total


@kernel
def normal_displacement(c, x, start, lag):
    """Relative displacement of contact c along its lagged normal since the start [m]."""
    u = 0.0
    for slot in range(4):
        i = lag.points[c, slot]
        w = lag.weights[c, slot]
        for axis in range(3):
            u += w * lag.normal[c, axis] * (x[i, axis] - start[i, axis])
    return u


@kernel
def slip_vector(c, x, start, lag):
    """s of contact c [m], in the plane of its lagged normal."""
    ux, uy, uz = lag.stretch[c, 0], lag.stretch[c, 1], lag.stretch[c, 2]
    for slot in range(4):
        i = lag.points[c, slot]
        w = lag.weights[c, slot]
        ux += w * (x[i, 0] - start[i, 0])
        uy += w * (x[i, 1] - start[i, 1])
        uz += w * (x[i, 2] - start[i, 2])
    nx, ny, nz = lag.normal[c, 0], lag.normal[c, 1], lag.normal[c, 2]
    un = ux * nx + uy * ny + uz * nz
    return ux - un * nx, uy - un * ny, uz - un * nz


@kernel
def evaluate_friction(count, x, start, lag, spring, stiffness, normal_force, active, force, matrix, pressing):
    """Total force [N] of each contact, and its stiffness [N/m] (xx, yy, zz, xy, xz, yz); returns D [J].

    `stiffness`, `normal_force`: of `evaluate_contact` at x; `pressing`: output, normal force with damper [N].
    """
    total = 0.0
    for c in range(count):
        n = normal_force[c]
        active[c] = n > 0.0
        pressing[c] = n
        if n <= 0.0:
            continue
        nx, ny, nz = lag.normal[c, 0], lag.normal[c, 1], lag.normal[c, 2]
        ux, uy, uz = slip_vector(c, x, start, lag)
        slip = sqrt(ux * ux + uy * uy + uz * uz)
        value, a, b = slip_potential(slip, lag.limit[c], spring[c])
        total += value
        damped = 0.0
        if lag.damper[c] > 0.0:
            un = normal_displacement(c, x, start, lag)
            value, share, damped = slip_potential(abs(un), lag.pressed[c], lag.damper[c])
            total += value
            n -= share * un
            pressing[c] = n
        force[c, 0] = n * nx - a * ux
        force[c, 1] = n * ny - a * uy
        force[c, 2] = n * nz - a * uz
        # stiffness n n' + a (1 - n n' - d d') + b d d', d the slip direction
        inverse = 1.0 / slip if slip > 0.0 else 0.0
        dx, dy, dz = ux * inverse, uy * inverse, uz * inverse
        along = (b - a) if slip > 0.0 else 0.0
        k = stiffness[c] + damped - a
        matrix[c, 0] = a + k * nx * nx + along * dx * dx
        matrix[c, 1] = a + k * ny * ny + along * dy * dy
        matrix[c, 2] = a + k * nz * nz + along * dz * dz
        matrix[c, 3] = k * nx * ny + along * dx * dy
        matrix[c, 4] = k * nx * nz + along * dx * dz
        matrix[c, 5] = k * ny * nz + along * dy * dz
    return total


@kernel
def slip_velocities(count, x, start, lag, spring, time, velocity):
    """Slip velocity of each contact [m/s] at x, a time [s] after the start; zero where it sticks."""
    for c in range(count):
        ux, uy, uz = slip_vector(c, x, start, lag)
        velocity[c, 0] = velocity[c, 1] = velocity[c, 2] = 0.0
        if cone_share(spring[c] * sqrt(ux * ux + uy * uy + uz * uz), lag.limit[c]) < 1.0:
            velocity[c, 0] = (ux - lag.stretch[c, 0]) / time
            velocity[c, 1] = (uy - lag.stretch[c, 1]) / time
            velocity[c, 2] = (uz - lag.stretch[c, 2]) / time


@kernel
def update_stretch(count, x, start, lag, spring, stretch):
    """Stretch of each spring [m] at the end of a substep at x, bounded by its limit."""
    for c in range(count):
        ux, uy, uz = slip_vector(c, x, start, lag)
        share = cone_share(spring[c] * sqrt(ux * ux + uy * uy + uz * uz), lag.limit[c])
        stretch[c, 0], stretch[c, 1], stretch[c, 2] = share * ux, share * uy, share * uz
