"""Digests of everything that a simulation depends on, by which a cache is recognised as out of date.

Read from the file's data, never from evaluated data: the digest must not change with the current frame. It does not
depend on object names or their order. Animated values count with their keyframes instead of their present value.
Geometry that modifiers or drivers make differently is detected when the timeline passes the first frame, by
`of_arrays`.
"""

import hashlib
from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import parameters
from . import actions, effectors, hold, hoses, instances, mesh_io, stages, touching, units
from .blender_types import DataBlock

#: What else dates a cache, beside what `core/parameters/` declares.
_ALSO = {
    "SOFT": ("body_type", "pin_group", "attach_group", "is_attached", "is_active"),
    "RIGID": ("is_active",),
    "COLLIDER": (),
}
#: Settings of scenes in the digests of earlier versions, in their order, after the substeps and one that is gone, whose
#: default this is.
_STEP_ERROR = 0.0010000000474974513
_SCENE = (
    "solver", "ambient_pressure", "frame_start", "volume_rule", "pressure_spread",
    "detection", "collider_rule", "ramp_time", "use_step_damping", "stiffest_spring",
)  # fmt: skip
_GRAVITY = {"gravity", "use_gravity"}
_TRANSFORMS = ("location", "rotation", "scale", "delta")
_SKIPPED_VALUES = {"rna_type", "name", "is_active", "execution_time", "persistent_uid", "show_expanded", "show_on_cage"}
_SKIPPED_VALUES |= {"active", "show_in_editmode", "use_pin_to_last", "show_viewport", "show_render", "is_override_data"}


def of_arrays(values: Iterable[Any]) -> str:
    """A digest of arrays, numbers and strings in this order."""
    digest = _Digest()
    digest.add(*values)
    return digest.name()


def of_inputs(scene: bpy.types.Scene) -> str:
    """A digest of the settings, meshes, transforms and animations of all bodies, colliders and fields."""
    digest = _Digest()
    settings, render = scene.softpressure, scene.render
    gravity = scene.gravity[:] if scene.use_gravity else (0.0, 0.0, 0.0)
    animated = actions.animated_paths(scene)
    own = {name for name in parameters.animated(parameters.SCENE) if f"softpressure.{name}" in animated}
    keyed = animated & _GRAVITY
    digest.add(_substeps(settings), _STEP_ERROR, *(getattr(settings, name) for name in _SCENE))
    digest.add(*_added(settings, own), None if keyed else gravity)
    if keyed | own:
        _add_animation(digest, scene, keyed | {f"softpressure.{name}" for name in own})
    digest.add(render.fps, render.fps_base)
    if render.frame_map_old != render.frame_map_new:  # caches of other scenes stay valid
        digest.add("stretch", render.frame_map_old / render.frame_map_new)
    metres = units.metres_per_unit(scene)
    if metres != 1.0:  # caches of other scenes stay valid
        digest.add(metres)
    bodies = [obj for obj in scene.objects if obj.softpressure.kind != "NONE" and _takes_part(obj)]
    fields = {obj.session_uid: _of_field(obj) for obj in effectors.acting(scene.objects)}
    names = {obj.session_uid: _of_body(obj, fields) for obj in bodies}
    digest.add(sorted(names[obj.session_uid] + _of_target(obj, names) + _of_ignored(obj, names) for obj in bodies))
    if links := sorted(_of_hose(obj, names) for obj in hoses.of_scene(scene)):
        digest.add(links)  # caches of scenes without any stay valid
    return digest.name()


def _substeps(settings: Any) -> int:
    """The substeps of a scene, where its method takes them; else their default."""
    parameter = parameters.named("substeps")
    return int(settings.substeps if parameters.counts_in_scene(parameter, settings) else parameter.default)


def _added(settings: Any, animated: set[str]) -> list[Any]:
    """Settings of a scene that came later: added mass where the method adds it, others where they are not the default.

    So caches of earlier versions stay valid. Those that are animated are left out.
    """
    found = []
    for each in parameters.of_body(parameters.SCENE):
        if each.name in animated:
            continue
        value = getattr(settings, each.name)
        is_told = parameters.counts_in_scene(each, settings) if each.name == "added_mass" else value != each.default
        if each.is_dated and each.name not in (*_SCENE, "substeps") and is_told:
            found += [value] if each.name == "added_mass" else [each.name, value]
    return found


def of_model(scene: bpy.types.Scene) -> str:
    """A digest of what a model and its world are made from, for as long as the file is open.

    It leaves out what is read in each frame, and where bodies are.
    """
    digest = _Digest()
    settings = scene.softpressure
    made_of = (each.name for each in parameters.of_body(parameters.SCENE) if not each.is_animated)
    digest.add(units.metres_per_unit(scene), *(getattr(settings, name) for name in made_of))
    for obj in sorted(scene.objects, key=lambda obj: obj.session_uid):
        if obj.softpressure.kind == "NONE" or not _takes_part(obj):
            continue
        own = obj.softpressure
        digest.add(obj.session_uid, own.kind, touching.accepted(obj))
        for name in _counting(obj):
            digest.add(name, None if parameters.named(name).is_animated else _plain(getattr(own, name)))
        if own.kind == "SOFT":
            digest.add(own.body_type, getattr(own.attach_to, "session_uid", 0), own.goal_stiffness, own.goal_damping)
            digest.add(own.pin_group, own.attach_group, own.goal_group)
            digest.add(getattr(own.cage_object, "session_uid", 0))
        _add_mesh(digest, obj)
    return digest.name()


def _takes_part(obj: bpy.types.Object) -> bool:
    """Whether an object that has a kind is one that can have it."""
    return obj.type == "MESH" or (obj.softpressure.kind == "COLLIDER" and instances.is_collection(obj))


def of_mesh(obj: bpy.types.Object) -> str:
    """A digest of an object's own mesh: its rest shape and its faces."""
    digest = _Digest()
    _add_mesh(digest, obj)
    return digest.name()


def reached(obj: bpy.types.Object) -> set[int]:
    """`session_uid` of the objects that the place and shape of an object depend on, itself included."""
    digest = _Digest()
    keys = getattr(obj.data, "shape_keys", None)  # an empty has no data
    if keys is not None:
        _add_animation(digest, keys)
    _add_object(digest, obj)
    return set(digest.visited)


def _of_body(obj: bpy.types.Object, fields: dict[int, str]) -> str:
    """A digest of the settings, mesh, transform and animation of a body, without its attachment.

    `fields`: digests of the force fields of its scene by `session_uid`.
    """
    digest, kind = _Digest(), obj.softpressure.kind
    animated = actions.animated_paths(obj)
    digest.add(kind)
    for name in (*_counting(obj), *_ALSO[kind]):
        digest.add(None if f"softpressure.{name}" in animated else _plain(getattr(obj.softpressure, name)))
    # what leads in place of a default, and of gas and liquid what is none; without any nothing is added: caches of
    # earlier versions stay valid
    others = [parameter.name for parameter in parameters.PARAMETERS if parameters.is_other(parameter)]
    if kind == "SOFT":
        if obj.softpressure.simulation_mesh == "CUSTOM" and obj.softpressure.cage_object is not None:
            _add_mesh(digest, obj.softpressure.cage_object)
            _add_object(digest, obj.softpressure.cage_object)
        for parameter in parameters.groups("MEMBRANE")["FLUID"]:
            if (value := getattr(obj.softpressure, parameter.name)) != parameter.default:
                digest.add(parameter.name, value)
    if leading := sorted(set(others) & set(_counting(obj))):
        digest.add(*leading)
    if kind != "COLLIDER":
        _add_forces(digest, obj, animated, fields)
    _add_mesh(digest, obj)
    _add_object(digest, obj)
    return digest.name()


def _counting(obj: bpy.types.Object) -> list[str]:
    """The declared settings that count for a body; of a soft one for any type, as its type dates a cache as well."""
    kinds = set(parameters.SOFT) if obj.softpressure.kind == "SOFT" else {obj.softpressure.kind}
    return [
        parameter.name
        for parameter in parameters.PARAMETERS
        if parameter.name not in parameters.GIVEN
        and parameter.group != "FLUID"
        and (bodies := kinds & set(parameter.bodies))
        and all(parameters.counts(parameter, body, obj.softpressure) for body in bodies)
    ]


def _add_forces(digest: "_Digest", obj: bpy.types.Object, animated: set[str], fields: dict[int, str]) -> None:
    """Add external forces on a body. Without any nothing is added: caches of earlier versions stay valid."""
    settings = obj.softpressure

    def add(*names: str) -> None:
        digest.add(*(name if f"softpressure.{name}" in animated else getattr(settings, name) for name in names))

    if "softpressure.weight_gravity" in animated or settings.weight_gravity != 1.0:
        add("weight_gravity")
    if settings.kind == "SOFT" and settings.goal_group:
        add("goal_group", "goal_stiffness", "goal_damping")
        digest.add(*mesh_io.group_weights(obj, settings.goal_group))
    for name in ("weak_group", "pressure_group", "tie_group"):
        if settings.kind == "SOFT" and getattr(settings, name):
            add(name)
            digest.add(*mesh_io.group_weights(obj, getattr(settings, name)))
    members = effectors.members(obj) if fields else None
    acting = [name for uid, name in fields.items() if uid != obj.session_uid and (members is None or uid in members)]
    if acting:
        digest.add(sorted(acting))
        add(*effectors.ALL_WEIGHTS[1:])


def _of_field(obj: bpy.types.Object) -> str:
    """A digest of a force field, its place and its animation."""
    digest = _Digest()
    animated = actions.animated_paths(obj)
    for name in effectors.SETTINGS:
        # a setting is stored once under each of its names
        is_animated = any(f"field.{alias}" in animated for alias in (name, effectors.ALIASES.get(name, name)))
        digest.add(name, None if is_animated else getattr(obj.field, name))
    digest.add(None if "hide_viewport" in animated else obj.hide_viewport)
    _add_object(digest, obj)
    return digest.name()


def _of_hose(obj: bpy.types.Object, names: dict[int, str]) -> str:
    """A digest of a hose: its bodies, its conductance, and its valve or what moves that."""
    digest, animated = _Digest(), hoses.animated_paths(obj)
    digest.add([names.get(end.session_uid, "no body") if end is not None else "" for end in hoses.ends(obj)])
    digest.add(obj.softpressure.conductance)
    digest.add(None if "softpressure.valve" in animated else obj.softpressure.valve)
    digest.add(None if "hide_viewport" in animated else obj.hide_viewport)
    _add_animation(digest, obj, animated)
    return digest.name()


def _of_target(obj: bpy.types.Object, names: dict[int, str]) -> str:
    """The digest of the object that a soft body is attached to; empty if there is none."""
    target = obj.softpressure.attach_to if obj.softpressure.kind == "SOFT" else None
    return "" if target is None else names.get(target.session_uid, "no body")


def _of_ignored(obj: bpy.types.Object, names: dict[int, str]) -> str:
    """The digests of the bodies that a body has no contact with, in any order; mostly none."""
    accepted = touching.accepted(obj)
    if accepted is None:
        return ""
    return " ".join(sorted(name for uid, name in names.items() if uid not in accepted and uid != obj.session_uid))


def _plain(value: Any) -> Any:
    """A setting as a value with a unique `repr`."""
    return value if isinstance(value, (str, float, int)) else tuple(value)


class _Digest:
    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=16)
        self.visited: dict[int, int] = {}  # number of each object that was added, by its `session_uid`

    def add(self, *values: Any) -> None:
        for value in values:
            if isinstance(value, np.ndarray):
                self._hash.update(repr((value.shape, str(value.dtype))).encode())
                self._hash.update(np.ascontiguousarray(value).data)
            else:
                self._hash.update(repr(value).encode() + b"\0")

    def name(self) -> str:
        return self._hash.hexdigest()


def _add_mesh(digest: _Digest, obj: bpy.types.Object) -> None:
    if obj.type != "MESH":  # instances
        for member in instances.members(obj):
            if member.type == "MESH":
                _add_mesh(digest, member)
            _add_object(digest, member)
        return
    mesh, keys = obj.data, obj.data.shape_keys
    if keys is not None:
        digest.add(mesh_io.read_key(keys.reference_key))
    elif "position" in mesh.attributes:  # not in edit mode
        digest.add(mesh_io.read_local(mesh))
    if ".corner_vert" in mesh.attributes:
        corners: NDArray[np.int32] = np.empty(len(mesh.loops), np.int32)
        mesh.attributes[".corner_vert"].data.foreach_get("value", corners)
        digest.add(corners)
    digest.add(len(mesh.polygons))
    if ".edge_verts" in mesh.attributes and not len(mesh.polygons):
        ends: NDArray[np.int32] = np.empty(2 * len(mesh.edges), np.int32)
        mesh.edges.foreach_get("vertices", ends)
        digest.add(ends)
    for key in stages.mixed_keys(obj) if obj.softpressure.kind == "SOFT" else ():
        path = f'key_blocks["{key.name}"].value'
        is_animated = bool(_add_animation(digest, keys, {path}) & {path})
        digest.add(key.name, key.relative_key.name, None if is_animated else key.value, mesh_io.read_key(key))
        digest.add(*mesh_io.group_weights(obj, key.vertex_group))
    if keys is not None and obj.softpressure.kind != "SOFT":
        _add_animation(digest, keys)
        for key in keys.key_blocks:
            digest.add(key.name, key.mute)


def _add_object(digest: _Digest, obj: bpy.types.Object) -> None:
    """Add the place of an object and what it depends on: transform or its animation, parents, constraints,
    modifiers.
    """
    was_visited = obj.session_uid in digest.visited
    number = digest.visited.setdefault(obj.session_uid, len(digest.visited))
    digest.add(number, obj.type, len(obj.data.vertices) if obj.type == "MESH" else 0)
    if was_visited:
        return
    animated = _add_animation(digest, obj)
    if not any(path.startswith(_TRANSFORMS) for path in animated):
        digest.add(np.array(obj.matrix_basis))
    if obj.pose is not None and not animated:
        digest.add(*(np.array(bone.matrix_basis) for bone in obj.pose.bones))
    if obj.parent is not None:
        digest.add(np.array(obj.matrix_parent_inverse), obj.parent_type, obj.parent_bone)
        _add_object(digest, obj.parent)
    for index, constraint in enumerate(each for each in obj.constraints if not hold.is_ours(each)):
        _add_values(digest, constraint, f'constraints["{constraint.name}"]', animated, index)
    for index, modifier, is_shown in stages.shaping_modifiers(obj):
        digest.add(is_shown)
        _add_values(digest, modifier, f'modifiers["{modifier.name}"]', animated, index)


def _add_animation(digest: _Digest, owner: DataBlock, paths: set[str] | None = None) -> set[str]:
    """The curves and drivers of a data-block, or those of some paths; returns the paths of all."""
    for curve in actions.curves(owner):
        if paths is not None and curve.data_path not in paths:
            continue
        values: NDArray[np.float32] = np.empty(2 * len(curve.keyframe_points), np.float32)
        for name in ("co", "handle_left", "handle_right"):
            curve.keyframe_points.foreach_get(name, values)
            digest.add(values)
        digest.add(curve.data_path, curve.array_index, curve.mute, curve.extrapolation)
        digest.add([point.interpolation for point in curve.keyframe_points])
    for curve in actions.drivers(owner):
        if paths is not None and curve.data_path not in paths:
            continue
        digest.add(curve.data_path, curve.array_index, curve.driver.type, curve.driver.expression)
        for target in [target for variable in curve.driver.variables for target in variable.targets]:
            digest.add(target.data_path, target.transform_type)
            if isinstance(target.id, bpy.types.Object):
                _add_object(digest, target.id)
    return actions.animated_paths(owner)


def _add_values(digest: _Digest, item: Any, path: str, animated: set[str], index: int) -> None:
    """The plain values of a modifier or constraint, and the objects it points to."""
    digest.add(index, item.type)
    for prop in item.bl_rna.properties:
        name = prop.identifier
        if name in _SKIPPED_VALUES or prop.is_readonly or f"{path}.{name}" in animated:
            continue
        if prop.type == "POINTER":
            target = getattr(item, name)
            if isinstance(target, bpy.types.Object):
                _add_object(digest, target)
        elif prop.type != "COLLECTION":
            value = getattr(item, name)
            is_array = getattr(prop, "is_array", False)
            digest.add(name, np.array(value).tolist() if is_array else str(value))
