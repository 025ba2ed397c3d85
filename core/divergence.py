"""Whether a state is finite and no body has grown beyond all bounds, told by sums of squares in one pass.

The sums are not finite where a number is not, and twice the root of sum |x - x_first|^2 is at least the diagonal of the
box around a body. So small sums tell that all is well; large ones tell nothing, and the caller looks closer.
"""

import math

import numpy as np

from .array_types import FloatArray, IntArray
from .errors import Diverged
from .jit import kernel
from .model import Model
from .simd import lane, load3, spread, sum_spread
from .state import State

#: A body that is this many times as large as at rest has diverged, though its numbers are still finite.
LARGEST_GROWTH = 1000.0
#: Size of a body in pieces, which may fly apart without bound [m].
UNBOUNDED = 1e100


def membrane_sizes(model: Model, x: FloatArray) -> FloatArray:
    """Diagonal of the box around each membrane [m], shape (membrane_count,)."""
    start, skin = model.body_point_start[: model.membrane_count], x[: model.vertex_count]
    extent = np.maximum.reduceat(skin, start) - np.minimum.reduceat(skin, start)
    return np.sqrt(np.einsum("ij,ij->i", extent, extent))


def check_divergence(model: Model, state: State, rest_size: FloatArray) -> None:
    """Raise `Diverged` for the first body that is not finite or has grown beyond all bounds.

    `rest_size`: `membrane_sizes` at rest.
    """
    if is_bounded(state.positions, state.velocities, model.body_point_start, LARGEST_GROWTH * rest_size):
        return
    finite = (np.isfinite(state.positions) & np.isfinite(state.velocities)).all(axis=1)
    if not finite.all():
        raise Diverged(int(model.point_body[np.flatnonzero(~finite)[0]]), "is not finite")
    check_sizes(model, state.positions, rest_size)


def check_trembling(model: Model, state: State, most: FloatArray) -> None:
    """Raise `Diverged` where gas rules without an energy make a body oscillate by its size per substep.

    `most`: speed within each membrane that is too much [m/s].
    """
    for body in range(model.membrane_count):
        v = state.velocities[model.body_point_start[body] : model.body_point_start[body + 1]]
        apart = float(np.sqrt(((v - v.mean(axis=0)) ** 2).sum(axis=1).max()))
        if apart > most[body]:
            raise Diverged(body, "grows beyond all bounds")


def check_sizes(model: Model, positions: FloatArray, rest_size: FloatArray) -> None:
    """Raise `Diverged` for the first body that has grown beyond all bounds; see `check_divergence`.

    `positions` [m] of the points, those of a body in any order.
    """
    grown = ~(membrane_sizes(model, positions) <= LARGEST_GROWTH * rest_size)
    if grown.any():
        raise Diverged(int(np.flatnonzero(grown)[0]), "grows beyond all bounds")


def is_bounded(x: FloatArray, v: FloatArray, body_point_start: IntArray, largest: FloatArray) -> bool:
    """Whether all is well for certain. `largest`: diagonal [m] that each membrane may have; x, v of all points."""
    return bool(sums_are_small(x, v, body_point_start, largest))


@kernel
def sums_are_small(x, v, body_point_start, largest):
    """`is_bounded`; what is not of a membrane need only be finite."""
    others = spread(0.0)
    count = largest.shape[0]
    for body in range(count):
        origin = load3(x, np.uint32(3) * np.uint32(body_point_start[body]))
        size = spread(0.0)
        for point in range(body_point_start[body], body_point_start[body + 1]):
            i = np.uint32(3) * np.uint32(point)
            apart, speed = load3(x, i) - origin, load3(v, i)
            size = size + apart * apart
            others = others + speed * speed
        if not 4.0 * lane(sum_spread(size), 0) <= largest[body] * largest[body]:
            return False
    for point in range(body_point_start[count], x.shape[0]):
        i = np.uint32(3) * np.uint32(point)
        place, speed = load3(x, i), load3(v, i)
        others = others + place * place + speed * speed
    return math.isfinite(lane(sum_spread(others), 0))
