"""Search for flaws of bodies, and their fixes."""

from typing import Any

import bpy
from bpy.props import StringProperty

from ..softpressure.scene_io.blender_types import Context
from ..softpressure.state import jobs, sessions
from .job import JobOperator
from .needs import NeedingOperator, unless
from .reports import finish, waiting


class SOFTPRESSURE_OT_check(JobOperator, bpy.types.Operator):
    """Look for problems of the bodies in the scene, and offer fixes."""

    bl_label = "Check"
    needs = (unless(lambda context: sessions.objects(context.scene, "SOFT", "RIGID", "COLLIDER"), "Add a body first"),)

    def job(self, context: Context) -> jobs.Work:
        """Object by object, then a start; the panel shows what is found until an input changes."""
        from ..softpressure.bodies import mesh_checks
        from ..softpressure.simulation import trial_start

        scene = context.scene
        session, found = sessions.of(scene), list[Any]()
        session.checked, inputs = None, session.inputs(scene)
        yield from mesh_checks.search(scene, found)
        session.checked = inputs, found
        yield from trial_start.search(scene, found)

    def done_text(self, context: Context) -> str:
        """Number of flaws; without a window each of them is reported."""
        checked = sessions.of(context.scene).checked
        if checked is None:
            return "Not checked"
        for flaw in checked[1] if bpy.app.background else ():
            self.report({"WARNING"}, flaw.sentence)
        return f"{len(checked[1])} problem{'s' if len(checked[1]) != 1 else ''} found"


class SOFTPRESSURE_OT_fix(NeedingOperator, bpy.types.Operator):
    """Mend what is wrong with an object."""

    bl_label = "Fix"

    object_name: StringProperty(name="Object", description="Object to fix", options={"SKIP_SAVE"})  # type: ignore[valid-type]
    fix: StringProperty(name="Fix", description="Name of the fix: FILL_HOLES, MERGE, ...", options={"SKIP_SAVE"})  # type: ignore[valid-type]

    @classmethod
    def description(cls, _context: Context, properties: Any) -> str:
        """Tooltip of the fix."""
        from ..softpressure.bodies import fixes

        fix = fixes.FIXES.get(properties.fix)
        return fix.tooltip if fix else cls.__doc__ or ""

    def execute(self, context: Context) -> set[Any]:
        """Apply the fix; reports the remaining problems."""
        from ..softpressure.bodies import fixes

        obj, scene = context.scene.objects.get(self.object_name), context.scene
        if obj is None or self.fix not in fixes.FIXES:
            known = ", ".join(fixes.FIXES)
            self.report({"ERROR"}, f"Object {self.object_name!r}, fix {self.fix!r}: give an object and one of {known}.")
            return {"CANCELLED"}
        with waiting(context):
            done = fixes.apply(obj, self.fix)
        if sessions.of(scene).checked is not None and context.mode == "OBJECT":
            context.view_layer.update()
            bpy.ops.softpressure.check("INVOKE_DEFAULT")
        return finish(self, *done)


CLASSES = (SOFTPRESSURE_OT_check, SOFTPRESSURE_OT_fix)
