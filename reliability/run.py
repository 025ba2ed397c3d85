"""The reliability ledger: tries to break the extension and writes docs/reliability.md from what is found.

    python reliability/run.py [--quick] [--only kills fuzz ...] [--count N] [--assemble]

`nox -s ledger` runs it with what it needs installed. The page is a text, `reliability/page.md` (`tools/pages.py`). A
section is a module: `FULL` and `QUICK`, how often it tries; `run(count)`, which returns what was found; `values(data)`,
what stands in the text. What was found is kept in docs/reliability/NAME.json, so one section can be renewed alone;
with `--quick` all goes to build/ledger. Needs bpy, numba and hypothesis.
"""

import argparse
import importlib
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path += [str(ROOT / "tests" / "support"), str(ROOT / "tools")]

import extension  # noqa: E402

extension.load()
Page = importlib.import_module("softpressure_ext.tools.pages").Page
#: In the order of the page.
SECTIONS = ("fuzz", "samples", "kills", "hostile", "soak", "bits")
PAGE = Page(ROOT / "docs" / "reliability.md", "reliability", SECTIONS)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few minutes in all")
    parser.add_argument("--only", nargs="+", default=list(SECTIONS), choices=SECTIONS)
    parser.add_argument("--count", type=int, help="how often each is tried")
    parser.add_argument("--assemble", action="store_true", help="run nothing")
    options = parser.parse_args()
    page = Page(ROOT / "build" / "ledger.md", "reliability", SECTIONS) if options.quick else PAGE
    for name in [] if options.assemble else options.only:
        began, section = time.perf_counter(), page.module(name)
        data = section.run(options.count or (section.QUICK if options.quick else section.FULL))
        page.keep(name, time.perf_counter() - began, data=data)
        print(f"{name}: {data['tried']}: {section.values(data)['found']}", file=sys.stderr, flush=True)
    page.write()


if __name__ == "__main__":
    main()
