"""Hinges that act in one of several steps: no resonance, exact momenta, the same motion, rest."""

import numpy as np
import pytest
import shapes
from explicit_scene import paces_of_free, shaken, world_of
from scenes import advance, energy
from softpressure_ext.core import ModelBuilder, World
from softpressure_ext.core.solvers.explicit import soft_hinges

#: The defaults of a body in Blender, on 642 vertices and on a torus.
SKIN = {"mass": 1.0, "stretch_modulus": 2e4, "bend_modulus": 0.01, "gauge_pressure": 2e3}


def body(mesh, **options) -> World:
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_membrane("skin", *mesh, **{**SKIN, "damping": 0.0, **options})
    return world_of(builder)


def pace(world: World) -> int:
    """Steps of which soft hinges act in one, in the last run."""
    every, soft = world._solver._scene.skins.paces.every[0].tolist()
    return soft // every


@pytest.mark.parametrize("mesh", [shapes.icosphere(3), shapes.torus(1.0, 0.35)], ids=["ball", "torus"])
@pytest.mark.parametrize(("bend_modulus", "every"), [(0.08, 3), (0.02, 5), (0.006, 7), (0.001, 9)])
def test_what_swings_at_every_frequency_gains_no_energy_and_keeps_its_momenta(mesh, bend_modulus, every) -> None:
    assert every in paces_of_free(shaken(body(mesh, bend_modulus=bend_modulus), 1.0), pace)


def test_hinges_beyond_the_bound_would_gain_energy(monkeypatch) -> None:
    """Hinges of twenty times the stiffness that is allowed, taken for soft ones."""
    stiff = {"bend_modulus": 1.0}
    assert not body(shapes.icosphere(3), **stiff)._solver._soft.mask.any()
    monkeypatch.setattr(soft_hinges, "SOFT_EVERY", (3,))
    monkeypatch.setattr(soft_hinges, "allowed_square", lambda damping, every: np.full(np.shape(every), 100.0))
    world = shaken(body(shapes.icosphere(3), **stiff), 1e-3)
    start = energy(world)
    assert any(energy(world) > start + 1e-3 for _ in range(24) if world.advance_frame() is None)


def test_the_motion_is_that_of_hinges_in_every_step(monkeypatch) -> None:
    """Half a second after a push of a hundredth of the size: the same shape to a fiftieth of the push."""
    ends = []
    for every in (9, 1):
        monkeypatch.setattr(soft_hinges, "SOFT_EVERY", (every,))
        world = body(shapes.icosphere(3), damping=2.0, bend_modulus=0.001)
        x = world.positions(0)
        world.set_positions(0, x * (1.0 + 0.01 * x[:, [2]] ** 2))
        advance(world, 12)
        ends.append(world.positions(0))
    assert np.abs(ends[0] - ends[1]).max() < 2e-4
