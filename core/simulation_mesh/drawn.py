"""The drawn surface as the remesher needs it: normals, samples with their tolerances, sharp lines."""

from typing import NamedTuple

import numpy as np

from ..array_types import BoolArray, FloatArray
from ..topology import face_normals, grouped, part_middles, triangle_areas, vertex_normals
from ..union_find import islands_of
from .rays import Surface, set_flat_beside, set_thickness, surface_of
from .surface import Lines, Numbers, Samples

#: Least angle between the faces of a sharp edge [degrees].
SHARP = 40.0
#: A sharp edge has flat sides this wide, and belongs to a line of this length [wanted edge lengths].
FLAT_REACH, LINE_LENGTH = 0.7, 4.0
#: Tolerance of samples: a share of the thickness there, between two shares of the wanted edge length.
THICKNESS_SHARE, LEAST_TOLERANCE, MOST_TOLERANCE = 0.3, 0.08, 0.25
#: Thickness is found at this many samples at most.
RAY_POINTS = 20_000
#: Drawn vertices per wanted one that are samples, at most: more take time and change nothing.
SAMPLES_PER_VERTEX = 16
#: Most parts along a side of a large triangle, of which each gets a sample.
MOST_PARTS = 60


class Drawn(NamedTuple):
    """A closed surface, of which an even one is to be made."""

    x: FloatArray  # shape (vertex_count, 3)
    triangles: Numbers  # int64
    twin: Numbers
    normals: FloatArray  # of triangles, unit
    areas: FloatArray  # of triangles
    samples: Samples
    sampled: Numbers  # vertices that are samples, the first ones in this order
    sample_face: Numbers  # the triangle of each sample
    sharp: BoolArray  # of each half-edge
    lines: Lines


def drawn_surface(x: FloatArray, triangles: Numbers, twin: Numbers, length: float, vertex_count: int) -> Drawn:
    """Samples and sharp lines of a closed surface at the scale of the edge length and the vertices that are wanted."""
    normals, areas = face_normals(x, triangles), triangle_areas(x, triangles)
    surface = surface_of(x, triangles)
    sharp, lines = _sharp_lines(surface, twin, normals, length)
    extra, extra_face = _points_of_large(x, triangles, areas, length)
    share = areas / (1 + np.bincount(extra_face, minlength=len(triangles)))
    owner = np.zeros(len(x), np.int64)
    owner[triangles.ravel()] = np.arange(triangles.size) // 3
    stride = -(-len(x) // (SAMPLES_PER_VERTEX * vertex_count))
    sampled = np.arange(0, len(x), stride)
    points = np.concatenate([x[sampled], extra])
    point_normals = np.concatenate([vertex_normals(x, triangles)[sampled], normals[extra_face]])
    at_vertex = np.bincount(triangles.ravel(), np.repeat(share / 3.0, 3), len(x))
    area = np.concatenate([stride * at_vertex[sampled], share[extra_face]])
    thickness = np.full(len(points), length)
    set_thickness(surface, points, point_normals, max(1, len(points) // RAY_POINTS), True, length, thickness)
    tolerance = np.clip(THICKNESS_SHARE * thickness, LEAST_TOLERANCE * length, MOST_TOLERANCE * length)
    samples = Samples(points, point_normals, area, tolerance, np.zeros(len(points)))
    face = np.concatenate([owner[sampled], extra_face])
    return Drawn(x, triangles, twin, normals, areas, samples, sampled, face, sharp, lines)


def _points_of_large(x: FloatArray, triangles: Numbers, areas: FloatArray, length: float) -> tuple[FloatArray, Numbers]:
    """Points on triangles that are large against the wanted length, and their triangles: the centres of n^2 parts."""
    sides = np.linalg.norm(x[triangles] - x[np.roll(triangles, -1, axis=1)], axis=2).max(axis=1)
    parts = np.maximum(1.52 * np.sqrt(areas) / (0.6 * length), 0.4 * sides / length)  # of an even triangle: side / 0.6
    count = np.clip(parts + 0.5, 0, MOST_PARTS).astype(np.int64)
    return part_middles(x, triangles, count)


def _sharp_lines(surface: Surface, twin: Numbers, normals: FloatArray, length: float) -> tuple[BoolArray, Lines]:
    """Which half-edges are sharp at the scale of the wanted length, and the lines of them."""
    triangles = surface.triangles.astype(np.int64)
    origin, end = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    number = np.arange(len(origin))
    cosine = np.einsum("ij,ij->i", normals[number // 3], normals[twin // 3])
    edges = np.flatnonzero((cosine < np.cos(np.radians(SHARP))) & (number < twin))
    flat = np.zeros(len(edges), bool)
    set_flat_beside(surface, twin, normals, edges, FLAT_REACH * length, flat)
    edges = edges[flat]
    line = islands_of(len(surface.x), origin[edges], end[edges])
    along = np.linalg.norm(surface.x[origin[edges]] - surface.x[end[edges]], axis=1)
    total = np.bincount(line[origin[edges]], along, len(surface.x))
    edges = edges[total[line[origin[edges]]] > LINE_LENGTH * length]
    sharp = np.zeros(len(origin), bool)
    sharp[edges] = sharp[twin[edges]] = True
    ends = np.stack([origin[edges], end[edges]], axis=1)
    start, entry = grouped(ends.ravel(), len(surface.x))
    return sharp, Lines(surface.x, ends, start.astype(np.int64), entry.astype(np.int64) // 2)
