"""Soft Pressure: inflated soft bodies and their contact, for Blender."""

PACKAGE = __package__


def register() -> None:
    """Called by Blender when the extension is enabled."""
    from .softpressure import addon

    addon.register()


def unregister() -> None:
    """Called by Blender when the extension is disabled."""
    from .softpressure import addon

    addon.unregister()
