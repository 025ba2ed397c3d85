"""Numbers and arrays from outside, and the sentences that refuse what cannot be simulated."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .array_types import BoolArray, FloatArray, IntArray
from .errors import ParameterError


def vector(name: str, what: str, values: Sequence[float], unit: str) -> FloatArray:
    """Three finite numbers as an array, or `ParameterError`."""
    array = np.asarray(values, dtype=float)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise ParameterError(f"{name}: {what} {values}; give three finite numbers in {unit}.")
    return array


def positions_of(name: str, positions: ArrayLike) -> FloatArray:
    """Positions as an array of shape (vertex count, 3), or `ParameterError`."""
    array = np.array(positions, dtype=float, order="C")
    if array.ndim != 2 or array.shape[1] != 3:
        raise ParameterError(f"{name}: positions of shape {array.shape}; give (vertex count, 3).")
    return array


def triangles_of(name: str, triangles: ArrayLike) -> IntArray:
    """Triangles as an array of shape (triangle count, 3), or `ParameterError`."""
    array = np.array(triangles, dtype=np.int32, order="C")
    if array.size == 0:
        return array.reshape(0, 3)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ParameterError(f"{name}: triangles of shape {array.shape}; give (triangle count, 3).")
    return array


def ignored_pairs(ignores: ArrayLike | None, body_count: int) -> BoolArray:
    """Pairs of bodies of which one ignores the other, shape (body_count, body_count), or `ParameterError`."""
    if ignores is None:
        return np.zeros((body_count, body_count), bool)
    pairs = np.array(ignores, dtype=bool)
    if pairs.shape != (body_count, body_count):
        raise ParameterError(f"ignores: shape {pairs.shape}; give ({body_count}, {body_count}), a row per body.")
    np.fill_diagonal(pairs, False)
    both: BoolArray = pairs | pairs.T
    return both


def check_choice(name: str, what: str, value: str, choices: Sequence[str]) -> str:
    """The value, or `ParameterError` where it is none of the choices."""
    if value in choices:
        return value
    raise ParameterError(f"{name}: {what} {value}; give {' or '.join(choices)}.")


def check(
    name: str, what: str, value: float, unit: str, *, low: float, high: float = math.inf, open_low: bool = False
) -> float:
    """The number, or `ParameterError` where it is not finite or out of its range."""
    number = float(value)
    if math.isfinite(number) and low <= number <= high and not (open_low and number == low):
        return number
    limit = f"above {low:g}" if open_low else f"at least {low:g}"
    if high < math.inf:
        limit += f" and at most {high:g}"
    raise ParameterError(f"{name}: {what} {number:g} {unit}".rstrip() + f"; give a number {limit}.")
