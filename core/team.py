"""Work-sharing threads within one long call of a kernel, for jobs of microseconds.

numba's parallel loops start and end in 10 to 50 us, as long as a whole step of an explicit solver. Here helper threads
are inside the kernel during the whole call and spin while they wait. The calling thread starts a job with `hand_out`:
a number of blocks, an even part for each thread. A thread claims the blocks of its own part one by one with `claim`,
the same ones in every step, then remaining blocks of others (work stealing), and calls `done` after each; the calling
thread does so as well, and continues after `finish`. It never waits for a thread to start: a helper that the system
suspends, or that does not exist, has claimed nothing. Only if a helper is suspended in the middle of a block, all wait.
The caller defines the blocks; their results must not depend on the thread or the time.
"""

import functools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import numpy as np
from numpy.typing import NDArray

from .atomics import exchanged, give_way, observed, publish, wait_a_little, yield_address
from .jit import lean_inline_kernel

Words = NDArray[np.int64]

#: Threads of a team at most: a job has some hundred blocks.
MOST = 16
#: Distance between the words of two threads [words]: different cache lines on any processor (128 bytes).
_LINE_WORDS = 16
#: Words of the calling thread: number of threads, blocks handed out so far, address of the function that yields.
_SIZE, _TOTAL, _YIELD = 0, 1, 2
#: Words of each thread: remaining part of the job, blocks done so far.
_PART, _DONE = 0, 1
#: Bits each of the kind of a job, the end and the first of its remaining blocks, packed in one word.
_BITS = 28
_MASK = (1 << _BITS) - 1
#: Spins of a waiting thread before it yields: some 30 us, longer than most pauses between jobs. Without yielding, a
#: helper would take half of the calling thread's time where another program keeps the cores busy.
_SPINS = 1_000
#: Part that tells a helper to return; it has no blocks to claim.
_LEAVE = -1


def team_of_one() -> Words:
    """The words that a team shares, without helpers."""
    words = np.zeros((MOST + 1) * _LINE_WORDS, np.int64)
    words[_SIZE] = 1
    return words


@contextmanager
def helped(team: Words, size: int, help_as: Callable[[int], object]) -> Iterator[None]:
    """Context in which threads 1 .. `size` - 1 of the team help, each in a call of `help_as(its number)`.

    `help_as`: a kernel that returns when `has_part` is False. Helpers that have not started by the end do not start.
    """
    size = max(1, min(size, MOST))
    team[:] = 0
    team[_SIZE], team[_YIELD] = size, _yield_address()
    helpers = []
    with suppress(RuntimeError):  # no thread available: the calling thread works alone
        for number in range(1, size):
            helpers.append(_threads().submit(help_as, number))
    try:
        yield
    finally:
        team[_LINE_WORDS + _PART :: _LINE_WORDS] = _LEAVE
        for helper in helpers:
            if not helper.cancel():
                helper.result()
        team[_SIZE] = 1


#: Looked up once.
_yield_address = functools.cache(yield_address)


@functools.cache
def _threads() -> ThreadPoolExecutor:
    """Pool of threads of this process; they sleep while unused, and end with the interpreter."""
    return ThreadPoolExecutor(MOST - 1, "Soft Pressure team")


def share(call: Callable[[int, int], object], count: int, chunk: int) -> None:
    """Call a kernel for first .. end - 1 of `count` elements, by chunks, each in a thread of the pool but the last."""
    ends = range(chunk, count, chunk)
    waiting = []
    for end in ends:
        try:
            waiting.append(_threads().submit(call, end - chunk, end))
        except RuntimeError:  # no thread available
            call(end - chunk, end)
    call(ends[-1] if ends else 0, count)
    for one in waiting:
        one.result()


@lean_inline_kernel
def hand_out(team, kind, first, end):
    """Start a job with the blocks first .. end - 1; `kind` (0 to 127): read by the threads that claim them."""
    size = team[_SIZE]
    count = end - first
    team[_TOTAL] += count
    for number in range(size):
        begins, ends = first + count * number // size, first + count * (number + 1) // size
        publish(team, (number + 1) * _LINE_WORDS + _PART, (((kind << _BITS) + ends) << _BITS) + begins)


@lean_inline_kernel
def claim(team, number):
    """Claim a block for a thread of the team: the kind of its job, and its number, -1 if none is left."""
    size = team[_SIZE]
    for k in range(size):
        place = ((number + k) % size + 1) * _LINE_WORDS + _PART
        part = observed(team, place)
        while part & _MASK < (part >> _BITS) & _MASK:
            if exchanged(team, place, part, part + 1):
                return part >> (2 * _BITS), part & _MASK
            part = observed(team, place)
    return 0, -1


@lean_inline_kernel
def done(team, number):
    """Count a claimed block as done."""
    place = (number + 1) * _LINE_WORDS + _DONE
    publish(team, place, team[place] + 1)


@lean_inline_kernel
def wait(team, looks):
    """Wait a little, and yield after many spins; returns the number of spins with this one."""
    if looks < _SPINS or team[_YIELD] == 0:
        wait_a_little()
    else:
        give_way(team[_YIELD])
    return looks + 1


@lean_inline_kernel
def finish(team):
    """Wait until all blocks that other threads have claimed are done; none may be left to claim."""
    looks = 0
    while True:
        total = 0
        for number in range(team[_SIZE]):
            total += observed(team, (number + 1) * _LINE_WORDS + _DONE)
        if total == team[_TOTAL]:
            return
        looks = wait(team, looks)


@lean_inline_kernel
def has_part(team, number):
    """Wait until a helper has a part of a job; False if it must return."""
    looks = 0
    while True:
        part = observed(team, (number + 1) * _LINE_WORDS + _PART)
        if part == _LEAVE:
            return False
        if part & _MASK < (part >> _BITS) & _MASK:
            return True
        looks = wait(team, looks)
