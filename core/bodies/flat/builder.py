"""The builder's methods for flat bodies: loops and flat trusses."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from ...parameters import builder_defaults
from ...settings import settings_of
from ..given import GivenMembrane
from .bodies import given_flat_truss, given_loop

LOOP, FLAT_TRUSS = builder_defaults("LOOP"), builder_defaults("FLAT_TRUSS")


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
        depth: float = LOOP.depth,
        mass: float = LOOP.mass,
        gauge_pressure: float = LOOP.gauge_pressure,
        stretch_modulus: float = LOOP.stretch_modulus,
        bend_modulus: float = LOOP.bend_modulus,
        damping: float = LOOP.damping,
        spring_damping: float = LOOP.spring_damping,
        rigid_springs: bool = LOOP.rigid_springs,
        friction: float = LOOP.friction,
        bounciness: float = LOOP.bounciness,
        thickness: float = LOOP.thickness,
        self_collision: bool = LOOP.self_collision,
        pinned: ArrayLike | None = None,
        velocity: Sequence[float] = LOOP.velocity,
        pressure_at: str = LOOP.pressure_at,
        drawn_shape: str = LOOP.drawn_shape,
        start_at_rest: bool = LOOP.start_at_rest,
        gas_amount: float | None = LOOP.gas_amount,
        temperature: float = LOOP.temperature,
        spring_constant: float | None = LOOP.spring_constant,
        point_mass: float | None = LOOP.point_mass,
        creep_time: float = LOOP.creep_time,
        yield_strain: float = LOOP.yield_strain,
        plastic_limit: float = LOOP.plastic_limit,
        tear_strain: float = LOOP.tear_strain,
        pump_rate: float = LOOP.pump_rate,
        leak_diameter: float = LOOP.leak_diameter,
        sticks: bool = LOOP.sticks,
        gas_hold: str = LOOP.gas_hold,
        gas_exponent: float = LOOP.gas_exponent,
        inflation_time: float = LOOP.inflation_time,
        bond_strength: float = LOOP.bond_strength,
        **more: Any,
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
        creep_time, yield_strain, plastic_limit, tear_strain, sticks, bond_strength, pump_rate, leak_diameter, gas_hold,
        gas_exponent, inflation_time
            As in `add_membrane`.

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
        depth: float = FLAT_TRUSS.depth,
        cell_size: float = FLAT_TRUSS.cell_size,
        mass: float = FLAT_TRUSS.mass,
        density: float | None = None,
        modulus: float = FLAT_TRUSS.modulus,
        particle_radius: float = FLAT_TRUSS.particle_radius,
        damping: float = FLAT_TRUSS.damping,
        spring_damping: float = FLAT_TRUSS.spring_damping,
        rigid_springs: bool = FLAT_TRUSS.rigid_springs,
        friction: float = FLAT_TRUSS.friction,
        bounciness: float = FLAT_TRUSS.bounciness,
        thickness: float = FLAT_TRUSS.thickness,
        pinned: ArrayLike | None = None,
        velocity: Sequence[float] = FLAT_TRUSS.velocity,
        spring_constant: float | None = FLAT_TRUSS.spring_constant,
        point_mass: float | None = FLAT_TRUSS.point_mass,
        creep_time: float = FLAT_TRUSS.creep_time,
        yield_strain: float = FLAT_TRUSS.yield_strain,
        plastic_limit: float = FLAT_TRUSS.plastic_limit,
        tear_strain: float = FLAT_TRUSS.tear_strain,
        sticks: bool = FLAT_TRUSS.sticks,
        bond_strength: float = FLAT_TRUSS.bond_strength,
        stiffening: float = FLAT_TRUSS.stiffening,
        **more: Any,
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
            between two others. With the papers' methods alone.
        spring_damping
            Of the springs [Pa s], as in `ModelBuilder.add_solid`.
        damping, rigid_springs, friction, bounciness, thickness, pinned, velocity
            As in `add_membrane`, within the plane. Pinned vertices hold the cells' vertices on the sides of the outline
            between them and at least the nearest one each. Does not touch itself.
        spring_constant, point_mass
            k [N/m] of every edge and diagonal of the cells, and [kg] of every of their vertices; they replace modulus,
            and mass and density.
        creep_time, yield_strain, plastic_limit, tear_strain, sticks, bond_strength, stiffening
            As in `add_solid`.

        Raises `MeshError` or `ParameterError` with a sentence that names the body, the value and the remedy.
        """
        settings, air = settings_of(name, "FLAT_TRUSS", locals()), self._ambient_pressure
        self._membranes.append(given_flat_truss(name, positions, outline, settings, density, pinned, air))
        return len(self._membranes) - 1
