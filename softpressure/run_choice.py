"""The choice of a run, stored in the scene: a file that is simulated elsewhere, without its cache, takes the same."""

import dataclasses
import json
from contextlib import suppress
from typing import TYPE_CHECKING

import bpy

from . import session

if TYPE_CHECKING:
    from ..core import Choice


def keep(scene: bpy.types.Scene, choice: "Choice | None", start: str, inputs: str) -> None:
    """Store the choice of a new run, with the fingerprints of its start and inputs."""
    made_for = [start, inputs]
    text = "" if choice is None else json.dumps({"for": made_for, "choice": dataclasses.asdict(choice)})
    if scene.softpressure.run_choice != text:
        scene.softpressure.run_choice = text


def kept(scene: bpy.types.Scene, start: str, inputs: str) -> "Choice | None":
    """The stored choice if it was made for the same shapes and settings."""
    choice, made_for = _read(scene)
    return choice if made_for == [start, inputs] else None


def last(scene: bpy.types.Scene) -> "Choice | None":
    """The choice of the last run, if it can be one of the scene's method."""
    choice = session.of(scene).choice or _read(scene)[0]
    return choice if choice is not None and choice.fits(scene.softpressure.solver) else None


def _read(scene: bpy.types.Scene) -> "tuple[Choice | None, list[str]]":
    text = scene.softpressure.run_choice
    if text:
        from ..core import Choice, ParameterError  # only files with a run pay for loading numba

        with suppress(KeyError, TypeError, ValueError, ParameterError):  # not written by this version
            found = json.loads(text)
            return Choice(**found["choice"]), found["for"]
    return None, []
