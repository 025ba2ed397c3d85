"""What crosses where nothing has moved yet, and what of it counts."""

import numpy as np

from ...array_types import FloatArray, IntArray
from ...inside_out import is_inside_out
from ...latest import keep_latest
from ...model import Model
from .overlap import NO_BODIES, crosses_itself, find_overlaps

#: Share of a body's size by which it may be in another one at the start, as rounding may put it.
SLIGHT = 1e-5


def crossing_triangles(model: Model, x: FloatArray, own: IntArray) -> IntArray:
    """Triangles that cross another body's surface, or that of their own body if it is one of `own`, at x [m]."""
    if not len(own) and not boxes_meet(model, x):
        return NO_BODIES
    return find_overlaps(model, _shrunk(model, x), own).crossing_triangles


def crossings_at_start(model: Model) -> dict[tuple[int, int], int]:
    """How many triangles cross at the start, by the two bodies, the lower number first; twice the same: itself."""
    found = find_overlaps(model, _shrunk(model, model.start_positions), self_colliding(model))
    pairs = np.sort(found.bodies, axis=1).tolist()
    return {(one, other): count for (one, other), count in zip(pairs, found.counts, strict=True)}


@keep_latest
def starts_crossed(model: Model) -> bool:
    """Whether bodies cross each other or themselves at the start."""
    x = model.start_positions
    return len(crossing_triangles(model, x, NO_BODIES)) > 0 or starts_tangled(model) or len(in_colliders(model, x)) > 0


@keep_latest
def starts_tangled(model: Model) -> bool:
    """Whether bodies with self-contact cross themselves, or are inside out, at the start."""
    x, own = model.start_positions, self_colliding(model)
    return len(own) > 0 and (crosses_itself(model, x, own) or len(inverted(model, x, own)) > 0)


def in_colliders(model: Model, x: FloatArray) -> IntArray:
    """Rows of `State.wrong_side` of rigid bodies that cross a collider at x [m], however slightly.

    They would have no contact there: what is set down on a floor, by rounding in it, would fall into it.
    """
    if not model.rigid_count or model.moving_count == model.body_count or not boxes_meet(model, x):
        return np.zeros((0, 3), np.int32)
    return find_overlaps(model, x).with_colliders(model)


def inverted(model: Model, x: FloatArray, bodies: IntArray) -> IntArray:
    """Those of the bodies that are inside out at x [m]."""
    return bodies[np.array([is_inside_out(model, x, body) for body in bodies.tolist()], bool)]


def self_colliding(model: Model) -> IntArray:
    """Numbers of the bodies with self-contact."""
    return np.flatnonzero(model.self_collision).astype(np.int32)


def _shrunk(model: Model, positions: FloatArray) -> FloatArray:
    """Positions [m] with moving bodies a little smaller, so that a body on a floor does not count as crossing it.

    Meshes in Blender are in single precision, which may put a body into a floor by less than this.
    """
    x, start = positions.copy(), model.body_point_start
    for body in range(model.moving_count):
        own = slice(start[body], start[body + 1])
        x[own] -= SLIGHT * (x[own] - x[own].mean(axis=0))
    return x


def boxes_meet(model: Model, x: FloatArray) -> bool:
    """Whether the boxes around any two bodies meet, one of them moving."""
    start = model.body_point_start[:-1]
    low, high = np.minimum.reduceat(x, start), np.maximum.reduceat(x, start)
    for body in range(model.moving_count):
        others = slice(body + 1, None)
        if ((low[body] <= high[others]) & (high[body] >= low[others])).all(axis=1).any():
            return True
    return False
