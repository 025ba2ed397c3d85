"""Inverse masses of vertices and rigid bodies, as contacts need them."""

from typing import Any, NamedTuple

from ..jit import kernel


class InverseMass(NamedTuple):
    """Inverse masses and inertias of vertices and rigid bodies."""

    inverse_mass: Any  # of each vertex, 0 if pinned [1/kg], shape (vertex_count,)
    unknown: Any  # first row of unknowns of each rigid point's body, shape (rigid_point_count,)
    arm: Any  # of each rigid point from its body's centre [m], shape (rigid_point_count, 3)
    rigid_inverse_mass: Any  # [1/kg], shape (rigid_count,)
    rigid_inverse_inertia: Any  # in world axes [1/(kg m^2)], shape (rigid_count, 3, 3)


@kernel
def turned(inverse, tx, ty, tz):
    """inverse (3, 3) times a vector."""
    return (
        inverse[0, 0] * tx + inverse[0, 1] * ty + inverse[0, 2] * tz,
        inverse[1, 0] * tx + inverse[1, 1] * ty + inverse[1, 2] * tz,
        inverse[2, 0] * tx + inverse[2, 1] * ty + inverse[2, 2] * tz,
    )
