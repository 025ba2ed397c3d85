"""Contacts as inequality constraints of positions, with Coulomb friction (Müller et al. 2020, 3.5).

    C = n . sum w_i x_i - d >= 0,   lambda = -C / w(n) >= 0            d: 0.8 of the thickness of both sides
    u = sum w_i (x_i - x0_i), along the surface:  j = -u / w(u),  |j| <= mu lambda

w(n) is the generalised inverse mass of both sides along n, soft vertices and rigid bodies alike (`collide.mobility`).
x0 is where the substep began, so friction that holds undoes all slip of the substep. Rows are projected one after the
other, several times, with accumulated lambda and j; the sum over the sweeps obeys both limits. What a row does to one
side it does to the other: momentum stays.
"""

from math import sqrt

from ...collide.contacts import EDGE_EDGE, POINT_TRIANGLE
from ...collide.mobility import mobility_along, push_sides, relative_step
from ...jit import kernel

#: Sweeps over the contacts of a substep: light skins give way at once, rigid bodies carry each other.
SWEEPS = 4
RIGID_SWEEPS = 16
#: Rigid bodies that meet at less than gravity adds in this many substeps lie on each other and do not bounce.
RESTING_STEPS = 2.0
#: Share of the thickness r that a contact keeps. Rows from here up to r are projected as well, in case others push
#: them together: what lies on several points keeps all of them in every substep, and does not rock on some.
KEPT_SHARE = 0.8


@kernel
def choose_rows(
    count, edge_start, points, bodies, kind, side, thickness, gap, distance, wanted, crossed, back, rows, depth
):
    """Rows within the thickness into `rows`, and by how much each lacks its distance [m] (less than 0: it does not
    press yet) into `depth`; returns their number.

    Of the triangles of a body that a point has passed through the first counts, and none of that body besides.
    A point behind a surface must reach the share `back` of the thickness (`recovery.WrongSide` shifts its gap).
    """
    chosen = 0
    begin = 0
    while begin < edge_start:
        end = begin
        while end < edge_start and points[end, 0] == points[begin, 0]:
            end += 1
        for row in range(begin, end):
            if kind[row] != POINT_TRIANGLE:
                continue
            if not gap[row] < thickness[row]:
                continue
            lack = (KEPT_SHARE if side[row] > 0 else back) * thickness[row] - gap[row]
            first = True
            for other in range(begin, end):
                if other != row and bodies[other, 1] == bodies[row, 1]:
                    if crossed[other] < crossed[row] or (crossed[other] == crossed[row] <= 1.0 and other < row):
                        first = False
            if first:
                rows[chosen] = row
                depth[chosen] = lack
                chosen += 1
        begin = end
    for row in range(edge_start, count):
        if kind[row] != EDGE_EDGE:
            continue
        if crossed[row] <= 1.0:
            lack = KEPT_SHARE * thickness[row] - gap[row]
        elif side[row] > 0 and wanted[row] > 0.0 and distance[row] < thickness[row]:
            lack = wanted[row] * (KEPT_SHARE * thickness[row] - distance[row])
        else:
            continue
        rows[chosen] = row
        depth[chosen] = lack
        chosen += 1
    return chosen


@kernel
def project_lone(
    chosen, rows, depth, points, weights, normal, gap, feature, friction, before, x, mobility, uses, step, pressed,
    held, settled, waiting,
):  # fmt: skip
    """Project the rows in which a vertex that no other row has meets something given, as most on a floor do.

    Nothing else moves either side, so one projection is all that sweeps would come to. The places of the other rows
    go to `waiting`; returns their number. `uses`, shape (vertex_count,), is scratch; the rest see `project_contacts`.
    `settled` becomes True for rows that need no second look for crossings: a vertex that was over the plane of a face
    that stands still is over it again.
    """
    vertex_count = mobility.inverse_mass.shape[0]
    last = vertex_count + mobility.unknown.shape[0]
    for k in range(chosen):
        for slot in range(4):
            if points[rows[k], slot] < vertex_count:
                uses[points[rows[k], slot]] = 0
    for k in range(chosen):
        for slot in range(4):
            if points[rows[k], slot] < vertex_count:
                uses[points[rows[k], slot]] += 1
    left = 0
    for k in range(chosen):
        c = rows[k]
        i, p, q, r = points[c, 0], points[c, 1], points[c, 2], points[c, 3]
        pressed[k] = 0.0
        held[k, 0] = held[k, 1] = held[k, 2] = 0.0
        if i >= vertex_count or p < last or q < last or r < last or uses[i] != 1:
            waiting[left] = k
            left += 1
            continue
        w = weights[c, 0]
        push = w * mobility.inverse_mass[i]
        if not w * push > 0.0 or not depth[k] > 0.0:
            continue
        nx, ny, nz = normal[c, 0], normal[c, 1], normal[c, 2]
        reached = depth[k] / (w * push)
        pressed[k] = reached
        ux, uy, uz = w * (x[i, 0] - before[i, 0]), w * (x[i, 1] - before[i, 1]), w * (x[i, 2] - before[i, 2])
        still = True
        for slot in range(1, 4):
            g, share = points[c, slot], weights[c, slot]
            dx, dy, dz = x[g, 0] - before[g, 0], x[g, 1] - before[g, 1], x[g, 2] - before[g, 2]
            if dx != 0.0 or dy != 0.0 or dz != 0.0:
                still = False
                ux, uy, uz = ux + share * dx, uy + share * dy, uz + share * dz
        un = ux * nx + uy * ny + uz * nz
        settled[c] = still and feature[c] == 0 and gap[c] - un > 0.0 and gap[c] + depth[k] > 0.0
        ux, uy, uz = ux - un * nx, uy - un * ny, uz - un * nz
        slip = sqrt(ux * ux + uy * uy + uz * uz)
        # j = -u / give, cut to what friction can hold
        scale = -min(1.0 / (w * push), friction[c] * reached / slip) if slip > 0.0 else 0.0
        jx, jy, jz = scale * ux, scale * uy, scale * uz
        held[k, 0], held[k, 1], held[k, 2] = jx, jy, jz
        step[i, 0] = push * (reached * nx + jx)
        step[i, 1] = push * (reached * ny + jy)
        step[i, 2] = push * (reached * nz + jz)
    return left


@kernel
def project_contacts(
    count, waiting, rows, depth, points, weights, normal, friction, before, x, mobility, sweeps, step, pressed, held
):
    """Project the rows in the first `count` places of `waiting` as often as `sweeps` says; `step` (rows of unknowns)
    gets the moves from x on.

    `pressed` = lambda [kg m] and `held` = j [kg m] of each chosen row, shapes (capacity,) and (capacity, 3), both 0 at
    the start.
    """
    for _ in range(sweeps):
        for place in range(count):
            k = waiting[place]
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
def contact_forces(chosen, rows, pressed, bodies, membrane_count, time, normal_force, soft_force, touching):
    """Normal force lambda / h^2 [N] of every row, and whether each moving body is pressed by another.

    `soft_force` has only those that press on a membrane: bounces of the others are settled (`project_velocities`).
    Both, shape (row_count,), are 0 for the other rows, and `touching` is False.
    """
    normal_force[:] = 0.0
    soft_force[:] = 0.0
    touching[:] = False
    for k in range(chosen):
        if pressed[k] > 0.0:
            c = rows[k]
            normal_force[c] = pressed[k] / (time * time)
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
