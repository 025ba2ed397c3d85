"""Which substep should be stable: from the stiffest oscillation of the bodies as they are at rest."""

import numpy as np

from ..model import FloatArray, Model
from .forces import SoftForces
from .schemes import SCHEMES, stable_angle

#: h w up to which the simplified implicit steps stayed bounded in tests (`tests/test_papers_schemes.py`).
SIMPLIFIED_ANGLE = 0.5
#: A skin that is stretched or bent is stiffer than at rest.
MARGIN = 0.7
POWER_STEPS = 60


def stiffest_frequency(model: Model, forces: SoftForces, gas: FloatArray) -> float:
    """Angular frequency [1/s] of the stiffest oscillation at the rest shape, by power iteration on the forces."""
    n = model.vertex_count
    x = model.rest_positions
    arm = model.rigid.arm
    size = 1e-6 * float(model.edges.rest_length.mean())
    root = np.sqrt(model.vertex_mass)[:, None]
    # rough enough to have a share of every oscillation, the same every time
    direction = np.cos(np.arange(3.0 * n) ** 2).reshape(n, 3)
    direction[model.pinned] = 0.0
    ahead, behind = np.zeros((model.unknown_count, 3)), np.zeros((model.unknown_count, 3))
    largest = 0.0
    for _ in range(POWER_STEPS):
        move = direction / root
        scale = size / float(np.abs(move).max())
        trial = x.copy()
        trial[:n] = x[:n] + scale * move
        forces.evaluate(trial, gas, arm, ahead)
        trial[:n] = x[:n] - scale * move
        forces.evaluate(trial, gas, arm, behind)
        product = (behind - ahead)[:n] / (2.0 * scale) / root
        largest = float(np.sqrt(np.einsum("ij,ij->", product, product) / np.einsum("ij,ij->", direction, direction)))
        if not largest > 0.0:
            return 0.0
        direction = product / largest
    return float(np.sqrt(largest))


def stable_time(model: Model, forces: SoftForces, method: str, gas: FloatArray) -> float:
    """Longest substep [s] with which a method should be stable; 0 where nothing oscillates."""
    if model.vertex_count == 0:
        return 0.0
    scheme = SCHEMES.get(method)
    angle = SIMPLIFIED_ANGLE if scheme is None else stable_angle(scheme)
    frequency = stiffest_frequency(model, forces, gas)
    return MARGIN * angle / frequency if frequency > 0.0 else 0.0
