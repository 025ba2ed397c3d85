"""The number of threads of a run, by a rule: all for scenes from a size on, else one.

The result does not depend on it. Threads share the work of one call of a kernel as a team (`team.py`).
"""

import threading

import numba

#: Vertices from which all threads are used, by method: below, two took as long as one on two cores. Others take one.
ALL_FROM = {"EXPLICIT": 2_000}

_used = threading.local()


def available_threads() -> int:
    """Threads of this process: those of its processors, or NUMBA_NUM_THREADS of the environment."""
    count: int = numba.config.NUMBA_NUM_THREADS
    return count


def thread_count(method: str, vertex_count: int, wanted: int = 0) -> int:
    """Threads for a scene of so many vertices; `wanted` (0 = by the rule) if there are so many."""
    if wanted > 0:
        return min(wanted, available_threads())
    return available_threads() if vertex_count >= ALL_FROM.get(method, vertex_count + 1) else 1


def use_threads(count: int) -> None:
    """Let solvers that the calling thread runs share their work among `count` threads."""
    _used.count = count


def threads_in_use() -> int:
    """The number that the calling thread has set last, 1 at first."""
    return getattr(_used, "count", 1)
