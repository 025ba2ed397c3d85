"""Step control: the local error of a second-order step, and how many substeps may be taken as one.

The method's local error in position is C h^3 x''' with C = 3 g^2 - 2 g^3 - 1/6 = 0.0404, g = gamma (the third-order
term of its stability function less that of the exponential); its two stages give x''' = (A2 - A1) / ((1 - g) h). The
error is small at rest and in calm flight, where a step may be as long as a frame; in an impact it is large, and the
substeps are taken one by one.
"""

import numpy as np

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
        self._start = start = model.body_point_start[: model.membrane_count]
        x = model.rest_positions[: model.vertex_count]
        extent = np.maximum.reduceat(x, start) - np.minimum.reduceat(x, start)
        self._radius = 0.5 * np.sqrt(np.einsum("ij,ij->i", extent, extent) / 3.0)

    def of(self, v0: FloatArray, v1: FloatArray, ahead: FloatArray, v: FloatArray, time: float) -> float:
        """Largest error of a body in a step of a length [s], in units of the tolerance.

        v0, v1, v: velocities of the vertices at its start, its first stage and its end [m/s]; `ahead`: at the start of
        the second stage.
        """
        model = self._model
        # A2 - A1 times the length of a stage
        difference = (v[: len(v0)] - ahead) - (v1 - v0)
        body = np.add.reduceat(np.einsum("ij,ij->i", difference, difference), self._start)
        count = np.diff(model.body_point_start)[: model.membrane_count]
        size = np.sqrt(body / count) * self._factor * time / self._gamma
        return float((size / (self._tolerance * self._radius)).max())
