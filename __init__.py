"""Soft Pressure: inflated soft bodies and their contact, for Blender."""

from typing import Any

PACKAGE = __package__


def _parts() -> tuple[list[type], list[Any]]:
    """Classes to register, and modules that register more, in their order; nothing of it is loaded before."""
    from . import operators, panels
    from .panels import manual, menus
    from .softpressure import handlers
    from .softpressure.batch import command
    from .softpressure.bodies import materials
    from .softpressure.properties import object_properties
    from .softpressure.viewport import cached_range, curves, overlay_view

    classes = [*object_properties.CLASSES, *operators.CLASSES, *panels.CLASSES]
    return classes, [object_properties, materials, menus, manual, handlers, command, cached_range, curves, overlay_view]


def register() -> None:
    """Called by Blender when the extension is enabled."""
    import bpy

    from .softpressure.simulation import loading

    loading.expect_wheels()
    classes, modules = _parts()
    for cls in classes:
        bpy.utils.register_class(cls)
    for module in modules:
        module.register()


def unregister() -> None:
    """Called by Blender when the extension is disabled."""
    import bpy

    from .softpressure.state import sessions, status_bar

    classes, modules = _parts()
    status_bar.stop()
    for module in reversed(modules):
        module.unregister()
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)
    sessions.forget_all()
