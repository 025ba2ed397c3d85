"""`ModelBuilder`: collects bodies one by one and freezes them into a `Model`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import topology
from .amount import start_gas
from .bodies.attachments import Attached
from .bodies.flat.builder import FlatBuilder
from .bodies.freeze import freeze
from .bodies.given import GivenBody, GivenMembrane, GivenRigid
from .bodies.lattice.solids import lattice_of
from .bodies.links import GivenHose, LinkBuilder
from .bodies.parts import skin_modulus, with_masses, with_springs, with_volumes
from .bodies.rigid.inertia import mass_properties
from .checks import check_choice, ignored_pairs, positions_of, triangles_of
from .errors import ParameterError
from .impulses.goals import GivenGoals
from .inflation.filling import filling_of
from .model import Model
from .parameters import SCENE, builder_defaults
from .settings import settings_of

_SOLID, _TRUSS = builder_defaults("SOLID"), builder_defaults("TRUSS")


class ModelBuilder(FlatBuilder, LinkBuilder):
    """Collects membranes, solids, flat bodies, rigid bodies and colliders; `build()` returns the immutable `Model`.

    Parameters: `gravity` [m/s^2], `ambient_pressure` [Pa] outside every membrane (0 is the papers' law).

    Here and in the methods below `settings` are those that `parameters/` declares for the scene or body, with defaults
    and bounds. `Model.settings` keeps them all.
    """

    def __init__(self, *, gravity: Sequence[float] = (0.0, 0.0, -9.81), **settings: Any) -> None:
        self._settings = settings_of("scene", SCENE, locals())
        self._ambient_pressure = self._settings["ambient_pressure"]
        self._gravity = np.asarray(gravity, dtype=float)
        if self._gravity.shape != (3,) or not np.all(np.isfinite(self._gravity)):
            raise ParameterError(f"gravity: {gravity}; give three finite numbers in m/s\u00b2.")
        self._membranes: list[GivenMembrane] = []
        self._rigid: list[GivenRigid] = []
        self._colliders: list[GivenBody] = []
        self._attached: list[Attached] = []
        self._goals: dict[int, GivenGoals] = {}
        self._hoses: list[GivenHose] = []

    def add_membrane(
        self, name: str, positions: ArrayLike, triangles: ArrayLike, *, pinned: ArrayLike | None = None, **settings: Any
    ) -> int:
        """Add a closed skin filled with gas; returns its number among the membranes.

        * `positions`, `triangles`: Rest shape [m], world frame, shape (vertex_count, 3); outward triangles, shape
          (triangle_count, 3).
        * `mass`: Total mass [kg], spread over the vertices by area.
        * `gauge_pressure`: Pressure above ambient [Pa]; sets the amount of gas. Above minus ambient.
        * `stretch_modulus`, `bend_modulus`: Y [N/m] and B [N m]; independent of how fine the mesh is (Van Gelder 1998;
          Grinspun et al. 2003). In a regular pattern of triangles bending costs B / 2 ((k1 + k2)^2 + 2 (k1 - k2)^2) per
          area for the curvatures k1 and k2, other patterns up to three times as much along their diagonals.
        * `damping`: Decay rate of vibrations [1/s]; falling and rolling are not damped.
        * `spring_damping`: Modulus of the dampers along the springs [N s/m]: they resist a rate of strain as the
          springs, by the stretch modulus, resist strain (Kelvin-Voigt), independent of how fine the mesh is.
        * `rigid_springs`: Whether the springs keep their length, as of infinite stiffness; only with the solver XPBD.
        * `friction`, `bounciness`: Coulomb coefficient; separation speed over approach speed, 0 to 1, besides losses to
          vibrations. A pair of bodies uses the geometric means.
        * `thickness`: Distance kept from other surfaces [m]; 0 = 5 % of the mean edge length.
        * `self_collision`: Whether the body cannot pass through itself.
        * `pinned`: Vertices that are kinematic.
        * `velocity`: At the start [m/s].
        * `pressure_at`: DRAWN: the gas has the gauge pressure at the volume of the given positions. REST: in
          equilibrium, without gravity and contact (`inflation`), also where a `FrameInput` gives another pressure.
        * `drawn_shape`: SLACK: the springs are at rest as given. INFLATED: they are shorter, such that the given shape
          is the equilibrium at the gauge pressure, or near it where springs cannot hold it.
        * `start_at_rest`: Whether the body starts in equilibrium instead of moving there; with the pressure at REST.
        * `gas_amount`, `temperature`: n [mol] and T [K] of the gas; an amount replaces `gauge_pressure` and
          `pressure_at`: p = nRT / V - ambient.
        * `spring_constant`: k [N/m] of every edge; replaces the stretch modulus, and stiffens with the number of edges
          (Mesit 2007). Spring damping then is the constant c of every damper [N s/m].
        * `point_mass`: [kg] of every vertex; replaces the mass.
        * `creep_time`, `yield_strain`, `plastic_limit`: Plastic flow (`core/plasticity/`): above the yield strain
          stress relaxes within the creep time [s], 0 = never; rest lengths change by at most the plastic limit, as a
          share of the drawn ones, 0 = without limit.
        * `tear_strain`: Strain at which edges tear, 0 = never: the gas leaves through the hole, and its jet pushes the
          body.
        * `pump_rate`, `leak_diameter`: Gas that a pump brings in [mol/s], and the diameter of a hole to the air [m]
          (`core/flow/`).
        * `sticks`: Whether the skin is glued to other soft bodies where it touches them.
        * `gas_hold`, `gas_exponent`: What the gas keeps: AMOUNT, with p V^exponent constant, PRESSURE, or VOLUME to 0.1
          % (`bodies/gas_laws.py`).
        * `inflation_time`: [s] in which the gauge pressure rises from 0 at the start; 0 = it is there.
        * `fill_density`, `fill_share`: [kg/m^3] and part of the volume of what is inside and has weight
          (`impulses/fluids.py`).
        * `bond_strength`: Pull [N] at which a glued vertex comes off, 0 = never (`core/plasticity/`).

        Raises `MeshError` or `ParameterError` with a sentence that names the body, the value and the remedy.
        """
        settings = settings_of(name, "MEMBRANE", locals())
        given = positions_of(name, positions)
        faces = triangles_of(name, triangles)
        topology.check_closed_surface(name, given, faces)
        spring_constant, point_mass = settings["spring_constant"], settings["point_mass"]
        volume = topology.signed_volume(given, faces)
        pressure, gas = start_gas(name, settings, volume, self._ambient_pressure)
        order = topology.space_filling_order(given)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order), dtype=np.int32)
        self._membranes.append(
            GivenMembrane(
                name=name,
                positions=np.ascontiguousarray(given[order]),
                triangles=rank[faces],
                settings=settings,
                order=order,
                mass=len(given) * point_mass if point_mass else settings["mass"],
                gauge_pressure=pressure,
                pinned=topology.pin_mask(name, len(given), pinned)[order],
                velocity=settings["velocity"],
                stretch_modulus=skin_modulus(given, faces, spring_constant)
                if spring_constant
                else settings["stretch_modulus"],
                gas=gas,
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
        density: float | None = None,
        poisson_ratio: float = _SOLID.poisson_ratio,
        particle_radius: float = _TRUSS.particle_radius,
        pinned: ArrayLike | None = None,
        volume_compliance: float | None = _SOLID.volume_compliance,
        **settings: Any,
    ) -> int:
        """Add a soft solid that fills a closed mesh; returns its number among the membranes.

        A lattice of springs is simulated and has contact (`bodies.lattice.cells`); the mesh's vertices follow it.

        * `kind`: SOLID, or TRUSS: springs alone, with Poisson's ratio 1/4 (Kurmaly & Wu 2021).
        * `cell_size`: Edge of the lattice's cells [m]; at most the mesh's least extent, 0 = a quarter of it, or more
          where that makes too many (`bodies/automatic_cells.py`). A bar of n cells across is too stiff by 1.3 / n^2
          where it bends, by up to 5 / n^2 at Poisson's ratio 0.4.
        * `mass`, `density`: [kg]; or [kg/m^3], which then sets the mass.
        * `modulus`, `poisson_ratio`: Young's modulus [Pa] and Poisson's ratio of a SOLID, 0.25 to 0.49; independent of
          the cell size.
        * `particle_radius`: Of the spheres around the vertices of a TRUSS, whose contact prevents its collapse at high
          speed (Kurmaly & Wu 2021, 4) [cell's edge]: 0 = none, at most 0.5; 0.4 stops a vertex between two others. With
          the papers' methods alone.
        * `spring_damping`: Modulus of the dampers along the springs [Pa s]: they resist a rate of strain as the
          springs, by Young's modulus, resist strain.
        * `damping`, `rigid_springs`, `friction`, `bounciness`, `thickness`, `self_collision`, `pinned`, `velocity`: As
          in `add_membrane`. Pinned vertices pin the lattice's vertices on the faces between them and at least the
          nearest one each.
        * `spring_constant`, `point_mass`: k [N/m] of every spring of the lattice, and [kg] of every of its points; they
          replace modulus, and mass and density. What keeps the volume follows k, so that Poisson's ratio stays.
        * `volume_compliance`: Of every tetrahedron of a SOLID [m^3/Pa], in place of that by modulus and Poisson's
          ratio; 0, rigid, with the solver XPBD alone.
        * `creep_time`, `yield_strain`, `plastic_limit`, `tear_strain`, `sticks`, `bond_strength`: As in `add_membrane`;
          the volumes of the tetrahedra stay elastic, so that a SOLID flows without a change of volume, the better the
          higher its Poisson's ratio.
        * `stiffening`: a: springs are stiffer by the factor 1 + a strain^2, as tissue is (`energy/stiffening.py`). Not
          with a creep time.

        Raises `MeshError` or `ParameterError` with a sentence that names the body, the value and the remedy.
        """
        check_choice(name, "kind", kind, ("SOLID", "TRUSS"))
        settings = settings_of(name, kind, locals())
        if particle_radius > 0.0 and kind != "TRUSS":
            raise ParameterError(f"{name}: particle radius {particle_radius:g}; only a TRUSS has particles. Give 0.")
        if volume_compliance is not None and kind != "SOLID":
            raise ParameterError(f"{name}: volume compliance {volume_compliance:g}; a TRUSS has no volumes. Give None.")
        given = positions_of(name, positions)
        faces = triangles_of(name, triangles)
        topology.check_closed_surface(name, given, faces)
        cells, lattice, total = lattice_of(name, given, faces, settings, density, pinned)
        young_modulus = settings["modulus"]
        if settings["spring_constant"] is not None:
            lattice, share = with_springs(lattice, cells.positions, settings["spring_constant"], 1)
            young_modulus = share * young_modulus
        if settings.get("volume_compliance") is not None:
            lattice = with_volumes(lattice, settings["volume_compliance"])
        if settings["point_mass"] is not None:
            lattice, total = with_masses(lattice, settings["point_mass"], 1)
        self._membranes.append(
            GivenMembrane(
                name=name,
                positions=cells.positions,
                triangles=cells.triangles.astype(np.int32),
                settings=settings,
                order=np.arange(len(cells.positions), dtype=np.int32),
                mass=total,
                gauge_pressure=-self._ambient_pressure,  # no gas at all
                pinned=lattice.holds.pinned,
                velocity=settings["velocity"],
                lattice=lattice,
                young_modulus=young_modulus,
                particle_diameter=2.0 * settings.get("particle_radius", 0.0) * float(cells.size.mean()),
            )
        )
        return len(self._membranes) - 1

    def add_rigid(self, name: str, positions: ArrayLike, triangles: ArrayLike, **settings: Any) -> int:
        """Add a rigid body of uniform density; returns its number among the rigid bodies.

        * `positions`, `triangles`: Shape at the start [m], world frame, shape (vertex_count, 3); outward triangles of a
          closed surface, shape (triangle_count, 3). It may be concave.
        * `mass`: [kg]; with the mesh it gives the centre of mass and the inertia tensor.
        * `friction`, `bounciness`, `thickness`: As in `add_membrane`; thickness 0 = 0.5 % of the cube root of the
          volume.
        * `sharp`: Whether it cuts skins that it presses (`core/plasticity/cuts.py`).
        * `linear_damping`, `angular_damping`: Decay rates of velocity and angular velocity [1/s].
        * `velocity`, `angular_velocity`: Of the centre of mass [m/s], about it [1/s], at the start.

        Raises `MeshError` or `ParameterError` with a sentence that names the body, the value and the remedy.
        """
        settings = settings_of(name, "RIGID", locals())
        given = positions_of(name, positions)
        faces = triangles_of(name, triangles)
        topology.check_closed_surface(name, given, faces)
        properties = mass_properties(given, faces)
        self._rigid.append(
            GivenRigid(name=name, positions=given, triangles=faces, settings=settings, properties=properties)
        )
        return len(self._rigid) - 1

    def add_collider(
        self, name: str, positions: ArrayLike, triangles: ArrayLike, *, deforms: bool = False, **settings: Any
    ) -> int:
        """Add a still or animated obstacle of infinite mass, closed or open; returns its number among the colliders.

        `deforms`: whether it may change its shape, and fold where it is flat at the start. `thickness` [m] is added to
        that of the bodies that touch it; `sharp`: as in `add_rigid`. Other parameters as in `add_membrane`.
        """
        settings = settings_of(name, "COLLIDER", locals())
        given = positions_of(name, positions)
        faces = triangles_of(name, triangles)
        topology.check_surface(name, given, faces)
        self._colliders.append(
            GivenBody(name=name, positions=given, triangles=faces, settings=settings, deforms=deforms)
        )
        return len(self._colliders) - 1

    def build(self, *, ignores: ArrayLike | None = None) -> Model:
        """Build the immutable model. A scene without moving bodies is refused.

        `ignores`: whether the body of each row has no contact with that of each column, shape (body_count, body_count),
        in the order of the model: membranes, rigid bodies, colliders. Two bodies have contact if neither ignores the
        other; self-contact is set by `self_collision`.
        """
        membranes, rigid, colliders = self._membranes, self._rigid, self._colliders
        if not membranes and not rigid:
            raise ParameterError("scene: no body to simulate. Add at least one that moves.")
        fillings = [filling_of(body, self._ambient_pressure) for body in membranes]
        pairs = ignored_pairs(ignores, len(membranes) + len(rigid) + len(colliders))
        return freeze(
            membranes, rigid, colliders, self._attached, self._gravity, self._settings, fillings, pairs,
            list(self._goals.values()), self._hoses,
        )  # fmt: skip
