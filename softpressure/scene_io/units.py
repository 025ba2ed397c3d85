"""Blender units and metres. What a field shows is what is simulated: a scene's unit scale counts where Blender's fields
show it. The core and `Snapshot` know metres only; the cache and all that is shown are in Blender units.
"""

import math
from typing import Any

import bpy

from ...core.parameters import PARAMETERS
from .mesh_io import FloatArray

_EARTH_GRAVITY = 9.81  # [m/s^2], of new scenes
#: A unit scale nearer to 1 than this changes no gravity visibly.
_SCALE_LEEWAY = 0.1
#: Settings that Blender shows multiplied by the scene's unit scale: lengths and velocities.
SCALED = frozenset(parameter.name for parameter in PARAMETERS if parameter.unit in {"m", "m/s"})


def metres_per_unit(scene: Any) -> float:
    """Length of a Blender unit of a scene [m]; 1 without a unit system, as fields then show plain numbers."""
    settings = scene.unit_settings
    return 1.0 if settings.system == "NONE" else float(settings.scale_length)


def length_text(scene: Any, length: float) -> str:
    """A length [m] with two digits, in the scene's unit system: `2.5 cm`, `0.98"`; metric where it has none."""
    system = scene.unit_settings.system
    return bpy.utils.units.to_string("METRIC" if system == "NONE" else system, "LENGTH", length, precision=2)


def gravity(scene: Any) -> tuple[float, ...]:
    """Gravity of a scene [m/s^2], as its field shows it; zero if that is off."""
    strength = metres_per_unit(scene) if scene.use_gravity else 0.0
    return tuple(strength * part for part in scene.gravity)


def gravity_text(scene: Any) -> str:
    """A sentence where a unit scale makes the gravity of Blender's new scenes another one than the Earth's."""
    metres, size = metres_per_unit(scene), math.sqrt(sum(part * part for part in scene.gravity))
    is_default = abs(size - _EARTH_GRAVITY) < 0.01 * _EARTH_GRAVITY
    if not scene.use_gravity or not is_default or abs(metres - 1.0) < _SCALE_LEEWAY:
        return ""
    return (
        f"{scene.name}: gravity is {metres * size:.2g} m/s\u00b2, as the unit scale is {metres:.3g}: all falls in slow "
        f"motion. Set the scene's Gravity to {_EARTH_GRAVITY} m/s\u00b2, as its field shows it, or the unit scale to 1."
    )


def to_metres(matrix: FloatArray, metres: float) -> FloatArray:
    """World from local matrix (4, 4), for a world measured in metres instead of Blender units."""
    if metres == 1.0:
        return matrix
    scaled = matrix.copy()
    scaled[:3] *= metres
    return scaled


def settings_in_metres(values: dict[str, Any], metres: float) -> dict[str, Any]:
    """Settings of a body as Blender stores them, with lengths and velocities in metres."""
    return {name: _times(value, metres) if name in SCALED else value for name, value in values.items()}


def _times(value: Any, metres: float) -> Any:
    return metres * value if isinstance(value, float) else tuple(metres * part for part in value)
