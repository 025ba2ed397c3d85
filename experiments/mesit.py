"""Mesit 2007, section V: spring constants and steps, a change of the gas, frames per second, many bodies.

The paper gives spring constants, mass 0.1 kg, damping 2.0 and moles. It gives no size, no temperature and no step, and
leaves open what the mass is of. Here: a ball of radius 1 m, 0.1 kg per point (with it steps of some milliseconds tell
the spring constants apart, as in figure 4), R T = 1 J/mol, nothing outside.
"""

import math

import numpy as np
import shapes
from scenes import GRAVITY
from softpressure_ext.core import DivergenceError, FrameInput, ModelBuilder, World

from .parts import (
    FRAME_RATE,
    equal_parts,
    fewest_substeps,
    frame_times,
    median_ms,
    needed_substeps,
    shape_of,
    survives,
    tray,
)

RADIUS, POINT_MASS, DAMPING, MOLES, GAS_PER_MOLE = 1.0, 0.1, 2.0, 700.0, 1.0
SPRINGS = (200.0, 500.0, 1000.0)
FEWER_MOLES, SWITCH_FRAME, LAST_FRAME = 100.0, 500, 1000
METHODS = ("EXPLICIT_EULER", "IMPLICIT_KANG", "IMPLICIT_MESIT", "IMPLICIT")
BOUNCINESS, DROP = 0.5, 0.5
STIFF = SPRINGS[-1]
#: Frames per second where the largest step is looked for: no step is longer than such a frame.
COARSE_RATE = 10.0


def at_rest_volume(points, triangles, moles=MOLES):
    """Pressure [Pa] of so many moles at the volume of the mesh [m^3]."""
    a, b, c = (points[triangles[:, corner]] for corner in range(3))
    return moles * GAS_PER_MOLE / float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def ball_model(spring, subdivisions, drop=DROP, floor=True):
    """The ball, its lowest point `drop` [m] above a floor."""
    points, triangles = shapes.icosphere(subdivisions, RADIUS)
    pressure = at_rest_volume(points, triangles)
    builder = ModelBuilder(ambient_pressure=0.0)
    builder.add_membrane(
        "ball", points + (0.0, 0.0, RADIUS + drop), triangles, mass=POINT_MASS * len(points), gauge_pressure=pressure,
        damping=DAMPING, bounciness=BOUNCINESS,
    )  # fmt: skip
    if floor:
        builder.add_collider("floor", *shapes.grid(20.0 * RADIUS), bounciness=BOUNCINESS)
    return equal_parts(builder.build(), spring, POINT_MASS)


def survival(quick=False):
    """Longest step [s] with which a second and a half of falling and bouncing go well, by method and spring constant.

    Well: no divergence, and never more energy than at the start and once more that of the drop. Also the longest one
    without divergence alone, for what trembles but stays bounded.
    """
    subdivisions, frames = (1, 5) if quick else (2, 15)
    longest, bounded = {}, {}
    for spring in SPRINGS:
        model = ball_model(spring, subdivisions)
        drop = float(model.vertex_mass.sum()) * GRAVITY * DROP
        for method in METHODS:
            longest[method, spring] = longest_step(model, method, frames, drop)
            bounded[method, spring] = longest_step(model, method, frames, math.inf)
    return {
        "points": model.vertex_count,
        "seconds": frames / COARSE_RATE,
        "longest_tried": 1.0 / COARSE_RATE,
        "longest": longest,
        "bounded": bounded,
    }


def longest_step(model, method, frames, slack):
    """Longest step [s] with which a model gets through the frames with at most `slack` [J] of new energy, or None."""
    fewest = fewest_substeps(
        lambda substeps: survives(
            World(model, frame_rate=COARSE_RATE, substeps=substeps, solver=method, threads=1), frames, slack
        )
    )
    return None if fewest is None else 1.0 / (COARSE_RATE * fewest)


def less_gas(quick=False):
    """Figure 5: volume and shape by frame, before and after gas is let out, by method."""
    switch, last, subdivisions = (40, 80, 1) if quick else (SWITCH_FRAME, LAST_FRAME, 2)
    model = ball_model(STIFF, subdivisions)
    runs = {}
    for method, substeps in (("IMPLICIT_MESIT", needed_substeps(model, "IMPLICIT_MESIT")), ("IMPLICIT", 4)):
        world = World(model, frame_rate=FRAME_RATE, substeps=substeps, solver=method, threads=1)
        volume, shape, pressure = [], [], []
        for frame in range(1, last + 1):
            gas = {0: float(model.gauge_pressure[0]) * FEWER_MOLES / MOLES} if frame == switch else {}
            world.advance_frame(FrameInput(gauge_pressure=gas))
            body = world.diagnostics().bodies[0]
            volume.append(body.volume_ratio)
            pressure.append(body.gauge_pressure)
            shape.append(shape_of(world))
        runs[method] = {"substeps": substeps, "volume_ratio": volume, "shape": shape, "pressure": pressure}
    return {"switch": switch, "last": last, "points": model.vertex_count, "runs": runs}


def speed(quick=False):
    """Figure 6: steps per second against surface points, k = 200, in free fall, from the fastest of some steps."""
    subdivisions = (1, 2, 3) if quick else (1, 2, 3, 4, 5)
    frames = 10 if quick else 30
    points, found = [], {method: [] for method in METHODS}
    for count in subdivisions:
        model = ball_model(SPRINGS[0], count, floor=False)
        points.append(model.vertex_count)
        for method in METHODS:
            # what a step costs does not depend on its length where no system is solved; this one is stable for all
            rate = FRAME_RATE if method == "IMPLICIT" else 10.0 * FRAME_RATE
            world = World(model, frame_rate=rate, substeps=1, solver=method, threads=1)
            frame_times(world, 5)
            found[method].append(1.0 / min(frame_times(world, frames)))
    return {"points": points, "steps_per_second": found}


def heap_model(subdivisions, layers):
    """Balls in layers, a little apart, above a tray that they do not fit into side by side at rest."""
    points, triangles = shapes.icosphere(subdivisions, RADIUS)
    pressure = at_rest_volume(points, triangles)
    columns, rows, pitch = 3, (2 if layers == 1 else 6), 2.15 * RADIUS
    builder = ModelBuilder(ambient_pressure=0.0)
    rng = np.random.default_rng(7)
    for layer in range(layers):
        for column in range(columns):
            for row in range(rows):
                place = np.array([column - 0.5 * (columns - 1), row - 0.5 * (rows - 1), layer + 0.6]) * pitch
                place += rng.uniform(-0.03, 0.03, 3) * RADIUS
                builder.add_membrane(
                    f"ball {layer} {column} {row}", points + place, triangles, mass=POINT_MASS * len(points),
                    gauge_pressure=pressure, damping=DAMPING, bounciness=BOUNCINESS,
                )  # fmt: skip
    builder.add_collider("tray", *tray(columns * pitch, rows * pitch, 4.0 * RADIUS), bounciness=BOUNCINESS)
    return equal_parts(builder.build(), STIFF, POINT_MASS)


def heap(quick=False):
    """Figure 7: many bodies fall on each other; what a frame costs, and whether anything is crossed at the end."""
    model = heap_model(1, 1) if quick else heap_model(2, 2)
    frames = 15 if quick else 60
    start = model.surfaces.body_triangle_start
    found = {
        "bodies": model.membrane_count,
        "faces": int(start[model.membrane_count]),
        "points": model.vertex_count,
        "frames": frames,
        "runs": {},
    }
    for method, substeps in (
        ("IMPLICIT_MESIT", needed_substeps(model, "IMPLICIT_MESIT")),
        ("XPBD", 10),
        ("IMPLICIT", 2),
    ):
        world = World(model, frame_rate=FRAME_RATE, substeps=substeps, solver=method, threads=1)
        row = {"substeps": substeps}
        times, contacts, gas_error = [], [], 0.0
        try:
            for _ in range(frames):
                times += frame_times(world, 1)
                seen = world.diagnostics()
                contacts.append(seen.contact_count)
                gas = world.save().gas
                for number, body in enumerate(seen.bodies):
                    product = body.gauge_pressure * body.volume_ratio * float(model.rest_volume[number])
                    gas_error = max(gas_error, abs(product / float(gas[number]) - 1.0))
        except DivergenceError as error:
            found["runs"][method] = row | {"error": str(error)}
            continue
        world.set_positions(0, world.positions(0))  # looks for crossings anew
        ratios = [body.volume_ratio for body in world.diagnostics().bodies]
        found["runs"][method] = row | {
            "frames_per_second": 1e3 / median_ms(times[-frames // 2 :]),
            "contacts": max(contacts),
            "crossing": world.crossing_triangle_count,
            "volume_ratio": (min(ratios), max(ratios)),
            "finite": all(math.isfinite(ratio) for ratio in ratios),
        }
    return found


def run(quick=False):
    """All four figures."""
    return {
        "springs": SPRINGS, "stiff": STIFF, "moles": (MOLES, FEWER_MOLES), "damping": DAMPING, "point_mass": POINT_MASS,
        "radius": RADIUS, "survival": survival(quick), "less_gas": less_gas(quick), "speed": speed(quick),
        "heap": heap(quick),
    }  # fmt: skip
