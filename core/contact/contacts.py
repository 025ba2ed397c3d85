"""The one contact record: every solver reads it, every detector writes it.

A contact says that a gap between two sides must stay open. Each side is a weighted mean of points, so
the gap is `normal . sum(weights[s] * x[points[s]])` up to first order, and its gradient with respect to
the position of point `s` is `weights[s] * normal`. Forces are gathered per vertex through a CSR table,
always in the same order, so they do not depend on the thread count.
"""

import numpy as np
from numpy.typing import NDArray

from ..jit import kernel
from ..model import Attachments, FloatArray, IntArray

#: Kinds of contacts (`Contacts.kind`).
POINT_TRIANGLE = 0  # points: the point, then the three corners
EDGE_EDGE = 1  # points: two ends of one edge, two ends of the other
ELEMENT = 2  # no contact but an element of an energy (`energy/elements.py`)
GLUED = 3  # a pair of surfaces that are glued there: never a contact

#: Values of `Contacts.side`.
RIGHT_SIDE = 1
WRONG_SIDE = -1


#: By how much a row of two edges may change its share in a step while it is within the thickness.
SHARE_STEP = 0.1
#: What it may differ from the share wanted, so that what lies still is left alone.
SHARE_SLACK = 0.05

#: What a search writes.
_CONSTANT = (
    "points", "kind", "triangle", "bodies", "thickness", "friction", "side", "facing", "offset", "gap", "edges", "apex",
    "soft", "share",
)  # fmt: skip


class Contacts:
    """Candidates for contact as a struct of arrays; rows `0 .. count - 1` are valid.

    `ContactSearch.search` fills the constant part, `evaluate_gaps` the geometric part. All arrays may be
    replaced by larger ones in a search: fetch them again after it, never keep them.

    Constant between searches; first all points against triangles, sorted by (point, triangle), then, from row
    `edge_start` on, all edges against edges, sorted:
        points (capacity, 4) int32; kind int8; bodies (capacity, 2) int32: body of the point or first edge,
        body of the triangle or second edge; thickness [m]: of both bodies together; friction: Coulomb
        coefficient;
        triangle int32, -1 for edges; side int8: +1 or, for a point that is behind the surface and must
        come back, -1; facing int8: for side -1, +1 if the right side is the one the triangle's normal
        points to, else -1; offset [m]: added to the gap of rows with side -1 (`ContactSearch.recover`), so
        that a point which is deep behind a surface is asked to come back step by step and not at once;
        for edges only: edges (capacity, 2) int32: their numbers, the lower first; apex (capacity, 4) int32:
        the corners opposite the first and the second edge, -1 for none; soft (capacity, 2) bool: whether
        each is a membrane's.

    Changed between steps only: share: how far a row owns its contact, which scales its force; 1 but for edges.

    Written by `evaluate_gaps` for given positions:
        weights (capacity, 4): +1, then minus the barycentric coordinates of the closest point; for edges
        1 - s, s, -(1 - t), -t with s and t the places of the closest points. The positive weights are
        those of bodies[0].
        normal (capacity, 3): unit, from the triangle towards the right side, from the second edge to the first;
        distance [m]: between point and triangle, or edge and edge, of every row; it may be less, never more, for
        edges without a share, whose weights and normals then mean nothing (`whole` in `evaluate_gaps`);
        gap [m]: the same where the row owns the contact, +inf where another row owns it; for side -1 the
        distance, negative behind the surface, plus the offset;
        wanted: for edges, how far the row should own the contact, 0 to 1 (`edge_gaps`);
        feature int8: 0 the face, 1-3 edge (k - 1, k), 4-6 corner k - 4 of the triangle; 0 for edges.

    Over the points that forces move: row entries `4 * contact + slot` of vertex v are
    `vertex_entry[vertex_start[v] : vertex_start[v + 1]]`, ascending.
    """

    __slots__ = (
        "apex",
        "bodies",
        "capacity",
        "count",
        "distance",
        "edge_start",
        "edges",
        "facing",
        "feature",
        "first_element",
        "friction",
        "gap",
        "glued",
        "kind",
        "known_distance",
        "known_x",
        "local",
        "move",
        "normal",
        "offset",
        "points",
        "share",
        "side",
        "soft",
        "thickness",
        "triangle",
        "vertex_entry",
        "vertex_start",
        "wanted",
        "weights",
    )

    def __init__(self, point_count: int, capacity: int = 1024) -> None:
        self.count = 0
        self.first_element = 0  # row of the first element of an energy; they come last
        self.glued: NDArray[np.int64] = np.zeros(0, np.int64)  # rows of kind GLUED
        self.edge_start = 0
        self.known_x: NDArray[np.float64] = np.zeros((0, 3))  # where all edges were measured, empty if nowhere
        self.move: NDArray[np.float64] = np.zeros((0, 3))  # scratch of evaluate_gaps, one per point
        self.vertex_start: NDArray[np.int32] = np.zeros(point_count + 1, np.int32)
        self._allocate(max(capacity, 1))

    def _allocate(self, capacity: int) -> None:
        self.capacity = capacity
        self.forget_edges()
        self.points: NDArray[np.int32] = np.zeros((capacity, 4), np.int32)
        self.kind: NDArray[np.int8] = np.zeros(capacity, np.int8)
        self.triangle: NDArray[np.int32] = np.zeros(capacity, np.int32)
        self.edges: NDArray[np.int32] = np.zeros((capacity, 2), np.int32)
        self.share: NDArray[np.float64] = np.ones(capacity)
        self.wanted: NDArray[np.float64] = np.zeros(capacity)
        self.apex: NDArray[np.int32] = np.zeros((capacity, 4), np.int32)
        self.soft: NDArray[np.bool_] = np.zeros((capacity, 2), np.bool_)
        self.bodies: NDArray[np.int32] = np.zeros((capacity, 2), np.int32)
        self.thickness: NDArray[np.float64] = np.zeros(capacity)
        self.friction: NDArray[np.float64] = np.zeros(capacity)
        self.side: NDArray[np.int8] = np.ones(capacity, np.int8)
        self.facing: NDArray[np.int8] = np.ones(capacity, np.int8)
        self.offset: NDArray[np.float64] = np.zeros(capacity)
        self.feature: NDArray[np.int8] = np.zeros(capacity, np.int8)
        self.local: NDArray[np.int8] = np.zeros(capacity, np.int8)  # scratch of evaluate_gaps
        self.weights: NDArray[np.float64] = np.zeros((capacity, 4))
        self.normal: NDArray[np.float64] = np.zeros((capacity, 3))
        self.distance: NDArray[np.float64] = np.full(capacity, np.inf)
        self.known_distance: NDArray[np.float64] = np.zeros(capacity)  # of edges at known_x [m]
        self.gap: NDArray[np.float64] = np.full(capacity, np.inf)
        self.vertex_entry: NDArray[np.int32] = np.zeros(4 * capacity, np.int32)

    @property
    def point_count(self) -> int:
        """Number of points the CSR table covers: those that forces move."""
        return int(self.vertex_start.shape[0]) - 1

    def reserve(self, count: int) -> None:
        """Make room for `count` rows; when that needs larger arrays, the old rows are forgotten."""
        if count > self.capacity:
            self._allocate(count + count // 2)

    def forget_edges(self) -> None:
        """The next `evaluate_gaps` measures every pair of edges anew."""
        self.known_x = self.known_x[:0]

    def clear(self) -> None:
        """Forget all contacts."""
        self.count = self.edge_start = self.first_element = 0
        self.vertex_start[:] = 0

    def leave_out_glued(self, attachments: Attachments, point_body: IntArray, body_count: int) -> None:
        """Let what is glued not touch what it is glued to, in the rows just searched."""
        found = self.count
        key = np.unique(attachments.points[:, 0].astype(np.int64) * body_count + attachments.body)
        points = self.points[:found]
        body = point_body[points]
        glued = np.zeros(found, dtype=bool)
        for slot in range(4):
            for facing in (0, 3):  # the first and the last slot belong to the two sides
                glued |= np.isin(points[:, slot].astype(np.int64) * body_count + body[:, facing], key)
        self.glued = np.flatnonzero(glued)
        self.kind[self.glued] = GLUED

    def append_elements(self, points: IntArray, weights: FloatArray, point_body: IntArray) -> None:
        """Add rows for the elements of energies behind those just searched: points and weights, shape (n, 4)."""
        found, count = self.count, self.count + len(points)
        if count > self.capacity:
            kept = [(name, getattr(self, name)[:found].copy()) for name in _CONSTANT]
            self._allocate(count + count // 2)
            for name, values in kept:
                getattr(self, name)[:found] = values
        rows = slice(found, count)
        self.first_element, self.count = found, count
        self.points[rows] = points
        self.weights[rows] = weights
        self.kind[rows] = ELEMENT
        self.bodies[rows] = point_body[points[:, [0, 3]]]
        self.triangle[rows] = -1
        self.thickness[rows] = 0.0
        self.friction[rows] = 0.0
        self.side[rows] = RIGHT_SIDE
        self.share[rows] = 1.0
        self.offset[rows] = 0.0
        self.gap[rows] = np.inf
        self.distance[rows] = np.inf
        self.index_vertices()

    def renew_shares(self) -> bool:
        """Bring the shares of edges nearer to those wanted where the gaps were last evaluated; True if that matters."""
        edges = slice(self.edge_start, self.first_element)
        share, wanted = self.share[edges], self.wanted[edges]
        near = self.distance[edges] < self.thickness[edges]
        change = wanted - share
        small = np.abs(change) < SHARE_SLACK
        change = np.where(near, np.where(small, 0.0, np.clip(change, -SHARE_STEP, SHARE_STEP)), change)
        share += change
        return bool(change[near].any())

    def index_vertices(self) -> None:
        """Rebuild the CSR table over moving points from `points`."""
        index_vertices(self.count, self.points, self.vertex_start, self.vertex_entry)


@kernel
def index_vertices(count, points, vertex_start, vertex_entry):
    """Counting sort of the slots that hold moving points; serial, as it is bound by memory."""
    vertex_count = vertex_start.shape[0] - 1
    vertex_start[:] = 0
    for contact in range(count):
        for slot in range(4):
            vertex = points[contact, slot]
            if vertex < vertex_count:
                vertex_start[vertex + 1] += 1
    for vertex in range(vertex_count):
        vertex_start[vertex + 1] += vertex_start[vertex]
    total = vertex_start[vertex_count]
    # Filling from the back leaves every start where it belongs and the entries ascending.
    for contact in range(count - 1, -1, -1):
        for slot in range(3, -1, -1):
            vertex = points[contact, slot]
            if vertex < vertex_count:
                vertex_start[vertex + 1] -= 1
                vertex_entry[vertex_start[vertex + 1]] = 4 * contact + slot
    # Now vertex_start[v + 1] holds the start of v: shift it down by one place.
    for vertex in range(vertex_count):
        vertex_start[vertex] = vertex_start[vertex + 1]
    vertex_start[vertex_count] = total
