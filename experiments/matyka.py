"""Matyka 2004, section 6 and appendix B: the longest steps of Euler's and of Heun's method.

His ball is a loop in a plane; the core has skins in space, so this is a ball of his kind in space. Walls give back a
tenth of the speed, as his do.
"""

import numpy as np
from scenes import GRAVITY, Ball, ball_world
from softpressure_ext.core.solvers.force_based.forces import SoftForces
from softpressure_ext.core.solvers.force_based.schemes import SCHEMES, stable_angle
from softpressure_ext.core.solvers.force_based.stability import stiffest_frequency

from .parts import FRAME_RATE, fewest_substeps, survives

BALL = Ball(0.2, 0.2, 2e3, 2e3)
METHODS = ("EXPLICIT_EULER", "HEUN")
#: Damping of the ball [1/s].
DAMPINGS = (0.0, 5.0, 50.0)
DROP, BOUNCINESS = 0.1, 0.1


def run(quick=False):
    """Largest stable step [s] by method and damping, and the stiffest frequency [1/s]."""
    subdivisions, frames = (1, 20) if quick else (2, 60)
    options = {"drop": DROP, "bounciness": BOUNCINESS, "frame_rate": FRAME_RATE}
    steps = {}
    for damping in DAMPINGS[1:2] if quick else DAMPINGS:
        for method in METHODS:
            fewest = fewest_substeps(
                lambda substeps, method=method, damping=damping: survives(
                    ball_world(BALL, subdivisions, substeps=substeps, solver=method, damping=damping, **options),
                    frames,
                    BALL.mass * GRAVITY * DROP,
                )
            )
            steps[method, damping] = None if fewest is None else 1.0 / (FRAME_RATE * fewest)
    model = ball_world(BALL, subdivisions, **options).model
    gas = (model.gauge_pressure + model.ambient_pressure) * model.rest_volume
    frequency = stiffest_frequency(model, SoftForces(model), gas)
    return {
        "points": model.vertex_count,
        "seconds": frames / FRAME_RATE,
        "frequency": float(np.round(frequency, 6)),
        "steps": steps,
        "angles": {method: stable_angle(SCHEMES[method]) for method in METHODS},
    }
