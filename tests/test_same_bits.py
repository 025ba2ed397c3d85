"""Processors of a family give the same bits: kernels are compiled for the family, whatever numpy and BLAS choose."""

import subprocess
import sys
from pathlib import Path

import pytest
import roundings

#: A skin that touches itself, a rigid box and a jelly fall on a floor and on each other; prints a digest of it all.
SCENE = """
import hashlib
import extension
extension.load()
import numpy as np
from softpressure_ext.core import ModelBuilder, World, part_scenes
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
world = World(builder.build(), frame_rate=60.0, substeps=4, solver="SOLVER")
digest = hashlib.blake2b()
for _ in range(8):
    world.advance_frame()
    state = world.save()
    digest.update(state.positions.tobytes() + state.velocities.tobytes())
assert world.diagnostics().contact_count > 0
print(digest.hexdigest())
"""


def digest_of(solver: str, settings: dict[str, str]) -> str:
    """What the scene ends with, in a process with these settings."""
    run = subprocess.run(
        [sys.executable, "-c", SCENE.replace("SOLVER", solver)],
        cwd=Path(__file__).resolve().parent,
        env=roundings.environment(settings),
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.mark.parametrize("solver", ["IMPLICIT", "XPBD"])
def test_processors_of_a_family_give_the_same_bits(solver: str) -> None:
    family = {name: settings for name, settings in roundings.ROUNDINGS.items() if "NUMBA_CPU_NAME" not in settings}
    assert len(family) == 3
    found = {digest_of(solver, settings) for settings in family.values()}
    assert len(found) == 1
