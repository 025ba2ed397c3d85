"""Materials of soft bodies, kept as Blender keeps its presets: a small script each, in our folder or the user's."""

import ast
from contextlib import suppress
from pathlib import Path

import bpy

from ..core.parameters import GIVEN, PARAMETERS

#: Of the folders `presets`: where Blender looks for them, and writes those of the user.
SUBFOLDER = "softpressure"
#: The settings that are a body's material, in the order in which they are set. Sizes (thickness, cells, depth), groups
#: and motion belong to an object.
PROPERTIES = ("body_type", *(parameter.name for parameter in PARAMETERS if parameter.is_material))
_HERE = str(Path(__file__).resolve().parent)


def is_known(path: str) -> bool:
    """Whether a file is in a folder of presets of materials; no other is run."""
    folders = [Path(folder).resolve() for folder in bpy.utils.preset_paths(SUBFOLDER)]
    return Path(path).suffix == ".py" and Path(path).resolve().parent in folders


def about(path: str) -> str:
    """Description of a preset, its docstring without the full stop; empty if there is none."""
    with suppress(OSError, SyntaxError, ValueError):
        return (ast.get_docstring(ast.parse(Path(path).read_text(encoding="utf-8"))) or "").rstrip(".")
    return ""


def apply(obj: bpy.types.Object, path: str, menu: str) -> str:
    """Apply a material to the active soft body; returns a sentence on what was not changed, or an empty one.

    A flat mesh cannot have the type of most presets, so it keeps its own. Raises `RuntimeError` if the preset has an
    error.
    """
    settings, before = obj.softpressure, obj.softpressure.body_type
    # a preset that does not say gives pressure, modulus and mass, and has no dampers
    for parameter in (*GIVEN.values(), *(each for each in PARAMETERS if each.name == "spring_damping")):
        setattr(settings, parameter.name, parameter.default)
    bpy.ops.script.execute_preset(filepath=path, menu_idname=menu)
    if settings.body_type == before or _can_be(obj, settings.body_type) or not _can_be(obj, before):
        return ""
    wanted, settings.body_type = settings.body_type, before
    types = settings.bl_rna.properties["body_type"].enum_items
    return f"{obj.name}: stays of type {types[before].name}, as its mesh cannot be {types[wanted].name}"


def _can_be(obj: bpy.types.Object, body_type: str) -> bool:
    """Whether the mesh of an object can be a soft body of a type."""
    from ..core import SoftPressureError
    from . import bodies

    try:
        bodies.check(obj, "SOFT", body_type)
    except SoftPressureError:
        return False
    return True


def register() -> None:
    """Let Blender find the presets that came with the extension."""
    bpy.utils.register_preset_path(_HERE)


def unregister() -> None:
    """Take them away again; those of the user stay."""
    bpy.utils.unregister_preset_path(_HERE)
