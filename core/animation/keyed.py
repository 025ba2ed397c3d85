"""Animated values: material values of bodies, gravity, held bodies, attachments. Constant within a frame.

If they differ from those of the start a frame has a model of its own (`segments.py`). Rest lengths, masses and the
amount of gas stay those of the start: a skin that becomes softer bulges further. What `plasticity/` changes beside rest
lengths is kept here, too: torn springs, and bonds of bodies that stick.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import BoolArray, FloatArray, IntArray
from ..bodies.attachments import nearest_row
from ..bodies.rigid.motion import turns
from ..checks import vector
from ..errors import ParameterError
from ..model import Model
from ..parameters import GAS, PARAMETERS, named
from ..settings import checked

_EARLIER = (
    "stretch_modulus", "bend_modulus", "modulus", "damping", "linear_damping", "angular_damping", "friction",
    "bounciness", "spring_constant", "spring_damping", "pump_rate", "leak_diameter", "bond_strength",
)  # fmt: skip
#: Values of bodies that may change from frame to frame: what `parameters/` declares as animated beside gas, in the
#: order in which states hold them; those that they do not know come last.
NAMES = _EARLIER + tuple(
    each.name for each in PARAMETERS if each.is_animated and each.name not in GAS and each.name not in _EARLIER
)
_COLUMNS = {name: column for column, name in enumerate(NAMES)}
#: Fields of `Keyed` that a solver is made for.
PARTS = (
    "held", "attached", "glue_points", "glue_weights", "glue_offset", "arm", "torn", "bond_points", "bond_weights",
    "bond_offset", "bond_body",
)  # fmt: skip
#: Largest distance of a vertex from a triangle that it is attached to anew, as a share of its longest edge: a force
#: from farther away would mainly turn the triangle.
FARTHEST = 0.5


@dataclass(slots=True)
class Keyed:
    """Animated values of the last frame; arrays are replaced, never changed."""

    values: FloatArray  # of each body by `NAMES`, NaN where a body has no such value, shape (body_count, name_count)
    gravity: FloatArray  # [m/s^2], shape (3,)
    held: BoolArray  # moving bodies that follow given positions, shape (moving_count,)
    attached: BoolArray  # membranes whose attachments hold, shape (membrane_count,)
    # Rows of all attachments, as in `Attachments`: their last places; weights of 0 where there was none
    glue_points: IntArray
    glue_weights: FloatArray
    glue_offset: FloatArray
    arm: FloatArray  # of all points of rigid bodies, attached ones too, as in `RigidBodies`
    # Springs that tore (`plasticity/`), shape (edge_count,); empty where none can
    torn: BoolArray = field(default_factory=lambda: np.zeros(0, bool))
    # Vertices that stick to other bodies, as rows of `Attachments`, in the order in which they touched them
    bond_points: IntArray = field(default_factory=lambda: np.zeros((0, 4), np.int32))
    bond_weights: FloatArray = field(default_factory=lambda: np.zeros((0, 4)))
    bond_offset: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    bond_body: IntArray = field(default_factory=lambda: np.zeros(0, np.int32))
    # Vertices whose bond broke and the body that they have not left yet, shape (broken_count, 2)
    bond_broken: IntArray = field(default_factory=lambda: np.zeros((0, 2), np.int32))

    @staticmethod
    def at_start(model: Model) -> "Keyed":
        """Those of the model."""
        count, glue = model.membrane_count, model.attachments
        return Keyed(
            values=start_values(model),
            gravity=model.gravity.copy(),
            held=np.zeros(model.moving_count, bool),
            attached=np.ones(count, bool),
            glue_points=glue.points,
            glue_weights=glue.weights,
            glue_offset=glue.offset,
            arm=model.rigid.arm,
            torn=np.zeros(len(model.edges.points) if model.tears else 0, bool),
        )

    def has_values_of(self, other: "Keyed") -> bool:
        """Whether all values and gravity are the same."""
        return self is other or (_are_same(self.values, other.values) and _are_same(self.gravity, other.gravity))

    def has_parts_of(self, other: "Keyed") -> bool:
        """Whether held bodies, attachments, torn springs and bonds are the same."""
        return self is other or all(_are_same(getattr(self, name), getattr(other, name)) for name in PARTS)


def _are_same(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]) -> bool:
    """Whether two arrays hold the same: mostly they are the same one, as what does not change is handed on."""
    return first is second or np.array_equal(first, second, equal_nan=first.dtype.kind == "f")


def start_values(model: Model) -> FloatArray:
    """The values of a model, see `Keyed.values`."""
    return np.array([[_start_value(own, name) for name in NAMES] for own in model.settings[: model.body_count]])


def _start_value(own: Mapping[str, Any], name: str) -> float:
    """A setting of a body; NaN where it has none, or has a spring constant instead."""
    is_replaced = name in ("stretch_modulus", "modulus") and own.get("spring_constant") is not None
    value = None if is_replaced else own.get(name)
    return np.nan if value is None else float(value)


def of_version(model: Model, keyed: Keyed) -> Keyed:
    """Animated values of a state that an earlier version saved: names that it did not have are those of the model.

    New names are the last of `NAMES`.
    """
    known = keyed.values.shape[1]
    if known == len(NAMES):
        return keyed
    values = start_values(model)
    values[:, :known] = keyed.values
    return replace(keyed, values=values)


def changed_values(model: Model, before: FloatArray, given: Mapping[int, Mapping[str, float]]) -> FloatArray:
    """The values of a frame, from those of the frame before and the input by body and name: the same array
    if nothing differs.

    Raises `ParameterError` for values that a body does not have and for numbers out of their range.
    """
    values = before
    for body, numbers in given.items():
        if not 0 <= body < model.body_count:
            raise ParameterError(f"body: {body}; the model has {model.body_count}, counted from 0.")
        own = before[body].tolist()
        for name, value in numbers.items():
            column = _COLUMNS.get(name, -1)
            if column < 0 or math.isnan(own[column]):
                animated = ", ".join(np.array(NAMES)[~np.isnan(before[body])])
                raise ParameterError(f"{model.body_names[body]}: {name}; what can change there is {animated}.")
            if value != own[column]:
                values = before.copy() if values is before else values
                values[body, column] = checked(model.body_names[body], named(name), value)
    return values


def changed(
    model: Model,
    before: Keyed,
    values: Mapping[int, Mapping[str, float]],
    attached: Mapping[int, bool],
    held: Collection[int],
    held_rigid: Collection[int],
    gravity: ArrayLike | None,
) -> Keyed:
    """Animated values of a frame, without new places of attachments (`reattached`); see `FrameInput`.

    Those `before` themselves if nothing has changed.
    """
    found: dict[str, np.ndarray[Any, Any]] = {"values": changed_values(model, before.values, values)}
    if gravity is not None and not np.array_equal(gravity, before.gravity):
        found["gravity"] = vector("scene", "gravity", gravity, "m/s\u00b2")  # type: ignore[arg-type]
    if attached or held or held_rigid or before.held.any():
        found |= _holding(model, before, attached, held, held_rigid)
    new = {name: array for name, array in found.items() if not _are_same(array, getattr(before, name))}
    return replace(before, **new) if new else before


def _holding(
    model: Model, before: Keyed, attached: Mapping[int, bool], held: Collection[int], held_rigid: Collection[int]
) -> dict[str, BoolArray]:
    """Which attachments hold, and which bodies follow given positions, in a frame with such input."""
    holds, is_held = before.attached.copy(), np.zeros(model.moving_count, bool)
    for membrane in (*attached, *held):
        if not 0 <= membrane < model.membrane_count:
            raise ParameterError(f"membrane: {membrane}; the model has {model.membrane_count}, counted from 0.")
    for rigid in held_rigid:
        if not 0 <= rigid < model.rigid_count:
            raise ParameterError(f"rigid body: {rigid}; the model has {model.rigid_count}, counted from 0.")
    for membrane, holding in attached.items():
        holds[membrane] = holding
    is_held[[*held, *(model.membrane_count + rigid for rigid in held_rigid)]] = True
    return {"attached": holds, "held": is_held}


def reattached(model: Model, before: Keyed, after: Keyed, positions: FloatArray, poses: FloatArray) -> Keyed:
    """Places of attachments that are switched on: where the points are now.

    A vertex farther from the other soft body than half an edge is not attached: its weights are 0. `positions` of all
    points [m]; those of rigid bodies' attached points are updated; `poses` of the rigid bodies.
    """
    if after.attached is before.attached:
        return after
    newly = after.attached & ~before.attached
    rows = np.flatnonzero(newly[model.point_body[after.glue_points[:, 0]]])
    if not len(rows):
        return after
    points, weights = after.glue_points.copy(), after.glue_weights.copy()
    offset, arm = after.glue_offset.copy(), after.arm.copy()
    surfaces = model.surfaces
    for row in rows.tolist():
        vertex, body = int(points[row, 0]), int(model.attachments.body[row])
        if body < model.membrane_count:
            skin = surfaces.triangles[slice(*surfaces.body_triangle_start[body : body + 2])]
            points[row], weights[row], offset[row] = nearest_row(positions, vertex, skin)
            corners = positions[points[row, 1:]]
            edges = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1)
            if np.linalg.norm(offset[row]) > FARTHEST * edges.max():
                weights[row] = 0.0
            continue
        anchor, pose = int(points[row, 1]), poses[body - model.membrane_count]
        arm[anchor - model.vertex_count] = turns(pose[None])[0].T @ (positions[vertex] - pose[:3])
        positions[anchor] = positions[vertex]
    return replace(after, glue_points=points, glue_weights=weights, glue_offset=offset, arm=arm)
