"""Shows cached frames: a pure function of the scene's time."""

import bpy
import numpy as np

from . import mesh_io, session, stages


def scene_time(scene: bpy.types.Scene) -> float:
    """Current frame with its fraction."""
    return scene.frame_current + scene.frame_subframe


def show_again(scene: bpy.types.Scene) -> None:
    """Show the frame of now after all data were replaced: evaluates first, since they have no world matrices yet."""
    layer = bpy.context.view_layer if bpy.context.scene == scene else scene.view_layers[0]
    layer.update()
    show(scene, layer.depsgraph)


def show(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None) -> None:
    """Let every soft body show what the cache holds for the scene's time, or the nearest frame it holds.

    A body that the cache does not hold shows its own shape. `depsgraph` gives the current world matrices; without one
    they are those of the last evaluation. Only what differs from what is shown already is written.
    """
    here = session.of(scene)
    cache = here.cache if here.cache is not None and here.cache.frame_count else None
    number_of = {uid: number for number, uid in enumerate(here.object_uids)} if cache else {}
    for obj in session.objects(scene, "SOFT"):
        key = mesh_io.live_key(obj)
        if key is None or obj.softpressure.is_baked or obj.mode == "EDIT":
            continue
        number = number_of.get(obj.session_uid)
        if cache is None or number is None or cache.vertex_counts[number] != len(key.points):
            stages.show(obj, stages.Stage.REST)
            continue
        stages.show(obj, stages.Stage.OUTPUT)
        time = cache.clamp(scene_time(scene))
        matrix = mesh_io.world_matrix(obj if depsgraph is None else obj.evaluated_get(depsgraph))
        shown = here.shown.get(obj.session_uid)
        if shown is not None and shown[0] == time and np.array_equal(shown[1], matrix):
            continue
        if np.linalg.det(matrix[:3, :3]) == 0.0:  # scaled to nothing: there is no way back to its own space
            continue
        mesh_io.write_key(key, mesh_io.to_local(matrix, cache.positions(number, time)))
        obj.data.update_tag()
        here.shown[obj.session_uid] = (time, matrix)
