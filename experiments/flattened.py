"""The XPBD page: a body of tetrahedra is "unbreakable". Flattened into a plane, or scrambled, it recovers its shape.

Its squash button puts all points into a plane. Here: a solid ball, its lattice flattened into the plane through its
middle, at rest, without gravity. Then the same with each vertex of the lattice at a random place in the ball's box.
"""

import numpy as np
import shapes
from softpressure_ext.core import DivergenceError, ModelBuilder, World
from softpressure_ext.core.bodies.lattice.cells import tetrahedron_volumes

RADIUS, MASS, MODULUS, POISSON_RATIO, DAMPING = 0.5, 10.0, 2e4, 0.3, 10.0
CELL = 0.2
FRAME_RATE = 24.0
SUBSTEPS = {"IMPLICIT": 10, "XPBD": 20}
SEED = 5


def model(kind="SOLID"):
    """The ball, subdivided so that its surface is rounder than its cells."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_solid(
        "ball", *shapes.icosphere(2, RADIUS), kind=kind, cell_size=CELL, mass=MASS, modulus=MODULUS,
        poisson_ratio=POISSON_RATIO, damping=DAMPING,
    )  # fmt: skip
    return builder.build()


def pressed(x):
    """All points in the plane z = 0."""
    return x * (1.0, 1.0, 0.0)


def scrambled(x):
    """Each point at a random spot of the box around all."""
    return np.random.default_rng(SEED).uniform(x.min(axis=0), x.max(axis=0), x.shape)


STARTS = {"pressed into a plane": pressed, "scrambled": scrambled}


def shape_error(x, rest, mass):
    """Root mean square of how far the points are from the rest shape, moved and turned as fits best [m] (Kabsch)."""
    x, rest = x - mass @ x / mass.sum(), rest - mass @ rest / mass.sum()
    u, _, v = np.linalg.svd((mass[:, None] * rest).T @ x)
    u[:, -1] *= np.sign(np.linalg.det(u @ v))  # a turn, no mirror
    away = x - rest @ (u @ v)
    return float(np.sqrt(mass @ (away**2).sum(axis=1) / mass.sum()))


def release(method, change, frames, kind="SOLID"):
    """Volume ratio, shape error over the radius and inverted tetrahedra by frame, and the surface at some of them."""
    world = World(model(kind), frame_rate=FRAME_RATE, substeps=SUBSTEPS[method], solver=method, threads=1)
    n, scene = world.model.vertex_count, world.model
    state, rest = world.save(), scene.rest_positions[:n]
    state.positions[:n] = change(rest)
    world.load(state)
    row = {"volume": [], "shape": [], "inverted": [], "positions": []}

    def note():
        x = world.save().positions[:n]
        row["volume"].append(world.diagnostics().bodies[0].volume_ratio)
        row["shape"].append(shape_error(x, rest, scene.vertex_mass) / RADIUS)
        row["inverted"].append(int(np.count_nonzero(tetrahedron_volumes(x, scene.tetrahedra.points) <= 0.0)))
        row["positions"].append(x.copy())

    note()
    try:
        for _ in range(frames):
            world.advance_frame()
            note()
    except DivergenceError as error:
        row["error"] = str(error)
    return row


def run(quick=False):
    """Runs by start and solver."""
    frames = 24 if quick else 48
    scene = model()
    return {
        "frames": frames,
        "vertices": scene.vertex_count,
        "tetrahedra": len(scene.tetrahedra.points),
        "triangles": scene.surfaces.triangles,
        "rest": scene.rest_positions,
        "runs": {
            (name, method): release(method, change, frames) for name, change in STARTS.items() for method in SUBSTEPS
        },
    }
