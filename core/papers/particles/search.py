"""Which features of the moving bodies collide, as Martin 2009, 5, finds them.

    broad phase     spheres about the centres of the boxes around the bodies (5.1)
    two skins       particles that migrate to where the two are near, one list per pair; then the feature tests of every
                    two particles that are near each other (5.2.1). What no particle rests on is missed.
    skin and solid  vertices of each inside the other (5.2.2)
    two solids      separating axes where both are simple (5.2.3), else vertices of each inside the other

Contacts with colliders, and of a skin with itself, are no part of it: the paper has a ground plane only.
"""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ...array_types import BoolArray, FloatArray, IntArray
from ...bodies.rigid.convex import ConvexShapes, convex_shapes
from ...bodies.rigid.motion import set_matrices
from ...contact.narrow_phase.separating_axes import MOST_CORNERS, MOST_POINTS, meet, place_shapes
from ...jit import kernel
from ...model import Model
from ...options import DEFAULTS, MethodOptions
from .feature_tests import NUMBERS, features_meet, set_numbers, set_side
from .graph import feature_graph
from .inside import vertices_inside
from .migrate import migrate

#: Of points of two solids nearer than this share of the smaller radius one is kept.
SAME_POINT = 1e-3
#: Seed of the places where particles start; with it the numbers of the two bodies.
SEED = 2009


class Hits(NamedTuple):
    """Features that collide; rows 0 .. count - 1, see `feature_tests`."""

    points: Any  # int32, slots 0 to 2 on the side that the normal points to, 3 to 5 on the other, shape (capacity, 6)
    weights: Any  # summing to 1 and to -1, shape (capacity, 6)
    numbers: Any  # normal, gap [m], whether it pushes, place [m], shape (capacity, NUMBERS)

    @staticmethod
    def room(capacity: int) -> "Hits":
        """For so many rows."""
        return Hits(np.zeros((capacity, 6), np.int32), np.zeros((capacity, 6)), np.zeros((capacity, NUMBERS)))


class ParticleSearch:
    """Finds the hits among the moving bodies of a model.

    `features`: where the particles are, pair by pair; `radius` of each body at rest [m]; `skin`: thickness as a share
    of it; `hits`, of which the first `count` rows are valid.
    """

    def __init__(self, model: Model, options: MethodOptions = DEFAULTS) -> None:
        self._model = model
        self.skin, self._attraction = options.particle_skin, options.particle_attraction
        self._graph = feature_graph(model)
        self._shapes: ConvexShapes = convex_shapes(model)
        self._convex = np.concatenate([np.zeros(model.membrane_count, dtype=bool), self._shapes.simple])
        self._corners = np.zeros_like(self._shapes.corners)
        self._normals = np.zeros_like(self._shapes.normals)
        self._matrices = np.zeros((model.rigid_count, 3, 3))
        self._apart: BoolArray = model.ignores.copy()  # pairs of bodies that do not touch: nor do attached ones
        self._apart[model.point_body[model.attachments.points[:, 0]], model.attachments.body] = True
        self._apart |= self._apart.T
        self.radius: FloatArray = 0.5 * boxes(model, model.rest_positions)[1].max(axis=1)  # of a ball its radius
        self._start = _particle_starts(model, self._graph.vertex_feature, options.particles_per_vertex)
        self.features = self.start_features()
        self._places = np.zeros((len(self.features), 3))
        self.hits = Hits.room(256)
        self.count = 0

    def start_features(self) -> IntArray:
        """Where particles start: at random, the same for the same bodies."""
        skins, start = self._model.membrane_count, self._graph.body_start
        places = [np.zeros(0, np.int32)]
        for row, (a, b) in enumerate(combinations(range(skins), 2)):
            random = np.random.default_rng((SEED, a, b))
            for body, count in zip((a, b), np.diff(self._start[row]), strict=True):
                places.append(random.integers(start[body], start[body + 1], count).astype(np.int32))
        return np.concatenate(places)

    def find(self, x: FloatArray, poses: FloatArray) -> int:
        """Look for hits at x [m], all points, and the rigid bodies' poses; returns their number, in `hits`."""
        before, model = self.features.copy(), self._model
        centre, sides = boxes(model, x)
        radius = 0.5 * np.sqrt(np.einsum("bi,bi->b", sides, sides))  # of the sphere around the box (5.1)
        if model.rigid_count:
            set_matrices(poses, self._matrices)
            place_shapes(self._shapes, poses, self._matrices, self._corners, self._normals)
        while True:
            self.count = self._find(x, poses, centre, radius)
            if self.count <= len(self.hits.points):
                return self.count
            self.hits = Hits.room(2 * self.count)
            self.features[:] = before

    def _find(self, x: FloatArray, poses: FloatArray, centre: FloatArray, radius: FloatArray) -> int:
        model, hits, count = self._model, self.hits, 0
        skins, bodies = model.membrane_count, model.moving_count
        triangles, first = model.surfaces.triangles, model.surfaces.body_triangle_start
        pair = 0
        for a in range(bodies):
            for b in range(a + 1, bodies):
                row = pair
                pair += b < skins
                skin = 0.5 * self.skin * (self.radius[a] + self.radius[b]) if b < skins else 0.0
                apart = float(np.linalg.norm(centre[a] - centre[b]))
                if apart > radius[a] + radius[b] + 2.0 * skin or self._apart[a, b]:
                    continue
                if b < skins:
                    start, middle, end = (int(k) for k in self._start[row])
                    size, places = self.radius[a], self._places
                    migrate(x, self._graph, start, middle, end, size, self._attraction, self.features, places)
                    count = compare(x, self._graph, start, middle, end, skin, self.features, places, count, *hits)
                elif a >= skins and self._shapes.simple[a - skins] and self._shapes.simple[b - skins]:
                    count = solids_meet(
                        self._shapes, a - skins, b - skins, poses, self._matrices, self._corners, self._normals,
                        SAME_POINT * min(self.radius[a], self.radius[b]), model.rigid.point_start, count,
                        *hits,
                    )  # fmt: skip
                else:
                    for inner, outer in ((a, b), (b, a)):
                        count = vertices_inside(
                            x, *self._own_points(inner), triangles, first[outer], first[outer + 1], self._convex[outer],
                            count, *hits,
                        )  # fmt: skip
        return count

    def _own_points(self, body: int) -> tuple[int, int]:
        """First point of a body and the one after its last, without what is attached to a rigid one."""
        model = self._model
        first, last = model.body_point_start[body], model.body_point_start[body + 1]
        if body >= model.membrane_count:
            last = first + model.rigid.vertex_count[body - model.membrane_count]
        return int(first), int(last)


def boxes(model: Model, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Centre and sides of the box around each moving body [m]."""
    start, points = model.body_point_start[: model.moving_count], x[: model.moving_point_count]
    if len(start) == 0:
        return np.zeros((0, 3)), np.zeros((0, 3))
    low, high = np.minimum.reduceat(points, start), np.maximum.reduceat(points, start)
    return 0.5 * (low + high), high - low


def _particle_starts(model: Model, vertex_feature: IntArray, per_vertex: float) -> IntArray:
    """First, middle and end row of each pair of skins: particles of the first body, then of the second."""
    own = model.point_body[: model.vertex_count][vertex_feature >= 0]
    vertices = np.bincount(own, minlength=model.membrane_count)
    count = np.maximum((per_vertex * vertices).astype(np.int32), 1)
    rows, total = [], 0
    for a, b in combinations(range(model.membrane_count), 2):
        rows.append((total, total + count[a], total + count[a] + count[b]))
        total += int(count[a] + count[b])
    return np.array(rows, np.int32).reshape(-1, 3)


@kernel
def reach(x, graph, feature, px, py, pz):
    """How far the points of a feature are from its place [m]."""
    most = 0.0
    for k in range(graph.order[feature]):
        i = graph.corners[feature, k]
        square = (x[i, 0] - px) ** 2 + (x[i, 1] - py) ** 2 + (x[i, 2] - pz) ** 2
        most = max(most, square)
    return most**0.5


@kernel
def compare(x, graph, start, middle, end, skin, features, places, count, points, weights, numbers):
    """Test the features of every two near particles of a pair of skins; returns the number of all hits.

    A feature on which several particles rest counts once. The hits may exceed the room.
    """
    for k in range(start, middle):
        if seen(features, start, k):
            continue
        px, py, pz = places[k, 0], places[k, 1], places[k, 2]
        own = reach(x, graph, features[k], px, py, pz)
        for m in range(middle, end):
            qx, qy, qz = places[m, 0], places[m, 1], places[m, 2]
            square = (px - qx) ** 2 + (py - qy) ** 2 + (pz - qz) ** 2
            far = own + reach(x, graph, features[m], qx, qy, qz) + 2.0 * skin
            if square > far * far or seen(features, middle, m):
                continue
            row = min(count, points.shape[0] - 1)
            if count < points.shape[0]:
                count += features_meet(
                    x, graph, features[k], features[m], skin, points[row], weights[row], numbers[row]
                )
            else:
                count += 1
    return count


@kernel
def seen(features, first, k):
    """Whether an earlier row than k has the same feature."""
    for i in range(first, k):
        if features[i] == features[k]:
            return True
    return False


@kernel
def solids_meet(shapes, a, b, poses, matrices, corners, normals, slack, point_start, count, points, weights, numbers):
    """The hit of two convex bodies that overlap, by separating axes; returns the number of all hits.

    It lies at the mean of the points where they meet, as deep as the deepest, and names any point of each body: the
    bodies move as wholes at its place.
    """
    polygon, scratch = np.zeros((MOST_CORNERS, 3)), np.zeros((MOST_CORNERS, 3))
    anchor, normal, middle = np.zeros((MOST_POINTS, 2, 3)), np.zeros(3), np.zeros(3)
    found, owner = meet(shapes, a, b, poses, matrices, corners, normals, 0.0, slack, polygon, scratch, anchor, normal)
    if found == 0:
        return count
    m = matrices[a if owner == 0 else b]
    nx = m[0, 0] * normal[0] + m[0, 1] * normal[1] + m[0, 2] * normal[2]
    ny = m[1, 0] * normal[0] + m[1, 1] * normal[1] + m[1, 2] * normal[2]
    nz = m[2, 0] * normal[0] + m[2, 1] * normal[1] + m[2, 2] * normal[2]
    least = 0.0
    for i in range(found):
        gap = 0.0
        for axis in range(3):
            p, q = poses[a, axis], poses[b, axis]
            for k in range(3):
                p += matrices[a, axis, k] * anchor[i, 0, k]
                q += matrices[b, axis, k] * anchor[i, 1, k]
            middle[axis] += 0.5 * (p + q) / found
            gap += (q - p) * (nx if axis == 0 else (ny if axis == 1 else nz))
        least = min(least, gap)
    if count < points.shape[0]:
        p, q = point_start[b], point_start[a]
        set_side(points[count], weights[count], 0, p, p, p, 1, 1.0)
        set_side(points[count], weights[count], 3, q, q, q, 1, -1.0)
        set_numbers(numbers[count], nx, ny, nz, least, 1.0, middle[0], middle[1], middle[2])
    return count + 1
