"""Arrays of a model from the builder's bodies: springs, masses, surfaces."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import topology
from ..array_types import FloatArray, IntArray
from ..model import Circles, Edges, Fans, Flat, Followers, Surfaces, Tetrahedra
from .given import GivenBody, GivenMembrane, GivenRigid
from .lattice.cells import tetrahedron_volumes
from .ties import with_ties

if TYPE_CHECKING:
    from ..inflation.filling import Filling

#: Automatic thickness of a membrane as a share of the mean edge length.
AUTOMATIC_THICKNESS = 0.05
#: Automatic thickness of a rigid body as a share of the cube root of its volume, as its edges may be long.
AUTOMATIC_RIGID_THICKNESS = 0.005


def thicknesses(bodies: list[GivenBody], edges: Edges, body_of_point: IntArray) -> FloatArray:
    """Distance that each body keeps from others [m], with the automatic values filled in."""
    edge_body = body_of_point[edges.points[:, 0]]
    edge_count = np.bincount(edge_body, minlength=len(bodies))
    mean_edge = np.bincount(edge_body, edges.rest_length, minlength=len(bodies)) / np.maximum(edge_count, 1)
    thickness = np.array([body.setting("thickness") for body in bodies])
    for number, body in enumerate(bodies):
        if thickness[number] == 0.0 and isinstance(body, GivenMembrane):
            thickness[number] = AUTOMATIC_THICKNESS * mean_edge[number]
        elif thickness[number] == 0.0 and isinstance(body, GivenRigid):
            thickness[number] = AUTOMATIC_RIGID_THICKNESS * body.properties.volume ** (1.0 / 3.0)
    return thickness


def spring_edges(membranes: list[GivenMembrane], positions: FloatArray, starts: IntArray) -> Edges:
    """Springs of all bodies; `starts`: first point of each body.

    Of a skin k = Y * (area of the triangles at the edge) / length^2 (Van Gelder 1998, eq. 20), or one for all (Mesit
    2007, eq. 5); of a lattice those of `bodies.lattice.springs`, or one for all.
    """
    ends, constants = [np.zeros((0, 2), np.int32)], [np.zeros(0)]
    for body, start in zip(membranes, starts, strict=False):
        own, stiffness = _skin_springs(body) if body.lattice is None else body.lattice.springs
        if body.ties is not None:
            own, stiffness = with_ties(own, stiffness, body.ties)
        ends.append(own + start)
        constants.append(stiffness)
    points, stiffness = np.concatenate(ends).astype(np.int32), np.concatenate(constants)
    length = np.linalg.norm(positions[points[:, 0]] - positions[points[:, 1]], axis=1)
    return Edges(points, length, stiffness)


def edge_dampers(
    stiffness: FloatArray, edge_body: IntArray, spring_damping: FloatArray, elastic_modulus: FloatArray
) -> FloatArray:
    """Constant c of the damper along each spring [N s/m]: c = (eta / Y) k, so independent of the mesh like k.

    `stiffness` k [N/m] and body of each spring; per membrane, the dampers' modulus eta and that of the springs, Y:
    [N s/m] and [N/m], or [Pa s] and [Pa].
    """
    relaxation = np.divide(
        spring_damping, elastic_modulus, out=np.zeros_like(elastic_modulus), where=elastic_modulus > 0.0
    )
    return np.asarray(stiffness * relaxation[edge_body])


def rest_lengths(fillings: "Sequence[Filling | None]", edges: Edges, body_of_point: IntArray) -> FloatArray:
    """Rest lengths of the springs [m]: as drawn, or those that keep the drawn shape under pressure."""
    lengths, edge_body = edges.rest_length.copy(), body_of_point[edges.points[:, 0]]
    for body, filling in enumerate(fillings):
        if filling is not None:
            lengths[edge_body == body] = filling.rest_lengths
    return lengths


def start_positions(
    membranes: list[GivenMembrane], fillings: "Sequence[Filling | None]", positions: FloatArray, first: IntArray
) -> FloatArray:
    """Start positions of all points [m]: as drawn, or in equilibrium. `first`: first point of each body."""
    start = positions.copy()
    for body, (given, filling) in enumerate(zip(membranes, fillings, strict=False)):
        if filling is not None and given.starts_at_rest:
            start[first[body] : first[body + 1]] = filling.rest_positions
    return start


def rest_volumes(
    membranes: list[GivenMembrane], fillings: "Sequence[Filling | None]", drawn_volume: FloatArray
) -> FloatArray:
    """Volume at which the gas of each membrane has its gauge pressure [m^3]: as drawn, or in equilibrium."""
    volumes = drawn_volume.copy()
    for body, (given, filling) in enumerate(zip(membranes, fillings, strict=False)):
        if filling is not None:
            volumes[body] = filling.volume(given.gauge_pressure)
    return volumes


def _skin_springs(body: GivenMembrane) -> tuple[IntArray, FloatArray]:
    """Edges of one skin, and their constants [N/m]."""
    points, side_edge = topology.unique_edges(body.triangles)
    if constant := body.setting("spring_constant"):
        return points, np.full(len(points), constant)
    length = np.linalg.norm(body.positions[points[:, 0]] - body.positions[points[:, 1]], axis=1)
    area = np.repeat(topology.triangle_areas(body.positions, body.triangles), 3)
    at_edge = np.bincount(side_edge.ravel(), area, minlength=len(points))
    return points, body.stretch_modulus * at_edge / length**2


def vertex_masses(membranes: list[GivenMembrane], fill_mass: FloatArray) -> FloatArray:
    """Masses of all vertices [kg]: of skins by the area around them, of lattices by the cells, or all the same.

    `fill_mass` [kg]: mass of what is inside each skin, spread by area, too.
    """
    masses = []
    for body, fill in zip(membranes, fill_mass.tolist(), strict=True):
        if body.lattice is not None:
            masses.append(body.lattice.vertex_mass)
            continue
        share = topology.vertex_areas(body.positions, body.triangles)
        point_mass = body.setting("point_mass")
        skin = np.full(len(body.positions), point_mass) if point_mass else body.mass * share / share.sum()
        masses.append(skin + fill * share / share.sum() if fill else skin)
    return np.concatenate([np.zeros(0), *masses])


def solid_tetrahedra(membranes: list[GivenMembrane], positions: FloatArray, starts: IntArray) -> Tetrahedra:
    """Tetrahedra of all lattices in the order of their cells; `starts`: first point of each body."""
    placed = [(b.lattice, s) for b, s in zip(membranes, starts, strict=False) if b.lattice is not None]
    points = np.concatenate([np.zeros((0, 4)), *(own.tetrahedra + start for own, start in placed)]).astype(np.int32)
    stiffness = np.concatenate([np.zeros(0), *(own.volume_stiffness for own, _ in placed)])
    of_sums = np.concatenate([np.zeros(0), *(own.sum_stiffness for own, _ in placed)])
    return Tetrahedra(points, tetrahedron_volumes(positions, points), stiffness, of_sums)


def lattice_cells(membranes: list[GivenMembrane], first: IntArray) -> IntArray:
    """Corners of the cells of all solids, shape (cell_count, 8); `first`: first point of each body."""
    placed = [b.lattice.cells + s for b, s in zip(membranes, first, strict=False) if b.lattice is not None]
    return np.concatenate([np.zeros((0, 8)), *placed]).astype(np.int32)


def lattice_followers(membranes: list[GivenMembrane], first: IntArray) -> Followers:
    """Followers of the lattices; `first`: first point of each body."""
    placed = [(b.lattice, s) for b, s in zip(membranes, first, strict=False) if b.lattice is not None]
    lattices = [body.lattice for body in membranes]
    return Followers(
        vertex_start=topology.starts([0 if own is None else len(own.follow.points) for own in lattices]),
        points=np.concatenate([np.zeros((0, 4)), *(own.follow.points + s for own, s in placed)]).astype(np.int32),
        weights=np.concatenate([np.zeros((0, 4)), *(own.follow.weights for own, _ in placed)]),
        hold_start=topology.starts([0 if own is None else len(own.holds.vertices) for own in lattices]),
        hold_points=np.concatenate([np.zeros(0), *(np.flatnonzero(own.holds.pinned) + s for own, s in placed)]).astype(
            np.int32
        ),
        hold_vertices=np.concatenate([np.zeros((0, 3)), *(own.holds.vertices for own, _ in placed)]).astype(np.int32),
        hold_weights=np.concatenate([np.zeros((0, 3)), *(own.holds.weights for own, _ in placed)]),
        pinned_start=topology.starts([0 if own is None else len(own.pinned_positions) for own in lattices]),
        pinned_rest=np.concatenate([np.zeros((0, 3)), *(own.pinned_positions for own, _ in placed)]),
    )


def flat_bodies(membranes: list[GivenMembrane], first: IntArray) -> Flat:
    """Flat bodies; `first`: first point of each body."""
    placed = [(b.flat, s, len(b.positions) // 2) for b, s in zip(membranes, first, strict=False) if b.flat is not None]
    flats = [body.flat for body in membranes]
    front = np.concatenate([np.zeros(0), *(start + 2 * np.arange(count) for _, start, count in placed)])
    return Flat(
        pairs=np.stack([front, front + 1], axis=1).astype(np.int32),
        pair_normal=np.concatenate([np.zeros((0, 3)), *(np.tile(own.normal, (count, 1)) for own, _, count in placed)]),
        normal=np.array([np.zeros(3) if own is None else own.normal for own in flats]).reshape(-1, 3),
        depth=np.array([0.0 if own is None else own.depth for own in flats]),
    )


def truss_circles(membranes: list[GivenMembrane], first: IntArray) -> Circles:
    """Particles of the trusses that have a radius; each copy of a flat one is a group of its own."""
    groups, diameters = list[IntArray](), list[float]()
    for body, start in zip(membranes, first, strict=False):
        if body.particle_diameter == 0.0:
            continue
        copies = 1 if body.flat is None else 2
        for copy in range(copies):
            groups.append(start + np.arange(copy, len(body.positions), copies))
            diameters.append(body.particle_diameter)
    return Circles(
        points=np.concatenate([np.zeros(0), *groups]).astype(np.int32),
        start=topology.starts([len(group) for group in groups]),
        diameter=np.array(diameters),
    )


def contact_surfaces(triangles: IntArray, triangle_start: IntArray) -> Surfaces:
    """Triangles, edges and neighbours of all bodies."""
    edges, side_edge = topology.unique_edges(triangles)
    triangle_body = np.repeat(np.arange(len(triangle_start) - 1, dtype=np.int32), np.diff(triangle_start))
    edge_body = np.empty(len(edges), np.int32)
    edge_body[side_edge] = triangle_body[:, None]
    return Surfaces(
        triangles=triangles,
        triangle_body=triangle_body,
        body_triangle_start=triangle_start,
        triangle_neighbour=topology.triangle_neighbours(triangles),
        edges=edges,
        edge_body=edge_body,
        edge_apex=topology.edge_apexes(triangles, edges, side_edge),
    )


def triangle_fans(skin: IntArray, vertex_count: int) -> Fans:
    """Triangles of the skins that hold gas, gathered per vertex."""
    start, entry = topology.grouped(skin.ravel(), vertex_count)
    others = np.stack([np.roll(skin, -1, axis=1).ravel(), np.roll(skin, -2, axis=1).ravel()], axis=1)
    return Fans(start, np.ascontiguousarray(others[entry]))
