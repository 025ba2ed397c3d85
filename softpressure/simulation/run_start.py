"""Start of a run: capture of the first frame, model and world.

Capturing reads Blender's data and is quick. The rest is the core's and takes a minute and a half per million vertices,
so `simulate` has it done in a worker thread; a playing timeline has it done at once, unless it takes too long.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...core.cache import FrameCache
from ..scene_io import kept_meshes, simulation_mesh_choice
from ..scene_io.mesh_io import FloatArray
from ..state import jobs, measurements, sessions, snapshot, worker_thread
from ..state.sessions import Refusals, Session
from . import build, capture, gas_notes, xpbd_limits
from .kernels import is_prepared, prepare, starts_crossed, what_to_prepare

#: What a start takes for each vertex of a soft body with contact with itself [s], half of it for the shape at rest:
#: 54 s for 300 000 on two cores.
_PER_VERTEX = 1.8e-4
#: What making an even mesh takes for each drawn vertex [s], up to so many: from there on they are joined first.
_PER_DRAWN, _MOST_DRAWN = 5e-5, 100_000
#: A start that takes longer is not for a timeline that plays [s].
_LONGEST_LIVE = 2.0
#: From here on the progress names the duration [s].
_WORTH_NAMING = 0.5


@dataclass(slots=True)
class Captured:
    """Capture of the first frame, and its digests."""

    start: snapshot.Snapshot
    name: str
    names: list[str]  # also of what the core is not going to take
    inputs: str
    matrices: dict[int, FloatArray]  # world from local (4, 4) by `session_uid`


def seconds(scene: bpy.types.Scene) -> float:
    """Estimated duration of a start [s], from the meshes; even meshes that are not kept yet are made."""
    objects = sessions.objects(scene, "SOFT")
    unmade = [obj for obj in objects if simulation_mesh_choice.may_be_even(obj) and not kept_meshes.is_kept(obj)]
    counts: list[int] = [min(len(obj.data.vertices), _MOST_DRAWN) for obj in unmade]
    making = _PER_DRAWN * sum(counts)
    return _PER_VERTEX * sum(simulation_mesh_choice.simulated_count(scene, obj) for obj in objects) + making


def is_too_long_to_play(scene: bpy.types.Scene) -> bool:
    """Whether a start would block the window for so long that it is left to Simulate, which can be stopped."""
    return not bpy.app.background and seconds(scene) > _LONGEST_LIVE


def can_step(scene: bpy.types.Scene) -> bool:
    """Whether the kernels are ready; begins to prepare them if not.

    A window that compiles for a minute looks like a hang: the timeline waits, even to make a world at the first frame.
    Without a window it blocks. `simulate` calls this after preparation.
    """
    if not bpy.app.background:
        return is_prepared(scene)
    if sentence := what_to_prepare(scene):
        print(f"Soft Pressure: {sentence}", flush=True)
        for _ in prepare(scene):
            pass
    return True


def read(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, session: Session) -> Captured | None:
    """Capture at the first frame; None if the cached frames are from the same, or no object can take part."""
    sessions.mark_all()  # what a script changed just before is evaluated with the frame, without a word
    inputs = session.inputs(scene)
    try:
        start = capture.start(scene, depsgraph)
    except snapshot.Refusals as error:
        _refuse(session, error.refused, inputs)
        return None
    name, cache = start.fingerprint(), session.run.cache
    is_same = cache is not None and (cache.start_fingerprint, cache.input_fingerprint) == (name, inputs)
    if cache is not None and is_same and not session.refusals.error:
        if session.run.start is None:  # the cache was read from disk; objects may have been renamed since it was made
            start.arrange(cache.start_names)
            _keep_start(session, start, inputs)
        return None
    objects = {obj.session_uid: obj for obj in scene.objects}
    matrices = dict(
        zip((body.object_uid for body in start.bodies), capture.world_matrices(start, objects, depsgraph), strict=True)
    )
    matrices |= {rigid_body.object_uid: rigid_body.matrix for rigid_body in start.rigid}
    return Captured(start, name, start.names(), inputs, matrices)


def begin(
    scene: bpy.types.Scene,
    session: Session,
    captured: Captured,
    run: "worker_thread.Runner[Any]" = worker_thread.at_once,
) -> Iterator[None]:
    """Make the world of a new run and its cache with the first frame; yields as `run` does.

    Leaves no cache if no object can take part, or if the kernels are not ready: then call again.
    Raises the core's errors about the scene's settings.
    """
    session.clear()
    start, values = captured.start, build.values_of_scene(scene)

    def make_model() -> Any:
        model = build.model_of(values, start)
        return model, starts_crossed(model)

    try:
        model, session.run.starts_crossed = yield from run(make_model)
    except snapshot.Refusals as error:
        _refuse(session, error.refused, captured.inputs)
        return
    if not can_step(scene):
        return

    def make_world() -> Any:
        world = build.world_of(values, model)
        return world, measurements.measure(world, world.diagnostics())

    world, measured = yield from run(make_world)
    made = session.run
    made.world, made.added_mass = world, world.added_mass
    _keep_start(session, start, captured.inputs)
    gas_notes.note_start(made, start)
    made.soft_lattices = [*xpbd_limits.soft_lattices(scene, made.quantities, start).values()]
    made.crossing_count = world.crossing_triangle_count
    made.object_uids = start.uids()
    cache = FrameCache(
        scene.softpressure.frame_start,
        [body.name for body in (*start.bodies, *start.rigid)],
        [len(body.drawn_positions) for body in start.bodies] + [0] * len(start.rigid),
        input_fingerprint=captured.inputs,
        start_fingerprint=captured.name,
        start_names=captured.names,
        holds_forces=scene.softpressure.point_attributes or scene.softpressure.overlay_colour == "FORCE",
    )
    positions = [
        start.in_units(
            body.seen(world.positions(number)) if body.settings.get("start_at_rest") else body.drawn_positions
        )
        for number, body in enumerate(start.bodies)
    ]
    positions += [np.empty((0, 3))] * len(start.rigid)
    cache.append(cache.first_frame, positions, [captured.matrices[uid] for uid in made.object_uids])
    made.measured[cache.first_frame] = measured
    made.cache = cache


def begin_in_thread(scene: bpy.types.Scene, session: Session, captured: Captured) -> jobs.Work:
    """`begin` in a worker thread; yields elapsed and estimated time."""
    since, expected = time.monotonic(), seconds(scene)
    for _ in begin(scene, session, captured, worker_thread.run):
        passed = time.monotonic() - since
        about = f", about {max(expected, passed):.0f} s" if max(expected, passed) > _WORTH_NAMING else ""
        yield min(passed, 0.99 * expected), expected, f"Starting{about}"
        yield None


def _keep_start(session: Session, start: snapshot.Snapshot, inputs: str) -> None:
    """Store the objects that take part, and why the others do not."""
    session.run.start = start
    session.refusals = Refusals(of_objects=start.refused, started_from=inputs)


def _refuse(session: Session, refused: dict[int, str], inputs: str) -> None:
    """Store that no object can take part."""
    session.clear()
    session.refusals = Refusals(of_objects=refused, started_from=inputs)
