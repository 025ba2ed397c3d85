"""Cages that move meshes of many vertices."""

from typing import Any

import bpy
from bpy.props import IntProperty

from ..softpressure.blender_types import Context
from ..softpressure.properties import VERTEX_COUNT
from .bodies import chosen_meshes, others
from .reports import finish, waiting


class SOFTPRESSURE_OT_add_cage(bpy.types.Operator):
    """Simulate a closed mesh of few vertices in place of each selected one, which follows it."""

    bl_idname = "softpressure.add_cage"
    bl_label = "Add Cage"
    bl_description = (
        "Simulate a closed mesh of few vertices in place of each selected one, which follows it by Surface Deform"
    )
    bl_options = {"REGISTER", "UNDO"}

    vertex_count: IntProperty(  # type: ignore[valid-type]
        name="Vertices",
        description="About how many vertices the cage has: more follow the mesh closer and take longer to simulate",
        default=VERTEX_COUNT,
        min=50,
        soft_max=20_000,
        max=200_000,
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs selected meshes."""
        if chosen_meshes(context):
            return True
        cls.poll_message_set("Select at least one mesh object")
        return False

    def execute(self, context: Context) -> set[Any]:
        """Add the cages and select them; reports reasons for meshes that are refused."""
        from ..softpressure import cages

        meshes = chosen_meshes(context)
        with waiting(context):
            result = finish(self, *cages.add_all(meshes, self.vertex_count))
        made = [(obj, cage) for obj in meshes if (cage := cages.cage_of(obj)) is not None and not cages.binding(cage)]
        for obj, cage in made:
            obj.select_set(False)
            cage.select_set(True)
            context.view_layer.objects.active = cage
        return result


class SOFTPRESSURE_OT_bind_to_cage(bpy.types.Operator):
    """Let the other selected meshes follow the active soft body."""

    bl_idname = "softpressure.bind_to_cage"
    bl_label = "Bind to Active"
    bl_description = "Let the other selected meshes follow the active soft body, as their cage"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs an active soft body and other meshes that are selected."""
        active = context.object
        if active is None or active.type != "MESH" or active.softpressure.kind != "SOFT" or not others(context):
            cls.poll_message_set("Select meshes, then the soft body they are to follow")
            return False
        if active.softpressure.is_baked:
            cls.poll_message_set("Free the bake first: meshes are bound to the shape without simulation")
            return False
        return True

    def execute(self, context: Context) -> set[Any]:
        """Bind; says which cannot be bound."""
        from ..softpressure import cages

        with waiting(context):
            return finish(self, *cages.bind_all(others(context), context.object))


class SOFTPRESSURE_OT_remove_cage(bpy.types.Operator):
    """Unbind the selected meshes, and delete cages that were made for them."""

    bl_idname = "softpressure.remove_cage"
    bl_label = "Remove Cage"
    bl_description = "Unbind the selected meshes, or those of the selected cages, and delete cages that were made here"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs a selected mesh with a cage, or a cage."""
        from ..softpressure import cages

        if cages.concerned(chosen_meshes(context)):
            return True
        cls.poll_message_set("Select a mesh with a cage, or its cage")
        return False

    def execute(self, context: Context) -> set[Any]:
        """Remove the cages and select their meshes."""
        from ..softpressure import cages

        meshes = cages.concerned(chosen_meshes(context))
        for obj in meshes:
            cages.remove(obj)
            obj.select_set(True)
            context.view_layer.objects.active = obj
        return finish(self, [f"{obj.name}: has no cage any more" for obj in meshes], [])


CLASSES = (SOFTPRESSURE_OT_add_cage, SOFTPRESSURE_OT_bind_to_cage, SOFTPRESSURE_OT_remove_cage)
