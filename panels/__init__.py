"""What a person sees: the classes of all panels, in their order."""

from . import bodies, body, check, controls, export, forces, presets, scene, sweep, viewport

CLASSES = tuple(
    panel
    for module in (controls, presets, body, forces, bodies, check, scene, viewport, export, sweep)
    for panel in module.CLASSES
)
