"""Forces of fields at points: F(x, v) = push - drag v - square |v| v, a force on the whole body each [N].

The formulas are those of Blender's effectors where these have SI units. Fields are constant during a frame.
"""

from dataclasses import dataclass

import numpy as np

from ..array_types import FloatArray
from .field import Field
from .noise import turbulence

#: Drag of a vortex that is no point, towards its rotation [N s/m].
VORTEX_DRAG = 1.0


@dataclass(slots=True)
class Forces:
    """Sums over fields at each point."""

    push: FloatArray  # [N], shape (count, 3)
    drag: FloatArray  # [N s/m], shape (count,)
    stiffness: FloatArray  # of the springs in `push` [N/m], shape (count,)

    @staticmethod
    def none(count: int) -> "Forces":
        """No field."""
        return Forces(np.zeros((count, 3)), np.zeros(count), np.zeros(count))

    def add(self, push: FloatArray, drag: FloatArray, stiffness: FloatArray, share: FloatArray | float) -> None:
        """Add a share of a field at each point."""
        self.push += push * np.reshape(share, (-1, 1))
        self.drag += drag * share
        self.stiffness += stiffness * share


def add_field(
    field: Field, x: FloatArray, weight: FloatArray, mass: FloatArray, on_skin: FloatArray, body: Forces, skin: Forces,
    square: FloatArray,
) -> None:  # fmt: skip
    """Add a field to the force on bodies as a whole, to that along the normals of skins, and to drag |v| v.

    x [m], the `weight` of the field, the `mass` of the body [kg] and whether it has a skin (1 or 0) at each point. A
    negative weight reverses forces; drag stays drag.
    """
    axis = np.array(field.axis) / np.linalg.norm(field.axis)
    away, from_centre = _away(field, axis, x)
    distance = np.sqrt((away * away).sum(axis=1))
    strength = weight * _falloff(field, axis, from_centre, distance)
    size = np.abs(strength)
    push, drag, stiffness = np.zeros_like(x), size * max(field.flow, 0.0), np.zeros(len(x))
    unit = away / np.where(distance > 0.0, distance, 1.0)[:, None]
    if field.kind == "DRAG":
        body.drag += size * max(field.damping, 0.0)
        square += size * max(field.strength, 0.0)
        return
    strength *= field.strength
    if field.kind == "WIND":
        push = strength[:, None] * axis
    elif field.kind == "FORCE":
        if field.has_gravitation:
            strength /= np.where(distance > 0.0, distance, np.inf) ** 2
        push = strength[:, None] * unit
    elif field.kind == "TURBULENCE":
        place = x if field.is_global else from_centre
        push = strength[:, None] * turbulence(place / (field.size or 1.0), field.seed)
    elif field.kind == "HARMONIC":
        push = -strength[:, None] * (away - field.size * unit)
        stiffness = np.maximum(strength, 0.0)
        drag = 2.0 * max(field.damping, 0.0) * np.sqrt(np.abs(strength) * mass)
    elif field.shape == "POINT":
        around = np.cross(axis, away)
        length = np.sqrt((around * around).sum(axis=1))
        push = (strength * distance / np.where(length > 0.0, length, 1.0))[:, None] * around
    else:
        around = strength[:, None] * np.cross(axis, from_centre)  # velocity of the rotation
        drive = VORTEX_DRAG * size
        push = (strength * mass)[:, None] * np.cross(axis, around) + drive[:, None] * around
        drag += drive
    share = field.skin_share * on_skin
    body.add(push, drag, stiffness, 1.0 - share)
    if field.skin_share > 0.0:
        skin.add(push, drag, stiffness, share)


def _away(field: Field, axis: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Vectors from the field's centre, line or plane, and from its centre, to points [m], shape (count, 3) each."""
    from_centre = x - np.array(field.position)
    if field.shape == "POINT":
        return from_centre, from_centre
    along = (from_centre * axis).sum(axis=1)[:, None] * axis
    # a vortex turns about its axis, whatever its shape
    return (from_centre - along if field.shape == "LINE" or field.kind == "VORTEX" else along), from_centre


def _falloff(field: Field, axis: FloatArray, from_centre: FloatArray, distance: FloatArray) -> FloatArray:
    """Share of the strength at each point."""
    height = (from_centre * axis).sum(axis=1)
    if field.falloff == "SPHERE":
        share = _power(distance, field.power, field.min_distance, field.max_distance)
    else:
        share = _power(np.abs(height), field.power, field.min_distance, field.max_distance)
        across = from_centre - height[:, None] * axis
        radius = np.sqrt((across * across).sum(axis=1))
        if field.falloff == "CONE":
            radius = np.degrees(np.arctan2(radius, height))
        share = share * _power(radius, field.radial_power, field.min_radius, field.max_radius)
    if field.side == "POSITIVE":
        return np.asarray(np.where(height < 0.0, 0.0, share))
    return np.asarray(np.where(height > 0.0, 0.0, share)) if field.side == "NEGATIVE" else share


def _power(value: FloatArray, power: float, least: float, most: float) -> FloatArray:
    """(1 + value - least) ^ -power beyond `least`, 1 nearer, 0 beyond `most`."""
    share = (1.0 + np.maximum(value - least, 0.0)) ** -power
    return np.asarray(np.where(value > most, 0.0, share))
