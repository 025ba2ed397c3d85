"""The working mesh of the remesher: a closed surface as half-edges in arrays, and how its kernels walk over it.

Half-edge h is the (h % 3)-th side of face h // 3. Dead faces and vertices stay in the arrays, marked by -1.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..array_types import BoolArray, FloatArray
from ..jit import kernel, lean_inline_kernel, lean_kernel

#: Numbers of vertices, triangles, half-edges or samples, of 64 bits where kernels read them.
Numbers = NDArray[np.integer[Any]]

#: Vertices of more edges than this are not changed; operations make none of more than `MOST_EDGES`.
LARGEST_RING = 30
MOST_EDGES = 12


class Surface(NamedTuple):
    """A closed surface with samples of the drawn surface, each in the list of the face that stands for it."""

    x: FloatArray  # positions, shape (vertex_capacity, 3)
    origin: Numbers  # start vertex of each half-edge, shape (3 * face_capacity,); -1: dead
    twin: Numbers  # of each half-edge, the one that runs back
    sharp: BoolArray  # of each half-edge: on a sharp edge of the drawn surface
    outgoing: Numbers  # a half-edge out of each vertex, shape (vertex_capacity,); -1: dead
    valence: Numbers  # edges of each vertex
    line: Numbers  # segment of the sharp lines that each vertex lies on; -1: none
    first_sample: Numbers  # of each face, shape (face_capacity,); -1: none
    next_sample: Numbers  # of each sample, shape (sample_count,)
    counts: Numbers  # vertices ever, faces ever, vertices alive
    edge_length: FloatArray  # wanted, shape (1,)
    # against crossings (`guard.py`); all without elements where nothing is guarded
    cell_first: Numbers  # first face of each cell's list, shape (a power of two,)
    cell: Numbers  # of each face; -1: none
    face_before: Numbers  # in the list, of each face
    face_after: Numbers
    grids: FloatArray  # width of the finest grid's cells, and the number of the coarsest grid, shape (2,)


class Samples(NamedTuple):
    """Points of the drawn surface, the drawn vertices first."""

    x: FloatArray  # shape (sample_count, 3)
    normal: FloatArray  # unit, shape (sample_count, 3)
    area: FloatArray  # that each stands for
    tolerance: FloatArray  # how far the surface may get away from each
    distance: FloatArray  # of the surface from each, now


class Lines(NamedTuple):
    """Sharp lines of the drawn surface, as segments."""

    x: FloatArray  # drawn positions, shape (drawn_count, 3)
    ends: Numbers  # drawn vertices, shape (segment_count, 2)
    start: Numbers  # segments at each drawn vertex, as compressed lists
    entry: Numbers


class Scratch(NamedTuple):
    """Arrays for the operation at hand."""

    gathered: Numbers  # samples of the faces that change, shape (sample_count,)
    best: Numbers  # new face of each gathered sample, as a row of `corners`
    distance: FloatArray  # of each gathered sample from it
    faces: Numbers  # that change
    targets: Numbers  # faces that the rows of `corners` become
    corners: Numbers  # of the new faces, shape (n, 3)
    normals: FloatArray  # of the new faces, shape (n, 3)
    old: FloatArray  # normals of the same faces before
    weights: FloatArray  # of the corners of that face at the nearest point of it, shape (sample_count, 3)
    planes: FloatArray  # of the new faces (`planes.py`): groups of four faces, planes, normals and heights, faces
    ring_a: Numbers  # half-edges out of a vertex
    ring_b: Numbers


def scratch(sample_count: int) -> Scratch:
    """Arrays for operations on a surface of this many samples."""
    rows = 4 * LARGEST_RING
    return Scratch(
        gathered=np.zeros(sample_count, np.int64),
        best=np.zeros(sample_count, np.int64),
        distance=np.zeros(sample_count),
        faces=np.zeros(rows, np.int64),
        targets=np.zeros(rows, np.int64),
        corners=np.zeros((rows, 3), np.int64),
        normals=np.zeros((rows, 3)),
        old=np.zeros((rows, 3)),
        weights=np.zeros((sample_count, 3)),
        planes=np.zeros((rows // 4, 4, 4, 4)),
        ring_a=np.zeros(rows, np.int64),
        ring_b=np.zeros(rows, np.int64),
    )


@lean_inline_kernel
def following(h):
    """Next half-edge of the face."""
    return h - 2 if h % 3 == 2 else h + 1


@lean_inline_kernel
def preceding(h):
    """Half-edge before this one in the face."""
    return h + 2 if h % 3 == 0 else h - 1


@lean_kernel
def ring_of(m, v, out):
    """Half-edges out of a vertex, in turn; returns their number, at most the length of `out`."""
    first = m.outgoing[v]
    h, n = first, 0
    while True:
        out[n] = h
        n += 1
        h = m.twin[preceding(h)]
        if h == first or n == out.shape[0]:
            return n


@lean_kernel
def sharp_edge_count(m, v):
    """Sharp edges at a vertex."""
    first = m.outgoing[v]
    h, n = first, 0
    while True:
        n += m.sharp[h]
        h = m.twin[preceding(h)]
        if h == first:
            return n


@lean_kernel
def edge_length(m, h):
    """Length of an edge."""
    a, b = m.origin[h], m.origin[following(h)]
    dx, dy, dz = m.x[a, 0] - m.x[b, 0], m.x[a, 1] - m.x[b, 1], m.x[a, 2] - m.x[b, 2]
    return np.sqrt(dx * dx + dy * dy + dz * dz)


@lean_kernel
def set_face(m, face, a, b, c):
    """Give a face its corners."""
    m.origin[3 * face], m.origin[3 * face + 1], m.origin[3 * face + 2] = a, b, c


@lean_kernel
def join(m, g, h, sharp):
    """Make two half-edges the sides of one edge."""
    m.twin[g], m.twin[h] = h, g
    m.sharp[g], m.sharp[h] = sharp, sharp


@lean_kernel
def set_normal(x, a, b, c, out, row):
    """Unit normal of a triangle into a row of `out`; returns its quality 4 sqrt(3) area / sum of squared sides.

    The quality is 1 for an equilateral triangle and 0 for a flat one.
    """
    ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    vx, vy, vz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    area2 = np.sqrt(nx * nx + ny * ny + nz * nz)
    sides = 2.0 * (ux * ux + uy * uy + uz * uz + vx * vx + vy * vy + vz * vz - ux * vx - uy * vy - uz * vz)
    inverse = 1.0 / area2 if area2 > 0.0 else 0.0
    out[row, 0], out[row, 1], out[row, 2] = nx * inverse, ny * inverse, nz * inverse
    return 2.0 * np.sqrt(3.0) * area2 / sides if sides > 0.0 else 0.0


@lean_inline_kernel
def dot_rows(a, i, b, j):
    """Product of two rows of three."""
    return a[i, 0] * b[j, 0] + a[i, 1] * b[j, 1] + a[i, 2] * b[j, 2]


def is_closed(triangles: Numbers) -> bool:
    """Whether each directed side of a triangle is there once, and once the other way."""
    return triangles.size == 0 or set_twins(triangles, np.zeros(triangles.size, np.int64)) == 0


@kernel
def set_twins(triangles, twin):
    """The half-edge that runs back along each; -1 where there is none. Returns how many lack a proper one."""
    flat = triangles.ravel()
    room = 1
    while room < flat.size:
        room *= 2
    first, later = np.full(room, -1), np.empty(flat.size, np.int64)  # lists of half-edges by a number of both ends
    bad = 0
    for h in range(flat.size - 1, -1, -1):
        a, b = flat[h], flat[following(h)]
        bad += listed(flat, first, later, a, b) >= 0
        place = place_of(a, b, room)
        first[place], later[h] = h, first[place]
    for h in range(flat.size):
        twin[h] = listed(flat, first, later, flat[following(h)], flat[h])
        bad += twin[h] < 0
    return bad


@lean_inline_kernel
def place_of(a, b, room):
    """A list for half-edges from a to b; others may share it."""
    return ((a * 73856093) ^ (b * 19349663)) & (room - 1)


@lean_kernel
def listed(flat, first, later, a, b):
    """The half-edge from a to b, -1 if none is in its list."""
    h = first[place_of(a, b, first.size)]
    while h >= 0 and (flat[h] != a or flat[following(h)] != b):
        h = later[h]
    return h
