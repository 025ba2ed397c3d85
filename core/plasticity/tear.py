"""Tears: springs whose strain exceeds the tear strain of their body break for good.

The strain is relative to the present rest length, so that a body that flows tears only when it is pulled faster than it
creeps. Painted weights lower the limit: between two vertices by their mean. In one tick one new crack of a body begins,
at the spring that is farthest beyond its limit, and cracks grow at springs that share a vertex with a torn one, if none
in their triangles is strained more. The others are relieved first, so a skin that is strained evenly does not turn to
dust (O'Brien and Hodgins 1999 choose the crack by the largest tension). A torn spring, its damper, its hinge and the
tetrahedra around it keep a billionth of what they had, so that no solver needs a case for 0.
"""

import numpy as np

from .. import topology
from ..energy.hinges import hinge_couplings
from ..model import BoolArray, Edges, FloatArray, Hinges, IntArray, Model, Tetrahedra

#: What a torn spring keeps of its stiffness.
LEFT = 1e-9
#: Springs that a vertex keeps at least: the gas would throw what hangs on fewer.
LEAST_HELD = 3


class Tear:
    """Which springs of a model tear."""

    def __init__(self, model: Model) -> None:
        edges, skin = model.edges, slice(0, model.surfaces.body_triangle_start[model.membrane_count])
        self._points = edges.points
        self._drawn = edges.rest_length
        limit = model.plasticity.tear_strain[model.point_body[edges.points[:, 0]]]
        weakness = model.weakness[edges.points].mean(axis=1)
        self._limit = np.where(limit > 0.0, (1.0 - weakness) * limit, np.inf)
        self.triangles = model.surfaces.triangles[skin]
        self.triangle_body = model.surfaces.triangle_body[skin]
        self._body = model.point_body[edges.points[:, 0]]
        self._sides = springs_of_sides(edges, self.triangles, model.point_count)

    def after(self, torn: BoolArray, lengths: FloatArray, x: FloatArray) -> BoolArray:
        """Torn springs at positions x [m], from those before; the same array if none tears.

        `lengths`: rest lengths [m], empty for the drawn ones.
        """
        i, j = self._points.T
        rest = lengths if len(lengths) else self._drawn
        strain = np.where(torn, 0.0, np.linalg.norm(x[i] - x[j], axis=1) / rest - 1.0)
        if not (strain > self._limit).any():
            return torn
        largest = np.append(strain, -np.inf)[self._sides].max(axis=1)
        around = np.append(strain, 0.0)
        np.maximum.at(around, self._sides.ravel(), np.repeat(largest, 3))
        at_crack = np.zeros(len(x), bool)
        at_crack[self._points[torn]] = True
        tears = at_crack[self._points].any(axis=1) & (strain >= around[:-1])
        for body in np.unique(self._body[strain > self._limit]).tolist():
            tears[np.argmax(np.where(self._body == body, strain - self._limit, -np.inf))] = True
        return self._holding(torn, np.flatnonzero(tears & (strain > self._limit)), strain)

    def _holding(self, torn: BoolArray, chosen: IntArray, strain: FloatArray) -> BoolArray:
        """Torn springs with the chosen ones, the most strained first, whose vertices keep enough springs."""
        held = np.bincount(self._points[~torn].ravel(), minlength=int(self._points.max()) + 1)
        after = torn
        for spring in chosen[np.argsort(-strain[chosen], kind="stable")].tolist():
            ends = self._points[spring]
            if held[ends].min() > LEAST_HELD:
                held[ends] -= 1
                after = after.copy() if after is torn else after
                after[spring] = True
        return after

    def holes(self, torn: BoolArray) -> BoolArray:
        """Triangles of all membranes with a torn side, shape (triangle_count,)."""
        return np.asarray(np.append(torn, False)[self._sides].any(axis=1))


def springs_of_sides(edges: Edges, triangles: IntArray, point_count: int) -> IntArray:
    """Spring of each side of triangles, -1 where it has none, shape (triangle_count, 3)."""
    start, end = triangles.astype(np.int64), np.roll(triangles, -1, axis=1).astype(np.int64)
    wanted = np.minimum(start, end) * point_count + np.maximum(start, end)
    ends = np.sort(edges.points.astype(np.int64), axis=1)
    key = ends[:, 0] * point_count + ends[:, 1]
    order = np.argsort(key)
    place = np.minimum(np.searchsorted(key[order], wanted), len(key) - 1)
    found = order[place]
    return np.where(key[found] == wanted, found, -1).astype(np.int32)


def torn_edges(edges: Edges, torn: BoolArray) -> Edges:
    """Springs with the stiffness of the torn ones taken away; `torn` is empty where none can tear."""
    if not torn.any():
        return edges
    return edges._replace(stiffness=np.where(torn, LEFT, 1.0) * edges.stiffness)


def torn_dampers(damping: FloatArray, torn: BoolArray) -> FloatArray:
    """Constants of the dampers along springs [N s/m], next to 0 for the torn ones."""
    return np.asarray(np.where(torn, LEFT, 1.0) * damping) if torn.any() else damping


def torn_tetrahedra(cells: Tetrahedra, edges: Edges, torn: BoolArray, vertex_count: int) -> Tetrahedra:
    """Tetrahedra of lattices with the stiffness of those at torn springs taken away."""
    if not torn.any() or not len(cells.points):
        return cells
    a, b, c, d = cells.points.T
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1), np.stack([b, d, a], axis=1)])
    sides = springs_of_sides(edges, faces, vertex_count)
    is_cut = np.append(torn, False)[sides].any(axis=1).reshape(3, -1).any(axis=0)
    return cells._replace(stiffness=np.where(is_cut, LEFT, 1.0) * cells.stiffness)


def torn_hinges(hinges: Hinges, edges: Edges, torn: BoolArray, vertex_count: int) -> Hinges:
    """Hinges with the stiffness of those on torn springs taken away."""
    if not torn.any() or not len(hinges.points):
        return hinges
    side = springs_of_sides(edges, hinges.points[:, :3], vertex_count)[:, 0]
    stiffness = np.where(np.append(torn, False)[side], LEFT, 1.0) * hinges.stiffness
    weight, flat = hinges.weight, hinges.sharp_place < 0
    start, other, flat_weight = topology.graph(
        *hinge_couplings(hinges.points[flat], weight[flat], stiffness[flat]), vertex_count
    )
    return hinges._replace(
        stiffness=stiffness,
        diagonal=np.bincount(hinges.points.ravel(), (stiffness[:, None] * weight**2).ravel(), vertex_count).astype(
            float
        ),
        flat_start=start,
        flat_other=other,
        flat_weight=flat_weight,
    )
