"""Rest lengths with which a skin under pressure keeps its drawn shape, as far as springs can.

In the drawn shape the springs must balance the gas: sum over the springs at each vertex of t d = -p dV/dx, d the unit
vector to the other end. The rest length of a spring is then L0 = L - t / k = L (1 - a). Tensions t >= 0 are found by
least squares (conjugate gradients on the normal equations, CGLS; Hestenes and Stiefel 1952), from those of equal strain
with the right virial, a = 3 p V / sum k L^2; negative ones are set to 0 and excluded from the next round. With few
iterations the null space of the equations stays near that start. Hinges are at rest in the drawn shape.

No tensions balance a flat or hollow part. So the equilibrium with these lengths is found, and each is corrected once so
that its spring would have its drawn length there: L0 L / l.
"""

import numpy as np

from ..array_types import FloatArray
from ..model import Model

#: Rounds of least squares, and iterations in each.
ROUNDS, ITERATIONS = 3, 30
#: Relative tolerance of the squared gradient.
ROUNDING = 1e-20
#: A spring is shortened by no more than this share of its drawn length: a stretch of 100 %.
MOST_SHARE = 0.5


def held_lengths(model: Model, drawn: FloatArray, push: FloatArray) -> FloatArray:
    """Rest lengths [m] of the springs of a model of one membrane, of the lengths `drawn`, shape (edge_count,).

    `push`: force of the gas on each vertex of the drawn shape [N], shape (vertex_count, 3).
    """
    edges, x = model.edges, model.rest_positions
    first, second = edges.points.T
    along = (x[second] - x[first]) / drawn[:, None]
    unit = edges.stiffness * drawn  # tension of a spring per strain [N]
    virial = float((push * (x - x.mean(axis=0))).sum()) / float((unit * drawn).sum())
    strain = np.full(len(drawn), np.clip(virial, 0.0, MOST_SHARE))
    free = np.ones(len(drawn), dtype=bool)

    def pull(strain: FloatArray) -> FloatArray:
        """Force of the springs on each vertex [N]; 0 at pins."""
        force = (unit * strain)[:, None] * along
        ends = [np.bincount(first, f, len(x)) - np.bincount(second, f, len(x)) for f in force.T]
        total: FloatArray = np.where(model.pinned[:, None], 0.0, np.stack(ends, axis=1))
        return total

    def stretch(force: FloatArray) -> FloatArray:
        """The transpose of `pull`, of the springs that are free."""
        force = np.where(model.pinned[:, None], 0.0, force)
        taken: FloatArray = np.where(free, unit * ((force[first] - force[second]) * along).sum(axis=1), 0.0)
        return taken

    for _ in range(ROUNDS):
        left = -push - pull(strain)
        gradient = stretch(left)
        direction, square = gradient, float((gradient**2).sum())
        least = square * ROUNDING
        for _ in range(ITERATIONS):
            if not square > least:
                break
            pulled = pull(direction)
            length = square / float((pulled**2).sum())
            strain, left = strain + length * direction, left - length * pulled
            gradient, before = stretch(left), square
            square = float((gradient**2).sum())
            direction = gradient + square / before * direction
        strain = np.clip(strain, 0.0, MOST_SHARE)
        free = strain > 0.0
    lengths: FloatArray = drawn * (1.0 - strain)
    return lengths
