"""The builder's methods for flat bodies: loops and flat trusses."""

from typing import Any

from numpy.typing import ArrayLike

from ...settings import settings_of
from ..given import GivenMembrane
from .bodies import given_flat_truss, given_loop


class FlatBuilder:
    """Methods of `ModelBuilder` for flat bodies."""

    _membranes: list[GivenMembrane]
    _ambient_pressure: float

    def add_loop(
        self,
        name: str,
        positions: ArrayLike,
        outline: ArrayLike | None = None,
        *,
        pinned: ArrayLike | None = None,
        **settings: Any,
    ) -> int:
        """Add a closed outline in a plane, filled with gas; returns its number among the membranes.

        It moves within its plane only (Matyka 2004; Kurmaly & Wu 2021).

        * `positions`, `outline`: Vertices [m], world frame, shape (vertex_count, 3), within a plane. The outline: None
          for all vertices in their order, their numbers in order, or edges in any order, shape (edge_count, 2).
        * `depth`: Along the plane's normal [m]; 0 = mean edge length. The gas fills area times depth, an edge resists
          with stretch modulus times depth, a bend with bend modulus times depth; contact is as wide as the depth.
        * `settings`: As in `add_membrane`, within the plane. Mass is spread by length; gas amount, spring constant and
          point mass do not depend on the depth.

        Raises `MeshError` or `ParameterError` with a sentence that names the body, the value and the remedy.
        """
        settings = settings_of(name, "LOOP", locals())
        self._membranes.append(given_loop(name, positions, outline, settings, pinned, self._ambient_pressure))
        return len(self._membranes) - 1

    def add_flat_truss(
        self,
        name: str,
        positions: ArrayLike,
        outline: ArrayLike | None = None,
        *,
        density: float | None = None,
        pinned: ArrayLike | None = None,
        **settings: Any,
    ) -> int:
        """Add a sheet of springs that fills an outline in a plane; returns its number among the membranes.

        Square cells with both diagonals (Kurmaly & Wu 2021), `bodies.flat.cells`; it moves within its plane only. The
        given vertices, on the outline and within it, follow.

        * `positions`, `outline`: As in `add_loop`; `flat.outline.boundary` tells the edges of a mesh of triangles.
        * `depth`: Along the plane's normal [m]; 0 = the edge of a cell. Contact is as wide as the depth.
        * `cell_size`: Edge of the cells [m]; at most the outline's least extent; 0 = as `automatic_cell_size`.
        * `density`: [kg/m^3]; then it sets the mass.
        * `modulus`: Young's modulus [Pa] in plane stress, with Poisson's ratio 1/3; independent of the cell size.
        * `particle_radius`: Of the circles around the vertices of the cells, which keep apart so that it does not
          collapse at high speed (Kurmaly & Wu 2021, 4), as a share of a cell's edge: 0 = none, at most 0.5; 0.4 stops a
          vertex between two others. With the papers' methods alone.
        * `settings`: Others as in `ModelBuilder.add_solid`, within the plane. Pinned vertices hold the cells' vertices
          on the sides of the outline between them and at least the nearest one each. Does not touch itself.

        Raises `MeshError` or `ParameterError` with a sentence that names the body, the value and the remedy.
        """
        settings, air = settings_of(name, "FLAT_TRUSS", locals()), self._ambient_pressure
        self._membranes.append(given_flat_truss(name, positions, outline, settings, density, pinned, air))
        return len(self._membranes) - 1
