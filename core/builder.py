"""`ModelBuilder`: collects bodies one by one and freezes them into a `Model`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from . import topology
from .errors import ParameterError
from .forces.hinges import rest_hinges
from .model import BoolArray, Chunks, Edges, Fans, FloatArray, Hinges, IntArray, Model, Surfaces

#: Vertices per chunk: small enough that two threads share a ball of 2 562 vertices, large enough for a loop.
CHUNK_SIZE = 512
#: Automatic thickness as a share of the mean edge length.
AUTOMATIC_THICKNESS = 0.05


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
    pinned: BoolArray
    velocity: FloatArray


@dataclass(frozen=True, slots=True)
class _Collider:
    name: str
    positions: FloatArray
    triangles: IntArray
    friction: float
    bounciness: float
    thickness: float


class ModelBuilder:
    """Collects membranes and colliders; `build()` returns the immutable `Model`.

    Parameters: `gravity` [m/s^2], `ambient_pressure` [Pa] outside every membrane (0 is the papers' law).
    """

    def __init__(self, *, gravity: Sequence[float] = (0.0, 0.0, -9.81), ambient_pressure: float = 101_325.0) -> None:
        self._gravity = np.asarray(gravity, dtype=float)
        if self._gravity.shape != (3,) or not np.all(np.isfinite(self._gravity)):
            raise ParameterError(f"gravity: {gravity}; give three finite numbers in m/s\u00b2.")
        self._ambient_pressure = _check("scene", "ambient pressure", ambient_pressure, "Pa", low=0.0)
        self._membranes: list[_Membrane] = []
        self._colliders: list[_Collider] = []

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
        start_velocity = np.asarray(velocity, dtype=float)
        if start_velocity.shape != (3,) or not np.all(np.isfinite(start_velocity)):
            raise ParameterError(f"{name}: velocity {velocity}; give three finite numbers in m/s.")
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
                pinned=topology.pin_mask(name, len(given), pin_numbers)[order],
                velocity=start_velocity,
            )
        )
        return len(self._membranes) - 1

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

    def build(self) -> Model:
        """Freeze what was added. A scene without a membrane is refused."""
        if not self._membranes:
            raise ParameterError("scene: no soft body to simulate. Mark at least one mesh as Soft.")
        membranes, colliders = self._membranes, self._colliders
        bodies: list[_Membrane | _Collider] = [*membranes, *colliders]
        point_start = _starts([len(body.positions) for body in bodies])
        vertex_count = int(point_start[len(membranes)])
        triangles = np.concatenate(
            [body.triangles + start for body, start in zip(bodies, point_start, strict=False)]
        ).astype(np.int32)
        triangle_start = _starts([len(body.triangles) for body in bodies])
        skin = triangles[: triangle_start[len(membranes)]]
        body_of_point = np.repeat(np.arange(len(bodies), dtype=np.int32), np.diff(point_start))
        positions = np.concatenate([body.positions for body in bodies])
        edges = _edges(membranes, positions, skin, body_of_point, vertex_count)
        mean_edge = np.bincount(
            body_of_point[edges.points[:, 0]], edges.rest_length, minlength=len(membranes)
        ) / np.bincount(body_of_point[edges.points[:, 0]], minlength=len(membranes))
        bend_modulus = np.array([body.bend_modulus for body in membranes])
        hinges = rest_hinges(positions, skin, bend_modulus[body_of_point[:vertex_count]])
        thickness = np.array([body.thickness for body in bodies])
        for number, body in enumerate(membranes):
            if body.thickness == 0.0:
                thickness[number] = AUTOMATIC_THICKNESS * mean_edge[number]
        point_of_vertex = np.concatenate(
            [np.argsort(body.order) + start for body, start in zip(membranes, point_start, strict=False)]
            + [np.arange(vertex_count, len(positions))]
        ).astype(np.int32)
        return Model(
            body_names=tuple(body.name for body in bodies),
            membrane_count=len(membranes),
            rigid_count=0,
            body_point_start=point_start,
            point_body=body_of_point,
            point_of_vertex=point_of_vertex,
            rest_positions=positions,
            start_velocities=np.repeat(
                [body.velocity for body in membranes], np.diff(point_start)[: len(membranes)], axis=0
            ),
            vertex_mass=_vertex_masses(membranes),
            pinned=np.concatenate([body.pinned for body in membranes]),
            surfaces=_surfaces(triangles, triangle_start, len(positions)),
            edges=edges,
            hinges=hinges,
            fans=_fans(skin, vertex_count),
            chunks=_chunks(point_start[: len(membranes) + 1], edges, hinges),
            rest_volume=np.array([topology.signed_volume(body.positions, body.triangles) for body in membranes]),
            gauge_pressure=np.array([body.gauge_pressure for body in membranes]),
            damping=np.array([body.damping for body in membranes]),
            body_mass=np.array([body.mass for body in membranes] + [0.0] * len(colliders)),
            thickness=thickness,
            friction=np.array([body.friction for body in bodies]),
            bounciness=np.array([body.bounciness for body in bodies]),
            gravity=self._gravity,
            ambient_pressure=self._ambient_pressure,
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
    return np.concatenate(masses)


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
