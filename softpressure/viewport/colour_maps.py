"""Colours of numbers: one map from dark to bright, one that diverges from grey. Both can be read without colour vision.

Control points were chosen by their lightness, which grows evenly in the first and falls evenly to both sides in the
second; blue and orange differ for all common kinds of colour blindness. Between them colours are linear in sRGB.
"""

import numpy as np
from numpy.typing import ArrayLike

from ..scene_io.mesh_io import Float32Array

#: sRGB at even distances, from 0 to the limit.
_RISING = np.array([(0.12, 0.10, 0.33), (0.16, 0.29, 0.56), (0.09, 0.49, 0.58), (0.28, 0.69, 0.47), (0.97, 0.9, 0.3)])
#: From minus the limit to the limit.
_DIVERGING = np.array([(0.05, 0.25, 0.6), (0.33, 0.6, 0.87), (0.84, 0.84, 0.84), (0.93, 0.58, 0.25), (0.6, 0.2, 0.0)])


def colours(values: ArrayLike, limit: float, is_signed: bool, alpha: float = 1.0) -> Float32Array:
    """sRGB and alpha of values, shape (n, 4); those beyond the limit have its colour."""
    points = _DIVERGING if is_signed else _RISING
    low = -limit if is_signed else 0.0
    at = np.linspace(low, limit, len(points))
    found = np.empty((np.size(values), 4), np.float32)
    for channel in range(3):
        found[:, channel] = np.interp(np.ravel(values), at, points[:, channel])
    found[:, 3] = alpha
    return found
