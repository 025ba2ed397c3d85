"""The residual of a stage: the sum of all forces on every vertex."""

from ...contact.barrier import contact_force
from ...energy.bend import bend_force
from ...energy.stretch import stretch_force
from ...energy.volume import tetrahedron_force
from ...jit import kernel
from ...simd import load3, store3, triple


@kernel
def gather_residual(
    x, target, edges, hinges, chunks, hessian, tension, hinge_force, pressure, squeezed, terms, contact_count, r
):  # fmt: skip
    """Sum of the forces on every vertex, inertia included [N]; zero for pinned vertices."""
    for chunk in range(chunks.body.shape[0]):
        p = pressure[chunks.body[chunk]]
        for i in range(chunks.start[chunk], chunks.start[chunk + 1]):
            if hessian.pinned[i]:
                r[i, 0] = r[i, 1] = r[i, 2] = 0.0
                continue
            here = load3(x, 3 * i)
            force = stretch_force(i, here, x, edges, tension) + hessian.inertia[i] * (load3(target, 3 * i) - here)
            force = force + p * load3(hessian.volume_gradient, 3 * i)
            if hinge_force.shape[0] > 0:
                force = force + bend_force(i, hinges, hinge_force)
            if squeezed.shape[0] > 0:
                sx, sy, sz = tetrahedron_force(
                    i, hessian.tetrahedron_start, hessian.tetrahedron_entry, squeezed, hessian.tetrahedron_gradient
                )
                force = force + triple(sx, sy, sz)
            if contact_count > 0:
                cx, cy, cz = contact_force(i, terms)
                force = force + triple(cx, cy, cz)
            store3(r, 3 * i, force)
