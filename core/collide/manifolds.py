"""Contacts among simple convex bodies, kept while they hold.

The contact points of a pair ("manifold") are stuck to the two bodies: each has an anchor on both, and the normal turns
with the body whose face it belongs to, so the gap of a body that slides over a face stays right. They are found anew
when the two bodies have moved against each other by a share of their size. What a pair's points carry of impulses goes
over to the new points next to them.
"""

import math
from dataclasses import dataclass

import numba
import numpy as np

from ..jit import kernel, parallel_kernel
from ..model import FloatArray, IntArray, Model
from ..rigid.convex import ConvexShapes
from ..state import HeldImpulses
from .partners import Partners
from .separating_axes import MOST_CORNERS, MOST_POINTS, meet, place_shapes

#: Contact points are found anew when a pair has moved by this share of the distance from centre to nearest face.
TOLERANCE = 0.04
#: What a body may move before the pairs are looked for anew: share of its radius, plus what it does in some steps.
ROAM = 0.1
ROAM_STEPS = 8.0
#: Contact points this near to old ones, as a share of TOLERANCE, take over their impulses.
SAME_POINT = 4.0
#: Pairs per unit of parallel work.
CHUNK = 32


@dataclass(slots=True)
class Manifolds:
    """Pairs of bodies (numbers of rigid bodies, the lower one first, ascending) and their contact points."""

    pair: IntArray  # shape (pair_count, 2)
    count: IntArray  # contact points, shape (pair_count,)
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
        """Copy the rows of the pairs that the old ones have too."""
        if len(old.pair) == 0 or len(self.pair) == 0:
            return
        key = old.pair[:, 0].astype(np.int64) * body_count + old.pair[:, 1]
        wanted = self.pair[:, 0].astype(np.int64) * body_count + self.pair[:, 1]
        place = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
        rows = np.flatnonzero(key[place] == wanted)
        for name in ("count", "owner", "anchor", "normal", "impulse", "seen", "reach"):
            getattr(self, name)[rows] = getattr(old, name)[place[rows]]


class ManifoldSearch:
    """Keeps the manifolds of a model's simple bodies."""

    def __init__(self, model: Model, shapes: ConvexShapes) -> None:
        count = model.rigid_count
        self._model, self.shapes = model, shapes
        self._thickness = model.thickness[model.membrane_count : model.moving_count]
        self._size = np.array(
            [
                shapes.offsets[a:b].min(initial=np.inf)
                for a, b in zip(shapes.face_start, shapes.face_start[1:], strict=False)
            ]
        )
        self._corners = np.zeros_like(shapes.corners)
        self._normals = np.zeros_like(shapes.normals)
        self._swept = np.zeros((count, 7))
        self._roam = np.full(count, -np.inf)
        self.manifolds = Manifolds.of(np.zeros((0, 2), np.int32))

    def start(self, held: HeldImpulses) -> None:
        """Find everything anew in the next step, from what the contacts of a state carried."""
        self._roam[:] = -np.inf
        self.manifolds = old = Manifolds.of(held.pair)
        points = held.pair_anchor.shape[1]
        old.count[:] = held.count
        old.anchor[:, :points, 0] = held.pair_anchor
        old.impulse[:, :points] = held.pair_impulse

    def held(self) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Pairs with contact points, their number, anchors on the first body and impulses, for `HeldImpulses`."""
        m = self.manifolds
        rows = np.flatnonzero(m.count)
        return m.pair[rows], m.count[rows], m.anchor[rows, :, 0], m.impulse[rows]

    def update(
        self, poses: FloatArray, matrices: FloatArray, velocity: FloatArray, spin: FloatArray, time: float
    ) -> Manifolds:
        """Manifolds of every pair that may come within its thickness in a time [s] from these poses.

        velocity [m/s] and spin [1/s]: of each body, shape (rigid_count, 3).
        """
        radius = self._model.rigid.radius
        place_shapes(self.shapes, poses, matrices, self._corners, self._normals)
        speed = np.sqrt(np.einsum("ij,ij->i", velocity, velocity))
        speed += radius * np.sqrt(np.einsum("ij,ij->i", spin, spin))
        if not stayed(poses, self._swept, radius, self._roam - time * speed):
            self._sweep(poses, time * speed)
        m = self.manifolds
        update_manifolds(
            self.shapes, poses, matrices, self._corners, self._normals, radius, self._size, self._thickness,
            velocity, spin, time,
            m.pair, m.count, m.owner, m.anchor, m.normal, m.impulse, m.seen, m.reach,
        )  # fmt: skip
        return m

    def _sweep(self, poses: FloatArray, move: FloatArray) -> None:
        count = len(poses)
        self._swept[:] = poses
        self._roam[:] = ROAM * self._model.rigid.radius + ROAM_STEPS * move
        box = np.zeros((count, 6))
        fit_shapes(self.shapes.corner_start, self._corners, box)
        partners = Partners.of(box, self._thickness + self._roam, count)
        first = np.repeat(np.arange(count, dtype=np.int32), np.diff(partners.start))
        kept = first < partners.other
        found = Manifolds.of(np.stack([first[kept], partners.other[kept]], axis=1))
        found.take_over(self.manifolds, count)
        self.manifolds = found


@kernel
def fit_shapes(corner_start, corners, box):
    """Boxes of all bodies; lower above upper for one without corners."""
    for body in range(box.shape[0]):
        for axis in range(3):
            box[body, axis], box[body, axis + 3] = math.inf, -math.inf
        for i in range(corner_start[body], corner_start[body + 1]):
            for axis in range(3):
                box[body, axis] = min(box[body, axis], corners[i, axis])
                box[body, axis + 3] = max(box[body, axis + 3], corners[i, axis])


@kernel
def angle_between(p, q):
    """Angle between two poses' orientations [rad]."""
    x = p[3] * q[4] - p[4] * q[3] - p[5] * q[6] + p[6] * q[5]
    y = p[3] * q[5] - p[5] * q[3] - p[6] * q[4] + p[4] * q[6]
    z = p[3] * q[6] - p[6] * q[3] - p[4] * q[5] + p[5] * q[4]
    return 2.0 * math.asin(min(1.0, math.sqrt(x * x + y * y + z * z)))


@kernel
def distance_between(p, q, radius):
    """How far the points of a body of a radius [m] are apart in two poses, at most."""
    move = math.sqrt((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 + (p[2] - q[2]) ** 2)
    return move + radius * angle_between(p, q)


@kernel
def stayed(poses, before, radius, room):
    """Whether no point of any body has moved by more than its room [m]."""
    for body in range(poses.shape[0]):
        if not distance_between(poses[body], before[body], radius[body]) <= room[body]:
            return False
    return True


@parallel_kernel
def update_manifolds(
    shapes, poses, matrices, corners, normals, radius, size, thickness, velocity, spin, time,
    pair, count, owner, anchor, normal, impulse, seen, reach,
):  # fmt: skip
    """Find the points of every pair that has moved too far since they were found, or gets too fast for them."""
    for chunk in numba.prange((pair.shape[0] + CHUNK - 1) // CHUNK):
        polygon, scratch = np.empty((MOST_CORNERS, 3)), np.empty((MOST_CORNERS, 3))
        old_anchor, old_impulse = np.empty((MOST_POINTS, 3)), np.empty((MOST_POINTS, 3))
        for row in range(chunk * CHUNK, min(pair.shape[0], (chunk + 1) * CHUNK)):
            a, b = pair[row, 0], pair[row, 1]
            closing = radius[a] * norm(spin[a]) + radius[b] * norm(spin[b]) + math.sqrt(
                (velocity[a, 0] - velocity[b, 0]) ** 2
                + (velocity[a, 1] - velocity[b, 1]) ** 2
                + (velocity[a, 2] - velocity[b, 2]) ** 2
            )  # fmt: skip
            tolerance = TOLERANCE * min(size[a], size[b])
            if reach[row] >= time * closing and moved(poses, a, b, seen[row], radius) <= tolerance:
                continue
            reach[row] = 1.5 * time * closing + 0.1 * tolerance
            for axis in range(7):
                seen[row, 0, axis], seen[row, 1, axis] = poses[a, axis], poses[b, axis]
            margin = thickness[a] + thickness[b] + reach[row] + tolerance
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
            # a slack that prefers faces, and hardly changes its mind
            count[row], owner[row] = meet(
                shapes, a, b, poses, matrices, corners, normals, margin, 0.25 * tolerance, polygon, scratch,
                anchor[row], normal[row],
            )  # fmt: skip
            hand_over(before, old_anchor, old_impulse, count[row], anchor[row], impulse[row], SAME_POINT * tolerance)


@kernel
def norm(v):
    """Length of a vector."""
    return math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])


@kernel
def moved(poses, a, b, seen, radius):
    """How far two bodies have moved against each other since `seen` [m], at most."""
    square = 0.0
    for axis in range(3):
        square += (poses[a, axis] - seen[0, axis] - poses[b, axis] + seen[1, axis]) ** 2
    return (
        math.sqrt(square) + radius[a] * angle_between(poses[a], seen[0]) + radius[b] * angle_between(poses[b], seen[1])
    )


@kernel
def hand_over(before, old_anchor, old_impulse, count, anchor, impulse, near):
    """Give each new point the impulse of the old one nearest to it on the first body, if that is near enough [m]."""
    for i in range(count):
        best, square = -1, near * near
        for k in range(before):
            away = 0.0
            for axis in range(3):
                away += (old_anchor[k, axis] - anchor[i, 0, axis]) ** 2
            if away < square:
                best, square = k, away
        for axis in range(3):
            impulse[i, axis] = old_impulse[best, axis] if best >= 0 else 0.0
        if best >= 0:  # one new point each
            old_anchor[best, 0] = math.inf
