"""Pairs of bodies whose bounding boxes overlap: sorted along one axis and swept."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...array_types import BoolArray, FloatArray, IntArray
from ...jit import kernel
from ...tiny import ROUNDING


@dataclass(frozen=True, slots=True)
class BodyPairs:
    """The bodies near each body, in CSR: those of body b are other[start[b] : start[b + 1]], ascending."""

    start: IntArray  # shape (body_count + 1,)
    other: IntArray

    @staticmethod
    def of(
        body_box: FloatArray,
        margin: FloatArray,
        moving_count: int,
        *,
        among_moving: bool = True,
        ignores: BoolArray | None = None,
    ) -> "BodyPairs":
        """Pairs of bodies, at least one of them moving, whose boxes overlap when widened by the margins [m] of both.

        among_moving: whether pairs of two moving bodies are included.
        ignores: pairs without contact, symmetric, shape (body_count, body_count); None for none.
        body_box: lower corner, upper corner [m], shape (body_count, 6), lower above upper for a body without points.
        The work grows with the bodies and with the pairs that overlap along one axis.
        """
        held = body_box[:, 0] <= body_box[:, 3]
        axis = int(np.argmax(np.ptp(body_box[held, :3], axis=0))) if held.any() else 0
        order = np.argsort(body_box[:, axis] - margin, kind="stable").astype(np.int32)
        room = 8 * len(margin)
        while True:
            pairs = np.zeros((room, 2), np.int32)
            count = sweep(body_box, margin, moving_count, among_moving, axis, order, pairs)
            if count <= room:
                break
            room = count
        pairs = pairs[:count]
        if ignores is not None and ignores.any():
            pairs = pairs[~ignores[pairs[:, 0], pairs[:, 1]]]
        both = np.concatenate([pairs, pairs[:, ::-1]])
        both = both[np.lexsort((both[:, 1], both[:, 0]))]
        start = np.searchsorted(both[:, 0], np.arange(len(margin) + 1)).astype(np.int32)
        return BodyPairs(start, np.ascontiguousarray(both[:, 1]))

    def with_own(self, bodies: NDArray[np.int32]) -> "BodyPairs":
        """The same, with each of `bodies` as a partner of itself."""
        count = len(self.start) - 1
        body = np.concatenate([np.repeat(np.arange(count), np.diff(self.start)), bodies])
        other = np.concatenate([self.other, bodies]).astype(np.int32)
        order = np.lexsort((other, body))
        start = np.searchsorted(body[order], np.arange(count + 1)).astype(np.int32)
        return BodyPairs(start, np.ascontiguousarray(other[order]))

    @property
    def bodies(self) -> NDArray[np.bool_]:
        """Whether each body has a partner, shape (body_count,)."""
        return np.diff(self.start) > 0


@kernel
def may_touch(body, other, moving_count):
    """Whether two bodies can have contact: different ones, not both colliders."""
    return body != other and (body < moving_count or other < moving_count)


@kernel
def fit_bodies(x, body_point_start, body_box):
    """Boxes around the points of all bodies."""
    for body in range(body_box.shape[0]):
        lx = ly = lz = np.inf
        ux = uy = uz = -np.inf
        for point in range(body_point_start[body], body_point_start[body + 1]):
            px, py, pz = x[point, 0], x[point, 1], x[point, 2]
            lx, ly, lz = min(lx, px), min(ly, py), min(lz, pz)
            ux, uy, uz = max(ux, px), max(uy, py), max(uz, pz)
        body_box[body, 0], body_box[body, 1], body_box[body, 2] = lx, ly, lz
        body_box[body, 3], body_box[body, 4], body_box[body, 5] = ux, uy, uz


@kernel
def any_moved(x, x_searched, reach, body_point_start):
    """Whether a point is farther than its body's reach from where it was searched, not finite, or its reach below 0."""
    for body in range(reach.shape[0]):
        if not reach[body] >= 0.0:
            return True
        limit = reach[body] * reach[body]
        for point in range(body_point_start[body], body_point_start[body + 1]):
            dx = x[point, 0] - x_searched[point, 0]
            dy = x[point, 1] - x_searched[point, 1]
            dz = x[point, 2] - x_searched[point, 2]
            if not dx * dx + dy * dy + dz * dz <= limit:
                return True
    return False


@kernel
def sweep(body_box, margin, moving_count, among_moving, axis, order, pairs):
    """Pairs of bodies whose widened boxes overlap; `order` sorts their lower ends along `axis`.

    Returns their number, which may exceed the room in `pairs`.
    """
    count = 0
    for i in range(order.shape[0]):
        body = order[i]
        if body_box[body, axis] == np.inf:
            break  # from here on there are only bodies without points
        end = body_box[body, axis + 3] + margin[body]
        end += ROUNDING * (abs(end) + margin[body])
        for j in range(i + 1, order.shape[0]):
            other = order[j]
            begin = body_box[other, axis] - margin[other]
            if begin - ROUNDING * abs(begin) > end:
                break
            if not may_touch(body, other, moving_count):
                continue
            if not among_moving and body < moving_count and other < moving_count:
                continue
            radius = margin[body] + margin[other]
            near = True
            for k in range(3):
                if (
                    body_box[body, k] - radius > body_box[other, k + 3]
                    or body_box[other, k] - radius > body_box[body, k + 3]
                ):
                    near = False
            if near:
                if count < pairs.shape[0]:
                    pairs[count, 0], pairs[count, 1] = body, other
                count += 1
    return count
