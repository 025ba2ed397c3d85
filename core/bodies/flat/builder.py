"""The builder's methods for flat bodies: loops and flat trusses."""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from ...amount import ROOM_TEMPERATURE
from ..given import GivenMembrane, given_plasticity, given_stiffening
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
        depth: float = 0.0,
        mass: float = 1.0,
        gauge_pressure: float = 0.0,
        stretch_modulus: float = 1e4,
        bend_modulus: float = 0.0,
        damping: float = 0.0,
        spring_damping: float = 0.0,
        rigid_springs: bool = False,
        friction: float = 0.5,
        bounciness: float = 1.0,
        thickness: float = 0.0,
        self_collision: bool = False,
        pinned: ArrayLike | None = None,
        velocity: Sequence[float] = (0.0, 0.0, 0.0),
        pressure_at: str = "DRAWN",
        drawn_shape: str = "SLACK",
        start_at_rest: bool = False,
        gas_amount: float | None = None,
        temperature: float = ROOM_TEMPERATURE,
        spring_constant: float | None = None,
        point_mass: float | None = None,
        creep_time: float = 0.0,
        yield_strain: float = 0.0,
        plastic_limit: float = 0.0,
        tear_strain: float = 0.0,
        sticks: bool = False,
    ) -> int:
        """Add a closed outline in a plane, filled with gas; returns its number among the membranes.

        It moves within its plane only (Matyka 2004; Kurmaly & Wu 2021).

        Parameters
        ----------
        positions, outline
            Vertices [m], world frame, shape (vertex_count, 3), within a plane. The outline: None for all vertices in
            their order, their numbers in order, or edges in any order, shape (edge_count, 2).
        depth
            Along the plane's normal [m]; 0 = mean edge length. The gas fills area times depth, an edge resists with
            stretch modulus times depth, a bend with bend modulus times depth; contact is as wide as the depth.
        mass, gauge_pressure, stretch_modulus, bend_modulus, damping, spring_damping, rigid_springs
            As in `add_membrane`; mass is spread by length.
        friction, bounciness, thickness
            As in `add_membrane`.
        self_collision, pinned, velocity, pressure_at, drawn_shape, start_at_rest
            As in `add_membrane`; pins and velocity count within the plane.
        gas_amount, temperature, spring_constant, point_mass
            As in `add_membrane`; of the edges and vertices of the outline, whatever the depth. The gas fills area times
            depth.
        creep_time, yield_strain, plastic_limit, tear_strain, sticks
            As in `add_membrane`.

        Raises `MeshError` or `ParameterError` with a sentence that names the body, the value and the remedy.
        """
        self._membranes.append(
            given_loop(
                name, positions, outline, depth=depth, mass=mass, gauge_pressure=gauge_pressure,
                ambient_pressure=self._ambient_pressure, stretch_modulus=stretch_modulus, bend_modulus=bend_modulus,
                damping=damping, spring_damping=spring_damping, rigid_springs=rigid_springs, friction=friction,
                bounciness=bounciness, thickness=thickness,
                self_collision=self_collision, pinned=pinned, velocity=velocity, pressure_at=pressure_at,
                drawn_shape=drawn_shape, start_at_rest=start_at_rest, gas_amount=gas_amount, temperature=temperature,
                spring_constant=spring_constant, point_mass=point_mass,
                plasticity=given_plasticity(name, creep_time, yield_strain, plastic_limit, tear_strain, sticks),
            )
        )  # fmt: skip
        return len(self._membranes) - 1

    def add_flat_truss(
        self,
        name: str,
        positions: ArrayLike,
        outline: ArrayLike | None = None,
        *,
        depth: float = 0.0,
        cell_size: float = 0.0,
        mass: float = 1.0,
        density: float | None = None,
        modulus: float = 1e5,
        particle_radius: float = 0.0,
        damping: float = 0.0,
        spring_damping: float = 0.0,
        rigid_springs: bool = False,
        friction: float = 0.5,
        bounciness: float = 1.0,
        thickness: float = 0.0,
        pinned: ArrayLike | None = None,
        velocity: Sequence[float] = (0.0, 0.0, 0.0),
        spring_constant: float | None = None,
        point_mass: float | None = None,
        creep_time: float = 0.0,
        yield_strain: float = 0.0,
        plastic_limit: float = 0.0,
        sticks: bool = False,
        stiffening: float = 0.0,
    ) -> int:
        """Add a sheet of springs that fills an outline in a plane; returns its number among the membranes.

        Square cells with both diagonals (Kurmaly & Wu 2021), `bodies.flat.cells`; it moves within its plane only. The
        given vertices, on the outline and within it, follow.

        Parameters
        ----------
        positions, outline
            As in `add_loop`; `flat.outline.boundary` tells the edges of a mesh of triangles.
        depth
            Along the plane's normal [m]; 0 = the edge of a cell. Contact is as wide as the depth.
        cell_size
            Edge of the cells [m]; at most the outline's least extent, 0 = a quarter of it.
        mass, density
            [kg]; or [kg/m^3], which then sets the mass.
        modulus
            Young's modulus [Pa] in plane stress, with Poisson's ratio 1/3; independent of the cell size.
        particle_radius
            Of the circles around the vertices of the cells, which keep apart so that it does not collapse at high speed
            (Kurmaly & Wu 2021, 4), as a share of a cell's edge: 0 = none, at most 0.5; 0.4 stops a vertex
            between two others. Not with the solvers AUTO and IMPLICIT.
        spring_damping
            Of the springs [Pa s], as in `ModelBuilder.add_solid`.
        damping, rigid_springs, friction, bounciness, thickness, pinned, velocity
            As in `add_membrane`, within the plane. Pinned vertices hold the cells' vertices on the sides of the outline
            between them and at least the nearest one each. Does not touch itself.
        spring_constant, point_mass
            k [N/m] of every edge and diagonal of the cells, and [kg] of every of their vertices; they replace modulus,
            and mass and density.
        creep_time, yield_strain, plastic_limit, sticks, stiffening
            As in `add_solid`.

        Raises `MeshError` or `ParameterError` with a sentence that names the body, the value and the remedy.
        """
        self._membranes.append(
            given_flat_truss(
                name, positions, outline, depth=depth, cell_size=cell_size, mass=mass, density=density,
                modulus=modulus, ambient_pressure=self._ambient_pressure, damping=damping,
                spring_damping=spring_damping, rigid_springs=rigid_springs, friction=friction,
                bounciness=bounciness, thickness=thickness, pinned=pinned, velocity=velocity,
                particle_radius=particle_radius, spring_constant=spring_constant, point_mass=point_mass,
                plasticity=given_plasticity(name, creep_time, yield_strain, plastic_limit, 0.0, sticks),
                stiffening=given_stiffening(name, stiffening, creep_time),
            )
        )  # fmt: skip
        return len(self._membranes) - 1
