"""Step control: the local error of a second-order step, and how many substeps may be taken as one.

The method's local error in position is C h^3 x''' with C = 3 g^2 - 2 g^3 - 1/6 = 0.0404, g = gamma (the third-order
term of its stability function less that of the exponential); its two stages give x''' = (A2 - A1) / ((1 - g) h). The
error is small at rest and in calm flight, where a step may be as long as a frame; in an impact it is large, and the
substeps are taken one by one.
"""

import numpy as np

from ...jit import kernel
from ...model import FloatArray, Model

#: Error below which the next step may be twice as long [tolerance]: twice the length has eight times the error.
LONGER_BELOW = 0.1


class StepControl:
    """Local errors of the steps of a model with stages of length `gamma` times that of the step.

    `tolerance`: accepted error of a step, root mean square over a body's vertices [body's radius], above 0.
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
        """Largest error of a body in a step of a length [s], in units of the tolerance.

        v0, v1, v: velocities of the vertices at its start, its first stage and its end [m/s]; `ahead`: at the start of
        the second stage.
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
