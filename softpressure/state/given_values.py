"""Whether another choice of what is given, of gas, stiffness or mass, converts the value that it replaces."""

from collections.abc import Iterator
from contextlib import contextmanager

_converts = [True]


def are_converted() -> bool:
    """Whether it does now."""
    return _converts[0]


@contextmanager
def as_given() -> Iterator[None]:
    """Choices of what is given convert no values in this context: all of them are set, as by a preset."""
    _converts[0] = False
    try:
        yield
    finally:
        _converts[0] = True
