"""What a script or a key does in interactive play: grab, move and release a body, poke it, set a value.

A text has one act after another, each with the frame before which it is done:

    10 grab Ball 0 0 1; 20 move 0 0 3; 30 release; 40 poke Ball 1 0 0; 50 set Ball.gauge_pressure 3000

Places and directions are in the world, in Blender units; the point of the body that is grabbed is the one nearest to
the place. `set` takes a setting of a body, or of the scene as `scene.speed`. Names with spaces stand in quotes.
"""

import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import numpy as np

from ...core import parameters
from ...core.errors import ParameterError
from ..state import sessions

if TYPE_CHECKING:
    from .interactive import InteractivePlay

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
                f"Interactive: {part!r} is no act. Write a frame, then grab NAME X Y Z, move X Y Z, release, "
                "poke NAME X Y Z or set NAME.SETTING VALUE."
            ) from error
    return sorted(acts, key=lambda act: act.frame)


def perform(playing: "InteractivePlay", act: Act) -> None:
    """Do an act; raises `ParameterError` with a sentence where there is no such body or setting."""
    hand = playing.hand
    assert hand is not None
    if act.what == "set":
        _set(playing.scene, act)
    elif act.what == "release":
        hand.release()
    elif act.what == "move":
        hand.drag(act.values)
    else:
        (hand.grab_body if act.what == "grab" else hand.poke_body)(act.name, act.values)


def _set(scene: bpy.types.Scene, act: Act) -> None:
    owner, _, setting = act.name.rpartition(".")
    target: Any = scene if owner == "scene" else scene.objects.get(owner)
    if target is None or setting not in {each.name for each in parameters.PARAMETERS}:
        raise ParameterError(
            f"Interactive: there is no setting {act.name}. Write NAME.SETTING, as Ball.gauge_pressure."
        )
    default = parameters.named(setting).default
    value: Any = act.word if act.word else type(default)(act.values[0])
    try:
        setattr(target.softpressure, setting, value)
    except TypeError as error:
        raise ParameterError(f"Interactive: {act.name} {act.word or value}: {error}.") from error


def pump(playing: "InteractivePlay", active: bpy.types.Object | None, factor: float) -> str:
    """Multiply the pressure or the amount of gas of the skin that is grabbed, else of the active one, else of all.

    Returns what they have now; empty if there are none.
    """
    bodies, texts = sessions.objects(playing.scene, "SOFT"), []
    grabbed = "" if playing.hand is None else playing.hand.body_name
    for name in (grabbed, active.name if active is not None else ""):
        bodies = [obj for obj in bodies if obj.name == name] or bodies
    for obj in bodies:
        settings = obj.softpressure
        if settings.body_type not in parameters.SKINS:
            continue
        if settings.gas_by == "AMOUNT":
            settings.gas_amount *= factor
            texts.append(f"{obj.name}: {settings.gas_amount:,.4g} mol")
            continue
        pressure = factor * settings.gauge_pressure
        settings.gauge_pressure = max(pressure, settings.gauge_pressure + LEAST_PRESSURE) if factor > 1.0 else pressure
        texts.append(f"{obj.name}: {settings.gauge_pressure:,.4g} Pa")
    return ", ".join(texts)


def _is_number(word: str) -> bool:
    try:
        return bool(np.isfinite(float(word)))
    except ValueError:
        return False
