"""Numbering of points by patches of a few triangles: neighbours in space are neighbours in memory.

A patch owns a run of vertices, of triangles and of edges. Arrays of points are flat, four numbers each (x, y, z, 0),
and indices into them are four times a point's number: the kernels read them four lanes at a time (`simd.py`).
"""

from typing import NamedTuple

import numpy as np

from ... import topology
from ...array_types import BoolArray, FloatArray, IntArray
from ...latest import keep_latest
from ...model import Model
from ...tiny import TINY

#: Triangles in a patch, at most: one box test then stands for about 16 of a primitive each.
PATCH_SIZE = 16
#: Patches in a group, one box each: the search skips groups whose boxes meet no other.
GROUP_SIZE = 16


class Numbering(NamedTuple):
    """The order of points; bodies keep their ranges (`Model.body_point_start`)."""

    point: IntArray  # the model's number of each of the solver's points, shape (point_count,)
    place: IntArray  # the solver's number of each of the model's points, shape (point_count,)


class Patches(NamedTuple):
    """Patches of the surfaces, body by body. A vertex or an edge belongs to the first patch that it is part of."""

    body: IntArray  # shape (patch_count,)
    body_start: IntArray  # first patch of each body, shape (body_count + 1,)
    vertex_start: IntArray  # first vertex that each patch owns, shape (patch_count,)
    vertex_end: IntArray  # one past the last, shape (patch_count,)
    triangle_start: IntArray  # shape (patch_count + 1,)
    edge_start: IntArray  # shape (patch_count + 1,)
    corner_start: IntArray  # CSR: every vertex of each patch, shape (patch_count + 1,)
    corner: IntArray  # 4 * point
    triangle: IntArray  # flat: three points of each triangle, shape (3 * triangle_count,)
    edge: IntArray  # flat: two points of each edge that can touch edges, shape (2 * edge_count,)


@keep_latest
def lay_out(model: Model) -> tuple[Numbering, Patches]:
    """Number the points of a model by patches."""
    surfaces, body_count = model.surfaces, model.body_count
    point = np.arange(model.point_count, dtype=np.int32)
    place = point.copy()
    parts: dict[str, list[IntArray]] = {name: [] for name in Patches._fields}
    count = 0  # patches so far
    sharp = np.flatnonzero(_in_edge_contact(model))
    sharp_start = np.searchsorted(surfaces.edge_body[sharp], np.arange(body_count + 1))
    for body in range(body_count):
        faces = slice(*surfaces.body_triangle_start[body : body + 2])
        triangles = surfaces.triangles[faces]
        order, start = _split(model.rest_positions[triangles].mean(axis=1))
        triangles = triangles[order]
        first, last = model.body_point_start[body : body + 2]
        seen, at = np.unique(triangles.ravel(), return_index=True)
        own = np.concatenate([seen[np.argsort(at)], np.setdiff1d(np.arange(first, last), seen)])
        point[first:last] = own
        place[own] = np.arange(first, last)
        triangles = place[triangles]
        owner = np.repeat(np.arange(len(start) - 1), np.diff(start))  # patch of each triangle
        vertex_owner = np.full(last - first, len(start) - 1)
        np.minimum.at(vertex_owner, triangles.ravel() - first, np.repeat(owner, 3))
        sharp_edges = surfaces.edges[sharp[slice(*sharp_start[body : body + 2])]]
        edges, edge_owner = _owned_edges(triangles, owner, place[sharp_edges])
        numbers = np.arange(len(start) - 1)
        # of a patch, one after another
        corners = np.unique(np.repeat(owner, 3) * model.point_count + triangles.ravel())
        parts["body"].append(np.full(len(start) - 1, body))
        parts["body_start"].append(np.array([count]))
        parts["vertex_start"].append(first + np.searchsorted(vertex_owner, numbers))
        parts["vertex_end"].append(first + np.searchsorted(vertex_owner, numbers, side="right"))
        parts["triangle_start"].append(np.diff(start))
        parts["edge_start"].append(np.bincount(edge_owner, minlength=len(start) - 1))
        parts["corner_start"].append(np.bincount(corners // model.point_count, minlength=len(start) - 1))
        parts["corner"].append(4 * (corners % model.point_count))
        parts["triangle"].append(triangles.ravel())
        parts["edge"].append(edges.ravel())
        count += len(start) - 1
    parts["body_start"].append(np.array([count]))
    joined = {name: np.concatenate(values).astype(np.int32) for name, values in parts.items()}
    for name in ("triangle_start", "edge_start", "corner_start"):
        joined[name] = np.concatenate([[0], np.cumsum(joined[name])]).astype(np.int32)
    return Numbering(point, place), Patches(**joined)


def _split(middle: FloatArray) -> tuple[IntArray, IntArray]:
    """Order of triangles and starts of patches: parts are halved along the longest side of the box of their middles.

    All parts of one size are split at once.
    """
    count = len(middle)
    order = np.arange(count)
    start = np.array([0, count])
    while count and np.diff(start).max() > PATCH_SIZE:
        low = np.minimum.reduceat(middle[order], start[:-1])
        high = np.maximum.reduceat(middle[order], start[:-1])
        part = np.repeat(np.arange(len(start) - 1), np.diff(start))
        key = middle[order, np.argmax(high - low, axis=1)[part]]
        order = order[np.lexsort((key, part))]
        size = np.diff(start)
        halves = (start[:-1] + size // 2)[size > PATCH_SIZE]
        start = np.sort(np.concatenate([start, halves]))
    return order, start


def _in_edge_contact(model: Model) -> BoolArray:
    """Which edges take part in edge contact: all of what may change its shape, of the others those not flat."""
    surfaces, x = model.surfaces, model.rest_positions
    edges, apex = surfaces.edges, surfaces.edge_apex
    along = x[edges[:, 1]] - x[edges[:, 0]]
    sides = [np.cross(along, x[apex[:, k]] - x[edges[:, 0]]) for k in (0, 1)]
    sides = [side / np.maximum(np.linalg.norm(side, axis=1, keepdims=True), TINY) for side in sides]
    # two triangles in one plane: their normals, both taken from the edge, are opposite
    flat = np.linalg.norm(sides[0] + sides[1], axis=1) < 1e-6
    return np.asarray(~flat | (apex < 0).any(axis=1) | model.deforms[surfaces.edge_body])


def _owned_edges(triangles: IntArray, owner: IntArray, edges: IntArray) -> tuple[IntArray, IntArray]:
    """Edges sorted by the first patch that they are part of, and that patch."""
    every, side = topology.unique_edges(triangles) if len(triangles) else (np.zeros((0, 2), np.int32), np.zeros((0, 3)))
    first = np.full(len(every), len(owner))
    np.minimum.at(first, side.ravel().astype(int), np.repeat(owner, 3))
    base = int(triangles.max(initial=0)) + 1
    low, high = np.sort(edges.astype(np.int64), axis=1).T
    kept = np.isin(every[:, 0].astype(np.int64) * base + every[:, 1], low * base + high)
    every, first = every[kept], first[kept]
    order = np.lexsort((every[:, 1], every[:, 0], first))
    return every[order], first[order]


class Groups(NamedTuple):
    """Runs of patches of one body with a common box, for the first level of the search."""

    start: IntArray  # first patch of each group, shape (group_count + 1,)
    body_start: IntArray  # first group of each body, shape (body_count + 1,)


def group_patches(patches: Patches) -> Groups:
    """Groups of `GROUP_SIZE` consecutive patches, which are neighbours as patches come from halving."""
    starts, body_start = list[int](), [0]
    for first, last in zip(patches.body_start[:-1], patches.body_start[1:], strict=True):
        starts.extend(range(first, last, GROUP_SIZE))
        body_start.append(len(starts))
    starts.append(int(patches.body_start[-1]))
    return Groups(np.array(starts, np.int32), np.array(body_start, np.int32))
