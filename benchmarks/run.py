"""All benchmarks: every engine on the same scenes; keeps what they did and writes the page.

    python benchmarks/run.py [--quick] [--scenes drop ...] [--engines explicit ...] [--sizes 642 ...]
    python benchmarks/run.py --only drawn|first_start|compile [--python PYTHON]
    python benchmarks/run.py --assemble

`nox -s bench` runs it with what it needs installed; engines that are not installed are named on the page, a text
(`benchmarks/page.md`, `tools/pages.py`). Each case has a process of its own; the engines take turns, and medians are
taken over the rounds. What an earlier run measured and this one does not is kept. `--quick` runs the smallest size of
everything once, for a few frames, into build/bench. `--only` measures another section of the page, a module with
`run(python, before)`; `--assemble` runs nothing.
"""

import argparse
import importlib
import os
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests" / "support"))

import extension  # noqa: E402

extension.load()

from softpressure_ext.benchmarks import engines, scenes  # noqa: E402
from softpressure_ext.tools import child  # noqa: E402

pages = importlib.import_module("softpressure_ext.tools.pages")
SECTIONS = ("results", "drawn", "first_start", "compile")
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
#: Seconds of stepping after which a run is cut off: of other engines, and of ours.
LIMIT, OWN_LIMIT = 60.0, 300.0
#: Runs of a case, by the seconds of stepping that its first one took.
ROUNDS = {15.0: 5, 30.0: 3, float("inf"): 1}


def page_in(folder):
    """The page of the benchmarks in a folder."""
    return pages.Page(folder / "benchmarks.md", "benchmarks", SECTIONS)


def limit_of(engine):
    """Seconds of stepping after which a run of an engine is cut off."""
    return LIMIT if engines.ENGINES[engine].needs else OWN_LIMIT


def run_case(engine, scene, size, quick):
    """One run in its own process: its row, or {"error": ...}."""
    given = {"engine": engine, "scene": scene, "size": size, "threads": os.cpu_count(), "limit": limit_of(engine)}
    given |= {"frames": QUICK_FRAMES if quick else None}
    try:
        row = child.call("benchmarks.case", "run", 5 * given["limit"] + 300, **given)
    except RuntimeError as error:
        row = {"error": str(error)[-200:]}
    said = row.get("error") or f"{row['ms_per_second']:.0f} ms per second"
    print(f"{scene} {size}, {engines.ENGINES[engine].label}: {said}", file=sys.stderr, flush=True)
    return row


def rounds_of(row, quick):
    """How often a case is run in all, from its first run: less often where that was long."""
    if quick or "error" in row or row["frames_done"] < row["frames"]:
        return 1
    return next(count for seconds, count in ROUNDS.items() if row["spent"] < seconds)


def run_group(scene, size, names, quick):
    """All engines on one scene at one size, in turns; a summary for each."""
    rows = {name: [run_case(name, scene, size, quick)] for name in names}
    for number in range(1, max(ROUNDS.values())):
        for name, found in rows.items():
            if number < rounds_of(found[0], quick):
                found.append(run_case(name, scene, size, quick))
    return [summary(scene, size, name, found) for name, found in rows.items()]


def summary(scene, size, name, rows):
    """One case: medians of times and memory; the rest from the run of median time."""
    result = {"scene": scene, "size": size, "engine": name, "label": engines.ENGINES[name].label}
    good = sorted((row for row in rows if "error" not in row), key=lambda row: row["ms_per_second"])
    if not good:
        return result | {"error": rows[0]["error"]}
    result |= good[(len(good) - 1) // 2] | {"limit": limit_of(name), "runs": [row["ms_per_second"] for row in good]}
    for key in ("ms_per_second", "peak_mb", "scene_mb", "cpu_per_clock"):
        result[key] = statistics.median(row[key] for row in good)
    return result


def run_cases(options):
    """All scenes; an engine that was cut off at one size does not get the next one, unless it is ours."""
    found = []
    for scene in options.scenes:
        able = [name for name in options.engines if scene in engines.ENGINES[name].scenes and engines.installed(name)]
        for size in [QUICK[scene]] if options.quick else SIZES[scene]:
            if (options.sizes and size not in options.sizes) or not able:
                continue
            group = run_group(scene, size, able, options.quick)
            found += group
            cut = {case["engine"] for case in group if "error" in case or case["frames_done"] < case["frames"]}
            able = [name for name in able if name not in cut or not engines.ENGINES[name].needs]
    return found


def measure(options, before):
    """Run the cases; those of earlier runs that these do not replace stay beside them."""
    began, machine = time.perf_counter(), pages.machine()
    if "suzanne" in options.scenes and not any(scenes.MESHES.glob("suzanne_*.npz")):
        if engines.installed("cloth"):
            child.call("benchmarks.meshes", "write", folder=str(scenes.MESHES))
        else:
            options.scenes.remove("suzanne")
    cases = run_cases(options)
    measured = {(case["scene"], case["size"], case["engine"]) for case in cases}
    kept = [case for case in before["cases"] if (case["scene"], case["size"], case["engine"]) not in measured]
    order, engine_order = list(SIZES), list(engines.ENGINES)
    cases = sorted(
        kept + cases, key=lambda c: (order.index(c["scene"]), c["size"], engine_order.index(c["engine"]))
    )  # fmt: skip
    minutes = (time.perf_counter() - began) / 60.0
    return {
        "machine": machine, "quick": options.quick, "rounds": max(len(case.get("runs", ())) for case in cases),
        "not_installed": [name for name in options.engines if not engines.installed(name)], "cases": cases,
        "minutes": minutes + (before["minutes"] if kept else 0.0), "several_runs": bool(kept),
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the smallest size of everything, once, a few frames")
    parser.add_argument("--scenes", nargs="*", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--engines", nargs="+", default=list(engines.ENGINES), choices=list(engines.ENGINES))
    parser.add_argument("--sizes", type=int, nargs="+", help="only these sizes of the scenes")
    parser.add_argument("--folder", type=Path, help="of the page: docs; with --quick build/bench")
    parser.add_argument("--only", choices=SECTIONS, default="results")
    parser.add_argument("--python", default=sys.executable, help="for first_start: one with bpy and without numba")
    parser.add_argument("--assemble", action="store_true", help="run nothing")
    options = parser.parse_args()
    page = page_in(options.folder or ROOT / ("build/bench" if options.quick else "docs"))
    if not options.assemble:
        began, before = time.perf_counter(), page.kept().get(options.only, {}).get("data")
        if options.only == "results":
            data = measure(options, before or {"cases": [], "minutes": 0.0})
        else:
            data = page.module(options.only).run(options.python, before)
        page.keep(options.only, time.perf_counter() - began, data=data)
    page.write()


if __name__ == "__main__":
    main()
