"""Shows cached frames: a pure function of the scene's time."""

import math
from collections.abc import Iterable, Mapping, Sequence

import bpy
import numpy as np

from ...core.cache import FrameCache
from ..scene_io import mesh_io, modifier_stack, own_mesh, point_attributes, rigid_pose, rotations
from ..scene_io.mesh_io import FloatArray
from ..state import sessions


def scene_time(scene: bpy.types.Scene) -> float:
    """Current frame with its fraction."""
    return scene.frame_current + scene.frame_subframe


def show_again(scene: bpy.types.Scene) -> None:
    """Show the present frame after all data were replaced: evaluates first, to have world matrices."""
    layer = bpy.context.view_layer if bpy.context.scene == scene else scene.view_layers[0]
    layer.update()
    show(scene, layer.depsgraph)


def show(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None) -> None:
    """Make every body show the cached frame at the scene's time, or the nearest one.

    A body that is not in the cache shows its own shape and place. `depsgraph` gives the current world matrices; without
    one they are those of the last evaluation. Only changes are written.
    """
    session = sessions.of(scene)
    source = (None if sessions.is_rendering else session.display.pose) or session.run
    cache = source.cache
    if cache is not None and not cache.frame_count:
        cache = None
    number_of = {uid: number for number, uid in enumerate(source.object_uids)} if cache else {}
    soft, rigid = _free_bodies(scene)
    if rigid:
        _place(rigid, scene, session, cache, number_of)
    session.display.late.clear()
    for obj in soft:
        key = mesh_io.live_key(obj)
        if key is None:
            continue
        if mesh_io.is_edited(obj):
            session.display.late.add(obj.session_uid)
            continue
        number = number_of.get(obj.session_uid)
        if cache is not None and number is None and own_mesh.is_shared(obj):
            continue  # a linked duplicate, which gets a mesh of its own when it is simulated
        if cache is None or number is None or cache.vertex_counts[number] != len(key.points):
            modifier_stack.show(obj, modifier_stack.Stage.REST)
            rigid_pose.release(obj)
            point_attributes.remove(obj.data)
            continue
        modifier_stack.show(obj, modifier_stack.Stage.OUTPUT)
        time = cache.clamp(scene_time(scene))
        matrix = mesh_io.world_matrix(obj if depsgraph is None else obj.evaluated_get(depsgraph))
        if obj.softpressure.origin_follows:
            matrix[:3, 3] = origin(cache, number, time)
            rigid_pose.show_origin(obj, matrix[:3, 3])
        shown = session.display.shown.get(obj.session_uid)
        if shown is not None and shown[0] == time and np.array_equal(shown[1], matrix):
            continue
        if mesh_io.determinant(matrix[:3, :3]) == 0.0:  # scaled to nothing: there is no way back to its own space
            continue
        mesh_io.write_key(key, mesh_io.to_local(matrix, cache.positions(number, time)))
        if scene.softpressure.point_attributes and cache is session.run.cache:
            point_attributes.write(obj.data, cache, number, time)
        else:
            point_attributes.remove(obj.data, point_attributes.STRAIN, point_attributes.FORCE)
        point_attributes.write_torn(obj.data, cache, number)
        obj.data.update_tag()
        sessions.note_shown(scene, obj, (time, matrix))


def let_go(obj: bpy.types.Object, session: sessions.Session) -> None:
    """Release a rigid body to its own transform, until a frame is shown again."""
    session.display.shown.pop(obj.session_uid, None)
    rigid_pose.release(obj)


def let_go_new(session: sessions.Session, updated: Iterable[bpy.types.ID]) -> None:
    """Release objects that came by the constraints of a held body: its duplicates, and those they were copied to."""
    held = (session.display.pose or session.run).object_uids
    for obj in updated:
        if isinstance(obj, bpy.types.Object) and obj.session_uid not in held:
            rigid_pose.release(obj)


def show_input(scene: bpy.types.Scene, all_of_them: bool) -> None:
    """Show what bodies are without simulation: all of them, or those whose own place or shape each frame reads."""
    session = sessions.of(scene)
    soft, rigid = _free_bodies(scene)
    for obj in rigid:
        if all_of_them or modifier_stack.may_be_held(obj):
            let_go(obj, session)
    for obj in soft:
        rigid_pose.release(obj)
        if all_of_them or modifier_stack.is_read_in_each_frame(obj):
            modifier_stack.show(obj, modifier_stack.Stage.INPUT)


def _free_bodies(scene: bpy.types.Scene) -> tuple[list[bpy.types.Object], list[bpy.types.Object]]:
    """Soft and rigid bodies that are not baked."""
    free = [obj for obj in sessions.objects(scene, "SOFT", "RIGID") if not obj.softpressure.is_baked]
    return [obj for obj in free if obj.softpressure.kind == "SOFT"], [
        obj for obj in free if obj.softpressure.kind == "RIGID"
    ]


def catch_up(scene: bpy.types.Scene) -> None:
    """Show the present frame in bodies that were in Edit Mode when it was set."""
    session = sessions.of(scene)
    if any(
        obj.session_uid in session.display.late and not mesh_io.is_edited(obj)
        for obj in sessions.objects(scene, "SOFT")
    ):
        show(scene)


def origin(cache: FrameCache, number: int, time: float) -> FloatArray:
    """Where the origin of a soft body is at `time` [frames] if it follows: it moves as the mean of the vertices."""
    first = cache.first_frame
    moved = cache.positions(number, time).mean(axis=0) - cache.positions(number, first).mean(axis=0)
    return np.asarray(cache.transform(number, first)[:3, 3] + moved)


def world_matrix(cache: FrameCache, number: int, time: float) -> FloatArray:
    """World matrix (4, 4) of a rigid body of the cache at `time` [frames], within the frames held."""
    whole = math.floor(time)
    session = cache.transform(number, whole)
    return session if whole == time else rotations.between(session, cache.transform(number, whole + 1), time - whole)


def _place(
    rigid: Sequence[bpy.types.Object],
    scene: bpy.types.Scene,
    session: sessions.Session,
    cache: FrameCache | None,
    number_of: Mapping[int, int],
) -> None:
    """Place rigid bodies as cached; up to the first frame of a run they are at their own transforms."""
    time = scene_time(scene)
    if cache is None or (cache is session.run.cache and time <= cache.first_frame):
        for obj in rigid:
            let_go(obj, session)
        return
    time = cache.clamp(time)
    moved, matrices = [], []
    for obj in rigid:
        number, shown = number_of.get(obj.session_uid), session.display.shown.get(obj.session_uid)
        if number is None or cache.vertex_counts[number]:
            let_go(obj, session)
        elif shown is None or shown[0] != time:
            moved.append(obj)
            matrices.append(world_matrix(cache, number, time))
    if moved:
        rigid_pose.hold(moved, np.array(matrices))
    for obj in moved:
        sessions.note_shown(scene, obj, (time, None))
