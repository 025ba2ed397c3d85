"""The explicit integrators of the papers, as one table.

Forces here depend on positions alone, so a step of length h from x, v with the accelerations a_j = F(X_j) / m reads

    X_i = x + c_i h v + h^2 sum_j A_ij a_j      the stages, j < i
    x'  = x + h v + h^2 sum_j B_j a_j
    v'  = v + h sum_j b_j a_j                   (Nystroem 1925; Hairer, Norsett, Wanner 1993, II.14)

and an integrator is its numbers c, A, B, b.
"""

from dataclasses import dataclass

import numpy as np

#: Growth of an oscillation in a step that still counts as none: a body's own damping of some 1/s outweighs it.
GROWTH = 1e-4


@dataclass(frozen=True, slots=True)
class Scheme:
    """An explicit integrator for forces that depend on positions alone."""

    source: str
    nodes: tuple[float, ...]  # c: when each stage is, as a share of the step
    stages: tuple[tuple[float, ...], ...]  # A: weights of the earlier accelerations in each stage's positions
    position: tuple[float, ...]  # B
    velocity: tuple[float, ...]  # b


SCHEMES: dict[str, Scheme] = {
    # v' = v + h a, x' = x + h v': what both papers call explicit Euler has the new velocity in the position, which
    # makes it symplectic. Matyka's listing leaves the mass out of the vertical velocity; here each vertex has its own.
    "EXPLICIT_EULER": Scheme("Matyka 2004, section 6; Mesit 2007, eq. 6, 7, 25", (0.0,), ((),), (1.0,), (1.0,)),
    # predictor x + h v, v + h a; corrector with the mean of both slopes
    "HEUN": Scheme("Matyka 2004, appendix B, eq. 13, 14", (0.0, 1.0), ((), (0.0,)), (0.5, 0.0), (0.5, 0.5)),
    # stages move with the velocity that their own acceleration has given, x_1 = x + (v + a_0 h/2) h/2, and the
    # position with the final velocity, so positions are of first order (the paper takes all for fourth order)
    "RK4_MARTIN": Scheme(
        "Martin 2009, section 3.2",
        (0.0, 0.5, 0.5, 1.0),
        ((), (0.25,), (0.0, 0.25), (0.0, 0.0, 1.0)),
        (1 / 6, 1 / 3, 1 / 3, 1 / 6),
        (1 / 6, 1 / 3, 1 / 3, 1 / 6),
    ),
    "RK4": Scheme(
        "Kutta 1901; Kurmaly and Wu 2021",
        (0.0, 0.5, 0.5, 1.0),
        ((), (0.0,), (0.25, 0.0), (0.0, 0.5, 0.0)),
        (1 / 6, 1 / 6, 1 / 6, 0.0),
        (1 / 6, 1 / 3, 1 / 3, 1 / 6),
    ),
}


def step_matrix(scheme: Scheme, angle: float) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    """What a step does to (x, h v) of the oscillator x'' = -w^2 x, for `angle` = h w, shape (2, 2)."""
    z = angle * angle
    accelerations: list[np.ndarray[tuple[int], np.dtype[np.float64]]] = []
    for node, weights in zip(scheme.nodes, scheme.stages, strict=True):
        stage = np.array([1.0, node])
        for weight, a in zip(weights, accelerations, strict=True):
            stage = stage + weight * a
        accelerations.append(-z * stage)
    position, velocity = np.array([1.0, 1.0]), np.array([0.0, 1.0])
    for weight, speed_weight, a in zip(scheme.position, scheme.velocity, accelerations, strict=True):
        position = position + weight * a
        velocity = velocity + speed_weight * a
    return np.stack([position, velocity])


def stable_angle(scheme: Scheme) -> float:
    """Largest h w at which an oscillation of the angular frequency w does not grow by more than GROWTH a step."""
    angles = np.linspace(0.005, 4.0, 800)
    for number, angle in enumerate(angles):
        if np.abs(np.linalg.eigvals(step_matrix(scheme, float(angle)))).max() > 1.0 + GROWTH:
            return float(angles[max(number - 1, 0)])
    return float(angles[-1])
