"""The explicit integrators of the papers, as one table.

A step of length h from x, v with the accelerations a_j = F(X_j, V_j) / m reads

    X_i = x + c_i h v + h^2 sum_j A_ij a_j      the stages, j < i
    V_i = v + h sum_j D_ij a_j                  their velocities, which dampers need
    x'  = x + h v + h^2 sum_j B_j a_j
    v'  = v + h sum_j b_j a_j                   (Nystroem 1925; Hairer, Norsett, Wanner 1993, II.14)

and an integrator is its numbers c, A, D, B, b.
"""

from dataclasses import dataclass

import numpy as np

from ..array_types import FloatArray

#: Growth of an oscillation in a step that still counts as none: a body's own damping of some 1/s outweighs it.
GROWTH = 1e-4


@dataclass(frozen=True, slots=True)
class Scheme:
    """An explicit integrator for forces that depend on positions and velocities."""

    nodes: tuple[float, ...]  # c: when each stage is, as a share of the step
    stages: tuple[tuple[float, ...], ...]  # A: weights of the earlier accelerations in each stage's positions
    speeds: tuple[tuple[float, ...], ...]  # D: the same in each stage's velocities
    position: tuple[float, ...]  # B
    velocity: tuple[float, ...]  # b


SCHEMES: dict[str, Scheme] = {
    # v' = v + h a, x' = x + h v': what both papers call explicit Euler has the new velocity in the position, which
    # makes it symplectic. Matyka's listing leaves the mass out of the vertical velocity; here each vertex has its own.
    # Matyka 2004, section 6; Mesit 2007, eq. 6, 7, 25
    "EXPLICIT_EULER": Scheme((0.0,), ((),), ((),), (1.0,), (1.0,)),
    # predictor x + h v, v + h a; corrector with the mean of both slopes: Matyka 2004, appendix B, eq. 13, 14
    "HEUN": Scheme((0.0, 1.0), ((), (0.0,)), ((), (1.0,)), (0.5, 0.0), (0.5, 0.5)),
    # stages move with the velocity that their own acceleration has given, x_1 = x + (v + a_0 h/2) h/2, and the
    # position with the final velocity, so positions are of first order (Martin 2009, 3.2, takes all for fourth order)
    "RK4_MARTIN": Scheme(
        (0.0, 0.5, 0.5, 1.0),
        ((), (0.25,), (0.0, 0.25), (0.0, 0.0, 1.0)),
        ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)),
        (1 / 6, 1 / 3, 1 / 3, 1 / 6),
        (1 / 6, 1 / 3, 1 / 3, 1 / 6),
    ),
    "RK4": Scheme(  # Kutta 1901; Kurmaly and Wu 2021
        (0.0, 0.5, 0.5, 1.0),
        ((), (0.0,), (0.25, 0.0), (0.0, 0.5, 0.0)),
        ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)),
        (1 / 6, 1 / 6, 1 / 6, 0.0),
        (1 / 6, 1 / 3, 1 / 3, 1 / 6),
    ),
}


def step_matrix(scheme: Scheme, angle: float, ratio: float = 0.0) -> FloatArray:
    """What a step does to (x, h v) of the oscillator x'' = -w^2 x - 2 ratio w x', shape (2, 2).

    `angle` = h w; `ratio`: its damping ratio.
    """
    z, loss = angle * angle, 2.0 * ratio * angle
    accelerations = list[FloatArray]()
    for node, weights, speed_weights in zip(scheme.nodes, scheme.stages, scheme.speeds, strict=True):
        stage, speed = np.array([1.0, node]), np.array([0.0, 1.0])
        for weight, speed_weight, a in zip(weights, speed_weights, accelerations, strict=True):
            stage = stage + weight * a
            speed = speed + speed_weight * a
        accelerations.append(-z * stage - loss * speed)
    position, velocity = np.array([1.0, 1.0]), np.array([0.0, 1.0])
    for weight, speed_weight, a in zip(scheme.position, scheme.velocity, accelerations, strict=True):
        position = position + weight * a
        velocity = velocity + speed_weight * a
    return np.stack([position, velocity])


def stable_angle(scheme: Scheme, ratio: float = 0.0, ratio_per_angle: float = 0.0) -> float:
    """Largest h w at which an oscillation of the angular frequency w does not grow by more than GROWTH a step.

    Its damping ratio is `ratio` + `ratio_per_angle` h w: of dampers, and of those that grow with the step (eq. 12 of
    Mesit 2007).
    """
    angles = np.linspace(0.005, 4.0, 800) / max(1.0, ratio)  # much damped, the limit is at most 1.4 / ratio
    for number, angle in enumerate(angles.tolist()):
        matrix = step_matrix(scheme, angle, ratio + ratio_per_angle * angle)
        if np.abs(np.linalg.eigvals(matrix)).max() > 1.0 + GROWTH:
            return float(angles[max(number - 1, 0)])
    return float(angles[-1])
