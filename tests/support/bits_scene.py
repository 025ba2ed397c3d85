"""A scene whose bits are compared between processes."""

import hashlib

import numpy as np
from softpressure_ext.core import ModelBuilder, World, part_scenes


def digest(solver, threads=0, path=""):
    """Of a skin that touches itself, a rigid box and a jelly that fall on a floor and on each other.

    `path`: where to write the last positions.
    """
    builder = ModelBuilder()
    positions, triangles = part_scenes.box(6)
    positions = positions + np.random.default_rng(1).uniform(-0.01, 0.01, positions.shape)
    builder.add_membrane(
        "skin", positions + [0.0, 0.0, 0.05], triangles, gauge_pressure=500.0, bend_modulus=0.01, self_collision=True
    )
    block, faces = part_scenes.box(1)
    builder.add_rigid("block", 0.5 * block + [0.2, 0.3, 1.2], faces)
    builder.add_solid("jelly", positions + [1.5, 0.0, 0.05], triangles, cell_size=0.3)
    builder.add_collider("floor", [(-4.0, -4.0, 0.0), (4.0, -4.0, 0.0), (0.0, 6.0, 0.0)], [(0, 1, 2)])
    world = World(builder.build(), frame_rate=60.0, substeps=4, solver=solver, threads=threads)
    found, touches = hashlib.blake2b(), 0
    for _ in range(8):
        world.advance_frame()
        state = world.save()
        touches += world.diagnostics().contact_count
        found.update(state.positions.tobytes() + state.velocities.tobytes())
    assert touches > 0
    if path:
        np.save(path, state.positions)
    return found.hexdigest()
