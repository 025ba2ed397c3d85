"""Element deletion: what has a torn spring is taken out of the model, as in finite element codes ("erosion").

Elements are the triangles of skins and the cells of solids. A deleted one has no springs, hinges, volume and contact; a
spring whose elements are all deleted is torn, too; masses stay. So a body comes apart where a tear goes across, and
vertices without elements move as free particles. A solid has the outer faces of the cells that are left as its
surface, so the faces of a tear have contact.

The gas of a skin is bounded by its triangles and by a cap across each hole: a strip of triangles between the vertices
of the rim. Net force and torque of a pressure on triangles and caps vanish for each piece of a skin, so the gas neither
pushes pieces apart nor pulls at them; the jet through the hole does (`flow/ticks.py`). A piece whose holes are so wide
that its gas is gone within a tick has none. Flat bodies keep their elements and lose the torn springs alone.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .. import topology
from ..array_types import BoolArray, FloatArray, IntArray
from ..bodies.assembly import contact_surfaces, triangle_fans
from ..bodies.lattice.cells import CELL_TETRAHEDRA, outer_faces
from ..bodies.lattice.springs import PAIRS
from ..energy.hinges import rest_hinges
from ..impulses.ticks import TICK
from ..model import Edges, Model, Surfaces, Tetrahedra
from .pieces import pieces_of

#: Speed of sound in air [m/s]. A piece of a skin holds its gas while sound cannot pass its volume through its holes, as
#: they are at rest, in a tick: a body that takes steps within ticks would feel a sealed bag where there is none.
SOUND = 343.0
#: Places of a rim from which a strip across its hole is tried.
STARTS = 64


class _Gas(NamedTuple):
    """What bounds the gas of torn skins."""

    triangles: IntArray  # of all bodies with gas, with caps, shape (triangle_count, 3)
    caps: IntArray  # shape (cap_count, 3)
    rest_volume: FloatArray  # of each membrane [m^3], 0 without gas or where it is gone


class Deletion:
    """Which elements of a model its torn springs delete; `torn` as in `Keyed`."""

    def __init__(self, model: Model) -> None:
        self._model, surfaces = model, model.surfaces
        skin = slice(0, int(surfaces.body_triangle_start[model.membrane_count]))
        self._triangles, self._body = surfaces.triangles[skin], surfaces.triangle_body[skin]
        #: Spring of each side of the triangles of soft bodies, -1 where it has none, shape (triangle_count, 3).
        self.sides = springs_between(model.edges, self._triangles, np.roll(self._triangles, -1, axis=1))
        is_lattice = np.array([model.is_lattice(body) for body in range(model.membrane_count)], bool)
        self._is_skin, self._is_flat = ~is_lattice[self._body], (model.flat.depth > 0.0)[self._body]
        ends = model.cells[:, PAIRS]
        self._cell_springs = springs_between(model.edges, ends[:, :, 0], ends[:, :, 1])
        self._had = self._elements_of_springs(~self._is_skin, np.zeros(len(model.cells), bool)) > 0
        self._gas: tuple[BoolArray, _Gas] | None = None

    def triangles(self, torn: BoolArray) -> BoolArray:
        """Deleted triangles of skins, among those of all soft bodies, shape (triangle_count,)."""
        return self.holes(torn) & self._is_skin

    def holes(self, torn: BoolArray) -> BoolArray:
        """The same with triangles of flat bodies that have a torn side."""
        return np.asarray(np.append(torn, False)[self.sides].any(axis=1))

    def cells(self, torn: BoolArray) -> BoolArray:
        """Deleted cells of solids, shape (cell_count,)."""
        return np.asarray(np.append(torn, False)[self._cell_springs].any(axis=1))

    def vanished(self, torn: BoolArray) -> BoolArray:
        """Which skins and solids have no element left, shape (membrane_count,)."""
        model, left = self._model, ~self.triangles(torn) & self._is_skin
        owner = model.point_body[model.cells[:, 0]]
        has = np.concatenate([self._body[left], owner[~self.cells(torn)], self._body[self._is_flat]])
        return np.bincount(has, minlength=model.membrane_count) == 0

    def springs(self, torn: BoolArray) -> BoolArray:
        """Torn springs and those without an element, shape (edge_count,)."""
        gone = self._elements_of_springs(self.triangles(torn) | ~self._is_skin, self.cells(torn)) == 0
        return np.asarray(torn | (gone & self._had))

    def _elements_of_springs(self, no_triangle: BoolArray, no_cell: BoolArray) -> IntArray:
        """How many elements each spring has without these."""
        used = np.concatenate([self.sides[~no_triangle].ravel(), self._cell_springs[~no_cell].ravel()])
        return np.bincount(used[used >= 0], minlength=len(self._model.edges.points)).astype(np.int32)

    def pieces_at(self, torn: BoolArray, tetrahedra: IntArray) -> IntArray:
        """Piece that each tetrahedron of the solids belongs to, -1 if it is deleted, shape (tetrahedron_count,)."""
        model, gone = self._model, self.springs(torn)
        one, other = np.triu_indices(4, 1)
        sides = springs_between(model.edges, tetrahedra[:, one], tetrahedra[:, other])
        pieces = pieces_of(model.edges.points[~gone], model.vertex_count)
        return np.where(np.append(gone, False)[sides].any(axis=1), -1, pieces[tetrahedra[:, 0]])

    def openings(self, torn: BoolArray) -> tuple[IntArray, IntArray]:
        """Triangles that gas flows through, shape (opening_count, 3), and the membrane of each.

        They are the caps of skins with gas, and torn triangles of flat bodies.
        """
        corners = np.concatenate([self._gas_of(torn).caps, self._triangles[self.holes(torn) & self._is_flat]])
        return corners, self._model.point_body[corners[:, 0]]

    def _gas_of(self, torn: BoolArray) -> "_Gas":
        """What bounds the gas of the skins."""
        if self._gas is None or self._gas[0] is not torn:  # arrays of `Keyed` never change
            self._gas = torn, self._bounded(torn)
        return self._gas[1]

    def _bounded(self, torn: BoolArray) -> "_Gas":
        model, deleted = self._model, self.triangles(torn)
        count, x = model.vertex_count, model.rest_positions
        skin = topology.fan_triangles(model.fans.vertex_start, model.fans.corners)
        gone = self._triangles[deleted]
        skin = skin[~np.isin(_keys(skin, model.point_count), _keys(gone, model.point_count))]
        is_open = np.zeros(model.membrane_count, bool)
        is_open[self._body[deleted]] = True
        is_open &= model.rest_volume > 0.0
        at_hole = is_open[model.point_body[skin[:, 0]]]
        caps = caps_of(skin[at_hole], x)
        piece = pieces_of(model.edges.points[~self.springs(torn)], count)
        around = np.concatenate([skin[at_hole], caps])
        a, b, c = (x[around[:, corner]] - x[piece[around[:, 0]]] for corner in range(3))
        volume = np.bincount(piece[around[:, 0]], np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0, count)
        area = np.bincount(piece[caps[:, 0]], topology.triangle_areas(x, caps), count)
        is_tight = volume > SOUND * TICK * area
        skin, caps = skin[~at_hole | is_tight[piece[skin[:, 0]]]], caps[is_tight[piece[caps[:, 0]]]]
        is_open[model.point_body[skin[:, 0]]] = False
        return _Gas(np.concatenate([skin, caps]), caps, np.where(is_open, 0.0, model.rest_volume))

    def without(self, torn: BoolArray) -> Model:
        """The model without deleted elements and torn springs; the same object if nothing is torn."""
        if not torn.any():
            return self._model
        model, kept, count = self._model, ~self.springs(torn), self._model.vertex_count
        surfaces = self._surfaces(torn)
        skin = surfaces.triangles[: surfaces.body_triangle_start[model.membrane_count]]
        body = model.point_body[:count]
        modulus = (model.hinge_share * model.bend_modulus)[body]
        hinges = rest_hinges(model.rest_positions, skin, modulus, body, model.edges)
        gas = self._gas_of(torn)
        return replace(
            model,
            surfaces=surfaces,
            edges=Edges._make(each[kept] for each in model.edges),
            edge_damping=model.edge_damping[kept],
            hinges=hinges,
            tetrahedra=self._tetrahedra(self.cells(torn)),
            fans=triangle_fans(gas.triangles, count),
            rest_volume=gas.rest_volume,
        )

    def _surfaces(self, torn: BoolArray) -> Surfaces:
        """Surfaces of what is left."""
        model, surfaces = self._model, self._model.surfaces
        no_cell, no_triangle = self.cells(torn), self.triangles(torn)
        start, owner = surfaces.body_triangle_start, model.point_body[model.cells[:, 0]]
        parts = []
        for body in range(model.body_count):
            own = slice(int(start[body]), int(start[body + 1]))
            part = surfaces.triangles[own]
            if body < model.membrane_count:
                part = part[~no_triangle[own]]
                if no_cell[owner == body].any():
                    left = model.cells[(owner == body) & ~no_cell]
                    part = outer_faces(left[:, CELL_TETRAHEDRA].reshape(-1, 4))
            parts.append(part)
        starts = topology.starts([len(part) for part in parts])
        return contact_surfaces(np.concatenate(parts).astype(np.int32), starts)

    def _tetrahedra(self, no_cell: BoolArray) -> Tetrahedra:
        """Tetrahedra of the cells that are left."""
        model, all_of_them = self._model, self._model.tetrahedra
        if not no_cell.any() or not len(all_of_them.points):
            return all_of_them
        has_volumes = np.zeros(model.membrane_count, bool)
        has_volumes[model.point_body[all_of_them.points[:, 0]]] = True
        left = ~no_cell[has_volumes[model.point_body[model.cells[:, 0]]]]
        corners = np.repeat(left, 8)
        return Tetrahedra(
            points=all_of_them.points[corners],
            rest_volume=all_of_them.rest_volume[corners],
            stiffness=all_of_them.stiffness[corners],
            sum_stiffness=all_of_them.sum_stiffness[left],
        )


def springs_between(edges: Edges, start: IntArray, end: IntArray) -> IntArray:
    """Spring between each pair of points, -1 where there is none, in the shape of `start` and `end`."""
    if not len(edges.points):
        return np.full(start.shape, -1, np.int32)
    span = max(int(edges.points.max()), int(start.max(initial=0)), int(end.max(initial=0))) + 1
    wanted = np.minimum(start, end).astype(np.int64) * span + np.maximum(start, end)
    ends = np.sort(edges.points.astype(np.int64), axis=1)
    key = ends[:, 0] * span + ends[:, 1]
    order = np.argsort(key)
    place = np.minimum(np.searchsorted(key[order], wanted), len(key) - 1)
    found = order[place]
    return np.where(key[found] == wanted, found, -1).astype(np.int32)


def caps_of(triangles: IntArray, x: FloatArray) -> IntArray:
    """Triangles that close a surface: a strip between the vertices of each rim, shape (cap_count, 3).

    `x` [m]: of the `STARTS` places of the rim where the strip may begin it takes the one with the least area there, as
    at the end of a crack.
    """
    caps = [np.zeros((0, 3), np.int64)]
    for rim in _rims(triangles):
        count = len(rim)
        # ends of the strip's rungs: 0, 1, n - 1, 2, n - 2, ...
        rungs = np.array([(k + 1) // 2 if k % 2 else -(k // 2) for k in range(count)])
        strip = np.stack([rungs[:-2], rungs[1:-1], rungs[2:]], axis=1)
        strip[1::2] = strip[1::2, [1, 0, 2]]
        starts = np.unique(np.linspace(0, count - 1, min(count, STARTS)).astype(int))
        tried = np.array(rim)[(starts[:, None, None] + strip) % count]
        areas = topology.triangle_areas(x, tried.reshape(-1, 3)).reshape(len(starts), -1).sum(axis=1)
        caps.append(tried[int(np.argmin(areas))])
    return np.concatenate(caps).astype(np.int32)


def _rims(triangles: IntArray) -> list[list[int]]:
    """Vertices along each rim of a surface, each once, wound so that the surface is closed by what has this winding."""
    start, end = triangles.ravel().astype(np.int64), np.roll(triangles, -1, axis=1).ravel().astype(np.int64)
    span = int(triangles.max(initial=0)) + 1
    is_rim = ~np.isin(end * span + start, start * span + end)
    following: dict[int, list[int]] = {}
    for key in np.sort(end[is_rim] * span + start[is_rim])[::-1].tolist():
        following.setdefault(key // span, []).append(key % span)
    rims = list[list[int]]()
    for first in sorted(following):
        while following[first]:
            trail, place = [first], {first: 0}
            while following[trail[-1]]:
                vertex = following[trail[-1]].pop()
                if vertex in place:  # around: rims that meet in a vertex are rims of their own
                    rims.append(trail[place[vertex] :])
                    for left in trail[place[vertex] + 1 :]:
                        del place[left]
                    del trail[place[vertex] + 1 :]
                else:
                    place[vertex] = len(trail)
                    trail.append(vertex)
    return rims


def _keys(triangles: IntArray, point_count: int) -> IntArray:
    """A number for each triangle, whichever corner is its first; consistently wound ones differ in two corners."""
    lowest = np.argmin(triangles, axis=1)
    rows = np.arange(len(triangles))
    first, second = triangles[rows, lowest].astype(np.int64), triangles[rows, (lowest + 1) % 3].astype(np.int64)
    return np.asarray(first * point_count + second)
