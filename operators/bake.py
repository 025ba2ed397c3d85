"""Baking and freeing."""

from typing import Any

import bpy
from bpy.props import EnumProperty

from ..softpressure.reports import status
from ..softpressure.scene_io import mesh_io
from ..softpressure.scene_io.blender_types import Context
from ..softpressure.state import jobs, sessions
from .job import JobOperator
from .needs import ALL_FRAMES, NeedingOperator, unless

_TARGETS = (
    ("SHAPE_KEYS", "Shape Keys", "A shape key per frame for soft bodies, keyframes for rigid bodies"),
    (
        "RELATIVE_KEYS",
        "Relative Shape Keys",
        "As few shape keys as the largest error allows, as glTF and FBX store them",
    ),
)


def _free_bodies(context: Context) -> str:
    """The need of bodies none of which is baked or being edited, in words of its own."""
    for obj in sessions.objects(context.scene, "SOFT", "RIGID"):
        if obj.softpressure.is_baked:
            return f"{obj.name}: is baked already. Free the bake first."
        if mesh_io.is_edited(obj):
            return f"{obj.name}: is in Edit Mode. Leave it (Tab) before baking."
    return ""


class SOFTPRESSURE_OT_bake(JobOperator, bpy.types.Operator):
    """Convert the cached frames to shape keys and keyframes, which play without this extension."""

    bl_label = "Bake"
    bl_options = {"REGISTER", "UNDO"}

    target: EnumProperty(name="Target", description="What the frames are converted to", items=_TARGETS)  # type: ignore[valid-type]

    needs = (
        unless(lambda context: sessions.of(context.scene).run.cache is not None, "Simulate first"),
        unless(
            lambda context: not sessions.of(context.scene).is_out_of_date(context.scene),
            "The cached frames are out of date: simulate again",
        ),
        _free_bodies,
        ALL_FRAMES,
    )

    def job(self, context: Context) -> jobs.Work:
        """Frame by frame."""
        from ..softpressure.baking import bake

        scene = context.scene
        return bake.bake(scene, scene.softpressure.key_error if self.target == "RELATIVE_KEYS" else None)

    def done_text(self, context: Context) -> str:
        """How many objects are baked, which frames if not all, and how near to the cache if not exactly."""
        count = len(sessions.baked(context.scene))
        text = "1 body is baked" if count == 1 else f"{count} bodies are baked"
        if status.cache_share(context.scene) < 1.0:
            text += f" with {status.cache_text(context.scene)}: Free Bake and Simulate first for all"
        return ", ".join([text, *status.thinned_texts(context.scene)])


class SOFTPRESSURE_OT_free_bake(NeedingOperator, bpy.types.Operator):
    """Remove the baked shape keys and keyframes, and restore the bodies."""

    bl_label = "Free Bake"
    needs = (unless(lambda context: sessions.baked(context.scene), "No body of this scene is baked"),)

    def execute(self, context: Context) -> set[Any]:
        """Free all bakes of the scene."""
        from ..softpressure.baking import bake

        count = bake.free(context.scene)
        self.report({"INFO"}, f"Freed {count} bake{'s' if count != 1 else ''}")
        return {"FINISHED"}


CLASSES = (SOFTPRESSURE_OT_bake, SOFTPRESSURE_OT_free_bake)
