"""Work beside Blender's main thread, which goes on drawing the window and listening for Esc."""

import threading
from collections.abc import Callable, Generator
from typing import TypeVar

T = TypeVar("T")
#: How work is done: a generator that yields while it is under way and returns what the work returns.
Runner = Callable[[Callable[[], T]], Generator[None, None, T]]

#: One at a time: work that was given up goes on until it is done.
_lock = threading.Lock()


def is_busy() -> bool:
    """Whether some work is not done yet, perhaps one that was given up."""
    return _lock.locked()


def wait(seconds: float = -1.0) -> None:
    """Wait until nothing is under way, at most so long [s]; a negative number is for ever."""
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
