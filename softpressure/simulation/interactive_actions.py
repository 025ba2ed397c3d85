"""What a script or a key does to live play: grab, move and release a body, poke it, set a value.

A text has one act after another, each with the frame before which it is done:

    10 grab Ball 0 0 1; 20 move 0 0 3; 30 release; 40 poke Ball 1 0 0; 50 set Ball.gauge_pressure 3000

Places and directions are in the world, in Blender units; the point of the body that is grabbed is the one nearest to
the place. `set` takes a setting of a body, or of the scene as `scene.speed`. Names with spaces stand in quotes.
"""

import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import numpy as np

from ...core import parameters
from ...core.errors import ParameterError
from ..state import sessions

if TYPE_CHECKING:
    from .interactive import Live

#: Words of each act after its name: NAME, and numbers.
_WORDS = {"grab": 4, "move": 3, "release": 0, "poke": 4, "set": 2}
#: Pressure that a key adds at least, where there is none to multiply [Pa].
LEAST_PRESSURE = 10.0


class Act(NamedTuple):
    """One act of a script."""

    frame: int
    what: str
    name: str  # of the body or setting; empty for none
    values: tuple[float, ...]  # for `set` of a choice empty
    word: str  # of a choice


def parse(text: str) -> list[Act]:
    """The acts of a text, by frame; raises `ParameterError` with a sentence for one that is none."""
    acts = []
    for part in filter(None, map(str.strip, text.split(";"))):
        try:
            frame, what, *words = shlex.split(part)
            if len(words) != _WORDS[what]:
                raise ValueError(part)
            name = words.pop(0) if what not in ("move", "release") else ""
            is_word = what == "set" and not _is_number(words[0])
            values = () if is_word else tuple(float(word) for word in words)
            acts.append(Act(int(frame), what, name, values, words[0] if is_word else ""))
        except (ValueError, KeyError) as error:
            raise ParameterError(
                f"live play: {part!r} is no act. Write a frame, then grab NAME X Y Z, move X Y Z, release, "
                "poke NAME X Y Z or set NAME.SETTING VALUE."
            ) from error
    return sorted(acts, key=lambda act: act.frame)


def perform(playing: "Live", act: Act) -> None:
    """Do an act; raises `ParameterError` with a sentence where there is no such body or setting."""
    if act.what == "release":
        playing.release()
    elif act.what == "move":
        playing.drag(act.values)
    elif act.what == "set":
        _set(playing.scene, act)
    elif act.what == "grab":
        playing.grab_body(act.name, act.values)
    else:
        playing.poke_body(act.name, act.values)


def _set(scene: bpy.types.Scene, act: Act) -> None:
    owner, _, setting = act.name.rpartition(".")
    target: Any = scene if owner == "scene" else scene.objects.get(owner)
    if target is None or setting not in {each.name for each in parameters.PARAMETERS}:
        raise ParameterError(f"live play: there is no setting {act.name}. Write NAME.SETTING, as Ball.gauge_pressure.")
    default = parameters.named(setting).default
    value: Any = act.word if act.word else type(default)(act.values[0])
    try:
        setattr(target.softpressure, setting, value)
    except TypeError as error:
        raise ParameterError(f"live play: {act.name} {act.word or value}: {error}.") from error


def pump(objects: Iterable[bpy.types.Object], factor: float) -> str:
    """Multiply the pressure or the amount of gas of skins among objects; says what they have now, empty for none."""
    told = []
    for obj in objects:
        settings = obj.softpressure
        if settings.kind != "SOFT" or settings.body_type not in parameters.SKINS:
            continue
        if settings.gas_by == "AMOUNT":
            settings.gas_amount *= factor
            told.append(f"{obj.name}: {settings.gas_amount:,.4g} mol")
            continue
        pressure = factor * settings.gauge_pressure
        settings.gauge_pressure = max(pressure, settings.gauge_pressure + LEAST_PRESSURE) if factor > 1.0 else pressure
        told.append(f"{obj.name}: {settings.gauge_pressure:,.4g} Pa")
    return ", ".join(told)


def pumped(playing: "Live", active: bpy.types.Object | None) -> list[bpy.types.Object]:
    """The bodies that a key pumps: the one that is held, else the active one, else all."""
    bodies = sessions.objects(playing.scene, "SOFT")
    for name in (playing.held_name(), active.name if active is not None else ""):
        if chosen := [obj for obj in bodies if obj.name == name]:
            return chosen
    return list(bodies)


def _is_number(word: str) -> bool:
    try:
        return bool(np.isfinite(float(word)))
    except ValueError:
        return False
