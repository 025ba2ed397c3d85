"""Even mesh of any drawn mesh: repaired, wrapped where it is not closed, remeshed, and smoothed where it crosses."""

import functools
from collections.abc import Callable, Generator
from typing import NamedTuple

import numpy as np

from ..array_types import FloatArray, IntArray
from ..errors import MeshError, ParameterError
from ..topology import check_extent, triangle_areas, vertex_normals
from .crossings import crossing_vertices, smoothed
from .drawn import drawn_surface
from .holes import fill_holes
from .lids import with_lids
from .nearest import nearest_triangles
from .parts import part_names, united
from .remesh import Remeshed, remesh
from .repair import WELD, Mesh, oriented, split_pinched, weld, without_doubles
from .shrink import LARGE, shrunk
from .surface import Numbers, set_twins
from .wrapped_parts import GAP, nearer, open_groups, wrapped_parts

#: Fewest vertices that can be asked for.
LEAST_COUNT = 20
#: What crosses is smoothed with this many times the vertices, for that not more than the second number; where that does
#: not help, with as many as are asked for.
FINER, FINEST = 2, 4_000

#: What was done to a mesh that encloses nothing as it is drawn; ends of sentences "Suzanne ...".
FILLED, WRAPPED, SMOOTHED, TURNED = (
    "is not closed: simulated as if its holes were filled",
    "is not one closed surface: simulated as if it were",
    "would cross itself as an even mesh: simulated as if it were smooth where it does",
    "has faces that point inwards: simulated as if they did not",
)
JOINED = f"has {{}} of its gaps closed, those of less than {100.0 * GAP:.2g} % of its size"


class EvenMesh(NamedTuple):
    """An even mesh and what binds the drawn one to it."""

    positions: FloatArray  # shape (vertex_count, 3), in the units of the drawn ones
    triangles: IntArray  # counter-clockwise from outside, shape (triangle_count, 3)
    notes: tuple[str, ...]  # what was done to the drawn mesh: `FILLED`, `WRAPPED`, `SMOOTHED`, `TURNED`
    face: Numbers  # of each drawn vertex: the triangle that stands for it, shape (drawn_count,)
    drawn_normals: FloatArray  # of drawn vertices, unit; zero where there is no face, shape (drawn_count, 3)
    nearest: Numbers  # of each vertex: corners of the nearest drawn triangle, shape (vertex_count, 3)
    nearest_weights: FloatArray  # of these corners, shape (vertex_count, 3)


def even_mesh(positions: FloatArray, triangles: Numbers, vertex_count: int) -> EvenMesh:
    """Make an even closed mesh of about `vertex_count` vertices that follows the drawn surface.

    Parameters: `positions`, shape (drawn_count, 3), in any unit; `triangles`, shape (triangle_count, 3). Isotropic
    remeshing (`remesh.py`) keeps volume, thin parts, sharp edges, genus and number of parts of a closed surface. Holes
    are filled, without vertices in them, so there are fewer; what still is not closed, or in parts that cross, is
    wrapped. Where the even mesh would cross itself, it is smoothed. Very many vertices are joined first (`shrink.py`).
    The same bits each time, in whatever order the triangles are given.
    Raises `MeshError` if there is no surface at all.
    """
    slices = even_mesh_slices(positions, triangles, vertex_count)
    while True:
        try:
            next(slices)
        except StopIteration as end:
            made: EvenMesh = end.value
            return made


def even_mesh_slices(positions: FloatArray, triangles: Numbers, vertex_count: int) -> Generator[float, None, EvenMesh]:
    """The same in slices, of about 0.1 s for 3 000 drawn vertices: yields the share that is done, 0 to 1."""
    if vertex_count < LEAST_COUNT:
        raise ParameterError(f"vertex_count: {vertex_count}, must be at least {LEAST_COUNT}.")
    given, triangles = np.ascontiguousarray(positions, float), np.ascontiguousarray(triangles, np.int64).reshape(-1, 3)
    if len(triangles) == 0 or not np.isfinite(given).all():
        raise MeshError("mesh: no faces, or coordinates that are not finite; nothing to simulate. Rebuild its faces.")
    used = given[np.unique(triangles)]
    check_extent("mesh", used)
    triangles = in_order(triangles)
    if len(given) > LARGE and (small := shrunk(given, triangles)) is not None:
        found = yield from even_mesh_slices(small.x, small.triangles, vertex_count)
        face, normals = found.face[small.cluster], found.drawn_normals[small.cluster]
        return found._replace(face=face, drawn_normals=normals, nearest=small.first[found.nearest])
    # in a frame of its own with sizes near 1, so that constants need no unit
    middle, size = 0.5 * (used.min(axis=0) + used.max(axis=0)), float(np.ptp(used, axis=0).max())
    x = (given - middle) / size
    drawn, mesh, notes = repaired(x, triangles)
    carrier = mesh if len(mesh.x) == len(drawn.x) else drawn  # where values of drawn vertices are known
    yield 0.05
    filled = mesh
    if WRAPPED in notes:
        mesh, distances, gaps = wrapped_parts(filled)
        notes += (JOINED.format(gaps),) if gaps else ()
        yield 0.1
    crosses_as_drawn = functools.cache(functools.partial(_crosses, mesh.x, mesh.triangles))
    made, length = yield from _remeshed(mesh, vertex_count, crosses_as_drawn, 0.2, 0.9)
    even, vertex = nearer(made, distances, filled) if WRAPPED in notes else made.x, mesh.vertex
    crosses = _crosses(even, made.triangles) if WRAPPED in notes else made.crossing > 0
    finer = max(vertex_count, min(FINER * vertex_count, FINEST))
    for count in sorted({finer, vertex_count}, reverse=True) if crosses else ():
        fine, _ = yield from _remeshed(mesh, count, crosses_as_drawn, 0.9, 0.9)
        if (smooth := smoothed(fine.x, fine.triangles)) is not None:
            mesh, notes = Mesh(smooth, fine.triangles.astype(np.int64), vertex), (*notes, SMOOTHED)
            made, length = yield from _remeshed(mesh, vertex_count, lambda: False, 0.9, 0.95)
            even, vertex = made.x, np.full_like(vertex, -1)
            break
    normals = _to_given(drawn.vertex, vertex_normals(drawn.x, drawn.triangles))
    face, surface = np.where(vertex >= 0, made.face[vertex], -1), made.triangles
    if FILLED in notes:
        even, surface, face = with_lids(even, surface, face, filled, len(drawn.triangles), length)
    lost = np.flatnonzero(face < 0)
    if len(lost):
        face[lost] = nearest_triangles(x[lost], normals[lost], even, surface, length)[0]
    yield 0.95
    near, weights = nearest_triangles(even, vertex_normals(even, surface), carrier.x, carrier.triangles, length)
    corners = _given_vertex(drawn)[carrier.triangles[near]]
    return EvenMesh(middle + size * even, surface, notes, face, normals, corners, weights)


def _remeshed(
    mesh: Mesh, vertex_count: int, crosses: Callable[[], bool], begin: float, end: float
) -> Generator[float, None, tuple[Remeshed, float]]:
    """The even surface of a closed one, and its edge length; yields the share that is done, from `begin` to `end`.

    `crosses`: tells whether the closed one crosses itself, where that matters.
    """
    twin = np.zeros(mesh.triangles.size, np.int64)
    set_twins(mesh.triangles, twin)
    length = float(np.sqrt(2.0 * _area(mesh) / (np.sqrt(3.0) * vertex_count)))
    surface = drawn_surface(mesh.x, mesh.triangles, twin, length, vertex_count)
    done = begin
    yield done
    remeshing = remesh(surface, vertex_count, length, crosses)
    while True:
        try:
            share = next(remeshing)
        except StopIteration as finished:
            return finished.value, length
        done = done if np.isnan(share) else max(done, begin + (end - begin) * share)
        yield done


def in_order(triangles: Numbers) -> Numbers:
    """The same triangles, each from its highest corner on, in descending order.

    Programs number the faces of one surface in many ways, Blender's spheres otherwise each time they are added.
    """
    first = triangles.argmax(axis=1)[:, None]
    turned = np.take_along_axis(triangles, (first + np.arange(3)) % 3, axis=1)
    return turned[np.lexsort(turned.T[::-1])[::-1]]


def repaired(x: FloatArray, triangles: Numbers) -> tuple[Mesh, Mesh, tuple[str, ...]]:
    """The mesh welded and wound, the same with its holes filled, and notes.

    `WRAPPED` is among the notes if it is still to be wrapped. Raises `MeshError` if faces are flattened to lines.
    """
    welded = weld(x, triangles)
    if not _area(welded) > WELD:
        raise MeshError(f"mesh: its {len(triangles)} triangles have no area. Scale it, or rebuild its faces.")
    mesh = without_doubles(welded)
    if len(mesh.triangles) == 0:  # sheets back to back
        return welded, welded, (WRAPPED,)
    wound = oriented(mesh)
    turned = split_pinched(wound)
    filled = fill_holes(turned)
    part = part_names(filled.triangles, len(filled.x))
    group = united(filled.x, filled.triangles, part)
    if open_groups(filled, part, group):
        return turned, filled, (WRAPPED,)
    notes: tuple[str, ...] = (FILLED,) if len(filled.triangles) > len(turned.triangles) else ()
    if not np.array_equal(wound.triangles, mesh.triangles):
        notes += (TURNED,)
    return turned, filled, notes


def _crosses(x: FloatArray, triangles: Numbers) -> bool:
    return bool(crossing_vertices(x, triangles.astype(np.int32)).any())


def _area(mesh: Mesh) -> float:
    return float(triangle_areas(mesh.x, mesh.triangles).sum())


def _to_given(vertex: Numbers, values: FloatArray) -> FloatArray:
    """Values of a repaired mesh's vertices at the given ones, zero where they are in none of its faces."""
    found: FloatArray = np.where((vertex >= 0)[:, None], values[vertex], 0.0)
    return found


def _given_vertex(mesh: Mesh) -> Numbers:
    """A given vertex at each vertex of a repaired mesh."""
    found = np.zeros(len(mesh.x), np.int64)
    known = np.flatnonzero(mesh.vertex >= 0)[::-1]
    found[mesh.vertex[known]] = known
    return found
