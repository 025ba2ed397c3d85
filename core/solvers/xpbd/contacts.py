"""Contacts as inequality constraints of positions, with Coulomb friction (Müller et al. 2020, 3.5).

    C = n . sum w_i x_i - d >= 0,   lambda = -C / w(n) >= 0            d: 0.8 of the thickness of both sides
    u = sum w_i (x_i - x0_i), along the surface:  j = -u / w(u),  |j| <= mu lambda

w(n) is the generalised inverse mass of both sides along n, soft vertices and rigid bodies alike (`collide.mobility`).
x0 is where the substep began, so friction that holds undoes all slip of the substep. Rows are projected one after the
other, several times, with accumulated lambda and j; the sum over the sweeps obeys both limits. What a row does to one
side it does to the other: momentum stays.
"""

from math import sqrt

from ...collide.mobility import mobility_along, push_sides, relative_step
from ...jit import kernel

#: Sweeps over the contacts of a substep: light skins give way at once, rigid bodies carry each other.
SWEEPS = 4
RIGID_SWEEPS = 16
#: Rigid bodies that meet at less than gravity adds in this many substeps lie on each other and do not bounce.
RESTING_STEPS = 2.0


@kernel
def project_contacts(
    count, rows, depth, points, weights, normal, friction, before, x, mobility, sweeps, step, pressed, held
):
    """Project the first `count` of `rows` as often as `sweeps` says; `step` (rows of unknowns) gets the moves from x.

    `pressed` = lambda [kg m] and `held` = j [kg m] of each chosen row, shapes (capacity,) and (capacity, 3), both 0 at
    the start.
    """
    for _ in range(sweeps):
        for k in range(count):
            c = rows[k]
            nx, ny, nz = normal[c, 0], normal[c, 1], normal[c, 2]
            give = mobility_along(c, points, weights, nx, ny, nz, mobility)
            if not give > 0.0:
                continue
            ux, uy, uz = relative_step(c, points, weights, mobility, step)
            lack = depth[k] - (nx * ux + ny * uy + nz * uz)
            reached = max(pressed[k] + lack / give, 0.0)
            push = reached - pressed[k]
            pressed[k] = reached
            if push != 0.0:
                push_sides(c, points, weights, push * nx, push * ny, push * nz, mobility, step)
            limit = friction[c] * reached
            if limit <= 0.0 and held[k, 0] == 0.0 and held[k, 1] == 0.0 and held[k, 2] == 0.0:
                continue
            ux, uy, uz = relative_step(c, points, weights, mobility, step)
            for slot in range(4):
                i, w = points[c, slot], weights[c, slot]
                ux += w * (x[i, 0] - before[i, 0])
                uy += w * (x[i, 1] - before[i, 1])
                uz += w * (x[i, 2] - before[i, 2])
            un = ux * nx + uy * ny + uz * nz
            ux, uy, uz = ux - un * nx, uy - un * ny, uz - un * nz
            slip = sqrt(ux * ux + uy * uy + uz * uz)
            jx, jy, jz = held[k, 0], held[k, 1], held[k, 2]
            if slip > 0.0:
                give = mobility_along(c, points, weights, ux / slip, uy / slip, uz / slip, mobility)
                jx, jy, jz = jx - ux / give, jy - uy / give, jz - uz / give
            # earlier friction may lean out of the surface by rounding only: the normal is that of the row
            size = sqrt(jx * jx + jy * jy + jz * jz)
            if size > limit:
                jx, jy, jz = jx * limit / size, jy * limit / size, jz * limit / size
            push_sides(c, points, weights, jx - held[k, 0], jy - held[k, 1], jz - held[k, 2], mobility, step)
            held[k, 0], held[k, 1], held[k, 2] = jx, jy, jz


@kernel
def project_velocities(
    chosen, rows, points, bodies, weights, normal, friction, bounciness, slow, v, mobility, time, sweeps, earlier,
    velocity, pressed, held,
):  # fmt: skip
    """Velocities of rigid bodies where they press on each other (Müller et al. 2020, 3.6).

    Along the normal they part with the share e (geometric mean of the bodies' `bounciness`) of the speed at which they
    met, none of it if that was below `slow` [m/s]; along the surface they have no velocity that friction can take: what
    corrects a depth or an order of rows is no motion. `velocity` holds velocities and angular velocities of the rigid
    bodies in their rows of unknowns, `earlier` those before the substep, v [m/s] those of the given points. lambda and
    j go on from the positions, so that the impulses of both together obey the limits.
    """
    vertex_count = mobility.inverse_mass.shape[0]
    last = vertex_count + mobility.unknown.shape[0]
    for _ in range(sweeps):
        for k in range(chosen):
            c = rows[k]
            if pressed[k] == 0.0 or points[c, 0] < vertex_count or points[c, 3] < vertex_count:
                continue
            nx, ny, nz = normal[c, 0], normal[c, 1], normal[c, 2]
            give = mobility_along(c, points, weights, nx, ny, nz, mobility)
            ux, uy, uz = 0.0, 0.0, 0.0
            for slot in range(4):
                i, w = points[c, slot], weights[c, slot]
                if i >= last:
                    ux, uy, uz = ux + w * v[i, 0], uy + w * v[i, 1], uz + w * v[i, 2]
            sx, sy, sz = relative_step(c, points, weights, mobility, velocity)
            un = (ux + sx) * nx + (uy + sy) * ny + (uz + sz) * nz
            sx, sy, sz = relative_step(c, points, weights, mobility, earlier)
            met = (ux + sx) * nx + (uy + sy) * ny + (uz + sz) * nz
            if met < -slow:
                un += sqrt(bounciness[bodies[c, 0]] * bounciness[bodies[c, 1]]) * met
            reached = max(pressed[k] - time * un / give, 1e-12 * pressed[k])
            push = (reached - pressed[k]) / time
            pressed[k] = reached
            push_sides(c, points, weights, push * nx, push * ny, push * nz, mobility, velocity)
            limit = friction[c] * reached
            if limit <= 0.0:
                continue
            sx, sy, sz = relative_step(c, points, weights, mobility, velocity)
            ux, uy, uz = ux + sx, uy + sy, uz + sz
            un = ux * nx + uy * ny + uz * nz
            ux, uy, uz = ux - un * nx, uy - un * ny, uz - un * nz
            slip = sqrt(ux * ux + uy * uy + uz * uz)
            jx, jy, jz = held[k, 0], held[k, 1], held[k, 2]
            if slip > 0.0:
                give = mobility_along(c, points, weights, ux / slip, uy / slip, uz / slip, mobility) / time
                jx, jy, jz = jx - ux / give, jy - uy / give, jz - uz / give
            size = sqrt(jx * jx + jy * jy + jz * jz)
            if size > limit:
                jx, jy, jz = jx * limit / size, jy * limit / size, jz * limit / size
            dx, dy, dz = (jx - held[k, 0]) / time, (jy - held[k, 1]) / time, (jz - held[k, 2]) / time
            push_sides(c, points, weights, dx, dy, dz, mobility, velocity)
            held[k, 0], held[k, 1], held[k, 2] = jx, jy, jz


@kernel
def contact_forces(count, reached, bodies, membrane_count, time, normal_force, soft_force, touching):
    """Normal force lambda / h^2 [N] of each of `count` rows, and whether each moving body is pressed by another.

    `reached` = lambda [kg m] of each row. `soft_force` has only those that press on a membrane: bounces of the others
    are settled (`project_velocities`). `touching` becomes True, never False.
    """
    for c in range(count):
        normal_force[c] = soft_force[c] = 0.0
        if reached[c] > 0.0:
            normal_force[c] = reached[c] / (time * time)
            if bodies[c, 0] < membrane_count or bodies[c, 1] < membrane_count:
                soft_force[c] = normal_force[c]
            for side in range(2):
                body = bodies[c, side]
                if body < touching.shape[0] and bodies[c, 0] != bodies[c, 1]:
                    touching[body] = True


@kernel
def project_attachments(points, weights, offset, stiffness, time, x, mobility, step):
    """Project every attachment once: C = |sum w_i x_i - o|, compliance 1 / k (`forces.attachment`)."""
    for a in range(stiffness.shape[0]):
        dx, dy, dz = relative_step(a, points, weights, mobility, step)
        dx, dy, dz = dx - offset[a, 0], dy - offset[a, 1], dz - offset[a, 2]
        for slot in range(4):
            i, w = points[a, slot], weights[a, slot]
            dx, dy, dz = dx + w * x[i, 0], dy + w * x[i, 1], dz + w * x[i, 2]
        length = sqrt(dx * dx + dy * dy + dz * dz)
        if length == 0.0:
            continue
        give = mobility_along(a, points, weights, dx / length, dy / length, dz / length, mobility)
        scale = -1.0 / (give + 1.0 / (stiffness[a] * time * time))
        push_sides(a, points, weights, scale * dx, scale * dy, scale * dz, mobility, step)
