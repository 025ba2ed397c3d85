"""Matyka 2004: his ball in the plane blows up and falls in its box; the longest steps of Euler's and Heun's method."""

from functools import partial

import numpy as np
import shapes
from scenes import Ball
from softpressure_ext.core import MethodOptions, ModelBuilder
from softpressure_ext.core.papers.integrator import ForceBased
from softpressure_ext.core.papers.schemes import SCHEMES, Scheme, stable_angle
from softpressure_ext.core.solvers.sequential.solver import SequentialSolver

from .figures import BLUE, COLOURS, GREY, NAMES, label_lines, number
from .parts import FRAME_RATE, lasts, longest_step, put, recorded, tray, world_of

DEPENDS = ("core/papers/*.py", "core/energy/dampers.py", "core/solvers/sequential/*.py", "core/bodies/flat/*.py")
BALL = Ball(0.2, 0.2, 2e3, 2e3)
#: Points of the loop, its depth [m], and edge of the box [m].
POINTS, DEPTH, BOX = 40, 0.1, 1.0
BOUNCINESS = 0.1
#: The run with a slow filling: how long it lasts [s], where the ball begins, its damping and sideways speed.
RAMP, HEIGHT, FALL_DAMPING, SPEED = 0.5, 0.6, 5.0, 1.0
#: Substeps per 1/60 s, in the plane and in space: what little Heun's method lets grow, the damping takes.
SUBSTEPS = {"EXPLICIT_EULER": 80, "HEUN": 320}
#: Seconds at which the ball is drawn.
DRAWN = (0.0, 0.3, 0.5, 0.7, 0.8, 1.0, 1.5)

#: Euler's method as textbooks have it, with the old velocity in the position; Matyka's listing takes the new one.
FORWARD_EULER = Scheme((0.0,), ((),), ((),), (0.0,), (1.0,))
#: Integrators of the map.
MAPPED = {"EXPLICIT_EULER": SCHEMES["EXPLICIT_EULER"], "FORWARD_EULER": FORWARD_EULER, "HEUN": SCHEMES["HEUN"],
          "RK4": SCHEMES["RK4"]}  # fmt: skip
#: Damping ratios of the map's curves, and of its measured points.
RATIOS, MEASURED = np.linspace(0.0, 1.0, 101), (0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
#: The ring: spring constant [N/m], mass of a point [kg], speed of its points at the start [m/s].
SPRING, POINT_MASS, NUDGE = 1e3, 0.01, 1e-4
#: A step is too long if the ring moves more than GROWN times as fast at any time within so many steps.
STEPS, GROWN = 2000, 3.0


class ForwardEuler(ForceBased):
    """The textbook's Euler method, which the extension does not offer."""

    def __init__(self, *given):
        super().__init__("EXPLICIT_EULER", MethodOptions(), *given)
        self._scheme = FORWARD_EULER


def filled(builder, method, frames, note):
    """A run of a ball that is filled first and falls afterwards; `note(world)` by frame."""
    world, row = world_of(builder.build(), method, SUBSTEPS[method], ramp_time=RAMP), {"frames": []}
    return recorded(world, frames, row, lambda: row["frames"].append(note(world)))


def filling(method, frames):
    """Outline, area over that at rest, pressure [Pa] and height of the middle [m] by frame, from empty on."""
    builder = ModelBuilder(ambient_pressure=0.0)
    builder.add_loop(
        "ball", shapes.upright(shapes.ring(POINTS, BALL.radius), HEIGHT), depth=DEPTH, mass=BALL.mass,
        gauge_pressure=BALL.gauge_pressure, stretch_modulus=BALL.stretch_modulus, damping=FALL_DAMPING,
        bounciness=BOUNCINESS, velocity=(SPEED, 0.0, 0.0),
    )  # fmt: skip
    builder.add_collider("box", *tray(BOX, BOX, 2.0 * BOX), bounciness=BOUNCINESS)

    def note(world):
        body, x = world.diagnostics().bodies[0], world.positions(0)
        return x[:, [0, 2]], body.volume_ratio, body.gauge_pressure, float(x[:, 2].mean())

    run = filled(builder, method, frames, note)
    return dict(zip(("outline", "area", "pressure", "height"), zip(*run.pop("frames"), strict=True), strict=True)) | run


def filling_in_space(frames, subdivisions=3):
    """Positions of a skin by frame that is filled and falls on a floor (his figure 4), and its triangles."""
    builder = ModelBuilder(ambient_pressure=0.0)
    points, triangles = shapes.icosphere(subdivisions, BALL.radius)
    builder.add_membrane(
        "ball", points + (0.0, 0.0, HEIGHT), triangles, mass=BALL.mass, gauge_pressure=BALL.gauge_pressure,
        stretch_modulus=BALL.stretch_modulus, damping=FALL_DAMPING, bounciness=BOUNCINESS,
    )  # fmt: skip
    builder.add_collider("floor", *shapes.grid(20.0 * BALL.radius), bounciness=BOUNCINESS)
    run = filled(builder, "EXPLICIT_EULER", frames, lambda world: world.positions(0))
    return {"positions": run["frames"], "triangles": triangles}


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
    solver = partial(SequentialSolver, make=ForwardEuler) if method == "FORWARD_EULER" else method
    batch, x = 50, model.rest_positions - model.rest_positions.mean(axis=0)
    around = np.arctan2(x[:, 2], x[:, 0])
    sign = np.where(np.round(around / (2.0 * np.pi / POINTS)).astype(int) % 2, -1.0, 1.0)
    nudge = NUDGE * sign[:, None] * np.stack([-x[:, 2], 0.0 * around, x[:, 0]], 1) / BALL.radius

    def holds(h):
        world = put(world_of(model, solver, batch, 1.0 / (batch * h)), model.rest_positions, nudge)
        return lasts(world, STEPS // batch, lambda: np.abs(world.save().velocities).max() <= GROWN * NUDGE)

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


def run(quick=False):
    """The fall in the plane and in space, and the map of step limits."""
    frames = 45 if quick else 90
    return {
        "map": step_map(quick),
        "filling": {method: filling(method, frames) for method in ("EXPLICIT_EULER", "HEUN")},
        "in_space": filling_in_space(frames, 2 if quick else 3),
    }


def values(data):
    """What stands in the text."""
    theory = {method: np.array(found["theory"]) for method, found in data["map"].items()}
    ratio = theory["HEUN"] / theory["EXPLICIT_EULER"]
    half = int(np.argmin(np.abs(RATIOS - 0.5)))
    return {
        "crossing": f"{RATIOS[np.flatnonzero(ratio > 1.0)[0]]:.2f}",
        "gain": number(float(ratio[half]), 2), "undamped": number(float(ratio[0]), 1),
        "area": number(data["filling"]["EXPLICIT_EULER"]["area"][-1]),
    }  # fmt: skip


def draw(figures, data):
    """All figures."""
    runs = data["filling"]
    times = np.arange(len(runs["HEUN"]["area"])) / FRAME_RATE

    def curves(axes):
        for k, run in enumerate(runs.values()):
            style = {"linestyle": "-" if k == 0 else ":", "linewidth": 1.5 + k}
            told = "" if k == 0 else "_"  # the two methods' lines coincide: one label for both
            axes.plot(times, run["area"], color=COLOURS[0], label=f"{told}A / A0", **style)
            pressure = np.array(run["pressure"]) / BALL.gauge_pressure
            axes.plot(times, pressure, color=COLOURS[1], label=f"{told}p / p0", **style)
            axes.plot(times, run["height"], color=COLOURS[2], label=f"{told}height [m]", **style)
        axes.axvline(RAMP, color="black", linewidth=0.5)
        axes.annotate(" full: gravity acts", (RAMP, 0.02), fontsize=9)
        axes.set(xlabel="time [s]", ylabel="area and pressure over those at rest, height [m]", ylim=(0.0, None))
        label_lines(axes)

    def in_box(picture):
        for place, frame in enumerate(shown(len(times))):
            column, row = place % 4, place // 4
            shift = np.array([1.2 * BOX * column, 0.0, -1.35 * BOX * row])
            x = runs["EXPLICIT_EULER"]["outline"][frame]
            picture.outline(np.stack([x[:, 0], 0.0 * x[:, 0], x[:, 1]], axis=1) + shift, DEPTH, BLUE)
            half, t = 0.5 * BOX, 0.02 * BOX
            inner = [(-half, BOX), (-half, 0.0), (half, 0.0), (half, BOX)]
            outer = [(half + t, BOX), (half + t, -t), (-half - t, -t), (-half - t, BOX)]
            picture.outline(np.array([(u, 0.0, w) for u, w in inner + outer]) + shift, DEPTH, GREY)
            picture.label(shift - (0.0, DEPTH, 0.17 * BOX), f"{frame / FRAME_RATE:.1f} s", 0.12 * BOX)

    def in_space(picture):
        found, wide = data["in_space"], 2.6 * BALL.radius
        for place, frame in enumerate(shown(len(found["positions"]))):
            picture.mesh(found["positions"][frame] + (wide * place, 0.0, 0.0), found["triangles"], BLUE)
            below = np.array([wide * place, -1.5 * BALL.radius, -0.5 * BALL.radius])
            picture.label(below, f"{frame / FRAME_RATE:.1f} s", 0.45 * BALL.radius)
        picture.floor((-0.5 * wide, -1.4 * BALL.radius), ((len(DRAWN) - 0.5) * wide, 1.4 * BALL.radius))

    def limits(axes):
        names = NAMES | {"EXPLICIT_EULER": "Euler (his listing)", "FORWARD_EULER": "forward Euler"}
        for colour, mark, (method, found) in zip(COLOURS, "os^D", data["map"].items(), strict=False):
            axes.plot(RATIOS, found["theory"], color=colour, label=names[method])
            points = [(ratio, limit) for ratio, limit in found["measured"].items() if limit is not None]
            axes.plot(*zip(*points, strict=True), mark, color=colour, markersize=6)
        axes.set(xlabel="damping ratio of the stiffest oscillation", ylabel="longest step, h ω", ylim=(0.0, None))
        label_lines(axes)

    figures.curves("ball_in_the_plane", curves)
    figures.bodies("ball_in_its_box", in_box)
    figures.bodies("ball_in_space", in_space, turn=(80.0, 0.0))
    figures.curves("step_map", limits, height=5.0)


def shown(count):
    """Frames of a run of so many that are drawn."""
    return [min(round(time * FRAME_RATE), count - 1) for time in DRAWN]
