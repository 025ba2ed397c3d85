"""Vertices as the projections of skins read them: x, y, z [m] and the inverse mass w [1/kg] in one row of four.

One load brings all that a projection needs of a vertex, and its moves are written with one store (`core/lanes.py`).
w is written once and stays: moves have 0 there. The prediction fills the rows from the state, the sweep's end
(`spin.measure_spin`) writes them back.
"""

import numpy as np

from ...model import FloatArray

#: Bytes of a line of the cache. A row that lies across two costs two.
LINE = 64


def vertex_rows(inverse_mass: FloatArray, spare_count: int) -> FloatArray:
    """A row for each vertex, shape (vertex_count + spare_count, 4), and spare ones for what has no vertex."""
    rows = on_lines((len(inverse_mass) + spare_count, 4))
    rows[: len(inverse_mass), 3] = inverse_mass
    return rows


def on_lines(shape: tuple[int, int]) -> FloatArray:
    """Zeros that begin with a line of the cache."""
    size = 8 * shape[0] * shape[1]
    room = np.zeros(size + LINE, np.uint8)
    first = -room.ctypes.data % LINE
    return room[first : first + size].view(np.float64).reshape(shape)
