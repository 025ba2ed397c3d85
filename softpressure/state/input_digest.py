"""The digest of everything that a simulation depends on, by which a cache is recognised as out of date.

Read from the file's data, never from evaluated data: the digest must not change with the current frame. It does not
depend on object names or their order. Animated values count with their keyframes instead of their present value.
Geometry that modifiers or drivers make differently is detected when the timeline passes the first frame, by
`of_arrays`.
"""

from functools import cache, partial
from typing import Any

import bpy

from ...core import parameters
from ..scene_io import actions, collision_filter, digests, effectors, hoses, instances, mesh_io, units
from . import memos

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
#: Settings that count in place of a default.
_OTHERS = {parameter.name for parameter in parameters.PARAMETERS if parameters.is_other(parameter)}


def of_inputs(scene: bpy.types.Scene, known: memos.ObjectMemo | None = None) -> str:
    """A digest of the settings, meshes, transforms and animations of all bodies, colliders and fields.

    known: keeps the digest of each body.
    """
    known = known or memos.ObjectMemo(scene)
    digest = digests.Digest()
    settings, render = scene.softpressure, scene.render
    gravity = scene.gravity[:] if scene.use_gravity else (0.0, 0.0, 0.0)
    animated = actions.animated_paths(scene)
    own = {name for name in parameters.animated(parameters.SCENE) if f"softpressure.{name}" in animated}
    keyed = animated & _GRAVITY
    digest.add(_substeps(settings), _STEP_ERROR, *(getattr(settings, name) for name in _SCENE))
    digest.add(*_added(settings, own), None if keyed else gravity)
    if keyed | own:
        digests.add_animation(digest, scene, keyed | {f"softpressure.{name}" for name in own})
    digest.add(render.fps, render.fps_base)
    if render.frame_map_old != render.frame_map_new:  # caches of other scenes stay valid
        digest.add("stretch", render.frame_map_old / render.frame_map_new)
    metres = units.metres_per_unit(scene)
    if metres != 1.0:  # caches of other scenes stay valid
        digest.add(metres)
    bodies = [obj for obj in scene.objects if obj.softpressure.kind != "NONE" and _takes_part(obj)]
    fields, meshes = {obj: _of_field(obj) for obj in effectors.acting(effectors.enabled(scene))}, dict[Any, str]()
    acting = frozenset(obj.session_uid for obj in fields)
    names = {
        obj.session_uid: known.get(scene, ("digest", obj.session_uid, acting), partial(_of_body, obj, fields, meshes))
        for obj in bodies
    }
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
    digest = digests.Digest()
    settings = scene.softpressure
    made_of = (each.name for each in parameters.of_body(parameters.SCENE) if not each.is_animated)
    digest.add(units.metres_per_unit(scene), *(getattr(settings, name) for name in made_of))
    for obj in sorted(scene.objects, key=lambda obj: obj.session_uid):
        if obj.softpressure.kind == "NONE" or not _takes_part(obj):
            continue
        own = obj.softpressure
        digest.add(obj.session_uid, own.kind, collision_filter.accepted(obj))
        for name in _counting(obj):
            digest.add(name, None if parameters.named(name).is_animated else _plain(getattr(own, name)))
        if own.kind == "SOFT":
            digest.add(own.body_type, getattr(own.attach_to, "session_uid", 0), own.goal_stiffness, own.goal_damping)
            digest.add(own.pin_group, own.attach_group, own.goal_group)
            digest.add(getattr(own.cage_object, "session_uid", 0))
        digests.add_mesh(digest, obj)
    return digest.name()


def _takes_part(obj: bpy.types.Object) -> bool:
    """Whether an object that has a kind is one that can have it."""
    return obj.type == "MESH" or (obj.softpressure.kind == "COLLIDER" and instances.is_collection(obj))


def _of_body(
    obj: bpy.types.Object, fields: dict[bpy.types.Object, str], meshes: dict[bpy.types.Object, str]
) -> tuple[str, set[bpy.types.Object]]:
    """A digest of the settings, mesh, transform and animation of a body, without its attachment; what it depends on.

    `fields`: digests of the force fields of its scene; `meshes`: of the meshes that modifiers read, which grow.
    """
    digest, kind = digests.Digest(meshes), obj.softpressure.kind
    animated = actions.animated_paths(obj)
    digest.add(kind)
    counting = _counting(obj)
    for name in (*counting, *_ALSO[kind]):
        digest.add(None if f"softpressure.{name}" in animated else _plain(getattr(obj.softpressure, name)))
    # what leads in place of a default, and of gas and liquid what is none; without any nothing is added: caches of
    # earlier versions stay valid
    if kind == "SOFT":
        if obj.softpressure.simulation_mesh == "CUSTOM" and obj.softpressure.cage_object is not None:
            digests.add_mesh(digest, obj.softpressure.cage_object)
            digests.add_object(digest, obj.softpressure.cage_object)
        for parameter in parameters.groups("MEMBRANE")["FLUID"]:
            if (value := getattr(obj.softpressure, parameter.name)) != parameter.default:
                digest.add(parameter.name, value)
    if leading := sorted(_OTHERS.intersection(counting)):
        digest.add(*leading)
    if kind != "COLLIDER":
        _add_forces(digest, obj, animated, fields)
    digests.add_mesh(digest, obj)
    digests.add_object(digest, obj)
    return digest.name(), {*digest.visited, *fields}


def _counting(obj: bpy.types.Object) -> list[str]:
    """The declared settings that count for a body; of a soft one for any type, as its type dates a cache as well."""
    settings = obj.softpressure
    return [
        parameter.name
        for parameter, bodies in _declared(settings.kind)
        if all(parameters.counts(parameter, body, settings) for body in bodies)
    ]


@cache
def _declared(kind: str) -> list[tuple[parameters.Parameter, set[str]]]:
    """The declared settings of a kind of body but those of liquids, each with the types that have it."""
    kinds = set(parameters.SOFT) if kind == "SOFT" else {kind}
    each = ((parameter, kinds & set(parameter.bodies)) for parameter in parameters.PARAMETERS)
    return [
        (parameter, bodies)
        for parameter, bodies in each
        if bodies and parameter.name not in parameters.GIVEN and parameter.group != "FLUID"
    ]


def _add_forces(
    digest: digests.Digest, obj: bpy.types.Object, animated: set[str], fields: dict[bpy.types.Object, str]
) -> None:
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
    acting = [name for field, name in fields.items() if effectors.reaches(field, obj, members)]
    if acting:
        digest.add(sorted(acting))
        add(*effectors.ALL_WEIGHTS[1:])


def _of_field(obj: bpy.types.Object) -> str:
    """A digest of a force field, its place and its animation."""
    digest = digests.Digest()
    animated = actions.animated_paths(obj)
    for name in effectors.SETTINGS:
        # a setting is stored once under each of its names
        is_animated = any(f"field.{alias}" in animated for alias in (name, effectors.ALIASES.get(name, name)))
        digest.add(name, None if is_animated else getattr(obj.field, name))
    digest.add(None if "hide_viewport" in animated else obj.hide_viewport)
    digests.add_object(digest, obj)
    return digest.name()


def _of_hose(obj: bpy.types.Object, names: dict[int, str]) -> str:
    """A digest of a hose: its bodies, its conductance, and its valve or what moves that."""
    digest, animated = digests.Digest(), hoses.animated_paths(obj)
    digest.add([names.get(end.session_uid, "no body") if end is not None else "" for end in hoses.ends(obj)])
    digest.add(obj.softpressure.conductance)
    digest.add(None if "softpressure.valve" in animated else obj.softpressure.valve)
    digest.add(None if "hide_viewport" in animated else obj.hide_viewport)
    digests.add_animation(digest, obj, animated)
    return digest.name()


def _of_target(obj: bpy.types.Object, names: dict[int, str]) -> str:
    """The digest of the object that a soft body is attached to; empty if there is none."""
    target = obj.softpressure.attach_to if obj.softpressure.kind == "SOFT" else None
    return "" if target is None else names.get(target.session_uid, "no body")


def _of_ignored(obj: bpy.types.Object, names: dict[int, str]) -> str:
    """The digests of the bodies that a body has no contact with, in any order; mostly none."""
    accepted = collision_filter.accepted(obj)
    if accepted is None:
        return ""
    return " ".join(sorted(name for uid, name in names.items() if uid not in accepted and uid != obj.session_uid))


def _plain(value: Any) -> Any:
    """A setting as a value with a unique `repr`."""
    return value if isinstance(value, (str, float, int)) else tuple(value)
