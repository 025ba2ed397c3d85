"""Another choice of what is given, of gas, stiffness or mass, converts the value that it replaces.

So a body stays what it was: the amount of gas is that of its pressure at the drawn volume, spring constants and point
masses sum up to its modulus and its mass, and the other way round. A value that a script gave beforehand stays.
"""

import contextlib
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core import ModelBuilder, SoftPressureError, moles, nrt, parameters
from ...core.parameters import SKINS
from ..scene_io import flat_shape, mesh_io, seen_shape, simulation_mesh, units
from ..simulation import capture
from ..state import body_quantities

#: The fields of each choice, by its values.
FIELDS = {
    "gas_by": {"PRESSURE": "gauge_pressure", "AMOUNT": "gas_amount"},
    "stiffness_by": {"MODULUS": "", "SPRING": "spring_constant"},
    "mass_by": {"TOTAL": "mass", "POINTS": "point_mass"},
}


class Measures(NamedTuple):
    """Of what is simulated of a body."""

    volume: float  # as drawn [m^3], 0 without gas
    modulus: float  # per spring constant: [1], or [1/m] of lattices
    points: float  # mass per point mass


def convert(settings: Any, choice: str) -> None:
    """Convert the value that a choice replaces into the field that counts from now on, if that can be."""
    if choice not in FIELDS:  # how volumes are kept: what a tetrahedron yields says nothing of Poisson's ratio
        return
    obj, now = settings.id_data, getattr(settings, choice)
    fields = dict(FIELDS[choice])
    if choice == "stiffness_by":
        fields["MODULUS"] = "stretch_modulus" if settings.body_type in SKINS else "modulus"
    new, old = fields[now], next(name for value, name in fields.items() if value != now)
    number = list(FIELDS).index(choice)
    was_idle, settings.idle_values[number] = settings.idle_values[number], getattr(settings, old)
    is_given = settings.is_property_set(new) and np.float32(was_idle) != np.float32(getattr(settings, new))
    if is_given or obj.type != "MESH" or mesh_io.is_edited(obj) or settings.kind != "SOFT" or not obj.users_scene:
        return
    with contextlib.suppress(SoftPressureError, ZeroDivisionError):  # the panel says what is no body
        setattr(settings, new, _converted(obj, choice, new))


def _converted(obj: bpy.types.Object, choice: str, new: str) -> float:
    """Value of the field `new` that makes the body what it was with the other one."""
    settings, scene = obj.softpressure, obj.users_scene[0]
    measures = _measures(scene, obj)
    if choice == "gas_by":
        air, warmth = scene.softpressure.ambient_pressure, settings.temperature
        if new == "gas_amount":
            return moles((settings.gauge_pressure + air) * measures.volume, warmth)
        return nrt(settings.gas_amount, warmth) / measures.volume - air
    if choice == "mass_by":
        return settings.mass / measures.points if new == "point_mass" else settings.point_mass * measures.points
    if new == "spring_constant":
        return getattr(settings, "stretch_modulus" if settings.body_type in SKINS else "modulus") / measures.modulus
    return settings.spring_constant * measures.modulus


def _measures(scene: bpy.types.Scene, obj: bpy.types.Object) -> Measures:
    """By a model of the body with springs of 1 N/m and points of 1 kg."""
    settings, metres = obj.softpressure, units.metres_per_unit(scene)
    matrix, local = units.to_metres(mesh_io.world_matrix(obj), metres), mesh_io.read_rest(obj)
    positions, triangles = mesh_io.to_world(matrix, local), mesh_io.read_triangles(obj.data, matrix)
    kind, is_flat = settings.body_type, flat_shape.is_flat_body(settings.body_type, positions)
    body = "FLAT_TRUSS" if kind == "TRUSS" and is_flat else kind
    values = capture.values_of(settings, parameters.captured(body, settings), metres)
    replaced = {*parameters.GAS, "modulus", "stretch_modulus", "mass", "pressure_at", "drawn_shape"}
    values = {name: value for name, value in values.items() if name not in replaced}
    values |= {"spring_constant": 1.0, "point_mass": 1.0, "rigid_springs": False, "tear_strain": 0.0, "creep_time": 0.0}
    if not is_flat:
        shape = seen_shape.shape_of(None, local, triangles, matrix)
        even = simulation_mesh.followed(scene, obj, shape, bpy.context.evaluated_depsgraph_get())
        positions, triangles = (positions, triangles) if even is None else even[:2]
    builder = ModelBuilder()
    if kind == "MEMBRANE":
        builder.add_membrane(obj.name, positions, triangles, **values)
    elif is_flat:
        add = builder.add_loop if kind == "LOOP" else builder.add_flat_truss
        add(obj.name, positions, mesh_io.read_outline(obj.data), **values)
    else:
        builder.add_solid(obj.name, positions, triangles, kind=kind, **values)
    known = body_quantities.of_model(builder.build())[0]
    return Measures(known.drawn_volume, known.modulus, known.mass)
