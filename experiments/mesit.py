"""Mesit 2007, section V: spring constants and steps, a change of the gas, frames per second, many bodies.

The paper gives spring constants, mass 0.1 kg, damping 2.0 and moles. It gives no size, no temperature and no step, and
leaves open what the mass is of. Here: a ball of radius 1 m, 0.1 kg per point (with it steps of some milliseconds tell
the spring constants apart, as in figure 4), R T = 1 J/mol, nothing outside. All methods have the same forces, eq. 12
among them, in the readings of `READINGS`.
"""

import math

import numpy as np
import reference
import shapes
from softpressure_ext.core import DivergenceError, FrameInput, MethodOptions, ModelBuilder, World
from softpressure_ext.core.papers.schemes import SCHEMES, stable_angle
from softpressure_ext.core.papers.simplified import add_spring_damping
from softpressure_ext.core.papers.solver import ForceBasedSolver

from .parts import (
    FRAME_RATE,
    equilibrium,
    frame_times,
    frequency_at,
    longest_step,
    put,
    shape_of,
    tray,
)

RADIUS, POINT_MASS, DAMPER, MOLES, GAS_PER_MOLE = 1.0, 0.1, 2.0, 700.0, 1.0
SPRINGS = (200.0, 500.0, 1000.0)
STIFF = SPRINGS[-1]
FEWER_MOLES, SWITCH_FRAME, LAST_FRAME = 100.0, 500, 1000
#: The paper's own three, and the yardstick.
PAPER = ("EXPLICIT_EULER", "IMPLICIT_KANG", "IMPLICIT_MESIT")
METHODS = (*PAPER, "EXPLICIT")
BOUNCINESS, DROP = 0.5, 0.5
#: Readings of eq. 12, whose constant bears the name of the spring's: that constant [N s/m] as a function of the step,
#: and whether the damper acts along the spring only. The first is the text's: it stands for the H v h of eq. 19.
READINGS = {
    "k h": (lambda h: STIFF * h, False),
    "2.0": (lambda h: DAMPER, False),
    "2.0, along the spring": (lambda h: DAMPER, True),
    "2.0 h": (lambda h: DAMPER * h, False),
    "no damper": (lambda h: 0.0, False),
}
#: The free ball is disturbed by so much [m/s, root mean square]; a step is too long if motion apart from the rigid one
#: ever is GROWN times as fast within so many seconds. Steps between these h w are tried.
NUDGE, GROWN, RING_SECONDS, LEAST_ANGLE, LARGEST_ANGLE = 0.01, 10.0, 1.5, 0.2, 6.0
#: Substeps per 1/60 s of the runs of several seconds: 0.6 of what Euler's method takes at most with eq. 12.
SUBSTEPS = 7


class Damped(ForceBasedSolver):
    """A method of the paper with eq. 12, c sum (v_j - v_i), of a given constant c [N s/m]."""

    def __init__(self, model, substep_time, method, constant):
        super().__init__(model, substep_time, method, MethodOptions(neighbour_damping="ALL"))
        stiffness = np.full_like(model.edges.stiffness, constant / substep_time)
        self._dampers = model.edges._replace(stiffness=stiffness)

    def _damp_neighbours(self, v, force):
        add_spring_damping(v, self._dampers, self.model.chunks, self.substep_time, force)


def at_rest_volume(points, triangles, moles=MOLES):
    """Pressure [Pa] of so many moles at the volume of the mesh [m^3]."""
    return moles * GAS_PER_MOLE / float(reference.volume(points, triangles))


def ball_model(spring, subdivisions, damper=0.0, drop=DROP, free=False):
    """The ball, its lowest point `drop` [m] above a floor; or `free`, without floor and weight."""
    points, triangles = shapes.icosphere(subdivisions, RADIUS)
    pressure = at_rest_volume(points, triangles)
    builder = ModelBuilder(ambient_pressure=0.0, **({"gravity": (0.0, 0.0, 0.0)} if free else {}))
    builder.add_membrane(
        "ball", points + (0.0, 0.0, RADIUS + drop), triangles, point_mass=POINT_MASS, spring_constant=spring,
        spring_damping=damper, gauge_pressure=pressure, bounciness=BOUNCINESS,
    )  # fmt: skip
    if not free:
        builder.add_collider("floor", *shapes.grid(20.0 * RADIUS), bounciness=BOUNCINESS)
    return builder.build()


def options_for(method, volume="EXACT"):
    """Options of a run: eq. 12 as k h (v_j - v_i) in all methods of the paper; other solvers have no such damping."""
    return MethodOptions(volume=volume, neighbour_damping="ALL" if method in PAPER else "SIMPLIFIED")


def damper_of(method):
    """Constant of the dampers along the springs [N s/m] of a run: of our engine in place of eq. 12."""
    return 0.0 if method in PAPER else DAMPER


# --- figures 3 and 4 --------------------------------------------------------------------------------------------------


def readings(quick=False):
    """Longest steps [s] of the free ball at k = 1000 by reading of eq. 12 and method, and its stiffest frequency.

    The ball is at its equilibrium, disturbed a little.
    """
    subdivisions, seconds = 1 if quick else 2, RING_SECONDS
    model = ball_model(STIFF, subdivisions, free=True)
    rest = equilibrium(model)
    frequency = frequency_at(model, rest)
    nudge = np.random.default_rng(0).normal(0.0, NUDGE / math.sqrt(3.0), (model.vertex_count, 3))

    def holds(method, reading, h):
        constant, along = READINGS[reading]
        model = ball_model(STIFF, subdivisions, constant(h) if along else 0.0, free=True)
        batch = max(1, round(0.05 / h))

        def solver(model, substep_time):
            return Damped(model, substep_time, method, 0.0 if along else constant(h))

        world = World(model, frame_rate=1.0 / (batch * h), substeps=batch, solver=solver, threads=1)
        state, n = put(world, rest).save(), model.vertex_count
        state.velocities[:n] = nudge
        world.load(state)

        def speed():
            state = world.save()
            return reference.relative_speed(state.positions[:n], state.velocities[:n], model.vertex_mass)

        most = GROWN * speed()
        for _ in range(round(seconds / (batch * h))):
            try:
                world.advance_frame()
            except DivergenceError:
                return False
            if not speed() <= most:
                return False
        return True

    longest = {
        (reading, method): longest_step(
            lambda h, method=method, reading=reading: holds(method, reading, h),
            LEAST_ANGLE / frequency, LARGEST_ANGLE / frequency,
        )
        for reading in READINGS for method in PAPER
    }  # fmt: skip
    return {
        "longest": longest, "frequency": frequency, "points": model.vertex_count, "seconds": seconds,
        "most": LARGEST_ANGLE / frequency, "theory": theory(model, frequency),
    }  # fmt: skip


def theory(model, frequency):
    """Longest h w of Euler's method by reading of eq. 12.

    Of an oscillation that is both the stiffest and the most damped one: of dampers c that act in all directions the
    largest rate is that of the graph's Laplacian, c / m of its largest eigenvalue.
    """
    n, ends = model.vertex_count, model.edges.points
    laplacian = np.zeros((n, n))
    np.add.at(laplacian, (ends[:, 0], ends[:, 1]), -1.0)
    laplacian += laplacian.T
    laplacian[np.diag_indices(n)] = -laplacian.sum(axis=1)
    rate = float(np.linalg.eigvalsh(laplacian)[-1]) / POINT_MASS
    euler, found = SCHEMES["EXPLICIT_EULER"], {}
    for reading, (constant, along) in READINGS.items():
        # where it grows with the step it is c h, otherwise c
        fixed, growing = constant(0.0), constant(1.0) - constant(0.0)
        slow = frequency**2 / STIFF if along else rate
        found[reading] = stable_angle(euler, 0.5 * fixed * slow / frequency, 0.5 * growing * slow / frequency**2)
    return found


def stiffer(quick=False, angle=1.25):
    """The ball falls and bounces while k goes from 200 to 500 and 1000: heights [m] and V/V0 by frame and method.

    All take the same step, which has h w = `angle` at k = 1000: too long for Euler's method with eq. 12 there, but not
    at k = 500.
    """
    seconds, subdivisions = (0.5, 1) if quick else (2.0, 2)
    free = ball_model(STIFF, subdivisions, free=True)
    h = angle / frequency_at(free, equilibrium(free))
    rest = equilibrium(ball_model(SPRINGS[0], subdivisions, free=True))
    batch = 4
    frames = round(seconds / (batch * h))
    runs = {}
    for method in METHODS:
        model = ball_model(SPRINGS[0], subdivisions, damper_of(method))
        world = World(
            model, frame_rate=1.0 / (batch * h), substeps=batch, solver=method, threads=1, options=options_for(method)
        )
        put(world, rest)
        row = {"height": [], "volume": [], "positions": []}
        for spring in SPRINGS:
            values = {0: {"spring_constant": spring}}
            try:
                for _ in range(frames):
                    world.advance_frame(FrameInput(values=values))
                    row["height"].append(float(world.positions(0)[:, 2].mean()))
                    row["volume"].append(world.diagnostics().bodies[0].volume_ratio)
            except DivergenceError:
                row["error"] = spring
                break
            row["positions"].append(world.save().positions[: model.vertex_count].copy())
        runs[method] = row
    start = model.surfaces.body_triangle_start
    return {
        "step": h, "frame_time": batch * h, "frames": frames, "runs": runs,
        "triangles": model.surfaces.triangles[start[0] : start[1]],
    }  # fmt: skip


# --- figure 5 ---------------------------------------------------------------------------------------------------------


def less_gas(quick=False):
    """Volume, pressure and shape by frame, before and after gas is let out, by method and rule of the volume."""
    switch, last, subdivisions = (60, 120, 1) if quick else (SWITCH_FRAME, LAST_FRAME, 2)
    cases = [(method, "EXACT") for method in METHODS]
    cases.append(("IMPLICIT_MESIT", "BOUNDING_BOX"))
    runs = {}
    for method, rule in cases:
        model = ball_model(STIFF, subdivisions, damper_of(method), drop=0.01)
        world = World(
            model, frame_rate=FRAME_RATE, substeps=SUBSTEPS, solver=method, threads=1,
            options=options_for(method, volume=rule),
        )  # fmt: skip
        row = {"volume_ratio": [], "shape": [], "pressure": []}
        try:
            for frame in range(1, last + 1):
                gas = {0: float(model.gauge_pressure[0]) * FEWER_MOLES / MOLES} if frame == switch else {}
                world.advance_frame(FrameInput(gauge_pressure=gas))
                body = world.diagnostics().bodies[0]
                row["volume_ratio"].append(body.volume_ratio)
                row["pressure"].append(body.gauge_pressure)
                row["shape"].append(shape_of(world))
        except DivergenceError as error:
            row["error"] = str(error)
        runs[method, rule] = row
    return {"switch": switch, "last": last, "points": model.vertex_count, "runs": runs}


# --- figure 6 ---------------------------------------------------------------------------------------------------------


def clock(quick=False):
    """Figure 6: steps per second against surface points, k = 200, of the free ball, from the fastest of some steps."""
    subdivisions = (1, 2, 3) if quick else (1, 2, 3, 4, 5)
    frames = 10 if quick else 30
    points, found = [], {method: [] for method in METHODS}
    for count in subdivisions:
        model = ball_model(SPRINGS[0], count, free=True)
        points.append(model.vertex_count)
        for method in METHODS:
            # what a step costs does not depend on its length; this one is stable for all
            world = World(
                model, frame_rate=10.0 * FRAME_RATE, substeps=1, solver=method, threads=1, options=options_for(method)
            )
            frame_times(world, 5)
            times, before = [], world.diagnostics().counts.stages
            for _ in range(frames):
                times += frame_times(world, 1)
            steps = world.diagnostics().counts.stages - before if method == "EXPLICIT" else frames
            found[method].append(steps / frames / min(times))
    return {"speed": {"points": points, "steps_per_second": found}}


# --- figure 7 ---------------------------------------------------------------------------------------------------------


def heap_model(subdivisions, columns, rows, layers):
    """Balls in layers above a tray that a layer just fits into side by side, so that all of them must stack."""
    points, triangles = shapes.icosphere(subdivisions, RADIUS)
    pressure = at_rest_volume(points, triangles)
    pitch = 2.15 * RADIUS
    builder = ModelBuilder(ambient_pressure=0.0)
    rng = np.random.default_rng(7)
    for layer in range(layers):
        for column in range(columns):
            for row in range(rows):
                place = np.array([column - 0.5 * (columns - 1), row - 0.5 * (rows - 1), layer + 0.6]) * pitch
                place += rng.uniform(-0.03, 0.03, 3) * RADIUS
                builder.add_membrane(
                    f"ball {layer} {column} {row}", points + place, triangles, point_mass=POINT_MASS,
                    spring_constant=STIFF, gauge_pressure=pressure, bounciness=BOUNCINESS,
                )  # fmt: skip
    builder.add_collider("tray", *tray(columns * pitch, rows * pitch, 4.0 * RADIUS), bounciness=BOUNCINESS)
    return builder.build()


def heap(quick=False):
    """Figure 7: many bodies fall on each other; their height and motion over time, and what is crossed at the end."""
    model = heap_model(1, 2, 1, 2) if quick else heap_model(2, 3, 6, 2)
    frames = 30 if quick else 1500
    start = model.surfaces.body_triangle_start
    found = {
        "bodies": model.membrane_count,
        "faces": int(start[model.membrane_count]),
        "points": model.vertex_count,
        "frames": frames,
        "triangles": model.surfaces.triangles[: start[model.membrane_count]],
        "runs": {},
    }
    n, mass = model.vertex_count, model.vertex_mass
    for method in METHODS:
        world = World(
            model, frame_rate=FRAME_RATE, substeps=SUBSTEPS, solver=method, threads=1, options=options_for(method)
        )
        row = {
            "substeps": SUBSTEPS if method in PAPER else world.steps_per_frame,
            "height": [],
            "speed": [],
            "shown": {},
        }
        contacts = []
        try:
            for frame in range(1, frames + 1):
                world.advance_frame()
                state = world.save()
                row["height"].append(float(mass @ state.positions[:n, 2] / mass.sum()))
                row["speed"].append(float(np.sqrt(mass @ (state.velocities[:n] ** 2).sum(axis=1) / mass.sum())))
                contacts.append(world.diagnostics().contact_count)
                if frame in (1, frames // 50, frames // 3, 2 * frames // 3, frames):
                    row["shown"][frame] = state.positions[:n].copy()
        except DivergenceError as error:
            found["runs"][method] = row | {"error": str(error)}
            continue
        world.set_positions(0, world.positions(0))  # looks for crossings anew
        ratios = [body.volume_ratio for body in world.diagnostics().bodies]
        found["runs"][method] = row | {
            "contacts": max(contacts),
            "crossing": world.crossing_triangle_count,
            "volume_ratio": (min(ratios), max(ratios)),
        }
    return found


def run(quick=False):
    """All figures but the one that is timed."""
    return {
        "springs": SPRINGS, "stiff": STIFF, "moles": (MOLES, FEWER_MOLES), "damper": DAMPER, "point_mass": POINT_MASS,
        "radius": RADIUS, "readings": readings(quick), "stiffer": stiffer(quick), "less_gas": less_gas(quick),
        "heap": heap(quick),
    }  # fmt: skip
