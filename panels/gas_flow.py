"""Panel of gas that is pumped into a body, leaks out of it or flows through hoses, and the rows of a hose."""

import bpy

from ..softpressure import hose_problems, hoses
from ..softpressure.blender_types import Context, Layout
from ..softpressure.declared import parameters
from .layout import PartOfBody, draw_setting, draw_text, in_both_places


class GasFlow(PartOfBody):
    """Pump, leak and hoses of a soft body with gas."""

    bl_label = "Gas Flow"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Only skins have gas."""
        return super().poll(context) and context.object.softpressure.body_type in hoses.WITH_GAS

    def draw_settings(self, layout: Layout, obj: bpy.types.Object) -> None:
        """The rates, a valve for each hose, and the operator that makes one."""
        for name in ("pump_rate", "leak_diameter"):
            draw_setting(layout, obj.softpressure, parameters.named(name))
        scene = bpy.context.scene
        assert scene is not None
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


SIDEBAR, PHYSICS = in_both_places(gas_flow=GasFlow)
(SOFTPRESSURE_PT_gas_flow,) = SIDEBAR

CLASSES = (*SIDEBAR, *PHYSICS)
