"""Parts of a mesh that are not closed, or that cross, wrapped; others stay as they are drawn."""

import numpy as np

from ..array_types import FloatArray
from ..topology import signed_volume, triangle_areas
from .crossings import without_crossings
from .nearest import nearest_triangles
from .parts import part_names, united
from .rays import set_thickness, surface_of
from .remesh import Remeshed
from .repair import Mesh, split_pinched
from .surface import Numbers, is_closed
from .wrap import CELLS, CLOSING, DISTANCE, wrap

#: A part is taken as a sheet if it encloses less than this times its area to the power 3/2; a sphere has 0.094.
FLAT_VOLUME = 1e-3

#: Parts of which one is wrapped become one where they are nearer to each other than this share of the whole size.
GAP = 2.0 * CLOSING / CELLS
#: Rays of a wrapped body look this many distances of the wrap far: thicker parts are as good as any.
THICK = 8.0
#: Walls around sheets are so thick, in sides of the even mesh: of thinner ones triangles across the rim are slivers.
WALL = 0.4
#: Vertices nearer than this to what is drawn are on it [size].
TOUCHING = 1e-9


def open_groups(mesh: Mesh, part: Numbers, group: Numbers) -> set[int]:
    """The groups of parts that have a rim, enclose no more than a sheet, or are of several parts."""
    several = {int(name) for name in np.unique(group[part != group])}
    found = set[int]()
    for name in np.unique(group).tolist():
        own = mesh.triangles[group == name]
        if name in several or not is_closed(own):
            found.add(name)
        elif abs(signed_volume(mesh.x, own)) <= FLAT_VOLUME * triangle_areas(mesh.x, own).sum() ** 1.5:
            found.add(name)
    return found


def wrapped_parts(mesh: Mesh) -> tuple[Mesh, FloatArray, int]:
    """The mesh with each group of parts that is not one closed surface wrapped, together with what is near to it.

    Returns also the distance of the wrap at each vertex, 0 of what stays as drawn, and how many gaps are closed.
    """
    part = part_names(mesh.triangles, len(mesh.x))
    group = united(mesh.x, mesh.triangles, part)
    names, number = np.unique(group, return_inverse=True)
    reach = np.where(np.isin(names, list(open_groups(mesh, part, group))), CLOSING, 0.0)
    has_joined = np.zeros(len(names), bool)
    while len(reach) > 1:
        made, owner = _put_together(mesh, number, reach)
        joined = _joined(made, owner, len(reach))
        _, new = np.unique(joined, return_inverse=True)
        if new.max() + 1 == len(reach):
            break
        number, has_joined = new[number], np.bincount(new, has_joined) + (np.bincount(new) > 1) > 0
        reach = np.where(has_joined | (np.bincount(new, reach) > 0.0), CLOSING, 0.0)
    reach[(reach > 0.0) & ~has_joined] = DISTANCE
    made, owner = _put_together(mesh, number, reach)
    distances = np.zeros(len(made.x))
    distances[made.triangles] = reach[owner][:, None] / CELLS * float(np.ptp(mesh.x, axis=0).max())
    return made, distances, len(names) - len(reach)


def _put_together(mesh: Mesh, number: Numbers, reach: FloatArray) -> tuple[Mesh, Numbers]:
    """Each group of triangles as drawn, or wrapped at its distance [cells]; also the group of each new triangle."""
    cell = float(np.ptp(mesh.x, axis=0).max()) / CELLS
    places, faces, vertex, first = list[FloatArray](), list[Numbers](), np.full(len(mesh.vertex), -1), 0
    for k, distance in enumerate(reach.tolist()):
        own = mesh.triangles[number == k]
        if distance > 0.0:
            place, corners = wrap(mesh.x, own, cell, distance)
        else:
            used, corners = np.unique(own, return_inverse=True)
            place, corners = mesh.x[used], corners.reshape(-1, 3)
            new = np.full(len(mesh.x) + 1, -1)
            new[used] = first + np.arange(len(used))
            vertex = np.maximum(vertex, new[mesh.vertex])
        places.append(place)
        faces.append(first + corners)
        first += len(place)
    made = split_pinched(Mesh(np.concatenate(places), np.concatenate(faces).astype(np.int64), vertex))
    return made, np.repeat(np.arange(len(reach)), [len(each) for each in faces])


def _joined(made: Mesh, owner: Numbers, count: int) -> Numbers:
    """Of each of so many groups the lowest one whose surface it crosses, or lies in, also by others."""
    part = part_names(made.triangles, len(made.x))
    group, joined = united(made.x, made.triangles, part), np.arange(count)
    for name in np.unique(group[part != group]).tolist():
        met = joined[np.unique(owner[group == name])]
        joined[np.isin(joined, met)] = met.min()
    return joined


def nearer(made: Remeshed, distances: FloatArray, drawn: Mesh) -> FloatArray:
    """Wraps moved towards what is drawn: onto it where that is thick, to within half a wall of it where thin.

    `distances`: of the wrap, at the vertices before remeshing.
    """
    x, triangles = made.x, made.triangles.astype(np.int64)
    side = float(np.linalg.norm(x[triangles] - x[np.roll(triangles, -1, axis=1)], axis=2).mean())
    face, weights = nearest_triangles(x, np.zeros_like(x), drawn.x, drawn.triangles, side)
    off = x - np.einsum("ik,ikx->ix", weights, drawn.x[drawn.triangles[face]])
    length = np.maximum(np.linalg.norm(off, axis=1), TOUCHING)
    away, thickness = off / length[:, None], np.zeros(len(x))
    set_thickness(surface_of(x, made.triangles), x, away, 1, False, THICK * float(distances.max()), thickness)
    part, known = part_names(triangles, len(x)), np.flatnonzero(made.face >= 0)
    is_wrapped = np.isin(part, part[made.face[known[distances[known] > 0.0]]])
    fixed = np.ones(len(x), bool)
    fixed[triangles[is_wrapped]] = False
    wall = WALL * side
    back = np.clip(0.5 * (thickness - wall), np.maximum(length - 0.5 * wall, 0.0), length)
    return without_crossings(lambda fixed: x - np.where(fixed, 0.0, back)[:, None] * away, made.triangles, fixed)
