"""The hold test: whether a basketball on a floor keeps its volume and pressure, and what a frame costs."""

import statistics

import reference
from scenes import AMBIENT, BASKETBALL, LIVELY, ball_world
from softpressure_ext.core import DivergenceError

from .parts import FRAME_RATE, frame_times, median_ms, needed_substeps

VERTICES = {2: 162, 3: 642, 4: 2562}
IMPLICIT_SUBSTEPS, XPBD_SUBSTEPS = 4, (10, 20, 100)
#: The force-based method: the one with the longest stable step.
FORCE_BASED = "RK4"
#: A finer mesh with it would take minutes.
FORCE_BASED_LARGEST = 3
FRAMES, TIMED = 60, 20


def truth():
    """Closed form of the ball without weight: V / V0 and gauge pressure [Pa]."""
    strain = reference.ball_strain(BASKETBALL.radius, BASKETBALL.gauge_pressure, BASKETBALL.stretch_modulus)
    ratio = (1.0 + strain) ** 3
    return {"volume_ratio": ratio, "gauge_pressure": (BASKETBALL.gauge_pressure + AMBIENT) / ratio - AMBIENT}


def held(method, subdivisions, substeps, frames):
    """One ball, set down at its rest shape; the last frames are timed, and means taken."""
    world = ball_world(
        BASKETBALL, subdivisions, drop=0.001 * BASKETBALL.radius, frame_rate=FRAME_RATE, substeps=substeps or 1,
        solver=method, **LIVELY,
    )  # fmt: skip
    if substeps is None:
        substeps = needed_substeps(world.model, method)
        return held(method, subdivisions, substeps, frames)
    row = {"method": method, "vertices": VERTICES[subdivisions], "substeps": substeps, "frames": frames}
    times, volumes, pressures = [], [], []
    try:
        for _ in range(frames):
            times += frame_times(world, 1)
            body = world.diagnostics().bodies[0]
            volumes.append(body.volume_ratio)
            pressures.append(body.gauge_pressure)
    except DivergenceError as error:
        return row | {"error": str(error)}
    last = slice(-TIMED, None)
    return row | {
        "volume_ratio": statistics.mean(volumes[last]),
        "volume_range": (min(volumes[last]), max(volumes[last])),
        "gauge_pressure": statistics.mean(pressures[last]),
        "ms_per_frame": median_ms(times[last]),
        "lowest": float(world.positions(0)[:, 2].min()),
    }


def run(quick=False):
    """Rows by method and mesh, and the closed form."""
    meshes = (2,) if quick else tuple(VERTICES)
    frames = 24 if quick else FRAMES
    rows = []
    for subdivisions in meshes:
        rows.append(held("IMPLICIT", subdivisions, IMPLICIT_SUBSTEPS, frames))
        rows += [held("XPBD", subdivisions, substeps, frames) for substeps in XPBD_SUBSTEPS]
        if subdivisions <= FORCE_BASED_LARGEST:
            rows.append(held(FORCE_BASED, subdivisions, None, frames))
    return {"truth": truth(), "asked": BASKETBALL.gauge_pressure, "rows": rows}
