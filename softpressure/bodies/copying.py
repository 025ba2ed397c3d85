"""Copies the settings of a body to other objects."""

from collections.abc import Iterable

import bpy

from ...core import SoftPressureError
from ..state import given_values
from . import object_checks, setup, wording

#: Of an object alone, or set before the others.
_OWN = {"rna_type", "name", "kind", "body_type"}
_GROUPS = ("pin_group", "attach_group", "goal_group", "weak_group", "pressure_group", "tie_group")


def copy_to(source: bpy.types.Object, targets: Iterable[bpy.types.Object]) -> tuple[list[str], list[str]]:
    """Make objects bodies like another one, with its settings. Returns notes and refusals, a sentence each."""
    notes, refusals = [], []
    for target in targets:
        try:
            notes.append(f"{target.name}: has the settings of {source.name}{_copy(source, target)}")
        except SoftPressureError as error:
            refusals.append(wording.of(error))
    return notes, refusals


def _copy(source: bpy.types.Object, target: bpy.types.Object) -> str:
    """Copy all settings; returns those that could not be copied, as the end of a sentence."""
    ours, theirs = source.softpressure, target.softpressure
    if theirs.is_baked:
        raise SoftPressureError(f"{target.name}: is baked. Free the bake before changing its settings.")
    object_checks.check(target, ours.kind, ours.body_type)
    theirs.body_type = ours.body_type
    theirs.kind = ours.kind
    missing = []
    with given_values.as_given():
        for prop in ours.bl_rna.properties:
            name = prop.identifier
            if prop.is_hidden or name in _OWN or (name == "attach_to" and ours.attach_to == target):
                continue
            if name in _GROUPS and getattr(ours, name) not in ("", *target.vertex_groups.keys()):
                missing.append(getattr(ours, name))
            elif ours.is_property_set(name):
                setattr(theirs, name, getattr(ours, name))
            else:
                theirs.property_unset(name)
        theirs.idle_values = ours.idle_values
    setup.on_kind_change(target)
    return f" except its vertex groups: it has no {' and no '.join(missing)}" if missing else ""
