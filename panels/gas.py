"""Panel of the gas and the liquid in a body, and the rows of a hose."""

import bpy

from ..softpressure.bodies import hose_problems
from ..softpressure.properties.parameter_properties import parameters
from ..softpressure.reports import status
from ..softpressure.scene_io import hoses, vacuum
from ..softpressure.scene_io.blender_types import Context, Layout
from .layout import PartOfBody, draw_group, draw_setting, draw_text


class Gas(PartOfBody):
    """What the gas of a soft body holds, the weight of what is inside, pump, leak and hoses."""

    bl_label = "Gas"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Only bodies of gas have it."""
        return super().poll(context) and hoses.has_gas(context.object)

    def draw_settings(self, layout: Layout, obj: bpy.types.Object) -> None:
        """The settings, locked where they do not count; the level of the liquid, the valves, a way to add a hose."""
        settings, scene = obj.softpressure, bpy.context.scene
        assert scene is not None
        holds_amount, has_fill = settings.gas_hold == "AMOUNT", settings.fill_density > 0.0
        draw_group(layout, settings, settings.body_type, "GAS")
        for parameter in parameters.groups(settings.body_type)["FLUID"]:
            row = layout.row()
            row.enabled = {"gas_exponent": holds_amount, "fill_share": has_fill}.get(parameter.name, True)
            draw_setting(row, settings, parameter)
        if text := vacuum.text(scene, obj):
            layout.label(text=text, icon="INFO")
        layout.prop_search(settings, "pressure_group", obj, "vertex_groups")
        if settings.body_type == "MEMBRANE":
            layout.prop_search(settings, "tie_group", obj, "vertex_groups")
        if text := status.liquid_text(scene, obj):
            layout.label(text=text, icon="INFO")
        column = layout.column()
        column.enabled = holds_amount  # else what flows has no effect
        for name in ("pump_rate", "leak_diameter"):
            draw_setting(column, settings, parameters.named(name))
        for hose in hoses.at(scene, obj):
            layout.prop(hose.softpressure, "valve", text=hose.name)
        layout.operator("softpressure.add_hose", icon="LINKED")


def draw_hose(layout: Layout, context: Context) -> None:
    """The settings of the active object, which is a hose, and why it is skipped."""
    obj = context.object
    if sentence := hose_problems.problem(context.scene, obj):
        draw_text(layout, context, sentence)
    layout.use_property_split = True
    for name in ("hose_from", "hose_to", "conductance", "valve"):
        layout.prop(obj.softpressure, name)
