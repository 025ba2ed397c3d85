"""Gradient noise (Perlin 2002) in three octaves: a pure function of place and seed, the same in every run."""

import numpy as np
from numpy.typing import NDArray

from ..array_types import FloatArray

#: Each octave is twice as fine and half as strong as the one before; together they are at most about 1.
OCTAVES = 3
#: Mixes the bits of a whole number (Steele, Lea, Flood 2014, splitmix64).
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB), np.uint64(0x9E3779B97F4A7C15))
#: Gradients: the middles of a cube's edges.
_GRADIENTS = np.array(
    [[a, b, 0.0] for a in (-1.0, 1.0) for b in (-1.0, 1.0)]
    + [[a, 0.0, b] for a in (-1.0, 1.0) for b in (-1.0, 1.0)]
    + [[0.0, a, b] for a in (-1.0, 1.0) for b in (-1.0, 1.0)]
)


def turbulence(positions: FloatArray, seed: int) -> FloatArray:
    """Three independent smooth numbers between about -1 and 1 at each place, shape (count, 3).

    `positions` in units of the largest eddies, shape (count, 3).
    """
    out = np.zeros_like(positions)
    total = 2.0 - 0.5 ** (OCTAVES - 1)
    for axis in range(3):
        for octave in range(OCTAVES):
            number = np.uint64((3 * seed + axis) * OCTAVES + octave)
            # each octave somewhere else, so that not all are 0 at whole numbers
            out[:, axis] += 0.5**octave / total * _noise(positions * 2.0**octave + 0.37 * octave, number)
    return out


def _noise(p: FloatArray, seed: np.uint64) -> FloatArray:
    """Gradient noise at places, shape (count,)."""
    corner = np.floor(p)
    inner, cell = p - corner, corner.astype(np.int64).view(np.uint64)
    fade = inner**3 * (inner * (inner * 6.0 - 15.0) + 10.0)
    total = np.zeros(len(p))
    for number in range(8):
        shift = np.array([number & 1, number >> 1 & 1, number >> 2 & 1])
        gradient = _GRADIENTS[_hash(cell + shift.astype(np.uint64), seed) % np.uint64(len(_GRADIENTS))]
        weight = np.where(shift == 1, fade, 1.0 - fade).prod(axis=1)
        total += weight * (gradient * (inner - shift)).sum(axis=1)
    return total


def _hash(cell: NDArray[np.uint64], seed: np.uint64) -> NDArray[np.uint64]:
    """A number of 64 bits that seems random, for each cell of a lattice, shape (count,)."""
    mixed = np.full(len(cell), seed, np.uint64)
    for axis in range(3):
        mixed = (mixed + cell[:, axis]) * _MIX[2] + _MIX[2]
        mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX[0]
        mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX[1]
        mixed ^= mixed >> np.uint64(31)
    return mixed
