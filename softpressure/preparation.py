"""Preparing the kernels of a scene: which it needs, whether they are ready, and what a timeline waits for meanwhile."""

from collections.abc import Iterator

import bpy

from ..core import prepare as kernels
from ..core.model import Model
from . import actions, jobs, loading, method_options, run_choice, session, stages, status_bar

#: A convex hull of at most so many points has few enough faces for the impulse solver, whatever their shape.
_FEW_POINTS = 18
#: What a timeline waits for ends with this in the status bar.
_READY = "Soft Pressure: the solver is ready"
#: How often the status bar is renewed, and how long its last sentence stays [s].
_SAY_EVERY, _SAY_END = 0.25, 5.0

#: `session_uid` of the scenes that wait for their kernels.
_waiting: set[int] = set()


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
        if stages.may_be_held(obj) or "softpressure.is_attached" in actions.animated_paths(obj):
            parts.add("CROSSED")  # what comes free may cross others
    if session.of(scene).starts_crossed:
        parts.add("CROSSED")
    solids = session.objects(scene, "RIGID")
    for obj in solids:
        is_simple = obj.softpressure.rigid_shape == "HULL" and len(obj.data.vertices) <= _FEW_POINTS
        parts.add("RIGID" if is_simple and not obj.modifiers and not parts else "COUPLED")
    if "COUPLED" in parts and any(stages.may_be_held(obj) for obj in solids):
        parts.add("CROSSED")  # likewise; rigid bodies alone come apart by their impulses
    return parts


def starts_crossed(model: Model) -> bool:
    """Whether bodies of a model cross each other."""
    return "CROSSED" in kernels.parts_of(model)


def is_prepared(scene: bpy.types.Scene) -> bool:
    """Whether the kernels of a scene are ready; if not, that begins, and it is said."""
    needed = _needed(scene)
    if kernels.is_prepared(needed):
        return True
    kernels.start(needed)
    _waiting.add(scene.session_uid)
    if not bpy.app.timers.is_registered(_tell):
        bpy.app.timers.register(_tell, persistent=True)
    return False


def progress() -> kernels.Progress | None:
    """How far the preparation is, None while there is none."""
    return kernels.progress() if kernels.is_running() else None


def prepare(scene: bpy.types.Scene) -> Iterator[jobs.Progress]:
    """Wait until the kernels of a scene are ready, yielding meanwhile; raises what went wrong.

    Without a window, kernels that lie in files are loaded when they are called: nobody waits between two of them.
    """
    needed = _needed(scene)
    if bpy.app.background and kernels.is_compiled(needed):
        return
    for share, label in kernels.prepare(needed):
        yield share, 1.0, label


def what_to_prepare(scene: bpy.types.Scene) -> str:
    """A sentence on what `prepare` is going to do, empty if it takes a moment only."""
    return "" if kernels.is_compiled(_needed(scene)) else f"{kernels.COMPILING}."


def _needed(scene: bpy.types.Scene) -> tuple[kernels.Job, ...]:
    """What is to be prepared for a scene."""
    settings, choice = scene.softpressure, run_choice.last(scene)
    method = choice.method if choice else settings.solver
    return kernels.jobs_for(parts_of(scene), method, method_options.of(settings))


def _tell() -> float | None:
    """Say in every window's status bar and in the panel what is being prepared, then let the timelines go on."""
    found = progress()
    if found:
        status_bar.say(f"Soft Pressure: {found.label}")
        return _SAY_EVERY
    error = kernels.failure()
    waiting = [scene for scene in bpy.data.scenes if scene.session_uid in _waiting]
    _waiting.clear()
    if error is None and [scene for scene in waiting if not is_prepared(scene)]:  # another one was ready first
        return _SAY_EVERY
    status_bar.say(f"Soft Pressure: {error}" if error else _READY, _SAY_END)
    if error is None:
        for scene in waiting:
            _play_from_start(scene)
    return None


def _play_from_start(scene: bpy.types.Scene) -> None:
    """Let a timeline that was started meanwhile begin anew: nothing was simulated so far."""
    windows = bpy.context.window_manager.windows
    if any(window.scene == scene and window.screen.is_animation_playing for window in windows):
        scene.frame_set(scene.softpressure.frame_start)


loading.use_own_folder()
status_bar.follow(_tell, progress)
