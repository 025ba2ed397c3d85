"""Friction and bounciness of a pair of bodies: the geometric mean, so 0 on either side gives 0."""

from typing import Any

import numpy as np

from ..jit import lean_inline_kernel


def mixed(first: Any, second: Any) -> Any:
    """Coefficient of a pair from those of its bodies, numbers or arrays."""
    return np.sqrt(first * second)


#: The same for kernels.
mixed_kernel = lean_inline_kernel(mixed)
