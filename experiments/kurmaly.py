"""Kurmaly and Wu 2021: trusses and pressure bodies dropped, collapse at high speed, and three formulas for an area.

Their truss has 4 x 4 cells with both diagonals. At high speed it collapses on itself; collisions between its particles
prevent that (section 7). The paper gives no sizes, constants or speeds; they are chosen here. Their area by bounding
box and by a fan of triangles around the box's centre (5.3) is compared with the exact one, on outlines and in a fall.
"""

import numpy as np
import shapes
from scenes import GRAVITY
from softpressure_ext.core import DivergenceError, MethodOptions, ModelBuilder, World
from softpressure_ext.core.bodies.flat.band import STRIP_TO_VOLUME
from softpressure_ext.core.options import DEFAULTS
from softpressure_ext.core.papers.forces import SoftForces
from softpressure_ext.core.papers.gas_rules import GasRules
from softpressure_ext.core.papers.schemes import SCHEMES, stable_angle
from softpressure_ext.core.papers.stability import stiffest_frequency
from softpressure_ext.core.parameters import named

from .parts import FRAME_RATE, Energy, fewest_substeps, recorded, survives

CELLS, SIZE, MASS, MODULUS, DEPTH = 4, 1.0, 1.0, 1e4, 0.25
DAMPING, BOUNCINESS, GAP = 5.0, 0.5, 0.05
#: Of the particles, as a share of a cell's edge.
RADIUS = 0.4
SPEEDS = (10.0, 20.0, 30.0, 40.0)
SUBSTEPS = {"RK4": 40, "XPBD": 20}
#: The pressure body: points, pressure at rest [Pa] and modulus [N/m] of its skin.
POINTS, PRESSURE, STRETCH, LOOP_SUBSTEPS = 40, 2e3, 1e4, 40
#: The fall in which the three areas are compared: an L [m/s], and frames per second fine enough for what rings.
AREA_SPEED, FINE_RATE, FINE_SUBSTEPS = 10.0, 960.0, 4
#: Moduli of the skin [N/m] in the sweep of RK4's longest step, and how far it falls [m].
MODULI, SWEEP_DROP = (1e3, 1e4, 1e5), 0.1
#: Reflection at the ground: drop of a truss without damping [m], substeps per frame.
BOUNCE_DROP, BOUNCE_SUBSTEPS = 0.5, (10, 20, 40, 80)
SQUARE = SIZE * np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])


def with_floor(builder):
    """The model, on a floor."""
    builder.add_collider("floor", *shapes.grid(40.0 * SIZE, 2), bounciness=BOUNCINESS)
    return builder.build()


def truss_model(speed, radius, damping=DAMPING, gap=GAP):
    """A truss that is about to hit a floor."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
    builder.add_flat_truss(
        "truss", shapes.upright(SQUARE, 0.5 * SIZE + gap), depth=DEPTH, cell_size=SIZE / CELLS, mass=MASS,
        modulus=MODULUS, damping=damping, bounciness=BOUNCINESS, velocity=(0.0, 0.0, -speed), particle_radius=radius,
    )  # fmt: skip
    return with_floor(builder)


def loop_model(speed, outline=None, stretch=STRETCH, damping=DAMPING, gap=GAP):
    """A pressure body that is about to hit a floor, nothing outside."""
    outline = shapes.ring(POINTS, 0.5 * SIZE) if outline is None else outline
    height = gap - float(outline[:, 1].min())
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY), ambient_pressure=0.0)
    builder.add_loop(
        "loop", shapes.upright(outline, height), depth=DEPTH, mass=MASS, gauge_pressure=PRESSURE,
        stretch_modulus=stretch, damping=damping, bounciness=BOUNCINESS, velocity=(0.0, 0.0, -speed),
    )  # fmt: skip
    return with_floor(builder)


def middle(world):
    """Points of the middle plane of a flat body [m], shape (n, 2)."""
    x = world.save().positions[: world.model.vertex_count]
    return 0.5 * (x[::2] + x[1::2])[:, [0, 2]]


def cell_areas(points):
    """Signed areas of the cells over that at rest, shape (CELLS, CELLS); negative where a cell is turned over."""
    grid = points.reshape(CELLS + 1, CELLS + 1, 2)
    d, e = grid[1:, 1:] - grid[:-1, :-1], grid[:-1, 1:] - grid[1:, :-1]
    return 0.5 * (d[..., 0] * e[..., 1] - d[..., 1] * e[..., 0]) / (SIZE / CELLS) ** 2


def springs(model):
    """Pairs of points of the middle plane that a spring joins."""
    return np.unique(np.sort(model.edges.points // 2, axis=1), axis=0)


def drop_truss(method, speed, radius, frames):
    """Least area of a cell on the way and at the end, over that at rest; shapes by frame."""
    world = World(
        truss_model(speed, radius), frame_rate=FRAME_RATE, substeps=SUBSTEPS[method], solver=method, threads=1
    )
    row = {"least": 1.0, "shapes": [middle(world)]}
    try:
        for _ in range(frames):
            world.advance_frame()
            row["shapes"].append(middle(world))
            row["end"] = float(cell_areas(row["shapes"][-1]).min())
            row["least"] = min(row["least"], row["end"])
    except DivergenceError as error:
        row["error"] = str(error)
    return row


def drop_loop(speed, frames):
    """Least area on the way and area at the end over that at rest, by Gauss; shapes by frame."""
    return fall(loop_model(speed), frames, FRAME_RATE, LOOP_SUBSTEPS)


def fall(model, frames, rate, substeps, options=DEFAULTS):
    """The same of any loop with RK4, at a frame rate [1/s]; `height` of its middle [m] and `energy` [J] by frame."""
    world = World(model, frame_rate=rate, substeps=substeps, solver="RK4", threads=1, options=options)
    rest = abs(shapes.shoelace(world.positions(0)[:, [0, 2]]))
    energy = Energy(model)
    row = {"area": [], "height": [], "energy": [], "shapes": []}

    def note():
        x = world.positions(0)[:, [0, 2]]
        row["shapes"].append(x)
        row["area"].append(abs(shapes.shoelace(x)) / rest)
        row["height"].append(float(x[:, 1].mean()))
        row["energy"].append(energy(world))

    recorded(world, frames, row, note)
    return row if "error" in row else row | {"least": min(row["area"]), "end": row["area"][-1]}


def fine_outline(outline, count):
    """Points of an outline at equal distances along it, corners rounded off by it, shape (count, 2)."""
    closed = np.concatenate([outline, outline[:1]])
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1))])
    places = np.linspace(0.0, along[-1], count, endpoint=False)
    return np.stack([np.interp(places, along, closed[:, axis]) for axis in range(2)], axis=1)


def concave_fall(rule, seconds):
    """An L of gas hits the floor, its V by a rule."""
    model = loop_model(AREA_SPEED, fine_outline(outlines()["letter L"], 60))
    return fall(model, round(seconds * FINE_RATE), FINE_RATE, FINE_SUBSTEPS, MethodOptions(volume=rule))


def step_limits(quick=False):
    """Longest step [s] of RK4 by modulus of the skin, measured and by theory: sqrt 8 over the stiffest frequency."""
    found, frames = {}, 30
    for stretch in MODULI[::2] if quick else MODULI:
        model = loop_model(0.0, stretch=stretch, damping=0.0, gap=SWEEP_DROP)
        slack = MASS * GRAVITY * SWEEP_DROP

        def holds(substeps, model=model, slack=slack):
            world = World(model, frame_rate=FRAME_RATE, substeps=substeps, solver="RK4", threads=1)
            return survives(world, frames, slack)

        frequency = stiffest_frequency(model, SoftForces(model), model.gauge_pressure * model.rest_volume)
        theory = stable_angle(SCHEMES["RK4"]) / frequency
        fewest = fewest_substeps(holds)
        found[stretch] = {"theory": theory, "measured": None if fewest is None else 1.0 / (FRAME_RATE * fewest)}
    return found


def bounces(quick=False):
    """A truss that bounces without damping by reflection, by substeps: `gain` is the energy it has gained by frame.

    As a share of what the fall has.
    """
    model = truss_model(0.0, 0.0, damping=0.0, gap=BOUNCE_DROP)
    options = MethodOptions(collider_rule="REFLECTION")
    found = {}
    for substeps in BOUNCE_SUBSTEPS[1::2] if quick else BOUNCE_SUBSTEPS:
        run = fall(model, 30 if quick else 60, FRAME_RATE, substeps, options)
        gain = (np.array(run["energy"]) - run["energy"][0]) / (MASS * GRAVITY * BOUNCE_DROP)
        found[substeps] = run | {"gain": gain}
    return found


def outlines():
    """Convex and concave outlines by name [m]."""
    turn = np.linspace(0.3, 2.0 * np.pi - 0.3, 30)
    arc = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    letter = np.array([(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)], float) / 3.0
    return {
        "circle": shapes.ring(POINTS, 0.5),
        "square": SQUARE,
        "square on its corner": SQUARE @ np.array([(1.0, 1.0), (-1.0, 1.0)]) / np.sqrt(2.0),
        "letter L": letter,
        "folded outline": shapes.bark(90, 0.5),
        "open ring": 0.5 * np.concatenate([arc, 0.75 * arc[::-1]]),
    }


def areas():
    """Area of each outline by each rule over the exact one."""
    found = {}
    for name, outline in outlines().items():
        model = loop_model(0.0, outline)
        exact = abs(shapes.shoelace(outline)) * DEPTH
        rules = {rule: GasRules(model, MethodOptions(volume=rule)) for rule in named("volume_rule").names()}
        told = {rule: float(own.rule_volumes(model.rest_positions)[0]) / exact for rule, own in rules.items()}
        told["CENTRE_FAN"] *= STRIP_TO_VOLUME  # of a flat body the fan takes the strip alone
        found[name] = told
    return found


def run(quick=False):
    """Drops by body, solver and speed, and the three areas."""
    speeds, frames = (SPEEDS[2:3], 12) if quick else (SPEEDS, 60)
    trusses = {
        (method, speed, radius): drop_truss(method, speed, radius, frames)
        for method in SUBSTEPS
        for speed in speeds
        for radius in (0.0, RADIUS)
    }
    loops = {speed: drop_loop(speed, frames) for speed in speeds}
    return {
        "seconds": frames / FRAME_RATE,
        "speeds": speeds,
        "springs": springs(truss_model(0.0, 0.0)),
        "trusses": trusses,
        "loops": loops,
        "areas": areas(),
        "fall": {rule: concave_fall(rule, 0.1 if quick else 0.3) for rule in named("volume_rule").names()},
        "limits": step_limits(quick),
        "bounces": bounces(quick),
    }
