"""Types of the arrays that the core works on, apart from the model: a change there compiles few kernels anew."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
BoolArray = NDArray[np.bool_]
