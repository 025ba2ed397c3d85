"""What a person sees: the classes of all panels, in their order."""

from . import bodies, body, controls, diagnostics, export, forces, menus, preferences, presets, scene, sweep, viewport

CLASSES = (
    *preferences.CLASSES,
    *controls.CLASSES,  # first: it is above the others
    *presets.CLASSES,
    *body.CLASSES,
    *forces.CLASSES,
    *bodies.CLASSES,
    *scene.CLASSES,
    *bodies.SCENE,  # in the panel of the scene
    *diagnostics.CLASSES,
    *viewport.CLASSES,
    *export.CLASSES,
    *sweep.CLASSES,
    *menus.CLASSES,
)
