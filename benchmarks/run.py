"""All benchmarks: every engine on the same scenes; writes JSON, a page and its figures.

    python benchmarks/run.py [--quick] [--scenes drop ...] [--engines explicit ...] [--sizes 642 ...] [--output FILE.md]

`nox -s bench` runs it with what it needs installed; engines that are not installed are named on the page. Each case has
a process of its own; the engines take turns, and medians are taken over the rounds. Nothing on the page is written by
hand. `--quick` runs the smallest size of everything once, for a few frames.
"""

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.append(str(HERE))

import measure  # noqa: E402
from softpressure_ext.benchmarks import engines  # noqa: E402

#: Sizes of each scene: vertices of a body, or boxes. The longest runs come last.
SIZES = {
    "drop": (642, 2562, 10242, 40962, 163842),
    "stack": (125, 1000),
    "crate": (642, 2562),
    "torus": (512, 2048, 8192),
    "suzanne": (441, 1756, 7018),
    "pair": (642, 2562),
    "box8": (642, 2562),
}
QUICK = {"drop": 162, "pair": 42, "box8": 42, "torus": 96, "suzanne": 441, "stack": 8, "crate": 42}
QUICK_FRAMES = 11
#: Seconds of stepping up to which a case is repeated in every round; up to which in three.
SHORT, MEDIUM = 15.0, 30.0
#: What is taken from the median run of a case, besides the times.
ONCE = ("version", "settings", "bodies", "threads", "frames", "frames_done", "work")
QUALITY = (
    "finite", "free_fall_error", "volume_ratio_end", "volume_error", "volume_range", "deepest", "rest_speed",
    "height_end",
)  # fmt: skip


def limit_of(engine, options):
    """Seconds of stepping after which a run of an engine is cut off."""
    return options.limit if engines.ENGINES[engine].needs else options.own_limit


def run_case(engine, scene, size, options):
    """One run in its own process: its row, or {"error": ...}."""
    limit = limit_of(engine, options)
    command = [sys.executable, str(HERE / "case.py"), engine, scene, str(size), "--limit", str(limit)]
    command += ["--threads", str(options.threads), "--folder", str(options.meshes)]
    if options.quick:
        command += ["--frames", str(QUICK_FRAMES)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5 * limit + 300)
    except subprocess.TimeoutExpired:
        return {"error": f"no end within {5 * limit + 300:.0f} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        said = done.stderr.strip().splitlines() or [f"ended with code {done.returncode}"]
        return {"error": said[-1][:200]}
    return json.loads(lines[-1])


def rounds_of(row, most):
    """How often a case is run in all, from its first run: less often where that was long."""
    spent = row["ms_per_second"] * row["frames_done"] * row["frame_time"] / 1e3
    if row["frames_done"] < row["frames"]:
        return 1
    return most if spent < SHORT else min(most, 3) if spent < MEDIUM else 1


def run_group(scene, size, names, options):
    """All engines on one scene at one size, in turns; a summary for each."""
    rows = {name: [] for name in names}
    for number in range(options.rounds):
        for name in names:
            found = rows[name]
            if number and ("error" in found[0] or number >= rounds_of(found[0], options.rounds)):
                continue
            if number and time.monotonic() > options.end:
                continue
            found.append(run_case(name, scene, size, options))
            said = found[-1].get("error") or f"{found[-1]['ms_per_second']:.0f} ms per second"
            print(f"{scene} {size}, {engines.ENGINES[name].label}: {said}", file=sys.stderr, flush=True)
    return [summary(scene, size, name, found) | {"limit": limit_of(name, options)} for name, found in rows.items()]


def summary(scene, size, name, rows):
    """One case: medians of times and memory; the rest from the run of median time."""
    result = {"scene": scene, "size": size, "engine": name, "label": engines.ENGINES[name].label}
    good = sorted((row for row in rows if "error" not in row), key=lambda row: row["ms_per_second"])
    if not good:
        return result | {"error": rows[0]["error"]}
    middle = good[(len(good) - 1) // 2]
    for key in ("ms_per_second", "peak_mb", "scene_mb", "cpu_per_clock"):
        result[key] = statistics.median(row[key] for row in good)
    result["runs"] = [row["ms_per_second"] for row in rows if "error" not in row]
    return result | {key: middle[key] for key in (*ONCE, *QUALITY)}


def run_cases(options):
    """All scenes; an engine that was cut off at one size does not get the next one, unless it is ours."""
    found = []
    for scene in options.scenes:
        able = [name for name in options.engines if scene in engines.ENGINES[name].scenes and engines.installed(name)]
        sizes = [QUICK[scene]] if options.quick else SIZES[scene]
        for size in sizes:
            if (options.sizes and not options.quick and size not in options.sizes) or not able:
                continue
            if time.monotonic() > options.end:
                print(f"{scene} {size}: left out, the time is up", file=sys.stderr, flush=True)
                continue
            found += run_group(scene, size, able, options)
            for case in found[-len(able) :]:
                cut = "error" in case or case["frames_done"] < case["frames"]
                if cut and engines.ENGINES[case["engine"]].needs:
                    able.remove(case["engine"])
    return found


def keep(results, before):
    """Take over from earlier results what is not in these."""
    measured = {(case["scene"], case["size"], case["engine"]) for case in results["cases"]}
    kept = [case for case in before["cases"] if (case["scene"], case["size"], case["engine"]) not in measured]
    scene_order, engine_order = list(SIZES), list(engines.ENGINES)
    results["cases"] = sorted(
        kept + results["cases"],
        key=lambda case: (scene_order.index(case["scene"]), case["size"], engine_order.index(case["engine"])),
    )
    results["minutes"] += before["minutes"]
    results["several_runs"] = True


def write_meshes(options):
    """Suzanne, where Blender is installed; without it her scene is left out."""
    if "suzanne" not in options.scenes or any(options.meshes.glob("suzanne_*.npz")):
        return
    if engines.installed("cloth"):
        subprocess.run([sys.executable, str(HERE / "meshes.py"), str(options.meshes)], check=True, capture_output=True)
    else:
        options.scenes.remove("suzanne")


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the smallest size of everything, once, a few frames")
    parser.add_argument("--scenes", nargs="*", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--engines", nargs="+", default=list(engines.ENGINES), choices=list(engines.ENGINES))
    parser.add_argument("--sizes", type=int, nargs="+", help="only these sizes of the scenes")
    parser.add_argument("--rounds", type=int, default=5, help="runs of a short case")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="threads that each engine may use")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of stepping after which a run is cut off")
    parser.add_argument("--own-limit", type=float, default=300.0, help="the same of our own solvers")
    parser.add_argument("--minutes", type=float, default=1e6, help="no case is begun after these")
    parser.add_argument("--meshes", type=Path, default=ROOT / "build" / "bench" / "meshes")
    parser.add_argument("--output", type=Path, help="docs/benchmarks.md; with --quick build/bench/quick.md")
    parser.add_argument("--add", action="store_true", help="keep what the last run measured and this one does not")
    parser.add_argument("--from-json", type=Path, help="run nothing; write the page of these results anew")
    options = parser.parse_args()
    options.rounds = 1 if options.quick else options.rounds
    options.output = options.output or ROOT / ("build/bench/quick.md" if options.quick else "docs/benchmarks.md")
    options.end = time.monotonic() + 60.0 * options.minutes
    return options


def main():
    options = parsed()
    page = importlib.import_module("softpressure_ext.benchmarks.page")
    if options.from_json:
        page.write(options.output, json.loads(options.from_json.read_text(encoding="utf-8")))
        return
    began = time.perf_counter()
    results = {
        "machine": measure.machine(),
        "quick": options.quick,
        "rounds": options.rounds,
        "not_installed": [name for name in options.engines if not engines.installed(name)],
    }
    write_meshes(options)
    results["cases"] = run_cases(options)
    results["minutes"] = (time.perf_counter() - began) / 60.0
    target = options.output.with_suffix("") / "results.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    if options.add and target.exists():
        keep(results, json.loads(target.read_text(encoding="utf-8")))
    target.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    page.write(options.output, results)


if __name__ == "__main__":
    main()
