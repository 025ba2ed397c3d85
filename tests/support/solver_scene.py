"""Two bodies and a floor with made-up contacts, for the tests of the solver's kernels."""

from types import SimpleNamespace

import numpy as np
import shapes
from softpressure_ext.core import ModelBuilder
from softpressure_ext.core.solvers.rigid_motion import rigid_motions

#: Kernel and twin do the same sums in another order.
ROUNDING = 1e-11
#: A billionth of the trace is added to the inertia: what turns is met to that, times speeds of a few m/s.
EXTRA_INERTIA = 1e-8


def two_bodies(**options):
    """A ball (0) with one pinned vertex, a ring (1) and a floor (2)."""
    made = ModelBuilder()
    made.add_membrane("ball", *shapes.icosphere(1, 0.12), mass=0.3, damping=4.0, pinned=[3], **options)
    made.add_membrane("ring", *shapes.torus(0.2, 0.08, 9, 6, (0.6, 0.0, 0.1)), mass=0.8, damping=7.0, **options)
    made.add_collider("floor", *shapes.grid(2.0, 2, -0.3), **options)
    return made.build()


def random_motion(model, seed=5):
    """Positions [m] and velocities [m/s] of all points."""
    rng = np.random.default_rng(seed)
    x = model.rest_positions + rng.normal(0, 0.005, model.rest_positions.shape)
    return x, rng.standard_normal(x.shape)


def parts(model):
    """The vertices of each membrane."""
    return [slice(model.body_point_start[b], model.body_point_start[b + 1]) for b in range(model.membrane_count)]


def motions(model, x, v, mass=None):
    """Rows of `rigid_motions`."""
    rows = np.zeros((model.membrane_count, 15))
    rigid_motions(x, v, model.vertex_mass if mass is None else mass, model.body_point_start, rows)
    return rows


class Pairs:
    """Contacts of pairs of bodies in turn; the normals of a pair scatter about one direction.

    Three rows follow that are not in use, as in a contact set.
    """

    def __init__(self, model, rng, count=24, bodies=((0, 1), (1, 0), (1, 2))):
        start = model.body_point_start
        rows = count + 3
        self.model, self.count = model, count
        self.bodies = np.array((bodies * rows)[:rows], np.int32)
        self.points = np.array(
            [
                [rng.integers(start[a], start[a + 1]), *rng.choice(np.arange(start[b], start[b + 1]), 3, replace=False)]
                for a, b in self.bodies
            ],
            np.int32,
        )
        self.weights = np.concatenate([np.ones((rows, 1)), -rng.dirichlet(np.ones(3), rows)], axis=1)
        normal = rng.normal(0, 0.3, (rows, 3)) + [0, 0, 1]
        sign = np.where(self.bodies[:, 0] <= self.bodies[:, 1], 1.0, -1.0)  # onto the lower-numbered body
        self.normal = sign[:, None] * normal / np.linalg.norm(normal, axis=1)[:, None]
        self.force = np.where(rng.random(rows) < 0.7, rng.uniform(1, 5, rows), 0.0)

    def impulses(self, x, time):
        """What a step of `time` [s] adds up to: one row per pair, ascending, with the impulse on the lower body."""
        used = slice(self.count)
        low, high = np.sort(self.bodies[used], axis=1).T
        key, row = np.unique(low * self.model.body_count + high, return_inverse=True)
        sign = np.where(self.bodies[used, 0] == low, 1.0, -1.0)
        size = time * self.force[used]
        place = 0.5 * np.einsum("cs,csi->ci", np.abs(self.weights[used]), x[self.points[used]])
        impulse, point, load = np.zeros((len(key), 3)), np.zeros((len(key), 3)), np.zeros(len(key))
        np.add.at(impulse, row, (sign * size)[:, None] * self.normal[used])
        np.add.at(point, row, size[:, None] * place)
        np.add.at(load, row, size)
        lower, higher = (part.astype(np.int32) for part in np.divmod(key, self.model.body_count))
        return SimpleNamespace(key=key, low=lower, high=higher, impulse=impulse, point=point, load=load)


def key_of(model, low, high):
    """Number of a pair of bodies."""
    return low * model.body_count + high


def row_of(model, pairs, low, high):
    """Row of a pair of bodies in its impulses."""
    return pairs.key.tolist().index(key_of(model, low, high))
