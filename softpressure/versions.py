"""Files of earlier versions: settings that they do not store, as they were defaults, keep their old values."""

from typing import Any

import bpy

from . import session

#: Version of the defaults that a scene's settings are left at. Raise it when one changes that a simulation depends on,
#: and let `update` write what it was. 0: the method was IMPLICIT. 0, 1: skins were slack as drawn, and gas had its
#: pressure as drawn.
CURRENT = 2
#: Options of a property that holds a path which may begin with `//`, the folder of the file; before 4.5 any might.
BLEND_RELATIVE: Any = {"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5, 0) else set()
#: How gas and skin were before version 2.
AS_DRAWN = {"pressure_at": "DRAWN", "drawn_shape": "SLACK", "start_at_rest": False}


def stamp(scene: bpy.types.Scene) -> None:
    """Store the version of the defaults in a scene with bodies."""
    if session.has_bodies(scene) and scene.softpressure.defaults_version < CURRENT:
        scene.softpressure.defaults_version = CURRENT


def update(scene: bpy.types.Scene) -> None:
    """Set a scene from a file to the defaults of the version that saved it."""
    settings = scene.softpressure
    if settings.defaults_version < 2:
        for obj in session.objects(scene, "SOFT"):
            for name, value in AS_DRAWN.items():
                if not obj.softpressure.is_property_set(name):
                    setattr(obj.softpressure, name, value)
    if session.has_bodies(scene) and settings.defaults_version < 1 and not settings.is_property_set("solver"):
        settings.solver = "IMPLICIT"
    stamp(scene)
