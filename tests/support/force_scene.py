"""Two random bodies for the tests of forces, and how a force is compared with finite differences."""

import numpy as np
import shapes
from numba import njit
from softpressure_ext.core import ModelBuilder
from softpressure_ext.core.energy.bend import hinge_energy
from softpressure_ext.core.energy.mechanical import add_soft_energies
from softpressure_ext.core.simd import store4
from softpressure_ext.core.solvers.explicit.gas import gathered_normals, set_pressures
from softpressure_ext.core.solvers.explicit.layout import Numbering
from softpressure_ext.core.solvers.explicit.skins import skins_of, write_rows
from softpressure_ext.core.solvers.explicit.springs import gathered_springs
from softpressure_ext.core.solvers.explicit.volumes import gathered_volumes

AMBIENT = 101_325.0
MODULUS = (2e4, 5e4)
BEND = (0.02, 0.05)
GAUGE = (5e3, 2e4)
MASS = (0.3, 0.8)

#: Kernel and twin do the same sums in another order: a few hundred roundings of 1e-16.
ROUNDING = 1e-11


class Scene:
    """Two random bodies: their model and their meshes in the caller's order."""

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

    def scattered(self, size):
        """Positions of all points, each moved at random [m] from where it is at rest."""
        return self.model.rest_positions + self.rng.normal(0.0, size, self.model.rest_positions.shape)

    def inner(self, per_body):
        """From the caller's order to the model's."""
        outer = np.concatenate(per_body)
        inner = np.empty_like(outer)
        inner[self.model.point_of_vertex[: len(outer)]] = outer
        return inner

    def direction(self):
        return self.rng.standard_normal((self.model.vertex_count, 3))


def close(actual, expected, share):
    expected = np.asarray(expected)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=share * np.abs(expected).max())


# --- finite differences ------------------------------------------------------------------------------------------


def check_gradient(energy_and_force, x, direction, step=1e-7):
    """E(x + h d) - E(x - h d) = -2 h f . d; the energies of a scene are large, so rounding limits this to 1e-6."""
    along = np.zeros_like(x)
    along[: len(direction)] = direction
    difference = (energy_and_force(x + step * along)[0] - energy_and_force(x - step * along)[0]) / (2 * step)
    force = energy_and_force(x)[1]
    expected = -np.vdot(force, along[: len(force)])
    assert abs(difference - expected) < 1e-6 * np.abs(force * along[: len(force)]).sum()


def spring_energies(model, x):
    """Energy of the springs and tetrahedra of each membrane [J], as reports have it."""
    energy, none = np.zeros(model.membrane_count), np.zeros(0)
    hinges = model.hinges._replace(points=model.hinges.points[:0])
    add_soft_energies(
        x, x, none, x, model.gravity, model.point_body, model.edges, hinges, model.tetrahedra, none, none, none, none,
        none, energy,
    )  # fmt: skip
    return energy


def skins_at(model, x, amount=0.0):
    """The soft bodies of a model as the engine has them, in the model's order, with nRT = `amount` [J] of each.

    Then at x [m] the forces of springs and of tetrahedra on the vertices [N], and dV/dx [m^2], (3, vertex_count, 3).
    """
    same, rows = np.arange(model.point_count, dtype=np.int32), np.zeros((model.point_count, 4))
    skins, found = skins_of(model, Numbering(same, same)), np.zeros((3, model.vertex_count, 4))
    skins.gas.amount[:], rows[:, :3] = amount, x
    gather(rows.ravel(), skins, *(part.ravel() for part in found))
    found[2] /= 6.0
    return skins, found[:, :, :3]


@njit
def gather(x, skins, springs, volumes, normals):
    """Forces of springs and tetrahedra on the vertices [N], six times dV/dx [m^2], and pressures."""
    for block in range(len(skins.blocks.body)):
        write_rows(x, skins, block)
    set_pressures(skins.gas, skins.blocks, skins.paces.due)
    for vertex in range(len(springs) // 4):
        i = np.uint64(vertex)
        store4(springs, 4 * vertex, gathered_springs(skins.springs, i))
        store4(volumes, 4 * vertex, gathered_volumes(skins.volumes, i))
        store4(normals, 4 * vertex, gathered_normals(skins.gas, i))


@njit
def hinge_energies(x, hinges):
    """Energy of each hinge [J]."""
    scratch = np.zeros((len(hinges.points), 4, 3))
    return np.array([hinge_energy(h, x, hinges, scratch) for h in range(len(scratch))])


@njit
def hinge_forces(x, hinges):
    """Forces of the hinges on the vertices that they have [N], shape (vertex_count, 3)."""
    on_hinge, force = np.zeros((len(hinges.points), 4, 3)), np.zeros((hinges.points.max() + 1, 3))
    for h in range(len(on_hinge)):
        hinge_energy(h, x, hinges, on_hinge)
        for slot in range(4):
            force[hinges.points[h, slot]] += on_hinge[h, slot]
    return force
