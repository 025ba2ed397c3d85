"""Yield and creep: rest lengths follow the lengths of springs that are stretched or squeezed beyond the yield strain.

    dL/dt = sign(l - L) max(|l - L| - y L0, 0) / T

with the yield strain y, the creep time T and the drawn length L0. It is the plastic spring of Clavet, Beaudoin and
Poulin (2005, 5.2) with the yield stress of the drawn length: a Bingham body, and a Maxwell body for y = 0. At constant
length the excess decays by exp(-t / T), which is taken exactly. The plastic limit bounds |L / L0 - 1| (Müller and Gross
2004).
"""

import numpy as np

from ..array_types import FloatArray
from ..model import Model

#: Least rest length, as a share of the drawn one: a body squeezed to nothing would have no shape left.
LEAST_SHARE = 0.05


class Creep:
    """Creep of the springs of a model."""

    def __init__(self, model: Model) -> None:
        given, edges = model.plasticity, model.edges
        body = model.point_body[edges.points[:, 0]]
        self._own = own = np.flatnonzero(given.creep_time[body] > 0.0)
        self._points, drawn = edges.points[own], edges.rest_length[own]
        self._rate = 1.0 / given.creep_time[body[own]]
        self._yield = given.yield_strain[body[own]] * drawn
        limit = given.plastic_limit[body[own]]
        limit = np.where(limit > 0.0, limit, np.inf)
        self._least = drawn * np.maximum(1.0 - limit, LEAST_SHARE)
        self._most = drawn * (1.0 + limit)

    def after(self, lengths: FloatArray, x: FloatArray, time: float) -> FloatArray:
        """Rest lengths [m] of all springs after a time [s] at positions x [m]; the same array if none flows."""
        i, j = self._points.T
        rest = lengths[self._own]
        stretch = np.linalg.norm(x[i] - x[j], axis=1) - rest
        excess = np.abs(stretch) - self._yield
        if not (excess > 0.0).any():
            return lengths
        moved = rest + np.copysign(-np.expm1(-time * self._rate) * np.maximum(excess, 0.0), stretch)
        after = lengths.copy()
        after[self._own] = np.clip(moved, self._least, self._most)
        return after
