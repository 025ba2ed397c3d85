"""The core's force fields from Blender's, evaluated at a frame."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import bpy

from ...core import Field, SoftPressureError
from . import effectors, mesh_io, units


def of_frame(
    bodies: Sequence[bpy.types.Object],
    objects: Iterable[bpy.types.Object],
    depsgraph: bpy.types.Depsgraph,
    metres: float,
) -> tuple[tuple[Field, ...], tuple[float, ...]]:
    """The fields among `objects` that act in this frame, and the share of gravity that acts on each body.

    `bodies`: the moving ones, in the order of the core; `metres`: length of a Blender unit. Objects that are not
    evaluated (disabled in viewports) do not act. The second result is empty if all shares are 1.
    """
    settings = [body.evaluated_get(depsgraph).softpressure for body in bodies]
    falls = tuple(float(each.weight_gravity) for each in settings)
    members = [effectors.members(body) for body in bodies]
    found = []
    for obj in effectors.acting(objects):
        evaluated = obj.evaluated_get(depsgraph)
        if not evaluated.is_evaluated or evaluated.hide_viewport or not evaluated.field.apply_to_location:
            continue  # what is keyed to be disabled is evaluated all the same
        weight = effectors.WEIGHTS[evaluated.field.type]
        shares = tuple(
            float(each.weight_all * getattr(each, weight)) if effectors.reaches(obj, body, own) else 0.0
            for body, own, each in zip(bodies, members, settings, strict=True)
        )
        if any(shares):
            found.append(_field(evaluated, depsgraph.scene.frame_current, shares, metres))
    # in an order that does not depend on what they are called
    return tuple(sorted(found, key=repr)), () if all(fall == 1.0 for fall in falls) else falls


def _field(obj: bpy.types.Object, frame: int, shares: tuple[float, ...], metres: float) -> Field:
    """The core's field of an evaluated object."""
    of: Any = obj.field
    matrix = units.to_metres(mesh_io.world_matrix(obj), metres)
    is_drag = of.type == "DRAG"
    strength = of.quadratic_drag if is_drag else of.strength
    radius = 1.0 if of.falloff_type == "CONE" else metres  # of a cone it is an angle
    try:
        return Field(
            kind=of.type,
            strength=strength + of.noise * _noise(of.seed, frame),
            position=tuple(matrix[:3, 3].tolist()),
            axis=tuple(matrix[:3, 2].tolist()),
            shape=of.shape if of.shape in effectors.SHAPES else "POINT",
            flow=of.flow,
            damping=of.linear_drag if is_drag else of.harmonic_damping,
            size=metres * (of.size or 1.0 if of.type == "TURBULENCE" else of.rest_length),
            skin_share=of.wind_factor,
            has_gravitation=of.use_gravity_falloff,
            is_global=of.use_global_coords,
            seed=of.seed,
            falloff=of.falloff_type,
            power=of.falloff_power,
            min_distance=metres * of.distance_min if of.use_min_distance else 0.0,
            max_distance=metres * of.distance_max if of.use_max_distance else math.inf,
            radial_power=of.radial_falloff,
            min_radius=radius * of.radial_min if of.use_radial_min else 0.0,
            max_radius=radius * of.radial_max if of.use_radial_max else math.inf,
            side=of.z_direction,
            shares=shares,
        )
    except SoftPressureError as error:
        raise SoftPressureError(f"{obj.name}: {error}") from error


def _noise(seed: int, frame: int) -> float:
    """A pseudo-random number from -1 to 1, the same for the same seed and frame."""
    mixed = (seed * 0x9E3779B97F4A7C15 + frame * 0xBF58476D1CE4E5B9) % 2**64
    for _ in range(3):
        mixed = (mixed ^ (mixed >> 31)) * 0x94D049BB133111EB % 2**64
    return 2.0 * (mixed >> 11) / 2**53 - 1.0
