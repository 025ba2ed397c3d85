"""Panel of the gas and the liquid in a body, and the rows of a hose."""

import bpy

from ..softpressure import hose_problems, hoses, status
from ..softpressure.blender_types import Context, Layout
from ..softpressure.declared import parameters
from .layout import PartOfBody, draw_setting, draw_text


class Fluid(PartOfBody):
    """What the gas of a soft body holds, the weight of what is inside, pump, leak and hoses."""

    bl_label = "Gas and Liquid"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Only bodies of gas have it."""
        return super().poll(context) and hoses.has_gas(context.object)

    def draw_settings(self, layout: Layout, obj: bpy.types.Object) -> None:
        """The settings, dim where they do not count; the level of the liquid; the valves, and a way to add a hose."""
        settings, scene = obj.softpressure, bpy.context.scene
        assert scene is not None
        for parameter in parameters.groups(settings.body_type)["FLUID"]:
            row = layout.row()
            row.active = (parameter.name != "gas_exponent" or settings.gas_hold == "AMOUNT") and (
                parameter.name != "fill_share" or settings.fill_density > 0.0
            )
            draw_setting(row, settings, parameter)
        if text := status.liquid_text(scene, obj):
            layout.label(text=text, icon="INFO")
        for name in ("pump_rate", "leak_diameter"):
            draw_setting(layout, settings, parameters.named(name))
        for hose in hoses.at(scene, obj):
            layout.prop(hose.softpressure, "valve", text=hose.name)
        layout.operator("softpressure.add_hose", icon="LINKED")


def draw_hose(layout: Layout, context: Context) -> None:
    """The settings of the active object, which is a hose, and why it takes no part."""
    obj = context.object
    if sentence := hose_problems.problem(context.scene, obj):
        draw_text(layout, context, sentence)
    layout.use_property_split = True
    layout.prop(obj.softpressure, "hose_from")
    layout.prop(obj.softpressure, "hose_to")
    layout.prop(obj.softpressure, "conductance", text="Cond. (m\u00b3/s)")
    layout.prop(obj.softpressure, "valve")
