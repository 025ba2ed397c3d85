"""The choices beside the method, from a scene's settings."""

from typing import Any

from ..core import MethodOptions


def of(settings: Any) -> MethodOptions:
    """What the core gets of `scene.softpressure`."""
    return MethodOptions(
        volume=settings.volume_rule,
        spread=settings.pressure_spread,
        step_damping=settings.use_step_damping,
        stiffest_spring=settings.stiffest_spring,
        ramp_time=settings.ramp_time,
        detection=settings.detection,
        step_error=round(settings.step_error, 9),  # Blender keeps 0.001 in single precision
        added_mass=round(0.01 * settings.added_mass, 9),
    )
