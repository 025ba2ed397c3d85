"""Cost of compiling the solver: seconds and memory per kernel, largest first, into an empty folder."""

import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from numba.core import event

from ..tools import child
from ..tools.pages import machine, number, table

#: The method and its parts that are compiled, and how many kernels are told of.
SOLVER, PARTS, ROWS = "EXPLICIT", ("SKIN", "SELF_CONTACT"), 25


class Costs(event.Listener):
    """Seconds [s] and memory [MB] of each kernel without those compiled for it, and its number of signatures."""

    def __init__(self):
        self.rows = defaultdict(lambda: [0.0, 0.0, 0])
        self._running = []

    def on_start(self, found):
        self._running.append([time.process_time(), child.memory(), 0.0, 0.0])

    def on_end(self, found):
        began, held, inner_seconds, inner_memory = self._running.pop()
        seconds, memory = time.process_time() - began, child.memory() - held
        if self._running:
            self._running[-1][2] += seconds
            self._running[-1][3] += memory
        dispatcher = found.data["dispatcher"]
        name = f"{dispatcher.py_func.__module__.partition('.core.')[2] or 'numba'}.{dispatcher.py_func.__name__}"
        row = self.rows[name]
        row[0] += seconds - inner_seconds
        row[1] += memory - inner_memory
        row[2] += 1


def run(_python, _before):
    """What each part and kernel takes."""
    from ..core import kernel_store, prepare

    about, costs, parts = machine(), Costs(), []
    event.register("numba:compile", costs)
    with tempfile.TemporaryDirectory() as folder:
        kernel_store.use_folder(Path(folder))
        for job in prepare.jobs_for(PARTS, SOLVER):
            began, before = time.process_time(), prepare.compile_count()
            prepare.compile_jobs([job], lambda _: None)
            seconds, count = time.process_time() - began, prepare.compile_count() - before
            parts.append({"part": job.part, "seconds": seconds, "kernels": count, "memory": child.most_memory()})
            print(parts[-1], file=sys.stderr, flush=True)
        size = sum(path.stat().st_size for path in Path(folder).rglob("*.kernel")) / 1e6
    kernels = sorted(costs.rows.items(), key=lambda item: -item[1][0])[:ROWS]
    return {"parts": parts, "size": size, "kernels": kernels, "machine": about}


def values(data):
    """What stands in the text."""
    parts = [[row["part"], number(row["seconds"]), row["kernels"], f"{row['memory']:.0f}"] for row in data["parts"]]
    kernels = [[f"`{name}`", number(row[0], 2), f"{row[1]:.0f}", row[2]] for name, row in data["kernels"]]
    return {
        "python": data["machine"]["python"], "load": data["machine"]["load_at_start"], "size": f"{data['size']:.1f}",
        "parts": table(["part", "processor [s]", "kernels", "memory so far [MB]"], parts),
        "kernels": table(["kernel", "processor [s]", "memory [MB]", "signatures"], kernels),
    }  # fmt: skip
