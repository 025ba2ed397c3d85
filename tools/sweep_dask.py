#!/usr/bin/env python3
"""Run the cases of a sweep on a Dask cluster, where one machine is not enough.

    blender --command softpressure sweep FILE.blend --set Ball.gauge_pressure=500,2000 --output FOLDER --plan
    python tools/sweep_dask.py FOLDER tcp://scheduler:8786 [--blender PATH]

Needs the package `distributed` here and on the workers; these see FOLDER at the same path and have a Blender with the
extension (`--blender`; default: the one that wrote the plan). Each worker runs a case per thread. A case whose worker
is lost goes to another one; a case is finished whole or not at all. At the end the table and the contact sheet are
written.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import distributed

#: How often a case is tried again whose process was killed.
RETRIES = 3


def run_case(words: list[str]) -> str:
    """Run a case, on a worker; returns its last line. Raises where it was killed, as another attempt may succeed."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
    if done.returncode < 0:
        raise ChildProcessError(f"Its process was ended by signal {-done.returncode}.")
    return done.stdout.strip().rpartition("\n")[2]


def run(client: distributed.Client, folder: Path, blender: str | None) -> int:
    """Run all cases of the plan in a folder, collect them; returns the exit code, 1 if a case has failed."""
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    command = [blender, "--command", "softpressure"] if blender else plan["command"]
    jobs = {
        client.submit(run_case, [*command, "sweep-case", str(folder), case["name"]], retries=RETRIES, pure=False): case
        for case in plan["cases"]
    }
    for number, job in enumerate(distributed.as_completed(jobs), 1):
        print(f"{number} of {len(jobs)}: {jobs[job]['name']}: {job.exception() or job.result()}", flush=True)
    return subprocess.run([*command, "sweep-collect", str(folder)]).returncode


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=lambda text: Path(text).resolve(), help="the folder of the sweep, with its plan")
    parser.add_argument("address", help="of the Dask scheduler, such as tcp://host:8786")
    parser.add_argument("--blender", help="Blender's executable on the workers")
    options = parser.parse_args()
    with distributed.Client(options.address) as client:
        sys.exit(run(client, options.folder, options.blender))
