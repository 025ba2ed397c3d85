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
_TRUTH = {"true": True, "1": True, "on": True, "false": False, "0": False, "off": False}


@dataclass(frozen=True, slots=True)
class Axis:
    """A setting and its values. `index`: the component of a vector."""

    target: str
    name: str
    index: int | None
    values: tuple[Any, ...]

    @property
    def label(self) -> str:
        """The setting, as it is given."""
        return f"{self.target}.{self.name}" + ("" if self.index is None else f"[{self.index}]")


def read_axis(scenes: list[bpy.types.Scene], text: str) -> Axis:
    """Read `Object.property=values`, for a file that is open; raises `ValueError` with a sentence.

    The setting may be as *Copy Full Data Path* gives it, too.
    """
    label, equals, values = text.rpartition("=")
    label = _COPIED.sub(lambda found: f"{found[2] if found[1] == 'objects' else SCENE}.", label)
    target, _, name = label.rpartition(".")
    name, bracket, index = name.partition("[")
    if not (equals and target and name and values) or (bracket and not re.fullmatch(r"\d+\]", index)):
        raise ValueError(
            f"{text!r} is not a setting; write it as --set Ball.gauge_pressure=500,2000 or Scene.substeps=5,10"
        )
    number = int(index[:-1]) if bracket else None
    for owner in owners(scenes, target):
        prop = _property(owner, target, name)
        path = name if group_of(owner, name) is owner else f"softpressure.{name}"
        if path in actions.animated_paths(owner):
            raise ValueError(f"{label}: has keys or a driver, which replace its value. Remove them first.")
    return Axis(target, name, number, tuple(_values(prop, label, number, values)))


def owners(scenes: list[bpy.types.Scene], target: str) -> list[Any]:
    """The scenes or the object that a name stands for; raises `ValueError` if there is none."""
    if target == SCENE:
        return list(scenes)
    found = [obj for scene in scenes for obj in scene.objects if obj.name == target]
    if not found:
        names = sorted({obj.name for scene in scenes for obj in scene.objects if obj.type == "MESH"})
        raise ValueError(f"{target}: no such object. {_meant(target, [*names, SCENE])}")
    return found[:1]


def group_of(owner: Any, name: str) -> Any:
    """What has a property: this extension's settings of an object or scene, or that itself."""
    return owner.softpressure if name in owner.softpressure.bl_rna.properties else owner


def assign(scenes: list[bpy.types.Scene], settings: dict[str, Any]) -> None:
    """Set each setting, by its label, to its value."""
    for label, value in settings.items():
        target, _, name = label.rpartition(".")
        name, bracket, index = name.partition("[")
        for owner in owners(scenes, target):
            group = group_of(owner, name)
            if bracket:
                getattr(group, name)[int(index[:-1])] = value
            else:
                setattr(group, name, value)


def cases(axes: list[Axis], pairwise: bool) -> list[dict[str, Any]]:
    """The settings of each case: all combinations, or `pairwise` the first values of all, the second, and so on."""
    labels = [axis.label for axis in axes]
    if len({*labels}) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise ValueError(f"{twice}: is given twice. Give all its values in one list.")
    lengths = {axis.label: len(axis.values) for axis in axes}
    if pairwise and len({*lengths.values()}) > 1:
        found = ", ".join(f"{label} has {count}" for label, count in lengths.items())
        raise ValueError(f"--zip takes lists of one length; {found} values.")
    rows = (
        zip(*(axis.values for axis in axes), strict=True)
        if pairwise
        else itertools.product(*(axis.values for axis in axes))
    )
    return [dict(zip(labels, row, strict=True)) for row in rows]


def name_of(settings: dict[str, Any]) -> str:
    """The name of a case, also of its folder: it depends on its settings alone."""
    text = " ".join(f"{label}={_plain(value)}" for label, value in settings.items())
    digest = hashlib.blake2b(json.dumps(sorted(settings.items())).encode(), digest_size=4).hexdigest()
    return f"{re.sub(r'[^A-Za-z0-9.=+-]+', '_', text)[:_LONGEST].strip('_.')}-{digest}"


def content_of(file: Path) -> str:
    """The digest of a file."""
    return hashlib.blake2b(file.read_bytes(), digest_size=16).hexdigest()


def plan(
    file: Path, scenes: list[bpy.types.Scene], texts: list[str], pairwise: bool, frames: tuple[int, int] | None
) -> dict[str, Any]:
    """The plan of a sweep of a file that is open, for `json`; raises `ValueError` with a sentence."""
    axes = [read_axis(scenes, text) for text in texts]
    content, found = content_of(file), []
    for settings in cases(axes, pairwise):
        inputs = json.dumps([content, sorted(settings.items()), frames]).encode()
        digest = hashlib.blake2b(inputs, digest_size=16).hexdigest()
        found.append({"name": name_of(settings), "settings": settings, "digest": digest})
    return {"file": str(file.resolve()), "content": content, "frames": frames, "cases": found}


def _property(owner: Any, target: str, name: str) -> Any:
    """The declaration of a property that can be set."""
    prop = group_of(owner, name).bl_rna.properties.get(name)
    if prop is None or prop.is_readonly or prop.type not in {"FLOAT", "INT", "BOOLEAN", "ENUM"}:
        names = [each.identifier for each in owner.softpressure.bl_rna.properties if not each.is_hidden]
        why = "no such setting" if prop is None else "takes neither a number nor a choice"
        raise ValueError(f"{target}.{name}: {why}. {_meant(name, names)}")
    return prop


def _meant(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, 3, 0.5) or known[:12]
    return f"Did you mean {' or '.join(near)}?" if near else "The file has none."


def _values(prop: Any, label: str, index: int | None, text: str) -> list[Any]:
    """Values of a list or range, checked against what the property takes."""
    length = getattr(prop, "array_length", 0)
    if (index is None) != (not length) or (index is not None and index >= length):
        remedy = f"Give one of its {length} components, as {label.partition('[')[0]}[0]" if length else "Leave out [ ]"
        raise ValueError(f"{label}: {'is a vector' if length else 'is not a vector'}. {remedy}.")
    pattern = re.fullmatch(r"(.+)\.\.(.+):(\d+)", text)
    if pattern and prop.type in {"FLOAT", "INT"}:
        first, last, count = (_number(each, label) for each in pattern.groups())
        if count < 2:
            raise ValueError(f"{label}: a range has at least two values; write it as 1..10:5")
        parts = [f"{first + (last - first) * step / (count - 1):.12g}" for step in range(int(count))]
    else:
        parts = [part.strip() for part in text.split(",")]
    found = [_value(prop, label, part) for part in parts]
    if len({*found}) < len(found):
        raise ValueError(f"{label}: {text} has a value twice. Give each once.")
    return found


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
    if prop.type == "FLOAT":
        return value
    if value != int(value):
        raise ValueError(f"{label}: {text} is not a whole number.")
    return int(value)


def _number(text: str, label: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{label}: {text!r} is not a number. Give a list as 1,2,5 or a range as 1..10:5")
    return value


def _plain(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
