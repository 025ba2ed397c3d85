"""The cases of a sweep: every combination of the values that are given for settings, checked before anything runs."""

import difflib
import hashlib
import itertools
import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy

from ..scene_io import actions

#: What stands for the scenes with bodies in place of an object's name.
SCENE = "Scene"
#: Letters of a case's name before its digest: folders of it stay within the limits of file systems.
_LONGEST = 80
#: How *Copy Full Data Path* names an object or scene, perhaps without its quotes.
_COPIED = re.compile(r"""bpy\.data\.(objects|scenes)\[["']?(.+?)["']?\]\.(?:softpressure\.)?""")
_LABEL = re.compile(r"(.+)\.(\w+)(?:\[(\d+)\])?")
_TRUTH = {"true": True, "1": True, "on": True, "false": False, "0": False, "off": False}


@dataclass(frozen=True, slots=True)
class Setting:
    """A property by its label, such as `Ball.mass`, `Scene.substeps` or `Ball.velocity[2]`, in all that have it."""

    label: str
    owners: list[Any]
    prop: Any
    index: int | None

    def assign(self, value: Any) -> None:
        """Set it."""
        for owner in self.owners:
            if self.index is None:
                setattr(owner, self.prop.identifier, value)
            else:
                getattr(owner, self.prop.identifier)[self.index] = value


def setting(scenes: list[bpy.types.Scene], label: str) -> Setting:
    """Find a setting by its label in a file that is open; raises `ValueError` with a sentence."""
    parts = _LABEL.fullmatch(label)
    assert parts is not None
    target, name = parts[1], parts[2]
    named = [obj for scene in scenes for obj in scene.objects if obj.name == target][:1]
    found, owners = list(scenes) if target == SCENE else named, []
    if not found:
        names = sorted({obj.name for scene in scenes for obj in scene.objects if obj.type == "MESH"})
        raise ValueError(f"{target}: no such object. {_meant(target, [*names, SCENE])}")
    for item in found:
        own = item.softpressure.bl_rna.properties
        owners.append(item.softpressure if name in own else item)
        prop = owners[-1].bl_rna.properties.get(name)
        if prop is None or prop.is_readonly or prop.type not in {"FLOAT", "INT", "BOOLEAN", "ENUM"}:
            why = "no such setting" if prop is None else "takes neither a number nor a choice"
            raise ValueError(f"{target}.{name}: {why}. {_meant(name, [p.identifier for p in own if not p.is_hidden])}")
        if (f"softpressure.{name}" if name in own else name) in actions.animated_paths(item):
            raise ValueError(f"{label}: has keys or a driver, which replace its value. Remove them first.")
    index, length = None if parts[3] is None else int(parts[3]), getattr(prop, "array_length", 0)
    if length and (index is None or index >= length):
        raise ValueError(f"{label}: is a vector. Give one of its {length} components, as {target}.{name}[0].")
    if index is not None and not length:
        raise ValueError(f"{label}: is not a vector. Leave out [ ].")
    return Setting(label, owners, prop, index)


def _meant(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, 3, 0.5) or known[:12]
    return f"Did you mean {' or '.join(near)}?" if near else "The file has none."


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
    prop, parts = setting(scenes, label).prop, [part.strip() for part in values.split(",")]
    limits = re.fullmatch(r"(.+)\.\.(.+):(\d+)", values)
    if limits and prop.type in {"FLOAT", "INT"}:
        first, last, count = (_number(each, label) for each in limits.groups())
        if count < 2:
            raise ValueError(f"{label}: a range has at least two values; write it as 1..10:5")
        parts = [f"{first + (last - first) * step / (count - 1):.12g}" for step in range(int(count))]
    found = [_value(prop, label, part) for part in parts]
    if len({*found}) < len(found):
        raise ValueError(f"{label}: {values} has a value twice. Give each once.")
    return label, found


def _value(prop: Any, label: str, text: str) -> Any:
    """One value of the property's type and within its bounds."""
    if prop.type == "ENUM":
        known = [item.identifier for item in prop.enum_items]
        if text not in known:
            raise ValueError(f"{label}: {text!r} is not a choice. Give one of {', '.join(known)}.")
        return text
    if prop.type == "BOOLEAN":
        if text.lower() not in _TRUTH:
            raise ValueError(f"{label}: {text!r} is neither true nor false. Give one of them.")
        return _TRUTH[text.lower()]
    value = _number(text, label)
    if not prop.hard_min <= value <= prop.hard_max:
        raise ValueError(f"{label}: {text} is outside of its bounds, {prop.hard_min:g} to {prop.hard_max:g}.")
    if prop.type == "INT" and value != int(value):
        raise ValueError(f"{label}: {text} is not a whole number.")
    return int(value) if prop.type == "INT" else value


def _number(text: str, label: str) -> float:
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
    return [dict(zip(labels, row, strict=True)) for row in rows]


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
