"""Bars, balls and cubes that are solid, for the tests of solids."""

import numpy as np
import shapes
from softpressure_ext.core import ModelBuilder, World
from softpressure_ext.core.forces.stretch import evaluate_stretch, stretch_force
from softpressure_ext.core.forces.tetrahedra import evaluate_tetrahedra, tetrahedron_force

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
    """Energy [J] of springs and tetrahedra at x, force [N] on every vertex, and what the Hessian product needs."""
    edges, tetrahedra = model.edges, model.tetrahedra
    tension, block = np.zeros(len(edges.points)), np.zeros((len(edges.points), 4))
    energy = np.zeros(len(model.chunks.body))
    evaluate_stretch(x, edges, model.chunks, tension, block, energy)
    pressure, gradient = np.zeros(len(tetrahedra.points)), np.zeros((len(tetrahedra.points), 4, 3))
    evaluate_tetrahedra(x, tetrahedra, pressure, gradient, energy)
    force = [
        np.add(
            stretch_force(i, x, edges, tension),
            tetrahedron_force(i, tetrahedra.vertex_start, tetrahedra.vertex_entry, pressure, gradient),
        )
        for i in range(model.vertex_count)
    ]
    return energy.sum(), np.array(force), (pressure, gradient)


def world_of(*meshes, gravity=-9.81, floor=True, frame_rate=60.0, substeps=4, solver="IMPLICIT", **options):
    """Solids, and a floor at z = 0."""
    builder = ModelBuilder(gravity=(0.0, 0.0, gravity))
    for number, mesh in enumerate(meshes):
        builder.add_solid(f"solid {number}", *mesh, **options)
    if floor:
        builder.add_collider("floor", *shapes.grid(20.0), bounciness=options.get("bounciness", 1.0))
    return World(builder.build(), frame_rate=frame_rate, substeps=substeps, threads=1, solver=solver)


def lattice_momentum(world):
    """Momentum [kg m/s] and angular momentum [kg m^2/s] of all vertices of the lattices."""
    state, n = world.save(), world.model.vertex_count
    impulse = world.model.vertex_mass[:, None] * state.velocities[:n]
    return impulse.sum(axis=0), np.cross(state.positions[:n], impulse).sum(axis=0)


def run(world, frames):
    for _ in range(frames):
        world.advance_frame()


def place(world, change):
    """Put the points of the lattices where `change` of their positions says, at rest."""
    state, n = world.save(), world.model.vertex_count
    state.positions[:n] = change(state.positions[:n])
    state.velocities[:n] = 0.0
    world.load(state)
