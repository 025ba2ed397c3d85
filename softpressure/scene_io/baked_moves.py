"""Where a person moved a baked object, as a duplicate aside: its own place moves likewise when the bake is freed.

Curves place a baked object in each frame that is shown. What its channels differ from them since is the person's.
"""

from typing import Any

import bpy
import numpy as np

from . import actions, rotations
from .blender_types import DataBlock
from .mesh_io import FloatArray

#: Values that are nearer are the same [m, rad, 1].
_SAME = 1e-6


def values(obj: bpy.types.Object, kept: dict[str, Any], frame: float) -> dict[str, list[float]]:
    """New values of the channels that were changed since the curves were evaluated at a frame; empty if none were.

    kept: what baking wrote down of the object, see `bake_motion.py`.
    """
    own, found = kept["values"], dict[str, FloatArray]()
    now = {name: np.array(getattr(obj, name), dtype=float) for name in own}
    for name in own:
        if name.startswith("delta"):
            found[name] = now[name]  # baking leaves it alone
    baked = _placed(obj, "location", frame)
    if len(baked) == 3:
        found["location"] = np.array(own["location"]) + _change(now["location"], baked)
    mode = obj.rotation_mode
    path = rotations.path(mode)
    baked = _placed(obj, path, frame)
    if len(baked) == len(own[path]) and np.any(_change(now[path], baked)):
        turns = [rotations.from_values(each, mode) for each in (now[path], baked, np.array(own[path]))]
        found[path] = rotations.to_values((turns[0] @ turns[1].T @ turns[2])[None], mode)[0]
    size = np.array(kept.get("scale", now["scale"]))
    if np.all(size) and np.any(_change(now["scale"], size)):
        found["scale"] = np.array(own["scale"]) * now["scale"] / size
    return {name: value.tolist() for name, value in found.items() if np.any(_change(value, np.array(own[name])))}


def _change(value: FloatArray, before: FloatArray) -> FloatArray:
    """The difference of values; 0 where it is rounding."""
    return np.where(np.isclose(value, before, rtol=_SAME, atol=_SAME), 0.0, value - before)


def _placed(obj: DataBlock, path: str, frame: float) -> FloatArray:
    """Where the curves of an object have a channel at a frame; of no length without them."""
    if obj.animation_data is None or obj.animation_data.action is None:
        return np.zeros(0)
    curves = sorted((curve.array_index, curve) for curve in actions.own_curves(obj) if curve.data_path == path)
    return np.array([curve.evaluate(frame) for _, curve in curves])
