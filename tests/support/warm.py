"""Run before the tests: compiles all kernels that are in no file yet, so that no test has to."""

import shutil
import time

import extension

extension.load()

from softpressure_ext.core import kernel_store, prepare  # noqa: E402

#: Below the folder of kernels: those that tests call themselves (`kernel_guard.py`).
DIRECT = "direct"


def main() -> None:
    """Every part of every scene with every method."""
    began, jobs = time.monotonic(), prepare.all_jobs()
    missing = [job for job in jobs if not prepare.is_compiled([job])]
    if missing:
        shutil.rmtree(kernel_store.user_folder() / DIRECT, ignore_errors=True)  # of other sources
    for _ in prepare.prepare(missing):
        if prepare.is_compiled(missing):
            break  # this process has no use for them
    seconds = time.monotonic() - began
    print(f"{len(missing)} of {len(jobs)} jobs compiled in {seconds:.0f} s: {kernel_store.folders()[1]}")


if __name__ == "__main__":
    main()
