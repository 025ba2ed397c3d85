"""A start and a frame without a run, for *Check*: what *Simulate* would refuse and report, and what a frame costs."""

import math
import time

import bpy
import numpy as np

from ...core import FrameInput, Model, SoftPressureError, World
from ...core.contact.untangle.at_start import crossings_at_start
from ...core.solvers.explicit.stability import rest_bounds
from ..bodies import validation, wording
from ..bodies.mesh_checks import Flaw
from ..cache import playback
from ..scene_io import flat_shape, mesh_io
from ..state import sessions, worker_thread
from ..state.jobs import Work
from ..state.sessions import Activity
from ..state.snapshot import Refusals, SceneValues, Snapshot
from . import build, capture, gas_notes, making_meshes, simulate_job, stepping, xpbd_limits
from .kernels import prepare, starts_crossed

#: A frame that takes longer is reported [s].
SLOW = 0.5


def search(scene: bpy.types.Scene, found: list[Flaw]) -> Work:
    """Capture the first frame, make its world and step a frame as a run does; appends the flaws to `found`.

    Changes no cache. Does nothing where *Simulate* waits, as in Edit Mode.
    """
    if sessions.waits_for(scene) or not sessions.has_bodies(scene):
        return
    session, first = sessions.of(scene), scene.softpressure.frame_start
    while worker_thread.is_busy():  # with the last frame of a job that was stopped
        yield None
    if session.activity is not Activity.IDLE:
        return
    known = validation.problems(scene)
    yield from prepare(scene)
    session.activity = Activity.FILLING  # the timeline does not simulate meanwhile
    try:
        with simulate_job.elsewhere(scene, session):
            missing = capture.missing_meshes(scene, simulate_job.evaluated_at(scene, first))
        yield from making_meshes.make(scene, missing)
        with simulate_job.elsewhere(scene, session):
            start = capture.start(scene, simulate_job.evaluated_at(scene, first))
        values = build.values_of_scene(scene)
        yield len(start.uids()), len(start.uids()) + 1, "Checking the start"
        model = yield from worker_thread.run(lambda: build.model_of(values, start))
        session.run.starts_crossed = yield from worker_thread.run(lambda: starts_crossed(model))
        yield from prepare(scene)  # what crosses takes more kernels
        if session.run.starts_crossed:
            crossings = yield from worker_thread.run(lambda: crossings_at_start(model))
            found += _crossings(scene, crossings, start)
        found += yield from worker_thread.run(lambda: _notes(values, model, start))
        world = yield from worker_thread.run(lambda: build.world_of(values, model))
        refused = start.refused
        yield len(start.uids()), len(start.uids()) + 1, "Checking a frame"
        with simulate_job.elsewhere(scene, session):
            given = stepping.read(scene, simulate_job.evaluated_at(scene, first + 1), start, first + 1).given
        taken = yield from worker_thread.run(lambda: _seconds_of_frame(world, given))
        found += _cost(scene, world, start, taken)
    except Refusals as error:
        refused = error.refused
    except SoftPressureError as error:
        refused = {}
        found.append(Flaw(scene.name, wording.of(error)))
    finally:
        session.activity = Activity.IDLE
        playback.show(scene)
    new = {obj.name: refused[obj.session_uid] for obj in scene.objects if obj.session_uid in refused.keys() - known}
    found += [Flaw(name, text) for name, text in new.items()]
    found.sort(key=lambda flaw: not flaw.is_grave)


def _crossings(scene: bpy.types.Scene, counts: dict[tuple[int, int], int], start: Snapshot) -> list[Flaw]:
    """Flaws for surfaces that cross; `counts`: of triangles, by the numbers of both bodies."""
    by_uid, found = {obj.session_uid: obj for obj in scene.objects}, []
    objects = [by_uid[uid] for uid in start.all_uids()]
    for (one, other), count in counts.items():
        name, fixes = objects[one].name, tuple[str, ...]()
        if one != other:
            sentence = f"crosses {objects[other].name} at the start, in {count} faces; they are moved apart. Part them."
        else:
            is_drawn = one >= len(start.bodies) or start.bodies[one].drawn is None
            faces = "faces" if is_drawn else "faces of its simulation mesh"
            sentence = f"{count} {faces} cross each other and are simulated as they are. "
            if is_drawn or _crosses_as_drawn(objects[one]):
                sentence, fixes = sentence + "Separate them in Edit Mode.", ("SELECT_CROSSING",)
            else:
                sentence += "Choose a finer Detail or more Vertices."
        found.append(Flaw(name, f"{name}: {sentence}", fixes, is_grave=False))
    return found


def _crosses_as_drawn(obj: bpy.types.Object) -> bool:
    triangles = mesh_io.read_triangles(obj.data, np.eye(4))
    return bool(mesh_io.crossing_triangles(flat_shape.rest_positions(obj), triangles))


def _notes(scene: SceneValues, model: Model, start: Snapshot) -> list[Flaw]:
    """What the panel would say of a run's first frame."""
    soft = xpbd_limits.soft_lattices(scene, gas_notes.quantities(model, start), start)
    tight = {start.bodies[number].name: text for number, text in gas_notes.complaints_at_start(model).items()}
    return [Flaw(name, text, is_grave=False) for name, text in [*soft.items(), *tight.items()]]


def _seconds_of_frame(world: World, given: FrameInput) -> float:
    """Step a frame, and another one if that seems slow, as it may have loaded kernels; what the quicker takes [s]."""
    seconds = math.inf
    for _ in range(2):
        since = time.monotonic()
        world.advance_frame(given)
        seconds = min(seconds, time.monotonic() - since)
        if seconds <= SLOW:
            break
    return seconds


def _cost(scene: bpy.types.Scene, world: World, start: Snapshot, seconds: float) -> list[Flaw]:
    """The flaw of slow frames: the body that asks for the shortest steps, and what helps."""
    if seconds <= SLOW:
        return []
    sentence = f"a frame takes about {seconds:.2g} s, {world.steps_per_frame:,} steps of "
    if not start.bodies:
        sentence = f"{scene.name}: {sentence}{len(start.rigid)} rigid bodies. Use fewer, or their convex hulls."
        return [Flaw(scene.name, sentence, is_grave=False)]
    body = start.bodies[_stiffest(world.model)]
    obj = next(each for each in scene.objects if each.session_uid == body.object_uid)
    is_drawn = body.kind == "MEMBRANE" and body.drawn is None
    fewer = "Simulate an even mesh, or lower" if is_drawn else "Choose a coarser Detail or fewer Vertices, or lower"
    if body.kind in {"SOLID", "TRUSS"}:
        fewer = "Choose larger cells, or lower"
    sentence = f"{obj.name}: {sentence}{world.model.vertex_count:,} vertices. {fewer} its stiffness."
    return [Flaw(obj.name, sentence, ("EVEN_MESH",) if is_drawn else (), is_grave=False)]


def _stiffest(model: Model) -> int:
    """The body with the vertex that asks for the shortest steps."""
    return int(model.point_body[int(np.argmax(rest_bounds(model).stiffness / model.vertex_mass))])
