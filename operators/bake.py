"""Baking and freeing."""

from typing import Any

import bpy
from bpy.props import EnumProperty

from ..softpressure.reports import status
from ..softpressure.scene_io.blender_types import Context
from ..softpressure.state import jobs, sessions
from .job import JobOperator

_TARGETS = (
    ("SHAPE_KEYS", "Shape Keys", "A shape key per frame for soft bodies, keyframes for rigid bodies"),
    (
        "RELATIVE_KEYS",
        "Relative Shape Keys",
        "As few shape keys as the largest error allows, as glTF and FBX store them",
    ),
)


class SOFTPRESSURE_OT_bake(JobOperator, bpy.types.Operator):
    """Turn the cached frames of all bodies into data that plays without this extension."""

    bl_idname = "softpressure.bake"
    bl_label = "Bake"
    bl_description = "Convert the cached frames to shape keys and keyframes, which play without this extension"
    bl_options = {"REGISTER", "UNDO"}

    target: EnumProperty(name="Target", description="What the frames are converted to", items=_TARGETS)  # type: ignore[valid-type]

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs cached frames of the present settings, and no bake."""
        session = sessions.of(context.scene)
        if session.run.cache is None:
            cls.poll_message_set("Simulate first")
            return False
        if session.is_out_of_date(context.scene):
            cls.poll_message_set("The cached frames are out of date: simulate again")
            return False
        for obj in sessions.objects(context.scene, "SOFT", "RIGID"):
            if obj.softpressure.is_baked:
                cls.poll_message_set(f"{obj.name}: is baked already. Free the bake first.")
                return False
            if obj.mode == "EDIT":
                cls.poll_message_set(f"{obj.name}: is in Edit Mode. Leave it (Tab) before baking.")
                return False
        return cls.has_all_frames(context)

    def job(self, context: Context) -> jobs.Work:
        """Frame by frame."""
        from ..softpressure.baking import bake

        scene = context.scene
        return bake.bake(scene, scene.softpressure.key_error if self.target == "RELATIVE_KEYS" else None)

    def done_text(self, context: Context) -> str:
        """How many objects are baked, and how near to the cache if not exactly."""
        count = sum(obj.softpressure.is_baked for obj in sessions.objects(context.scene, "SOFT", "RIGID"))
        text = "1 body is baked" if count == 1 else f"{count} bodies are baked"
        return ", ".join([text, *status.thinned_texts(context.scene)])


class SOFTPRESSURE_OT_free_bake(bpy.types.Operator):
    """Remove the baked shape keys and keyframes, and give the bodies back as they were."""

    bl_idname = "softpressure.free_bake"
    bl_label = "Free Bake"
    bl_description = "Remove the baked shape keys and keyframes, and restore the bodies"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs a baked body."""
        if any(obj.softpressure.is_baked for obj in sessions.objects(context.scene, "SOFT", "RIGID")):
            return True
        cls.poll_message_set("No body of this scene is baked")
        return False

    def execute(self, context: Context) -> set[Any]:
        """Free all bakes of the scene."""
        from ..softpressure.baking import bake

        count = bake.free(context.scene)
        self.report({"INFO"}, f"Freed {count} bake{'s' if count != 1 else ''}")
        return {"FINISHED"}


CLASSES = (SOFTPRESSURE_OT_bake, SOFTPRESSURE_OT_free_bake)
