"""The papers' experiments: runs them and writes docs/papers.md with its figures.

    python experiments/run.py [--quick] [--only matyka hold ...] [--assemble] [--output FILE.md]

`nox -s papers` runs it with what it needs installed. No number on the page is written by hand: all come from the runs.
`--only` renews some sections and leaves the others as they are; `--assemble` runs nothing and puts the page together
from the sections that are kept. `--quick` runs the small form that the tests use. Two sections run side by side; what
is timed runs alone, afterwards. Needs numpy, numba and matplotlib; with `bpy`, bodies are rendered.
"""

import argparse
import importlib
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path += [str(ROOT / "tests" / "support"), str(ROOT / "benchmarks")]

from measure import machine  # noqa: E402  (loads the extension, too)

report = importlib.import_module("softpressure_ext.experiments.report")
sections = importlib.import_module("softpressure_ext.experiments.sections")

#: Sections that run at the same time, each on one thread.
AT_ONCE = 2


def timed(function, name, quick):
    """Data of a part of a section, and how long it took [s]."""
    began = time.perf_counter()
    data = function(name, quick)
    return data, time.perf_counter() - began


def gather(names, quick):
    """Data and run time [s] of each section, one after another as they are whole."""
    before = sections.kept(sections.PAGE)
    longest_first = sorted(names, key=lambda name: -before.get(name, {"seconds": 0.0})["seconds"])
    found = {}
    with ProcessPoolExecutor(AT_ONCE, multiprocessing.get_context("spawn")) as pool:
        running = {pool.submit(timed, sections.run, name, quick): name for name in longest_first}
        for future in as_completed(running):
            found[running[future]] = future.result()
            print(f"{running[future]}: {future.result()[1]:.0f} s", file=sys.stderr, flush=True)
    for name in names:
        data, seconds = timed(sections.clock, name, quick)
        print(f"{name}, timed alone: {seconds:.0f} s", file=sys.stderr, flush=True)
        yield name, found[name][0] | data, found[name][1] + seconds


def write_section(page, name, data, seconds, quick):
    """Write the figures of a section and keep it."""
    writer, blocks = sections.writer(name), report.Page(page.with_suffix(""))
    blocks.heading(writer.HEADING)
    writer.add(blocks, data)
    section = {
        "version": sections.version(), "machine": machine(), "seconds": round(seconds), "quick": quick,
        "files": sections.depends(name), "claims": [claim._asdict() for claim in writer.claims(data)],
        "blocks": blocks.blocks,
    }  # fmt: skip
    sections.keep(page, name, section)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small scenes and few frames")
    parser.add_argument("--only", nargs="+", default=list(sections.SECTIONS), choices=sections.SECTIONS)
    parser.add_argument("--assemble", action="store_true", help="run nothing")
    parser.add_argument("--output", type=Path, default=sections.PAGE)
    options = parser.parse_args()
    if not options.assemble:
        for name, data, seconds in gather(options.only, options.quick):
            write_section(options.output, name, data, seconds, options.quick)
    importlib.import_module("softpressure_ext.experiments.pages.whole").write(options.output)


if __name__ == "__main__":
    main()
