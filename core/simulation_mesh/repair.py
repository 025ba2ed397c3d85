"""Repair of what artists draw, so that a closed surface comes of it: doubles, windings, pinched vertices, rims."""

from typing import NamedTuple

import numpy as np

from ..array_types import BoolArray, FloatArray
from ..jit import kernel
from ..topology import grouped
from ..union_find import islands_of
from .surface import Numbers, preceding, set_twins

#: Vertices nearer than this share of the size are one.
WELD = 1e-6


class Mesh(NamedTuple):
    """A triangle mesh, and where the vertices of the one that it comes from went."""

    x: FloatArray  # shape (vertex_count, 3)
    triangles: Numbers  # int64
    vertex: Numbers  # of each given vertex: one of these, -1 for those of no face


def weld(x: FloatArray, triangles: Numbers) -> Mesh:
    """Join vertices at one place; drop faces that have lost a corner, and vertices without faces."""
    place = np.round((x - x.min(axis=0)) / max(float(np.ptp(x, axis=0).max()), 1e-300) / WELD).astype(np.int64)
    _, first, inverse = np.unique(place, axis=0, return_index=True, return_inverse=True)
    vertex = first[inverse.ravel()]  # the first of each place, so that unwelded meshes keep their order
    triangles = vertex[triangles.astype(np.int64)]
    a, b, c = triangles.T
    return kept_faces(Mesh(x, triangles, vertex), (a != b) & (b != c) & (c != a))


def kept_faces(mesh: Mesh, kept: BoolArray) -> Mesh:
    """The mesh of some of the faces, without the vertices that no longer have any."""
    triangles = mesh.triangles[kept]
    used, renumbered = np.unique(triangles, return_inverse=True)
    new = np.full(len(mesh.x), -1)
    new[used] = np.arange(len(used))
    vertex = np.where(mesh.vertex >= 0, new[mesh.vertex], -1)
    return Mesh(mesh.x[used], renumbered.reshape(-1, 3).astype(np.int64), vertex)


def without_doubles(mesh: Mesh) -> Mesh:
    """Without faces on the same three vertices: of two that face alike one stays, of a pair back to back none."""
    order = np.sort(mesh.triangles, axis=1)
    first = mesh.triangles.argmin(axis=1)
    rows = np.arange(len(order))
    forward = mesh.triangles[rows, (first + 1) % 3] == order[:, 1]
    _, group = np.unique(order, axis=0, return_inverse=True)
    net = np.bincount(group.ravel(), np.where(forward, 1, -1))[group.ravel()]
    _, once = np.unique(2 * group.ravel() + forward, return_index=True)
    kept = np.zeros(len(order), bool)
    kept[once] = True
    return kept_faces(mesh, kept & np.where(forward, net > 0, net < 0))


def split_pinched(mesh: Mesh) -> Mesh:
    """Give each fan of faces at a vertex a vertex of its own: fans that touch in a point only are not connected."""
    twin = np.zeros(mesh.triangles.size, np.int64)
    set_twins(mesh.triangles, twin)
    start = np.flatnonzero(twin >= 0)  # corner h is where half-edge h starts
    fan = islands_of(len(twin), start, twin[start] // 3 * 3 + (twin[start] + 1) % 3)
    old = mesh.triangles.ravel()
    _, first, corner = np.unique(fan, return_index=True, return_inverse=True)
    owner = old[first]  # vertex of each fan
    _, primary = np.unique(owner, return_index=True)  # the first fan of each vertex keeps it
    new = np.full(len(owner), -1)
    new[primary] = owner[primary]
    split = np.flatnonzero(new < 0)
    new[split] = len(mesh.x) + np.arange(len(split))
    x = np.concatenate([mesh.x, mesh.x[owner[split]]])
    return Mesh(x, new[corner].reshape(-1, 3), mesh.vertex)


def oriented(mesh: Mesh) -> Mesh:
    """Faces of each part wound alike where that can be, and outwards as a whole.

    Parts that no winding fits, as a Moebius strip, stay as they are.
    """
    flat = mesh.triangles.ravel()
    end = np.roll(mesh.triangles, -1, axis=1).ravel()
    low, high = np.minimum(flat, end), np.maximum(flat, end)
    _, edge = np.unique(low * (int(high.max()) + 1) + high, return_inverse=True)
    start, side = grouped(edge.ravel().astype(np.int32), int(edge.max()) + 1)
    two = np.flatnonzero(np.diff(start) == 2)
    a, b = side[start[two]].astype(np.int64), side[start[two] + 1].astype(np.int64)
    # each face stands for itself, and `count` later for itself turned; joined are those that fit at an edge
    count, same = len(mesh.triangles), flat[a] == flat[b]
    first, second = b // 3 + np.where(same, count, 0), b // 3 + np.where(same, 0, count)
    name = islands_of(2 * count, np.concatenate([a // 3, count + a // 3]), np.concatenate([first, second]))
    turned = name[:count] > name[count:]
    _, part = np.unique(np.minimum(name[:count], name[count:]), return_inverse=True)
    triangles = _turned(mesh.triangles, turned)
    # Parts tell inside from outside by the volume of all; those in others are cavities if they were drawn as such.
    middle = mesh.x.mean(axis=0)
    p, q, r = (mesh.x[triangles[:, corner]] - middle for corner in range(3))
    volume = np.bincount(part, np.einsum("ij,ij->i", p, np.cross(q, r)))
    flipped_by_us = np.bincount(part, turned) > 0
    inward = np.where(flipped_by_us, volume < 0.0, volume[~flipped_by_us].sum() < 0.0)
    return mesh._replace(triangles=_turned(triangles, inward[part]))


def _turned(triangles: Numbers, turned: BoolArray) -> Numbers:
    """Triangles of which some are wound the other way."""
    return np.ascontiguousarray(np.where(turned[:, None], triangles[:, ::-1], triangles))


@kernel
def list_rims(twin, rim, rim_start):
    """Half-edges without twins as closed walks, one after the other; their number, -1 if one does not close.

    The walk runs against the half-edges: from each to the one that ends where it starts.
    """
    done = np.zeros(twin.shape[0], np.bool_)
    count = rims = 0
    rim_start[0] = 0
    for first in range(twin.shape[0]):
        if twin[first] >= 0 or done[first]:
            continue
        h = first
        while not done[h]:
            done[h] = True
            rim[count] = h
            count += 1
            h = preceding(h)
            turns = 0
            while twin[h] >= 0:
                h = preceding(twin[h])
                turns += 1
                if turns > twin.shape[0]:
                    return -1
        if h != first:
            return -1
        rims += 1
        rim_start[rims] = count
    return rims
