"""Even meshes are made in a worker thread where a window waits for them: with progress, and stopped at once."""

import bpy

from ...core import SoftPressureError
from ..cache import playback
from ..scene_io import kept_meshes
from ..scene_io.simulation_mesh import Wanted
from ..state import worker_thread
from ..state.jobs import Work
from . import capture


class _Making:
    """The making of one mesh, in another thread."""

    def __init__(self, wanted: Wanted) -> None:
        self._slices = wanted.making()
        self.share, self.is_stopped = 0.0, False

    def whole(self) -> kept_meshes.Kept | None:
        """All of it, None if it was stopped; raises `MeshError`."""
        while not self.is_stopped:
            try:
                self.share = next(self._slices)
            except StopIteration as end:
                made: kept_meshes.Kept = end.value
                return made
        return None


def make(scene: bpy.types.Scene, missing: list[Wanted]) -> Work:
    """Make these meshes and keep them with their objects; the start of a run reports what cannot be made."""
    for number, wanted in enumerate(missing):
        label = f"Simulation mesh of {wanted.name}"
        yield number, len(missing), label
        making, kept = _Making(wanted), None
        run = worker_thread.run(making.whole)
        try:
            while True:
                next(run)
                yield number + making.share, len(missing), label
                yield None
        except StopIteration as end:
            kept = end.value
        except SoftPressureError:
            continue
        finally:
            making.is_stopped = True
        obj = next((each for each in scene.objects if each.session_uid == wanted.object_uid), None)
        if obj is not None and kept is not None:
            wanted.keep(obj, kept)


def missing_now(scene: bpy.types.Scene) -> list[Wanted]:
    """The meshes that the bodies of a scene lack as they are at the present frame."""
    playback.show_input(scene, True)
    layer = bpy.context.view_layer if bpy.context.scene == scene else scene.view_layers[0]
    layer.update()
    depsgraph = layer.depsgraph
    assert depsgraph is not None
    try:
        return capture.missing_meshes(scene, depsgraph)
    finally:
        playback.show_again(scene)
