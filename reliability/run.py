"""The reliability ledger: tries to break the extension and writes docs/reliability.md from what is found.

    python reliability/run.py [--quick] [--only kills fuzz ...] [--count N] [--assemble] [--output FILE.md]

`nox -s ledger` runs it with what it needs installed. A line of the ledger is a module of this folder: `HEADING`, `ASKED`;
`FULL` and `QUICK`, how often it tries; `run(count)`, which returns what was found; `found(data)`, in a few words;
`add(page, data)`, its section. What was written is kept in docs/reliability/NAME.json, so that one line can be renewed
alone. Needs bpy, numba and hypothesis.
"""

import argparse
import importlib
import json
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path += [str(ROOT / name) for name in ("tests/support", "benchmarks", "tools")]

from measure import machine, version  # noqa: E402  (loads the extension, too)

report = importlib.import_module("softpressure_ext.benchmarks.report")

PAGE = ROOT / "docs" / "reliability.md"
#: In the order of the page.
LINES = ("fuzz", "samples", "kills", "hostile", "soak", "bits")


def module(name):
    """The module of a line."""
    return importlib.import_module(f"softpressure_ext.reliability.{name}")


def kept_path(page, name):
    """Where a line of a page is kept."""
    return page.with_suffix("") / f"{name}.json"


def measure(page, name, count):
    """Run a line and keep it."""
    line, began = module(name), time.perf_counter()
    data = line.run(count)
    blocks = report.Page(page.with_suffix(""))
    blocks.heading(line.HEADING)
    line.add(blocks, data)
    row = [line.HEADING, line.ASKED, data["tried"], line.found(data)]
    kept = {
        "version": version(), "machine": machine(), "seconds": round(time.perf_counter() - began), "row": row,
        "data": data, "blocks": blocks.blocks,
    }  # fmt: skip
    path = kept_path(page, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"{name}: {row[2]}: {row[3]} ({kept['seconds']} s)", file=sys.stderr, flush=True)


def write(page):
    """Put the page together from the lines that are kept."""
    paths = [kept_path(page, name) for name in LINES]
    lines = [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.exists()]
    text = report.Page(page.with_suffix(""))
    text.heading("Reliability ledger", 1)
    text.text(
        """`nox -s ledger` tries to break the extension and writes this page from what it finds; do not edit it. *Run* is
        how often this was tried for the figures here; `nox -s ledger -- --only NAME --count N` tries it N times. A
        failure that is found stays as a test."""
    )
    text.table(["what", "asked", "run", "found"], [line["row"] for line in lines])
    for line in lines:
        text.blocks += line["blocks"]
    text.heading("How this page was made")
    text.table(
        ["line", "machine", "time"],
        [
            [
                line["row"][0],
                f"{line['machine']['processor']}, {line['machine']['cores']} cores",
                f"{line['seconds']} s",
            ]
            for line in lines
        ],
    )
    page.write_text("\n\n".join(text.blocks) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few minutes in all")
    parser.add_argument("--only", nargs="+", default=list(LINES), choices=LINES)
    parser.add_argument("--count", type=int, help="how often each is tried")
    parser.add_argument("--assemble", action="store_true", help="run nothing")
    parser.add_argument("--output", type=Path, default=PAGE)
    options = parser.parse_args()
    for name in [] if options.assemble else options.only:
        line = module(name)
        measure(options.output, name, options.count or (line.QUICK if options.quick else line.FULL))
    write(options.output)


if __name__ == "__main__":
    main()
