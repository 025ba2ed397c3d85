"""The hold test: whether a basketball on a floor keeps its volume and pressure, and what a frame costs, by solver."""

import statistics
import time

import reference
from scenes import AMBIENT, BASKETBALL, LIVELY, ball_world, inflate
from softpressure_ext.core import DivergenceError
from softpressure_ext.core.solvers.choice import FORCE_BASED

from . import pictures
from .parts import FRAME_RATE, needed_substeps

VERTICES = {2: 162, 3: 642, 4: 2562, 5: 10242}
#: Substeps per 1/60 s of our solvers, in the order of the table; the engine finds its own.
SUBSTEPS = (("EXPLICIT", 1), ("XPBD", 10), ("XPBD", 20), ("XPBD", 100))
#: Frames of 1/60 s of a run, how many of them at its end count, and seconds of work after which a run is cut off.
FRAMES, COUNTED, LIMIT = 60, 20, 3.0
#: A force-based frame of more substeps is taken in pieces of so many, so that a run can be cut off within it.
PIECE = 100
GAP = 0.001 * BASKETBALL.radius


def truth():
    """Closed form of the ball without weight: V / V0 and gauge pressure [Pa]."""
    strain = reference.ball_strain(BASKETBALL.radius, BASKETBALL.gauge_pressure, BASKETBALL.stretch_modulus)
    ratio = (1.0 + strain) ** 3
    return {"volume_ratio": ratio, "gauge_pressure": (BASKETBALL.gauge_pressure + AMBIENT) / ratio - AMBIENT}


def held(method, subdivisions, substeps, frames, limit=LIMIT):
    """One ball, set down inflated: means of the last frames, and the time of the first ones, before any body sleeps.

    `substeps` None: as many as a force-based method needs.
    """

    def make(pieces, substeps, subdivisions=subdivisions):
        world = ball_world(
            BASKETBALL, subdivisions, drop=GAP, frame_rate=FRAME_RATE * pieces, substeps=substeps, solver=method,
            **LIVELY,
        )  # fmt: skip
        inflate(world, BASKETBALL)
        return world

    pieces = 1
    if substeps is None:
        substeps = needed_substeps(make(1, 1).model, method)
        pieces = -(-substeps // PIECE)
    small = make(pieces, -(-substeps // pieces), subdivisions=1)
    for _ in range(3):
        small.advance_frame()  # loads what the solver consists of
    world = make(pieces, -(-substeps // pieces))
    row = {"method": method, "vertices": VERTICES[subdivisions], "substeps": substeps}
    if method == "EXPLICIT":
        row["substeps"] = world.steps_per_frame
    times, volumes, pressures = [], [], []
    started = time.perf_counter()
    try:
        while len(times) < frames * pieces and (time.perf_counter() - started < limit or len(times) < 2):
            began = time.perf_counter()
            world.advance_frame()
            times.append(time.perf_counter() - began)
            body = world.diagnostics().bodies[0]
            volumes.append(body.volume_ratio)
            pressures.append(body.gauge_pressure)
    except DivergenceError as error:
        return row | {"error": str(error)}
    last = slice(-COUNTED * pieces, None)
    return row | {
        "seconds": len(times) / pieces / FRAME_RATE,
        "volume_ratio": statistics.mean(volumes[last]),
        "gauge_pressure": statistics.mean(pressures[last]),
        "ms_per_frame": 1e3 * pieces * statistics.median(times[: COUNTED * pieces]),
        "lowest": float(world.positions(0)[:, 2].min()),
    }


def cloth_row(subdivisions, seconds):
    """The row of Blender's Cloth."""
    from .cloth import QUALITY, gauge_pressure, held

    volumes, times, lowest = held(subdivisions, seconds, GAP)
    ratio = statistics.mean(volumes[-COUNTED // 2 :])
    return {
        "method": "CLOTH", "vertices": VERTICES[subdivisions], "substeps": QUALITY, "seconds": seconds,
        "volume_ratio": ratio, "gauge_pressure": gauge_pressure(ratio),
        "ms_per_frame": 1e3 * statistics.median(times[: COUNTED // 2]), "lowest": lowest,
    }  # fmt: skip


def clock(quick=False):
    """Rows by method and mesh, and the closed form."""
    meshes, frames, limit = ((2,), 24, 1.0) if quick else (tuple(VERTICES), FRAMES, LIMIT)
    rows = []
    for subdivisions in meshes:
        rows += [held(method, subdivisions, substeps, frames, limit) for method, substeps in SUBSTEPS]
        rows += [held(method, subdivisions, None, frames, limit) for method in FORCE_BASED]
        if pictures.available():
            rows.append(cloth_row(subdivisions, frames / FRAME_RATE))
    return {"truth": truth(), "frames": frames, "limit": limit, "rows": rows}
