"""What a body's settings amount to, as the panel shows it beside them: moles, pressure, springs, moduli, point masses.

The numbers are those of the model of a run, noted as it starts, so that drawing costs nothing. Only the pressure of a
given amount of gas is shown before: at the drawn volume, which is computed after a change alone.
"""

import bpy

from ...core import moles, nrt
from ...core.parameters import SKINS
from ...core.topology import signed_volume
from ..scene_io import flat_shape, mesh_io, units
from ..state import sessions
from ..state.body_quantities import Quantities

_UNKNOWN = "–"


def texts(scene: bpy.types.Scene, obj: bpy.types.Object) -> list[str]:
    """A line for each quantity that is not entered: gas, stiffness, mass; a dash before it is known."""
    settings, session = obj.softpressure, sessions.of(scene)
    known = None if session.is_out_of_date(scene) else session.run.quantities.get(obj.session_uid)
    found = []
    if settings.body_type in SKINS:
        found.append(_pressure_text(scene, obj, known) if settings.gas_by == "AMOUNT" else _amount_text(obj, known))
    if settings.stiffness_by == "SPRING":
        name, unit = ("Stretch modulus", "N/m") if settings.body_type in SKINS else ("Young's modulus", "Pa")
        found.append(f"{name}: {_UNKNOWN if known is None else f'{known.modulus:,.4g}'} {unit}")
    else:
        found.append(f"Springs: {_range(known.springs if known else None)} N/m")
    if settings.mass_by == "POINTS":
        found.append(f"Mass: {_UNKNOWN if known is None else f'{known.mass:.4g}'} kg")
    else:
        found.append(f"Points: {_range(known.points if known else None)} kg")
    return found


def _amount_text(obj: bpy.types.Object, known: Quantities | None) -> str:
    temperature = obj.softpressure.temperature
    amount = _UNKNOWN if known is None else f"{moles(known.gas, temperature):.4g}"
    return f"Gas: {amount} mol at {temperature:.5g} K"


def _pressure_text(scene: bpy.types.Scene, obj: bpy.types.Object, known: Quantities | None) -> str:
    settings = obj.softpressure
    volume = _drawn_volume(scene, obj) if known is None else known.drawn_volume
    if not volume > 0.0:
        return f"Pressure: {_UNKNOWN} Pa as drawn"
    pressure = nrt(settings.gas_amount, settings.temperature) / volume - scene.softpressure.ambient_pressure
    return f"Pressure: {pressure:,.4g} Pa as drawn"


def _range(ends: tuple[float, float] | None) -> str:
    if ends is None:
        return _UNKNOWN
    low, high = (f"{end:.3g}" for end in ends)
    return low if low == high else f"{low} to {high}"


def _drawn_volume(scene: bpy.types.Scene, obj: bpy.types.Object) -> float:
    """Volume of an inflated body as its own mesh has it [m^3]; 0 for others and in Edit Mode."""
    if obj.softpressure.body_type != "MEMBRANE" or mesh_io.is_edited(obj):
        return 0.0

    def volume() -> float:
        positions = units.metres_per_unit(scene) * flat_shape.rest_positions(obj)
        return float(signed_volume(positions, mesh_io.read_triangles(obj.data, mesh_io.world_matrix(obj))))

    found: float = sessions.memo.get(("drawn volume", obj.session_uid), volume)
    return found
