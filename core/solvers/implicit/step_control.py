"""Step control: the local error of a second-order step, and how many substeps may be taken as one.

The method's local error in position is C h^3 x''' with C = 3 g^2 - 2 g^3 - 1/6 = 0.0404, g = gamma (the third-order
term of its stability function less that of the exponential), and its two stages tell x''' = (A2 - A1) / ((1 - g) h).
At rest and in calm flight that is small, and a step may be as long as a frame; in an impact it is large, and the
substeps that were asked for are taken one by one.
"""

import numpy as np

from ...jit import kernel
from ...model import FloatArray, Model

#: Share of the tolerance up to which the next step may be longer: twice the length has eight times the error.
LONGER_BELOW = 0.1


class StepControl:
    """Errors of the steps of a model whose stages have the share `gamma` of a step.

    `tolerance`: error of a step, as the root mean square over a body's vertices, that is allowed, above 0, in units of
    the body's radius.
    """

    def __init__(self, model: Model, gamma: float, tolerance: float) -> None:
        self._model, self._gamma, self._tolerance = model, gamma, tolerance
        self._factor = (3.0 * gamma**2 - 2.0 * gamma**3 - 1.0 / 6.0) / (1.0 - gamma)
        start = model.body_point_start[: model.membrane_count]
        x = model.rest_positions[: model.vertex_count]
        extent = np.maximum.reduceat(x, start) - np.minimum.reduceat(x, start)
        self._radius = 0.5 * np.sqrt(np.einsum("ij,ij->i", extent, extent) / 3.0)
        self._sums = np.zeros(len(model.chunks.body))

    def of(self, v0: FloatArray, v1: FloatArray, ahead: FloatArray, v: FloatArray, time: float) -> float:
        """Largest error of a body, in units of what is allowed, of a step of a length [s].

        v0, v1, v: velocities of the vertices at its start, its first stage and its end [m/s]; `ahead`: with which the
        second stage began.
        """
        model = self._model
        # A2 - A1 times the length of a stage
        sum_squares(v0, v1, ahead, v, model.chunks, self._sums)
        body = np.bincount(model.chunks.body, self._sums, model.membrane_count)
        count = np.diff(model.body_point_start)[: model.membrane_count]
        size = np.sqrt(body / count) * self._factor * time / self._gamma
        return float((size / (self._tolerance * self._radius)).max())


@kernel
def sum_squares(v0, v1, ahead, v, chunks, sums):
    """Per chunk the sum of |(v - ahead) - (v1 - v0)|^2."""
    for chunk in range(chunks.body.shape[0]):
        total = 0.0
        for i in range(chunks.start[chunk], chunks.start[chunk + 1]):
            for axis in range(3):
                d = (v[i, axis] - ahead[i, axis]) - (v1[i, axis] - v0[i, axis])
                total += d * d
        sums[chunk] = total
