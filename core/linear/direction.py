"""Direction of a Newton step: update of the preconditioner, then conjugate gradients.

One kernel, as unpacking its arguments costs as much as a small body's product.
"""

from ..contact.barrier import contact_diagonal
from ..jit import kernel
from .conjugate_gradient import assist, conjugate_gradient, join_islands
from .multigrid import set_extra_diagonal
from .vertex_blocks import invert_vertex_blocks


@kernel
def newton_direction(
    edges, hinges, chunks, hessian, terms, contact_count, stretched, point_body, levels, diagonal, residual, scratch,
    tolerance, enough, limit, u, number,
):  # fmt: skip
    """`conjugate_gradient` with the update of the preconditioner (without rigid factors) and of the islands.

    `diagonal`: scratch [N/m], shape (vertex_count, 3), stiffness that contacts add to the multigrid's diagonal.
    `number`: 0, or that of a helper, which does its part of the same call in another thread (`team.py`) and returns 0.
    """
    if number > 0:
        assist(edges, hinges, chunks, hessian, terms, contact_count, stretched, levels, residual, scratch, number)
        return 0
    contact_diagonal(chunks, terms, diagonal)
    set_extra_diagonal(levels, diagonal)
    invert_vertex_blocks(edges, hinges, chunks, hessian, terms, contact_count, scratch.inverse)
    join_islands(contact_count, terms.points, point_body, scratch.island, enough)
    return conjugate_gradient(
        edges, hinges, chunks, hessian, terms, contact_count, stretched, levels, residual, scratch, tolerance, enough,
        limit, u,
    )  # fmt: skip
