"""The panel that takes a simulation out of Blender."""

from ..softpressure import formats, session, status
from ..softpressure.blender_types import Context, Layout
from .layout import draw_text, in_both_places


class Export:
    """Out of Blender: files for other programs, and shape keys that their formats hold."""

    layout: Layout
    bl_label = "Export"
    parent = "bake"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        """A button for each format, and the shape keys of glTF and FBX."""
        layout, scene = self.layout, context.scene
        here = session.of(scene)
        is_baked = any(obj.softpressure.is_baked for obj in session.objects(scene, "SOFT", "RIGID"))
        layout.enabled = is_baked or (here.cache is not None and not here.is_out_of_date(scene))
        column = layout.column(align=True)
        for first in range(0, len(formats.FORMATS), 2):
            row = column.row(align=True)
            for each in formats.FORMATS[first : first + 2]:
                row.operator("softpressure.export", text=each.name).format = each.identifier
        column = layout.column()
        column.use_property_split = True
        column.prop(scene.softpressure, "key_error")
        for sentence in status.thinned_texts(scene):
            draw_text(layout, context, sentence, "INFO")
        if not is_baked:
            button = layout.operator("softpressure.bake", text="Bake to Relative Keys", icon="SHAPEKEY_DATA")
            button.target = "RELATIVE_KEYS"


SIDEBAR, PHYSICS = in_both_places(export=Export)

CLASSES = (*SIDEBAR, *PHYSICS)
