"""The cell size of a lattice whose settings give none."""

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import FloatArray, IntArray
from ..parameters.scene import DETAIL
from ..tiny import TINY
from ..topology import signed_volume, triangle_areas
from .flat.outline import outline_of
from .lattice.main_directions import grid_axes

#: Cells across the thinnest way through a mesh, at the detail `NORMAL`.
AUTOMATIC_CELLS = 4


def automatic_cell_size(
    name: str, positions: FloatArray, triangles: IntArray | None, outline: ArrayLike | None = None,
    count: int = DETAIL["NORMAL"],
) -> float:  # fmt: skip
    """Cell size [m]: a few cells across what is thinnest, in no more than about `count` vertices.

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
    size = least
    for _ in range(30):  # content / s^d vertices, and half of one more for each side of a cell on the border
        size = float((content + 0.5 * border * size) / count) ** (1.0 / dimension)
    across = round(AUTOMATIC_CELLS * (count / DETAIL["NORMAL"]) ** (1.0 / dimension))
    return least / max(1, min(across, int(least / max(size, TINY))))
