"""Closed scenes never have more energy than at their start: soft bodies, and rigid ones beside them.

Motion, height, springs and gas, in every frame. Starts are moved and turned at random.
"""

import numpy as np
import pytest
import shapes
from crossings import assert_nothing_crosses
from explicit_scene import EVERY, jittered, world_of
from rigid_scene import block
from scenes import BEACH_BALL, add_ball, energy, played
from softpressure_ext.core import ModelBuilder

#: By how much energy may be above that of the start, as a share of it.
MOST_GAINED = 1e-3
#: Edge [m] and mass [kg] of a box.
SIZE, MASS = 0.2, 1.0
Surface = dict[str, float]
Noise = np.random.Generator


def add_box(builder: ModelBuilder, name: str, at: tuple[float, ...], noise: Noise, surface: Surface) -> None:
    """A box a little moved and turned; where `at` has a fourth number, turned as noise says."""
    turn = shapes.rotation(noise.normal(size=3), 2.0) if len(at) > 3 else None
    corners, triangles = block((SIZE, SIZE, SIZE), (0.0, 0.0, 0.0), *(() if turn is None else (turn,)))
    corners = corners if len(at) > 3 else jittered(corners, noise)
    builder.add_rigid(name, corners + at[:3], triangles, mass=MASS, **surface)


def add_floor(builder: ModelBuilder, surface: Surface) -> None:
    builder.add_collider("floor", *block((20.0, 20.0, 1.0), (0.0, 0.0, -0.5)), **surface)


def heap(noise: Noise, surface: Surface, count: int) -> tuple[ModelBuilder, int]:
    """Boxes that fall in a heap."""
    builder = ModelBuilder()
    for n in range(count):
        at = (0.4 * (n % 4) - 0.6, 0.4 * (n // 4 % 4) - 0.6, 0.3 + 0.4 * (n // 16), 1.0)
        add_box(builder, f"box {n}", at, noise, surface)
    add_floor(builder, surface)
    return builder, 30


def heap_beside_a_ball(noise: Noise, surface: Surface) -> tuple[ModelBuilder, int]:
    """The ball falls five metres away."""
    builder, frames = heap(noise, surface, 16)
    add_ball(builder, BEACH_BALL, 3, (5.0, 0.0, 0.3), **surface)
    return builder, frames


def boxes_on_a_ball(noise: Noise, surface: Surface) -> tuple[ModelBuilder, int]:
    """Three boxes fall on a ball."""
    builder = ModelBuilder()
    add_ball(builder, BEACH_BALL, 3, (0.0, 0.0, 0.21), self_collision=True, **surface)
    for number in range(3):
        add_box(builder, f"box {number}", (0.03 * number, 0.0, 0.55 + 0.23 * number), noise, surface)
    add_floor(builder, surface)
    return builder, 30


def ball_on_boxes(noise: Noise, surface: Surface) -> tuple[ModelBuilder, int]:
    """A ball falls on a pile of five boxes."""
    builder = ModelBuilder()
    for number, (x, z) in enumerate([(-0.11, 0.12), (0.11, 0.12), (0.34, 0.12), (0.0, 0.35), (0.23, 0.35)]):
        add_box(builder, f"box {number}", (x, 0.0, z), noise, surface)
    add_ball(builder, BEACH_BALL, 3, (0.05, 0.03, 0.85), self_collision=True, **surface)
    add_floor(builder, surface)
    return builder, 30


def shaft(noise: Noise, surface: Surface) -> tuple[ModelBuilder, int]:
    """Three balls and six boxes fall into a shaft."""
    builder = ModelBuilder()
    for number in range(3):
        add_ball(builder, BEACH_BALL, 2, (0.03 * number, 0.02, 0.25 + 0.95 * number), name=f"ball {number}",
                 self_collision=True, **surface)  # fmt: skip
    for number in range(6):
        at = (0.24 * (number % 2) - 0.12, 0.0, 0.65 + 0.95 * (number // 2))
        add_box(builder, f"box {number}", at, noise, surface)
    for number, (x, y) in enumerate([(0.78, 0.0), (-0.78, 0.0), (0.0, 0.78), (0.0, -0.78)]):
        size = (1.0, 3.0, 4.0) if x else (3.0, 1.0, 4.0)
        builder.add_collider(f"wall {number}", *block(size, (x, y, 2.0)), **surface)
    add_floor(builder, surface)
    return builder, 30


def thick_skins(noise: Noise, surface: Surface) -> tuple[ModelBuilder, int]:
    """Balls that keep more apart than their edges are long fall on each other: friction acts far from the triangles."""
    builder = ModelBuilder()
    for number in range(3):
        middle = *noise.uniform(-0.03, 0.03, 2), 0.29 + 0.59 * number
        add_ball(builder, BEACH_BALL, 3, middle, name=f"ball {number}", thickness=0.08, **surface)
    add_floor(builder, surface)
    return builder, 30


SCENES = {scene.__name__: scene for scene in (heap_beside_a_ball, boxes_on_a_ball, ball_on_boxes, shaft, thick_skins)}


def gain(name: str, bounciness: float, friction: float, seed: int) -> float:
    """Largest energy of any frame above that of the start, as a share of it: heights are above the floor."""
    builder, frames = SCENES[name](np.random.default_rng(seed), {"bounciness": bounciness, "friction": friction})
    world = world_of(builder)
    start, most = energy(world), -np.inf
    for frame in played(world, frames):
        most = max(most, energy(world) - start)
        if frame % EVERY == 0:
            assert_nothing_crosses(world)
    return most / start


#: Fast ones for every run; all others before a release.
FEW = [
    ("heap_beside_a_ball", 0.5, 0.5), ("boxes_on_a_ball", 0.0, 0.0), ("ball_on_boxes", 1.0, 0.5),
    ("thick_skins", 0.5, 1.0),
]  # fmt: skip
ALL = [(name, bounce, friction) for name in SCENES for bounce in (0.0, 0.5, 1.0) for friction in (0.0, 0.5, 1.0)]
CASES = [(*case, 1) for case in FEW]
SLOW = [(*case, seed) for case in ALL for seed in range(1, 11) if (*case, seed) not in CASES]


@pytest.mark.parametrize(
    ("name", "bounciness", "friction", "seed"),
    [*CASES, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)],
)
def test_a_closed_scene_never_gains_energy(name: str, bounciness: float, friction: float, seed: int) -> None:
    assert gain(name, bounciness, friction, seed) < MOST_GAINED
