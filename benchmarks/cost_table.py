"""The table of AUTO (`core/solvers/automatic.py`): what it predicts beside what scenes take, and constants that fit.

    python benchmarks/cost_table.py [--only WORDS ...] [--rounds 1] [--json FILE]

Every scene of `cost_scenes.py` is simulated with its solver on one thread, in frames of 1/60 s and 4 substeps. A frame
costs processor time, so a busy machine changes little, some 10 to 20 %; with `--rounds` the least of several counts.
Constants follow by least squares of the logarithms of prediction over measurement, none below zero. Printed are, per
scene: milliseconds per frame, and over them those that the present table predicts and those that the fitted one does;
then the fitted table, to be put in place of `NANOSECONDS`. Takes about two minutes. Needs no Blender.
"""

import argparse
import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent))

import measure
import numpy as np
from cost_scenes import SCENES, Timed
from softpressure_ext.core import MethodOptions, World, prepare
from softpressure_ext.core.solvers import automatic

FRAME_RATE, SUBSTEPS = 60.0, 4
#: What predictions should keep to for most scenes, and for all.
GOOD, FAIR = 1.5, 2.0


def measured(timed: Timed, rounds: int) -> dict[str, Any]:
    """Milliseconds of a mean frame, what was predicted, and the work of it."""
    model = timed.make()
    choice = automatic.forecast(timed.solver, model, 1.0 / FRAME_RATE, SUBSTEPS, MethodOptions())
    for _ in prepare.prepare(prepare.jobs_for(prepare.parts_of(model), choice.method)):
        pass
    world = World(model, frame_rate=FRAME_RATE, threads=1, choice=choice)
    world.advance_frame()  # loads what is left
    frames, seconds = round(FRAME_RATE * timed.seconds), math.inf
    for _ in range(rounds):
        world.reset()
        began = time.process_time()
        for _ in range(frames):
            world.advance_frame()
        seconds = min(seconds, time.process_time() - began)
    return {
        "scene": timed.name,
        "solver": timed.solver,
        "milliseconds": 1e3 * seconds / frames,
        "predicted": choice.milliseconds,
        "work": automatic.work(timed.solver, model, choice.steps_per_frame, 1.0 / FRAME_RATE),
    }


def fitted(work: Sequence[dict[str, float]], milliseconds: Sequence[float]) -> dict[str, float]:
    """Nanoseconds of each kind of work, at least 0."""
    kinds = list(work[0])
    amounts = np.array([[each[kind] for kind in kinds] for each in work])
    taken = 1e6 * np.array(milliseconds)
    costs, used, weight = np.zeros(len(kinds)), amounts.any(axis=0), 1.0 / taken
    for _ in range(100):
        rows = amounts[:, used] * weight[:, None]
        scale = np.linalg.norm(rows, axis=0)
        costs[:] = 0.0
        costs[used] = np.linalg.lstsq(rows / scale, taken * weight, rcond=None)[0] / scale
        if costs.min() < 0.0:
            used &= costs > costs.min()
        else:
            ratio = np.maximum(amounts @ costs / taken, 1e-3)
            steepness = np.where(abs(ratio - 1.0) < 1e-6, 1.0, np.log(ratio) / np.where(ratio == 1.0, 1.0, ratio - 1.0))
            weight = np.sqrt(steepness / ratio) / taken  # the minimum is that of the squares of log(ratio)
    return dict(zip(kinds, costs.tolist(), strict=True))


def predicted(work: dict[str, float], costs: dict[str, float]) -> float:
    """Milliseconds of work."""
    return 1e-6 * sum(costs[kind] * amount for kind, amount in work.items())


def outside(ratios: Sequence[float], factor: float) -> int:
    """How many are off by more than a factor."""
    return sum(not 1.0 / factor <= ratio <= factor for ratio in ratios)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[""], help="scenes or solvers whose names have one of these words")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write what was measured here, too")
    options = parser.parse_args()
    chosen = [each for each in SCENES if any(word in f"{each.name} {each.solver}" for word in options.only)]
    rows = []
    for timed in chosen:
        rows.append(measured(timed, options.rounds))
        print(f"{timed.solver}, {timed.name}: {rows[-1]['milliseconds']:.2f} ms", file=sys.stderr, flush=True)
    if options.json:
        options.json.write_text(json.dumps({"machine": measure.machine(), "rows": rows}, indent=2), encoding="utf-8")
    table, ratios = {}, []
    print(f"{'scene':32} {'solver':9} {'ms':>8} {'table':>6} {'fit':>6}")
    for solver in automatic.METHOD_OF:
        own = [row for row in rows if row["solver"] == solver]
        if not own:
            continue
        table[solver] = fitted([row["work"] for row in own], [row["milliseconds"] for row in own])
        for row in own:
            ratios.append(predicted(row["work"], table[solver]) / row["milliseconds"])
            now = row["predicted"] / row["milliseconds"]
            print(f"{row['scene']:32} {solver:9} {row['milliseconds']:8.2f} {now:6.2f} {ratios[-1]:6.2f}")
    for factor in (GOOD, FAIR):
        print(
            f"{outside(ratios, factor)} of {len(ratios)} fitted predictions are off by more than a factor of {factor}"
        )
    print("NANOSECONDS = {")
    for solver, costs in table.items():
        print(f'    "{solver}": {{' + ", ".join(f'"{kind}": {cost:.3g}' for kind, cost in costs.items()) + "},")
    print("}")


if __name__ == "__main__":
    main()
