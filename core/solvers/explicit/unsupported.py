"""Features of a scene that explicit steps do not support."""

from ...energy.energies import ModelElements
from ...model import Model
from ...options import MethodOptions
from ...parameters.methods import FORCE_BASED


def unsupported(model: Model, options: MethodOptions) -> tuple[str, str]:
    """The first unsupported feature: subject and value, as the start of a sentence, and a remedy; "" if none is.

    All are choices of the papers, for comparison with their own methods.
    """
    papers = f"choose XPBD or one of {', '.join(FORCE_BASED)}."
    if options.changes_gas:
        return (
            f"gas: volume {options.volume}, pressure spread {options.spread}",
            f"Give EXACT and EXACT_GRADIENT, or {papers}",
        )
    if options.step_damping:
        return (
            f"step damping: on, for springs of up to {options.stiffest_spring:g} N/m",
            f"Turn it off and damp the bodies, or {papers}",
        )
    if len(model.circles.points):
        body, diameter = model.point_body[model.circles.points[0]], model.circles.diameter[0]
        return f"{model.body_names[body]}: particles of {0.5 * diameter:g} m", f"Give a radius of 0, or {papers}"
    held = ModelElements(model, joints=False).rigid_bodies()
    if len(held):
        return (
            f"{model.body_names[held[0]]}: a rigid body that an energy of elements pulls",
            f"Choose one of {', '.join(FORCE_BASED)}.",
        )
    return "", ""
