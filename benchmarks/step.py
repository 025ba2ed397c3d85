"""Cost of a frame, by phases.

    python benchmarks/step.py [--sizes 642 2562 10242 40962] [--threads 1 2] [--json FILE]

A basketball (radius 0.12 m, 0.6 kg, 55 kPa, stretch modulus 1e5 N/m) as an icosphere rests on a floor (`hold`) and
falls on it from 1 m (`drop`). A frame is 1/60 s in 4 substeps. Each measurement starts from a saved state and is
repeated; medians are printed as JSON.

`ms_per_frame` is time on the clock; `cpu_ms_per_frame` is processor time of all threads, waiting ones included, which
other programs disturb less. Phases are measured on the clock by wrapping their functions, here and not in the product;
their times exclude the phases they call. Needs numpy and numba, no Blender.
"""

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

import measure
import numpy as np
import shapes
from softpressure_ext.core import ModelBuilder, World
from softpressure_ext.core.contact.broad_phase import search
from softpressure_ext.core.solvers.implicit import dissipation, momentum, newton, solver, stage_energy

SUBDIVISIONS = {642: 3, 2562: 4, 10242: 5, 40962: 6}
FRAME_RATE, SUBSTEPS = 60.0, 4
RADIUS, MASS, PRESSURE, STRETCH_MODULUS = 0.12, 0.6, 55_000.0, 1e5
DAMPING, BOUNCINESS = 5.0, 0.8
DROP_HEIGHT = 1.0
#: scene -> (height of the lowest point at the start [m], frames before the measurement, frames measured)
SCENES = {"hold": (0.0005, 60, 10), "drop": (DROP_HEIGHT, 24, 10)}

#: phase -> (where a function is looked up, its name)
PHASES = {
    "search": [(search.ContactSearch, name) for name in ("search", "still_valid", "recover")],
    "gaps": [(stage_energy, "evaluate_gaps")],
    "evaluate": [(stage_energy.StageEnergy, "evaluate")],
    "linearise": [(stage_energy.StageEnergy, name) for name in ("linearise", "residual")],
    "conjugate gradients": [(newton, "newton_direction")],
    "filter": [(newton.StageMinimiser, "_filter")],
    "line search": [(newton.StageMinimiser, "_search_line")],
    "momentum": [(momentum.MomentumBalance, name) for name in ("start", "add_forces", "subtract_impulses", "settle")],
    "losses": [(dissipation.Dissipation, "apply")],
    "other": [(solver.ImplicitSolver, name) for name in ("start_frame", "step")],
}


def make_world(vertex_count, threads, height, **options):
    positions, triangles = shapes.icosphere(SUBDIVISIONS[vertex_count], RADIUS, (0.0, 0.0, RADIUS + height))
    builder = ModelBuilder()
    builder.add_membrane(
        "Ball", positions, triangles, mass=MASS, gauge_pressure=PRESSURE, stretch_modulus=STRETCH_MODULUS,
        damping=DAMPING, bounciness=BOUNCINESS, **options,
    )  # fmt: skip
    corners = np.array([(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)])
    builder.add_collider("Floor", corners, np.array([(0, 1, 2), (0, 2, 3)]), bounciness=BOUNCINESS)
    return World(builder.build(), frame_rate=FRAME_RATE, substeps=SUBSTEPS, threads=threads, solver="IMPLICIT")


def measure_scene(scene, vertex_count, threads, repeats, watch):
    """One scene at one size: milliseconds per frame and per phase, and the work of a frame."""
    height, before, frames = SCENES[scene]
    world = make_world(vertex_count, threads, height)
    for _ in range(before):
        world.advance_frame()
    state = world.save()
    runs = []
    for _ in range(repeats):
        world.load(state)
        counts = measure.vars_of(world.diagnostics().counts)
        contact_counts = []
        watch.seconds.clear()
        began, began_cpu = time.perf_counter(), time.process_time()
        for _ in range(frames):
            world.advance_frame()
            contact_counts.append(world.diagnostics().contact_count)
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - began_cpu
        work = {
            name: (value - counts[name]) / frames for name, value in measure.vars_of(world.diagnostics().counts).items()
        }
        phases = {phase: 1e3 * watch.seconds[phase] / frames for phase in PHASES}
        runs.append((1e3 * seconds / frames, 1e3 * cpu_seconds / frames, phases, work, max(contact_counts)))
    times = [run[0] for run in runs]
    body = world.diagnostics().bodies[0]
    return {
        "scene": scene,
        "vertices": vertex_count,
        "threads": threads,
        "ms_per_frame": round(statistics.median(times), 3),
        "ms_per_frame_range": [round(min(times), 3), round(max(times), 3)],
        "cpu_ms_per_frame": round(statistics.median(run[1] for run in runs), 3),
        "ms_per_phase": {phase: round(statistics.median(run[2][phase] for run in runs), 3) for phase in PHASES},
        "per_frame": {name: round(value, 2) for name, value in runs[-1][3].items()},
        "most_contacts": runs[-1][4],
        "volume_ratio_at_end": round(body.volume_ratio, 5),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SUBDIVISIONS), choices=list(SUBDIVISIONS))
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--scenes", nargs="+", default=list(SCENES), choices=list(SCENES))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the result here too")
    options = parser.parse_args()

    watch = measure.Stopwatch()
    for phase, places in PHASES.items():
        for owner, name in places:
            watch.wrap(owner, name, phase)
    report = {
        "machine": measure.machine(),
        "frame": {"seconds": 1.0 / FRAME_RATE, "substeps": SUBSTEPS},
        "repeats": options.repeats,
        "results": [],
    }
    warm_up = make_world(2562, max(options.threads), 0.001)  # compiles
    for _ in range(10):
        warm_up.advance_frame()
    for scene in options.scenes:
        for size in options.sizes:
            for threads in options.threads:
                result = measure_scene(scene, size, threads, options.repeats, watch)
                report["results"].append(result)
                print(f"{scene}, {size}, {threads}: {result['ms_per_frame']} ms per frame", file=sys.stderr, flush=True)
    text = json.dumps(report, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
