"""Registers the extension with Blender and unregisters it."""

import bpy

from ..operators import bake as bake_operators
from ..operators import bodies as body_operators
from ..operators import check as check_operators
from ..operators import curves as curve_operators
from ..operators import export as export_operators
from ..operators import hoses as hose_operators
from ..operators import live as live_operators
from ..operators import presets as preset_operators
from ..operators import simulate as simulate_operators
from ..operators import sweep as sweep_operators
from ..operators.reports import tells_errors
from ..panels import bodies as bodies_panel
from ..panels import body as body_panel
from ..panels import check as check_panel
from ..panels import controls as controls_panel
from ..panels import export as export_panel
from ..panels import forces as force_panels
from ..panels import presets as presets_panel
from ..panels import scene as scene_panels
from ..panels import sweep as sweep_panel
from ..panels import viewport as viewport_panels
from . import command, curves, handlers, loading, materials, overlay_view, properties, session, status_bar

CLASSES = (
    *properties.CLASSES,
    *body_operators.CLASSES,
    *check_operators.CLASSES,
    *hose_operators.CLASSES,
    *preset_operators.CLASSES,
    *simulate_operators.CLASSES,
    *live_operators.CLASSES,
    *bake_operators.CLASSES,
    *export_operators.CLASSES,
    *sweep_operators.CLASSES,
    *curve_operators.CLASSES,
    *controls_panel.CLASSES,  # first: it is above the others
    *presets_panel.CLASSES,
    *body_panel.CLASSES,
    *force_panels.CLASSES,
    *bodies_panel.CLASSES,
    *check_panel.CLASSES,
    *scene_panels.CLASSES,
    *viewport_panels.CLASSES,
    *export_panel.CLASSES,
    *sweep_panel.CLASSES,
)


def register() -> None:
    """Called when the extension is enabled."""
    loading.expect_wheels()
    for cls in CLASSES:
        bpy.utils.register_class(tells_errors(cls) if issubclass(cls, bpy.types.Operator) else cls)
    properties.register()
    materials.register()
    body_panel.register()
    handlers.register()
    command.register()
    curves.register()
    overlay_view.register()


def unregister() -> None:
    """Called when the extension is disabled."""
    overlay_view.unregister()
    curves.unregister()
    command.unregister()
    status_bar.stop()
    handlers.unregister()
    body_panel.unregister()
    materials.unregister()
    properties.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
    session.forget_all()
