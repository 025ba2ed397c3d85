"""The residual of a stage: all forces on every vertex, gathered."""

from numba import prange

from ..forces.bend import bend_force
from ..forces.contact import contact_force
from ..forces.stretch import stretch_force
from ..forces.tetrahedra import tetrahedron_force
from ..jit import parallel_kernel


@parallel_kernel
def gather_residual(
    x, target, edges, hinges, chunks, hessian, tension, hinge_force, pressure, squeezed, terms, contact_count, r
):  # fmt: skip
    """All forces on every vertex, inertia included [N]; zero for pinned vertices."""
    for chunk in prange(chunks.body.shape[0]):
        p = pressure[chunks.body[chunk]]
        for i in range(chunks.start[chunk], chunks.start[chunk + 1]):
            if hessian.pinned[i]:
                r[i, 0] = r[i, 1] = r[i, 2] = 0.0
                continue
            fx, fy, fz = stretch_force(i, x, edges, tension)
            m = hessian.inertia[i]
            fx += m * (target[i, 0] - x[i, 0]) + p * hessian.volume_gradient[i, 0]
            fy += m * (target[i, 1] - x[i, 1]) + p * hessian.volume_gradient[i, 1]
            fz += m * (target[i, 2] - x[i, 2]) + p * hessian.volume_gradient[i, 2]
            if hinge_force.shape[0] > 0:
                bx, by, bz = bend_force(i, hinges, hinge_force)
                fx += bx
                fy += by
                fz += bz
            if squeezed.shape[0] > 0:
                sx, sy, sz = tetrahedron_force(
                    i, hessian.tetrahedron_start, hessian.tetrahedron_entry, squeezed, hessian.tetrahedron_gradient
                )
                fx += sx
                fy += sy
                fz += sz
            if contact_count > 0:
                cx, cy, cz = contact_force(i, terms)
                fx += cx
                fy += cy
                fz += cz
            r[i, 0], r[i, 1], r[i, 2] = fx, fy, fz
