"""The papers' experiments: runs them and writes docs/papers.md with its figures.

    python experiments/run.py [--quick] [--only convergence hold ...] [--output FILE.md]

`nox -s papers` runs it with what it needs installed. Nothing on the page is written by hand: every number comes from
the run. `--quick` runs the small form that the tests use. Needs numpy, numba and matplotlib, no Blender.
"""

import argparse
import importlib
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path += [str(ROOT / "tests"), str(ROOT / "benchmarks")]

from measure import machine  # noqa: E402  (loads the extension, too)

#: In the order of the page.
EXPERIMENTS = ("convergence", "hold", "mesit", "martin", "matyka", "kurmaly", "flattened")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small scenes and few frames")
    parser.add_argument("--only", nargs="+", default=list(EXPERIMENTS), choices=EXPERIMENTS)
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "papers.md")
    options = parser.parse_args()

    report = importlib.import_module("softpressure_ext.experiments.report")
    opening = importlib.import_module("softpressure_ext.experiments.pages.opening")
    conditions = machine()
    found, seconds = {}, {}
    for name in options.only:
        began = time.perf_counter()
        found[name] = importlib.import_module(f"softpressure_ext.experiments.{name}").run(options.quick)
        seconds[name] = time.perf_counter() - began
        print(f"{name}: {seconds[name]:.0f} s", file=sys.stderr, flush=True)
    page = report.Page(options.output)
    opening.add(page, conditions, seconds, options.quick)
    for name, data in found.items():
        importlib.import_module(f"softpressure_ext.experiments.pages.{name}").add(page, data)
    opening.add_missing(page)
    page.save()


if __name__ == "__main__":
    main()
