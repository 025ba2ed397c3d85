"""Work in a thread of its own, while Blender's main thread goes on drawing the window and reading Esc."""

import threading
from collections.abc import Callable, Generator
from typing import TypeVar

T = TypeVar("T")
#: Runs work: a generator that yields while the work is running and returns its result.
Runner = Callable[[Callable[[], T]], Generator[None, None, T]]

#: One at a time: work whose generator was closed runs to its end.
_lock = threading.Lock()


def is_busy() -> bool:
    """Whether any work is running, perhaps some whose result was dropped."""
    return _lock.locked()


def wait(seconds: float = -1.0) -> None:
    """Wait until no work is running, at most so long [s]; a negative number is for ever."""
    if _lock.acquire(timeout=seconds):
        _lock.release()


def run(work: Callable[[], T]) -> Generator[None, None, T]:
    """Call a function in a thread; yields until it is done. It must not touch Blender's data.

    Returns what it returns and raises what it raises. If the generator is closed before, the result is dropped.
    """
    found: list[T] = []
    errors: list[BaseException] = []

    def call() -> None:
        with _lock:
            try:
                found.append(work())
            except BaseException as error:  # belongs to the caller, who is in another thread
                errors.append(error)

    thread = threading.Thread(target=call, name="Soft Pressure", daemon=True)
    thread.start()
    while thread.is_alive():
        yield
    if errors:
        raise errors[0]
    return found[0]


def at_once(work: Callable[[], T]) -> Generator[None, None, T]:
    """The same in this thread, without a pause."""
    yield from ()
    return work()
