"""Mesit 2007, section V: spring constants and steps, a change of the gas, frames per second, many bodies."""

import math
import time
from functools import partial

import numpy as np
import reference
import shapes
from softpressure_ext.core import DivergenceError, FrameInput, MethodOptions, ModelBuilder
from softpressure_ext.core.papers.integrator import ForceBased
from softpressure_ext.core.papers.schemes import SCHEMES, stable_angle
from softpressure_ext.core.papers.simplified import add_spring_damping
from softpressure_ext.core.papers.stability import neighbour_rate
from softpressure_ext.core.solvers.sequential.solver import SequentialSolver

from .figures import BLUE, COLOURS, NAMES, ORANGE, label_lines, number, plain_ticks, table
from .parts import (
    FRAME_RATE,
    equilibrium,
    frequency_at,
    lasts,
    longest_step,
    put,
    relative_speed,
    shape_of,
    tray,
    world_of,
)

DEPENDS = (
    "core/papers/*.py", "core/energy/*.py", "core/solvers/sequential/*.py", "core/solvers/explicit/*.py"
)  # fmt: skip
RADIUS, POINT_MASS, DAMPER, MOLES = 1.0, 0.1, 2.0, 700.0
SPRINGS = (200.0, 500.0, 1000.0)
STIFF = SPRINGS[-1]
FEWER_MOLES, SWITCH_FRAME, LAST_FRAME = 100.0, 500, 1000
#: The paper's own three, and the yardstick.
PAPER = ("EXPLICIT_EULER", "IMPLICIT_KANG", "IMPLICIT_MESIT")
METHODS = (*PAPER, "EXPLICIT")
COLOUR = dict(zip(METHODS, COLOURS, strict=False))
BOUNCINESS, DROP = 0.5, 0.5
#: Readings of eq. 12, whose constant bears the name of the spring's: that constant [N s/m] as a function of the step,
#: and whether the damper acts along the spring only. The first is the text's: it stands for the H v h of eq. 19.
READINGS = {
    "k h": (lambda h: STIFF * h, False),
    "2.0": (lambda h: DAMPER, False),
    "2.0, along the spring": (lambda h: DAMPER, True),
    "2.0 h": (lambda h: DAMPER * h, False),
}
#: The free ball is disturbed by so much [m/s, root mean square]; a step is too long if motion apart from the rigid one
#: ever is GROWN times as fast within so many seconds. Steps between these h w are tried.
NUDGE, GROWN, RING_SECONDS, LEAST_ANGLE, LARGEST_ANGLE = 0.01, 10.0, 1.5, 0.2, 6.0
#: Substeps per 1/60 s of the runs of several seconds: 0.6 of what Euler's method takes at most with eq. 12.
SUBSTEPS = 7


class Damped(ForceBased):
    """A method of the paper with eq. 12, c sum (v_j - v_i), of a given constant c [N s/m]."""

    def __init__(self, method, constant, *given):
        super().__init__(method, MethodOptions(neighbour_damping="ALL", restore_momentum=False), *given)
        edges = self.model.edges
        self._dampers = edges._replace(stiffness=np.full_like(edges.stiffness, constant / self.substep_time))

    def _damp_neighbours(self, v, force):
        add_spring_damping(v, self._dampers, self.substep_time, force)


def method_world(model, method, substeps=SUBSTEPS, rate=FRAME_RATE, volume="EXACT", restored=False):
    """A world with eq. 12 as k h (v_j - v_i) in all methods of the paper; other solvers have no such damping."""
    damping = "ALL" if method in PAPER else "SIMPLIFIED"
    return world_of(
        model, method, substeps, rate, volume=volume, neighbour_damping=damping, restore_momentum=restored
    )  # fmt: skip


def damper_of(method):
    """Constant of the dampers along the springs [N s/m] of a run: of our engine in place of eq. 12."""
    return 0.0 if method in PAPER else DAMPER


def ball_model(spring, subdivisions, damper=0.0, drop=DROP, free=False):
    """The ball, its lowest point `drop` [m] above a floor; or `free`, without floor and weight."""
    points, triangles = shapes.icosphere(subdivisions, RADIUS)
    builder = ModelBuilder(ambient_pressure=0.0, **({"gravity": (0.0, 0.0, 0.0)} if free else {}))
    builder.add_membrane(
        "ball", points + (0.0, 0.0, RADIUS + drop), triangles, point_mass=POINT_MASS, spring_constant=spring,
        spring_damping=damper, gauge_pressure=MOLES / float(reference.volume(points, triangles)), bounciness=BOUNCINESS,
    )  # fmt: skip
    if not free:
        builder.add_collider("floor", *shapes.grid(20.0 * RADIUS), bounciness=BOUNCINESS)
    return builder.build()


class Nudged:
    """The free ball at k = 1000, at its equilibrium, disturbed a little."""

    def __init__(self, subdivisions):
        self.subdivisions = subdivisions
        self.model = ball_model(STIFF, subdivisions, free=True)
        self.rest = equilibrium(self.model)
        self.frequency = frequency_at(self.model, self.rest)  # the stiffest [1/s]
        size = NUDGE / math.sqrt(3.0)
        self.nudge = np.random.default_rng(0).normal(0.0, size, (self.model.vertex_count, 3))

    def growth(self, method, reading, h, most=np.inf):
        """How many times as fast its motion ever is with steps of h [s]; a run ends above `most`."""
        constant, along = READINGS[reading]
        model = ball_model(STIFF, self.subdivisions, constant(h) if along else 0.0, free=True)
        batch = max(1, round(0.05 / h))

        solver = partial(SequentialSolver, make=partial(Damped, method, 0.0 if along else constant(h)))
        world = put(world_of(model, solver, batch, 1.0 / (batch * h)), self.rest, self.nudge)
        first, rows = relative_speed(world), [1.0]

        def look():
            rows.append(relative_speed(world) / first)
            return rows[-1] <= most

        return max(rows) if lasts(world, round(RING_SECONDS / (batch * h)), look) else np.inf


def readings(quick=False):
    """Longest steps [s] of the free ball by reading of eq. 12 and method, and its stiffest frequency [1/s].

    `bounded`: how far Kang's motion grows at most in the last reading, at any step up to the longest that is tried.
    """
    ball = Nudged(1 if quick else 2)
    low, high = LEAST_ANGLE / ball.frequency, LARGEST_ANGLE / ball.frequency

    def longest(method, reading):
        return longest_step(lambda h: ball.growth(method, reading, h, GROWN) < np.inf, low, high)

    steps = np.geomspace(1.0 / ball.frequency, high, 6 if quick else 16)
    return {
        "longest": {(reading, method): longest(method, reading) for reading in READINGS for method in PAPER},
        "frequency": ball.frequency, "points": ball.model.vertex_count, "most": high,
        "bounded": max(ball.growth("IMPLICIT_KANG", list(READINGS)[-1], h) for h in steps),
        "theory": theory(ball.model, ball.frequency),
    }  # fmt: skip


def theory(model, frequency):
    """Longest h w of Euler's method by reading of eq. 12.

    Of an oscillation that is both the stiffest and the most damped one: of dampers c that act in all directions the
    largest rate is that of the graph's Laplacian, c / m of its largest eigenvalue.
    """
    rate = neighbour_rate(model) / STIFF
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
        world = put(method_world(model, method, batch, 1.0 / (batch * h)), rest)
        row = {"height": [], "volume": [], "positions": []}
        for spring in SPRINGS:
            try:
                for _ in range(frames):
                    world.advance_frame(FrameInput(values={0: {"spring_constant": spring}}))
                    row["height"].append(float(world.positions(0)[:, 2].mean()))
                    row["volume"].append(world.diagnostics().bodies[0].volume_ratio)
            except DivergenceError:
                row["error"] = spring
                break
            row["positions"].append(world.positions(0))
        runs[method] = row
    triangles = shapes.icosphere(subdivisions, RADIUS)[1]
    return {"step": h, "frame_time": batch * h, "frames": frames, "runs": runs, "triangles": triangles}


def less_gas(quick=False):
    """Volume, pressure and shape by frame, before and after gas is let out, by method and rule of the volume."""
    switch, last, subdivisions = (60, 120, 1) if quick else (SWITCH_FRAME, LAST_FRAME, 2)
    runs = {}
    for method, rule in [*((method, "EXACT") for method in METHODS), ("IMPLICIT_MESIT", "BOUNDING_BOX")]:
        model = ball_model(STIFF, subdivisions, damper_of(method), drop=0.01)
        world = method_world(model, method, volume=rule)
        row = {"volume_ratio": [], "shape": [], "pressure": []}
        for frame in range(1, last + 1):
            gas = {0: float(model.gauge_pressure[0]) * FEWER_MOLES / MOLES}
            world.advance_frame(FrameInput(gauge_pressure=gas if frame == switch else {}))
            body = world.diagnostics().bodies[0]
            row["volume_ratio"].append(body.volume_ratio)
            row["pressure"].append(body.gauge_pressure)
            row["shape"].append(shape_of(world.positions(0)))
        runs[method, rule] = row
        if (method, rule) == ("IMPLICIT_MESIT", "EXACT"):
            rest = world.save().positions
    world = put(method_world(ball_model(STIFF, subdivisions, DAMPER, drop=0.01), "EXPLICIT"), rest)
    for frame in range(last // 10):  # whether his body is at rest with our engine, too
        world.advance_frame(FrameInput(gauge_pressure=gas if frame == 0 else {}))
    kept = world.diagnostics().bodies[0].volume_ratio
    return {"switch": switch, "last": last, "points": model.vertex_count, "runs": runs, "kept": kept}


def clock(quick=False):
    """Figure 6: steps per second of processor time against surface points, k = 200, of the free ball.

    From the fastest of some steps; the methods take turns. `restored`: with the momentum that the simplified methods
    lose, at the last mesh.
    """
    points, found = [], {method: [] for method in METHODS}
    for count in (1, 2, 3) if quick else (1, 2, 3, 4, 5):
        model = ball_model(SPRINGS[0], count, free=True)
        points.append(model.vertex_count)
        for method, rate in step_rates(model, METHODS, False, 10 if quick else 40).items():
            found[method].append(rate)
    restored = step_rates(model, PAPER, True, 10 if quick else 40)
    return {"speed": {"points": points, "steps_per_second": found, "restored": restored}}


def step_rates(model, methods, restored, frames):
    """Steps per second of processor time by method; what one costs does not depend on its length."""
    worlds = {method: method_world(model, method, 1, 10.0 * FRAME_RATE, restored=restored) for method in methods}
    least = dict.fromkeys(methods, np.inf)
    for frame in range(frames + 5):
        for method, world in worlds.items():
            steps, began = world.diagnostics().counts.stages, time.process_time()
            world.advance_frame()
            taken = time.process_time() - began
            steps = world.diagnostics().counts.stages - steps if method == "EXPLICIT" else 1
            if frame >= 5:
                least[method] = min(least[method], taken / steps)
    return {method: 1.0 / seconds for method, seconds in least.items()}


def heap_model(subdivisions, columns, rows, layers):
    """Balls in layers above a tray that a layer just fits into side by side, so that all of them must stack."""
    points, triangles = shapes.icosphere(subdivisions, RADIUS)
    pressure, pitch = MOLES / float(reference.volume(points, triangles)), 2.15 * RADIUS
    builder, rng = ModelBuilder(ambient_pressure=0.0), np.random.default_rng(7)
    for layer, column, row in np.ndindex(layers, columns, rows):
        place = np.array([column - 0.5 * (columns - 1), row - 0.5 * (rows - 1), layer + 0.6]) * pitch
        place += rng.uniform(-0.03, 0.03, 3) * RADIUS
        builder.add_membrane(
            f"ball {layer} {column} {row}", points + place, triangles, point_mass=POINT_MASS,
            spring_constant=STIFF, gauge_pressure=pressure, bounciness=BOUNCINESS,
        )  # fmt: skip
    builder.add_collider("tray", *tray(columns * pitch, rows * pitch, 4.0 * RADIUS), bounciness=BOUNCINESS)
    return builder.build(), triangles


def heap(quick=False):
    """Figure 7: many bodies fall on each other; their height and motion over time, and what is crossed at the end."""
    model, triangles = heap_model(1, 2, 1, 2) if quick else heap_model(2, 3, 6, 2)
    frames, n, mass = 30 if quick else 1500, model.vertex_count, model.vertex_mass
    runs = {}
    for method in METHODS[1:]:
        world = method_world(model, method)
        row = {
            "substeps": SUBSTEPS if method in PAPER else world.steps_per_frame, "height": [], "speed": [], "shown": {},
            "contacts": 0,
        }  # fmt: skip
        for frame in range(1, frames + 1):
            world.advance_frame()
            state = world.save()
            row["height"].append(float(mass @ state.positions[:n, 2] / mass.sum()))
            row["speed"].append(float(np.sqrt(mass @ (state.velocities[:n] ** 2).sum(axis=1) / mass.sum())))
            row["contacts"] = max(row["contacts"], world.diagnostics().contact_count)
            if frame in (1, frames // 50, frames // 3, 2 * frames // 3, frames):
                row["shown"][frame] = [world.positions(body) for body in range(model.membrane_count)]
        world.set_positions(0, world.positions(0))  # looks for crossings anew
        ratios = [body.volume_ratio for body in world.diagnostics().bodies]
        runs[method] = row | {"crossing": world.crossing_triangle_count, "volume_ratio": (min(ratios), max(ratios))}
    return {"bodies": model.membrane_count, "points": n, "frames": frames, "triangles": triangles, "runs": runs}


def run(quick=False):
    """All figures but the one that is timed."""
    return {
        "readings": readings(quick), "stiffer": stiffer(quick), "less_gas": less_gas(quick), "heap": heap(quick),
    }  # fmt: skip


def values(data):
    """What stands in the text."""
    found, gas, heap = data["readings"], data["less_gas"], data["heap"]
    speed = data["speed"]["steps_per_second"]
    last = {method: run["speed"][-60:] for method, run in heap["runs"].items()}
    ratio = {reading: found["longest"][reading, "IMPLICIT_MESIT"] / found["longest"][reading, "EXPLICIT_EULER"]
             for reading in READINGS}  # fmt: skip
    rate = {method: speed[method][-1] / speed["EXPLICIT_EULER"][-1] for method in PAPER}
    restored = data["speed"]["restored"]
    box, exact = (gas["runs"]["IMPLICIT_MESIT", rule]["pressure"] for rule in ("BOUNDING_BOX", "EXACT"))
    broken = [NAMES[method] for method, run in data["stiffer"]["runs"].items() if "error" in run]
    return {
        "points": str(found["points"]), "frequency": number(found["frequency"]),
        "bounded": number(found["bounded"], 2),
        "same_step": f"{ratio['k h']:.2f}", "least": f"{min(ratio.values()):.2f}",
        "step": number(1e3 * data["stiffer"]["step"]), "broken": " and ".join(broken) or "none of the methods",
        "gas": gas_table(gas), "box_before": f"{box[gas['switch'] - 2] / exact[gas['switch'] - 2]:.2f}",
        "ours": number(gas["runs"]["EXPLICIT", "EXACT"]["volume_ratio"][-1]), "kept": number(gas["kept"]),
        "theirs": number(gas["runs"]["IMPLICIT_MESIT", "EXACT"]["volume_ratio"][-1]),
        "box_after": f"{box[-1] / exact[-1]:.2f}", "largest": str(data["speed"]["points"][-1]),
        "kang_rate": f"{rate['IMPLICIT_KANG']:.2f}", "mesit_rate": f"{rate['IMPLICIT_MESIT']:.2f}",
        "kang_restored": f"{restored['IMPLICIT_KANG'] / restored['EXPLICIT_EULER']:.2f}",
        "mesit_restored": f"{restored['IMPLICIT_MESIT'] / restored['EXPLICIT_EULER']:.2f}",
        "bodies": str(heap["bodies"]), "faces": str(heap["bodies"] * len(heap["triangles"])),
        "heap_points": str(heap["points"]), "seconds": f"{heap['frames'] / FRAME_RATE:g}",
        "heap": table(
            ["solver", "substeps", "most contacts", "crossing", "V/V0 at the end", "speed in the last second [m/s]"],
            [[NAMES[method], run["substeps"], run["contacts"], run["crossing"],
              f"{run['volume_ratio'][0]:.2f} to {run['volume_ratio'][1]:.2f}", number(max(last[method]), 2)]
             for method, run in heap["runs"].items()],
        ),
    }  # fmt: skip


def gas_table(found):
    """Means over the last tenth of the frames before and after gas is let out."""
    tenth, rules, rows = max(1, found["switch"] // 10), {"EXACT": "exact", "BOUNDING_BOX": "bounding box"}, []
    for (method, rule), run in found["runs"].items():
        cells = [
            [np.mean(run[name][end - tenth : end]) for name in ("volume_ratio", "pressure", "shape")]
            for end in (found["switch"] - 1, found["last"])
        ]
        rows.append([NAMES[method], rules[rule], *(f"{number(a)} → {number(b)}" for a, b in zip(*cells, strict=True))])
    return table(["solver", "volume", "V/V0", "pressure [Pa]", "height / width"], rows)


def draw(figures, data):
    """All figures."""
    found, stiffer, gas, heap = data["readings"], data["stiffer"], data["less_gas"], data["heap"]

    def steps(axes):
        for row, reading in enumerate(READINGS):
            for k, method in enumerate(PAPER):
                step, place = found["longest"][reading, method], row + 0.26 * (k - 1)
                angle = 0.0 if step is None else step * found["frequency"]
                axes.barh(place, angle, height=0.24, color=COLOUR[method])
                told = f"{NAMES[method]} {f'≥ {angle:.0f}' if step == found['most'] else f'{angle:.2f}'}"
                axes.annotate(told, (angle, place), (4, 0), textcoords="offset points", va="center", fontsize=9,
                              color=COLOUR[method])  # fmt: skip
            axes.plot([found["theory"][reading]] * 2, [row - 0.4, row - 0.12], color="black", linewidth=2.5)
        axes.set_yticks(range(len(READINGS)), READINGS)
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.set(xlim=(0.0, 7.2), xlabel="longest step, h ω", ylabel="constant of eq. 12")

    def raised(height, volume):
        frame = stiffer["frame_time"]
        for method, run in stiffer["runs"].items():
            times = frame * np.arange(1, len(run["height"]) + 1)
            told = f"{NAMES[method]}: breaks at {times[-1]:.2f} s" if "error" in run else NAMES[method]
            for axes, key in ((height, "height"), (volume, "volume")):
                axes.plot(times, run[key], color=COLOUR[method], label=told)
                if "error" in run:
                    axes.plot(times[-1], run[key][-1], "x", color=COLOUR[method], markersize=10, markeredgewidth=2.5)
        for axes, label in ((height, "height of the middle [m]"), (volume, "V / V0")):
            for k, spring in enumerate(SPRINGS):
                at = k * stiffer["frames"] * frame
                axes.axvline(at, color="black", linewidth=0.5)
                axes.annotate(f" k = {spring:g}", (at, 0.98), xycoords=("data", "axes fraction"), va="top", fontsize=9)
            axes.set(xlabel="time [s]", ylabel=label)
        height.legend(loc="upper right", bbox_to_anchor=(1.0, 0.9), framealpha=1.0)

    def balls(picture):
        for row, (method, run) in enumerate(stiffer["runs"].items()):
            at = np.array([0.0, 0.0, -2.9 * row])
            picture.label(at + (-1.9, 0.0, 0.8), NAMES[method], 0.45, "RIGHT")
            for column, spring in enumerate(SPRINGS):
                if row == 0:
                    picture.label((3.4 * column, 0.0, 2.5), f"k = {spring:g}", 0.45)
                if column < len(run["positions"]):
                    picture.mesh(run["positions"][column] + at + (3.4 * column, 0.0, 0.0), stiffer["triangles"], BLUE)
                else:
                    picture.label(at + (3.4 * column, 0.0, 0.8), "disintegrated", 0.35)

    def emptied(volume, shape):
        frames = range(1, gas["last"] + 1)
        for k, ((method, rule), run) in enumerate(gas["runs"].items()):
            if method in ("IMPLICIT_MESIT", "EXPLICIT"):
                style = {"color": COLOURS[k], "linestyle": "-" if rule == "EXACT" else "--"}
                label = NAMES[method] + (", box" if rule != "EXACT" else "")
                volume.plot(frames, run["volume_ratio"], label=label, **style)
                shape.plot(frames, run["shape"], label=label, **style)
        volume.set_ylabel("V / V0")
        shape.set_ylabel("height / width")
        for axes in (volume, shape):
            axes.set_xlabel("frame")
        label_lines(volume, shape)

    def rates(axes):
        for name, rate in data["speed"]["steps_per_second"].items():
            axes.loglog(data["speed"]["points"], rate, "o-", color=COLOUR[name], markersize=5, label=NAMES[name])
        axes.set(xlabel="surface points", ylabel="steps per second")
        plain_ticks(axes.xaxis, data["speed"]["points"])
        plain_ticks(axes.yaxis, (300, 500, 1000, 2000, 4000, 8000))
        label_lines(axes)

    def rest(height, speed):
        for method, run in heap["runs"].items():
            times = np.arange(1, len(run["height"]) + 1) / FRAME_RATE
            height.plot(times, run["height"], color=COLOUR[method], label=NAMES[method])
            speed.semilogy(times, run["speed"], color=COLOUR[method], label=NAMES[method], linewidth=1)
        height.set_ylabel("height of all points [m]")
        speed.set_ylabel("speed [m/s, root mean square]")
        for axes in (height, speed):
            axes.set_xlabel("time [s]")
        label_lines(height, speed)

    def bodies(picture):
        shown = heap["runs"]["IMPLICIT_MESIT"]["shown"]
        wide, right = 1.9 * np.ptp(next(iter(shown.values()))[0][:, 0]) * 3.0, picture.axes[:, 0]
        for place, (frame, positions) in enumerate(shown.items()):
            shift = wide * (place % 3) * right - 0.95 * wide * (place // 3) * picture.axes[:, 1]
            for body, x in enumerate(positions):
                picture.mesh(x + shift, heap["triangles"], (BLUE, ORANGE)[body % 2], smooth=True)
            picture.label(shift - 0.32 * wide * picture.axes[:, 1], f"frame {frame}", 0.9)

    figures.curves("readings", steps, height=4.6)
    figures.curves("stiffer", raised, panels=2)
    figures.bodies("spring_constants", balls, turn=(80.0, 0.0))
    figures.curves("less_gas", emptied, panels=2)
    figures.curves("speed", rates)
    figures.curves("heap", rest, panels=2)
    figures.bodies("heap_bodies", bodies, turn=(70.0, 20.0))
