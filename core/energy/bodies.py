"""Evaluates springs, hinges, tetrahedra and the gradient of the gas volume together.

One kernel: unpacking its arguments costs as much as evaluating a small body.
"""

from ..jit import kernel
from .bend import evaluate_bend
from .gas import volume_gradient
from .stretch import evaluate_stretch
from .volume import evaluate_tetrahedra


@kernel
def evaluate_bodies(
    x, body_point_start, edges, hinges, tetrahedra, fans, chunks, tension, hinge_force, squeezed, tetrahedron_gradient,
    gradient, sums,
):  # fmt: skip
    """Fill the arrays of the four kernels; returns the sum of the energies [J].

    `sums`, shape (3, chunk_count), per chunk: energy [J] of springs and tetrahedra, of hinges, and volume [m^3].
    """
    evaluate_stretch(x, edges, chunks, tension, sums[0])
    if hinge_force.shape[0] > 0:
        evaluate_bend(x, hinges, chunks, hinge_force, sums[1])
    if squeezed.shape[0] > 0:
        evaluate_tetrahedra(x, tetrahedra, squeezed, tetrahedron_gradient, sums[0])
    volume_gradient(x, body_point_start, fans, chunks, gradient, sums[2])
    return sums[0].sum() + sums[1].sum()
