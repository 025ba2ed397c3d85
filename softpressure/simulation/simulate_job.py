"""The job of Simulate: fills the cache, while a window goes on.

The main thread evaluates the scene at the coming frames, in short slices, and goes back to the frame that is shown. A
worker thread steps the world with the data read (`stepping.py`). If input depends on simulated bodies, as by a
constraint to one, each frame is read after the one before is simulated and shown.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from ...core import SoftPressureError
from ..bodies import setup, validation, wording
from ..cache import disk, playback
from ..scene_io import digests, effectors, modifier_stack
from ..state import sessions, snapshot, worker_thread
from ..state.jobs import Interrupted, Work
from ..state.sessions import Activity, Session
from . import build, capture, making_meshes, run_start, stepping
from .kernels import prepare

#: Duration of a slice of evaluation at other frames [s].
_SLICE = 0.03
#: Operators whose changes would be lost when the scene is evaluated at another frame.
_DRAGGING = ("TRANSFORM_", "POSE_", "ARMATURE_", "MESH_", "CURVE_", "SCULPT_", "PAINT_", "GPENCIL_", "GREASE_PENCIL_")


def simulate(scene: bpy.types.Scene, last: int | None = None) -> Work:
    """Fill the cache to a frame, the last one if none is given; yields after each slice, None while waiting.

    Raises with a sentence if it cannot go on, `Interrupted` if an input is changed meanwhile. The finished frames stay
    in any case.
    """
    settings = scene.softpressure
    if last is not None and not settings.frame_start <= last <= settings.frame_end:
        raise SoftPressureError(
            f"{scene.name}: frame {last} is outside the range of the simulation, {settings.frame_start} to "
            f"{settings.frame_end}. Move the playhead or the range."
        )
    yield from prepare(scene)
    session = sessions.of(scene)
    while worker_thread.is_busy():  # with the last frame of a job that was stopped
        yield None
    setup.prepare(sessions.objects(scene, "SOFT", "RIGID", "COLLIDER"))
    sentence = sessions.waits_for(scene)
    if sentence:
        raise SoftPressureError(sentence)
    session.refusals.error = ""
    session.activity = Activity.FILLING
    try:
        yield from _start(scene, session)
        if session.run.cache is None and not session.refusals.error:  # bodies cross, which takes more kernels
            yield from prepare(scene)
            yield from _start(scene, session)
        if session.refusals.error:
            raise SoftPressureError(session.refusals.error)
        if session.run.cache is None:
            found = "\n".join(validation.problems(scene).values())
            raise SoftPressureError(
                found or f"{scene.name}: no body to simulate. Select a closed mesh and add it as a soft body."
            )
        yield from _go_on(scene, session, settings.frame_end if last is None else last)
    finally:
        session.activity = Activity.IDLE


def _start(scene: bpy.types.Scene, session: Session) -> Work:
    """Capture at the first frame, and start a new run unless nothing has changed; stores errors."""
    first = scene.softpressure.frame_start
    with elsewhere(scene, session):
        missing = capture.missing_meshes(scene, evaluated_at(scene, first))
    yield from making_meshes.make(scene, missing)
    try:
        with elsewhere(scene, session):
            captured = run_start.read(scene, evaluated_at(scene, first), session)
        if captured is not None:
            yield from run_start.begin_in_thread(scene, session, captured)
    except SoftPressureError as error:
        session.fail(wording.of(error), session.inputs(scene))
    playback.show(scene)


def _go_on(scene: bpy.types.Scene, session: Session, last: int) -> Work:
    """Simulate the frames after the last one of the cache; then save the cache."""
    assert session.run.cache is not None
    values = build.values_of_scene(scene)
    if session.run.cache.last_frame < last:
        if session.run.world is None:
            yield 0.0, 1.0, "Continuing"
            yield from worker_thread.run(lambda: stepping.resume(session.run, values))
        yield from _step_to(scene, session, last, values)
    yield from worker_thread.run(disk.writing(scene))


def _step_to(scene: bpy.types.Scene, session: Session, last: int, values: snapshot.SceneValues) -> Work:
    """Simulate the missing frames up to the last one with the present world."""
    run, first = session.run, scene.softpressure.frame_start
    start, cache = run.start, run.cache
    assert start is not None and cache is not None
    start.forget_places()
    run.stepper = stepper = stepping.Stepper(run, values, disk.path_of(scene))
    in_turns = follows_what_is_simulated(scene, start)
    begun_at, since = cache.last_frame, time.monotonic()
    to_read, shown = begun_at + 1, begun_at
    try:
        for _ in worker_thread.run(stepper.run):
            if session.run is not run or session.inputs(scene) != cache.input_fingerprint:
                raise Interrupted(
                    f"{scene.name}: stopped at frame {cache.last_frame}, as a body or a setting was changed meanwhile."
                )
            if to_read <= last and not _must_wait(scene):
                to_read = _read(scene, session, stepper, range(to_read, last + 1), in_turns)
                if to_read > last:
                    stepper.finish()
            if cache.last_frame != shown:
                shown = cache.last_frame
                left = (time.monotonic() - since) / (shown - begun_at) * (last - shown)
                yield _shown(scene, shown), last - first + 1, f"Frame {shown} of {last}, {_in_words(left)} left"
            yield None
        yield _shown(scene, last), last - first + 1, f"Frame {last} of {last}"
    except SoftPressureError as error:
        session.fail(wording.of(error), session.inputs(scene))
        raise
    finally:
        stepper.stop()
        run.stepper = None


def _shown(scene: bpy.types.Scene, frame: int) -> int:
    """Show new frames in a window that waits for one; returns how many there are."""
    if not sessions.is_rendering:
        playback.show(scene)
    return frame - int(scene.softpressure.frame_start) + 1


def _read(scene: bpy.types.Scene, session: Session, stepper: stepping.Stepper, frames: range, in_turns: bool) -> int:
    """Read the input of these frames, within a slice and the room for readings; returns the next frame to read."""
    start, until = session.run.start, time.monotonic() + _SLICE
    assert start is not None
    frame = frames.start
    if not (stepper.is_idle() if in_turns else stepper.has_room()):
        return frame
    with elsewhere(scene, session):
        while frame < frames.stop and time.monotonic() < until:
            if not in_turns and not stepper.has_room():
                break
            if in_turns:
                if not stepper.is_idle():
                    time.sleep(0.0)  # a quick frame is done within the slice
                    continue
                session.activity = Activity.FILLING
                scene.frame_set(frame - 1)
                session.activity = Activity.READING
            stepper.give(stepping.read(scene, evaluated_at(scene, frame), start, frame))
            frame += 1
    return frame


@contextmanager
def elsewhere(scene: bpy.types.Scene, session: Session) -> Iterator[None]:
    """Evaluate the scene at other frames, without showing them, and return to the shown one."""
    frame, subframe, before = scene.frame_current, scene.frame_subframe, session.activity
    session.activity = Activity.READING
    try:
        yield
    finally:
        session.activity = before
        scene.frame_set(frame, subframe=subframe)


def evaluated_at(scene: bpy.types.Scene, frame: int) -> bpy.types.Depsgraph:
    """A scene evaluated at a frame, with input shown, in the view layer that has all bodies."""
    playback.show_input(scene, frame == scene.softpressure.frame_start)
    scene.frame_set(frame)
    return validation.graph_of_bodies(scene)


def follows_what_is_simulated(scene: bpy.types.Scene, start: snapshot.Snapshot) -> bool:
    """Whether an object that is read depends on another simulated body, as by a constraint to it.

    Read objects are those of soft bodies, colliders and force fields, and of rigid bodies that may be held.
    """
    moving, by_uid = set(start.uids()), {obj.session_uid: obj for obj in scene.objects}
    led = [part.object_uid for part in (*start.bodies, *start.colliders)]
    led += [
        rigid_body.object_uid for rigid_body in start.rigid if modifier_stack.may_be_held(by_uid[rigid_body.object_uid])
    ]
    led += [obj.session_uid for obj in effectors.acting(scene.objects)]
    return any(moving & (digests.reached(by_uid[uid]) - {uid}) for uid in led)


def _must_wait(scene: bpy.types.Scene) -> bool:
    """Whether the scene must not be evaluated at another frame now."""
    if sessions.is_rendering or sessions.waits_for(scene):
        return True
    windows = bpy.context.window_manager.windows
    names = [operator.bl_idname for window in windows for operator in getattr(window, "modal_operators", ())]
    return any(name.startswith(_DRAGGING) for name in names)


def _in_words(seconds: float) -> str:
    """A time: `12 s`, `3 min`, `2.5 h`."""
    if seconds < 100.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 6000.0 else f"{seconds / 3600.0:.1f} h"
