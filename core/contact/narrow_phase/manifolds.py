"""Contact manifolds of simple convex bodies, cached between steps.

Each contact point of a pair has an anchor on both bodies, and the normal turns with the body whose face it belongs to,
so the gap of a body that slides over a face stays exact. The points are computed anew when the two bodies have moved
relative to each other by a fraction of their size. New points inherit the impulses of the old points next to them.
"""

import math
from typing import NamedTuple

import numpy as np

from ...array_types import BoolArray, FloatArray, IntArray
from ...bodies.rigid.convex import ConvexShapes
from ...jit import kernel
from ...model import Model
from ...state import HeldImpulses
from .separating_axes import MOST_CORNERS, MOST_POINTS, dot, meet, place_shape, place_shapes

#: Relative displacement of a pair at which its contact points are computed anew [distance from centre to nearest face].
TOLERANCE = 0.04
#: Displacement of a body that needs no new sweep [radius], plus its displacement in so many steps [1].
SWEEP_MARGIN = 0.03
SWEEP_STEPS = 12.0
#: Distance up to which a new contact point inherits the impulse of an old one [TOLERANCE].
SAME_POINT = 4.0


class Manifolds(NamedTuple):
    """Pairs of bodies (numbers of rigid bodies, the lower one first, ascending) and their contact points."""

    pair: IntArray  # shape (pair_count, 2)
    point_count: IntArray  # contact points, shape (pair_count,)
    owner: IntArray  # which of the two the normal turns with: 0 or 1, shape (pair_count,)
    anchor: FloatArray  # each point on both bodies, in their frames [m], shape (pair_count, MOST_POINTS, 2, 3)
    normal: FloatArray  # unit, from the first to the second, in its owner's frame, shape (pair_count, 3)
    impulse: FloatArray  # on the second body in the last step [N s], world, shape (pair_count, MOST_POINTS, 3)
    seen: FloatArray  # poses of both when the points were found, shape (pair_count, 2, 7)
    reach: FloatArray  # how far they may come nearer in a step [m], -1 before the first search, shape (pair_count,)

    @staticmethod
    def of(pair: IntArray) -> "Manifolds":
        """Pairs without points."""
        count = len(pair)
        return Manifolds(
            pair, np.zeros(count, np.int32), np.zeros(count, np.int32), np.zeros((count, MOST_POINTS, 2, 3)),
            np.zeros((count, 3)), np.zeros((count, MOST_POINTS, 3)), np.zeros((count, 2, 7)), np.full(count, -1.0),
        )  # fmt: skip

    def take_over(self, old: "Manifolds", body_count: int) -> None:
        """Copy the points of pairs that the old manifolds have as well."""
        if len(old.pair) == 0 or len(self.pair) == 0:
            return
        key = old.pair[:, 0].astype(np.int64) * body_count + old.pair[:, 1]
        wanted = self.pair[:, 0].astype(np.int64) * body_count + self.pair[:, 1]
        place = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
        rows = np.flatnonzero(key[place] == wanted)
        for name in ("point_count", "owner", "anchor", "normal", "impulse", "seen", "reach"):
            getattr(self, name)[rows] = getattr(old, name)[place[rows]]


class Sweep(NamedTuple):
    """The last sweep for pairs, and scratch."""

    poses: FloatArray  # where the bodies were, shape (rigid_count, 7)
    roam: FloatArray  # displacement of each body that needs no new sweep [m], -inf before the first one
    resting: BoolArray  # whether it slept
    size: FloatArray  # distance from centre to nearest face [m]
    thickness: FloatArray  # [m]
    corners: FloatArray  # of all shapes in world axes [m], where they are up to date
    normals: FloatArray  # of their faces
    wanted: BoolArray  # scratch, shape (rigid_count,)
    stale: IntArray  # scratch, shape (at least pair_count,)


class ManifoldSearch:
    """Keeps the manifolds of a model's simple bodies."""

    def __init__(self, model: Model, shapes: ConvexShapes) -> None:
        count = model.rigid_count
        self._model, self.shapes = model, shapes
        rigid = slice(model.membrane_count, model.moving_count)
        self._ignores = model.ignores[rigid, rigid]
        size = [
            shapes.offsets[a:b].min(initial=np.inf)
            for a, b in zip(shapes.face_start, shapes.face_start[1:], strict=False)
        ]
        self.sweep = Sweep(
            np.zeros((count, 7)), np.full(count, -np.inf), np.zeros(count, bool), np.array(size),
            model.thickness[rigid], np.zeros_like(shapes.corners), np.zeros_like(shapes.normals), np.zeros(count, bool),
            np.zeros(0, np.int32),
        )  # fmt: skip
        self.manifolds = Manifolds.of(np.zeros((0, 2), np.int32))

    def start(self, held: HeldImpulses) -> None:
        """Compute everything anew in the next step, with the impulses of a state."""
        self.sweep.roam[:], self.sweep.resting[:] = -np.inf, False
        self.manifolds = old = Manifolds.of(held.pair)
        points = held.pair_anchor.shape[1]
        old.point_count[:] = held.count
        old.anchor[:, :points, 0] = held.pair_anchor
        old.impulse[:, :points] = held.pair_impulse

    def held(self) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Pairs with contact points, their number, anchors on the first body and impulses, for `HeldImpulses`."""
        m = self.manifolds
        rows = np.flatnonzero(m.point_count)
        return m.pair[rows], m.point_count[rows], m.anchor[rows, :, 0], m.impulse[rows]

    def find_pairs(self, poses: FloatArray, matrices: FloatArray, move: FloatArray, resting: BoolArray) -> None:
        """Find the pairs of bodies near each other, see `has_pairs`; move: of each body's fastest point in a step [m].

        Pairs of sleeping bodies keep their points; no new ones are found.
        """
        count, sweep = len(poses), self.sweep
        sweep.poses[:] = poses
        sweep.roam[:] = SWEEP_MARGIN * self._model.rigid.radius + SWEEP_STEPS * move
        sweep.resting[:] = resting
        box = np.zeros((count, 6))
        place_shapes(self.shapes, poses, matrices, sweep.corners, sweep.normals)
        fit_shapes(self.shapes.corner_start, sweep.corners, sweep.thickness + sweep.roam, box)
        has_corners = box[:, 0] <= box[:, 3]
        axis = int(np.argmax(np.ptp(box[has_corners, :3], axis=0))) if has_corners.any() else 0
        order = np.argsort(box[:, axis], kind="stable").astype(np.int32)
        keys, found = np.zeros(16 * count, np.int64), 0
        while (found := near_pairs(box, resting, axis, order, keys)) > len(keys):
            keys = np.zeros(found, np.int64)
        keys = keys[:found]
        if self._ignores.any():
            keys = keys[~self._ignores[keys // count, keys % count]]
        kept = self.manifolds.pair[resting[self.manifolds.pair].all(axis=1)].astype(np.int64)
        both = np.concatenate([keys, kept[:, 0] * count + kept[:, 1]])
        both.sort()
        new = Manifolds.of(np.stack([both // count, both % count], axis=1).astype(np.int32))
        new.take_over(self.manifolds, count)
        self.manifolds = new
        if len(sweep.stale) < len(both):
            self.sweep = sweep._replace(stale=np.zeros(len(both), np.int32))


@kernel
def has_pairs(sweep, poses, radius, speed, resting, time):
    """Whether the pairs are those of all bodies that may come within their thickness in a time [s].

    speed: of each body's fastest point [m/s]; resting: whether it sleeps.
    """
    for body in range(poses.shape[0]):
        if sweep.resting[body] and not resting[body]:
            return False
    return stays_within(poses, sweep.poses, radius, sweep.roam, speed, time)


@kernel
def update_pairs(sweep, shapes, manifolds, poses, matrices, solids, resting, time):
    """Compute the points of pairs anew that have moved too far; pairs of sleeping bodies keep theirs."""
    count = find_stale(sweep, manifolds, poses, solids, resting, time)
    if count == 0:
        return
    sweep.wanted[:] = False
    for k in range(count):
        for side in range(2):
            sweep.wanted[manifolds.pair[sweep.stale[k], side]] = True
    for body in range(poses.shape[0]):
        if sweep.wanted[body]:
            place_shape(shapes, body, poses, matrices, sweep.corners, sweep.normals)
    update_manifolds(count, sweep, shapes, manifolds, poses, matrices, solids.radius)


@kernel
def fit_shapes(corner_start, corners, margin, box):
    """Boxes of all bodies, wider by a margin [m] on each side; lower above upper for one without corners."""
    for body in range(box.shape[0]):
        for axis in range(3):
            box[body, axis], box[body, axis + 3] = math.inf, -math.inf
        for i in range(corner_start[body], corner_start[body + 1]):
            for axis in range(3):
                box[body, axis] = min(box[body, axis], corners[i, axis])
                box[body, axis + 3] = max(box[body, axis + 3], corners[i, axis])
        for axis in range(3):
            box[body, axis] -= margin[body]
            box[body, axis + 3] += margin[body]


@kernel
def near_pairs(box, resting, axis, order, keys):
    """Pairs of bodies, not both resting, whose boxes overlap, as lower * count + higher; `order` sorts them on `axis`.

    Returns their number, which may exceed the room in `keys`.
    """
    count, found = box.shape[0], 0
    second, third = (axis + 1) % 3, (axis + 2) % 3
    for i in range(count):
        a = order[i]
        end = box[a, axis + 3]
        low, high, left, right = box[a, second], box[a, second + 3], box[a, third], box[a, third + 3]
        for j in range(i + 1, count):
            b = order[j]
            if box[b, axis] > end:
                break
            if box[b, second] > high or box[b, second + 3] < low or box[b, third] > right or box[b, third + 3] < left:
                continue
            if resting[a] and resting[b]:
                continue
            if found < keys.shape[0]:
                keys[found] = np.int64(min(a, b)) * count + max(a, b)
            found += 1
    return found


@kernel
def angle_between(p, q):
    """Angle between two poses' orientations [rad]."""
    x = p[3] * q[4] - p[4] * q[3] - p[5] * q[6] + p[6] * q[5]
    y = p[3] * q[5] - p[5] * q[3] - p[6] * q[4] + p[4] * q[6]
    z = p[3] * q[6] - p[6] * q[3] - p[4] * q[5] + p[5] * q[4]
    square = x * x + y * y + z * z
    if square < 1e-4:  # the arcsine is expensive; its series has a relative error below 1e-9
        return math.sqrt(square) * (2.0 + square / 3.0)
    return 2.0 * math.asin(min(1.0, math.sqrt(square)))


@kernel
def distance_between(p, q, radius):
    """Bound of the displacement [m] of a body's points between two poses; radius [m]."""
    move = math.sqrt((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 + (p[2] - q[2]) ** 2)
    return move + radius * angle_between(p, q)


@kernel
def stays_within(poses, before, radius, sweep_margin, speed, time):
    """Whether no point of a body has moved farther than `sweep_margin` [m] less its displacement in a time [s]."""
    for body in range(poses.shape[0]):
        if not distance_between(poses[body], before[body], radius[body]) <= sweep_margin[body] - time * speed[body]:
            return False
    return True


@kernel
def find_stale(sweep, manifolds, poses, solids, resting, time):
    """Note the pairs that moved too far since their points were computed, or are now too fast; returns their number.

    Sets their reach [m]. Pairs of sleeping bodies do not change.
    """
    found, reach, radius, velocity = 0, manifolds.reach, solids.radius, solids.velocity
    for row in range(reach.shape[0]):
        a, b = manifolds.pair[row, 0], manifolds.pair[row, 1]
        if resting[a] and resting[b]:
            continue
        spin_a, spin_b = solids.spin[a], solids.spin[b]
        closing = radius[a] * math.sqrt(dot(spin_a, spin_a)) + radius[b] * math.sqrt(dot(spin_b, spin_b)) + math.sqrt(
            (velocity[a, 0] - velocity[b, 0]) ** 2
            + (velocity[a, 1] - velocity[b, 1]) ** 2
            + (velocity[a, 2] - velocity[b, 2]) ** 2
        )  # fmt: skip
        tolerance = TOLERANCE * min(sweep.size[a], sweep.size[b])
        if reach[row] >= time * closing and moved(poses, a, b, manifolds.seen[row], radius) <= tolerance:
            continue
        reach[row] = 1.5 * time * closing + 0.1 * tolerance
        sweep.stale[found] = row
        found += 1
    return found


@kernel
def update_manifolds(stale_count, sweep, shapes, manifolds, poses, matrices, radius):
    """Compute the points of the pairs that were noted."""
    count, anchor, impulse, seen = manifolds.point_count, manifolds.anchor, manifolds.impulse, manifolds.seen
    polygon, scratch = np.empty((MOST_CORNERS, 3)), np.empty((MOST_CORNERS, 3))
    old_anchor, old_impulse = np.empty((MOST_POINTS, 3)), np.empty((MOST_POINTS, 3))
    for row in sweep.stale[:stale_count]:
        a, b = manifolds.pair[row, 0], manifolds.pair[row, 1]
        tolerance = TOLERANCE * min(sweep.size[a], sweep.size[b])
        for axis in range(7):
            seen[row, 0, axis], seen[row, 1, axis] = poses[a, axis], poses[b, axis]
        margin = sweep.thickness[a] + sweep.thickness[b] + manifolds.reach[row] + tolerance
        away = math.sqrt(
            (poses[a, 0] - poses[b, 0]) ** 2 + (poses[a, 1] - poses[b, 1]) ** 2 + (poses[a, 2] - poses[b, 2]) ** 2
        )
        before = count[row]
        count[row] = 0
        if away > radius[a] + radius[b] + margin:
            continue
        for i in range(before):
            for axis in range(3):
                old_anchor[i, axis], old_impulse[i, axis] = anchor[row, i, 0, axis], impulse[row, i, axis]
        # a slack that prefers faces, with hysteresis
        count[row], manifolds.owner[row] = meet(
            shapes, a, b, poses, matrices, sweep.corners, sweep.normals, margin, 0.25 * tolerance, polygon, scratch,
            anchor[row], manifolds.normal[row],
        )  # fmt: skip
        match_impulses(before, old_anchor, old_impulse, count[row], anchor[row], impulse[row], SAME_POINT * tolerance)


@kernel
def moved(poses, a, b, seen, radius):
    """Bound of the relative displacement of two bodies since `seen` [m]."""
    square = 0.0
    for axis in range(3):
        square += (poses[a, axis] - seen[0, axis] - poses[b, axis] + seen[1, axis]) ** 2
    return (
        math.sqrt(square) + radius[a] * angle_between(poses[a], seen[0]) + radius[b] * angle_between(poses[b], seen[1])
    )


@kernel
def match_impulses(before, old_anchor, old_impulse, count, anchor, impulse, near):
    """Give each new point the impulse of the old one nearest to it on the first body, if that is near enough [m]."""
    for i in range(count):
        best = nearest_anchor(old_anchor, 0, before, anchor[i, 0], near)
        for axis in range(3):
            impulse[i, axis] = old_impulse[best, axis] if best >= 0 else 0.0
        if best >= 0:  # one new point each
            old_anchor[best, 0] = math.inf


@kernel
def nearest_anchor(anchor, first, last, point, reach):
    """Which of the anchors first .. last - 1 is nearest to a point, and nearer than the reach [m]; -1 for none."""
    best, square = -1, reach * reach
    for k in range(first, last):
        away = 0.0
        for axis in range(3):
            away += (anchor[k, axis] - point[axis]) ** 2
        if away < square:
            best, square = k, away
    return best
