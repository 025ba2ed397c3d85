"""What the texts leave to future work: bodies that flow, tear and stick, and tissue that is stiffer with strain."""

import numpy as np
import shapes
from softpressure_ext.core import FrameInput, ModelBuilder, World

from .figures import BLUE, COLOURS, ORANGE, number

DEPENDS = (
    "core/plasticity/*.py", "core/energy/stiffening.py", "core/solvers/explicit/*.py", "core/bodies/lattice/*.py"
)  # fmt: skip
FRAME_RATE = 24.0
#: A block of dough on a floor [m, kg, Pa], and its creep times [s]; 0 is elastic.
SIDE, MASS, MODULUS, POISSON_RATIO, DOUGH_YIELD = 0.4, 20.0, 1e4, 0.35, 0.005
CREEP_TIMES = (0.0, 0.4, 0.05)
#: A balloon [m, kg, Pa, N/m] that is pumped up until it tears.
RADIUS, SKIN, GAUGE, STRETCH, TEAR_STRAIN = 0.2, 0.02, 500.0, 800.0, 0.35
#: By how much it is drawn larger.
BALLOON_SCALE = 2.0
#: One ball strikes another, sideways by so much [m], at a speed [m/s]; times that are drawn [frames].
OFFSET, SPEED, SHOWN = 0.2, 2.0, (0, 4, 9, 14)


def dough(creep_time, frames, cells):
    """Height over time [m], and where the points are at the end."""
    builder = ModelBuilder()
    x, triangles = shapes.box(SIDE, cells, (0.0, 0.0, 0.5 * SIDE + 0.01))
    builder.add_solid(
        "dough", x, triangles, cell_size=SIDE / cells, mass=MASS, modulus=MODULUS, poisson_ratio=POISSON_RATIO,
        damping=5.0, creep_time=creep_time, yield_strain=DOUGH_YIELD,
    )  # fmt: skip
    builder.add_collider("floor", *shapes.grid(8.0))
    world = World(builder.build(), frame_rate=FRAME_RATE, substeps=10, threads=1)
    height = []
    for _ in range(frames):
        world.advance_frame()
        height.append(float(world.positions(0)[:, 2].max()))
    return {"height": height, "positions": world.positions(0), "triangles": triangles}


def balloon(frames, subdivisions):
    """Gauge pressure [Pa] over time while gas is pumped in, and the torn skin."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    x, triangles = shapes.icosphere(subdivisions, RADIUS)
    builder.add_membrane(
        "balloon", x, triangles, mass=SKIN, gauge_pressure=GAUGE, stretch_modulus=STRETCH, bend_modulus=1e-4,
        damping=5.0, tear_strain=TEAR_STRAIN,
    )  # fmt: skip
    world = World(builder.build(), frame_rate=FRAME_RATE, substeps=10, threads=1)
    row = {"pressure": [], "triangles": triangles, "burst": None}
    for frame in range(frames):
        pumped = {0: GAUGE * (1.0 + 10.0 * frame)} if row["burst"] is None else {}
        world.advance_frame(FrameInput(gauge_pressure=pumped))
        torn = world.torn_triangles(0)
        row["pressure"].append(world.diagnostics().bodies[0].gauge_pressure)
        if row["burst"] is None and torn.any():
            row["burst"] = frame
        if row["burst"] is not None and frame == row["burst"] + 12:
            break
    shown = world.positions(0)
    # the jet has thrown it by then; shreds that have flown off are not shown
    shown = shown - np.median(shown[triangles[~torn]].mean(axis=1), axis=0)
    away = np.linalg.norm(shown[triangles].mean(axis=1), axis=1) > 3.0 * RADIUS
    row |= {"positions": shown, "holes": torn | away}
    return row


def strike(sticks, frames, subdivisions):
    """Two balls that meet in free flight: centres over time [m], and where their points are at the shown times."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    x, triangles = shapes.icosphere(subdivisions, RADIUS)
    for name, place, speed in (("thrown", (-0.5, 0.0, OFFSET), SPEED), ("struck", (0.0, 0.0, 0.0), 0.0)):
        builder.add_membrane(
            name, x + place, triangles, mass=0.5, gauge_pressure=2000.0, stretch_modulus=5000.0, damping=2.0,
            velocity=(speed, 0.0, 0.0), sticks=sticks,
        )  # fmt: skip
    world = World(builder.build(), frame_rate=FRAME_RATE, substeps=10, threads=1)
    centres, shown = [], []
    for frame in range(frames):
        if frame:
            world.advance_frame()
        both = [world.positions(body) for body in range(2)]
        centres.append([points.mean(axis=0) for points in both])
        if frame in SHOWN:
            shown.append(both)
    return {"centres": np.array(centres), "shown": shown, "triangles": triangles}


def run(quick):
    frames = 8 if quick else 72
    return {
        "dough": {time: dough(time, frames, 2 if quick else 6) for time in CREEP_TIMES},
        "balloon": balloon(8 if quick else 40, 1 if quick else 3),
        "strike": {sticks: strike(sticks, max(SHOWN) + 1, 2 if quick else 3) for sticks in (False, True)},
    }


def values(data):
    """What stands in the text."""
    apart = {sticks: np.linalg.norm(np.diff(run["centres"][-1], axis=0)) for sticks, run in data["strike"].items()}
    return {
        "burst": number(max(data["balloon"]["pressure"]), 3),
        "free": number(float(apart[False])), "stuck": number(float(apart[True])),
    }  # fmt: skip


def draw(figures, data):
    """All figures."""
    balloon = data["balloon"]

    def flow(heights, pressure):
        for colour, (time, run) in zip(COLOURS, data["dough"].items(), strict=False):
            times = np.arange(1, len(run["height"]) + 1) / FRAME_RATE
            heights.plot(times, run["height"], color=colour, label=f"{time:g} s" if time else "elastic")
        heights.set(xlabel="time [s]", ylabel="height [m]", ylim=(0.0, None))
        heights.legend(title="creep time")
        times = np.arange(1, len(balloon["pressure"]) + 1) / FRAME_RATE
        pressure.plot(times, balloon["pressure"], color=COLOURS[3])
        pressure.set(xlabel="time [s]", ylabel="gauge pressure [Pa]")

    def bodies(picture):
        right = picture.axes[:, 0]
        for place, (time, body) in enumerate(data["dough"].items()):
            picture.mesh(body["positions"] + 0.9 * place * right, body["triangles"], BLUE)
            told = f"creep time {time:g} s" if time else "elastic"
            picture.label(0.9 * place * right - 0.28 * picture.axes[:, 1], told, 0.08)
        if balloon["burst"] is not None:
            shown, corners = np.unique(balloon["triangles"][~balloon["holes"]], return_inverse=True)
            place = BALLOON_SCALE * balloon["positions"][shown] + 2.6 * right + (0.0, 0.0, 0.5 * SIDE)
            picture.mesh(place, corners.reshape(-1, 3), ORANGE)
            picture.label(2.6 * right - 0.28 * picture.axes[:, 1], f"torn balloon ({BALLOON_SCALE:g} : 1)", 0.08)

    def struck(picture):
        for row, (sticks, run) in enumerate(data["strike"].items()):
            picture.label((-0.85, 0.0, -1.2 * row), "sticky" if sticks else "free", 0.12, "RIGHT")
            for column, bodies in enumerate(run["shown"]):
                for points, colour in zip(bodies, (BLUE, ORANGE), strict=True):
                    picture.mesh(points + (1.3 * column, 0.0, -1.2 * row), run["triangles"], colour, smooth=True)
                if row == 1:
                    middle = float(np.mean([points[:, 0].mean() for points in bodies]))
                    picture.label((1.3 * column + middle, 0.0, -1.85), f"{SHOWN[column] / FRAME_RATE:.2f} s", 0.12)

    figures.curves("future_flow", flow, panels=2)
    figures.bodies("future_bodies", bodies, turn=(68.0, 25.0))
    figures.bodies("future_bonds", struck)
