"""The lattice of a solid from the arguments of the builder."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import topology
from ...array_types import FloatArray, IntArray
from ...checks import check
from ...energy.volume import CORNER_TETRAHEDRA, corner_stiffness
from ..automatic_cells import automatic_cell_size
from .cells import Cells, fill, tetrahedron_volumes
from .follow import Follow, Holds, follow, holds
from .main_directions import grid_axes
from .springs import SPRING_POISSON_RATIO, Springs, elastic_constants, springs_of


@dataclass(frozen=True, slots=True)
class GivenLattice:
    """Springs, tetrahedra, masses and followers of a lattice. Points are numbered within the body."""

    springs: Springs
    tetrahedra: IntArray  # eight corners of each cell, if it resists a change of volume, shape (tetrahedron_count, 4)
    volume_stiffness: FloatArray  # of each one's volume [Pa/m^3], shape (tetrahedron_count,)
    vertex_mass: FloatArray  # [kg], shape (lattice_vertex_count,)
    follow: Follow  # of the caller's vertices
    holds: Holds
    pinned_positions: FloatArray  # of the caller's pinned vertices at rest [m], shape (pinned_count, 3)
    outer: IntArray  # lattice vertices on the surface
    cells: IntArray  # corners of the cells, shape (cell_count, 8); a flat body has none
    #: Of the sum of a cell's eight volumes [Pa/m^3], shape (tetrahedron_count / 8,).
    sum_stiffness: FloatArray = field(default_factory=lambda: np.zeros(0))

    def nearest(self, positions: FloatArray, vertices: IntArray) -> IntArray:
        """Lattice vertices on the surface that are nearest to vertices of the caller, each once, ascending."""
        places = np.einsum("ij,ijk->ik", self.follow.weights[vertices], positions[self.follow.points[vertices]])
        away = ((positions[self.outer][None] - places[:, None]) ** 2).sum(axis=2)
        return np.unique(self.outer[np.argmin(away, axis=1)]).astype(np.int32)


def lattice_of(
    name: str, positions: FloatArray, triangles: IntArray, settings: Mapping[str, Any], density: float | None,
    pinned: ArrayLike | None,
) -> tuple[Cells, GivenLattice, float]:  # fmt: skip
    """The lattice of a solid with these settings, and its mass [kg]; raises `ParameterError` for wrong numbers.

    Without a Poisson's ratio it is that of springs alone.
    """
    mass, ratio = settings["mass"], settings.get("poisson_ratio", SPRING_POISSON_RATIO)
    turn = grid_axes(positions, triangles)
    placed = positions @ turn
    cells = fill(name, placed, triangles, settings["cell_size"] or automatic_cell_size(name, positions, triangles))
    mu, bulk = elastic_constants(settings["modulus"], ratio)
    volumes = tetrahedron_volumes(cells.positions, cells.tetrahedra)
    if density is not None:
        mass = check(name, "density", density, "kg/m\u00b3", low=0.0, open_low=True) * float(volumes.sum())
    cell_volume = volumes.reshape(-1, 6).sum(axis=1)
    corner_mass = np.repeat(mass * (cell_volume / volumes.sum()) / 8.0, 8)
    has_volumes = bulk > 0.0 or settings.get("volume_compliance") is not None
    resisting = cells.corners if has_volumes else cells.corners[:0]
    each, of_sums = corner_stiffness(bulk, cell_volume[: len(resisting)])
    mask = topology.pin_mask(name, len(positions), pinned)
    lattice = GivenLattice(
        springs=springs_of(cells, mu),
        tetrahedra=resisting[:, CORNER_TETRAHEDRA].reshape(-1, 4),
        volume_stiffness=np.repeat(each, 8),
        sum_stiffness=of_sums,
        vertex_mass=np.asarray(np.bincount(cells.corners.ravel(), corner_mass, len(cells.positions)), dtype=float),
        follow=follow(cells, placed),
        holds=holds(cells, placed, triangles, mask),
        pinned_positions=positions[mask],
        outer=np.unique(cells.triangles).astype(np.int32),
        cells=cells.corners,
    )
    return cells._replace(positions=cells.positions @ turn.T), lattice, float(mass)
