"""The panel that takes a simulation out of Blender."""

from ..softpressure.exporting import formats
from ..softpressure.reports import status
from ..softpressure.scene_io.blender_types import Context
from ..softpressure.state import sessions
from .layout import Part, draw_text, in_both_places


class Export(Part):
    """Out of Blender: files for other programs, and shape keys that their formats hold."""

    bl_label = "Export"
    parent = "bake"

    def draw(self, context: Context) -> None:
        """A button for each format, and the shape keys of glTF and FBX."""
        from ..softpressure.exporting import export

        layout, scene = self.layout, context.scene
        is_baked = bool(sessions.baked(scene))
        against: dict[str, list[str]] = {}
        column = layout.column(align=True)
        for first in range(0, len(formats.FORMATS), 2):
            row = column.row(align=True)
            for each in formats.FORMATS[first : first + 2]:
                button = row.row(align=True)
                if sentence := export.reason_against(scene, each):
                    against.setdefault(sentence, []).append(each.name)
                    button.enabled = False
                button.operator("softpressure.export", text=each.name).format = each.identifier
        for sentence in against:
            draw_text(layout, context, sentence, "INFO")
        column = layout.column()
        column.use_property_split = True
        column.prop(scene.softpressure, "key_error")
        for sentence in status.thinned_texts(scene):
            draw_text(layout, context, sentence, "INFO")
        if not is_baked:
            button = layout.operator("softpressure.bake", text="Bake to Relative Keys", icon="SHAPEKEY_DATA")
            button.target = "RELATIVE_KEYS"


SIDEBAR, SCENE = in_both_places(export=Export)

CLASSES = (*SIDEBAR, *SCENE)
