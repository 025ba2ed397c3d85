"""How much work a substep of XPBD is, counted and never timed: kernels called, searches."""

import cProfile
import pstats
import sys
from pathlib import Path

import pytest
from numba.core.registry import CPUDispatcher
from scenes import METRE_BALL, add_ball
from shapes import grid
from softpressure_ext.core import ModelBuilder, World

pytestmark = pytest.mark.rounding

#: Substeps of a frame.
SUBSTEPS = 20


def ball(subdivisions, height):
    builder = ModelBuilder()
    add_ball(builder, METRE_BALL.like(stretch_modulus=1e4), subdivisions, (0.0, 0.0, 1.0 + height))
    builder.add_collider("floor", *grid(8.0))
    return World(builder.build(), frame_rate=60.0, substeps=SUBSTEPS, threads=1, solver="XPBD")


def kernels_of_the_core():
    modules = [module for name, module in sys.modules.items() if name.startswith("softpressure_ext.core.")]
    return {item for module in modules for item in vars(module).values() if isinstance(item, CPUDispatcher)}


def calls_per_substep(world, frames):
    """Calls of kernels from outside of kernels, and of numpy's functions, per substep; searches per frame."""
    world.advance_frame()
    before = world.diagnostics().counts.contact_searches
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(frames):
        world.advance_frame()
    profile.disable()
    names = {(Path(k.py_func.__code__.co_filename).name, k.py_func.__name__) for k in kernels_of_the_core()}
    kernels = all_calls = 0
    for (file, _, name), (_, count, *_) in pstats.Stats(profile).stats.items():
        kernels += count if (Path(file).name, name) in names else 0
        all_calls += count
    searches = world.diagnostics().counts.contact_searches - before
    return kernels / frames / SUBSTEPS, all_calls / frames / SUBSTEPS, searches / frames


def test_kernels_are_what_is_counted():
    assert len(kernels_of_the_core()) > 200


def test_a_substep_in_flight_calls_few_kernels():
    """All in one; 0.4 more are the search of each frame and the substep before it."""
    kernels, calls, searches = calls_per_substep(ball(3, 0.4), 6)
    assert 1.0 <= kernels <= 1.6
    assert calls <= 65  # 53 measured
    assert searches == 1.0  # each frame begins with one: nothing is near


def test_a_substep_on_the_floor_calls_few_kernels():
    """The skins, whether the record holds, the ways, the contacts, velocities, contact forces; 1.4 are the search."""
    kernels, calls, searches = calls_per_substep(ball(3, 0.003), 6)
    assert 6.0 <= kernels <= 9.0
    assert calls <= 100  # 82 measured
    assert searches <= 3.0


@pytest.mark.parametrize("subdivisions", [4, 5])
def test_most_constraints_lie_within_blocks(subdivisions):
    """What lies across their borders is projected far from its neighbours, out of the cache."""
    solver = ball(subdivisions, 0.1)._solver
    for order in (solver._edge_order, solver._triangle_order):
        assert order.task_start[-2] > 0.9 * order.task_start[-1]
