"""Whether a body is inside out."""

from .array_types import FloatArray
from .model import Model
from .topology import signed_volume
from .volume import closed_surface, is_burst


def is_inside_out(model: Model, x: FloatArray, body: int) -> bool:
    """Whether the surface of a body encloses a volume of another sign at x [m], all points, than at rest.

    A burst skin encloses none.
    """
    own = closed_surface(model, body)
    return not is_burst(model, body) and signed_volume(x, own) * signed_volume(model.rest_positions, own) < 0.0


def inside_out_text(model: Model, x: FloatArray, body: int) -> str:
    """That a body begins so, as the end of a sentence; "" if it does not."""
    if not is_inside_out(model, x, body):
        return ""
    return f", where it begins inside out, with a volume of {signed_volume(x, closed_surface(model, body)):.3g} m\u00b3"
