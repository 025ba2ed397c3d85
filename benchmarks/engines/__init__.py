"""The engines, each behind the same few names; none is imported before it is asked for.

An engine's class takes a scene and the number of threads; `advance()` goes one frame on, `soft()` gives the positions
[m] of the soft bodies, `rigid()` centres [m] and rotation matrices of the rigid ones, `settings` says in a few words
what differs from the engine's defaults.
"""

import importlib
import importlib.util
from typing import NamedTuple


class Engine(NamedTuple):
    """Where an engine is, and what it can do."""

    label: str
    module: str
    maker: str
    needs: str  # the Python package that must be installed, "" for none
    scenes: tuple  # names of the scenes it can do at all


SOFT = ("drop", "pair", "box8", "torus", "suzanne")
ENGINES = {
    "explicit": Engine("Soft Pressure", "ours", "Explicit", "", (*SOFT, "stack", "crate")),
    "xpbd": Engine("Soft Pressure, XPBD", "ours", "Xpbd", "", (*SOFT, "crate")),
    "cloth": Engine("Blender Cloth + Pressure", "blender", "Cloth", "bpy", (*SOFT, "crate")),
    "cloth_own": Engine("Blender Cloth + Pressure, self-collision", "blender", "OwnCloth", "bpy", ("torus", "suzanne")),
    "softbody": Engine("Blender Soft Body", "blender", "SoftBody", "bpy", ("drop", "pair")),
    "blender_rigid": Engine("Blender Rigid Body", "blender", "Rigid", "bpy", ("stack",)),
    "rapier": Engine("Rapier", "rapier", "Rapier", "rapier3d", (*SOFT, "stack", "crate")),
    "pybullet": Engine("PyBullet", "bullet", "Bullet", "pybullet", ("stack",)),
}


def installed(name):
    """Whether an engine can be used here."""
    needs = ENGINES[name].needs
    return not needs or importlib.util.find_spec(needs) is not None


def make(name, scene, threads):
    """The engine of this name with the scene built in it."""
    engine = ENGINES[name]
    return getattr(importlib.import_module(f".{engine.module}", __name__), engine.maker)(scene, threads)
