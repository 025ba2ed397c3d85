"""Matyka 2004: his ball in the plane blows up and falls in its box; the longest steps of Euler's and Heun's method.

As in his program, gravity acts once the pressure has come to its final value (5.1), nothing is outside, and the walls
give back a tenth of the speed. The text gives no sizes, masses or constants; they are chosen here. The longest steps
(section 6, appendix B) depend on the dampers k_d of eq. 1: by theory, of a ring of springs and dampers alone, and of
the ball in the plane and in space.
"""

from dataclasses import replace

import numpy as np
import shapes
from scenes import GRAVITY, Ball
from softpressure_ext.core import DivergenceError, MethodOptions, ModelBuilder, World
from softpressure_ext.core.papers.schemes import SCHEMES, Scheme, stable_angle
from softpressure_ext.core.papers.solver import ForceBasedSolver

from .parts import (
    FRAME_RATE,
    equilibrium,
    fewest_substeps,
    frequency_at,
    longest_step,
    needed_substeps,
    put,
    recorded,
    survives,
    tray,
)

BALL = Ball(0.2, 0.2, 2e3, 2e3)
#: Points of the loop, its depth [m], and edge of the box [m].
POINTS, DEPTH, BOX = 40, 0.1, 1.0
METHODS = ("EXPLICIT_EULER", "HEUN")
DROP, BOUNCINESS = 0.1, 0.1
#: The run with a slow filling: how long it lasts [s], where the ball begins, its damping and sideways speed.
RAMP, HEIGHT, FALL_DAMPING, SPEED = 0.5, 0.6, 5.0, 1.0

#: Euler's method as textbooks have it, with the old velocity in the position; Matyka's listing takes the new one.
FORWARD_EULER = Scheme("x' = x + h v, v' = v + h a", (0.0,), ((),), ((),), (0.0,), (1.0,))
#: Integrators of the map.
MAPPED = {"EXPLICIT_EULER": SCHEMES["EXPLICIT_EULER"], "FORWARD_EULER": FORWARD_EULER, "HEUN": SCHEMES["HEUN"],
          "RK4": SCHEMES["RK4"]}  # fmt: skip
#: Damping ratios of the map's curves, of its measured points, and of the balls.
RATIOS, MEASURED, BALL_RATIOS = np.linspace(0.0, 1.0, 101), (0.1, 0.2, 0.3, 0.5, 0.7, 0.9), (0.0, 0.1, 0.2, 0.3, 0.5)
#: The ring: spring constant [N/m], mass of a point [kg], speed of its points at the start [m/s].
SPRING, POINT_MASS, NUDGE = 1e3, 0.01, 1e-4
#: A step is too long if the ring moves more than GROWN times as fast at any time within so many steps.
STEPS, GROWN = 2000, 3.0


class ForwardEuler(ForceBasedSolver):
    """Advances a model by the textbook's Euler method, which the extension does not offer."""

    def __init__(self, model, substep_time):
        super().__init__(model, substep_time, "EXPLICIT_EULER")
        self._scheme = FORWARD_EULER


def loop_model(height, damping=0.0, ratio=0.0, speed=0.0):
    """His ball in its box, its middle at a height [m]; `ratio`: damping ratio that dampers give, see `damped`."""
    builder = ModelBuilder(ambient_pressure=0.0)
    builder.add_loop(
        "ball", shapes.upright(shapes.ring(POINTS, BALL.radius), height), depth=DEPTH, mass=BALL.mass,
        gauge_pressure=BALL.gauge_pressure, stretch_modulus=BALL.stretch_modulus, damping=damping,
        bounciness=BOUNCINESS, velocity=(speed, 0.0, 0.0),
    )  # fmt: skip
    builder.add_collider("box", *tray(BOX, BOX, 2.0 * BOX), bounciness=BOUNCINESS)
    return damped(builder.build(), ratio)


def skin_model(subdivisions, height, ratio=0.0, damping=0.0):
    """A ball of the same kind in space above a floor."""
    builder = ModelBuilder(ambient_pressure=0.0)
    points, triangles = shapes.icosphere(subdivisions, BALL.radius)
    builder.add_membrane(
        "ball", points + (0.0, 0.0, height), triangles, mass=BALL.mass, gauge_pressure=BALL.gauge_pressure,
        stretch_modulus=BALL.stretch_modulus, damping=damping, bounciness=BOUNCINESS,
    )  # fmt: skip
    builder.add_collider("floor", *shapes.grid(20.0 * BALL.radius), bounciness=BOUNCINESS)
    return damped(builder.build(), ratio)


def damped(model, ratio):
    """The model with dampers that give its stiffest oscillation a damping ratio: c = 2 ratio k / w."""
    if ratio == 0.0:
        return model
    frequency = frequency_at(model, equilibrium(model))
    return replace(model, edge_damping=2.0 * ratio / frequency * model.edges.stiffness)


def filling(method, frames):
    """Outlines, areas over that at rest, pressures [Pa] and heights of the middle [m] by frame, from empty on."""
    model = loop_model(HEIGHT, FALL_DAMPING, speed=SPEED)
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

    return recorded(world, frames, row, note)


def filling_in_space(frames, subdivisions=3):
    """Positions of a skin by frame that is filled and falls on a floor (his figure 4), and its triangles."""
    model = skin_model(subdivisions, HEIGHT, damping=FALL_DAMPING)
    world = World(
        model, frame_rate=FRAME_RATE, substeps=needed_substeps(model, "EXPLICIT_EULER"), solver="EXPLICIT_EULER",
        threads=1, options=MethodOptions(ramp_time=RAMP),
    )  # fmt: skip
    positions = [world.save().positions[: model.vertex_count].copy()]
    for _ in range(frames):
        world.advance_frame()
        positions.append(world.save().positions[: model.vertex_count].copy())
    start = model.surfaces.body_triangle_start
    return {"positions": positions, "triangles": model.surfaces.triangles[start[0] : start[1]]}


def ring_model(ratio=0.0):
    """A ring of equal springs, dampers and points, without gas, and the frequency of its stiffest oscillation [1/s].

    Neighbours move against each other along the ring: w = 2 sqrt(k / m) cos(pi / n).
    """
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0), ambient_pressure=0.0)
    frequency = 2.0 * np.sqrt(SPRING / POINT_MASS) * np.cos(np.pi / POINTS)
    builder.add_loop(
        "ring", shapes.upright(shapes.ring(POINTS, BALL.radius), 0.0), depth=DEPTH, spring_constant=SPRING,
        point_mass=POINT_MASS, spring_damping=2.0 * ratio * SPRING / frequency, bounciness=1.0,
    )  # fmt: skip
    return builder.build(), float(frequency)


def ring_limit(method, ratio, theory):
    """Longest h w with which the ring's stiffest oscillation does not grow, near that of the theory."""
    model, frequency = ring_model(ratio)
    solver = ForwardEuler if method == "FORWARD_EULER" else method
    batch = 50

    def holds(h):
        world = World(model, frame_rate=1.0 / (batch * h), substeps=batch, solver=solver, threads=1)
        state, n = world.save(), model.vertex_count
        x = state.positions[:n] - state.positions[:n].mean(axis=0)
        around = np.arctan2(x[:, 2], x[:, 0])
        sign = np.where(np.round(around / (2.0 * np.pi / POINTS)).astype(int) % 2, -1.0, 1.0)
        state.velocities[:n] = NUDGE * sign[:, None] * np.stack([-x[:, 2], 0.0 * around, x[:, 0]], 1) / BALL.radius
        world.load(state)
        for _ in range(STEPS // batch):
            try:
                world.advance_frame()
            except DivergenceError:
                return False
            if np.abs(world.save().velocities).max() > GROWN * NUDGE:
                return False
        return True

    step = longest_step(holds, 0.7 * theory / frequency, 1.35 * theory / frequency)
    return None if step is None else step * frequency


def step_map(quick=False):
    """Longest h w by method: over damping ratios by theory, and measured with the ring."""
    measured = (0.1, 0.3, 0.5) if quick else MEASURED
    return {
        method: {
            "theory": [stable_angle(scheme, ratio) for ratio in RATIOS],
            "measured": {ratio: ring_limit(method, ratio, stable_angle(scheme, ratio)) for ratio in measured},
        }
        for method, scheme in MAPPED.items()
    }


def ball_steps(quick=False):
    """Longest step [s] of the falling ball by place, method and damping ratio, and its stiffest frequency [1/s].

    The ball starts full, in equilibrium, and must not gain more energy than its fall has. If it started at its rest
    shape it would swing by more energy than that, which Euler's method, whose velocities are half a step behind its
    positions, does not tell correctly at any time.
    """
    frames = 15 if quick else 30
    kinds = {"plane": lambda ratio: loop_model(BALL.radius + DROP, ratio=ratio)}
    kinds["space"] = lambda ratio: skin_model(1 if quick else 2, BALL.radius + DROP, ratio)
    steps, frequency = {}, {}
    for place, make in kinds.items():
        rest = equilibrium(make(0.0))
        frequency[place] = frequency_at(make(0.0), rest)
        for ratio in (0.0, 0.5) if quick else BALL_RATIOS:
            model = make(ratio)
            for method in METHODS:
                fewest = fewest_substeps(
                    lambda substeps, model=model, method=method, rest=rest: survives(
                        put(World(model, frame_rate=FRAME_RATE, substeps=substeps, solver=method, threads=1), rest),
                        frames, BALL.mass * GRAVITY * DROP,
                    )
                )  # fmt: skip
                steps[place, method, ratio] = None if fewest is None else 1.0 / (FRAME_RATE * fewest)
    return {"steps": steps, "frequency": frequency, "seconds": frames / FRAME_RATE}


def run(quick=False):
    """The fall in the plane and in space, the map of step limits, and the longest steps of the falling ball."""
    frames = 45 if quick else 90
    return {
        "map": step_map(quick),
        "balls": ball_steps(quick),
        "filling": {method: filling(method, frames) for method in METHODS},
        "in_space": filling_in_space(frames, 2 if quick else 3),
    }
