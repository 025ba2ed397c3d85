"""What the settings of a scene amount to in the core."""

from typing import Any

from ...core import parameters
from ...core.parameters import Parameter

Group = Any  # a property group: its members are known to Blender only


def of_scene(settings: Group, taken_by: str) -> dict[str, Any]:
    """What MODEL, WORLD or OPTIONS take of `scene.softpressure`, by its names there."""
    return {
        each.option or each.name: _plain(each, getattr(settings, each.name)) for each in parameters.of_scene(taken_by)
    }


def _plain(parameter: Parameter, value: Any) -> Any:
    """A value of a scene as the core takes it; shares are rounded, as Blender keeps 0.001 in single precision."""
    if isinstance(value, float) and parameter.unit in ("", "%"):
        return float(f"{0.01 * value if parameter.unit == '%' else value:.7g}")
    return value
