"""The cases of a sweep: every combination of the values that are given for settings, checked before anything runs."""

import difflib
import hashlib
import itertools
import json
import math
import re
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..scene_io import actions

#: What stands for the scenes with bodies in place of an object's name.
SCENE = "Scene"
#: Letters of a case's name before its digest: folders of it stay within the limits of file systems.
_LONGEST = 80
#: How *Copy Full Data Path* names an object or scene, perhaps without its quotes.
_COPIED = re.compile(r"""bpy\.data\.(objects|scenes)\[["']?(.+?)["']?\]\.(?:softpressure\.)?""")
#: A label such as `Ball.mass`, `Scene.substeps` or `Ball.velocity[2]`, and values such as `1..10:5`.
_LABEL, _RANGE = re.compile(r"(.+)\.(\w+)(?:\[(\d+)\])?"), re.compile(r"(.+)\.\.(.+):([2-9]|[1-9]\d+)")
_TRUTH = {"true": True, "1": True, "on": True, "false": False, "0": False, "off": False}


def find(scenes: list[bpy.types.Scene], label: str) -> tuple[list[Any], Any, int | None]:
    """Owners of a setting, its property and the component of a vector; raises `ValueError` with a sentence."""
    parts = _LABEL.fullmatch(label)
    assert parts is not None
    target, name, component = parts.groups()
    objects = {obj.name: obj for scene in reversed(scenes) for obj in scene.objects}
    found = list(scenes) if target == SCENE else [objects[target]] if target in objects else []
    if not found:
        names = sorted(name for name, obj in objects.items() if obj.type == "MESH")
        raise ValueError(f"{target}: no such object. {_meant(target, [*names, SCENE])}")
    own = found[0].softpressure.bl_rna.properties
    owners = [item.softpressure for item in found] if name in own else found
    prop = owners[0].bl_rna.properties.get(name)
    if prop is None or prop.is_readonly or prop.type not in {"FLOAT", "INT", "BOOLEAN", "ENUM"}:
        why = "no such setting" if prop is None else "takes neither a number nor a choice"
        raise ValueError(f"{target}.{name}: {why}. {_meant(name, [p.identifier for p in own if not p.is_hidden])}")
    if any((f"softpressure.{name}" if name in own else name) in actions.animated_paths(item) for item in found):
        raise ValueError(f"{label}: has keys or a driver, which replace its value. Remove them first.")
    length = getattr(prop, "array_length", 0)
    if length and not (component and int(component) < length):
        raise ValueError(f"{label}: is a vector. Give one of its {length} components, as {target}.{name}[0].")
    if component and not length:
        raise ValueError(f"{label}: is not a vector. Leave out [ ].")
    return owners, prop, int(component) if component else None


def _meant(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, 3, 0.5) or known[:12]
    return f"Did you mean {' or '.join(near)}?" if near else "The file has none."


def assign(scenes: list[bpy.types.Scene], label: str, value: Any) -> None:
    """Give a setting a value."""
    owners, prop, component = find(scenes, label)
    for owner in owners:
        if component is None:
            setattr(owner, prop.identifier, value)
        else:
            getattr(owner, prop.identifier)[component] = value


def read(scenes: list[bpy.types.Scene], text: str) -> tuple[str, list[Any]]:
    """Read `Object.property=values`, the setting as *Copy Full Data Path* gives it, too; its label, and the values.

    Raises `ValueError` with a sentence.
    """
    label, _, values = text.rpartition("=")
    label = _COPIED.sub(lambda found: f"{found[2] if found[1] == 'objects' else SCENE}.", label)
    if not values or not _LABEL.fullmatch(label):
        raise ValueError(
            f"{text!r} is not a setting; write it as --set Ball.gauge_pressure=500,2000 or Scene.substeps=5,10"
        )
    prop, parts = find(scenes, label)[1], [part.strip() for part in values.split(",")]
    if (limits := _RANGE.fullmatch(values)) and prop.type in {"FLOAT", "INT"}:
        first, last = (_number(label, limit) for limit in limits.groups()[:2])
        parts = [f"{value:.12g}" for value in np.linspace(first, last, int(limits[3]))]
    return label, [_value(prop, label, part) for part in parts]


def _value(prop: Any, label: str, text: str) -> Any:
    """One value of the property's type and within its bounds."""
    if prop.type in {"BOOLEAN", "ENUM"}:
        is_choice = prop.type == "ENUM"
        known = {item.identifier: item.identifier for item in prop.enum_items} if is_choice else _TRUTH
        try:
            return known[text if is_choice else text.lower()]
        except KeyError:
            raise ValueError(f"{label}: {text!r} is not a choice. Give one of {', '.join(known)}.") from None
    value = _number(label, text)
    if not prop.hard_min <= value <= prop.hard_max:
        raise ValueError(f"{label}: {text} is outside of its bounds, {prop.hard_min:g} to {prop.hard_max:g}.")
    if prop.type == "INT" and not value.is_integer():
        raise ValueError(f"{label}: {text} is not a whole number.")
    return int(value) if prop.type == "INT" else value


def _number(label: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{label}: {text!r} is not a number. Give a list as 1,2,5 or a range as 1..10:5")
    return value


def cases(scenes: list[bpy.types.Scene], texts: list[str], pairwise: bool) -> list[dict[str, Any]]:
    """The settings of each case: all combinations, or `pairwise` the first values of all, the second, and so on."""
    axes = [read(scenes, text) for text in texts]
    labels, lists = [label for label, _ in axes], [values for _, values in axes]
    if twice := {label for label in labels if labels.count(label) > 1}:
        raise ValueError(f"{min(twice)}: is given twice. Give all its values in one list.")
    if pairwise and len({len(values) for values in lists}) > 1:
        found = ", ".join(f"{label} has {len(values)}" for label, values in axes)
        raise ValueError(f"--zip takes lists of one length; {found} values.")
    rows = zip(*lists, strict=True) if pairwise else itertools.product(*lists)
    return [dict(zip(labels, row, strict=True)) for row in dict.fromkeys(rows)]


def plain(value: Any) -> str:
    """A value for people to read."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def digest_of(data: bytes, size: int = 16) -> str:
    """The digest of bytes."""
    return hashlib.blake2b(data, digest_size=size).hexdigest()


def plan(
    file: Path, scenes: list[bpy.types.Scene], texts: list[str], pairwise: bool, frames: tuple[int, int] | None
) -> dict[str, Any]:
    """The plan of a sweep of a file that is open, for `json`; raises `ValueError` with a sentence.

    The name of a case, also of its folder, depends on its settings alone; its digest on the file and the frames, too.
    """
    content, found = digest_of(file.read_bytes()), []
    for settings in cases(scenes, texts, pairwise):
        text = " ".join(f"{label}={plain(value)}" for label, value in settings.items())
        text = re.sub(r"[^A-Za-z0-9.=+-]+", "_", text)[:_LONGEST].strip("_.")
        ordered = sorted(settings.items())
        name = f"{text}-{digest_of(json.dumps(ordered).encode(), 4)}"
        digest = digest_of(json.dumps([content, ordered, frames]).encode())
        found.append({"name": name, "settings": settings, "digest": digest})
    return {"file": str(file.resolve()), "content": content, "frames": frames, "cases": found}
