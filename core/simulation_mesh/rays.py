"""Rays through triangles: how thick the body is, and where an edge is sharp at the scale of the mesh."""

from typing import NamedTuple

import numpy as np

from ..array_types import FloatArray, IntArray
from ..contact.box_tree import Trees, tree_of
from ..contact.narrow_phase.nearest_triangle import STACK_SIZE, inverse_of, ray_to_box
from ..jit import kernel, lean_kernel
from .surface import Numbers

#: Rays start this share of their length off the surface.
LIFT = 1e-5
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


@kernel
def ray_length(surface, origin, direction, far, stack):
    """Distance along a ray to the first triangle, at most `far`."""
    trees, best = surface.trees, far
    size, leaves, waiting = surface.triangles.shape[0], 1 << trees.depth[0], 1
    ix, iy, iz = inverse_of(direction[0]), inverse_of(direction[1]), inverse_of(direction[2])
    stack[0] = 0
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if node < leaves - 1:
            # the nearer child is visited first
            left, right = 2 * node + 1, 2 * node + 2
            to_left = ray_to_box(origin, ix, iy, iz, trees.box, left, best)
            to_right = ray_to_box(origin, ix, iy, iz, trees.box, right, best)
            if to_left < to_right:
                left, right, to_left, to_right = right, left, to_right, to_left
            if to_left < np.inf:
                stack[waiting] = left
                waiting += 1
            if to_right < np.inf:
                stack[waiting] = right
                waiting += 1
            continue
        leaf = node - leaves + 1
        for place in range(leaf * size // leaves, (leaf + 1) * size // leaves):
            best = min(best, to_triangle(surface, trees.triangle_order[place], origin, direction, best))
    return best


@lean_kernel
def to_triangle(surface, t, o, d, far):
    """Distance along a ray to a triangle, `far` if it misses (Moeller and Trumbore 1997)."""
    x, a, b, c = surface.x, surface.triangles[t, 0], surface.triangles[t, 1], surface.triangles[t, 2]
    ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    vx, vy, vz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    px, py, pz = d[1] * vz - d[2] * vy, d[2] * vx - d[0] * vz, d[0] * vy - d[1] * vx
    det = ux * px + uy * py + uz * pz
    if abs(det) < 1e-18:
        return far
    sx, sy, sz = o[0] - x[a, 0], o[1] - x[a, 1], o[2] - x[a, 2]
    u = (sx * px + sy * py + sz * pz) / det
    if u < 0.0 or u > 1.0:
        return far
    qx, qy, qz = sy * uz - sz * uy, sz * ux - sx * uz, sx * uy - sy * ux
    v = (d[0] * qx + d[1] * qy + d[2] * qz) / det
    if v < 0.0 or u + v > 1.0:
        return far
    length = (vx * qx + vy * qy + vz * qz) / det
    return length if length > 1e-9 else far


@kernel
def set_thickness(surface, points, normals, stride, with_gaps, far, thickness):
    """Thickness of the body at each point, or, `with_gaps`, of the gap outside where that is less, at most `far`.

    Five rays inwards, four of them tilted, and one outwards, for every `stride`-th point; the next ones get the same.
    """
    e, b, origin, d = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    stack = np.empty(STACK_SIZE, np.int32)
    for i in range(0, points.shape[0], stride):
        n = normals[i]
        e[:] = 0.0
        e[0 if abs(n[0]) < 0.6 else 1] = 1.0
        along = e[0] * n[0] + e[1] * n[1] + e[2] * n[2]
        e -= along * n
        e /= np.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2])
        b[0], b[1], b[2] = n[1] * e[2] - n[2] * e[1], n[2] * e[0] - n[0] * e[2], n[0] * e[1] - n[1] * e[0]
        origin[:] = points[i] + LIFT * far * n
        d[:] = n
        best = ray_length(surface, origin, d, far, stack) if with_gaps else far
        origin[:] = points[i] - LIFT * far * n
        for turn in range(5):
            straight, across = (1.0, 0.0) if turn == 0 else TILT
            angle = 0.5 * np.pi * turn
            d[:] = -straight * n + across * (np.cos(angle) * e + np.sin(angle) * b)
            best = min(best, straight * ray_length(surface, origin, d, far, stack))
        for j in range(i, min(i + stride, points.shape[0])):
            thickness[j] = best


@kernel
def set_flat_beside(surface, twin, normals, edges, reach, flat):
    """Of each sharp edge: whether the surface goes on flat on both sides as far as `reach`."""
    x, f = surface.x, surface.triangles
    t, origin, stack = np.empty(3), np.empty(3), np.empty(STACK_SIZE, np.int32)
    for i in range(edges.shape[0]):
        flat[i] = True
        for side in range(2):
            h = edges[i] if side == 0 else twin[edges[i]]
            a, b, n = x[f[h // 3, h % 3]], x[f[h // 3, (h + 1) % 3]], normals[h // 3]
            d = b - a
            t[0], t[1], t[2] = n[1] * d[2] - n[2] * d[1], n[2] * d[0] - n[0] * d[2], n[0] * d[1] - n[1] * d[0]
            t /= max(np.sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]), 1e-30)
            origin[:] = 0.5 * (a + b) + reach * t - 0.5 * FLAT * reach * n
            if ray_length(surface, origin, n, reach, stack) > FLAT * reach:
                flat[i] = False
