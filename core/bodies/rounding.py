"""Bodies whose distances are lost in the rounding of their coordinates."""

from collections.abc import Sequence

import numpy as np

from ..array_types import FloatArray, IntArray
from ..errors import ParameterError

#: Largest distance of neighbouring numbers at a body's coordinates [thickness]. At a fiftieth a ball rests on a floor
#: as it does at the origin; at a quarter explicit steps shake it off.
LARGEST_SHARE = 0.1


def check_rounding(names: Sequence[str], positions: FloatArray, point_start: IntArray, thickness: FloatArray) -> None:
    """Raise `ParameterError` for the first of these bodies that is too far away, or too large, for its thickness.

    `positions` [m], shape (point_count, 3); `point_start`: first point of each body; `thickness` [m] of each.
    """
    for number, name in enumerate(names):
        largest = float(np.abs(positions[point_start[number] : point_start[number + 1]]).max(initial=0.0))
        apart = float(np.spacing(largest))
        if apart > LARGEST_SHARE * thickness[number]:
            raise ParameterError(
                f"{name}: at coordinates of up to {largest:.3g} m numbers are {apart:.2g} m apart, too far for a "
                f"thickness of {thickness[number]:.3g} m. Move it to the origin, scale it down, or give a larger "
                "thickness."
            )
