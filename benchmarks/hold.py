"""Whether a basketball on a floor keeps its volume and pressure, and what a frame costs: our engine, XPBD, and Cloth.

    python benchmarks/hold.py [--quick] [--output FILE.json]

Rows go to docs/benchmarks/hold.json, from which `run.py --from-json` puts them on the page of the benchmarks. With
`bpy` Blender's Cloth has a row, too.
"""

import argparse
import importlib
import json
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "benchmarks")]  # the tests' scenes, not the benchmarks'

import measure  # noqa: E402  (loads the extension)
import reference  # noqa: E402
from scenes import AMBIENT, BASKETBALL, LIVELY, ball_world, inflate  # noqa: E402

FRAME_RATE = 60.0
VERTICES = {2: 162, 3: 642, 4: 2562, 5: 10242}
#: Substeps per 1/60 s, in the order of the table; the engine finds its own.
METHODS = (("EXPLICIT", 1), ("XPBD", 10), ("XPBD", 20), ("XPBD", 100))
#: Frames of 1/60 s of a run, how many of them at its end count, and distance from the floor at the start [m].
FRAMES, COUNTED, GAP = 60, 20, 0.001 * BASKETBALL.radius


def truth():
    """Closed form of the ball without weight: V / V0 and gauge pressure [Pa]."""
    strain = reference.ball_strain(BASKETBALL.radius, BASKETBALL.gauge_pressure, BASKETBALL.stretch_modulus)
    return {"volume_ratio": (1.0 + strain) ** 3, "gauge_pressure": gauge_pressure((1.0 + strain) ** 3)}


def gauge_pressure(volume_ratio):
    """Gauge pressure of the gas [Pa] at a volume ratio."""
    return (BASKETBALL.gauge_pressure + AMBIENT) / volume_ratio - AMBIENT


def held(method, subdivisions, substeps, frames):
    """One ball, set down inflated: means of the last frames, and the time of the first ones, before any body sleeps."""

    def make(subdivisions):
        world = ball_world(
            BASKETBALL, subdivisions, drop=GAP, frame_rate=FRAME_RATE, substeps=substeps, solver=method, **LIVELY
        )
        inflate(world, BASKETBALL)
        return world

    small, world = make(1), make(subdivisions)
    for _ in range(3):
        small.advance_frame()  # loads what the solver consists of
    times, volumes = [], []
    for _ in range(frames):
        began = time.perf_counter()
        world.advance_frame()
        times.append(time.perf_counter() - began)
        volumes.append(world.diagnostics().bodies[0].volume_ratio)
    substeps = world.steps_per_frame if method == "EXPLICIT" else substeps
    return row(method, subdivisions, substeps, volumes, times, float(world.positions(0)[:, 2].min()))


def row(method, subdivisions, substeps, volumes, times, lowest):
    """A row of the table from volume ratios and times [s] by frame."""
    ratio = statistics.mean(volumes[-COUNTED:])
    return {
        "method": method, "vertices": VERTICES[subdivisions], "substeps": substeps, "volume_ratio": ratio,
        "gauge_pressure": gauge_pressure(ratio), "ms_per_frame": 1e3 * statistics.median(times[:COUNTED]),
        "lowest": lowest,
    }  # fmt: skip


def rows(quick=False):
    """Rows by mesh and method."""
    found, frames = [], 24 if quick else FRAMES
    engines = importlib.import_module("softpressure_ext.benchmarks.engines")
    for subdivisions in (2,) if quick else VERTICES:
        found += [held(method, subdivisions, substeps, frames) for method, substeps in METHODS]
        if engines.installed("cloth"):
            cloth = importlib.import_module("softpressure_ext.benchmarks.hold_cloth")
            measured = cloth.held(subdivisions, frames / FRAME_RATE, GAP)
            found.append(row("CLOTH", subdivisions, cloth.QUALITY, *measured))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the coarsest mesh and few frames")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "benchmarks" / "hold.json")
    options = parser.parse_args()
    found = {"machine": measure.machine(), "truth": truth(), "rows": rows(options.quick)}
    options.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
