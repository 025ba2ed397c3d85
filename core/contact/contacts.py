"""The contact set of one search: candidate pairs with their gaps, normals and weights.

A contact is a gap between two sides, each a weighted mean of points. To first order the gap is
`normal . sum(weights[s] * x[points[s]])`; its gradient with respect to point `s` is `weights[s] * normal`.
"""

import numpy as np
from numpy.typing import NDArray

#: Values of `Contacts.side`.
RIGHT_SIDE = 1
WRONG_SIDE = -1


class Contacts:
    """Candidate pairs as a struct of arrays; rows `0 .. count - 1` are valid.

    `ContactSearch.search` fills the constant part, `evaluate_gaps` the geometric part. A search may replace all arrays
    by larger ones: do not keep references to them.

    Constant between searches; first all vertex-triangle pairs, sorted by (point, triangle), then, from row `edge_start`
    on, all edge-edge pairs, sorted:
        points (capacity, 4) int32: a point and the corners of a triangle, or the ends of two edges; bodies (capacity,
        2) int32: body of the point or first edge, body of the triangle or second edge; thickness [m]: of both bodies
        together;
        triangle int32, -1 for edges; side int8: +1, or -1 for a point on the wrong side of the surface;
        facing int8: for side -1, +1 if the right side is the one the triangle's normal points to, else -1;
        for edges only: edges (capacity, 2) int32: their numbers, the lower first; apex (capacity, 4) int32:
        the corners opposite the first and the second edge, -1 for none; soft (capacity, 2) bool: whether
        each belongs to a membrane.

    Written by `evaluate_gaps` for given positions:
        weights (capacity, 4): +1, then minus the barycentric coordinates of the closest point; for edges
        1 - s, s, -(1 - t), -t with s and t the parameters of the closest points. The positive weights are
        those of bodies[0].
        normal (capacity, 3): unit, from the triangle towards the right side, from the second edge to the first;
        distance [m]: between point and triangle, or edge and edge, of every row;
        gap [m]: the same where the row owns the contact, +inf where another row owns it; for side -1 the signed
        distance;
        target_weight: for edges, the weight of the contact that the geometry asks for, 0 to 1
        (`narrow_phase.edge_edge`);
        feature int8: 0 the face, 1-3 edge (k - 1, k), 4-6 corner k - 4 of the triangle; 0 for edges.
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
        "gap",
        "local",
        "normal",
        "points",
        "side",
        "soft",
        "target_weight",
        "thickness",
        "triangle",
        "weights",
    )

    def __init__(self, capacity: int = 1024) -> None:
        self.count = 0
        self.edge_start = 0
        self._allocate(max(capacity, 1))

    def _allocate(self, capacity: int) -> None:
        self.capacity = capacity
        self.points: NDArray[np.int32] = np.zeros((capacity, 4), np.int32)
        self.triangle: NDArray[np.int32] = np.zeros(capacity, np.int32)
        self.edges: NDArray[np.int32] = np.zeros((capacity, 2), np.int32)
        self.target_weight: NDArray[np.float64] = np.zeros(capacity)
        self.apex: NDArray[np.int32] = np.zeros((capacity, 4), np.int32)
        self.soft: NDArray[np.bool_] = np.zeros((capacity, 2), np.bool_)
        self.bodies: NDArray[np.int32] = np.zeros((capacity, 2), np.int32)
        self.thickness: NDArray[np.float64] = np.zeros(capacity)
        self.side: NDArray[np.int8] = np.ones(capacity, np.int8)
        self.facing: NDArray[np.int8] = np.ones(capacity, np.int8)
        self.feature: NDArray[np.int8] = np.zeros(capacity, np.int8)
        self.local: NDArray[np.int8] = np.zeros(capacity, np.int8)  # scratch of evaluate_gaps
        self.weights: NDArray[np.float64] = np.zeros((capacity, 4))
        self.normal: NDArray[np.float64] = np.zeros((capacity, 3))
        self.distance: NDArray[np.float64] = np.full(capacity, np.inf)
        self.gap: NDArray[np.float64] = np.full(capacity, np.inf)

    def reserve(self, count: int) -> None:
        """Make room for `count` rows; where that needs larger arrays, the old rows are lost."""
        if count > self.capacity:
            self._allocate(count + count // 2)

    def clear(self) -> None:
        """Remove all rows."""
        self.count = self.edge_start = 0
