"""Holds a rigid body at a simulated world matrix without changing its own animation.

Three constraints at the end of the stack, each with equal lower and upper limits, set the world matrix whatever comes
before: transform, curves, drivers, parents, other constraints. Muted they do nothing. So the object's own motion stays
in the file, and removing the constraints restores the object.
"""

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from . import rotations
from .mesh_io import FloatArray

#: Names of these constraints start with this.
PREFIX = "SP Live"
#: The first makes every scale positive, the second restores it.
_TYPES: tuple[Any, ...] = ("LIMIT_ROTATION", "LIMIT_SCALE", "LIMIT_LOCATION")
_ORDER = "XYZ"
#: Blender limits no scale above this.
_LARGEST_SCALE = 1000.0

#: Lower and upper limit of each axis.
_LIMITS = tuple((f"min_{letter}", f"max_{letter}") for letter in "xyz")

Constraint = Any  # bpy.types.LimitRotationConstraint and its like


def is_ours(constraint: bpy.types.Constraint) -> bool:
    """Whether the extension made a constraint."""
    return constraint.name.startswith(PREFIX)


def ensure(obj: bpy.types.Object) -> list[Constraint]:
    """The constraints of a rigid body, made and muted if they are missing, at the end of the stack."""
    found = [_get(obj, kind) for kind in _TYPES]
    last = len(obj.constraints) - 1
    if list(obj.constraints[-len(_TYPES) :]) != found:
        for constraint in found:
            obj.constraints.move(obj.constraints.find(constraint.name), last)
    return found


def remove(obj: bpy.types.Object) -> None:
    """Take the constraints away."""
    for constraint in [each for each in obj.constraints if is_ours(each)]:
        obj.constraints.remove(constraint)


def release(obj: bpy.types.Object) -> None:
    """Let an object go to its own transform."""
    for constraint in obj.constraints:
        if is_ours(constraint) and not constraint.mute:
            constraint.mute = True


def hold(objects: Sequence[bpy.types.Object], matrices: FloatArray) -> None:
    """Hold objects at world matrices, shape (object_count, 4, 4); writes only changes."""
    location, turn, scale = rotations.split(matrices)
    values = np.stack([rotations.angles(turn, _ORDER), scale, location], axis=1)
    rounded, is_idle = values.astype(np.float32).tolist(), np.abs(scale).max(axis=1, initial=0.0) > _LARGEST_SCALE
    for obj, rows, has_no_scale in zip(objects, rounded, is_idle.tolist(), strict=True):
        for constraint, row, idle in zip(ensure(obj), rows, (False, has_no_scale, False), strict=True):
            _limit(constraint, row, idle)


def show_origin(obj: bpy.types.Object, location: FloatArray) -> None:
    """Hold the origin of an object at a place (3,) of the world; it turns and grows as before."""
    constraint, last = _get(obj, _TYPES[-1]), len(obj.constraints) - 1
    if obj.constraints[last] != constraint:
        obj.constraints.move(obj.constraints.find(constraint.name), last)
    _limit(constraint, location.astype(np.float32).tolist(), False)


def _limit(constraint: Constraint, row: Sequence[float], is_idle: bool) -> None:
    """Set both limits of a constraint, numbers of single precision; writes only changes."""
    if constraint.mute != is_idle:
        constraint.mute = is_idle
    for names, value in zip(_LIMITS, row, strict=True):
        for name in names:
            if getattr(constraint, name) != value:
                setattr(constraint, name, value)


def _get(obj: bpy.types.Object, kind: Any) -> Constraint:
    name = f"{PREFIX} {kind.removeprefix('LIMIT_').title()}"
    constraint: Constraint = obj.constraints.get(name)
    if constraint is not None and constraint.type == kind:
        return constraint
    active = obj.constraints.active
    constraint = obj.constraints.new(kind)
    constraint.name = name
    constraint.mute = True
    constraint.owner_space = "WORLD"
    constraint.show_expanded = False
    for letter in "xyz":
        if kind == "LIMIT_ROTATION":
            setattr(constraint, f"use_limit_{letter}", True)
        else:
            setattr(constraint, f"use_min_{letter}", True)
            setattr(constraint, f"use_max_{letter}", True)
    if kind == "LIMIT_ROTATION":
        constraint.euler_order = _ORDER
    if active is not None and not is_ours(active):
        obj.constraints.active = active
    return constraint
