"""`ModelBuilder`: collects bodies one by one and freezes them into a `Model`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from . import topology
from .attach import Attached, anchor_positions, rest_attachments
from .errors import ParameterError
from .forces.hinges import rest_hinges
from .model import BoolArray, Chunks, Edges, Fans, FloatArray, Hinges, IntArray, Model, RigidBodies, Surfaces
from .rigid.inertia import MassProperties, inertia_of, mass_properties

#: Vertices per chunk: small enough that two threads share a ball of 2 562 vertices, large enough for a loop.
CHUNK_SIZE = 512
#: Automatic thickness of a membrane as a share of the mean edge length.
AUTOMATIC_THICKNESS = 0.05
#: Automatic thickness of a rigid body as a share of the cube root of its volume, as its edges may be long.
AUTOMATIC_RIGID_THICKNESS = 0.005


@dataclass(frozen=True, slots=True)
class _Membrane:
    name: str
    positions: FloatArray  # internal order
    triangles: IntArray  # internal order
    order: IntArray  # caller's vertex of each internal vertex
    mass: float
    gauge_pressure: float
    stretch_modulus: float
    bend_modulus: float
    damping: float
    friction: float
    bounciness: float
    thickness: float
    self_collision: bool
    pinned: BoolArray
    velocity: FloatArray


@dataclass(frozen=True, slots=True)
class _Rigid:
    name: str
    positions: FloatArray
    triangles: IntArray
    mass: float
    properties: MassProperties
    friction: float
    bounciness: float
    thickness: float
    linear_damping: float
    angular_damping: float
    velocity: FloatArray
    angular_velocity: FloatArray


@dataclass(frozen=True, slots=True)
class _Collider:
    name: str
    positions: FloatArray
    triangles: IntArray
    friction: float
    bounciness: float
    thickness: float


class ModelBuilder:
    """Collects membranes, rigid bodies and colliders; `build()` returns the immutable `Model`.

    Parameters: `gravity` [m/s^2], `ambient_pressure` [Pa] outside every membrane (0 is the papers' law).
    """

    def __init__(self, *, gravity: Sequence[float] = (0.0, 0.0, -9.81), ambient_pressure: float = 101_325.0) -> None:
        self._gravity = np.asarray(gravity, dtype=float)
        if self._gravity.shape != (3,) or not np.all(np.isfinite(self._gravity)):
            raise ParameterError(f"gravity: {gravity}; give three finite numbers in m/s\u00b2.")
        self._ambient_pressure = _check("scene", "ambient pressure", ambient_pressure, "Pa", low=0.0)
        self._membranes: list[_Membrane] = []
        self._rigid: list[_Rigid] = []
        self._colliders: list[_Collider] = []
        self._attached: list[Attached] = []

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
        friction: float = 0.5,
        bounciness: float = 1.0,
        thickness: float = 0.0,
        self_collision: bool = False,
        pinned: ArrayLike | None = None,
        velocity: Sequence[float] = (0.0, 0.0, 0.0),
    ) -> int:
        """Add a closed skin filled with gas; returns its number among the membranes.

        Parameters
        ----------
        positions, triangles
            Rest shape [m], world frame, shape (vertex_count, 3); outward triangles, shape (triangle_count, 3).
        mass
            Total mass [kg], spread over the vertices by area.
        gauge_pressure
            Pressure above ambient at the rest volume [Pa]; sets the amount of gas. Above minus ambient.
        stretch_modulus, bend_modulus
            Y [N/m] and B [N m]; independent of how fine the mesh is (Van Gelder 1998; Grinspun et al. 2003). In a
            regular pattern of triangles bending costs B / 2 ((k1 + k2)^2 + 2 (k1 - k2)^2) per area for the curvatures
            k1 and k2, other patterns up to three times as much along their diagonals.
        damping
            Rate at which vibrations die away [1/s]; falling and rolling are not braked.
        friction, bounciness
            Coulomb coefficient; share of the approach speed that a contact gives back, 0 to 1, on top of what
            the body's own vibrations take. A pair of bodies uses the geometric means.
        thickness
            Distance kept from other surfaces [m]; 0 = 5 % of the mean edge length.
        self_collision
            Whether the skin cannot pass through itself.
        pinned
            Vertices that follow given positions.
        velocity
            At the start [m/s].

        Raises `MeshError` or `ParameterError` with a sentence that names the body, the value and the remedy.
        """
        given = _positions(name, positions)
        faces = _triangles(name, triangles)
        topology.check_closed_surface(name, given, faces)
        _check(name, "mass", mass, "kg", low=0.0, open_low=True)
        _check(name, "gauge pressure", gauge_pressure, "Pa", low=-self._ambient_pressure)
        _check(name, "stretch modulus", stretch_modulus, "N/m", low=0.0, open_low=True)
        _check(name, "bend modulus", bend_modulus, "N m", low=0.0)
        _check(name, "damping", damping, "1/s", low=0.0)
        _check_surface_numbers(name, friction, bounciness, thickness)
        start_velocity = _vector(name, "velocity", velocity, "m/s")
        order = topology.space_filling_order(given)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order), dtype=np.int32)
        pin_numbers = None if pinned is None else np.asarray(pinned, dtype=np.int32)
        self._membranes.append(
            _Membrane(
                name=name,
                positions=np.ascontiguousarray(given[order]),
                triangles=rank[faces],
                order=order,
                mass=float(mass),
                gauge_pressure=float(gauge_pressure),
                stretch_modulus=float(stretch_modulus),
                bend_modulus=float(bend_modulus),
                damping=float(damping),
                friction=float(friction),
                bounciness=float(bounciness),
                thickness=float(thickness),
                self_collision=bool(self_collision),
                pinned=topology.pin_mask(name, len(given), pin_numbers)[order],
                velocity=start_velocity,
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
        """Add a solid of uniform density that keeps its shape; returns its number among the rigid bodies.

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
            Rates at which velocity and angular velocity die away [1/s].
        velocity, angular_velocity
            Of the centre of mass [m/s], about it [1/s], at the start.

        Raises `MeshError` or `ParameterError` with a sentence that names the body, the value and the remedy.
        """
        given = _positions(name, positions)
        faces = _triangles(name, triangles)
        topology.check_closed_surface(name, given, faces)
        _check(name, "mass", mass, "kg", low=0.0, open_low=True)
        _check(name, "linear damping", linear_damping, "1/s", low=0.0)
        _check(name, "angular damping", angular_damping, "1/s", low=0.0)
        _check_surface_numbers(name, friction, bounciness, thickness)
        self._rigid.append(
            _Rigid(
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
                velocity=_vector(name, "velocity", velocity, "m/s"),
                angular_velocity=_vector(name, "angular velocity", angular_velocity, "1/s"),
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
        given = _positions(name, positions)
        faces = _triangles(name, triangles)
        topology.check_surface(name, given, faces)
        _check_surface_numbers(name, friction, bounciness, thickness)
        self._colliders.append(_Collider(name, given, faces, float(friction), float(bounciness), float(thickness)))
        return len(self._colliders) - 1

    def attach_to_rigid(self, membrane: int, vertices: ArrayLike, rigid: int) -> None:
        """Glue vertices of a membrane, in the caller's numbers, to a rigid body: they keep their places in its frame.

        What is glued does not touch the body it is glued to.
        """
        if not 0 <= rigid < len(self._rigid):
            raise ParameterError(f"rigid body: {rigid}; there are {len(self._rigid)}, counted from 0.")
        self._attach(membrane, vertices, rigid=rigid)

    def attach_to_membrane(self, membrane: int, vertices: ArrayLike, other: int) -> None:
        """Glue vertices of a membrane, in the caller's numbers, to the nearest triangles of another membrane."""
        if not 0 <= other < len(self._membranes) or other == membrane:
            raise ParameterError(
                f"membrane: {other} to attach to; give another one of the {len(self._membranes)}, counted from 0."
            )
        self._attach(membrane, vertices, other=other)

    def _attach(self, membrane: int, vertices: ArrayLike, **to: int) -> None:
        if not 0 <= membrane < len(self._membranes):
            raise ParameterError(f"membrane: {membrane}; there are {len(self._membranes)}, counted from 0.")
        body = self._membranes[membrane]
        chosen = np.unique(np.asarray(vertices, dtype=np.int32).ravel())
        count = len(body.positions)
        if len(chosen) == 0 or chosen[0] < 0 or chosen[-1] >= count:
            raise ParameterError(f"{body.name}: vertices to attach; give numbers from 0 to {count - 1}, at least one.")
        self._attached.append(Attached(membrane, np.argsort(body.order)[chosen].astype(np.int32), **to))

    def build(self) -> Model:
        """Freeze what was added. A scene in which nothing can move is refused."""
        membranes, rigid, colliders = self._membranes, self._rigid, self._colliders
        if not membranes and not rigid:
            raise ParameterError("scene: no body to simulate. Mark at least one mesh as Soft or Rigid.")
        bodies: list[_Membrane | _Rigid | _Collider] = [*membranes, *rigid, *colliders]
        anchors = [anchor_positions(self._attached, number, membranes) for number in range(len(rigid))]
        places = [body.positions for body in membranes]
        places += [np.concatenate([body.positions, held]) for body, held in zip(rigid, anchors, strict=True)]
        places += [body.positions for body in colliders]
        point_start = _starts([len(part) for part in places])
        vertex_count = int(point_start[len(membranes)])
        triangles = np.concatenate(
            [body.triangles + start for body, start in zip(bodies, point_start, strict=False)]
        ).astype(np.int32)
        triangle_start = _starts([len(body.triangles) for body in bodies])
        skin = triangles[: triangle_start[len(membranes)]]
        body_of_point = np.repeat(np.arange(len(bodies), dtype=np.int32), np.diff(point_start))
        positions = np.concatenate(places)
        edges = _edges(membranes, positions, skin, body_of_point, vertex_count)
        bend_modulus = np.array([body.bend_modulus for body in membranes])
        hinges = rest_hinges(positions, skin, bend_modulus[body_of_point[:vertex_count]])
        point_of_vertex = np.concatenate(
            [np.argsort(body.order) + start for body, start in zip(membranes, point_start, strict=False)]
            + [np.arange(vertex_count, len(positions))]
        ).astype(np.int32)
        return Model(
            body_names=tuple(body.name for body in bodies),
            membrane_count=len(membranes),
            rigid_count=len(rigid),
            body_point_start=point_start,
            point_body=body_of_point,
            point_of_vertex=point_of_vertex,
            rest_positions=positions,
            start_velocities=np.repeat(
                np.array([body.velocity for body in membranes]).reshape(-1, 3),
                np.diff(point_start)[: len(membranes)],
                axis=0,
            ),
            vertex_mass=_vertex_masses(membranes),
            pinned=np.concatenate([np.zeros(0, dtype=bool), *(body.pinned for body in membranes)]),
            surfaces=_surfaces(triangles, triangle_start, len(positions)),
            edges=edges,
            hinges=hinges,
            fans=_fans(skin, vertex_count),
            chunks=_chunks(point_start[: len(membranes) + 1], edges, hinges),
            rigid=_rigid_bodies(
                rigid, positions, point_start[len(membranes) : len(membranes) + len(rigid) + 1], vertex_count
            ),
            attachments=rest_attachments(
                self._attached,
                positions,
                point_start,
                [len(body.positions) for body in rigid],
                skin,
                triangle_start,
                edges,
            ),
            rest_volume=np.array([topology.signed_volume(body.positions, body.triangles) for body in membranes]),
            gauge_pressure=np.array([body.gauge_pressure for body in membranes]),
            damping=np.array([body.damping for body in membranes]),
            body_mass=np.array([m.mass for m in membranes] + [r.mass for r in rigid] + [0.0] * len(colliders)),
            thickness=_thicknesses(bodies, edges, body_of_point),
            self_collision=np.array([m.self_collision for m in membranes] + [False] * (len(bodies) - len(membranes))),
            friction=np.array([body.friction for body in bodies]),
            bounciness=np.array([body.bounciness for body in bodies]),
            gravity=self._gravity,
            ambient_pressure=self._ambient_pressure,
        )


def _thicknesses(bodies: "list[_Membrane | _Rigid | _Collider]", edges: Edges, body_of_point: IntArray) -> FloatArray:
    """What each body keeps from others [m], with the automatic values filled in."""
    edge_body = body_of_point[edges.points[:, 0]]
    edge_count = np.bincount(edge_body, minlength=len(bodies))
    mean_edge = np.bincount(edge_body, edges.rest_length, minlength=len(bodies)) / np.maximum(edge_count, 1)
    thickness = np.array([body.thickness for body in bodies])
    for number, body in enumerate(bodies):
        if body.thickness == 0.0 and isinstance(body, _Membrane):
            thickness[number] = AUTOMATIC_THICKNESS * mean_edge[number]
        elif body.thickness == 0.0 and isinstance(body, _Rigid):
            thickness[number] = AUTOMATIC_RIGID_THICKNESS * body.properties.volume ** (1.0 / 3.0)
    return thickness


def _rigid_bodies(bodies: list[_Rigid], positions: FloatArray, point_start: IntArray, vertex_count: int) -> RigidBodies:
    density = [body.mass / body.properties.volume for body in bodies]
    moment = np.array([d * body.properties.second_moment for d, body in zip(density, bodies, strict=True)])
    moment = moment.reshape(-1, 3, 3)
    inertia = inertia_of(moment)
    parts = zip(point_start[:-1], point_start[1:], bodies, strict=True)
    arms = [positions[first:last] - body.properties.centre for first, last, body in parts]
    counts = np.diff(point_start)
    return RigidBodies(
        centre=np.array([body.properties.centre for body in bodies]).reshape(-1, 3),
        mass=np.array([body.mass for body in bodies], dtype=float),
        inertia=inertia,
        inverse_inertia=np.linalg.inv(inertia) if len(bodies) else inertia,
        second_moment=moment,
        arm=np.concatenate([np.zeros((0, 3)), *arms]),
        radius=np.array([np.linalg.norm(arm, axis=1).max() for arm in arms], dtype=float),
        unknown=np.repeat(vertex_count + 2 * np.arange(len(bodies), dtype=np.int32), counts),
        point_start=point_start.astype(np.int32),
        vertex_count=np.array([len(body.positions) for body in bodies], np.int32),
        velocity=np.array([body.velocity for body in bodies], dtype=float).reshape(-1, 3),
        angular_velocity=np.array([body.angular_velocity for body in bodies], dtype=float).reshape(-1, 3),
        linear_damping=np.array([body.linear_damping for body in bodies], dtype=float),
        angular_damping=np.array([body.angular_damping for body in bodies], dtype=float),
    )


def _edges(
    membranes: list[_Membrane], positions: FloatArray, skin: IntArray, body_of_point: IntArray, vertex_count: int
) -> Edges:
    """Springs with k = Y * (area of the triangles at the edge) / length^2 (Van Gelder 1998, eq. 20)."""
    points, side_edge = topology.unique_edges(skin)
    length = np.linalg.norm(positions[points[:, 0]] - positions[points[:, 1]], axis=1)
    area = np.bincount(side_edge.ravel(), np.repeat(topology.triangle_areas(positions, skin), 3), minlength=len(points))
    body = body_of_point[points[:, 0]]
    stiffness = np.array([m.stretch_modulus for m in membranes])[body] * area / length**2
    half = np.concatenate([points[:, 0], points[:, 1]])
    start, entry = topology.grouped(half, vertex_count)
    return Edges(
        points=points,
        rest_length=length,
        stiffness=stiffness,
        vertex_start=start,
        vertex_other=np.concatenate([points[:, 1], points[:, 0]])[entry],
        vertex_edge=(entry % len(points)).astype(np.int32),
    )


def _vertex_masses(membranes: list[_Membrane]) -> FloatArray:
    masses = []
    for body in membranes:
        area = topology.triangle_areas(body.positions, body.triangles)
        share = np.bincount(body.triangles.ravel(), np.repeat(area / 3.0, 3), minlength=len(body.positions))
        masses.append(body.mass * share / share.sum())
    return np.concatenate([np.zeros(0), *masses])


def _surfaces(triangles: IntArray, triangle_start: IntArray, point_count: int) -> Surfaces:
    edges, side_edge = topology.unique_edges(triangles)
    both = np.concatenate([edges, edges[:, ::-1]])
    start, entry = topology.grouped(both[:, 0], point_count)
    triangle_body = np.repeat(np.arange(len(triangle_start) - 1, dtype=np.int32), np.diff(triangle_start))
    edge_body = np.empty(len(edges), np.int32)
    edge_body[side_edge] = triangle_body[:, None]
    return Surfaces(
        triangles=triangles,
        triangle_body=triangle_body,
        body_triangle_start=triangle_start,
        triangle_neighbour=topology.triangle_neighbours(triangles),
        point_neighbour_start=start,
        point_neighbour=np.ascontiguousarray(both[entry, 1]),
        edges=edges,
        edge_body=edge_body,
        edge_apex=topology.edge_apexes(triangles, edges, side_edge),
    )


def _fans(skin: IntArray, vertex_count: int) -> Fans:
    start, entry = topology.grouped(skin.ravel(), vertex_count)
    others = np.stack([np.roll(skin, -1, axis=1).ravel(), np.roll(skin, -2, axis=1).ravel()], axis=1)
    return Fans(start, np.ascontiguousarray(others[entry]))


def _chunks(vertex_start: IntArray, edges: Edges, hinges: Hinges) -> Chunks:
    starts: list[int] = []
    body: list[int] = []
    body_start = [0]
    for number, (first, last) in enumerate(zip(vertex_start[:-1], vertex_start[1:], strict=True)):
        count = max(1, round((last - first) / CHUNK_SIZE))
        starts.extend(int(first + (last - first) * c // count) for c in range(count))
        body.extend([number] * count)
        body_start.append(len(starts))
    starts.append(int(vertex_start[-1]))
    return Chunks(
        start=np.array(starts, np.int32),
        body=np.array(body, np.int32),
        body_start=np.array(body_start, np.int32),
        edge_start=np.searchsorted(edges.points[:, 0], starts).astype(np.int32),
        hinge_start=np.searchsorted(hinges.points[:, 0], starts).astype(np.int32),
        sharp_start=np.searchsorted(hinges.points[hinges.sharp, 0], starts).astype(np.int32),
    )


def _starts(counts: list[int]) -> IntArray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)


def _vector(name: str, what: str, values: Sequence[float], unit: str) -> FloatArray:
    array = np.asarray(values, dtype=float)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise ParameterError(f"{name}: {what} {values}; give three finite numbers in {unit}.")
    return array


def _positions(name: str, positions: ArrayLike) -> FloatArray:
    array = np.array(positions, dtype=float)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ParameterError(f"{name}: positions of shape {array.shape}; give (vertex count, 3).")
    return array


def _triangles(name: str, triangles: ArrayLike) -> IntArray:
    array = np.array(triangles, dtype=np.int32)
    if array.size == 0:
        return array.reshape(0, 3)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ParameterError(f"{name}: triangles of shape {array.shape}; give (triangle count, 3).")
    return array


def _check_surface_numbers(name: str, friction: float, bounciness: float, thickness: float) -> None:
    _check(name, "friction", friction, "", low=0.0)
    _check(name, "bounciness", bounciness, "", low=0.0, high=1.0)
    _check(name, "thickness", thickness, "m", low=0.0)


def _check(
    name: str, what: str, value: float, unit: str, *, low: float, high: float = math.inf, open_low: bool = False
) -> float:
    number = float(value)
    if math.isfinite(number) and low <= number <= high and not (open_low and number == low):
        return number
    limit = f"above {low:g}" if open_low else f"at least {low:g}"
    if high < math.inf:
        limit += f" and at most {high:g}"
    raise ParameterError(f"{name}: {what} {number:g} {unit}".rstrip() + f"; give a number {limit}.")
