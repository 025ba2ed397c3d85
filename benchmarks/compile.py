"""Cost of compiling the solver: seconds and memory per kernel, largest first, into an empty folder.

python benchmarks/compile.py [--solver EXPLICIT] [--parts SKIN SELF_CONTACT] [--rows 25]
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent))

import measure  # loads the extension, too
from numba.core import event
from softpressure_ext.core import kernel_store, prepare


class Costs(event.Listener):
    """Seconds [s] and memory [MB] of each kernel without those compiled for it, and its number of signatures."""

    def __init__(self):
        self.rows = defaultdict(lambda: [0.0, 0.0, 0])
        self._running = []

    def on_start(self, found):
        self._running.append([time.process_time(), resident(), 0.0, 0.0])

    def on_end(self, found):
        began, held, inner_seconds, inner_memory = self._running.pop()
        seconds, memory = time.process_time() - began, resident() - held
        if self._running:
            self._running[-1][2] += seconds
            self._running[-1][3] += memory
        dispatcher = found.data["dispatcher"]
        name = f"{dispatcher.py_func.__module__.partition('.core.')[2] or 'numba'}.{dispatcher.py_func.__name__}"
        row = self.rows[name]
        row[0] += seconds - inner_seconds
        row[1] += memory - inner_memory
        row[2] += 1


def resident():
    """Memory of this process [MB]; where the system does not tell, the most it ever had."""
    pages = Path("/proc/self/statm")
    if pages.exists():
        return int(pages.read_text().split()[1]) * resource.getpagesize() / 1e6
    return most_memory()


def most_memory():
    """The most memory this process ever had [MB]."""
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--solver", default="EXPLICIT")
    parser.add_argument("--parts", nargs="+", choices=list(prepare.PARTS), default=["SKIN", "SELF_CONTACT"])
    parser.add_argument("--rows", type=int, default=25)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    costs = Costs()
    event.register("numba:compile", costs)
    parts = []
    with tempfile.TemporaryDirectory() as folder:
        kernel_store.use_folder(Path(folder))
        for job in prepare.jobs_for(options.parts, options.solver):
            began, before = time.process_time(), prepare.compile_count()
            prepare.compile_jobs([job], lambda _: None)
            seconds, count = time.process_time() - began, prepare.compile_count() - before
            parts.append({"part": job.part, "seconds": seconds, "kernels": count, "memory": most_memory()})
            print(f"{job.part}: {seconds:.1f} s of processor time, {count} kernels, {most_memory():.0f} MB so far")
        size = sum(path.stat().st_size for path in Path(folder).rglob("*.kernel")) / 1e6
    print(f"files: {size:.1f} MB")
    print("\n| kernel | seconds | MB | signatures |\n|---|---|---|---|")
    rows = sorted(costs.rows.items(), key=lambda item: -item[1][0])[: options.rows]
    for name, (seconds, memory, count) in rows:
        print(f"| `{name}` | {seconds:.2f} | {memory:.0f} | {count} |")
    if options.output:
        machine = measure.machine()
        found = {"solver": options.solver, "parts": parts, "size": size, "kernels": rows, "machine": machine}
        options.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
