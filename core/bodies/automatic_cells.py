"""The cell size of a lattice whose settings give none."""

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import FloatArray, IntArray
from ..parameters.scene import DETAIL
from ..tiny import TINY
from ..topology import signed_volume, triangle_areas
from .flat.outline import outline_of
from .lattice.cells import fits
from .lattice.main_directions import grid_axes

#: Cells across the thinnest way through a mesh, at the detail `NORMAL`.
AUTOMATIC_CELLS = 4
#: Vertices for each side of a cell on the border, beside those within: where walls are thicker than cells, or thinner.
THICK, THIN = 0.5, 1.25
#: Where no cell fits between walls, cells are smaller by this factor, at most so many times.
FINER, MOST_FINER = 0.8, 12


def automatic_cell_size(
    name: str, positions: FloatArray, triangles: IntArray | None, outline: ArrayLike | None = None,
    count: int = DETAIL["NORMAL"],
) -> float:  # fmt: skip
    """Cell size [m]: a few cells across what is thinnest, or as thick as walls, 2 volume / area, in no more than about
    `count` vertices unless no cell fits then.

    `positions` [m]; `triangles` of a closed mesh, or None for a flat body with this `outline`, which `outline_of` takes
    and whose errors this raises.
    """
    if triangles is None:
        found = outline_of(name, positions, outline)
        placed = found.in_plane(found.corners)
        sides = np.roll(placed, -1, axis=0) - placed
        content = 0.5 * abs((placed[:, 0] * sides[:, 1] - placed[:, 1] * sides[:, 0]).sum())
        border = np.linalg.norm(sides, axis=1).sum()
    else:
        content, border = abs(signed_volume(positions, triangles)), triangle_areas(positions, triangles).sum()
        placed = positions @ grid_axes(positions, triangles)
    dimension, least = placed.shape[1], float(np.ptp(placed, axis=0).min())
    size = _finest(content, THICK * border, count, dimension)
    across = round(AUTOMATIC_CELLS * (count / DETAIL["NORMAL"]) ** (1.0 / dimension))
    few, walls = least / max(1, min(across, int(least / max(size, TINY)))), 2.0 * content / max(border, TINY)
    size = min(few, max(_finest(content, THIN * border, count, dimension), walls))
    if triangles is not None:
        for _ in range(MOST_FINER):
            if fits(placed, triangles, size):
                break
            size *= FINER
    return size


def _finest(content: float, border: float, count: int, dimension: int) -> float:
    """The cell size s [m] at which content / s^d + border / s^(d - 1) is a `count`."""
    size = max(content, TINY) ** (1.0 / dimension)
    for _ in range(30):
        size = float((content + border * size) / count) ** (1.0 / dimension)
    return size
