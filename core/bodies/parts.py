"""Equal springs and equal point masses, as the papers number them, in place of a modulus and a mass that are spread.

A modulus and a density make bodies that do not depend on how fine the mesh is. The papers give one spring constant k to
all edges and one mass m to all points: twice the points weigh twice as much, and finer edges are a stiffer skin. Of a
flat body k and m are those of its outline or cells; its two copies of each point share them.

What such springs amount to is the modulus whose springs have the same sum k L^2, which is what they resist an even
strain with: 3 Y A over a skin, Y depth sum L along a loop, in proportion to E over a lattice.
"""

from dataclasses import replace

import numpy as np

from .. import topology
from ..array_types import FloatArray, IntArray
from .lattice.solids import GivenLattice


def skin_modulus(positions: FloatArray, triangles: IntArray, spring_constant: float) -> float:
    """Stretch modulus Y [N/m] of a skin whose edges all have one spring constant [N/m]."""
    points, _ = topology.unique_edges(triangles)
    length2 = ((positions[points[:, 0]] - positions[points[:, 1]]) ** 2).sum()
    return spring_constant * float(length2) / (3.0 * float(topology.triangle_areas(positions, triangles).sum()))


def loop_modulus(side: FloatArray, depth: float, spring_constant: float) -> float:
    """Stretch modulus Y [N/m] of a loop whose edges, `side` [m] long, all have one spring constant [N/m]."""
    return spring_constant * float((side * side).sum()) / (depth * float(side.sum()))


def with_springs(
    lattice: GivenLattice, positions: FloatArray, spring_constant: float, copies: int
) -> tuple[GivenLattice, float]:
    """A lattice with equal springs, and their stiffness as a share of that of its own ones.

    Tetrahedra follow by that share, so that Poisson's ratio stays. `positions` of its points [m]; `copies` of each
    edge, 2 of a flat body.
    """
    points, own = lattice.springs
    length2 = ((positions[points[:, 0]] - positions[points[:, 1]]) ** 2).sum(axis=1)
    stiffness = np.full_like(own, spring_constant / copies)
    share = float(stiffness @ length2) / float(own @ length2)
    springs, of_sums = lattice.springs._replace(stiffness=stiffness), share * lattice.sum_stiffness
    volumes = share * lattice.volume_stiffness
    return replace(lattice, springs=springs, volume_stiffness=volumes, sum_stiffness=of_sums), share


def with_volumes(lattice: GivenLattice, compliance: float) -> GivenLattice:
    """A lattice whose tetrahedra all have one compliance [m^3/Pa], as the XPBD page numbers it.

    0 is kept apart (`Model.rigid_volumes`): the stiffness of the moduli is left to what measures energies.
    """
    if compliance == 0.0:
        return lattice
    stiffness = np.full_like(lattice.volume_stiffness, 1.0 / compliance)
    return replace(lattice, volume_stiffness=stiffness, sum_stiffness=np.zeros_like(lattice.sum_stiffness))


def with_masses(lattice: GivenLattice, point_mass: float, copies: int) -> tuple[GivenLattice, float]:
    """A lattice with equal point masses [kg], and its mass [kg]; `copies` of each point, 2 of a flat body."""
    masses = np.full_like(lattice.vertex_mass, point_mass / copies)
    return replace(lattice, vertex_mass=masses), float(masses.sum())
