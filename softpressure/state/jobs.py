"""Work that takes long: a generator that yields its progress, or None while it waits for another thread.

A window runs it as a `Job`, slice by slice, one at a time; scripts and `blender -b` run it as a `whole`.
"""

import atexit
import time
from collections.abc import Generator, Iterator

from . import worker_thread

#: Done, total, what is being done.
Progress = tuple[float, float, str]
Work = Generator[Progress | None, None, None]

#: Longest slice of a job in a window, and pause of a waiting one between two looks [s].
_SLICE, _NAP = 0.1, 0.002
#: How long Blender, when it quits, waits for the frame being stepped [s].
_AT_EXIT = 20.0

#: What the window is doing.
_current: "Job | None" = None


class Interrupted(Exception):
    """Work ends early, with a sentence on why; what it has done is kept."""


class Job:
    """Work of a window while a person goes on. Closing the generator must leave everything consistent."""

    def __init__(self, work: Work) -> None:
        global _current
        end()
        _current = self
        self._work = work
        self.progress: Progress = 0.0, 1.0, ""
        self.is_over = False

    @property
    def share(self) -> float:
        """Part of the present task that is done, 0 to 1."""
        done, total, _ = self.progress
        return min(1.0, done / max(total, 1e-300))

    def advance(self) -> bool:
        """A slice of it; returns whether it goes on, raises what goes wrong."""
        until = time.monotonic() + _SLICE
        try:
            while (found := next(self._work)) is not None:
                self.progress = found
                if time.monotonic() >= until:
                    break
        except StopIteration:
            self.end()
        except BaseException:
            self.end()
            raise
        return not self.is_over

    def end(self) -> None:
        """Stop it, if it is not over."""
        global _current
        self._work.close()
        self.is_over = True
        if _current is self:
            _current = None


def current() -> Job | None:
    """The running job of the window."""
    return _current


def end() -> None:
    """Stop the window's job: the data it works on is about to be replaced, or another one begins."""
    if _current is not None:
        _current.end()


def _at_exit() -> None:
    """Wait for the worker thread: Python must not end while it is in compiled code."""
    end()
    worker_thread.wait(_AT_EXIT)


atexit.register(_at_exit)


def finish(work: Work) -> None:
    """Run all of it at once, without a word of progress."""
    for _ in whole(work):
        pass


def whole(work: Work) -> Iterator[Progress]:
    """Run all of it at once."""
    for found in work:
        if found is None:
            time.sleep(_NAP)
        else:
            yield found
