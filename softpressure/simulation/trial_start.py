"""A start without a run, for *Check*: what *Simulate* would refuse, and what a frame would cost."""

import bpy
import numpy as np

from ...core import Model, SoftPressureError, World
from ...core.solvers.explicit.stability import rest_bounds
from ..bodies import validation
from ..bodies.mesh_checks import Flaw
from ..cache import playback
from ..state import sessions, worker_thread
from ..state.jobs import Work
from ..state.snapshot import Refusals, Snapshot
from . import capture, making_meshes, simulate_job
from .kernels import prepare

#: What a vertex takes in a step [s], contact included: 1,014 of a ball take 56 us on a core of 2023 without contact.
PER_VERTEX = 1e-7
#: A frame that takes longer is told [s].
SLOW = 0.5


def search(scene: bpy.types.Scene, found: list[Flaw]) -> Work:
    """Capture the first frame and make its world as a start does; appends what that tells to `found`.

    Changes no cache. Does nothing where *Simulate* waits, as in Edit Mode.
    """
    if sessions.waits_for(scene) or not sessions.has_bodies(scene):
        return
    session, first = sessions.of(scene), scene.softpressure.frame_start
    while worker_thread.is_busy():  # with the last frame of a job that was stopped
        yield None
    if session.is_filling:
        return
    known = validation.problems(scene)
    yield from prepare(scene)
    session.is_filling = True  # the timeline does not simulate meanwhile
    try:
        with simulate_job.elsewhere(scene, session):
            missing = capture.missing_meshes(scene, simulate_job.evaluated_at(scene, first))
        yield from making_meshes.make(scene, missing)
        with simulate_job.elsewhere(scene, session):
            start = capture.start(scene, simulate_job.evaluated_at(scene, first))
        values = capture.scene_values(scene)
        yield len(start.uids()), len(start.uids()) + 1, "Checking the start"
        model = yield from worker_thread.run(lambda: capture.build_model(values, start))
        world = yield from worker_thread.run(lambda: capture.build_world(values, model))
        refused = start.refused
        found += _cost(scene, world, start)
    except Refusals as error:
        refused = error.refused
    except SoftPressureError as error:
        refused = {}
        found.append(Flaw(scene.name, str(error)))
    finally:
        session.is_filling = False
        playback.show(scene)
    new = {obj.name: refused[obj.session_uid] for obj in scene.objects if obj.session_uid in refused.keys() - known}
    found += [Flaw(name, text) for name, text in new.items()]
    found.sort(key=lambda flaw: not flaw.is_grave)


def seconds_per_frame(world: World) -> float:
    """Estimated time of a frame [s], from its steps and vertices."""
    return PER_VERTEX * world.steps_per_frame * world.model.vertex_count


def _cost(scene: bpy.types.Scene, world: World, start: Snapshot) -> list[Flaw]:
    """What is told of slow frames: the body that asks for the shortest steps, and what helps."""
    cost = seconds_per_frame(world)
    if cost <= SLOW:
        return []
    body = start.bodies[_stiffest(world.model)]
    obj = next(each for each in scene.objects if each.session_uid == body.object_uid)
    is_drawn = body.kind == "MEMBRANE" and body.drawn is None
    fewer = "Simulate an even mesh, or lower" if is_drawn else "Choose a coarser Detail or fewer Vertices, or lower"
    if body.kind in {"SOLID", "TRUSS"}:
        fewer = "Choose larger cells, or lower"
    sentence = (
        f"{obj.name}: a frame takes about {cost:.2g} s, {world.steps_per_frame:,} steps of "
        f"{world.model.vertex_count:,} vertices. {fewer} its stiffness."
    )
    return [Flaw(obj.name, sentence, ("EVEN_MESH",) if is_drawn else (), is_grave=False)]


def _stiffest(model: Model) -> int:
    """The body with the vertex that asks for the shortest steps."""
    return int(model.point_body[int(np.argmax(rest_bounds(model).stiffness / model.vertex_mass))])
