"""Simulation with the timeline.

A frame change calls `before_frame`, evaluates the scene, and calls `after_frame`. Frames repeat and go back (scrubbing,
motion blur), so cached frames are shown; only the frame right after the last cached one is simulated, in the viewport,
between the two calls.
"""

import bpy

from ...core import SoftPressureError
from ..bodies import setup, validation, wording
from ..cache import disk, packing, playback, takes
from ..state import jobs, sessions, worker_thread
from ..state.sessions import Activity, Session
from . import run_start, stepping

#: A frame that takes longer is not for a timeline that plays [s].
_SLOWEST = 0.5


def before_frame(scene: bpy.types.Scene) -> None:
    """Show a cached frame, or the input of the next one."""
    session = sessions.of(scene)
    if session.activity is Activity.READING:
        return
    if _leaves_unseen_start(scene, session):
        frame = scene.frame_current
        scene.frame_set(scene.softpressure.frame_start)
        session.display.seen_frame = frame
        scene.frame_set(frame)
    session.display.seen_frame = scene.frame_current
    session.run.due_frame = _frame_to_simulate(scene, session)
    if session.run.due_frame is None:
        playback.show(scene)
        return
    is_start = session.run.due_frame == scene.softpressure.frame_start
    if is_start:
        setup.part_meshes(scene)
    playback.show_input(scene, is_start)


def after_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Simulate the frame that `before_frame` chose; correct what is shown by the present matrices."""
    session = sessions.of(scene)
    if session.activity is Activity.READING:
        return
    frame, session.run.due_frame = session.run.due_frame, None
    if frame is not None and _sees_bodies(scene, depsgraph, session):
        try:
            if frame == scene.softpressure.frame_start:
                captured = run_start.read(scene, depsgraph, session)
                if captured is not None and not takes.protects(scene):
                    for _ in run_start.begin(scene, session, captured):
                        pass
            else:
                _advance(scene, depsgraph, session, frame)
        except SoftPressureError as error:
            sessions.mark_all()
            if not validation.static_problems(scene):  # else these are shown until they are mended
                session.fail(wording.of(error), session.inputs(scene))
    playback.show(scene, depsgraph)


def reset(scene: bpy.types.Scene) -> None:
    """Drop the simulation and show the bodies' own shapes; ends a job that fills the cache."""
    jobs.end()
    sessions.of(scene).clear()
    setup.prepare(sessions.objects(scene, "SOFT", "RIGID", "COLLIDER"))
    playback.show(scene)
    scene.frame_set(scene.softpressure.frame_start)


def delete(scene: bpy.types.Scene) -> None:
    """Drop the simulation of the chosen take as Reset does, and remove its cache on disk and in the file."""
    reset(scene)
    disk.delete(scene)
    packing.remove(scene, sessions.of(scene).take)


def _may_simulate(scene: bpy.types.Scene) -> bool:
    """Whether frames may be simulated at all: not while rendering, between frames, baked or in edit mode.

    Nor while the worker thread is busy.
    """
    is_idle = sessions.of(scene).activity is Activity.IDLE and not worker_thread.is_busy()
    return not sessions.is_rendering and scene.frame_subframe == 0.0 and is_idle and not sessions.waits_for(scene)


def _leaves_unseen_start(scene: bpy.types.Scene, session: Session) -> bool:
    """Whether the timeline leaves the first frame after a change without having captured it.

    So it is after a body was added at the first frame: the first frame change is to the second frame.
    """
    first = scene.softpressure.frame_start
    if scene.frame_current != first + 1 or session.display.seen_frame not in (None, first) or not _may_simulate(scene):
        return False
    if takes.protects(scene):
        return False
    return (session.run.cache is None or session.is_out_of_date(scene)) and run_start.can_step(scene)


def _frame_to_simulate(scene: bpy.types.Scene, session: Session) -> int | None:
    """The scene's frame if it is to be simulated now, None if it is only shown."""
    frame, settings, run = scene.frame_current, scene.softpressure, session.run
    if not _may_simulate(scene):
        return None
    if frame != settings.frame_start:
        if run.cache is None or run.start is None or session.refusals.error or frame > settings.frame_end:
            return None
        if frame != run.cache.last_frame + 1 or session.is_out_of_date(scene):
            return None
        if not validation.static_problems(scene).keys().isdisjoint(run.start.all_uids()):
            return None  # it waits until that is mended
        if is_too_slow(session):
            return None
    elif not _may_start(scene, session):
        return None
    # what a run needs does not change after its second frame: another input starts another run
    run.is_ready = (run.is_ready and frame != settings.frame_start) or run_start.can_step(scene)
    return frame if run.is_ready else None


def _may_start(scene: bpy.types.Scene, session: Session) -> bool:
    """Whether a playing timeline may start a new run at the first frame, if it needs one."""
    is_current = session.run.cache is not None and not session.is_out_of_date(scene)
    return is_current or not (takes.protects(scene) or run_start.is_too_long_to_play(scene))


def is_too_slow(session: Session) -> bool:
    """Whether frames take so long that the next one is left to Simulate, which does not block the window."""
    return bool(session.run.seconds) and session.run.seconds[-1] > _SLOWEST and not bpy.app.background


def _sees_bodies(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, session: Session) -> bool:
    """Whether this view layer is the one to simulate in. Each calls the handlers; some may leave the bodies out."""
    if validation.sees_bodies(scene, depsgraph):
        return True
    is_last = depsgraph.view_layer.name == scene.view_layers[-1].name
    return is_last and session.run.cache is None  # no view layer has them all: say so


def _advance(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, session: Session, frame: int) -> None:
    assert session.run.start is not None
    if session.run.world is None:
        stepping.resume(session.run, scene)
    stepping.step(session.run, scene, stepping.read(scene, depsgraph, session.run.start, frame))
