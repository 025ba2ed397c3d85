"""Matyka 2004: his ball in the plane blows up and falls in its box; the longest steps of Euler's and Heun's method.

As in his program, gravity acts once the pressure has come to its final value (5.1), nothing is outside, and the walls
give back a tenth of the speed. The text gives no sizes, masses or constants; they are chosen here. The longest steps
(section 6, appendix B) are those of the ball in the plane, and of a ball of its kind in space.
"""

import numpy as np
import shapes
from scenes import GRAVITY, Ball, ball_world
from softpressure_ext.core import DivergenceError, MethodOptions, ModelBuilder, World
from softpressure_ext.core.papers.forces import SoftForces
from softpressure_ext.core.papers.schemes import SCHEMES, stable_angle
from softpressure_ext.core.papers.stability import stiffest_frequency

from .parts import FRAME_RATE, fewest_substeps, needed_substeps, survives, tray

BALL = Ball(0.2, 0.2, 2e3, 2e3)
#: Points of the loop, its depth [m], and edge of the box [m].
POINTS, DEPTH, BOX = 40, 0.1, 1.0
METHODS = ("EXPLICIT_EULER", "HEUN")
#: Damping of the ball [1/s].
DAMPINGS = (0.0, 5.0)
DROP, BOUNCINESS = 0.1, 0.1
#: The run with a slow filling: how long it lasts [s], where the ball begins, its damping and sideways speed.
RAMP, HEIGHT, FALL_DAMPING, SPEED = 0.5, 0.6, 5.0, 1.0


def loop_model(height, damping, speed=0.0):
    """His ball in its box, its middle at a height [m]."""
    builder = ModelBuilder(ambient_pressure=0.0)
    builder.add_loop(
        "ball", shapes.upright(shapes.ring(POINTS, BALL.radius), height), depth=DEPTH, mass=BALL.mass,
        gauge_pressure=BALL.gauge_pressure, stretch_modulus=BALL.stretch_modulus, damping=damping,
        bounciness=BOUNCINESS, velocity=(speed, 0.0, 0.0),
    )  # fmt: skip
    builder.add_collider("box", *tray(BOX, BOX, 2.0 * BOX), bounciness=BOUNCINESS)
    return builder.build()


def filling(method, frames):
    """Outlines, areas over that at rest, pressures [Pa] and heights of the middle [m] by frame, from empty on."""
    model = loop_model(HEIGHT, FALL_DAMPING, SPEED)
    substeps = needed_substeps(model, method)
    world = World(
        model, frame_rate=FRAME_RATE, substeps=substeps, solver=method, threads=1, options=MethodOptions(ramp_time=RAMP)
    )
    row = {"substeps": substeps, "outline": [], "area": [], "pressure": [], "height": []}

    def note():
        body, x = world.diagnostics().bodies[0], world.positions(0)
        row["outline"].append(x[:, [0, 2]])
        row["area"].append(body.volume_ratio)
        row["pressure"].append(body.gauge_pressure)
        row["height"].append(float(x[:, 2].mean()))

    note()
    try:
        for _ in range(frames):
            world.advance_frame()
            note()
    except DivergenceError as error:
        row["error"] = str(error)
    return row


def longest_step(make, method, frames):
    """Longest step [s] with which `make(substeps)` gets through the frames without more energy than the fall has."""
    fewest = fewest_substeps(lambda substeps: survives(make(substeps), frames, BALL.mass * GRAVITY * DROP))
    return None if fewest is None else 1.0 / (FRAME_RATE * fewest)


def in_plane(method, damping):
    """Makes worlds of the loop, full from the start."""
    model = loop_model(BALL.radius + DROP, damping)
    return lambda substeps: World(model, frame_rate=FRAME_RATE, substeps=substeps, solver=method, threads=1)


def in_space(method, damping, subdivisions):
    """Makes worlds of a skin in space, full from the start."""
    options = {"drop": DROP, "bounciness": BOUNCINESS, "frame_rate": FRAME_RATE, "damping": damping}
    return lambda substeps: ball_world(BALL, subdivisions, substeps=substeps, solver=method, **options)


def run(quick=False):
    """Largest stable step [s] by place, method and damping, the stiffest frequencies [1/s], and the fall."""
    subdivisions, frames = (1, 20) if quick else (2, 30)
    dampings = DAMPINGS[1:] if quick else DAMPINGS
    steps, frequency, points = {}, {}, {}
    for method in METHODS:
        for damping in dampings:
            steps["plane", method, damping] = longest_step(in_plane(method, damping), method, frames)
        steps["space", method, 5.0] = longest_step(in_space(method, 5.0, subdivisions), method, frames)
    for place, world in (("plane", in_plane("HEUN", 0.0)(1)), ("space", in_space("HEUN", 0.0, subdivisions)(1))):
        model = world.model
        gas = (model.gauge_pressure + model.ambient_pressure) * model.rest_volume
        frequency[place] = float(np.round(stiffest_frequency(model, SoftForces(model), gas), 6))
        points[place] = POINTS if place == "plane" else model.vertex_count
    return {
        "points": points,
        "seconds": frames / FRAME_RATE,
        "frequency": frequency,
        "steps": steps,
        "dampings": dampings,
        "angles": {method: stable_angle(SCHEMES[method]) for method in METHODS},
        "filling": {method: filling(method, 45 if quick else 90) for method in METHODS},
    }
