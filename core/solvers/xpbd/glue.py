"""Attachments as constraints of XPBD."""

from math import sqrt

from ...jit import lean_kernel
from ...simd import lane
from ..explicit.carried import carried_inverse_mass
from ..explicit.glue import pulled_apart
from ..explicit.press import own_inverse_mass, push_sides, sides_velocity


@lean_kernel
def project_glue(contact, glue, x, velocity, h):
    """Project every attachment once: C = |sum w_i (x_i + h v_i) - o|, compliance 1 / k (`energy.attachment`)."""
    rows = glue.rows
    for a in range(glue.stiffness.shape[0]):
        ux, uy, uz = sides_velocity(contact, rows, a, x, velocity)
        pulled = pulled_apart(glue, a, x)
        dx, dy, dz = h * ux + lane(pulled, 0), h * uy + lane(pulled, 1), h * uz + lane(pulled, 2)
        length = sqrt(dx * dx + dy * dy + dz * dz)
        if length == 0.0:
            continue
        give = own_inverse_mass(rows, a)
        if rows.carried[a]:
            give += carried_inverse_mass(contact, x, rows, a, dx / length, dy / length, dz / length)
        size = -1.0 / (h * give + 1.0 / (glue.stiffness[a] * h))
        push_sides(contact, rows, a, size * dx, size * dy, size * dz, x, velocity)
