"""The contact set: candidate pairs with their gaps, normals and weights, for all searches and implicit steps.

A contact is a gap between two sides, each a weighted mean of points. To first order the gap is
`normal . sum(weights[s] * x[points[s]])`; its gradient with respect to point `s` is `weights[s] * normal`. Forces are
gathered per vertex through a CSR table in a fixed order, so they do not depend on the thread count.
"""

import numpy as np
from numpy.typing import NDArray

from ..jit import kernel
from ..model import FloatArray, IntArray

#: Kinds of contacts (`Contacts.kind`): a point and the three corners of a triangle; the ends of one edge, and those of
#: another; an element of an energy (`energy/elements.py`), which shares the arrays; surfaces that are attached to each
#: other there, or cross: not a contact.
POINT_TRIANGLE, EDGE_EDGE, ELEMENT, EXCLUDED = range(4)

#: Values of `Contacts.side`.
RIGHT_SIDE = 1
WRONG_SIDE = -1

#: Fields that a search writes: of every row, and of edges.
_CONSTANT = ("points", "kind", "triangle", "bodies", "thickness", "friction", "side", "facing")
_OF_EDGES = ("edges", "apex", "soft")


class Contacts:
    """Candidate pairs as a struct of arrays; rows `0 .. count - 1` are valid.

    `ContactSearch.search` fills the constant part, `evaluate_gaps` the geometric part. A search may replace all arrays
    by larger ones: do not keep references to them.

    Constant between searches; first all vertex-triangle pairs, sorted by (point, triangle), then, from row `edge_start`
    on, all edge-edge pairs, sorted:
        points (capacity, 4) int32; kind int8; bodies (capacity, 2) int32: body of the point or first edge,
        body of the triangle or second edge; thickness [m]: of both bodies together; friction: Coulomb
        coefficient;
        triangle int32, -1 for edges; side int8: +1, or -1 for a point on the wrong side of the surface;
        facing int8: for side -1, +1 if the right side is the one the triangle's normal points to, else -1;
        for edges only: edges (capacity, 2) int32: their numbers, the lower first; apex (capacity, 4) int32:
        the corners opposite the first and the second edge, -1 for none; soft (capacity, 2) bool: whether
        each belongs to a membrane.

    Changed between steps only: contact_weight: factor of the contact's energy, 0 to 1; 1 for points against triangles.

    Written by `evaluate_gaps` for given positions:
        weights (capacity, 4): +1, then minus the barycentric coordinates of the closest point; for edges
        1 - s, s, -(1 - t), -t with s and t the parameters of the closest points. The positive weights are
        those of bodies[0].
        normal (capacity, 3): unit, from the triangle towards the right side, from the second edge to the first;
        distance [m]: between point and triangle, or edge and edge, of every row; a lower bound for edges of contact
        weight 0, whose weights and normals are then undefined (`whole` in `evaluate_gaps`);
        gap [m]: the same where the row owns the contact, +inf where another row owns it; for side -1 the signed
        distance;
        target_weight: for edges, the contact weight that the geometry asks for, 0 to 1 (`narrow_phase.edge_edge`);
        feature int8: 0 the face, 1-3 edge (k - 1, k), 4-6 corner k - 4 of the triangle; 0 for edges.

    CSR over moving points: entries `4 * contact + slot` of vertex v are
    `vertex_entry[vertex_start[v] : vertex_start[v + 1]]`, ascending.
    """

    __slots__ = (
        "apex",
        "bodies",
        "capacity",
        "contact_weight",
        "count",
        "distance",
        "edge_start",
        "edges",
        "excluded",
        "facing",
        "feature",
        "first_element",
        "friction",
        "gap",
        "kind",
        "known_distance",
        "known_x",
        "local",
        "move",
        "normal",
        "points",
        "side",
        "soft",
        "target_weight",
        "thickness",
        "triangle",
        "vertex_entry",
        "vertex_start",
        "weights",
    )

    def __init__(self, point_count: int, capacity: int = 1024) -> None:
        self.count = 0
        self.first_element = 0  # row of the first element of an energy; they come last
        self.excluded: NDArray[np.int64] = np.zeros(0, np.int64)  # rows of kind EXCLUDED
        self.edge_start = 0
        self.known_x: NDArray[np.float64] = np.zeros((0, 3))  # positions at which all edges were measured, or empty
        self.move: NDArray[np.float64] = np.zeros((0, 3))  # scratch of evaluate_gaps, one per point
        self.vertex_start: NDArray[np.int32] = np.zeros(point_count + 1, np.int32)
        self._allocate(max(capacity, 1))

    def _allocate(self, capacity: int) -> None:
        self.capacity = capacity
        self.invalidate_edges()
        self.points: NDArray[np.int32] = np.zeros((capacity, 4), np.int32)
        self.kind: NDArray[np.int8] = np.zeros(capacity, np.int8)
        self.triangle: NDArray[np.int32] = np.zeros(capacity, np.int32)
        self.edges: NDArray[np.int32] = np.zeros((capacity, 2), np.int32)
        self.contact_weight: NDArray[np.float64] = np.ones(capacity)
        self.target_weight: NDArray[np.float64] = np.zeros(capacity)
        self.apex: NDArray[np.int32] = np.zeros((capacity, 4), np.int32)
        self.soft: NDArray[np.bool_] = np.zeros((capacity, 2), np.bool_)
        self.bodies: NDArray[np.int32] = np.zeros((capacity, 2), np.int32)
        self.thickness: NDArray[np.float64] = np.zeros(capacity)
        self.friction: NDArray[np.float64] = np.zeros(capacity)
        self.side: NDArray[np.int8] = np.ones(capacity, np.int8)
        self.facing: NDArray[np.int8] = np.ones(capacity, np.int8)
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
        """Number of moving points, which the CSR table covers."""
        return int(self.vertex_start.shape[0]) - 1

    def reserve(self, count: int) -> None:
        """Make room for `count` rows; where that needs larger arrays, the old rows are lost."""
        if count > self.capacity:
            self._allocate(count + count // 2)

    def invalidate_edges(self) -> None:
        """Let the next `evaluate_gaps` measure every pair of edges anew."""
        self.known_x = self.known_x[:0]

    def clear(self) -> None:
        """Remove all rows."""
        self.count = self.edge_start = self.first_element = 0
        self.vertex_start[:] = 0

    def copy_rows(self, other: "Contacts", rows: NDArray[np.int64]) -> None:
        """Take these rows, ascending, of another contact set in place of all others: what a search writes of them."""
        count = len(rows)
        self.reserve(count)
        self.count = self.first_element = count
        self.edge_start = first = int(np.searchsorted(rows, other.edge_start))
        self.excluded = self.excluded[:0]
        self.invalidate_edges()
        for name in _CONSTANT:
            getattr(self, name)[:count] = getattr(other, name)[rows]
        for name in _OF_EDGES:
            getattr(self, name)[first:count] = getattr(other, name)[rows[first:]]
        self.index_vertices()

    def exclude(self, pairs: IntArray, point_body: IntArray, body_count: int) -> None:
        """Mark rows of a point and a body as EXCLUDED, in the rows just searched; `pairs` of them, shape (n, 2)."""
        found = self.count
        key = np.unique(pairs[:, 0].astype(np.int64) * body_count + pairs[:, 1])
        points = self.points[:found]
        body = point_body[points]
        excluded = np.zeros(found, dtype=bool)
        for slot in range(4):
            for facing in (0, 3):  # the first and the last slot belong to the two sides
                excluded |= np.isin(points[:, slot].astype(np.int64) * body_count + body[:, facing], key)
        self.excluded = np.flatnonzero(excluded)
        self.kind[self.excluded] = EXCLUDED

    def append_elements(self, points: IntArray, weights: FloatArray, point_body: IntArray) -> None:
        """Append rows for the elements of energies: points and weights, shape (n, 4)."""
        found, count = self.count, self.count + len(points)
        if count > self.capacity:
            kept = [(name, getattr(self, name)[:found].copy()) for name in _CONSTANT + _OF_EDGES]
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
        self.contact_weight[rows] = 1.0
        self.gap[rows] = np.inf
        self.distance[rows] = np.inf
        self.index_vertices()

    def index_vertices(self) -> None:
        """Rebuild the CSR table over moving points from `points`."""
        index_vertices(self.count, self.points, self.vertex_start, self.vertex_entry)


@kernel
def index_vertices(count, points, vertex_start, vertex_entry):
    """Counting sort of the slots that hold moving points; serial, as it is memory-bound."""
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
