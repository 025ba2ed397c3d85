"""Exporting to files of other programs."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ..softpressure.exporting import formats
from ..softpressure.reports import status
from ..softpressure.scene_io.blender_types import Context
from ..softpressure.state import jobs, sessions
from .job import JobOperator
from .needs import ALL_FRAMES, unless

_ITEMS = [(each.identifier, each.name, each.description) for each in formats.FORMATS]


def _has_frames(context: Context) -> bool:
    """Whether there are cached or baked frames."""
    return sessions.of(context.scene).run.cache is not None or bool(sessions.baked(context.scene))


class SOFTPRESSURE_OT_export(JobOperator, bpy.types.Operator):
    """Write the cached or baked frames to a file for other programs."""

    bl_label = "Export"
    needs = unless(_has_frames, "Simulate first"), ALL_FRAMES

    filepath: StringProperty(  # type: ignore[valid-type]
        name="File", description="Where to write; the suffix is the format", subtype="FILE_PATH"
    )
    filter_glob: StringProperty(options={"HIDDEN", "SKIP_SAVE"})  # type: ignore[valid-type]
    check_existing: BoolProperty(default=True, options={"HIDDEN"})  # type: ignore[valid-type]
    format: EnumProperty(  # type: ignore[valid-type]
        name="Format", description="Format of a file without a suffix", items=_ITEMS, options={"SKIP_SAVE"}
    )
    only_selected: BoolProperty(  # type: ignore[valid-type]
        name="Selected Only", description="Export only the selected objects of the scene"
    )

    @classmethod
    def description(cls, context: Context, properties: Any) -> str:
        """What the button of a format does, or why it does not."""
        from ..softpressure.exporting import export

        if sentence := export.reason_against(context.scene, formats.BY_IDENTIFIER[properties.format]):
            return sentence
        return f"{formats.BY_IDENTIFIER[properties.format].description}. {cls.bl_description}"

    def invoke(self, context: Context, _event: bpy.types.Event) -> set[Any]:
        """Ask for the file, named as the .blend file at first; where the format is refused, say so before."""
        from ..softpressure.exporting import export

        export.check(context.scene, formats.BY_IDENTIFIER[self.format])
        suffixes = formats.BY_IDENTIFIER[self.format].suffixes
        blend = Path(bpy.data.filepath or "untitled.blend")
        self.filepath = str(blend.with_suffix(suffixes[0]))
        self.filter_glob = ";".join(f"*{suffix}" for suffix in suffixes)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def cancel(self, context: Context) -> None:
        """The file browser is closed; nothing has begun."""

    def draw(self, context: Context) -> None:
        """Settings beside the list of files."""
        layout: Any = self.layout
        layout.use_property_split = True
        layout.prop(self, "only_selected")
        if formats.BY_IDENTIFIER[self.format].blends_keys:
            layout.prop(context.scene.softpressure, "key_error")

    def job(self, context: Context) -> jobs.Work:
        """Bake if the format needs it, and write."""
        from ..softpressure.exporting import export

        return export.export(context.scene, self._path(), self.only_selected)

    def done_text(self, context: Context) -> str:
        """Where it was written, and which frames if not all."""
        is_part = not sessions.baked(context.scene) and status.cache_share(context.scene) < 1.0
        return f"Exported {status.cache_text(context.scene) + ' ' if is_part else ''}to {self._path()}"

    def _path(self) -> Path:
        path = Path(bpy.path.abspath(self.filepath))
        return path if path.suffix else path.with_suffix(formats.BY_IDENTIFIER[self.format].suffixes[0])


CLASSES = (SOFTPRESSURE_OT_export,)
