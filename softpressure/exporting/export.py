"""Takes a simulation out of Blender: by its own exporters, or as point caches, from the cache or from a bake."""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...core import CacheError, SoftPressureError
from ..baking import bake, bake_motion
from ..reports import trace
from ..scene_io import baked, file_names, mesh_io
from ..scene_io.mesh_io import Float32Array
from ..state import measurements, sessions
from ..state.jobs import Work
from . import formats, point_caches

#: Module and name of the operators of Blender.
_EXPORTERS = {
    "ALEMBIC": ("wm", "alembic_export"),
    "USD": ("wm", "usd_export"),
    "GLTF": ("export_scene", "gltf"),
    "FBX": ("export_scene", "fbx"),
}
#: Modifier by which earlier versions let a mesh follow a soft body.
_CAGE = "SP Cage"
#: The add-ons that bring some of them, with their names in the preferences.
_ADD_ONS = {"GLTF": ("io_scene_gltf2", "glTF 2.0 format"), "FBX": ("io_scene_fbx", "FBX format")}


def export(scene: bpy.types.Scene, path: Path, only_selected: bool = False) -> Work:
    """Write the motion of all objects of a scene, or of the selected ones, to a file of the format of its suffix.

    Of point caches there is one file per soft body, with its name in it if there are several. For glTF and FBX bodies
    are baked meanwhile, to relative shape keys within the `key_error` of the scene, and freed again, or baked as they
    were. Yields while it bakes. A table has what was recorded with the cached frames. Raises `SoftPressureError` or
    `ValueError` if there is nothing to export, or no place for it.
    """
    kind = formats.of(path)
    check(scene, kind)
    if kind.is_table:
        yield 0, 1, f"Writing {path.name}"
        _write_table(scene, path, only_selected)
        return
    moving = sessions.objects(scene, "SOFT", "RIGID")
    is_unfit = any(_is_unfit(kind, obj) for obj in moving)
    is_baked = bool(sessions.baked(scene)) and not is_unfit
    settings = scene.softpressure
    frames = range(settings.frame_start, settings.frame_end + 1) if is_baked else bake.cached_frames(scene)[1]
    if kind.blends_keys:
        _check_cages(kind, moving, only_selected)
    if kind.is_point_cache:
        for obj, target in _targets(scene, path, only_selected).items():
            _check_place(target)
            yield 0, 1, f"Writing {target.name}"
            _write_points(scene, obj, target, frames)
        return
    _check_place(path)
    try:
        if kind.blends_keys and not is_baked:
            if is_unfit:
                bake.free(scene)
            yield from bake.bake(scene, settings.key_error)
        yield 0, 1, f"Writing {path.name}"
        with _only_played(scene, frames):
            _write(kind, path, frames, only_selected)
    finally:
        if kind.blends_keys and not is_baked:
            bake.free(scene)
            for _ in bake.bake(scene) if is_unfit else ():
                pass


def check(scene: bpy.types.Scene, kind: formats.Format) -> None:
    """Raise `SoftPressureError` if the state of a scene, or of this Blender, forbids a format, with the remedy."""
    moving = sessions.objects(scene, "SOFT", "RIGID")
    is_baked = bool(sessions.baked(scene))
    for obj in moving:
        if mesh_io.is_edited(obj):
            raise SoftPressureError(f"{obj.name}: is in Edit Mode. Leave it (Tab) before exporting.")
    if kind.identifier in _EXPORTERS:
        _check_exporter(kind)
    if kind.is_point_cache and not any(obj.softpressure.kind == "SOFT" for obj in moving):
        raise SoftPressureError(f"{scene.name}: has no soft body, which {kind.name} needs. Use Alembic or USD.")
    if is_baked and kind.is_table:
        _check_recorded(scene)
    elif is_baked:
        _check_keys(scene, kind, moving)
    else:
        bake.cached_frames(scene)
        if not kind.holds_shear:
            _check_parents(scene, kind)
        if kind.is_table:
            _check_recorded(scene)
        if kind.blends_keys:
            bake.check(scene)


def reason_against(scene: bpy.types.Scene, kind: formats.Format) -> str:
    """The same as a sentence; empty if nothing is in the way."""
    try:
        check(scene, kind)
    except SoftPressureError as error:
        return str(error)
    return ""


def _check_parents(scene: bpy.types.Scene, kind: formats.Format) -> None:
    """Raise if a rigid body turns below a parent whose scale the format cannot take apart."""
    cache, frames, objects = bake.cached_frames(scene)
    for number, obj in enumerate(objects):
        parent = obj.parent if obj.softpressure.kind == "RIGID" else None
        if parent is None or not bake_motion.is_unevenly_scaled(parent):
            continue
        if bake_motion.is_sheared(parent, np.array([cache.transform(number, frame) for frame in frames])):
            raise SoftPressureError(
                f"{obj.name}: its parent {parent.name} is not scaled by the same in all directions, which "
                f"{kind.name} does not hold. Clear the parent (Alt P, Keep Transformation), apply its scale (Ctrl A), "
                "or use USD."
            )


def _check_exporter(kind: formats.Format) -> None:
    """Raise if this Blender lacks the exporter of a format."""
    module, name = _EXPORTERS[kind.identifier]
    try:
        getattr(getattr(bpy.ops, module), name).get_rna_type()
        return
    except KeyError:
        pass
    if kind.identifier not in _ADD_ONS:
        remedy = f"this Blender was built without {kind.name}. Use one from blender.org, or another format."
    elif importlib.util.find_spec(_ADD_ONS[kind.identifier][0]) is None:
        remedy = "this Blender does not include that add-on. Use one from blender.org, or another format."
    else:
        remedy = f"its add-on is off. Enable {_ADD_ONS[kind.identifier][1]} in Edit > Preferences > Add-ons."
    raise SoftPressureError(f"{kind.name}: {remedy}")


def _check_recorded(scene: bpy.types.Scene) -> None:
    """Raise if nothing was recorded with the cached frames for a table."""
    run = sessions.of(scene).run
    if run.measured:
        return
    if run.cache is None and sessions.baked(scene):
        raise SoftPressureError(
            f"{scene.name}: is baked, and its cached frames are gone. Free the bake and simulate again."
        )
    raise SoftPressureError(f"{scene.name}: {measurements.NOT_RECORDED}")


def _write_table(scene: bpy.types.Scene, path: Path, only_selected: bool) -> None:
    """Write the measurements of all bodies, or of the selected ones, as `trace.Trace` has them."""
    chosen = {obj.session_uid for obj in scene.objects if obj.select_get() or not only_selected}
    if chosen.isdisjoint(sessions.of(scene).run.object_uids):
        raise SoftPressureError(f"{path}: no selected object is a body that moves. Select one.")
    with trace.Trace(path) as table:
        table.add(scene, chosen)


def _targets(scene: bpy.types.Scene, path: Path, only_selected: bool) -> dict[bpy.types.Object, Path]:
    """The point caches that are written to a path: of one soft body there, of several with their names in it.

    Bodies that take no part in the simulation have none.
    """
    moving = sessions.of(scene).run.object_uids
    found = [
        obj
        for obj in sessions.objects(scene, "SOFT")
        if (obj.softpressure.is_baked or obj.session_uid in moving) and (obj.select_get() or not only_selected)
    ]
    if not found:
        which = "is selected" if only_selected else "has frames"
        raise SoftPressureError(f"{path}: no soft body {which}. Point caches hold soft bodies; add or select one.")
    if len(found) == 1:
        return {found[0]: path}
    return {obj: path.with_stem(f"{path.stem}_{file_names.of(obj, found)}") for obj in found}


def _check_place(path: Path) -> None:
    """Raise if no file can be written there; exporters would raise a traceback."""
    is_new = not path.exists()
    try:
        path.open("ab").close()
        if is_new:
            path.unlink()
    except OSError as error:
        raise _not_written(path, error) from error


def _not_written(path: Path, error: OSError) -> SoftPressureError:
    return SoftPressureError(f"{path}: cannot be written ({error.strerror}). Check the folder and its space.")


def _write_points(scene: bpy.types.Scene, obj: bpy.types.Object, path: Path, frames: range) -> None:
    count = len(obj.data.vertices)
    try:
        if path.suffix.lower() == ".pc2":
            point_caches.write_pc2(path, count, frames, _shapes(scene, obj, frames))
        else:
            rate = scene.render.fps / scene.render.fps_base
            point_caches.write_mdd(path, count, frames, _shapes(scene, obj, frames), rate)
    except OSError as error:
        raise _not_written(path, error) from error


def _shapes(scene: bpy.types.Scene, obj: bpy.types.Object, frames: range) -> Iterator[Float32Array]:
    """Shapes of a soft body at these frames, in its object's space."""
    if obj.softpressure.is_baked and not obj.data.shape_keys.use_relative:
        keys = {int(key.name.removeprefix(mesh_io.BAKE_KEY)): key for key in baked.baked_keys(obj)}
        for frame in frames:
            yield mesh_io.read_key(keys[min(max(frame, min(keys)), max(keys))])
        return
    run = sessions.of(scene).run
    assert run.cache is not None
    number = run.object_uids.index(obj.session_uid)
    for frame in frames:
        yield mesh_io.to_local(run.cache.transform(number, frame), run.cache.positions(number, frame))


def _check_cages(kind: formats.Format, moving: list[bpy.types.Object], only_selected: bool) -> None:
    """Raise if a mesh of an earlier version follows a cage by its modifier, which the format cannot take."""
    for mesh in bpy.data.objects:
        binding: Any = mesh.modifiers.get(_CAGE)
        if binding is None or getattr(binding, "target", None) not in moving:
            continue
        if mesh.select_get() or not only_selected:
            raise SoftPressureError(
                f"{mesh.name}: follows its cage by a modifier, which {kind.name} leaves out. Export to Alembic or USD, "
                "or select other objects and export these."
            )


def _is_unfit(kind: formats.Format, obj: bpy.types.Object) -> bool:
    """Whether a body is baked to keys that a format cannot take: blending needs relative ones, points absolute ones."""
    if not obj.softpressure.is_baked or obj.softpressure.kind != "SOFT":
        return False
    return kind.blends_keys if not obj.data.shape_keys.use_relative else kind.is_point_cache


def _check_keys(scene: bpy.types.Scene, kind: formats.Format, moving: list[bpy.types.Object]) -> None:
    """Raise if a baked body has keys that the format cannot take, and there are no cached frames to export instead."""
    unfit = next((obj for obj in moving if _is_unfit(kind, obj)), None)
    if unfit is None:
        return
    try:
        bake.cached_frames(scene)
    except CacheError as error:
        which = "relative shape keys, which leave frames out" if kind.is_point_cache else "absolute shape keys"
        raise SoftPressureError(
            f"{unfit.name}: is baked to {which}, {kind.name} holds others, and the cached frames are gone. "
            "Free the bake and simulate again."
        ) from error


@contextmanager
def _only_played(scene: bpy.types.Scene, frames: range) -> Iterator[None]:
    """Let the scene's range be these frames, and frames be looked up but not simulated; then all is as it was."""
    shown = scene.frame_current, scene.frame_subframe
    own, was_rendering = (scene.frame_start, scene.frame_end), sessions.is_rendering
    sessions.is_rendering = True
    scene.frame_start, scene.frame_end = frames[0], frames[-1]
    try:
        yield
    finally:
        scene.frame_start, scene.frame_end = own
        scene.frame_set(shown[0], subframe=shown[1])
        sessions.is_rendering = was_rendering


def _write(kind: formats.Format, path: Path, frames: range, only_selected: bool) -> None:
    """Call an exporter of Blender."""
    module, name = _EXPORTERS[kind.identifier]
    try:
        result = getattr(getattr(bpy.ops, module), name)(
            filepath=str(path), **_settings(kind, path, frames, only_selected)
        )
    except RuntimeError as error:  # with a traceback if it is an add-on
        lines = [line for line in str(error).splitlines() if line and not line.startswith("Location:")]
        raise SoftPressureError(f"{path}: Blender's exporter failed ({lines[-1].removeprefix('Error: ')}).") from error
    if "FINISHED" not in result:
        raise SoftPressureError(f"{path}: Blender's exporter failed; its console says why. Check the folder.")


def _settings(kind: formats.Format, path: Path, frames: range, only_selected: bool) -> dict[str, Any]:
    """Options of an exporter that are not its defaults."""
    if kind.identifier == "ALEMBIC":
        return {"start": frames[0], "end": frames[-1], "selected": only_selected}
    if kind.identifier == "USD":  # blend shapes would hold the live key of one frame; only matrices can be sheared
        return {
            "export_animation": True,
            "selected_objects_only": only_selected,
            "export_shapekeys": False,
            "xform_op_mode": "MAT",
        }
    if kind.identifier == "GLTF":  # the mode SCENE puts the motion of all objects into one animation
        return {
            "export_format": "GLB" if path.suffix.lower() == ".glb" else "GLTF_SEPARATE",
            "use_selection": only_selected,
            "use_active_scene": True,
            "export_animation_mode": "SCENE",
            "export_anim_scene_split_object": False,
        }
    return {  # FBX: modifiers would replace the shape keys, simplifying would leave keyframes out
        "use_selection": only_selected,
        "use_mesh_modifiers": False,
        "bake_anim_use_nla_strips": False,
        "bake_anim_use_all_actions": False,
        "bake_anim_simplify_factor": 0.0,
    }
