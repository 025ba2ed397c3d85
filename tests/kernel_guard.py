"""No `World` made by a solver's name compiles a kernel: all that it calls was compiled by the jobs of its scene.

A type that a job does not foresee, as float32 where there was float64, would make a user wait in the first frame.
Tests that call kernels themselves may compile: to a folder of their own, so that no world finds it there.
"""

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numba.core import event
from softpressure_ext.core import kernel_store, prepare
from softpressure_ext.core.kernel_store import KernelStore
from softpressure_ext.core.world import World
from warm import DIRECT

#: Where a world calls kernels.
_GUARDED = ("__init__", "advance_frame", "diagnostics", "positions", "reset", "set_positions", "velocities")
_GUARDED += ("rigid_positions", "rigid_transform", "rigid_velocity")


class _Here(threading.local):
    """What this thread is doing."""

    in_world = False  # one made by a solver's name
    in_job = False  # its worlds may compile


_here = _Here()
#: Kernels that worlds compiled since the last `check`, each with the types of its arguments.
_compiled: list[str] = []


class _Listener(event.Listener):
    """Notes what is compiled inside a world."""

    def on_start(self, found: event.Event) -> None:
        function = found.data["dispatcher"].py_func
        if _here.in_world and function.__module__.startswith("softpressure_ext."):
            _compiled.append(f"{function.__module__}.{function.__name__}{found.data['args']}")

    def on_end(self, found: event.Event) -> None:
        pass


def check() -> None:
    """Fail if a world compiled a kernel since the last call."""
    found = list(_compiled)
    _compiled.clear()
    assert not found, "A world compiled kernels that preparing its scene did not:\n" + "\n".join(found)


def install() -> None:
    """Watch all worlds from now on; once per process."""
    event.register("numba:compile", _Listener())
    for name in _GUARDED:
        setattr(World, name, _guarded(getattr(World, name)))
    prepare.simulate = _as_job(prepare.simulate)  # type: ignore[assignment]
    usual = kernel_store.user_folder()
    KernelStore.load_overload = _kept_apart(KernelStore.load_overload, usual)  # type: ignore[method-assign]
    KernelStore.save_overload = _kept_apart(KernelStore.save_overload, usual)  # type: ignore[method-assign]


def _guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(world: World, *arguments: Any, **options: Any) -> Any:
        if method.__name__ == "__init__":
            world._is_guarded = _make_sure(*arguments, **options)  # type: ignore[attr-defined]
        if not world._is_guarded:  # type: ignore[attr-defined]
            return method(world, *arguments, **options)
        with _set("in_world", True):
            return method(world, *arguments, **options)

    return call


def _make_sure(model: Any, **options: Any) -> bool:
    """Whether a world is to be guarded; then the kernels of its scene are in files."""
    solver = options.get("solver", "IMPLICIT")
    if _here.in_job or not isinstance(solver, str) or solver not in prepare.SOLVERS:
        return False
    jobs = prepare.jobs_for(prepare.parts_of(model), solver, options.get("options", prepare.DEFAULTS))
    if not prepare.is_compiled(jobs):
        for _ in prepare.prepare(jobs):
            pass
    return True


def _as_job(simulate: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(simulate)
    def call(*arguments: Any) -> None:
        with _set("in_job", True), _set("in_world", False):
            simulate(*arguments)

    return call


def _kept_apart(method: Callable[..., Any], usual: Path) -> Callable[..., Any]:
    """The method of a store; outside of worlds and jobs it works on a folder of its own, where the usual one is set."""

    @functools.wraps(method)
    def call(store: KernelStore, sig: Any, data: Any) -> Any:
        is_apart = not (_here.in_world or _here.in_job) and kernel_store.user_folder() == usual
        is_saving = method.__name__ == "save_overload"
        found = None if is_apart and is_saving else method(store, sig, data)
        if found is None and is_apart:
            before = kernel_store._user_folder
            kernel_store._user_folder = usual / DIRECT
            try:
                found = method(store, sig, data)
            finally:
                kernel_store._user_folder = before
        return found

    return call


@contextmanager
def _set(name: str, value: bool) -> Iterator[None]:
    before = getattr(_here, name)
    setattr(_here, name, value)
    try:
        yield
    finally:
        setattr(_here, name, before)
