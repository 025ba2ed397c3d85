"""Whether a body is inside out."""

from .model import FloatArray, IntArray, Model
from .topology import signed_volume


def is_inside_out(model: Model, x: FloatArray, body: int) -> bool:
    """Whether the surface of a body encloses a volume of another sign at x [m], all points, than at rest."""
    own = _triangles(model, body)
    return signed_volume(x, own) * signed_volume(model.rest_positions, own) < 0.0


def inside_out_text(model: Model, x: FloatArray, body: int) -> str:
    """That a body begins so, as the end of a sentence; "" if it does not."""
    if not is_inside_out(model, x, body):
        return ""
    return f", where it begins inside out, with a volume of {signed_volume(x, _triangles(model, body)):.3g} m\u00b3"


def _triangles(model: Model, body: int) -> IntArray:
    start = model.surfaces.body_triangle_start
    return model.surfaces.triangles[start[body] : start[body + 1]]
