"""What was found out about the last model is kept: AUTO asks for it, then the solver that it chose."""

import functools
import weakref
from collections.abc import Callable
from typing import TypeVar

from ...model import Model
from ...options import MethodOptions

T = TypeVar("T")


def keep_latest(function: Callable[[Model, MethodOptions], T]) -> Callable[[Model, MethodOptions], T]:
    """Remember the answer for the last model, by its identity, and options; a model that is gone is forgotten."""
    latest: list[tuple[weakref.ref[Model], MethodOptions, T]] = []

    @functools.wraps(function)
    def call(model: Model, options: MethodOptions) -> T:
        for known, asked, answer in latest:
            if known() is model and asked == options:
                return answer
        latest[:] = [(weakref.ref(model), options, function(model, options))]
        return latest[0][2]

    return call
