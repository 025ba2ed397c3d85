"""The core's method options from a scene's settings."""

from typing import Any

from ..core import MethodOptions


def of(settings: Any) -> MethodOptions:
    """`MethodOptions` of `scene.softpressure`."""
    return MethodOptions(
        volume=settings.volume_rule,
        spread=settings.pressure_spread,
        step_damping=settings.use_step_damping,
        stiffest_spring=settings.stiffest_spring,
        ramp_time=settings.ramp_time,
        detection=settings.detection,
        collider_rule=settings.collider_rule,
        step_error=round(settings.step_error, 9),  # Blender keeps 0.001 in single precision
        added_mass=round(0.01 * settings.added_mass, 9),
    )
