"""The XPBD page: a body of tetrahedra is "unbreakable", and "stable for infinite stiffness". It recovers its shape.

Its squash button puts all points into a plane. Here: a solid ball, its lattice pressed into the plane through its
middle, at rest, without gravity; folded, with its upper half through the lower one; mirrored, so that all tetrahedra
are inverted; and each vertex of the lattice at a random place in the ball's box. With springs and volumes that give,
and with both of infinite stiffness.
"""

from typing import NamedTuple

import numpy as np
import shapes
from softpressure_ext.core import ModelBuilder, World
from softpressure_ext.core.bodies.lattice.cells import tetrahedron_volumes

from .parts import recorded

RADIUS, MASS, MODULUS, POISSON_RATIO, DAMPING = 0.5, 10.0, 2e4, 0.3, 10.0
CELL = 0.2
FRAME_RATE = 24.0
SUBSTEPS = 20
SEED = 5


class Case(NamedTuple):
    """How stiff the ball is, and its solver."""

    solver: str
    modulus: float  # [Pa]
    rigid: bool  # springs of compliance 0


#: No finite compliance counts beside m / h^2 with 2e12 Pa: then the volumes are rigid, too.
CASES = {
    "XPBD": Case("XPBD", MODULUS, rigid=False),
    "XPBD, all rigid": Case("XPBD", 1e8 * MODULUS, rigid=True),
    "XPBD, springs rigid": Case("XPBD", MODULUS, rigid=True),
    "ours": Case("EXPLICIT", MODULUS, rigid=False),
}


def model(modulus=MODULUS, rigid=False):
    """The ball, subdivided so that its surface is rounder than its cells."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_solid(
        "ball", *shapes.icosphere(2, RADIUS), cell_size=CELL, mass=MASS, modulus=modulus,
        poisson_ratio=POISSON_RATIO, damping=DAMPING, rigid_springs=rigid,
    )  # fmt: skip
    return builder.build()


def pressed(x):
    """All points in the plane z = 0."""
    return x * (1.0, 1.0, 0.0)


def scrambled(x):
    """Each point at a random spot of the box around all."""
    return np.random.default_rng(SEED).uniform(x.min(axis=0), x.max(axis=0), x.shape)


def folded(x):
    """The upper half mirrored through the lower one."""
    middle = 0.5 * (x[:, 2].min() + x[:, 2].max())
    return np.column_stack([x[:, :2], np.where(x[:, 2] > middle, 2.0 * middle - x[:, 2], x[:, 2])])


def mirrored(x):
    """The mirror image: each spring has its length, each tetrahedron is inverted."""
    return x * (1.0, 1.0, -1.0)


STARTS = {"pressed": pressed, "folded": folded, "mirrored": mirrored, "scrambled": scrambled}


def shape_error(x, rest, mass):
    """Root mean square of how far the points are from the rest shape, moved and turned as fits best [m] (Kabsch)."""
    x, rest = x - mass @ x / mass.sum(), rest - mass @ rest / mass.sum()
    u, _, v = np.linalg.svd((mass[:, None] * rest).T @ x)
    u[:, -1] *= np.sign(np.linalg.det(u @ v))  # a turn, no mirror
    away = x - rest @ (u @ v)
    return float(np.sqrt(mass @ (away**2).sum(axis=1) / mass.sum()))


def release(case, change, frames):
    """Volume ratio, shape error over the radius and inverted tetrahedra by frame, and the surface at some of them."""
    world = World(
        model(case.modulus, case.rigid), frame_rate=FRAME_RATE, substeps=SUBSTEPS, solver=case.solver, threads=1
    )
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

    return recorded(world, frames, row, note)


def run(quick=False):
    """Runs by start and case."""
    frames = 24 if quick else 48
    scene = model()
    return {
        "frames": frames,
        "vertices": scene.vertex_count,
        "tetrahedra": len(scene.tetrahedra.points),
        "triangles": scene.surfaces.triangles,
        "rest": scene.rest_positions,
        "runs": {
            (name, told): release(case, change, frames)
            for name, change in STARTS.items()
            for told, case in CASES.items()
        },
    }
