"""Materials of soft bodies: taking one from the menu of presets, and putting one's own there."""

from pathlib import Path
from typing import Any

import bpy
from bl_operators.presets import AddPresetBase
from bpy.props import EnumProperty, StringProperty

from ..softpressure.bodies import materials, paper_setups
from ..softpressure.scene_io.blender_types import Context
from ..softpressure.state import sessions
from .needs import NeedingOperator, unless
from .reports import finish, report

#: The panel that shows them.
_MENU = "SOFTPRESSURE_PT_presets"


def _is_soft(context: Context) -> bool:
    obj = context.object
    return obj is not None and obj.type == "MESH" and obj.softpressure.kind == "SOFT"


#: To take a material from or to give one.
_A_SOFT_BODY = unless(_is_soft, "Make a soft body the active object")


class SOFTPRESSURE_OT_apply_preset(NeedingOperator, bpy.types.Operator):
    """Give the active soft body a material."""

    bl_label = "Apply Material"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}
    needs = (
        _A_SOFT_BODY,
        unless(lambda context: not context.object.softpressure.is_baked, "Free the bake before changing the settings"),
    )

    filepath: StringProperty(name="File", description="The preset", subtype="FILE_PATH", options={"SKIP_SAVE"})  # type: ignore[valid-type]

    @classmethod
    def description(cls, _context: Context, properties: Any) -> str:
        """What the material is, and what it sets."""
        return materials.about(properties.filepath) or "Give the active soft body this material"

    def execute(self, context: Context) -> set[Any]:
        """Apply it; says what was kept."""
        if not materials.is_known(self.filepath):
            folders = ", ".join(bpy.utils.preset_paths(materials.SUBFOLDER))
            report(self, "ERROR", f"{self.filepath}: is not a material preset. Choose one of {folders}.")
            return {"CANCELLED"}
        from ..softpressure.bodies import object_checks

        try:
            note = materials.apply(context.object, self.filepath, _MENU, object_checks.can_be)
        except (TypeError, ValueError, OverflowError) as error:
            note = f"{Path(self.filepath).name}: {error}. Remove that preset and store it anew"
        if note:
            report(self, "WARNING", note)
        return {"FINISHED"}


class SOFTPRESSURE_OT_preset_add(AddPresetBase, NeedingOperator, bpy.types.Operator):  # type: ignore[misc]
    """Save type, mass, pressure, stiffness, damping, friction and bounciness as a preset."""

    bl_label = "Add Material Preset"
    needs = (_A_SOFT_BODY,)
    preset_menu = _MENU
    preset_subdir = materials.SUBFOLDER
    preset_defines = ("settings = bpy.context.object.softpressure",)
    preset_values = tuple(f"settings.{name}" for name in materials.SAVED)


class SOFTPRESSURE_OT_set_up_as(NeedingOperator, bpy.types.Operator):
    """Set up the scene and the selected meshes, or all soft bodies, as one of the papers has them."""

    bl_label = "Set Up as in"

    text: EnumProperty(  # type: ignore[valid-type]
        name="Text",
        description="Which text",
        items=[(name, setup.label, setup.about) for name, setup in paper_setups.SETUPS.items()],
    )

    def execute(self, context: Context) -> set[Any]:
        """Set up; says what was done and why not the rest."""
        chosen = [obj for obj in context.selected_objects if obj.type == "MESH"]
        chosen = [obj for obj in chosen if obj.softpressure.kind in {"NONE", "SOFT"}]
        return finish(
            self, *paper_setups.apply(context.scene, self.text, chosen or sessions.objects(context.scene, "SOFT"))
        )  # fmt: skip


CLASSES = (SOFTPRESSURE_OT_apply_preset, SOFTPRESSURE_OT_preset_add, SOFTPRESSURE_OT_set_up_as)
