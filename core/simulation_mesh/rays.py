"""Rays through triangles, four at a time: how thick the body is, and where an edge is sharp at the scale of the mesh.

Origins `o`, directions `d` and lengths of rays are lanes (`simd.py`).
"""

from typing import NamedTuple

import numpy as np

from ..array_types import FloatArray, IntArray
from ..contact.box_tree import Trees, tree_of
from ..contact.narrow_phase.nearest_triangle import STACK_SIZE
from ..jit import kernel, lean_inline_kernel
from ..simd import any_larger, four, lane, larger, smaller, spread, where_larger
from ..tiny import TINY
from .surface import Numbers

#: Rays start this share of their length off the surface, and meet nothing within this distance of surfaces of size 1.
LIFT, LEAST_LENGTH = 1e-5, 1e-9
#: A determinant below which a ray is parallel to a triangle.
PARALLEL = 1e-18
#: Tilted rays: cosine and sine of 26 degrees.
TILT = (0.9, 0.436)
#: A surface goes on flat beside an edge where it stays within this share of the reach.
FLAT = 0.4


class Surface(NamedTuple):
    """A surface that rays meet."""

    x: FloatArray  # positions, shape (vertex_count, 3)
    triangles: IntArray  # int32
    trees: Trees


def surface_of(x: FloatArray, triangles: Numbers) -> Surface:
    """A surface with its tree."""
    faces = triangles.astype(np.int32)
    return Surface(x, faces, tree_of(x, faces))


@lean_inline_kernel
def ray_lengths(surface, o, d, far, stack):
    """Distances along rays from `o` in the directions `d` to the first triangle, at most `far`."""
    trees, best = surface.trees, spread(far)
    size, leaves, waiting = surface.triangles.shape[0], 1 << trees.depth[0], 1
    inverse = inverse_of(d[0]), inverse_of(d[1]), inverse_of(d[2])
    stack[0] = 0
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if not meet_box(o, inverse, trees.box, node, best):
            continue
        if node < leaves - 1:
            stack[waiting], stack[waiting + 1] = 2 * node + 1, 2 * node + 2
            waiting += 2
            continue
        leaf = node - leaves + 1
        for place in range(leaf * size // leaves, (leaf + 1) * size // leaves):
            best = to_triangle(surface, trees.triangle_order[place], o, d, best)
    return best


@lean_inline_kernel
def inverse_of(d):
    """One over components of directions, finite where they are 0."""
    return where_larger(larger(d, -d), spread(TINY), 1.0 / d, spread(1.0 / TINY))


@lean_inline_kernel
def meet_box(o, inverse, box, node, far):
    """Whether any ray meets the box of a node within `far`."""
    sx, tx = (box[node, 0] - o[0]) * inverse[0], (box[node, 3] - o[0]) * inverse[0]
    sy, ty = (box[node, 1] - o[1]) * inverse[1], (box[node, 4] - o[1]) * inverse[1]
    sz, tz = (box[node, 2] - o[2]) * inverse[2], (box[node, 5] - o[2]) * inverse[2]
    near = larger(larger(smaller(sx, tx), smaller(sy, ty)), larger(smaller(sz, tz), spread(0.0)))
    end = smaller(smaller(larger(sx, tx), larger(sy, ty)), smaller(larger(sz, tz), far))
    return any_larger(end * (1.0 + 1e-12) + TINY, near)


@lean_inline_kernel
def to_triangle(surface, t, o, d, far):
    """Distances along rays to a triangle, `far` where they miss it (Moeller and Trumbore 1997)."""
    x, a, b, c = surface.x, surface.triangles[t, 0], surface.triangles[t, 1], surface.triangles[t, 2]
    ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    vx, vy, vz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    px, py, pz = d[1] * vz - d[2] * vy, d[2] * vx - d[0] * vz, d[0] * vy - d[1] * vx
    det = ux * px + uy * py + uz * pz
    sx, sy, sz = o[0] - x[a, 0], o[1] - x[a, 1], o[2] - x[a, 2]
    u = (sx * px + sy * py + sz * pz) / det
    qx, qy, qz = sy * uz - sz * uy, sz * ux - sx * uz, sx * uy - sy * ux
    v = (d[0] * qx + d[1] * qy + d[2] * qz) / det
    length = (vx * qx + vy * qy + vz * qz) / det
    # the least barycentric coordinate is negative where a ray passes by
    found = where_larger(spread(0.0), smaller(smaller(u, v), 1.0 - (u + v)), far, length)
    found = where_larger(found, spread(LEAST_LENGTH), found, far)
    return smaller(where_larger(spread(PARALLEL), larger(det, -det), far, found), far)


@kernel
def set_thickness(surface, points, normals, stride, with_gaps, far, thickness):
    """Thickness of the body at each point, or, `with_gaps`, of the gap outside where that is less, at most `far`.

    Five rays inwards, four of them tilted, and one outwards, for every `stride`-th point; the next ones get the same.
    """
    e, b, stack = np.empty(3), np.empty(3), np.empty(STACK_SIZE, np.int32)
    cosine, sine, outwards = four(0.0, -1.0, 0.0, 1.0), four(1.0, 0.0, -1.0, 0.0), four(1.0, -1.0, 1.0, -1.0)
    lift = LIFT * far
    for i in range(0, points.shape[0], stride):
        p, n = points[i], normals[i]
        e[:] = 0.0
        e[0 if abs(n[0]) < 0.6 else 1] = 1.0
        along = e[0] * n[0] + e[1] * n[1] + e[2] * n[2]
        e -= along * n
        e /= np.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2])
        b[0], b[1], b[2] = n[1] * e[2] - n[2] * e[1], n[2] * e[0] - n[0] * e[2], n[0] * e[1] - n[1] * e[0]
        ox, oy, oz = spread(p[0] - lift * n[0]), spread(p[1] - lift * n[1]), spread(p[2] - lift * n[2])
        dx = (cosine * e[0] + sine * b[0]) * TILT[1] - TILT[0] * n[0]
        dy = (cosine * e[1] + sine * b[1]) * TILT[1] - TILT[0] * n[1]
        dz = (cosine * e[2] + sine * b[2]) * TILT[1] - TILT[0] * n[2]
        tilted = ray_lengths(surface, (ox, oy, oz), (dx, dy, dz), far, stack)
        dx, dy, dz = outwards * n[0], outwards * n[1], outwards * n[2]
        ox, oy, oz = lift * dx + p[0], lift * dy + p[1], lift * dz + p[2]
        straight = ray_lengths(surface, (ox, oy, oz), (dx, dy, dz), far, stack)
        least = min(min(lane(tilted, 0), lane(tilted, 1)), min(lane(tilted, 2), lane(tilted, 3)))
        best = min(TILT[0] * least, lane(straight, 1))
        if with_gaps:
            best = min(best, lane(straight, 0))
        for j in range(i, min(i + stride, points.shape[0])):
            thickness[j] = best


@kernel
def set_flat_beside(surface, twin, normals, edges, reach, flat):
    """Of each sharp edge: whether the surface goes on flat on both sides as far as `reach`."""
    x, f = surface.x, surface.triangles
    t, stack = np.empty(3), np.empty(STACK_SIZE, np.int32)
    for i in range(edges.shape[0]):
        flat[i] = True
        for side in range(2):
            h = edges[i] if side == 0 else twin[edges[i]]
            a, b, n = x[f[h // 3, h % 3]], x[f[h // 3, (h + 1) % 3]], normals[h // 3]
            d = b - a
            t[0], t[1], t[2] = n[1] * d[2] - n[2] * d[1], n[2] * d[0] - n[0] * d[2], n[0] * d[1] - n[1] * d[0]
            t /= max(np.sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]), 1e-30)
            o = 0.5 * (a + b) + reach * t - 0.5 * FLAT * reach * n
            origin, way = (spread(o[0]), spread(o[1]), spread(o[2])), (spread(n[0]), spread(n[1]), spread(n[2]))
            if lane(ray_lengths(surface, origin, way, reach, stack), 0) > FLAT * reach:
                flat[i] = False
