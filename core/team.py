"""Threads that share the blocks of work inside one long call of a kernel, with jobs of microseconds.

numba's parallel loops start and end in 10 to 50 us; whole steps of an explicit solver take as long. Here a helper is
inside the kernel, too, for as long as the call goes on, and waits for work without sleeping. The calling thread hands
out a job with `hand_out`: so many blocks, an even part to each thread. A thread takes the blocks of its own part one by
one with `claim`, the same ones in every step, then the remaining ones of the others', and calls `done` after each; the
calling thread does so as well, and goes on after `finish`. So it never waits for a thread to begin: a helper that the
system suspends, or that does not exist, has claimed nothing. Only if the system suspends a helper in the middle of a
block, all wait. The caller defines the blocks; their results must not depend on which thread computes them, or when.
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

#: Most threads of a team: what they share is no more than some hundred blocks.
MOST = 16
#: Words from one thread's to the next one's: no two of them in one line of any processor's cache (128 bytes).
_LINE_WORDS = 16
#: Words of the calling thread: how many threads there are, how many blocks were handed out in all, how to yield.
_SIZE, _TOTAL, _YIELD = 0, 1, 2
#: Words in the line of each thread: what is left of its part of the job, how many blocks it has done in all.
_PART, _DONE = 0, 1
#: A part is a kind of job, the end and the first of the blocks that are left, with so many bits each.
_BITS = 28
_MASK = (1 << _BITS) - 1
#: Looks at a word before a thread that waits lets others run: some 30 us, longer than most steps have no job. Where
#: another program keeps the cores busy, a helper would otherwise take half of the calling thread's time.
_SPINS = 1_000
#: Part of a helper that is to leave; like every part whose end is its first block it has nothing to claim.
_LEAVE = -1


def team_of_one() -> Words:
    """The words that a team shares, without helpers."""
    words = np.zeros((MOST + 1) * _LINE_WORDS, np.int64)
    words[_SIZE] = 1
    return words


@contextmanager
def helped(team: Words, size: int, help_as: Callable[[int], object]) -> Iterator[None]:
    """Let threads 1 .. `size` - 1 of the team help meanwhile, each in a call of `help_as(its number)`.

    That is a kernel which returns when `has_part` says so. Helpers that have not come by the end come no more.
    """
    size = max(1, min(size, MOST))
    team[:] = 0
    team[_SIZE], team[_YIELD] = size, _yield_address()
    helpers = []
    with suppress(RuntimeError):  # no thread to be had: then nobody helps
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
    """Threads of this process that sleep while they are not needed; Python ends them before it ends."""
    return ThreadPoolExecutor(MOST - 1, "Soft Pressure team")


@lean_inline_kernel
def hand_out(team, kind, first, end):
    """Hand out the blocks first .. end - 1 of a job; `kind` (0 to 127) is for those who claim them."""
    size = team[_SIZE]
    count = end - first
    team[_TOTAL] += count
    for number in range(size):
        begins, ends = first + count * number // size, first + count * (number + 1) // size
        publish(team, (number + 1) * _LINE_WORDS + _PART, (((kind << _BITS) + ends) << _BITS) + begins)


@lean_inline_kernel
def claim(team, number):
    """A block for a thread of the team, with its kind: see `kind_of` and `block_of`; -1 if none is left."""
    size = team[_SIZE]
    for k in range(size):
        place = ((number + k) % size + 1) * _LINE_WORDS + _PART
        part = observed(team, place)
        while part & _MASK < (part >> _BITS) & _MASK:
            if exchanged(team, place, part, part + 1):
                return ((part >> (2 * _BITS)) << _BITS) + (part & _MASK)
            part = observed(team, place)
    return -1


@lean_inline_kernel
def kind_of(claimed):
    """Of a claimed block."""
    return claimed >> _BITS


@lean_inline_kernel
def block_of(claimed):
    """Its number."""
    return claimed & _MASK


@lean_inline_kernel
def done(team, number):
    """A thread has done a block that it had claimed."""
    place = (number + 1) * _LINE_WORDS + _DONE
    publish(team, place, team[place] + 1)


@lean_inline_kernel
def wait(team, looks):
    """Wait a little, longer after many looks at a word; returns their number with this one."""
    if looks < _SPINS or team[_YIELD] == 0:
        wait_a_little()
    else:
        give_way(team[_YIELD])
    return looks + 1


@lean_inline_kernel
def finish(team):
    """Wait until all blocks are done that other threads have claimed; none may be left to claim."""
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
    """Wait until a helper has a part of a job; False if there is nothing more to do."""
    looks = 0
    while True:
        part = observed(team, (number + 1) * _LINE_WORDS + _PART)
        if part == _LEAVE:
            return False
        if part & _MASK < (part >> _BITS) & _MASK:
            return True
        looks = wait(team, looks)
