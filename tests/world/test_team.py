"""Threads that share the blocks of one call: every block is done once, whichever threads take part, and all end."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import extension
import numpy as np
import pytest
from numba import njit
from softpressure_ext.core import team
from softpressure_ext.core.team import claim, done, finish, hand_out, has_part, helped, team_of_one

JOBS, KINDS = 400, 3


@njit(nogil=True, _nrt=False)
def do_jobs(words, counts, sums, jobs):
    """Jobs of all sizes; each block reads what the job before has written, next to its own."""
    for job in range(jobs):
        count = job % counts.shape[1]
        hand_out(words, job % KINDS, 0, count)
        kind, block = claim(words, 0)
        while block >= 0:
            do_block(counts, sums, kind, block)
            done(words, 0)
            kind, block = claim(words, 0)
        finish(words)
        for block in range(count):  # whoever did it, it is there now
            sums[(job + 1) % KINDS, block] = sums[job % KINDS, block]


@njit(nogil=True, _nrt=False)
def leave_all(words, count):
    """A job whose blocks the calling thread leaves to the others."""
    hand_out(words, 0, 0, count)
    finish(words)


@njit(nogil=True, _nrt=False)
def help_with(words, counts, sums, number):
    """What a helper does."""
    while has_part(words, number):
        kind, block = claim(words, number)
        while block >= 0:
            do_block(counts, sums, kind, block)
            done(words, number)
            kind, block = claim(words, number)


@njit(nogil=True, _nrt=False)
def do_block(counts, sums, kind, block):
    """Not atomic: what two threads do at once, or what one does not see of the other, is missing."""
    counts[kind, block] += 1
    sums[kind, block] = 0.5 * sums[kind, block] + block


def run(size: int, jobs: int = JOBS) -> tuple[np.ndarray, np.ndarray]:
    """How often each block of each kind was done, and what came of it."""
    words, counts, sums = team_of_one(), np.zeros((KINDS, 40), np.int64), np.zeros((KINDS, 40))
    with helped(words, size, lambda number: help_with(words, counts, sums, number)):
        do_jobs(words, counts, sums, jobs)
    assert words[team._SIZE] == 1
    return counts, sums


@pytest.mark.parametrize("size", [1, 2, 3, 5, team.MOST, 4 * team.MOST])
def test_every_block_is_done_once_for_any_number_of_threads(size: int) -> None:
    counts, sums = run(size)
    for kind in range(KINDS):
        sizes = np.array([job % 40 for job in range(JOBS) if job % KINDS == kind])
        np.testing.assert_array_equal(counts[kind], [(sizes > block).sum() for block in range(40)])
    np.testing.assert_array_equal(sums, run(1)[1])


def test_a_helper_does_what_the_calling_thread_leaves() -> None:
    words, counts, sums = team_of_one(), np.zeros((KINDS, 40), np.int64), np.zeros((KINDS, 40))
    with helped(words, 2, lambda number: help_with(words, counts, sums, number)):
        leave_all(words, 40)
    np.testing.assert_array_equal(counts[0], 1)
    assert words[2 * team._LINE_WORDS + team._DONE] == 40


class Slow(ThreadPoolExecutor):
    """Begins late, by up to some milliseconds."""

    def submit(self, call: Callable, /, *arguments: object) -> Future:
        """As its base does, but waits first."""
        pause = np.random.default_rng(len(self._threads)).uniform(0.0, 4e-3)
        return super().submit(lambda: (time.sleep(pause), call(*arguments)))


def test_helpers_may_come_at_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = run(1, 20 * JOBS)
    with Slow(3) as threads:
        monkeypatch.setattr(team, "_threads", lambda: threads)
        for _ in range(20):
            for found, sums in zip(run(4, 20 * JOBS), expected, strict=True):
                np.testing.assert_array_equal(found, sums)


def test_helpers_that_never_come_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()
    with ThreadPoolExecutor(1) as threads:
        threads.submit(gate.wait)  # the only thread is busy
        monkeypatch.setattr(team, "_threads", lambda: threads)
        found = run(3)
        gate.set()
    for one, other in zip(found, run(1), strict=True):
        np.testing.assert_array_equal(one, other)
    monkeypatch.setattr(team, "_threads", lambda: threads)  # shut down: refuses
    np.testing.assert_array_equal(run(2)[0], found[0])


def test_an_error_lets_helpers_go() -> None:
    words, counts, sums = team_of_one(), np.zeros((KINDS, 40), np.int64), np.zeros((KINDS, 40))
    inside, left = threading.Event(), threading.Event()

    def help_as(number: int) -> None:
        inside.set()
        help_with(words, counts, sums, number)
        left.set()

    with pytest.raises(KeyError), helped(words, 2, help_as):
        assert inside.wait(10.0)
        raise KeyError
    assert left.is_set()
    assert words[team._SIZE] == 1


def test_an_error_of_a_helper_is_raised() -> None:
    words, came = team_of_one(), threading.Event()

    def fail(number: int) -> None:
        came.set()
        raise KeyError(number)

    with pytest.raises(KeyError), helped(words, 2, fail):
        assert came.wait(10.0)


#: Helps in a child that was forked with the threads of its parent, and in one that has its own; then Python ends.
ENDS = """
import os, sys, warnings
warnings.simplefilter("ignore")
import runpy
run = runpy.run_path(FILE)["run"]
run(3)
if hasattr(os, "fork"):
    child = os.fork()
    if child == 0:
        run(3)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
run(3)
print("done")
"""


def test_python_ends_and_forks_beside_helpers() -> None:
    code = f"import extension; extension.load(); FILE = {__file__!r}\n" + ENDS
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=extension.FOLDER, capture_output=True, text=True, timeout=120.0,
        check=False,
    )  # fmt: skip
    assert (found.returncode, found.stdout) == (0, "done\n"), found.stderr
