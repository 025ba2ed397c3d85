"""Why hoses take no part, in sentences; computed from the present file, so that they end with their cause."""

from collections.abc import Iterator

import bpy

from ..scene_io import hoses


def problem(scene: bpy.types.Scene, obj: bpy.types.Object) -> str:
    """Why a hose takes no part; empty if it does."""
    one, other = hoses.ends(obj)
    for label, end in (("From", one), ("To", other)):
        if end is None:
            return f"{obj.name}: this hose has no body at the end {label}. Choose an inflated body, or delete the hose."
        if end.type != "MESH" or end.softpressure.kind != "SOFT" or scene not in end.users_scene:
            return (
                f"{obj.name}: this hose ends at {end.name}, which is not a soft body of this scene. "
                f"Choose an inflated body for {label}, or delete the hose."
            )
        if not hoses.has_gas(end):
            return f"{obj.name}: this hose ends at {end.name}, which has no gas. Choose an inflated body for {label}."
    if one == other:
        return f"{obj.name}: both ends of this hose are at one body. Choose two bodies."
    from . import validation

    refused = validation.problems(scene)
    for end in (one, other):
        if end is not None and end.session_uid in refused:
            return f"{obj.name}: this hose ends at {end.name}, which is skipped. Fix that, or delete the hose."
    return ""


def notes(scene: bpy.types.Scene) -> Iterator[str]:
    """Why hoses of a scene take no part, a sentence each."""
    yield from filter(None, (problem(scene, obj) for obj in hoses.of_scene(scene)))
