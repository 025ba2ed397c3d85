"""Vertices as the projections of skins read them: x, y, z [m] and the inverse mass w [1/kg] in one row of four.

One load brings all that a projection needs of a vertex, and its moves are written with one store (`core/lanes.py`).
w is written once and stays: moves have 0 there. The prediction fills the rows from the state, the sweep's end
(`spin.measure_spin`) writes them back.
"""

import numpy as np

from ...model import FloatArray


def vertex_rows(inverse_mass: FloatArray, spare_count: int) -> FloatArray:
    """A row for each vertex, shape (vertex_count + spare_count, 4), and spare ones for what has no vertex."""
    rows = np.zeros((len(inverse_mass) + spare_count, 4))
    rows[: len(inverse_mass), 3] = inverse_mass
    return rows
