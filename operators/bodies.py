"""Adding and removing bodies."""

from typing import Any

import bpy
from bpy.props import EnumProperty

from ..softpressure.properties.object_properties import KINDS
from ..softpressure.scene_io import instances
from ..softpressure.scene_io.blender_types import Context
from .reports import finish, waiting


def chosen(context: Context) -> list[bpy.types.Object]:
    """The selected objects that can be bodies; the active one alone if it is not selected, as its panel is shown."""
    active = context.object
    found = context.selected_objects if active is None or active.select_get() else [active]
    return [obj for obj in found if instances.can_collide(obj)]


def chosen_meshes(context: Context) -> list[bpy.types.Object]:
    """The meshes among them."""
    return [obj for obj in chosen(context) if obj.type == "MESH"]


class SOFTPRESSURE_OT_add_body(bpy.types.Operator):
    """Make the selected meshes take part in the simulation."""

    bl_idname = "softpressure.add_body"
    bl_label = "Add Body"
    bl_description = "Make the selected meshes take part in the simulation, or take part in another way"
    bl_options = {"REGISTER", "UNDO"}

    kind: EnumProperty(name="Kind", description="How the meshes take part", items=KINDS[1:], default="SOFT")  # type: ignore[valid-type]

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs selected meshes, or Collection Instances."""
        if chosen(context):
            return True
        cls.poll_message_set("Select at least one mesh object")
        return False

    def execute(self, context: Context) -> set[Any]:
        """Add the meshes; reports reasons for those that are refused."""
        from ..softpressure.bodies import setup
        from ..softpressure.simulation import kernels, making_meshes

        with waiting(context):
            notes, refusals = setup.add_all(context.scene, chosen(context), self.kind)
        if notes and not bpy.app.background:
            kernels.is_prepared(context.scene)  # begins while the scene is still being set up
            if kernels.can_make_meshes() and making_meshes.missing_now(context.scene):
                bpy.ops.softpressure.make_meshes("INVOKE_DEFAULT")
        return finish(self, notes, refusals)


class SOFTPRESSURE_OT_remove_body(bpy.types.Operator):
    """Take the selected meshes out of the simulation and give them back as they were."""

    bl_idname = "softpressure.remove_body"
    bl_label = "Remove Body"
    bl_description = "Take the selected meshes out of the simulation and give them back as they were"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs a selected body."""
        if any(obj.softpressure.kind != "NONE" for obj in chosen(context)):
            return True
        cls.poll_message_set("Select at least one body of the simulation")
        return False

    def execute(self, context: Context) -> set[Any]:
        """Remove all that are selected."""
        from ..softpressure.bodies import setup

        return finish(self, *setup.remove_all(chosen(context)))


class SOFTPRESSURE_OT_copy_to_selected(bpy.types.Operator):
    """Give the other selected meshes the settings of the active body."""

    bl_idname = "softpressure.copy_to_selected"
    bl_label = "Copy to Selected"
    bl_description = "Make the other selected meshes what the active one is, with all its settings"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs an active body and other meshes that are selected."""
        active = context.object
        if active is None or active.type != "MESH" or active.softpressure.kind == "NONE":
            cls.poll_message_set("Make the body with the settings the active object")
            return False
        if not others(context):
            cls.poll_message_set("Select other meshes as well")
            return False
        return True

    def execute(self, context: Context) -> set[Any]:
        """Copy; says which cannot be such a body."""
        from ..softpressure.bodies import copying

        return finish(self, *copying.copy_to(context.object, others(context)))


def others(context: Context) -> list[bpy.types.Object]:
    """The selected meshes beside the active object."""
    return [obj for obj in context.selected_objects if obj.type == "MESH" and obj != context.object]


class SOFTPRESSURE_OT_inflate(bpy.types.Operator):
    """Make the flat body a cushion: a second side, a rim between both, and gas inside."""

    bl_idname = "softpressure.inflate"
    bl_label = "Inflate"
    bl_description = "Make the flat body a cushion: a second side, a rim between both, and gas inside"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs a flat soft body of faces."""
        obj = context.object
        if obj is not None and obj.type == "MESH" and obj.mode == "OBJECT":
            from ..softpressure.bodies import setup

            if setup.can_inflate(obj):
                return True
        cls.poll_message_set("Select a flat soft body that has faces")
        return False

    def execute(self, context: Context) -> set[Any]:
        """Inflate the active object, or say why that cannot be."""
        from ..softpressure.bodies import setup

        return finish(self, *setup.inflate(context.object))


class SOFTPRESSURE_OT_hide_torn(bpy.types.Operator):
    """Cut the gaps of torn bodies visibly: a modifier hides each face from the frame at which it tears."""

    bl_idname = "softpressure.hide_torn"
    bl_label = "Hide Torn Faces"
    bl_description = "Cut the gaps of torn bodies visibly: a modifier hides each face from the frame at which it tears"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs a selected soft body."""
        if any(obj.softpressure.kind == "SOFT" for obj in chosen_meshes(context)):
            return True
        cls.poll_message_set("Select at least one soft body")
        return False

    def execute(self, context: Context) -> set[Any]:
        """Add the modifier to all that are selected."""
        from ..softpressure.scene_io import torn_faces

        soft = [obj for obj in chosen_meshes(context) if obj.softpressure.kind == "SOFT"]
        for obj in soft:
            torn_faces.hide(obj)
        return finish(self, [f"{obj.name}: hides its torn faces" for obj in soft], [])


CLASSES = (
    SOFTPRESSURE_OT_add_body,
    SOFTPRESSURE_OT_remove_body,
    SOFTPRESSURE_OT_copy_to_selected,
    SOFTPRESSURE_OT_inflate,
    SOFTPRESSURE_OT_hide_torn,
)
