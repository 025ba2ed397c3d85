"""Main kernels against the limits of the machine: bandwidth or arithmetic, whichever is nearer.

    python benchmarks/roofline.py [--sizes 2562 40962] [--json FILE]

Bandwidth is that of a triad a = b + s c (24 bytes per element) over arrays of several sizes; a kernel is compared with
the size next to its own data. Arithmetic is that of a polynomial of degree 16 (33 operations per element) in the
nearest cache, which numba compiles to fused multiply-add. One thread throughout, least time of the repeats.

Bytes of a kernel are those of its arrays, each read or written once: the least that must move. Operations are counted
in its source, per edge, half-edge, entry or corner; the formulas stand beside the kernels below. A division or root
counts as one. Needs numpy and numba, no Blender.
"""

import argparse
import json
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent))

import measure
import numpy as np
from numba import njit
from softpressure_ext.core.energy.bend import evaluate_bend
from softpressure_ext.core.energy.gas import volume_gradient
from softpressure_ext.core.energy.stretch import evaluate_stretch
from softpressure_ext.core.linear.conjugate_gradient import multiply
from softpressure_ext.core.linear.multigrid import apply_multigrid

SIZES = (2562, 40962)
#: Elements of the arrays of the triad: 0.4 MB to 1.6 GB in all.
TRIAD = tuple(1 << power for power in (14, 16, 18, 20, 22, 26))
DEGREE, ROUNDS = 16, 100


@njit(fastmath=True)
def _triad(a, b, c, s):
    for i in range(a.shape[0]):
        a[i] = b[i] + s * c[i]


@njit(fastmath=True)
def _polynomial(x, c, y, rounds):
    for _ in range(rounds):
        for i in range(x.shape[0]):
            t = x[i]
            s = c
            s = s * t + c
            s = s * t + c
            s = s * t + c
            s = s * t + c
            s = s * t + c
            s = s * t + c
            s = s * t + c
            s = s * t + c
            s = s * t + c
            s = s * t + c
            s = s * t + c
            s = s * t + c
            s = s * t + c
            s = s * t + c
            s = s * t + c
            s = s * t + c
            y[i] += s


def least_time(call, enough=0.05, rounds=7):
    """Least seconds of a call, over rounds of repetitions that take `enough` seconds each."""
    call()
    began = time.perf_counter()
    call()
    once = max(time.perf_counter() - began, 1e-7)
    repeats = max(1, int(enough / once))
    least = np.inf
    for _ in range(rounds):
        began = time.perf_counter()
        for _ in range(repeats):
            call()
        least = min(least, (time.perf_counter() - began) / repeats)
    return least


def bandwidths(counts=TRIAD):
    """Size of the triad's data [bytes] and bytes per second."""
    rows = []
    for count in counts:
        a, b, c = np.zeros(count), np.ones(count), np.ones(count)
        seconds = least_time(lambda a=a, b=b, c=c: _triad(a, b, c, 3.0))
        rows.append({"bytes": 24 * count, "bytes_per_second": 24 * count / seconds})
    return rows


def arithmetic():
    """Operations per second in double and in single precision."""
    rates = {}
    for kind in (np.float64, np.float32):
        x, y = np.full(1024, 0.5, kind), np.zeros(1024, kind)
        seconds = least_time(lambda x=x, y=y, kind=kind: _polynomial(x, kind(0.3), y, ROUNDS), enough=0.02)
        rates[np.dtype(kind).name] = (2 * DEGREE + 1) * len(x) * ROUNDS / seconds
    return rates


def _size_of(*arrays):
    return sum(array.nbytes for array in arrays)


def kernels(world):
    """(name, call, bytes, operations, precision, how operations were counted, calls) of each kernel on a world."""
    model, minimiser = world.model, world._solver._minimiser
    energy, scratch, levels = minimiser.energy, minimiser._scratch, minimiser._multigrid.levels
    edges, hinges, fans, chunks = model.edges, model.hinges, model.fans, model.chunks
    hessian, n = energy.hessian, model.vertex_count
    x, p, z = minimiser.x[:n], scratch.direction, scratch.preconditioned
    p[:n] = np.random.default_rng(3).normal(size=(n, 3))
    sums = energy._chunk_sums
    found = [
        (
            "stretch", "evaluations",
            lambda: evaluate_stretch(minimiser.x, edges, chunks, energy._tension, energy._edge_block, sums[1]),
            _size_of(x, edges.points, edges.rest_length, edges.stiffness, energy._tension, energy._edge_block),
            23 * len(edges.points), "float64", "23 per edge",
        ),
        (
            "gas", "evaluations",
            lambda: volume_gradient(
                minimiser.x, model.body_point_start, fans, chunks, energy._volume_gradient, sums[3]
            ),
            _size_of(x, fans.vertex_start, fans.corners, energy._volume_gradient),
            18 * len(fans.corners) + 12 * n, "float64", "18 per corner, 12 per vertex",
        ),
    ]  # fmt: skip
    flat, sharp = len(hinges.flat_other), len(hinges.sharp)
    if len(hinges.points):
        found.append(
            (
                "bend", "evaluations",
                lambda: evaluate_bend(minimiser.x, hinges, chunks, energy._sharp_turn, energy._hinge_force, sums[2]),
                _size_of(x, hinges.points, hinges.weight, hinges.rest_bend, hinges.normal_scale, hinges.stiffness,
                         hinges.sharp_place, energy._hinge_force, energy._sharp_turn),
                135 * len(hinges.points) + 60 * sharp, "float64", "135 per hinge, 60 more if sharp",
            )
        )  # fmt: skip
    found.append(
        (
            "Hessian product", "products",
            lambda: multiply(
                edges, hinges, chunks, hessian, energy.acting, 0, p, energy.contact_stretched, scratch.pulled,
                scratch.product, scratch.sums, scratch.gas, scratch.island, scratch.islands[3],
            ),
            _size_of(p[:n], p[:n], edges.vertex_start, edges.vertex_other, edges.vertex_edge, energy._edge_block,
                     hessian.inertia, hessian.pinned, hessian.volume_gradient, hinges.flat_start, hinges.flat_other,
                     hinges.flat_weight, energy._sharp_turn, scratch.pulled),
            20 * len(edges.vertex_other) + 18 * n + 9 * flat + 147 * sharp, "float64",
            "20 per half-edge, 18 per vertex, 9 per flat bending entry, 147 per sharp hinge",
        )
    )  # fmt: skip
    coupling, up, down = levels.coupling, levels.interpolation, levels.restriction
    inner = int(levels.level_start[-2])  # rows of all levels but the coarsest, which is solved
    entries = 2 * len(coupling.weight) + len(up.weight) + len(down.weight)
    vectors = _size_of(levels.left, levels.left, levels.step, levels.step) + 10 * _size_of(levels.residual)
    found.append(
        (
            "multigrid cycle", "cycles",
            lambda: apply_multigrid(levels, p, z),
            2 * _size_of(*coupling) + _size_of(*up, *down, levels.block_inverse, p[:n], z[:n]) + vectors,
            6 * entries + 24 * inner + 6 * len(levels.block_inverse), "float32",
            "6 per entry and pass (couplings twice), 24 per row, 6 per entry of the exact blocks",
        )
    )  # fmt: skip
    return found


def calls_per_substep(before, after, substeps):
    """How often the kernels were called, from the counts of work."""
    newton = after["newton_steps"] - before["newton_steps"]
    iterations = after["linear_iterations"] - before["linear_iterations"]
    shortened = after["shortened_steps"] - before["shortened_steps"]
    stages = after["stages"] - before["stages"]
    return {
        "evaluations": (stages + newton + shortened) / substeps,
        "products": iterations / substeps,
        "cycles": (iterations + newton + stages) / substeps,
    }


def rows_of(size, rates, memory):
    """Every kernel at one size of the ball of `step.py`, once it lies on the floor; bending in a run of its own."""
    import step

    rows = []
    for bending in (0.0, 0.05):
        world = step.make_world(size, 1, 0.0005, bend_modulus=bending)
        frames, counts = 6, None
        for frame in range(2 * frames):
            if frame == frames:
                counts = measure.vars_of(world.diagnostics().counts)
            world.advance_frame()
        calls = calls_per_substep(counts, measure.vars_of(world.diagnostics().counts), frames * world.substeps)
        for name, kind, call, size_in_bytes, operations, precision, formula in kernels(world):
            if bending and name not in ("bend", "Hessian product"):
                continue
            seconds = least_time(call)
            ratio = [abs(np.log(row["bytes"] / size_in_bytes)) for row in memory]
            by_memory = size_in_bytes / memory[int(np.argmin(ratio))]["bytes_per_second"]
            by_arithmetic = operations / rates[precision]
            rows.append(
                {
                    "kernel": name + (" with bending" if bending and name != "bend" else ""),
                    "vertices": size,
                    "bytes_per_vertex": size_in_bytes / size,
                    "operations_per_vertex": operations / size,
                    "operations_formula": formula,
                    "calls_per_substep": calls[kind],
                    "microseconds": 1e6 * seconds,
                    "nearer_limit": "bandwidth" if by_memory >= by_arithmetic else "arithmetic",
                    "share_of_limit": max(by_memory, by_arithmetic) / seconds,
                }
            )
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--quick", action="store_true", help="small arrays only")
    parser.add_argument("--json", type=Path, help="write the result here too")
    options = parser.parse_args()
    memory = bandwidths(TRIAD[:3] if options.quick else TRIAD)
    rates = arithmetic()
    rows = [row for size in options.sizes for row in rows_of(size, rates, memory)]
    text = json.dumps({"bandwidth": memory, "arithmetic": rates, "kernels": rows}, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
