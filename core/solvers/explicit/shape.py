"""Which neighbouring patches of a skin cannot be in contact as they have hardly changed their shape: a proof.

Patches that share a vertex lie beside each other, so no box separates them. But at the start of a run they have a
distance C, the least of all vertices and triangles, edges and edges that share no vertex. Let an affine map take the
start shape near to where the points are, point i up to an error e_i, and shrink no length by more than a factor s.
Primitives are convex hulls of their points, so those of two patches are at least s C - e - e' apart, e and e' the
largest errors of either patch. The map may be any; it is the one that fits the first patch best in its plane, and takes
normals to normals. For an epoch it is taken in the middle of the predicted flight and moves with the patch's mean
velocity; the remaining motion of the points adds to their errors.
"""

from typing import NamedTuple

import numpy as np

from ...array_types import FloatArray, IntArray
from ...jit import lean_inline_kernel, lean_kernel
from ...simd import dot, lane, larger, load4, spread, store4, sum_spread, triple
from .layout import Patches

#: Numbers of a patch's frame: the map's four columns, its mean velocity, then shrinking, error and room for boxes.
FRAME, DRIFT, SHRINKS = 24, 16, 20
#: Share of the slack added to the reach of contacts in the search: an unpredicted contact acts an epoch late.
PRESS_SHARE = 0.5
#: Least distance that is guaranteed, as a share of the distance that a pair keeps.
LEAST_SHARE = 0.1
#: Extent across over extent along, below which the corners of a patch count as collinear.
FLAT_SHARE = 1e-3


class Shape(NamedTuple):
    """The start shape of skins with self-contact, patch by patch."""

    rest: FloatArray  # start positions of all points [m], flat
    start: IntArray  # CSR: patches that share a vertex with a patch, itself and later ones, shape (patch_count + 1,)
    other: IntArray  # their numbers, ascending
    clearance: FloatArray  # distance between the two at the start [m]
    axes: FloatArray  # two directions along each patch and its normal, flat, 12 numbers each
    share: FloatArray  # of each corner in the two columns along the patch [1/m], shape (corner_count, 2)
    frame: FloatArray  # present frame of each patch, flat; changes


def shape_of(patches: Patches, rest: FloatArray, own_thickness: FloatArray) -> Shape:
    """The start shape, but for the clearance; `rest`: start positions in the solver's order [m], (point_count, 3)."""
    count = len(patches.body)
    axes, share = np.zeros((count, 3, 4)), np.zeros((len(patches.corner), 2))
    at_point: dict[int, list[int]] = {}
    others: list[set[int]] = [set() for _ in range(count)]
    for patch in np.flatnonzero(own_thickness[patches.body] > 0.0).tolist():
        corners = slice(*patches.corner_start[patch : patch + 2])
        points = patches.corner[corners] >> 2
        away = rest[points] - rest[points].mean(axis=0)
        _, extent, turned = np.linalg.svd(away, full_matrices=False)
        if len(points) < 3 or not extent[1] > FLAT_SHARE * extent[0]:
            continue
        axes[patch, :2, :3], axes[patch, 2, :3] = turned[:2], np.cross(turned[0], turned[1])
        share[corners] = (away @ turned[:2].T) / extent[:2] ** 2
        for point in points.tolist():
            at_point.setdefault(point, []).append(patch)
    for meeting in at_point.values():
        for place, patch in enumerate(meeting):
            others[patch].update(meeting[place:])
    padded = np.zeros((len(rest), 4))
    padded[:, :3] = rest
    start = np.concatenate([[0], np.cumsum([len(found) for found in others])]).astype(np.int32)
    return Shape(
        rest=padded.ravel(),
        start=start,
        other=np.array([patch for found in others for patch in sorted(found)], np.int32),
        clearance=np.full(int(start[-1]), -1.0),
        axes=axes.ravel(),
        share=share,
        frame=np.zeros(FRAME * count),
    )


@lean_inline_kernel
def pad(half, slack):
    """Widening of boxes [m]; `half` of the distance that is kept, slack of points."""
    return max(half + PRESS_SHARE * slack, LEAST_SHARE * half + slack)


@lean_inline_kernel
def fit_shape(begin, end, half, points, boxes, kept):
    """Frames of the patches begin .. end - 1 of a body in the middle of an epoch, whose half lasts `half` [s].

    `kept`: distance that the body keeps from itself [m].
    """
    patches, shape = boxes.patches, boxes.shape
    frame, axes = shape.frame, shape.axes
    for patch in range(begin, end):
        first, last = patches.corner_start[patch], patches.corner_start[patch + 1]
        middle, drift = spread(0.0), spread(0.0)
        rest, slack = spread(0.0), 0.0
        along, across = spread(0.0), spread(0.0)
        for q in range(first, last):
            i = patches.corner[q]
            flight = load4(points.flight, i)
            here = load4(points.start, i) + flight * half
            middle, drift, rest = middle + here, drift + flight, rest + load4(shape.rest, i)
            along, across = along + here * shape.share[q, 0], across + here * shape.share[q, 1]
            slack = max(slack, points.slack[i >> 2])
        number = 1.0 / max(last - first, 1)
        middle, drift, rest = middle * number, drift * number, rest * number
        xx, yy, xy = dot(along, along), dot(across, across), dot(along, across)
        square = 0.5 * (xx + yy - ((xx - yy) ** 2 + 4.0 * xy * xy) ** 0.5)
        ax, ay, az = lane(along, 0), lane(along, 1), lane(along, 2)
        bx, by, bz = lane(across, 0), lane(across, 1), lane(across, 2)
        nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        size = (nx * nx + ny * ny + nz * nz) ** 0.5
        place, axis = FRAME * patch, 12 * patch
        if not (size > 0.0 and square > 0.0):
            frame[place + SHRINKS] = 0.0
            continue
        normal = triple(nx / size, ny / size, nz / size)
        for k in range(3):
            column = along * axes[axis + k] + across * axes[axis + 4 + k] + normal * axes[axis + 8 + k]
            store4(frame, place + 4 * (k + 1), column)
            middle = middle - column * lane(rest, k)
        store4(frame, place, middle)
        store4(frame, place + DRIFT, drift)
        frame[place + SHRINKS] = min(square, 1.0) ** 0.5
        frame[place + SHRINKS + 1] = error_of(patch, place, half, points, patches, shape)
        frame[place + SHRINKS + 2] = pad(0.5 * kept, slack)


@lean_inline_kernel
def error_of(patch, place, half, points, patches, shape):
    """Largest distance in an epoch of a patch's corners from where the map of a frame puts them [m]."""
    frame = shape.frame
    origin, drift = load4(frame, place), load4(frame, place + DRIFT)
    c0, c1, c2 = load4(frame, place + 4), load4(frame, place + 8), load4(frame, place + 12)
    off, moved = spread(0.0), spread(0.0)
    for q in range(patches.corner_start[patch], patches.corner_start[patch + 1]):
        i = patches.corner[q]
        flight, rest = load4(points.flight, i), shape.rest
        away = load4(points.start, i) + flight * half - origin - c0 * rest[i] - c1 * rest[i + 1] - c2 * rest[i + 2]
        besides = flight - drift
        off, moved = larger(off, sum_spread(away * away)), larger(moved, sum_spread(besides * besides))
    return lane(off, 0) ** 0.5 + half * lane(moved, 0) ** 0.5


@lean_kernel
def keeps_apart(P, Q, half, points, boxes):
    """Whether no primitives of the patches P and Q, P <= Q, can be in contact in the epoch."""
    patches, shape = boxes.patches, boxes.shape
    frame, place = shape.frame, shape.start[P]
    end = shape.start[P + 1]
    while place < end and shape.other[place] < Q:
        place += 1
    if place == end or shape.other[place] != Q:
        return False
    p, q = FRAME * P, FRAME * Q
    room = frame[p + SHRINKS] * shape.clearance[place] - frame[p + SHRINKS + 1]
    room -= frame[p + SHRINKS + 2] + frame[q + SHRINKS + 2]
    if P == Q:
        return room > frame[p + SHRINKS + 1]
    return room > 0.0 and frame[q + SHRINKS] > 0.0 and room > error_of(Q, p, half, points, patches, shape)
