"""`ModelBuilder`: collects bodies one by one and freezes them into a `Model`."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from . import topology
from .amount import ROOM_TEMPERATURE, start_gas
from .bodies.attachments import Attached
from .bodies.flat.builder import FlatBuilder
from .bodies.freeze import freeze
from .bodies.given import (
    DRAWN_SHAPES,
    MOST_PARTICLE_RADIUS,
    PRESSURES_AT,
    GivenCollider,
    GivenMembrane,
    GivenRigid,
    given_plasticity,
    given_stiffening,
)
from .bodies.lattice.solids import lattice_of
from .bodies.parts import check_parts, skin_modulus, with_masses, with_springs
from .bodies.rigid.inertia import mass_properties
from .checks import check, check_choice, check_surface_numbers, ignored_pairs, positions_of, triangles_of, vector
from .errors import ParameterError
from .impulses.goals import GivenGoals, given_goals
from .inflation.filling import filling_of
from .model import Model


class ModelBuilder(FlatBuilder):
    """Collects membranes, solids, flat bodies, rigid bodies and colliders; `build()` returns the immutable `Model`.

    Parameters: `gravity` [m/s^2], `ambient_pressure` [Pa] outside every membrane (0 is the papers' law).
    """

    def __init__(self, *, gravity: Sequence[float] = (0.0, 0.0, -9.81), ambient_pressure: float = 101_325.0) -> None:
        self._gravity = np.asarray(gravity, dtype=float)
        if self._gravity.shape != (3,) or not np.all(np.isfinite(self._gravity)):
            raise ParameterError(f"gravity: {gravity}; give three finite numbers in m/s\u00b2.")
        self._ambient_pressure = check("scene", "ambient pressure", ambient_pressure, "Pa", low=0.0)
        self._membranes: list[GivenMembrane] = []
        self._rigid: list[GivenRigid] = []
        self._colliders: list[GivenCollider] = []
        self._attached: list[Attached] = []
        self._goals: dict[int, GivenGoals] = {}

    def add_membrane(
        self,
        name: str,
        positions: ArrayLike,
        triangles: ArrayLike,
        *,
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
        """Add a closed skin filled with gas; returns its number among the membranes.

        Parameters
        ----------
        positions, triangles
            Rest shape [m], world frame, shape (vertex_count, 3); outward triangles, shape (triangle_count, 3).
        mass
            Total mass [kg], spread over the vertices by area.
        gauge_pressure
            Pressure above ambient [Pa]; sets the amount of gas. Above minus ambient.
        stretch_modulus, bend_modulus
            Y [N/m] and B [N m]; independent of how fine the mesh is (Van Gelder 1998; Grinspun et al. 2003). In a
            regular pattern of triangles bending costs B / 2 ((k1 + k2)^2 + 2 (k1 - k2)^2) per area for the curvatures
            k1 and k2, other patterns up to three times as much along their diagonals.
        damping
            Decay rate of vibrations [1/s]; falling and rolling are not damped.
        spring_damping
            Modulus of the dampers along the springs [N s/m]: they resist a rate of strain as the springs, by the
            stretch modulus, resist strain (Kelvin-Voigt), independent of how fine the mesh is.
        rigid_springs
            Whether the springs keep their length, as of infinite stiffness; only with the solver XPBD.
        friction, bounciness
            Coulomb coefficient; separation speed over approach speed, 0 to 1, besides losses to vibrations. A pair of
            bodies uses the geometric means.
        thickness
            Distance kept from other surfaces [m]; 0 = 5 % of the mean edge length.
        self_collision
            Whether the skin cannot pass through itself.
        pinned
            Vertices that are kinematic.
        velocity
            At the start [m/s].
        pressure_at
            DRAWN: the gas has the gauge pressure at the volume of the given positions. REST: in equilibrium, without
            gravity and contact (`inflation`), also where a `FrameInput` gives another pressure.
        drawn_shape
            SLACK: the springs are at rest as given. INFLATED: they are shorter, such that the given shape is the
            equilibrium at the gauge pressure, or near it where springs cannot hold it.
        start_at_rest
            Whether the body starts in equilibrium instead of moving there; with the pressure at REST.
        gas_amount, temperature
            n [mol] and T [K] of the gas; an amount replaces `gauge_pressure` and `pressure_at`: p = nRT / V - ambient.
        spring_constant
            k [N/m] of every edge; replaces the stretch modulus, and stiffens with the number of edges (Mesit 2007).
            Spring damping then is the constant c of every damper [N s/m].
        point_mass
            [kg] of every vertex; replaces the mass.
        creep_time, yield_strain, plastic_limit
            Plastic flow (`core/plasticity/`): above the yield strain stress relaxes within the creep time [s], 0 =
            never; rest lengths change by at most the plastic limit, as a share of the drawn ones, 0 = without limit.
        tear_strain
            Strain at which edges tear, 0 = never: the gas leaves through the hole.
        sticks
            Whether the skin is glued to other soft bodies where it touches them.

        Raises `MeshError` or `ParameterError` with a sentence that names the body, the value and the remedy.
        """
        given = positions_of(name, positions)
        faces = triangles_of(name, triangles)
        topology.check_closed_surface(name, given, faces)
        check(name, "mass", mass, "kg", low=0.0, open_low=True)
        check_parts(name, spring_constant, point_mass)
        volume = topology.signed_volume(given, faces)
        pressure, gas = start_gas(name, gauge_pressure, gas_amount, temperature, volume, self._ambient_pressure)
        check(name, "stretch modulus", stretch_modulus, "N/m", low=0.0, open_low=True)
        check(name, "bend modulus", bend_modulus, "N m", low=0.0)
        check(name, "damping", damping, "1/s", low=0.0)
        check(name, "spring damping", spring_damping, "N s/m", low=0.0)
        check_surface_numbers(name, friction, bounciness, thickness)
        start_velocity = vector(name, "velocity", velocity, "m/s")
        order = topology.space_filling_order(given)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order), dtype=np.int32)
        pin_numbers = None if pinned is None else np.asarray(pinned, dtype=np.int32)
        self._membranes.append(
            GivenMembrane(
                name=name,
                positions=np.ascontiguousarray(given[order]),
                triangles=rank[faces],
                order=order,
                mass=len(given) * point_mass if point_mass else float(mass),
                gauge_pressure=pressure,
                stretch_modulus=skin_modulus(given, faces, spring_constant)
                if spring_constant
                else float(stretch_modulus),
                bend_modulus=float(bend_modulus),
                damping=float(damping),
                friction=float(friction),
                bounciness=float(bounciness),
                thickness=float(thickness),
                self_collision=bool(self_collision),
                pinned=topology.pin_mask(name, len(given), pin_numbers)[order],
                velocity=start_velocity,
                spring_damping=float(spring_damping),
                rigid_springs=bool(rigid_springs),
                pressure_at=check_choice(name, "pressure at", pressure_at, PRESSURES_AT) if gas is None else "DRAWN",
                drawn_shape=check_choice(name, "drawn shape", drawn_shape, DRAWN_SHAPES),
                start_at_rest=bool(start_at_rest),
                gas=gas,
                spring_constant=float(spring_constant or 0.0),
                point_mass=float(point_mass or 0.0),
                plasticity=given_plasticity(name, creep_time, yield_strain, plastic_limit, tear_strain, sticks),
            )
        )
        return len(self._membranes) - 1

    def add_solid(
        self,
        name: str,
        positions: ArrayLike,
        triangles: ArrayLike,
        *,
        kind: str = "SOLID",
        cell_size: float = 0.0,
        mass: float = 1.0,
        density: float | None = None,
        modulus: float = 1e5,
        poisson_ratio: float = 0.3,
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
        """Add a soft solid that fills a closed mesh; returns its number among the membranes.

        A lattice of springs is simulated and has contact (`bodies.lattice.cells`); the mesh's vertices follow it.

        Parameters
        ----------
        kind
            SOLID, or TRUSS: springs alone, with Poisson's ratio 1/4 (Kurmaly & Wu 2021).
        cell_size
            Edge of the lattice's cells [m]; at most the mesh's least extent, 0 = a quarter of it. A bar of n cells
            across is too stiff by 1.3 / n^2 where it bends, by up to 5 / n^2 at Poisson's ratio 0.4.
        mass, density
            [kg]; or [kg/m^3], which then sets the mass.
        modulus, poisson_ratio
            Young's modulus [Pa] and Poisson's ratio of a SOLID, 0.25 to 0.49; independent of the cell size.
        particle_radius
            Of the spheres around the vertices of a TRUSS, whose contact prevents its collapse at high speed (Kurmaly &
            Wu 2021, 4) [cell's edge]: 0 = none, at most 0.5; 0.4 stops a vertex between two others. Not with the
            solvers AUTO and IMPLICIT.
        spring_damping
            Modulus of the dampers along the springs [Pa s]: they resist a rate of strain as the springs, by Young's
            modulus, resist strain.
        damping, rigid_springs, friction, bounciness, thickness, pinned, velocity
            As in `add_membrane`. Pinned vertices pin the lattice's vertices on the faces between them and at least the
            nearest one each. No self-contact.
        spring_constant, point_mass
            k [N/m] of every spring of the lattice, and [kg] of every of its points; they replace modulus, and mass and
            density. What keeps the volume follows k, so that Poisson's ratio stays.
        creep_time, yield_strain, plastic_limit, sticks
            As in `add_membrane`; the volumes of the tetrahedra stay elastic, so that a SOLID flows without a change of
            volume, the better the higher its Poisson's ratio.
        stiffening
            a: springs are stiffer by the factor 1 + a strain^2, as tissue is (`energy/stiffening.py`). Not with a creep
            time.

        Raises `MeshError` or `ParameterError` with a sentence that names the body, the value and the remedy.
        """
        given = positions_of(name, positions)
        faces = triangles_of(name, triangles)
        topology.check_closed_surface(name, given, faces)
        check(name, "damping", damping, "1/s", low=0.0)
        check(name, "spring damping", spring_damping, "Pa s", low=0.0)
        check_surface_numbers(name, friction, bounciness, thickness)
        check(name, "particle radius", particle_radius, "of a cell", low=0.0, high=MOST_PARTICLE_RADIUS)
        if particle_radius > 0.0 and kind != "TRUSS":
            raise ParameterError(f"{name}: particle radius {particle_radius:g}; only a TRUSS has particles. Give 0.")
        cells, lattice, total = lattice_of(
            name, given, faces, kind=kind, cell_size=cell_size, mass=mass, density=density, modulus=modulus,
            poisson_ratio=poisson_ratio, pinned=pinned,
        )  # fmt: skip
        check_parts(name, spring_constant, point_mass)
        if spring_constant is not None:
            lattice, share = with_springs(lattice, cells.positions, spring_constant, 1)
            modulus = share * modulus
        if point_mass is not None:
            lattice, total = with_masses(lattice, point_mass, 1)
        self._membranes.append(
            GivenMembrane(
                name=name,
                positions=cells.positions,
                triangles=cells.triangles.astype(np.int32),
                order=np.arange(len(cells.positions), dtype=np.int32),
                mass=total,
                gauge_pressure=-self._ambient_pressure,  # no gas at all
                stretch_modulus=0.0,
                bend_modulus=0.0,
                damping=float(damping),
                friction=float(friction),
                bounciness=float(bounciness),
                thickness=float(thickness),
                self_collision=False,
                pinned=lattice.holds.pinned,
                velocity=vector(name, "velocity", velocity, "m/s"),
                spring_damping=float(spring_damping),
                rigid_springs=bool(rigid_springs),
                lattice=lattice,
                young_modulus=float(modulus),
                particle_diameter=2.0 * float(particle_radius) * float(cells.size.mean()),
                spring_constant=float(spring_constant or 0.0),
                point_mass=float(point_mass or 0.0),
                plasticity=given_plasticity(name, creep_time, yield_strain, plastic_limit, 0.0, sticks),
                stiffening=given_stiffening(name, stiffening, creep_time),
            )
        )
        return len(self._membranes) - 1

    def add_rigid(
        self,
        name: str,
        positions: ArrayLike,
        triangles: ArrayLike,
        *,
        mass: float = 1.0,
        friction: float = 0.5,
        bounciness: float = 0.0,
        thickness: float = 0.0,
        linear_damping: float = 0.0,
        angular_damping: float = 0.0,
        velocity: Sequence[float] = (0.0, 0.0, 0.0),
        angular_velocity: Sequence[float] = (0.0, 0.0, 0.0),
    ) -> int:
        """Add a rigid body of uniform density; returns its number among the rigid bodies.

        Parameters
        ----------
        positions, triangles
            Shape at the start [m], world frame, shape (vertex_count, 3); outward triangles of a closed surface, shape
            (triangle_count, 3). It may be concave.
        mass
            [kg]; with the mesh it gives the centre of mass and the inertia tensor.
        friction, bounciness, thickness
            As in `add_membrane`; thickness 0 = 0.5 % of the cube root of the volume.
        linear_damping, angular_damping
            Decay rates of velocity and angular velocity [1/s].
        velocity, angular_velocity
            Of the centre of mass [m/s], about it [1/s], at the start.

        Raises `MeshError` or `ParameterError` with a sentence that names the body, the value and the remedy.
        """
        given = positions_of(name, positions)
        faces = triangles_of(name, triangles)
        topology.check_closed_surface(name, given, faces)
        check(name, "mass", mass, "kg", low=0.0, open_low=True)
        check(name, "linear damping", linear_damping, "1/s", low=0.0)
        check(name, "angular damping", angular_damping, "1/s", low=0.0)
        check_surface_numbers(name, friction, bounciness, thickness)
        self._rigid.append(
            GivenRigid(
                name=name,
                positions=given,
                triangles=faces,
                mass=float(mass),
                properties=mass_properties(given, faces),
                friction=float(friction),
                bounciness=float(bounciness),
                thickness=float(thickness),
                linear_damping=float(linear_damping),
                angular_damping=float(angular_damping),
                velocity=vector(name, "velocity", velocity, "m/s"),
                angular_velocity=vector(name, "angular velocity", angular_velocity, "1/s"),
            )
        )
        return len(self._rigid) - 1

    def add_collider(
        self,
        name: str,
        positions: ArrayLike,
        triangles: ArrayLike,
        *,
        friction: float = 0.5,
        bounciness: float = 1.0,
        thickness: float = 0.0,
    ) -> int:
        """Add a still or animated obstacle of infinite mass, closed or open; returns its number among the colliders.

        `thickness` [m] is added to that of the bodies that touch it. Other parameters as in `add_membrane`.
        """
        given = positions_of(name, positions)
        faces = triangles_of(name, triangles)
        topology.check_surface(name, given, faces)
        check_surface_numbers(name, friction, bounciness, thickness)
        self._colliders.append(GivenCollider(name, given, faces, float(friction), float(bounciness), float(thickness)))
        return len(self._colliders) - 1

    def attach_to_rigid(self, membrane: int, vertices: ArrayLike, rigid: int) -> None:
        """Attach vertices of a membrane, in the caller's numbers, to a rigid body: they are fixed in its frame.

        Attached vertices have no contact with the body that they are attached to.
        """
        if not 0 <= rigid < len(self._rigid):
            raise ParameterError(f"rigid body: {rigid}; there are {len(self._rigid)}, counted from 0.")
        self._attach(membrane, vertices, rigid=rigid)

    def attach_to_membrane(self, membrane: int, vertices: ArrayLike, other: int) -> None:
        """Attach vertices of a membrane, in the caller's numbers, to the nearest triangles of another membrane."""
        if not 0 <= other < len(self._membranes) or other == membrane:
            raise ParameterError(
                f"membrane: {other} to attach to; give another one of the {len(self._membranes)}, counted from 0."
            )
        self._attach(membrane, vertices, other=other)

    def add_goals(
        self, membrane: int, vertices: ArrayLike, weights: ArrayLike = 1.0, *, stiffness: float, damping: float = 0.0
    ) -> None:
        """Connect vertices of a membrane, in the caller's numbers, by springs to their rest positions.

        `FrameInput.goal_positions` moves the goals. `stiffness` [N/m] is distributed over the vertices by mass, times
        their weight, 0 to 1; motion relative to the goal decays at `damping` [1/s] times the weight. Pinned vertices
        stay pinned. A second call for a membrane replaces the first.
        """
        body, count = self._with_vertices(membrane)
        self._goals[membrane] = given_goals(membrane, body.name, count, vertices, weights, stiffness, damping)

    def _with_vertices(self, membrane: int) -> tuple[GivenMembrane, int]:
        """A membrane, and the number of its vertices in the caller's mesh."""
        if not 0 <= membrane < len(self._membranes):
            raise ParameterError(f"membrane: {membrane}; there are {len(self._membranes)}, counted from 0.")
        body = self._membranes[membrane]
        return body, len(body.positions) if body.lattice is None else len(body.lattice.follow.points)

    def _attach(self, membrane: int, vertices: ArrayLike, **to: int) -> None:
        body, count = self._with_vertices(membrane)
        chosen = np.unique(np.asarray(vertices, dtype=np.int32).ravel())
        if len(chosen) == 0 or chosen[0] < 0 or chosen[-1] >= count:
            raise ParameterError(f"{body.name}: vertices to attach; give numbers from 0 to {count - 1}, at least one.")
        if body.lattice is None:
            own = np.argsort(body.order)[chosen].astype(np.int32)
        else:
            own = body.lattice.nearest(body.positions, chosen)
        if body.flat is not None:  # both copies
            own = np.unique([own // 2 * 2, own // 2 * 2 + 1]).astype(np.int32)
        self._attached.append(Attached(membrane, own, **to))

    def build(self, *, ignores: ArrayLike | None = None) -> Model:
        """Build the immutable model. A scene without moving bodies is refused.

        `ignores`: whether the body of each row has no contact with that of each column, shape (body_count, body_count),
        in the order of the model: membranes, rigid bodies, colliders. Two bodies have contact if neither ignores the
        other; self-contact is set by `self_collision`.
        """
        membranes, rigid, colliders = self._membranes, self._rigid, self._colliders
        if not membranes and not rigid:
            raise ParameterError("scene: no body to simulate. Mark at least one mesh as Soft or Rigid.")
        pressure = self._ambient_pressure
        fillings = [filling_of(body, pressure) for body in membranes]
        pairs = ignored_pairs(ignores, len(membranes) + len(rigid) + len(colliders))
        goals = list(self._goals.values())
        return freeze(membranes, rigid, colliders, self._attached, self._gravity, pressure, fillings, pairs, goals)
