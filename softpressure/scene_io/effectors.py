"""Blender's force fields: which act on which bodies, and which of their settings are not read."""

from collections.abc import Iterable, Iterator
from typing import Any

import bpy

#: Types of fields that act, and the weight of a body for each.
WEIGHTS = {
    "FORCE": "weight_force",
    "WIND": "weight_wind",
    "VORTEX": "weight_vortex",
    "TURBULENCE": "weight_turbulence",
    "DRAG": "weight_drag",
    "HARMONIC": "weight_harmonic",
}
#: All settings of a body about forces from outside.
ALL_WEIGHTS = ("weight_gravity", "weight_all", *WEIGHTS.values())
#: Settings of fields that are read, and other names of theirs.
SETTINGS = (
    *("type", "strength", "flow", "harmonic_damping", "size", "wind_factor", "noise", "seed", "shape", "z_direction"),
    *("falloff_type", "falloff_power", "use_min_distance", "distance_min", "use_max_distance", "distance_max"),
    *("radial_falloff", "use_radial_min", "radial_min", "use_radial_max", "radial_max"),
    *("use_gravity_falloff", "use_global_coords", "apply_to_location"),
)
ALIASES = {"strength": "linear_drag", "harmonic_damping": "quadratic_drag", "flow": "inflow", "size": "rest_length"}
#: Shapes that are read; others act from the object's centre.
SHAPES = ("POINT", "LINE", "PLANE")


def kind_of(obj: bpy.types.Object) -> str:
    """The type of an object's force field, NONE without one."""
    field: Any = obj.field
    return "NONE" if field is None else str(field.type)


def acting(objects: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Objects whose force field may act on bodies."""
    return [obj for obj in objects if kind_of(obj) in WEIGHTS]


def enabled(scene: bpy.types.Scene) -> Iterator[bpy.types.Object]:
    """The objects of a scene that no collection disables in viewports or leaves out of all view layers."""
    branches = [layer.layer_collection for layer in scene.view_layers]
    while branches:
        branch = branches.pop()
        if not branch.collection.hide_viewport:
            branches += branch.children
            yield from () if branch.exclude else branch.collection.objects


def reaches(field: bpy.types.Object, body: bpy.types.Object, members: set[int] | None) -> bool:
    """Whether a field acts on a body whose effector collection has these members, None for no collection.

    As everywhere in Blender, a field does not act on its own object.
    """
    return field.session_uid != body.session_uid and (members is None or field.session_uid in members)


def members(body: bpy.types.Object) -> set[int] | None:
    """`session_uid` of the objects in the effector collection of a body; None if it has none."""
    collection = body.softpressure.effector_collection
    return None if collection is None else {obj.session_uid for obj in collection.all_objects}


def notes(scene: bpy.types.Scene) -> Iterator[str]:
    """Force fields of a scene, or settings of them, that do not act, in sentences."""
    foreign: dict[str, list[str]] = {}
    particles = [
        each
        for each in bpy.data.particles
        if any(field is not None and field.type != "NONE" for field in (each.force_field_1, each.force_field_2))
    ]
    for obj in scene.objects if particles else ():
        if any(system.settings in particles for system in obj.particle_systems):
            foreign.setdefault("Particles", []).append(obj.name)
    for obj in scene.objects:
        kind = kind_of(obj)
        if kind not in WEIGHTS:
            if kind != "NONE":
                foreign.setdefault(_name(obj, "type"), []).append(obj.name)
            continue
        ignored = []
        if obj.field.shape not in SHAPES:
            ignored.append(f"the shape {_name(obj, 'shape')} (it acts from the object's centre)")
        ignored += ["Absorption"] if obj.field.use_absorption else []
        ignored += ["2D"] if obj.field.use_2d_force else []
        if ignored:
            yield f"{obj.name}: {' and '.join(ignored)} of its force field is not supported."
    if foreign:
        found = "; ".join(f"{kind} ({', '.join(sorted(names))})" for kind, names in sorted(foreign.items()))
        yield (
            f"Force fields that do not act on bodies: {found}. Use Force, Wind, Vortex, Turbulence, Drag or Harmonic."
        )


def _name(obj: bpy.types.Object, setting: str) -> str:
    """Label of the value of an enumeration."""
    field: Any = obj.field
    return str(field.bl_rna.properties[setting].enum_items[getattr(field, setting)].name)
