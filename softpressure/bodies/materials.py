"""Materials of soft bodies, kept as Blender keeps its presets: a small script each, in our folder or the user's. These
are read, not run.
"""

import ast
import functools
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...core.parameters import GIVEN, PARAMETERS
from ..state import given_values

#: Of the folders `presets`: where Blender looks for them, and writes those of the user.
SUBFOLDER = "softpressure"
#: The settings that are a body's material, in the order in which they are set. Sizes (thickness, cells, depth), groups
#: and motion belong to an object.
PROPERTIES = ("body_type", *(parameter.name for parameter in PARAMETERS if parameter.is_material))
#: What depends on an object's size, not on what it is made of.
_OF_SIZE = {"mass", "point_mass", "area_density"}
#: What a preset may set, in the order in which it is set: the mass of an area last, which gives that of the body.
SAVED = (*PROPERTIES, "area_density")
#: The preset of new bodies of jelly.
_JELLY = "Jelly"
#: What Blender writes at the top of a preset.
_HEAD = ("import bpy", "settings = bpy.context.object.softpressure")
_HERE = str(Path(__file__).resolve().parent)


def is_known(path: str) -> bool:
    """Whether a file is in a folder of presets of materials; no other is read."""
    folders = [Path(folder).resolve() for folder in bpy.utils.preset_paths(SUBFOLDER)]
    return Path(path).suffix == ".py" and Path(path).resolve().parent in folders


def about(path: str) -> str:
    """Description of a preset, its docstring without the full stop; empty if there is none."""
    with suppress(OSError, SyntaxError, ValueError):
        return (ast.get_docstring(ast.parse(Path(path).read_text(encoding="utf-8"))) or "").rstrip(".")
    return ""


def read(path: str) -> dict[str, Any]:
    """The settings that a preset holds. Raises `ValueError` with a sentence if it is no list of settings."""
    try:
        lines = ast.parse(Path(path).read_text(encoding="utf-8")).body
        texts = [ast.unparse(line) for line in lines]
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"cannot be read ({error})") from error
    found: dict[str, Any] = {}
    for line, text in zip(lines, texts, strict=True):
        is_head = text in _HEAD or (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))
        if is_head:
            continue
        target = line.targets[0] if isinstance(line, ast.Assign) and len(line.targets) == 1 else None
        if not isinstance(target, ast.Attribute) or ast.unparse(target) not in {f"settings.{name}" for name in SAVED}:
            raise ValueError(f"line {line.lineno} sets no setting of a material")
        try:
            found[target.attr] = ast.literal_eval(line.value)
        except (ValueError, TypeError, RecursionError, MemoryError) as error:
            raise ValueError(f"line {line.lineno} gives no plain value") from error
    return found


@functools.lru_cache
def _known(path: Path, _changed: int) -> dict[str, Any]:
    """The settings of a preset without those of an object's size; empty if it cannot be read."""
    try:
        found = read(str(path))
    except ValueError:
        return {}
    return {name: value for name, value in found.items() if name not in _OF_SIZE}


def name_of(settings: Any) -> str:
    """The preset whose values a body has, its mass aside: `Default` with those of a new body, else `Custom`."""
    for folder in bpy.utils.preset_paths(SUBFOLDER):
        for path in sorted(Path(folder).glob("*.py")):
            values = _known(path, path.stat().st_mtime_ns)
            if values and all(_is_same(getattr(settings, name), value) for name, value in values.items()):
                return str(bpy.path.display_name(path.name, title_case=False))
    return "Default" if not any(settings.is_property_set(name) for name in PROPERTIES[1:]) else "Custom"


def _is_same(ours: Any, theirs: Any) -> bool:
    return bool(np.float32(ours) == np.float32(theirs)) if isinstance(theirs, float) else ours == theirs


def begin(obj: bpy.types.Object, body_type: str) -> None:
    """Make an object a body of a type, with the values that suit it while its material was not chosen.

    Jelly has those of its preset; the others have the defaults.
    """
    settings = obj.softpressure
    is_chosen = name_of(settings) not in ("Default", _JELLY)
    settings.body_type = body_type
    if is_chosen:
        return
    for name in PROPERTIES[1:]:
        settings.property_unset(name)
    if body_type == "SOLID":
        path = Path(_HERE) / "presets" / SUBFOLDER / f"{_JELLY}.py"
        for name, value in _known(path, 0).items():
            setattr(settings, name, value)


def apply(obj: bpy.types.Object, path: str, menu: str, can_be: Callable[[bpy.types.Object, str], bool]) -> str:
    """Apply a material to the active soft body; returns a sentence on what was not changed, or an empty one.

    `can_be`: whether the mesh of an object can be a soft body of a type.

    The mass is that of the material for the area of the object's mesh, if it has any: of any size it looks like its
    name. A flat mesh cannot have the type of most presets, so it keeps its own. Raises `ValueError` if the preset is
    no list of settings, and then changes nothing; `TypeError` if a value is of a wrong type.
    """
    values = read(path)
    settings, before = obj.softpressure, obj.softpressure.body_type
    # a preset that does not say gives pressure, modulus and mass, and has no dampers
    with given_values.as_given():
        for parameter in (*GIVEN.values(), *(each for each in PARAMETERS if each.name == "spring_damping")):
            setattr(settings, parameter.name, parameter.default)
        for name in SAVED:
            if name in values:
                setattr(settings, name, values[name])
    getattr(bpy.types, menu).bl_label = bpy.path.display_name(Path(path).name, title_case=False)
    if settings.body_type == before or can_be(obj, settings.body_type) or not can_be(obj, before):
        return ""
    wanted, settings.body_type = settings.body_type, before
    types = settings.bl_rna.properties["body_type"].enum_items
    return f"{obj.name}: stays of type {types[before].name}, as its mesh cannot be {types[wanted].name}"


def register() -> None:
    """Let Blender find the presets that came with the extension."""
    bpy.utils.register_preset_path(_HERE)


def unregister() -> None:
    """Take them away again; those of the user stay."""
    bpy.utils.unregister_preset_path(_HERE)
