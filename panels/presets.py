"""The menu of materials, in the body's panel."""

import bpy
from bl_ui.utils import PresetPanel

from ..softpressure.bodies import materials


class SOFTPRESSURE_PT_presets(PresetPanel, bpy.types.Panel):
    """Materials of soft bodies: those that came with the extension, and one's own."""

    bl_label = "Materials"
    preset_subdir = materials.SUBFOLDER
    preset_operator = "softpressure.apply_preset"
    preset_add_operator = "softpressure.preset_add"


CLASSES = (SOFTPRESSURE_PT_presets,)
