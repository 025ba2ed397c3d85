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
from softpressure_ext.core.parameters.methods import EARLIER, ENGINE
from softpressure_ext.core.world import World
from warm import DIRECT

#: Where a world calls kernels.
_GUARDED = ("__init__", "advance_frame", "diagnostics", "positions", "reset", "set_positions", "velocities")
_GUARDED += ("rigid_positions", "rigid_transform", "rigid_velocity")


class _Here(threading.local):
    """Per thread: whether a guarded world, or a job, is running."""

    in_world = False  # one made by a solver's name
    in_job = False  # its worlds may compile


_here = _Here()
#: Kernels that worlds compiled since the last `check`, each with the types of its arguments.
_compiled: list[str] = []


class _Listener(event.Listener):
    """Records kernels compiled inside a world."""

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
    prepare.run_scene = _as_job(prepare.run_scene)
    usual = kernel_store.user_folder()
    load, save = _apart(KernelStore.load_overload, KernelStore.save_overload, usual)
    KernelStore.load_overload, KernelStore.save_overload = load, save  # type: ignore[method-assign]


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
    solver = options.get("solver", ENGINE)
    if _here.in_job or not isinstance(solver, str) or solver not in (*EARLIER, *prepare.SOLVERS):
        return False
    if not _is_warm(kernel_store.user_folder()):  # what a scene has takes milliseconds to tell
        jobs = prepare.jobs_for(prepare.parts_of(model), solver, options.get("options", prepare.DEFAULTS))
        if not prepare.is_compiled(jobs):
            for _ in prepare.prepare(jobs):
                pass
    return True


@functools.cache
def _is_warm(_folder: Path) -> bool:
    """Whether a folder holds all kernels, as `warm.py` leaves it."""
    return prepare.is_compiled(prepare.all_jobs())


def _as_job(run_scene: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(run_scene)
    def call(*arguments: Any) -> None:
        with _set("in_job", True), _set("in_world", False):
            run_scene(*arguments)

    return call


def _apart(load: Callable[..., Any], save: Callable[..., None], usual: Path) -> tuple[Callable[..., Any], ...]:
    """The methods of a store, with another folder for what tests compile, and none for what worlds do.

    A test that fails because its world compiles fails the next time, too. Tests of the store set other folders.
    """

    @functools.wraps(load)
    def load_overload(store: KernelStore, sig: Any, context: Any) -> Any:
        found = load(store, sig, context)
        if found is None and not (_here.in_world or _here.in_job) and kernel_store.user_folder() == usual:
            with _direct_folder(usual):
                found = load(store, sig, context)
        return found

    @functools.wraps(save)
    def save_overload(store: KernelStore, sig: Any, data: Any) -> None:
        if _here.in_job or kernel_store.user_folder() != usual:
            save(store, sig, data)
        elif not _here.in_world:
            with _direct_folder(usual):
                save(store, sig, data)

    return load_overload, save_overload


@contextmanager
def _direct_folder(usual: Path) -> Iterator[None]:
    before, kernel_store._user_folder = kernel_store._user_folder, usual / DIRECT
    try:
        yield
    finally:
        kernel_store._user_folder = before


@contextmanager
def _set(name: str, value: bool) -> Iterator[None]:
    before = getattr(_here, name)
    setattr(_here, name, value)
    try:
        yield
    finally:
        setattr(_here, name, before)
