"""Preparation of the kernels of a scene: which it needs, whether they are ready, and timelines that wait for them."""

from collections.abc import Iterator

import bpy

from ...core import MethodOptions
from ...core import prepare as kernels
from ...core.model import Model
from ...core.parameters import SKINS
from ...core.parameters.methods import ENGINE
from ..scene_io import actions, modifier_stack, scene_settings, simulation_mesh_choice
from ..state import jobs, sessions, status_bar
from . import loading

#: A convex hull of at most so many points has few enough faces for the impulse solver.
_FEW_POINTS = 18
#: Shown in the status bar at the end of a preparation.
_READY = "Soft Pressure: the solver is ready"
#: How often the status bar is renewed, and how long its last sentence stays [s].
_SAY_EVERY, _SAY_END = 0.25, 5.0

#: `session_uid` of the scenes that wait for their kernels.
_waiting: set[int] = set()


def parts_of(scene: bpy.types.Scene) -> set[str]:
    """Parts of a scene by the names of `core.prepare.PARTS`; too many rather than too few."""
    parts = set()
    for obj in sessions.objects(scene, "SOFT"):
        settings = obj.softpressure
        parts |= {"MEMBRANE": {"SKIN"}, "LOOP": {"FLAT"}, "TRUSS": {"FLAT", "LATTICE"}, "SOLID": {"LATTICE"}}[
            settings.body_type
        ]
        may_split = settings.tear_strain > 0.0 and settings.body_type not in SKINS
        if settings.self_collision:
            parts.add("SELF_CONTACT")
        if may_split or settings.sticks:
            parts.add("CROSSED")  # pieces, and bodies whose bonds break, may cross others
        if simulation_mesh_choice.may_be_even(obj):
            parts.add("SIMULATION_MESH")
        if settings.attach_to is not None:
            parts.add("COUPLED")
        if modifier_stack.may_be_held(obj) or "softpressure.is_attached" in actions.animated_paths(obj):
            parts.add("CROSSED")  # released bodies may cross others
    if sessions.of(scene).run.starts_crossed:
        parts.add("CROSSED")
    rigid = sessions.objects(scene, "RIGID")
    for obj in rigid:
        is_simple = obj.softpressure.rigid_shape == "HULL" and len(obj.data.vertices) <= _FEW_POINTS
        parts.add("RIGID" if is_simple and not obj.modifiers and not parts else "COUPLED")
    if "COUPLED" in parts and any(modifier_stack.may_be_held(obj) for obj in rigid):
        parts.add("CROSSED")  # likewise; rigid bodies alone come apart by their impulses
    around, inside = scene.softpressure, sessions.objects(scene, "SOFT")
    if around.air_density or around.liquid_density or any(obj.softpressure.fill_density for obj in inside):
        parts.add("FLUIDS")
    return parts


def starts_crossed(model: Model) -> bool:
    """Whether bodies of a model cross each other."""
    return "CROSSED" in kernels.parts_of(model)


def is_prepared(scene: bpy.types.Scene) -> bool:
    """Whether the kernels of a scene are in files; if not, starts their preparation and its messages.

    Those in files are loaded when they are called: that takes half as long as to load all that the parts may need.
    """
    needed = _needed(scene)
    if kernels.is_compiled(needed):
        return True
    kernels.start(needed)
    _waiting.add(scene.session_uid)
    if not bpy.app.timers.is_registered(_show_progress):
        bpy.app.timers.register(_show_progress, persistent=True)
    return False


def load(scene: bpy.types.Scene) -> None:
    """Begin to load the kernels of a scene, or to compile them, while it is still being set up."""
    if is_prepared(scene):
        kernels.start(_needed(scene))


def progress() -> kernels.Progress | None:
    """Progress of the preparation, None while there is none."""
    return kernels.progress() if kernels.is_running() else None


def prepare(scene: bpy.types.Scene) -> Iterator[jobs.Progress]:
    """Wait until the kernels of a scene are in files, yielding meanwhile; raises errors of the preparation."""
    needed = _needed(scene)
    if kernels.is_compiled(needed):
        return
    for share, label in kernels.prepare(needed):
        yield share, 1.0, label


def what_to_prepare(scene: bpy.types.Scene) -> str:
    """A sentence on the compilation that `prepare` will do, empty if there is none."""
    return "" if kernels.is_compiled(_needed(scene)) else f"{kernels.COMPILING}."


def can_make_meshes() -> bool:
    """Whether the kernels that even meshes are made by are there, compiled at least."""
    return kernels.is_compiled(kernels.jobs_for({"SIMULATION_MESH"}, ENGINE, MethodOptions()))


def _needed(scene: bpy.types.Scene) -> tuple[kernels.Job, ...]:
    """The kernels of a scene as jobs."""
    settings = scene.softpressure
    return kernels.jobs_for(
        parts_of(scene), settings.solver, MethodOptions(**scene_settings.of_scene(settings, "OPTIONS"))
    )


def _show_progress() -> float | None:
    """Timer: show the progress in every window's status bar, then restart the waiting timelines."""
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
    """Restart a timeline that was playing meanwhile: no frame was simulated."""
    windows = bpy.context.window_manager.windows
    if any(window.scene == scene and window.screen.is_animation_playing for window in windows):
        scene.frame_set(scene.softpressure.frame_start)


loading.use_own_folder()
status_bar.follow(_show_progress, progress)
