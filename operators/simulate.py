"""Filling and emptying the cache."""

from typing import Any

import bpy
from bpy.props import BoolProperty

from ..softpressure.reports import status
from ..softpressure.scene_io.blender_types import Context
from ..softpressure.state import jobs, sessions
from .job import JobOperator
from .needs import A_BODY, NeedingOperator, settled_bodies, unless
from .reports import report

#: A cache that takes longer to make is not deleted without asking [s].
_WORTH_ASKING = 10.0


class SOFTPRESSURE_OT_simulate(JobOperator, bpy.types.Operator):
    """Simulate all frames that are missing in the cache. You can go on working; Esc stops."""

    bl_label = "Simulate"

    to_frame: BoolProperty(name="To Current Frame", description="Simulate up to the current frame only")  # type: ignore[valid-type]

    needs = A_BODY, settled_bodies
    lets_go_on = True

    def job(self, context: Context) -> jobs.Work:
        """Frame by frame; a whole cache is saved. Reports a compilation at the first start."""
        from ..softpressure.simulation import kernels, simulate_job

        scene = context.scene
        sentence = kernels.what_to_prepare(scene)
        if sentence:
            self.report({"INFO"}, sentence)
        yield from simulate_job.simulate(scene, scene.frame_current if self.to_frame else None)

    def done_text(self, context: Context) -> str:
        """Cached frames, and objects that take no part."""
        from ..softpressure.bodies import validation

        refused = validation.problems(context.scene)
        names = [obj.name for obj in context.scene.objects if obj.session_uid in refused]
        missing = f"; not simulated: {', '.join(names)}, see there" if names else ""
        return f"Cached {status.cache_text(context.scene)}{missing}"


class SOFTPRESSURE_OT_make_meshes(JobOperator, bpy.types.Operator):
    """Make the simulation meshes that are missing. You can go on working; Esc stops."""

    bl_label = "Make Simulation Meshes"

    needs = unless(lambda _: jobs.current() is None, "Wait for the running job: it makes them"), A_BODY
    lets_go_on = True

    def job(self, context: Context) -> jobs.Work:
        """Body by body; what is made is kept with the file."""
        from ..softpressure.simulation import making_meshes

        yield from making_meshes.make(context.scene, making_meshes.missing_now(context.scene))

    def done_text(self, _context: Context) -> str:
        """What is there now."""
        return "Simulation meshes are made"


class SOFTPRESSURE_OT_stop(bpy.types.Operator):
    """Stop the job of the window; the frames that are done stay."""

    bl_idname = "softpressure.stop"
    bl_label = "Stop"
    bl_description = "Stop and keep the finished frames, as Esc does"

    def execute(self, _context: Context) -> set[Any]:
        """End the job; its operator reports the result."""
        jobs.end()
        return {"FINISHED"}


class SOFTPRESSURE_OT_reset(NeedingOperator, bpy.types.Operator):
    """Clear the cache and go to the first frame."""

    bl_label = "Reset"
    bl_options = {"REGISTER"}
    needs = (A_BODY,)

    def execute(self, context: Context) -> set[Any]:
        """Reset; reports what is wrong with the bodies, as errors if none can be simulated."""
        from ..softpressure.bodies import validation
        from ..softpressure.simulation import timeline

        scene = context.scene
        timeline.reset(scene)
        session = sessions.of(scene)
        sentences = [*session.refusals.error.splitlines(), *validation.problems(scene).values()]
        is_stuck = bool(sentences) and session.run.cache is None
        for sentence in sentences:
            report(self, "ERROR" if is_stuck else "WARNING", sentence)
        return {"CANCELLED"} if is_stuck else {"FINISHED"}


class _Deleting:
    """Asks before frames are deleted that take long to make again."""

    bl_label: str

    def invoke(self, context: Context, event: bpy.types.Event) -> set[Any]:
        """Ask if it takes long to make the cache again."""
        seconds = status.remaking_seconds(context.scene)
        if seconds < _WORTH_ASKING:
            return self.execute(context)
        text = f"Delete {status.cache_text(context.scene)}? Simulating them again takes about {seconds:.0f} s."
        return context.window_manager.invoke_confirm(self, event, title=self.bl_label, message=text)


class SOFTPRESSURE_OT_delete_cache(_Deleting, NeedingOperator, bpy.types.Operator):
    """Delete the cached frames from memory and disk, and from the .blend file with the next save."""

    bl_label = "Delete Cache"
    bl_options = {"REGISTER"}
    needs = (A_BODY,)

    def execute(self, context: Context) -> set[Any]:
        """Delete."""
        from ..softpressure.simulation import timeline

        timeline.delete(context.scene)
        self.report({"INFO"}, "Deleted the cache")
        return {"FINISHED"}


class SOFTPRESSURE_OT_add_take(NeedingOperator, bpy.types.Operator):
    """Add an empty take and keep the frames of the others."""

    bl_label = "Add Take"

    def execute(self, context: Context) -> set[Any]:
        """Add."""
        from ..softpressure.cache import takes

        takes.add(context.scene)
        return {"FINISHED"}


class SOFTPRESSURE_OT_remove_take(_Deleting, NeedingOperator, bpy.types.Operator):
    """Remove the take with its frames from the list, memory and disk."""

    bl_label = "Remove Take"
    needs = (unless(lambda context: len(context.scene.softpressure.takes) > 1, "A scene has at least one take"),)

    def execute(self, context: Context) -> set[Any]:
        """Remove."""
        from ..softpressure.cache import takes

        takes.remove(context.scene)
        return {"FINISHED"}


CLASSES = (
    SOFTPRESSURE_OT_simulate,
    SOFTPRESSURE_OT_make_meshes,
    SOFTPRESSURE_OT_stop,
    SOFTPRESSURE_OT_reset,
    SOFTPRESSURE_OT_delete_cache,
    SOFTPRESSURE_OT_add_take,
    SOFTPRESSURE_OT_remove_take,
)
