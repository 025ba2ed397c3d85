"""Gradient noise (Perlin 2002) in three octaves: a pure function of place and seed, the same in every run."""

from math import floor

import numpy as np

from ..array_types import FloatArray
from ..jit import lean_inline_kernel, lean_kernel

#: Each octave is twice as fine and half as strong as the one before; together they are at most about 1.
OCTAVES = 3
#: Mixes the bits of a whole number (Steele, Lea, Flood 2014, splitmix64).
FIRST_MIX, SECOND_MIX, STRIDE = (
    np.uint64(0xBF58476D1CE4E5B9),
    np.uint64(0x94D049BB133111EB),
    np.uint64(0x9E3779B97F4A7C15),
)
#: A hash holds a number of this many bits for each axis.
AXIS_BITS = 21
#: Gradients: the middles of a cube's edges.
GRADIENTS = np.array(
    [[a, b, 0.0] for a in (-1.0, 1.0) for b in (-1.0, 1.0)]
    + [[a, 0.0, b] for a in (-1.0, 1.0) for b in (-1.0, 1.0)]
    + [[0.0, a, b] for a in (-1.0, 1.0) for b in (-1.0, 1.0)]
)


def turbulence(positions: FloatArray, seed: int) -> FloatArray:
    """Three independent smooth numbers between about -1 and 1 at each place, shape (count, 3).

    `positions` in units of the largest eddies, shape (count, 3).
    """
    out = np.zeros(positions.shape)
    add_noise(np.ascontiguousarray(positions, float), np.uint64(seed), GRADIENTS, out)
    return out


@lean_kernel
def add_noise(positions, seed, gradients, out):
    """Add the noise at places to `out`, shape (count, 3)."""
    total = 2.0 - 0.5 ** (OCTAVES - 1)
    for i in range(positions.shape[0]):
        for octave in range(OCTAVES):
            # each octave somewhere else, so that not all are 0 at whole numbers
            scale, shift = 2.0**octave, 0.37 * octave
            px, py, pz = (
                scale * positions[i, 0] + shift,
                scale * positions[i, 1] + shift,
                scale * positions[i, 2] + shift,
            )
            x, y, z = floor(px), floor(py), floor(pz)
            u, v, w = px - x, py - y, pz - z
            fu, fv, fw = fade(u), fade(v), fade(w)
            number = seed * np.uint64(OCTAVES) + np.uint64(octave)
            for corner in range(8):
                a, b, c = corner & 1, corner >> 1 & 1, corner >> 2
                weight = (fu if a else 1.0 - fu) * (fv if b else 1.0 - fv) * (fw if c else 1.0 - fw) / (scale * total)
                bits = hashed(hashed(hashed(number, x + a), y + b), z + c)
                for axis in range(3):
                    g = (bits >> np.uint64(AXIS_BITS * axis) & np.uint64((1 << AXIS_BITS) - 1)) % np.uint64(12)
                    out[i, axis] += weight * (
                        gradients[g, 0] * (u - a) + gradients[g, 1] * (v - b) + gradients[g, 2] * (w - c)
                    )


@lean_inline_kernel
def fade(t):
    """Perlin's fade, 0 to 1 with two derivatives of 0 at both ends."""
    return t * t * t * (t * (t * 6.0 - 15.0) + 10.0)


@lean_inline_kernel
def hashed(mixed, cell):
    """A number of 64 bits that seems random, of one before and the number of a lattice's cell."""
    mixed = (mixed + np.uint64(np.int64(cell))) * STRIDE + STRIDE
    mixed = (mixed ^ (mixed >> np.uint64(30))) * FIRST_MIX
    mixed = (mixed ^ (mixed >> np.uint64(27))) * SECOND_MIX
    return mixed ^ (mixed >> np.uint64(31))
