"""Forces and Hessian products of contacts, gathered per vertex."""

from typing import Any, NamedTuple

from ..jit import kernel


class ContactTerms(NamedTuple):
    """First and second derivatives of the energies of contacts that exert a force, for the per-vertex gathers below."""

    points: Any  # the four points of each contact, shape (contact_count, 4)
    weights: Any  # their weights in the gap, shape (contact_count, 4)
    vertex_start: Any  # CSR over moving points, shape (moving_point_count + 1,)
    vertex_entry: Any  # 4 * contact + slot
    force: Any  # on the side of positive weight [N], shape (contact_count, 3)
    matrix: Any  # stiffness xx, yy, zz, xy, xz, yz [N/m], shape (contact_count, 6)
    vertex_count: Any  # points below are soft vertices; from here on they belong to rigid bodies or colliders
    unknown: Any  # first row of unknowns of each rigid point's body, shape (rigid_point_count,)
    arm: Any  # of each rigid point from its body's centre [m], shape (rigid_point_count, 3)


@kernel
def contact_force(i, terms):
    """Force on vertex i [N]."""
    fx = fy = fz = 0.0
    for q in range(terms.vertex_start[i], terms.vertex_start[i + 1]):
        c = terms.vertex_entry[q] >> 2
        w = terms.weights[c, terms.vertex_entry[q] & 3]
        fx += w * terms.force[c, 0]
        fy += w * terms.force[c, 1]
        fz += w * terms.force[c, 2]
    return fx, fy, fz


@kernel
def rigid_point_step(point, unknown, arm, step):
    """First-order displacement of a rigid point (counted from the first one) for a step; 0 for a collider's."""
    if point >= unknown.shape[0]:  # of a collider
        return 0.0, 0.0, 0.0
    row = unknown[point]
    rx, ry, rz = arm[point, 0], arm[point, 1], arm[point, 2]
    tx, ty, tz = step[row + 1, 0], step[row + 1, 1], step[row + 1, 2]
    return (
        step[row, 0] + ty * rz - tz * ry,
        step[row, 1] + tz * rx - tx * rz,
        step[row, 2] + tx * ry - ty * rx,
    )


@kernel
def contact_stretch(c, p, terms):
    """Change of contact c's force for a change p of the unknowns, shape (unknown_count, 3): product, step one."""
    rx = ry = rz = 0.0
    for slot in range(4):
        i = terms.points[c, slot]
        w = terms.weights[c, slot]
        if i < terms.vertex_count:
            rx += w * p[i, 0]
            ry += w * p[i, 1]
            rz += w * p[i, 2]
        elif w != 0.0:
            ux, uy, uz = rigid_point_step(i - terms.vertex_count, terms.unknown, terms.arm, p)
            rx += w * ux
            ry += w * uy
            rz += w * uz
    m = terms.matrix[c]
    return (
        m[0] * rx + m[3] * ry + m[4] * rz,
        m[3] * rx + m[1] * ry + m[5] * rz,
        m[4] * rx + m[5] * ry + m[2] * rz,
    )


@kernel
def contact_product(i, terms, stretched):
    """Row i of the Hessian product, step two; `stretched`: `contact_stretch` of every contact."""
    hx = hy = hz = 0.0
    for q in range(terms.vertex_start[i], terms.vertex_start[i + 1]):
        c = terms.vertex_entry[q] >> 2
        w = terms.weights[c, terms.vertex_entry[q] & 3]
        hx += w * stretched[c, 0]
        hy += w * stretched[c, 1]
        hz += w * stretched[c, 2]
    return hx, hy, hz


@kernel
def add_wrenches(terms, point_start, values, out):
    """Add the force and torque of contacts on each rigid body: `values` [N], shape (contact_count, 3), times weight.

    `out`: rows of unknowns, shape (row_count, 3), of which the last two per rigid body are changed.
    """
    first_row = out.shape[0] - 2 * (point_start.shape[0] - 1)
    for body in range(point_start.shape[0] - 1):
        fx = fy = fz = tx = ty = tz = 0.0
        for q in range(terms.vertex_start[point_start[body]], terms.vertex_start[point_start[body + 1]]):
            c = terms.vertex_entry[q] >> 2
            slot = terms.vertex_entry[q] & 3
            w = terms.weights[c, slot]
            r = terms.arm[terms.points[c, slot] - terms.vertex_count]
            gx, gy, gz = w * values[c, 0], w * values[c, 1], w * values[c, 2]
            fx, fy, fz = fx + gx, fy + gy, fz + gz
            tx += r[1] * gz - r[2] * gy
            ty += r[2] * gx - r[0] * gz
            tz += r[0] * gy - r[1] * gx
        row = first_row + 2 * body
        out[row, 0] += fx
        out[row, 1] += fy
        out[row, 2] += fz
        out[row + 1, 0] += tx
        out[row + 1, 1] += ty
        out[row + 1, 2] += tz


@kernel
def contact_diagonal(chunks, terms, diagonal):
    """Diagonal of the contact Hessian [N/m] into `diagonal`, shape (vertex_count, 3): for the preconditioner."""
    for chunk in range(chunks.body.shape[0]):
        for i in range(chunks.start[chunk], chunks.start[chunk + 1]):
            dx = dy = dz = 0.0
            for q in range(terms.vertex_start[i], terms.vertex_start[i + 1]):
                c = terms.vertex_entry[q] >> 2
                w = terms.weights[c, terms.vertex_entry[q] & 3]
                dx += w * w * terms.matrix[c, 0]
                dy += w * w * terms.matrix[c, 1]
                dz += w * w * terms.matrix[c, 2]
            diagonal[i, 0], diagonal[i, 1], diagonal[i, 2] = dx, dy, dz
