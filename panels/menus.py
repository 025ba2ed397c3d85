"""Menus: *Object > Soft Pressure*, which F3 searches, *Quick Effects*, the context menu and *Properties > Physics*."""

from typing import Any

import bpy

from ..softpressure.scene_io.blender_types import Context, Layout
from ..softpressure.state import sessions

#: Entries that make bodies, in the words in which people look for them: their label, icon, and type.
_ADDED = (
    ("Inflate: Balloon, Ball, Cushion", "MESH_UVSPHERE", "MEMBRANE"),
    ("Jelly: Solid Soft Body", "META_BALL", "SOLID"),
    ("Lattice: Light Sponge", "MOD_LATTICE", "TRUSS"),
    ("Rigid Body", "RIGID_BODY", "RIGID"),
    ("Collider: Floor, Obstacle", "MOD_PHYSICS", "COLLIDER"),
)


class SOFTPRESSURE_MT_object(bpy.types.Menu):
    """Bodies of Soft Pressure: add, remove, simulate and bake."""

    layout: Layout
    bl_label = "Soft Pressure"

    def draw(self, _context: Context) -> None:
        """Add; remove; simulate; bake."""
        layout = self.layout
        layout.operator("softpressure.add_body", text="Add Soft Body", icon="MOD_SOFT").kind = "SOFT"
        for label, icon, body_type in _ADDED:
            layout.operator("softpressure.set_type", text=label, icon=icon).type = body_type
        layout.operator("softpressure.remove_body", icon="X")
        layout.separator()
        layout.operator("softpressure.copy_to_selected", icon="PASTEDOWN")
        layout.operator("softpressure.calculate_mass")
        layout.operator("softpressure.add_hose", icon="LINKED")
        layout.operator("softpressure.check", icon="VIEWZOOM")
        layout.separator()
        layout.operator("softpressure.simulate", icon="PLAY")
        layout.operator("softpressure.simulate", text="Calculate to Frame").to_frame = True
        layout.operator("softpressure.live_play", icon="VIEW_PAN")
        layout.operator("softpressure.reset", icon="LOOP_BACK")
        layout.separator()
        layout.operator("softpressure.bake", text="Bake Soft Pressure", icon="KEYFRAME").target = "SHAPE_KEYS"
        layout.operator("softpressure.free_bake", icon="TRASH")


def _draw_menu(self: Any, _context: Context) -> None:
    self.layout.menu(SOFTPRESSURE_MT_object.__name__, icon="MOD_SOFT")


def _draw_context_menu(self: Any, context: Context) -> None:
    if context.object is not None and context.object.type == "MESH":
        self.layout.separator()
        _draw_menu(self, context)


def _draw_quick(self: Any, _context: Context) -> None:
    self.layout.operator("softpressure.quick_soft_body", icon="MOD_SOFT")


def _draw_physics(self: Any, context: Context) -> None:
    """Below Blender's own buttons in Properties > Physics."""
    obj = context.object
    if obj is None or obj.type != "MESH":
        return
    column = self.layout.column(align=True)
    if obj.softpressure.kind == "NONE":
        column.operator_menu_enum("softpressure.set_type", "type", text="Soft Pressure", icon="SPHERE")
    else:
        column.operator("softpressure.remove_body", text="Soft Pressure", icon="X")


def _draw_cache(self: Any, context: Context) -> None:
    """Below *Bake All Dynamics* in the cache panels of Blender's own simulations."""
    if sessions.has_bodies(context.scene):
        self.layout.operator("softpressure.simulate", text="Simulate Soft Pressure", icon="PLAY")


_ADDITIONS = {
    "VIEW3D_MT_object": _draw_menu,
    "VIEW3D_MT_object_context_menu": _draw_context_menu,
    "VIEW3D_MT_object_quick_effects": _draw_quick,
    "PHYSICS_PT_add": _draw_physics,
    "PHYSICS_PT_cloth_cache": _draw_cache,
    "PHYSICS_PT_softbody_cache": _draw_cache,
    "SCENE_PT_rigid_body_cache": _draw_cache,
}
CLASSES = (SOFTPRESSURE_MT_object,)


def register() -> None:
    """Add them to Blender's menus."""
    for name, draw in _ADDITIONS.items():
        getattr(bpy.types, name).append(draw)


def unregister() -> None:
    """Take them away."""
    for name, draw in _ADDITIONS.items():
        getattr(bpy.types, name).remove(draw)
