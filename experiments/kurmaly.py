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
from softpressure_ext.core.options import VOLUMES
from softpressure_ext.core.papers.gas_rules import GasRules

from .parts import FRAME_RATE

CELLS, SIZE, MASS, MODULUS, DEPTH = 4, 1.0, 1.0, 1e4, 0.25
DAMPING, BOUNCINESS, GAP = 5.0, 0.5, 0.05
#: Of the particles, as a share of a cell's edge.
RADIUS = 0.4
SPEEDS = (10.0, 20.0, 30.0, 40.0)
SUBSTEPS = {"RK4": 40, "XPBD": 20}
#: The pressure body: points, pressure at rest [Pa] and modulus [N/m] of its skin.
POINTS, PRESSURE, STRETCH, LOOP_SUBSTEPS = 40, 2e3, 1e4, 40
#: The fall in which the three areas are compared [m/s].
AREA_SPEED = 20.0
SQUARE = SIZE * np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])


def with_floor(builder):
    """The model, on a floor."""
    builder.add_collider("floor", *shapes.grid(40.0 * SIZE, 2), bounciness=BOUNCINESS)
    return builder.build()


def truss_model(speed, radius):
    """A truss that is about to hit a floor."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
    builder.add_flat_truss(
        "truss", shapes.upright(SQUARE, 0.5 * SIZE + GAP), depth=DEPTH, cell_size=SIZE / CELLS, mass=MASS,
        modulus=MODULUS, damping=DAMPING, bounciness=BOUNCINESS, velocity=(0.0, 0.0, -speed), particle_radius=radius,
    )  # fmt: skip
    return with_floor(builder)


def loop_model(speed, outline=None):
    """A pressure body that is about to hit a floor, nothing outside."""
    outline = shapes.ring(POINTS, 0.5 * SIZE) if outline is None else outline
    height = GAP - float(outline[:, 1].min())
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY), ambient_pressure=0.0)
    builder.add_loop(
        "loop", shapes.upright(outline, height), depth=DEPTH, mass=MASS, gauge_pressure=PRESSURE,
        stretch_modulus=STRETCH, damping=DAMPING, bounciness=BOUNCINESS, velocity=(0.0, 0.0, -speed),
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


def drop_loop(speed, frames, volume="EXACT"):
    """Least area on the way and area at the end over that at rest, by Gauss; heights and shapes by frame."""
    model = loop_model(speed)
    world = World(
        model, frame_rate=FRAME_RATE, substeps=LOOP_SUBSTEPS, solver="RK4", threads=1,
        options=MethodOptions(volume=volume),
    )  # fmt: skip
    rest = shapes.shoelace(world.positions(0)[:, [0, 2]])
    row = {"least": 1.0, "area": [1.0], "height": [], "shapes": [world.positions(0)[:, [0, 2]]]}
    try:
        for _ in range(frames):
            world.advance_frame()
            x = world.positions(0)[:, [0, 2]]
            row["shapes"].append(x)
            row["area"].append(shapes.shoelace(x) / rest)
            row["height"].append(float(x[:, 1].mean()))
        row["least"], row["end"] = min(row["area"]), row["area"][-1]
    except DivergenceError as error:
        row["error"] = str(error)
    return row


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
        rules = {rule: GasRules(model, MethodOptions(volume=rule)) for rule in VOLUMES}
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
        "fall": {rule: drop_loop(AREA_SPEED, 15 if quick else 40, rule) for rule in VOLUMES},
    }
