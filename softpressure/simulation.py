"""Stepping with the timeline.

A frame change calls `before_frame`, evaluates the scene, and calls `after_frame`. Frames repeat and go back (scrubbing,
motion blur), so what is shown is looked up; only the frame right after the last cached one is simulated, in the
viewport, between the two calls.
"""

from collections.abc import Iterator

import bpy
import numpy as np

from ..core import SoftPressureError
from ..core.cache import FrameCache
from . import bodies, capture, disk, fingerprint, gas_notes, hold, playback, run_choice, session, stages, xpbd_limits
from .engine import Progress, is_prepared, prepare, starts_crossed, what_to_prepare
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
                _start(scene, depsgraph, here)
            else:
                _advance(scene, depsgraph, here, frame)
        except SoftPressureError as error:
            here.fail(str(error))
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
    problems = bodies.prepare(session.objects(scene, "SOFT", "RIGID", "COLLIDER"))
    if problems:
        here.fail("\n".join(problems))
        raise SoftPressureError(here.error)
    first, last = settings.frame_start, settings.frame_end
    here.error = ""
    shown_frame = scene.frame_current
    try:
        scene.frame_set(first)  # captures; keeps the cache if nothing has changed
        if here.cache is None and not here.error:  # the solver that was chosen is not the expected one
            yield from prepare(scene)
            scene.frame_set(first)
        if here.error:
            raise SoftPressureError(here.error)
        if here.cache is None:
            raise SoftPressureError("Scene: no body to simulate. Select a closed mesh and add it as a soft body.")
        for frame in range(here.cache.last_frame + 1, last + 1):
            scene.frame_set(frame)
            if here.error:
                raise SoftPressureError(here.error)
            if here.cache.last_frame != frame:  # a handler of someone else changed a body meanwhile
                raise SoftPressureError(
                    f"{scene.name}: frame {frame} could not be simulated. Press Reset and try again."
                )
            yield frame - first + 1, last - first + 1, f"Frame {frame} of {last}"
    finally:
        # the first frame starts anew after an error, but the frames before it are worth keeping
        sentence, here.error = here.error, ""
        scene.frame_set(shown_frame)
        here.error = here.error or sentence


def _may_simulate(scene: bpy.types.Scene) -> bool:
    """Whether frames may be simulated at all: not while rendering, between frames, baked or being edited."""
    if session.is_rendering or scene.frame_subframe != 0.0:
        return False
    moving = session.objects(scene, "SOFT", "RIGID")
    return bool(moving) and not any(obj.softpressure.is_baked or obj.mode == "EDIT" for obj in moving)


def _leaves_unseen_start(scene: bpy.types.Scene, here: Session) -> bool:
    """Whether the timeline goes on from the first frame, which was edited since it was set: nothing is captured yet.

    So it is when someone adds a body at the first frame and plays: the first frame change is to the second frame.
    """
    first = scene.softpressure.frame_start
    if scene.frame_current != first + 1 or here.seen_frame not in (None, first) or not _may_simulate(scene):
        return False
    return (here.cache is None or here.is_out_of_date(scene)) and _can_step(scene)


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
    return frame if _can_step(scene) else None


def _can_step(scene: bpy.types.Scene) -> bool:
    """Whether a frame takes no longer than it must; begins to prepare if not.

    A window that compiles for a minute looks like a hang: the timeline waits, even to make a world at the first frame.
    Without a window it is waited for. `simulate` comes here prepared.
    """
    if bpy.app.background:
        if sentence := what_to_prepare(scene):
            print(f"Soft Pressure: {sentence}", flush=True)
        for _ in prepare(scene):
            pass
        return True
    return is_prepared(scene)


def _sees_bodies(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, here: Session) -> bool:
    """Whether this view layer is the one to simulate in. Each calls the handlers; some may leave the bodies out."""
    found = session.objects(scene, "SOFT", "RIGID", "COLLIDER")
    if len(scene.view_layers) == 1 or all(obj.evaluated_get(depsgraph).is_evaluated for obj in found):
        return True
    is_last = depsgraph.view_layer.name == scene.view_layers[-1].name
    return is_last and here.cache is None  # no view layer has them all: say so


def _start(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, here: Session) -> None:
    """At the first frame: capture, and begin a new cache unless the old one was made from the same."""
    try:
        start = capture.start(scene, depsgraph)
    except SoftPressureError:
        here.clear()
        raise
    name, inputs = start.fingerprint(), fingerprint.of_inputs(scene)
    cache = here.cache
    if cache is not None and (cache.start_fingerprint, cache.input_fingerprint) == (name, inputs) and not here.error:
        here.start = here.start or start
        return
    here.clear()
    model = capture.build_model(scene, start)
    here.choice = run_choice.kept(scene, name, inputs) or capture.choose(scene, model)
    here.starts_crossed = starts_crossed(model)
    if not _can_step(scene):  # what was chosen has other kernels than what was expected: come again
        return
    here.world = capture.build_world(scene, model, here.choice)
    run_choice.keep(scene, here.choice, name, inputs)
    here.start = start
    here.soft_solids = xpbd_limits.solids_that_give_way(scene, start)
    gas_notes.note_start(here, start)
    here.crossing_count = here.world.crossing_triangle_count
    here.object_uids = start.uids()
    here.cache = FrameCache(
        scene.softpressure.frame_start,
        [body.name for body in (*start.bodies, *start.solids)],
        [len(body.positions) for body in start.bodies] + [0] * len(start.solids),
        input_fingerprint=inputs,
        start_fingerprint=name,
        choice=here.choice,
    )
    objects = {obj.session_uid: obj for obj in scene.objects}
    matrices = capture.world_matrices(start, objects, depsgraph) + [solid.matrix for solid in start.solids]
    positions = [
        here.world.positions(number) if body.settings.get("start_at_rest") else body.positions
        for number, body in enumerate(start.bodies)
    ]
    positions += [np.empty((0, 3))] * len(start.solids)
    here.cache.append(here.cache.first_frame, positions, matrices)


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
