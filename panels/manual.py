"""*Online Manual* (F1) on a field or button opens its line of the manual, which is installed with the extension."""

from pathlib import Path

import bpy

_PAGE = Path(__file__).resolve().parent.parent / "manual.html"
#: Owner of each group of properties, by the end of its name.
_OWNERS = {"object": bpy.types.Object, "scene": bpy.types.Scene, "sweep": bpy.types.WindowManager}


def manual_map() -> tuple[str, tuple[tuple[str, str], ...]]:
    """The page, and by the name of a property or operator in lower case the end of its address."""
    found = []
    for name, owner in _OWNERS.items():
        group = owner.bl_rna.properties["softpressure"].fixed_type
        for prop in group.properties:
            found.append((f"bpy.types.softpressure_pg_{name}.{prop.identifier}".lower(), f"#{name}-{prop.identifier}"))
    return _PAGE.as_uri(), (*found, ("bpy.types.softpressure_*", ""), ("bpy.ops.softpressure.*", ""))


def register() -> None:
    """Add it to Blender's."""
    bpy.utils.register_manual_map(manual_map)


def unregister() -> None:
    """Take it away."""
    bpy.utils.unregister_manual_map(manual_map)
