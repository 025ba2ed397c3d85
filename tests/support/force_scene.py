"""Two random bodies for the tests of forces, and how a force and a Hessian are compared with finite differences."""

import numpy as np
import shapes
from numba import njit
from softpressure_ext.core import ModelBuilder
from softpressure_ext.core.contact import barrier
from softpressure_ext.core.energy.bend import bend_force
from softpressure_ext.core.energy.stretch import stretch_force
from softpressure_ext.core.linear.conjugate_gradient import Hessian, multiply
from softpressure_ext.core.simd import load3, store3
from softpressure_ext.core.team import team_of_one

AMBIENT = 101_325.0
MODULUS = (2e4, 5e4)
BEND = (0.02, 0.05)
GAUGE = (5e3, 2e4)
MASS = (0.3, 0.8)

#: Vertices per chunk in these tests: several chunks per body, as in large meshes.
CHUNK_SIZE = 16
#: Kernel and twin do the same sums in another order: a few hundred roundings of 1e-16.
ROUNDING = 1e-11
#: Central differences over 1e-6 of the size: truncation 1e-12 of the third derivative, rounding 1e-16 / 1e-6.
DIFFERENCES = 1e-6


class Scene:
    """Two random bodies: their model (in chunks of a few vertices) and their meshes in the caller's order."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        ball, ring = shapes.icosphere(1, 0.12), shapes.torus(0.2, 0.08, 9, 6, (0.6, 0.0, 0.1))
        self.meshes = [(x + rng.normal(0, 0.006, x.shape), triangles) for x, triangles in (ball, ring)]
        made = ModelBuilder()
        for k, (x, triangles) in enumerate(self.meshes):
            made.add_membrane(
                f"body {k}", x, triangles, mass=MASS[k], stretch_modulus=MODULUS[k], bend_modulus=BEND[k],
                gauge_pressure=GAUGE[k],
            )  # fmt: skip
        made.add_collider("floor", *shapes.grid(2.0, 2, -0.3))
        self.model = made.build()
        self.rng = rng
        # scattered far enough that some springs are longer and some shorter than at rest
        self.moved = [x + rng.normal(0, 0.006, x.shape) for x, _ in self.meshes]

    @property
    def x(self):
        """Moved positions of all points in the model's order."""
        return self.inner([*self.moved, shapes.grid(2.0, 2, -0.3)[0]])

    def inner(self, per_body):
        """From the caller's order to the model's."""
        outer = np.concatenate(per_body)
        inner = np.empty_like(outer)
        inner[self.model.point_of_vertex[: len(outer)]] = outer
        return inner

    def joined(self, hessians):
        """Dense Hessians of the bodies as one matrix in the model's order."""
        n = self.model.vertex_count
        total, first = np.zeros((n, 3, n, 3)), 0
        for hessian in hessians:
            numbers = self.model.point_of_vertex[first : first + len(hessian)]
            for row, i in enumerate(numbers):
                total[i][:, numbers] = hessian[row]
            first += len(hessian)
        return total

    def direction(self):
        return self.rng.standard_normal((self.model.vertex_count, 3))


def close(actual, expected, share):
    expected = np.asarray(expected)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=share * np.abs(expected).max())


def smallest_eigenvalue_share(matrix):
    size = int(np.sqrt(matrix.size))
    spectrum = np.linalg.eigvalsh(matrix.reshape(size, size))
    return spectrum[0] / spectrum[-1]


def no_contact(model):
    return barrier.ContactTerms(
        np.zeros((1, 4), np.int32), np.zeros((1, 4)), np.zeros(model.vertex_count + 1, np.int32),
        np.zeros(4, np.int32), np.zeros((1, 3)), np.zeros((1, 6)),
        model.vertex_count, model.rigid.unknown, model.rigid.arm,
    )  # fmt: skip


def hessian_times(model, p, **parts):
    """H p as the conjugate gradients apply it, p'H p, and the gas's factor per body; parts not given are zero."""
    n, edge_count, sharp_count = model.vertex_count, len(model.edges.points), len(model.hinges.sharp)
    nothing = {
        "inertia": np.zeros(n),
        "pinned": np.zeros(n, bool),
        "sharp_turn": np.zeros((sharp_count, 18)),
        "edge_block": np.zeros((edge_count, 4)),
        "volume_gradient": np.zeros((n, 3)),
        "gas_stiffness": np.zeros(model.membrane_count),
        "rigid_mass": np.zeros(0),
        "rigid_inertia": np.zeros((0, 3, 3)),
        "rigid_point_start": model.rigid.point_start,
        "tetrahedra": model.tetrahedra.points[:0],
        "tetrahedron_stiffness": model.tetrahedra.stiffness,
        "tetrahedron_gradient": np.zeros((len(model.tetrahedra.points), 4, 3)),
        "tetrahedron_squeeze": np.zeros(len(model.tetrahedra.points)),
        "tetrahedron_chunk": model.tetrahedra.chunk_start,
        "tetrahedron_start": model.tetrahedra.vertex_start,
        "tetrahedron_entry": model.tetrahedra.vertex_entry,
        "flat_pairs": model.flat.pairs,
        "flat_normal": model.flat.pair_normal,
    }
    # the hinges have constant parts, so they are switched off by their number
    hinges = model.hinges
    if "sharp_turn" not in parts:
        hinges, sharp_count = hinges._replace(points=hinges.points[:0]), 0
    pulled = np.zeros((sharp_count, 4, 3))
    product, factor = np.zeros((n, 3)), np.zeros(model.membrane_count)
    curvature = np.zeros(model.moving_count)
    multiply(
        model.edges, hinges, model.chunks, Hessian(**(nothing | parts)), no_contact(model), 0, p,
        np.zeros((1, 3)), pulled, product, np.zeros((len(model.chunks.body), 2)), factor,
        np.arange(model.moving_count), curvature, team_of_one(),
    )  # fmt: skip
    return product, float(curvature.sum()), factor


# --- finite differences ------------------------------------------------------------------------------------------


def check_gradient(energy_and_force, x, direction, step=1e-7):
    """E(x + h d) - E(x - h d) = -2 h f . d; the energies of a scene are large, so rounding limits this to 1e-6."""
    along = np.zeros_like(x)
    along[: len(direction)] = direction
    difference = (energy_and_force(x + step * along)[0] - energy_and_force(x - step * along)[0]) / (2 * step)
    force = energy_and_force(x)[1]
    expected = -np.vdot(force, along[: len(force)])
    assert abs(difference - expected) < 1e-6 * np.abs(force * along[: len(force)]).sum()


def check_product(force_at, product, x, direction, step=1e-7):
    along = np.zeros_like(x)
    along[: len(direction)] = direction
    difference = (force_at(x - step * along) - force_at(x + step * along)) / (2 * step)
    close(product(direction), difference, DIFFERENCES)


@njit
def gather_stretch(x, edges, tension):
    """Forces of the springs on all vertices [N], shape (vertex_count, 3)."""
    force = np.empty((len(edges.vertex_start) - 1, 3))
    for i in range(len(force)):
        store3(force, 3 * i, stretch_force(i, load3(x, 3 * i), x, edges, tension))
    return force


@njit
def gather_bend(hinges, on_hinge):
    """Forces of the hinges on all vertices [N], shape (vertex_count, 3)."""
    force = np.empty((len(hinges.vertex_start) - 1, 3))
    for i in range(len(force)):
        store3(force, 3 * i, bend_force(i, hinges, on_hinge))
    return force
