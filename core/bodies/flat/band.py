"""A flat body as a thin band: two copies of its points at +-depth / 2, joined along its borders by triangles.

For contact the band is an open strip, as wide as the body is deep; caps close it for the gas, so that its volume is
depth times area. `plane.py` keeps both copies of a vertex together.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...array_types import BoolArray, FloatArray, IntArray
from ..lattice.follow import Follow, Holds
from ..lattice.solids import GivenLattice
from ..lattice.springs import Springs

#: Bending takes k = 3 B / area of triangles, which bend along three directions; a strip bends along one.
BEND_SHARE = 1.0 / 3.0
#: Volume of a band over that of its strip and a point of its middle plane: the caps enclose the last third.
STRIP_TO_VOLUME = 1.5


@dataclass(frozen=True, slots=True)
class GivenFlat:
    """Geometry of a flat body. Its points are copied: vertex i of the middle plane has the points 2 i and 2 i + 1."""

    normal: FloatArray  # unit vector, shape (3,)
    depth: float  # [m]
    caps: IntArray  # triangles that close the band for the gas, shape (cap_count, 3); none without gas


class Band(NamedTuple):
    """The points and triangles of a band."""

    positions: FloatArray  # [m], front and back copies in turn, shape (2 * vertex_count, 3)
    triangles: IntArray  # of the strip, outward, shape (2 * side_count, 3)


def band_of(middle: FloatArray, sides: IntArray, normal: FloatArray, depth: float) -> Band:
    """Band of points in a plane [m], shape (vertex_count, 3).

    `sides`: edges of the border, the inside on their left as seen against the normal, shape (side_count, 2).
    """
    half = 0.5 * depth * normal
    positions = np.stack([middle + half, middle - half], axis=1).reshape(-1, 3)
    front, back = 2 * sides, 2 * sides + 1
    strip = [back[:, 0], back[:, 1], front[:, 1], back[:, 0], front[:, 1], front[:, 0]]
    return Band(positions, np.stack(strip, axis=1).reshape(-1, 3).astype(np.int32))


def caps_of(count: int) -> IntArray:
    """Fans that close the band of an outline of so many corners: exact for the volume, concave or not."""
    i = np.arange(1, count - 1)
    fan = np.stack([np.zeros_like(i), i, i + 1], axis=1)
    return np.concatenate([2 * fan, 2 * fan[:, ::-1] + 1]).astype(np.int32)


def both_springs(pairs: IntArray, stiffness: FloatArray) -> Springs:
    """Springs between vertices of the middle plane as springs of both copies, each half as stiff, sorted."""
    ends = np.sort(np.concatenate([2 * pairs, 2 * pairs + 1]), axis=1)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    return Springs(ends[order].astype(np.int32), np.concatenate([stiffness, stiffness])[order] / 2.0)


def both_holds(vertices: IntArray, weights: FloatArray, held: BoolArray) -> Holds:
    """Pinned points of both copies; `vertices` and `weights` as in `Holds`, of the held vertices in order."""
    return Holds(np.repeat(held, 2), np.repeat(vertices, 2, axis=0).astype(np.int32), np.repeat(weights, 2, axis=0))


def loop_lattice(
    positions: FloatArray, outline: IntArray, side: FloatArray, depth: float, mass: float, modulus: float,
    pinned: BoolArray,
) -> GivenLattice:  # fmt: skip
    """Springs, masses and followers of a loop: springs along both copies of its outline, k = Y depth / (2 L) each.

    `positions` [m] of the caller, `outline` their order, `side` [m] the length of each edge of the outline from its
    corner on, `modulus` Y [N/m], `pinned` of the caller's vertices.
    """
    count = len(outline)
    corner = np.arange(count)
    rank = np.empty(count, np.int32)
    rank[outline] = corner
    share = 0.5 * (side + np.roll(side, 1)) / side.sum()
    numbers = np.cumsum(pinned) - 1
    held = pinned[outline]
    places = np.stack([numbers[outline[held]], np.zeros(held.sum(), int), np.zeros(held.sum(), int)], axis=1)
    return GivenLattice(
        springs=both_springs(np.stack([corner, (corner + 1) % count], axis=1), modulus * depth / side),
        tetrahedra=np.zeros((0, 4), np.int32),
        volume_stiffness=np.zeros(0),
        vertex_mass=np.repeat(0.5 * mass * share, 2),
        follow=Follow(
            np.stack([2 * rank, 2 * rank + 1, 2 * rank, 2 * rank], axis=1).astype(np.int32),
            np.tile([0.5, 0.5, 0.0, 0.0], (count, 1)),
        ),
        holds=both_holds(places, np.tile([1.0, 0.0, 0.0], (len(places), 1)), held),
        pinned_positions=positions[pinned],
        outer=np.arange(2 * count, dtype=np.int32),
        cells=np.zeros((0, 8), np.int32),
    )
