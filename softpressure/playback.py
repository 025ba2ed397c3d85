"""Shows cached frames: a pure function of the scene's time."""

import bpy
import numpy as np

from . import mesh_io, session, stages


def scene_time(scene: bpy.types.Scene) -> float:
    """Current frame with its fraction."""
    return scene.frame_current + scene.frame_subframe


def show(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None) -> None:
    """Let every soft body show what the cache holds for the scene's time, or the nearest frame it holds.

    `depsgraph` gives the current world matrices; without one they are those of the last evaluation. Only what differs
    from what is shown already is written.
    """
    here = session.of(scene)
    cache = here.cache
    if cache is None or not cache.frame_count:
        return
    time = cache.clamp(scene_time(scene))
    objects = {obj.session_uid: obj for obj in scene.objects}
    for number, uid in enumerate(here.object_uids):
        obj = objects.get(uid)
        if obj is None or obj.type != "MESH" or obj.softpressure.is_baked or obj.mode == "EDIT":
            continue
        key = mesh_io.live_key(obj)
        if key is None:
            continue
        if len(key.points) != cache.vertex_counts[number]:  # edited since: nothing to show
            stages.show(obj, stages.Stage.REST)
            continue
        matrix = mesh_io.world_matrix(obj if depsgraph is None else obj.evaluated_get(depsgraph))
        stages.show(obj, stages.Stage.OUTPUT)
        shown = here.shown.get(uid)
        if shown is not None and shown[0] == time and np.array_equal(shown[1], matrix):
            continue
        if np.linalg.det(matrix[:3, :3]) == 0.0:
            continue
        mesh_io.write_key(key, mesh_io.to_local(matrix, cache.positions(number, time)))
        obj.data.update_tag()
        here.shown[uid] = (time, matrix)
