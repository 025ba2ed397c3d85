"""Files of earlier versions: settings that they do not store, as they were defaults, keep their old values."""

from typing import Any

import bpy

from ...core.parameters.methods import EARLIER, ENGINE, current_method
from . import sessions

#: Version of the defaults that a scene's settings are left at. Raise it when one changes that a simulation depends on,
#: and let `update` write what it was. 0: the method was IMPLICIT; 1, 2: it was AUTO. 0, 1: skins were slack as drawn,
#: and gas had its pressure as drawn. 0 to 3: what was drawn was simulated.
CURRENT = 4
#: Numbers that files hold of methods of earlier versions.
_NUMBERS = {0: "IMPLICIT", 8: "AUTO"}
#: Options of a property that holds a path which may begin with `//`, the folder of the file; before 4.5 any might.
BLEND_RELATIVE: Any = {"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5, 0) else set()
#: How gas and skin were before version 2.
AS_DRAWN = {"pressure_at": "DRAWN", "drawn_shape": "SLACK", "start_at_rest": False}


def stamp(scene: bpy.types.Scene) -> None:
    """Store the version of the defaults in a scene with bodies."""
    if scene.softpressure.defaults_version < CURRENT and sessions.has_bodies(scene):
        scene.softpressure.defaults_version = CURRENT


def update(scene: bpy.types.Scene) -> None:
    """Set a scene from a file to the defaults of the version that saved it."""
    settings = scene.softpressure
    if settings.defaults_version < 2:
        for obj in sessions.objects(scene, "SOFT"):
            for name, value in AS_DRAWN.items():
                if not obj.softpressure.is_property_set(name):
                    setattr(obj.softpressure, name, value)
    if settings.defaults_version < 4:
        for obj in sessions.objects(scene, "SOFT"):
            if not obj.softpressure.is_property_set("simulation_mesh"):
                obj.softpressure.simulation_mesh = "DRAWN"
    if sessions.has_bodies(scene) and settings.defaults_version < 3:
        method = _stored_method(settings) or ("AUTO" if settings.defaults_version else "IMPLICIT")
        if method in EARLIER:
            settings.solver = method  # becomes the present one, and the panel says so
    if not settings.solver:  # a number of a later version, or of none
        settings.solver = ENGINE
    stamp(scene)


def taken(settings: Any, method: str) -> str:
    """The method that a scene's settings take where a file or script sets one; the panel names earlier ones."""
    sessions.of(settings.id_data).earlier_method = EARLIER.get(method, "")
    return current_method(method)


def _stored_method(settings: Any) -> str:
    """The method that a file holds, empty if it holds none; of one that is offered no more its name then."""
    if not settings.is_property_set("solver"):
        return ""
    stored = settings.bl_system_properties_get() if hasattr(settings, "bl_system_properties_get") else settings
    number = stored.get("solver")
    return _NUMBERS[number] if number in _NUMBERS else str(settings.solver)
