"""Moves that already respect contact, to first order: where a move would close a gap, its closing part is taken out.

A Newton step knows only the contacts that are active where it starts. Vertices that come into contact during the
step would be sent through the surface, and a line search would have to shorten the whole step for their sake.
Here each of them stops just inside the thickness instead, about where it will rest; motion along the surface stays.
"""

from ..jit import kernel
from ..model import BoolArray, FloatArray
from .contacts import Contacts

#: Share of the gap (or of the thickness, if less) that a single move must leave.
KEPT_SHARE = 0.75
PASSES = 2


def keep_apart(move: FloatArray, pinned: BoolArray, contacts: Contacts) -> None:
    """Correct `move` [m], shape (point_count, 3), in place, for the gaps last evaluated.

    Moves of pinned vertices and of collider points stay as they are.
    """
    if contacts.count:
        correct_moves(
            contacts.count, contacts.points, contacts.weights, contacts.normal, contacts.gap, contacts.thickness,
            pinned, move,
        )  # fmt: skip


@kernel
def correct_moves(count, points, weights, normal, gap, thickness, pinned, move):
    """Gauss-Seidel passes over the contacts in their order; serial, so that the result is one."""
    vertex_count = pinned.shape[0]
    for _ in range(PASSES):
        for c in range(count):
            if not gap[c] < 1e300:  # a pair that another row owns
                continue
            nx, ny, nz = normal[c, 0], normal[c, 1], normal[c, 2]
            closing = 0.0
            mobility = 0.0
            for slot in range(4):
                i = points[c, slot]
                w = weights[c, slot]
                closing -= w * (nx * move[i, 0] + ny * move[i, 1] + nz * move[i, 2])
                if i < vertex_count and not pinned[i]:
                    mobility += w * w
            kept = KEPT_SHARE * min(gap[c], thickness[c])
            lack = kept - (gap[c] - closing)
            if closing <= 0.0 or lack <= 0.0 or mobility == 0.0:
                continue
            push = lack / mobility
            for slot in range(4):
                i = points[c, slot]
                if i < vertex_count and not pinned[i]:
                    w = weights[c, slot]
                    move[i, 0] += push * w * nx
                    move[i, 1] += push * w * ny
                    move[i, 2] += push * w * nz
