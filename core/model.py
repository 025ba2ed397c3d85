"""The immutable description of a scene: bodies and their properties, but not their state.

All bodies are concatenated into flat arrays. **Points** have a position: first the vertices of all membranes (unknowns
of a step), then the points of all rigid bodies (which follow from six unknowns per body), then the vertices of all
colliders (kinematic). A solid is a membrane without gas: the vertices of its lattice, of which only the outer ones are
corners of triangles. A flat body (loop, flat truss) is a membrane of two copies of its points, constrained to a plane.
Bodies are numbered in the same order: membranes, rigid bodies, colliders. Point numbers are internal: `ModelBuilder`
renumbers each membrane's vertices along a space-filling curve so that neighbours lie close in memory;
`point_of_vertex` maps a caller's vertex to its point (of a solid it is the point itself, and `Followers` map to the
caller's vertices).

The groups below are named tuples, so that kernels take them whole.
"""

import functools
import typing
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Protocol

import numpy as np

from .array_types import BoolArray, FloatArray, IntArray

#: Molar gas constant [J/(mol K)]; amounts of gas are kept as nRT [J] (`amount.py`).
GAS_CONSTANT = 8.314462618


_ELEMENTS: dict[Any, type] = {FloatArray: np.float64, IntArray: np.int32, BoolArray: np.bool_}


@functools.cache
def _kinds_of(kind: Any) -> dict[str, Any]:
    """Annotations of a class by the names of its fields, which take a millisecond to read."""
    return typing.get_type_hints(kind)


def as_declared(kind: Any, value: Any) -> Any:
    """`value` with the element type that its annotation names, C-contiguous and writable; groups field by field.

    A kernel is compiled anew for every element type and layout it meets, so a model has one of each.
    """
    if kind in _ELEMENTS:
        return np.require(value, _ELEMENTS[kind], ["C", "W"])
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        kinds = _kinds_of(kind)
        return kind(*(as_declared(kinds[name], part) for name, part in zip(kind._fields, value, strict=True)))
    return value


class Surfaces(NamedTuple):
    """Triangles of all bodies, for contact."""

    triangles: IntArray  # points of each triangle, counter-clockwise from outside, shape (triangle_count, 3)
    triangle_body: IntArray  # body of each triangle, shape (triangle_count,)
    body_triangle_start: IntArray  # shape (body_count + 1,)
    # Triangle across edge (corner k, corner k + 1) of each triangle, -1 at a border, shape (triangle_count, 3)
    triangle_neighbour: IntArray
    edges: IntArray  # every edge once (low, high), sorted, so body by body, shape (edge_count, 2)
    edge_body: IntArray  # shape (edge_count,)
    edge_apex: IntArray  # corner opposite each edge in its two triangles, -1 for none, shape (edge_count, 2)


class Edges(NamedTuple):
    """Springs: the edges of all skins, edges and diagonals of all lattices."""

    points: IntArray  # shape (edge_count, 2)
    rest_length: FloatArray  # [m], shape (edge_count,)
    stiffness: FloatArray  # spring constant [N/m], shape (edge_count,)


class Hinges(NamedTuple):
    """Pairs of triangles that share an edge (`energy/bend.py`)."""

    points: IntArray  # edge start, edge end, apex of first, apex of second triangle, shape (hinge_count, 4)
    weight: FloatArray  # of the points in the bend vector, summing to 0, shape (hinge_count, 4)
    rest_bend: FloatArray  # c of the bending energy: bend vector at rest [m], 0 = flat, shape (hinge_count,)
    normal_scale: FloatArray  # 1 / |normal| at rest, each twice the area long [1/m^2], shape (hinge_count, 2)
    stiffness: FloatArray  # [N/m], shape (hinge_count,)


class Tetrahedra(NamedTuple):
    """Corners of the cells of solids, eight of each in turn, that keep their volumes (`energy/volume.py`)."""

    points: IntArray  # the corner and its three neighbors in the cell, shape (tetrahedron_count, 4)
    rest_volume: FloatArray  # signed [m^3]
    stiffness: FloatArray  # of each one's volume [Pa/m^3]
    sum_stiffness: FloatArray  # of the sum of a cell's eight [Pa/m^3], shape (tetrahedron_count / 8,)


class Followers(NamedTuple):
    """The callers' meshes of the lattices: each vertex follows four points. Membranes with a skin have none here."""

    vertex_start: IntArray  # followers of each membrane, shape (membrane_count + 1,)
    points: IntArray  # shape (follower_count, 4)
    weights: FloatArray  # summing to 1, shape (follower_count, 4)
    hold_start: IntArray  # held points of each membrane, shape (membrane_count + 1,)
    hold_points: IntArray  # pinned points of the lattices, shape (hold_count,)
    hold_vertices: IntArray  # the pinned followers that place them, by their places among them, shape (hold_count, 3)
    hold_weights: FloatArray  # summing to 1, shape (hold_count, 3)
    pinned_start: IntArray  # pinned followers of each membrane, shape (membrane_count + 1,)
    pinned_rest: FloatArray  # where they are at rest [m], shape (pinned_count, 3)


class Flat(NamedTuple):
    """Bodies held in a plane: thin bands of two copies of the same points (`plane.py`, `bodies/flat/band.py`)."""

    pairs: IntArray  # front and back copy of each vertex, shape (pair_count, 2)
    pair_normal: FloatArray  # unit normal of each pair's plane, shape (pair_count, 3)
    normal: FloatArray  # of each membrane's plane, 0 where it is not flat, shape (membrane_count, 3)
    depth: FloatArray  # of each membrane along its normal [m], 0 where it is not flat, shape (membrane_count,)


class Circles(NamedTuple):
    """Vertices of trusses that keep a distance from each other, within groups (`papers/circles.py`)."""

    points: IntArray  # group by group, shape (circle_count,)
    start: IntArray  # first of each group, shape (group_count + 1,)
    diameter: FloatArray  # distance that they keep [m], shape (group_count,)


class Fans(NamedTuple):
    """Triangles of all membranes with gas, gathered per vertex: the two other corners, in winding order."""

    vertex_start: IntArray  # CSR over vertices, shape (vertex_count + 1,)
    corners: IntArray  # shape (3 * count of their triangles, 2)


class Attachments(NamedTuple):
    """Vertices attached to another body: to a point of a rigid one, or to a triangle of a membrane."""

    points: IntArray  # the vertex, then three points of the other body, shape (attachment_count, 4)
    weights: FloatArray  # 1, then minus the barycentric coordinates, shape (attachment_count, 4)
    offset: FloatArray  # from the triangle's point to the vertex, in the triangle's frame [m], (attachment_count, 3)
    body: IntArray  # the other body, shape (attachment_count,)
    stiffness: FloatArray  # [N/m], shape (attachment_count,)


class RigidBodies(NamedTuple):
    """Rigid bodies: six unknowns each. Tensors and arms are those of the start orientation, world axes."""

    centre: FloatArray  # centre of mass at the start [m], shape (rigid_count, 3)
    mass: FloatArray  # [kg], shape (rigid_count,)
    inertia: FloatArray  # about the centre of mass [kg m^2], shape (rigid_count, 3, 3)
    inverse_inertia: FloatArray  # [1/(kg m^2)], shape (rigid_count, 3, 3)
    second_moment: FloatArray  # sum of m r r' [kg m^2], shape (rigid_count, 3, 3)
    arm: FloatArray  # from the centre to each point of the bodies [m], shape (rigid_point_count, 3)
    radius: FloatArray  # longest arm of each body [m], shape (rigid_count,)
    unknown: IntArray  # first of the two rows of unknowns of each point's body, shape (rigid_point_count,)
    point_start: IntArray  # first point of each body, shape (rigid_count + 1,)
    vertex_count: IntArray  # points of each body's mesh; its others are attachment points, shape (rigid_count,)
    velocity: FloatArray  # at the start [m/s], shape (rigid_count, 3)
    angular_velocity: FloatArray  # at the start [1/s], shape (rigid_count, 3)
    falls: FloatArray  # 1 where gravity acts on it, 0 where its motion is given, shape (rigid_count,)
    linear_damping: FloatArray  # decay rates of the motion [1/s], shape (rigid_count,)
    angular_damping: FloatArray


class Plasticity(NamedTuple):
    """How the springs of each membrane flow and tear (`core/plasticity/`), shape (membrane_count,) each."""

    creep_time: FloatArray  # time in which a stress above the yield stress relaxes [s]; 0: never
    yield_strain: FloatArray  # elongation over the drawn length up to which springs do not flow
    plastic_limit: FloatArray  # largest change of a rest length over the drawn length; 0: none
    tear_strain: FloatArray  # elongation over rest length at which a spring tears; 0: never
    sticks: BoolArray  # whether the body is glued to other soft bodies where it touches them


class Hoses(NamedTuple):
    """Hoses between two membranes with gas (`core/flow/`), in the builder's order."""

    ends: IntArray  # the two membranes of each, shape (hose_count, 2)
    conductance: FloatArray  # flow of nRT over the difference of pressures [m^3/s], shape (hose_count,)
    valve: FloatArray  # share of the conductance at the start, 0 to 1, shape (hose_count,)


class Goals(NamedTuple):
    """Springs to goal positions (`impulses/goals.py`), each on up to four points."""

    points: IntArray  # of each goal, shape (goal_count, 4)
    weights: FloatArray  # summing to 1, shape (goal_count, 4)
    stiffness: FloatArray  # [N/m], shape (goal_count,)
    damping: FloatArray  # [N s/m], shape (goal_count,)
    rest: FloatArray  # goal positions at the start [m], shape (goal_count, 3)
    start: IntArray  # goals of each membrane, shape (membrane_count + 1,)


class Gas(Protocol):
    """Filling of a membrane with gas (`inflation/filling.py`)."""

    @property
    def growth(self) -> float:
        """Volume in equilibrium over the drawn volume, minus 1."""

    @property
    def move(self) -> float:
        """Largest displacement of a point from its rest position to the equilibrium [m]."""

    @property
    def rest_positions(self) -> FloatArray:
        """Its points in equilibrium at the pressure of the start [m], shape (vertex_count, 3)."""

    @property
    def rest_lengths(self) -> FloatArray:
        """Rest lengths of its springs [m], shape (edge_count,)."""

    @property
    def unrest(self) -> FloatArray:
        """Forces on its vertices as drawn, with the pressure that it starts with [N], shape (vertex_count, 3)."""

    @property
    def push(self) -> float:
        """Sum of the sizes of those of the gas [N]."""

    def volume(self, gauge_pressure: float) -> float:
        """Volume [m^3] at which its gas has a gauge pressure [Pa]."""

    def pressure_of(self, gas: float) -> float:
        """Gauge pressure [Pa] of nRT [J] in that volume."""

    def complaint(self, gauge_pressure: float) -> str:
        """Problem and remedy if the skin cannot hold a gauge pressure [Pa]; empty if it can."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Model:
    """A scene. Build it with `ModelBuilder`; nothing in it changes while it is simulated."""

    body_names: tuple[str, ...]  # membranes, rigid bodies, colliders
    membrane_count: int
    rigid_count: int
    body_point_start: IntArray  # shape (body_count + 1,)
    point_body: IntArray  # body of each point, shape (point_count,)
    point_of_vertex: IntArray  # internal point of each point in the caller's order, shape (point_count,)
    rest_positions: FloatArray  # as drawn [m], world frame, shape (point_count, 3)
    start_positions: FloatArray  # where the points start [m], shape (point_count, 3)
    start_velocities: FloatArray  # [m/s], shape (vertex_count, 3)
    vertex_mass: FloatArray  # [kg], shape (vertex_count,)
    pinned: BoolArray  # kinematic vertices, shape (vertex_count,)
    surfaces: Surfaces
    edges: Edges
    edge_damping: FloatArray  # constant c of the damper along each spring [N s/m], shape (edge_count,)
    hinges: Hinges
    tetrahedra: Tetrahedra
    cells: IntArray  # corners of the cells of all solids (`bodies/lattice/cells.py`), shape (cell_count, 8)
    followers: Followers
    flat: Flat
    circles: Circles
    fans: Fans
    rigid: RigidBodies
    attachments: Attachments
    goals: Goals
    plasticity: Plasticity
    weakness: FloatArray  # share by which the tear strain is lower at each vertex, 0 to 1, shape (vertex_count,)
    pressure_weight: FloatArray  # factor of the gas pressure at each vertex, 0 to 1, shape (vertex_count,)
    hoses: Hoses
    # Per membrane, shape (membrane_count,)
    drawn_volume: FloatArray  # of the gas at the rest positions [m^3], 0 where there is none
    start_volume: FloatArray  # of the gas at the start positions [m^3], 0 where there is none
    rest_volume: FloatArray  # at which the gas has the gauge pressure [m^3]: drawn, or in equilibrium; 0 without gas
    gas_base: (
        FloatArray  # absolute pressure at gauge pressure 0 [Pa]: the air's, or a bulk modulus (`bodies/gas_laws.py`)
    )
    gas_exponent: FloatArray  # k in p V^k: 1 without a change of temperature, 0 where the pressure is held
    fill_density: FloatArray  # of the gas or liquid whose weight counts [kg/m^3], 0 for none
    fill_mass: FloatArray  # of it, part of the body's mass [kg]
    inflation_time: FloatArray  # in which the gauge pressure rises at the start [s], 0 for at once
    gauge_pressure: FloatArray  # at rest volume, when the simulation starts [Pa]
    has_amount: BoolArray  # whether the amount of gas is given, not its pressure
    fillings: "tuple[Gas | None, ...]"  # None where springs are slack and gas has its pressure as drawn
    stretch_modulus: FloatArray  # of skins and loops [N/m], 0 for lattices
    bend_modulus: FloatArray  # of skins and loops [N m], 0 for lattices
    hinge_share: FloatArray  # part of the bend modulus that hinges have
    young_modulus: FloatArray  # of lattices [Pa], 0 for skins and loops
    spring_constant: FloatArray  # where all springs have one [N/m], 0 where they follow from a modulus
    stiffening: FloatArray  # a of lattices: springs are stiffer by 1 + a strain^2 (`energy/stiffening.py`)
    damping: FloatArray  # decay rate of motion relative to the rigid one [1/s]
    spring_damping: (
        FloatArray  # of the dampers along springs: modulus of skins, loops [N s/m], of lattices [Pa s]; or c [N s/m]
    )
    rigid_springs: BoolArray  # whether springs keep their length whatever their stiffness; XPBD alone
    rigid_volumes: BoolArray  # whether tetrahedra keep their volume whatever their stiffness; XPBD alone
    # Per body, shape (body_count,)
    body_mass: FloatArray  # [kg], 0 for colliders
    thickness: FloatArray  # distance the body's surface keeps from another surface [m]
    self_collision: BoolArray  # whether the body has contact with itself
    friction: FloatArray  # Coulomb coefficient; a pair uses the geometric mean
    bounciness: FloatArray  # separation speed over approach speed [1]; a pair uses the geometric mean
    deforms: BoolArray  # whether the body may change its shape
    # Pairs of bodies without contact, symmetric, False for a body and itself, (body_count, body_count)
    ignores: BoolArray
    gravity: FloatArray  # [m/s^2], shape (3,)
    ambient_pressure: float  # [Pa]
    # What each body was given, by the names in `parameters/`, shape (body_count + 1,); the last is the scene's
    settings: tuple[Mapping[str, Any], ...]

    def __post_init__(self) -> None:
        own: Any = type(self)
        kinds = _kinds_of(own)
        for name in (field.name for field in fields(self)):
            object.__setattr__(self, name, as_declared(kinds[name], getattr(self, name)))

    def is_lattice(self, membrane: int) -> bool:
        """Whether a membrane has followers, which are the caller's vertices: solids and flat bodies."""
        return bool(self.followers.vertex_start[membrane + 1] > self.followers.vertex_start[membrane])

    @property
    def creeps(self) -> bool:
        """Whether rest lengths of springs change during a run."""
        return bool(self.plasticity.creep_time.any())

    @property
    def tears(self) -> bool:
        """Whether springs may tear."""
        return bool(self.plasticity.tear_strain.any())

    @property
    def weighs_pressure(self) -> bool:
        """Whether the gas pressure is weighted anywhere: the force of the gas is then no gradient of an energy."""
        return bool((self.pressure_weight != 1.0).any())

    def has_gas(self, membrane: int) -> bool:
        """Whether a membrane is filled with gas: skins and loops."""
        return bool(self.rest_volume[membrane] > 0.0)

    @property
    def vertex_count(self) -> int:
        """Number of membrane vertices: the first points, and the unknowns."""
        return int(self.vertex_mass.shape[0])

    @property
    def point_count(self) -> int:
        """Number of points of all bodies."""
        return int(self.rest_positions.shape[0])

    @property
    def moving_point_count(self) -> int:
        """Number of points of membranes and rigid bodies."""
        return int(self.body_point_start[self.moving_count])

    @property
    def unknown_count(self) -> int:
        """Rows of unknowns of a step: one per vertex, two per rigid body (translation, rotation)."""
        return self.vertex_count + 2 * self.rigid_count

    @property
    def body_count(self) -> int:
        """Number of membranes, rigid bodies and colliders."""
        return len(self.body_names)

    @property
    def moving_count(self) -> int:
        """Number of membranes and rigid bodies."""
        return self.membrane_count + self.rigid_count
