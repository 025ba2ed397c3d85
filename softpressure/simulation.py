"""Stepping with the timeline.

A frame change calls `before_frame`, evaluates the scene, and calls `after_frame`. Frames repeat and go back (scrubbing,
motion blur), so what is shown is looked up; only the frame right after the last cached one is simulated, in the
viewport, between the two calls.
"""

from collections.abc import Iterator

import bpy

from ..core import SoftPressureError
from . import (
    beside,
    bodies,
    capture,
    disk,
    gas_notes,
    hold,
    playback,
    session,
    stages,
    starting,
    taking_part,
    xpbd_limits,
)
from .engine import Progress, prepare
from .session import Session


def before_frame(scene: bpy.types.Scene) -> None:
    """Show a cached frame, or make the meshes show what drives the next one."""
    here = session.of(scene)
    if _leaves_unseen_start(scene, here):
        frame = scene.frame_current
        scene.frame_set(scene.softpressure.frame_start)
        here.seen_frame = frame
        scene.frame_set(frame)
    here.seen_frame = scene.frame_current
    here.live_frame = _frame_to_simulate(scene, here)
    if here.live_frame is None:
        playback.show(scene)
        return
    is_first = here.live_frame == scene.softpressure.frame_start
    for obj in session.objects(scene, "RIGID") if is_first else ():
        hold.show(obj, None)
    for obj in session.objects(scene, "SOFT"):
        if not obj.softpressure.is_baked and (is_first or obj.softpressure.pin_group):
            stages.show(obj, stages.Stage.INPUT)


def after_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Simulate the frame that `before_frame` chose; correct what is shown by the matrices of now."""
    here = session.of(scene)
    frame, here.live_frame = here.live_frame, None
    if frame is not None and _sees_bodies(scene, depsgraph, here):
        try:
            if frame == scene.softpressure.frame_start:
                captured = starting.read(scene, depsgraph, here)
                if captured is not None and here.is_job:
                    here.captured = captured
                elif captured is not None:
                    for _ in starting.begin(scene, here, captured):
                        pass
            else:
                _advance(scene, depsgraph, here, frame)
        except SoftPressureError as error:
            session.mark_all()
            if not taking_part.static_problems(scene):  # else it is asked why this is so, until it is no more
                here.fail(str(error), here.inputs(scene))
    playback.show(scene, depsgraph)


def reset(scene: bpy.types.Scene) -> None:
    """Forget the simulation and show the bodies as they are."""
    session.of(scene).clear()
    bodies.prepare(session.objects(scene, "SOFT", "RIGID", "COLLIDER"))
    playback.show(scene)
    scene.frame_set(scene.softpressure.frame_start)


def simulate(scene: bpy.types.Scene) -> Iterator[Progress]:
    """Fill the cache to the last frame; yields after each frame. Raises with a sentence if it cannot go on."""
    yield from prepare(scene)
    here = session.of(scene)
    settings = scene.softpressure
    bodies.prepare(session.objects(scene, "SOFT", "RIGID", "COLLIDER"))
    sentence = taking_part.waits_for(scene)
    if sentence:
        raise SoftPressureError(sentence)
    first, last = settings.frame_start, settings.frame_end
    here.error = ""
    shown_frame = scene.frame_current
    try:
        yield from _start(scene, here, first)
        if here.cache is None and not here.error:  # the solver that was chosen is not the expected one
            yield from prepare(scene)
            yield from _start(scene, here, first)
        if here.error:
            raise SoftPressureError(here.error)
        if here.cache is None:
            found = "\n".join(taking_part.problems(scene).values())
            raise SoftPressureError(
                found or f"{scene.name}: no body to simulate. Select a closed mesh and add it as a soft body."
            )
        for frame in range(here.cache.last_frame + 1, last + 1):
            scene.frame_set(frame)
            if here.error:
                raise SoftPressureError(here.error)
            if here.cache.last_frame != frame:  # a handler or driver of someone else changed a body meanwhile
                found = "\n".join(taking_part.problems(scene).values())
                raise SoftPressureError(
                    found or f"{scene.name}: frame {frame} could not be simulated. Press Reset and try again."
                )
            yield frame - first + 1, last - first + 1, f"Frame {frame} of {last}"
    finally:
        # the first frame starts anew after an error, but the frames before it are worth keeping
        sentence, here.error = here.error, ""
        scene.frame_set(shown_frame)
        here.error = here.error or sentence


def _start(scene: bpy.types.Scene, here: Session, first: int) -> Iterator[Progress]:
    """Set the first frame, which captures, and start anew from it unless nothing has changed; keeps errors."""
    here.is_job, here.captured = True, None
    try:
        scene.frame_set(first)
    finally:
        captured: starting.Captured | None = here.captured
        here.is_job, here.captured = False, None
    if captured is None:
        return
    try:
        yield from starting.begin_beside(scene, here, captured)
    except SoftPressureError as error:
        here.fail(str(error), here.inputs(scene))
    playback.show(scene)


def _may_simulate(scene: bpy.types.Scene) -> bool:
    """Whether frames may be simulated at all: not while rendering, between frames, baked or being edited."""
    if session.is_rendering or scene.frame_subframe != 0.0:
        return False
    return session.has_bodies(scene) and not taking_part.waits_for(scene)


def _leaves_unseen_start(scene: bpy.types.Scene, here: Session) -> bool:
    """Whether the timeline goes on from the first frame, which was edited since it was set: nothing is captured yet.

    So it is when someone adds a body at the first frame and plays: the first frame change is to the second frame.
    """
    first = scene.softpressure.frame_start
    if scene.frame_current != first + 1 or here.seen_frame not in (None, first) or not _may_simulate(scene):
        return False
    return (here.cache is None or here.is_out_of_date(scene)) and starting.can_step(scene)


def _frame_to_simulate(scene: bpy.types.Scene, here: Session) -> int | None:
    """The scene's frame if it is to be simulated now, None if it is only shown."""
    frame, settings = scene.frame_current, scene.softpressure
    if not _may_simulate(scene):
        return None
    if frame != settings.frame_start:
        if here.cache is None or here.start is None or here.error or frame > settings.frame_end:
            return None
        if frame != here.cache.last_frame + 1 or here.is_out_of_date(scene):
            return None
        if not taking_part.static_problems(scene).keys().isdisjoint(here.start.all_uids()):
            return None  # it waits until that is mended
    elif not here.is_job and not _may_start(scene, here):
        return None
    return frame if starting.can_step(scene) else None


def _may_start(scene: bpy.types.Scene, here: Session) -> bool:
    """Whether a timeline that plays may make a new run at the first frame, if it needs one."""
    if here.cache is not None and not here.is_out_of_date(scene):
        return True
    return not beside.is_busy() and not starting.is_too_long_to_play(scene)


def _sees_bodies(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, here: Session) -> bool:
    """Whether this view layer is the one to simulate in. Each calls the handlers; some may leave the bodies out."""
    if len(scene.view_layers) == 1:
        return True
    refused = taking_part.problems(scene)
    found = [obj for obj in session.objects(scene, "SOFT", "RIGID", "COLLIDER") if obj.session_uid not in refused]
    if all(obj.evaluated_get(depsgraph).is_evaluated for obj in found):
        return True
    is_last = depsgraph.view_layer.name == scene.view_layers[-1].name
    return is_last and here.cache is None  # no view layer has them all: say so


def _advance(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, here: Session, frame: int) -> None:
    assert here.start is not None and here.cache is not None
    if here.world is None:  # the cache was read from disk
        here.world = disk.resume(scene, here.start, here.cache)
        gas_notes.note_start(here, here.start)
    objects = {obj.session_uid: obj for obj in scene.objects}
    given = capture.frame_input(here.start, objects, depsgraph)
    here.world.advance_frame(given)
    gas_notes.note_pressures(here, given)
    found = here.world.diagnostics().bodies
    here.gauges[frame] = [(body.volume_ratio, body.gauge_pressure) for body in found]
    here.slack_skins = xpbd_limits.skins_that_are_slack(scene, here, here.world.model, found, frame)
    here.cache.append(frame, *capture.frame_of(here.world, here.start, objects, depsgraph))
