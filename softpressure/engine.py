"""The door to the solver. Numba takes most of a second to import, so only files with bodies pay for it."""

import functools
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING

import bpy

from . import jobs, run_choice, session

if TYPE_CHECKING:
    from ..core.model import Model
    from ..core.prepare import Job
    from ..core.prepare import Progress as Preparation

#: A convex hull of at most so many points has few enough faces for the impulse solver, whatever their shape.
_FEW_POINTS = 18
#: What a timeline waits for ends with this in the status bar.
_READY = "Soft Pressure: the solver is ready"
#: How often the status bar is renewed, and how long its last sentence and what is announced stay [s].
_SAY_EVERY, _SAY_END, _SAY_LONG = 0.25, 5.0, 20.0

#: `session_uid` of the scenes that wait for their kernels.
_waiting: set[int] = set()


@functools.cache
def engine() -> SimpleNamespace:
    """The modules that need the solver, loaded on first use: `bodies`, `taking_part`, `simulation`, and so on."""
    _use_own_folder()
    from . import bake, bodies, disk, flat_shape, playback, simulate_job, simulation, starting, taking_part

    modules = (bake, bodies, disk, flat_shape, playback, simulate_job, simulation, starting, taking_part)
    return SimpleNamespace(**{module.__name__.rpartition(".")[2]: module for module in modules})


@functools.cache
def load_early() -> None:
    """Begin to load numba in a thread: whoever looks at the panels is going to need it."""

    def load() -> None:
        from .. import core  # noqa: F401

    threading.Thread(target=load, name="Soft Pressure import", daemon=True).start()


def parts_of(scene: bpy.types.Scene) -> set[str]:
    """What a scene holds, as `core.prepare.PARTS` names it; rather too much where only its meshes would tell."""
    parts = set()
    for obj in session.objects(scene, "SOFT"):
        settings = obj.softpressure
        parts |= {"MEMBRANE": {"SKIN"}, "LOOP": {"FLAT"}, "TRUSS": {"FLAT", "LATTICE"}, "SOLID": {"LATTICE"}}[
            settings.body_type
        ]
        if settings.self_collision and settings.body_type in {"MEMBRANE", "LOOP"}:
            parts.add("SELF_CONTACT")
        if settings.attach_to is not None:
            parts.add("COUPLED")
    if session.of(scene).starts_crossed:
        parts.add("CROSSED")
    for obj in session.objects(scene, "RIGID"):
        is_simple = obj.softpressure.rigid_shape == "HULL" and len(obj.data.vertices) <= _FEW_POINTS
        parts.add("RIGID" if is_simple and not obj.modifiers and not parts else "COUPLED")
    return parts


def starts_crossed(model: "Model") -> bool:
    """Whether bodies of a model cross each other."""
    from ..core import prepare as kernels

    return "CROSSED" in kernels.parts_of(model)


def is_prepared(scene: bpy.types.Scene) -> bool:
    """Whether the kernels of a scene are ready; if not, that begins, and it is said."""
    kernels, jobs = _kernels_of(scene)
    if kernels.is_prepared(jobs):
        return True
    kernels.start(jobs)
    _waiting.add(scene.session_uid)
    if not bpy.app.timers.is_registered(_tell):
        bpy.app.timers.register(_tell, persistent=True)
    return False


def preparing() -> "Preparation | None":
    """How far the preparation is, None while there is none."""
    if not engine.cache_info().currsize:
        return None
    from ..core import prepare as kernels

    return kernels.progress() if kernels.is_running() else None


def prepare(scene: bpy.types.Scene) -> "Iterator[jobs.Progress]":
    """Wait until the kernels of a scene are ready, yielding meanwhile; raises what went wrong.

    Without a window, kernels that lie in files are loaded when they are called: nobody waits between two of them.
    """
    kernels, jobs = _kernels_of(scene)
    if bpy.app.background and kernels.is_compiled(jobs):
        return
    for share, label in kernels.prepare(jobs):
        yield share, 1.0, label


def what_to_prepare(scene: bpy.types.Scene) -> str:
    """A sentence on what `prepare` is going to do, empty if it takes a moment only."""
    kernels, jobs = _kernels_of(scene)
    return "" if kernels.is_compiled(jobs) else f"{kernels.COMPILING}."


def stop_telling() -> None:
    """Give the status bars back now (the extension is disabled)."""
    for timer in (_tell, _clear):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)
            _say(None)


def _kernels_of(scene: bpy.types.Scene) -> tuple[ModuleType, "tuple[Job, ...]"]:
    """The module that prepares kernels, and what it is to prepare for a scene."""
    engine()
    from ..core import prepare as kernels
    from . import method_options

    settings, choice = scene.softpressure, run_choice.last(scene)
    method = choice.method if choice else settings.solver
    return kernels, kernels.jobs_for(parts_of(scene), method, method_options.of(settings))


def _tell() -> float | None:
    """Say in every window's status bar and in the panel what is being prepared, then let the timelines go on."""
    found = preparing()
    if found:
        _say(f"Soft Pressure: {found.label}")
        return _SAY_EVERY
    from ..core import prepare as kernels

    error = kernels.failure()
    waiting = [scene for scene in bpy.data.scenes if scene.session_uid in _waiting]
    _waiting.clear()
    if error is None and [scene for scene in waiting if not is_prepared(scene)]:  # another one was ready first
        return _SAY_EVERY
    _say(f"Soft Pressure: {error}" if error else _READY)
    bpy.app.timers.register(_clear, first_interval=_SAY_END, persistent=True)
    if error is None:
        for scene in waiting:
            _play_from_start(scene)
    return None


def _play_from_start(scene: bpy.types.Scene) -> None:
    """Let a timeline that was started meanwhile begin anew: nothing was simulated so far."""
    windows = bpy.context.window_manager.windows
    if any(window.scene == scene and window.screen.is_animation_playing for window in windows):
        scene.frame_set(scene.softpressure.frame_start)


def announce(sentence: str) -> None:
    """Say something from any thread: in the status bar for a while, without a window on the console."""
    if bpy.app.background:
        print(f"Soft Pressure: {sentence}", flush=True)
        return

    def say() -> None:
        _say(sentence)
        bpy.app.timers.register(_clear, first_interval=_SAY_LONG, persistent=True)

    bpy.app.timers.register(say, persistent=True)


def _clear() -> None:
    """Give the status bars back, unless something is being said again."""
    if not bpy.app.timers.is_registered(_tell):
        _say(None)


def _say(sentence: str | None) -> None:
    """Show a sentence in the status bar of every window, None gives it back; keeps the panel fresh.

    A job has the status bar to itself; its label tells of the preparation it waits for.
    """
    for window in bpy.context.window_manager.windows:
        if jobs.current() is None:
            window.workspace.status_text_set(sentence)
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def _use_own_folder() -> None:
    """Keep compiled kernels in the user's extension folder; beside the code they would be lost with every update."""
    from ..core import kernel_store

    package = __package__.rpartition(".")[0]
    with suppress(ValueError):  # loaded from a checkout, not installed as an extension: beside the code
        kernel_store.use_folder(Path(bpy.utils.extension_path_user(package, path="kernels")))
