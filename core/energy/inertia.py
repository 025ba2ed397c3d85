"""Inertia of the membranes' vertices in a time stage, as an energy of the distance from their free flight."""

from ..jit import kernel


@kernel
def inertia_energy(x, target, inertia, chunks, energy):
    """1/2 inertia |x - target|^2 [J], per chunk into `energy`; returns the sum."""
    for chunk in range(chunks.body.shape[0]):
        total = 0.0
        for i in range(chunks.start[chunk], chunks.start[chunk + 1]):
            dx, dy, dz = x[i, 0] - target[i, 0], x[i, 1] - target[i, 1], x[i, 2] - target[i, 2]
            total += inertia[i] * (dx * dx + dy * dy + dz * dz)
        energy[chunk] = 0.5 * total
    return energy.sum()
