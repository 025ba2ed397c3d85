"""Relative displacement of a contact for a step of the unknowns, and its inverse mass.

Unknowns have one row per soft vertex, then two per rigid body: translation and rotation (or velocity and angular
velocity). A contact's gap changes by normal . sum w_i u_i; an impulse j along a unit vector n changes it by
j `inverse_mass_along` n.
"""

from typing import Any, NamedTuple

from ..jit import inline_kernel, kernel
from .barrier import rigid_point_step


class InverseMass(NamedTuple):
    """Inverse masses and inertias of vertices and rigid bodies."""

    inverse_mass: Any  # of each vertex, 0 if pinned [1/kg], shape (vertex_count,)
    unknown: Any  # first row of unknowns of each rigid point's body, shape (rigid_point_count,)
    arm: Any  # of each rigid point from its body's centre [m], shape (rigid_point_count, 3)
    rigid_inverse_mass: Any  # [1/kg], shape (rigid_count,)
    rigid_inverse_inertia: Any  # in world axes [1/(kg m^2)], shape (rigid_count, 3, 3)


@inline_kernel
def relative_step(c, points, weights, mobility, step):
    """sum w_i u_i of contact c for a step of the unknowns."""
    vertex_count = mobility.inverse_mass.shape[0]
    x = y = z = 0.0
    for slot in range(4):
        i = points[c, slot]
        w = weights[c, slot]
        if i < vertex_count:
            x, y, z = x + w * step[i, 0], y + w * step[i, 1], z + w * step[i, 2]
        elif w != 0.0:
            ux, uy, uz = rigid_point_step(i - vertex_count, mobility.unknown, mobility.arm, step)
            x, y, z = x + w * ux, y + w * uy, z + w * uz
    return x, y, z


@kernel
def rigid_side(c, points, weights, slot, mobility):
    """Row of unknowns of the rigid body at a slot, its total weight in contact c, and its weighted arm [m].

    Row -1 where the slot is of no rigid body, or is not the first one of its body in this contact.
    """
    vertex_count = mobility.inverse_mass.shape[0]
    last = vertex_count + mobility.unknown.shape[0]
    i = points[c, slot]
    if i < vertex_count or i >= last:
        return -1, 0.0, 0.0, 0.0, 0.0
    row = mobility.unknown[i - vertex_count]
    for s in range(slot):
        k = points[c, s]
        if vertex_count <= k < last and mobility.unknown[k - vertex_count] == row:
            return -1, 0.0, 0.0, 0.0, 0.0
    total = rx = ry = rz = 0.0
    for s in range(slot, 4):
        k = points[c, s]
        if vertex_count <= k < last and mobility.unknown[k - vertex_count] == row:
            w = weights[c, s]
            total += w
            rx += w * mobility.arm[k - vertex_count, 0]
            ry += w * mobility.arm[k - vertex_count, 1]
            rz += w * mobility.arm[k - vertex_count, 2]
    return row, total, rx, ry, rz


@kernel
def turned(inverse, tx, ty, tz):
    """inverse (3, 3) times a vector."""
    return (
        inverse[0, 0] * tx + inverse[0, 1] * ty + inverse[0, 2] * tz,
        inverse[1, 0] * tx + inverse[1, 1] * ty + inverse[1, 2] * tz,
        inverse[2, 0] * tx + inverse[2, 1] * ty + inverse[2, 2] * tz,
    )


@kernel
def inverse_mass_along(c, points, weights, nx, ny, nz, mobility):
    """Change of contact c's relative velocity along the unit vector n per impulse along n [1/kg]."""
    vertex_count = mobility.inverse_mass.shape[0]
    total = 0.0
    for slot in range(4):
        i = points[c, slot]
        if i < vertex_count:
            w = weights[c, slot]
            total += w * w * mobility.inverse_mass[i]
            continue
        row, w, rx, ry, rz = rigid_side(c, points, weights, slot, mobility)
        if row >= 0:
            body = (row - vertex_count) // 2
            tx, ty, tz = ry * nz - rz * ny, rz * nx - rx * nz, rx * ny - ry * nx
            wx, wy, wz = turned(mobility.rigid_inverse_inertia[body], tx, ty, tz)
            total += w * w * mobility.rigid_inverse_mass[body] + tx * wx + ty * wy + tz * wz
    return total


@kernel
def push_sides(c, points, weights, jx, jy, jz, mobility, step):
    """Apply an impulse j to the side of positive weight of contact c and -j to the other: add the changes to `step`."""
    vertex_count = mobility.inverse_mass.shape[0]
    for slot in range(4):
        i = points[c, slot]
        if i < vertex_count:
            share = weights[c, slot] * mobility.inverse_mass[i]
            step[i, 0] += share * jx
            step[i, 1] += share * jy
            step[i, 2] += share * jz
            continue
        row, w, rx, ry, rz = rigid_side(c, points, weights, slot, mobility)
        if row >= 0:
            body = (row - vertex_count) // 2
            share = w * mobility.rigid_inverse_mass[body]
            step[row, 0] += share * jx
            step[row, 1] += share * jy
            step[row, 2] += share * jz
            wx, wy, wz = turned(
                mobility.rigid_inverse_inertia[body], ry * jz - rz * jy, rz * jx - rx * jz, rx * jy - ry * jx
            )
            step[row + 1, 0] += wx
            step[row + 1, 1] += wy
            step[row + 1, 2] += wz
