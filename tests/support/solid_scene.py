"""Bars, balls and cubes that are solid, for the tests of solids."""

import numpy as np
import shapes
from force_scene import skins_at, spring_energies
from softpressure_ext.core import ModelBuilder, World

AMBIENT = 101_325.0


def bar(length, width, cells=1):
    """A bar along x from the plane x = 0, square across, its sides cut into cells."""
    x, triangles = shapes.box(1.0, cells, (0.5, 0.0, 0.0))
    return x * (length, width, width), triangles


def model_of(mesh, **options):
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_solid("solid", *mesh, **options)
    return builder.build()


def elastic(model, x):
    """Energy [J] of springs and tetrahedra at x, force [N] on every vertex, and the gradients of the volumes."""
    tetrahedra = model.tetrahedra
    a, b, c, d = x[tetrahedra.points].transpose(1, 0, 2)
    sides = [np.cross(d - b, c - b), np.cross(c - a, d - a), np.cross(d - a, b - a), np.cross(b - a, c - a)]
    gradient = np.stack(sides, axis=1) / 6.0
    lack = tetrahedra.rest_volume - ((b - a) * gradient[:, 1]).sum(axis=1)
    of_cell = tetrahedra.sum_stiffness * lack.reshape(-1, 8).sum(axis=1)
    pressure = tetrahedra.stiffness * lack + np.repeat(of_cell, 8)
    springs, volumes, _ = skins_at(model, x)[1]
    return spring_energies(model, x).sum(), springs + volumes, (pressure, gradient)


def world_of(*meshes, gravity=-9.81, floor=True, frame_rate=60.0, substeps=4, solver="EXPLICIT", **options):
    """Solids, and a floor at z = 0."""
    builder = ModelBuilder(gravity=(0.0, 0.0, gravity))
    for number, mesh in enumerate(meshes):
        builder.add_solid(f"solid {number}", *mesh, **options)
    if floor:
        builder.add_collider("floor", *shapes.grid(20.0), bounciness=options.get("bounciness", 1.0))
    return World(builder.build(), frame_rate=frame_rate, substeps=substeps, threads=1, solver=solver)


def place(world, change):
    """Put the points of the lattices where `change` of their positions says, at rest."""
    state, n = world.save(), world.model.vertex_count
    state.positions[:n] = change(state.positions[:n])
    state.velocities[:n] = 0.0
    world.load(state)


def static_moves(model, force):
    """Small moves [m] of all vertices under forces [N], pinned ones held: one dense linear system."""
    n, edges, tetrahedra = model.vertex_count, model.edges, model.tetrahedra
    matrix = np.zeros((n, 3, n, 3))
    ends = model.rest_positions[edges.points]
    along = (ends[:, 0] - ends[:, 1]) / edges.rest_length[:, None]
    gradients = np.stack([along, -along], axis=1)
    volumes = elastic(model, model.rest_positions)[2][1]
    for points, rows, stiffness in (
        (edges.points, gradients, edges.stiffness),
        (tetrahedra.points, volumes, tetrahedra.stiffness),
        (tetrahedra.points.reshape(-1, 32), volumes.reshape(-1, 32, 3), tetrahedra.sum_stiffness),
    ):
        for a in range(points.shape[1]):
            for b in range(points.shape[1]):
                blocks = np.einsum("e,ei,ej->eij", stiffness, rows[:, a], rows[:, b])
                np.add.at(matrix, (points[:, a], slice(None), points[:, b]), blocks)
    free = np.flatnonzero(np.repeat(~model.pinned, 3))
    moves = np.zeros(3 * n)
    moves[free] = np.linalg.solve(matrix.reshape(3 * n, 3 * n)[np.ix_(free, free)], force.ravel()[free])
    return moves.reshape(n, 3)
