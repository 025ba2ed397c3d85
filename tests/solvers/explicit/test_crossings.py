"""Nothing goes through anything under explicit steps: the benchmarks' scenes, animals, a press and a slack bag."""

import numpy as np
import pytest
import shapes
from crossings import assert_nothing_crosses
from explicit_scene import EVERY, bench_scenes, bench_world, jittered, run, scene_world, world_of
from rigid_scene import block
from scenes import BEACH_BALL, LIVELY, add_ball, energy, gas_law_error, played
from softpressure_ext.core import FrameInput, ModelBuilder, World

#: Starts of the fast suite, and ten more.
FEW, MORE = (1, 2), range(3, 13)
BENCHMARKS = {"drop": 642, "pair": 642, "box8": 642, "crate": 642, "torus": 512, "stack": 27}
SLOW = {"torus": 2048, "stack": 125}


def starts() -> list:
    """Scene, size and seed of every run."""
    cases = [(name, size, seed) for name, size in BENCHMARKS.items() for seed in FEW]
    more = [(name, size, seed) for name, size in (BENCHMARKS | SLOW).items() for seed in MORE]
    return [*cases, *(pytest.param(*case, marks=pytest.mark.slow) for case in more)]


@pytest.mark.parametrize(("name", "size", "seed"), starts())
def test_nothing_crosses_in_the_scenes_of_the_benchmarks(name: str, size: int, seed: int) -> None:
    world, scene = bench_world(name, size, seed)
    assert_nothing_crosses(world)
    energies = [energy(world)]
    for _ in range(-(-scene.frames // EVERY)):
        run(world, EVERY)
        energies.append(energy(world))
    # energy only falls: 10 kg by half a metre or less, or boxes of 1 kg by a quarter, and damping takes it
    assert max(energies) <= energies[0] + 1e-11 * max(np.abs(energies)) and energies[-1] < energies[0] - 10.0
    lowest = world.save().positions[: world.model.moving_point_count, 2].min()
    assert 0.0 < lowest < 0.01  # all came down, and nothing is below the floor
    for body in world.diagnostics().bodies:
        # they still swing, and press each other by a twentieth; the torus has come through its slit
        assert body.volume_ratio == pytest.approx(scene.volume_ratio or 1.0, abs=0.1)


def bag(size: int) -> bench_scenes.Scene:
    """A slack ball that falls 0.3 m on a floor."""
    body = shapes.icosphere(bench_scenes.SUBDIVISIONS[size], bench_scenes.RADIUS, (0.0, 0.0, 0.8))
    return bench_scenes.Scene("bag", size, 40, 0, 0, [body])


#: Size, springs [N/m] and seed. Stiff springs carry a dented ball, soft ones let it lie down in folds.
BAGS = [(642, 300.0, FEW[0])]
MORE_BAGS = [(size, spring, seed) for size in (642, 2562) for spring in (300.0, 1e4) for seed in MORE]


@pytest.mark.parametrize(
    ("size", "spring", "seed"), [*BAGS, *(pytest.param(*case, marks=pytest.mark.slow) for case in MORE_BAGS)]
)
def test_a_slack_bag_folds_on_itself(size: int, spring: float, seed: int) -> None:
    scene = bag(size)
    world = scene_world(scene, np.random.default_rng(seed), pressure=20.0, spring=spring)
    heights = []
    for _ in played(world, scene.frames):
        heights.append(world.positions(0)[:, 2].max())
        assert world.positions(0)[:, 2].min() > 0.0
        if world.frame % EVERY == 0:
            assert_nothing_crosses(world)
    assert min(heights) < (0.4 if spring == 300.0 else 0.9)  # of a metre


# --- animals ----------------------------------------------------------------------------------------------------


def add_animal(builder: ModelBuilder, name: str, height: float, noise: np.random.Generator) -> None:
    """An animal of a metre, upright, its lowest point at about a height [m].

    The cow goes through itself at rest, so it has no contact with itself.
    """
    x, triangles = shapes.foreign_mesh(f"{name}.obj")
    builder.add_membrane(
        name, jittered(shapes.standing(x, height=height), noise), triangles, mass=2.0, gauge_pressure=500.0,
        stretch_modulus=2e3, bend_modulus=1e-3, self_collision=name != "cow", **LIVELY,
    )  # fmt: skip


#: One start in the fast suite; these meshes are as uneven as meshes get, so their steps are short.
ANIMAL_SEEDS = [FEW[0], *(pytest.param(seed, marks=pytest.mark.slow) for seed in MORE[:4])]


def fall(builder: ModelBuilder, frames: int) -> World:
    """Run what was built; every body's gas obeys its law and keeps it from collapsing."""
    world = world_of(builder)
    gas = [float(amount) for amount in world.save().gas]
    run(world, frames)
    for body, amount in enumerate(gas):
        assert gas_law_error(world, amount, body) < 1e-12  # rounding
        assert world.diagnostics().bodies[body].volume_ratio > 0.8
    return world


@pytest.mark.parametrize("seed", ANIMAL_SEEDS)
def test_a_cow_falls_on_another_animal(seed: int) -> None:
    noise, builder = np.random.default_rng(seed), ModelBuilder()
    add_animal(builder, "spot", 0.02, noise)
    add_animal(builder, "cow", 1.15, noise)
    builder.add_collider("floor", *shapes.box(8.0, 1, (0.0, 0.0, -4.0)))
    world = fall(builder, 30)
    assert world.positions(1)[:, 2].min() < 1.0  # it has come down on the other one


@pytest.mark.parametrize("name", ["spot", "cow"])
@pytest.mark.parametrize("seed", ANIMAL_SEEDS)
def test_an_animal_falls_on_steps(name: str, seed: int) -> None:
    noise, builder = np.random.default_rng(seed), ModelBuilder()
    add_animal(builder, name, 0.85, noise)
    for number in range(5):
        step = block((0.3, 2.0, 1.0), (0.3 * (number - 1.5), 0.0, 0.2 - 0.2 * number))
        builder.add_collider(f"step {number}", *step)
    builder.add_collider("floor", *shapes.box(8.0, 1, (0.0, 0.0, -5.0)))
    world = fall(builder, 36)
    assert world.positions(0)[:, 2].min() < 0.5  # it is on a lower step than the highest one


# --- a press ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("aside", [0.0, 0.1])
def test_a_ball_is_squeezed_between_two_moving_colliders(aside: float) -> None:
    """To two fifths of its diameter, and sheared where they also move sideways; then it comes back."""
    radius = BEACH_BALL.radius
    builder = ModelBuilder()
    add_ball(builder, BEACH_BALL, 3, self_collision=True, **LIVELY)
    plates = []
    for side in (-1.0, 1.0):
        x, triangles = block((1.0, 1.0, 0.1), (0.0, 0.0, side * (radius + 0.055)))
        builder.add_collider(f"plate {side:+.0f}", x, triangles)
        plates.append(x)
    world = world_of(builder)
    gas = float(world.save().gas[0])

    def given(frame: int) -> FrameInput:
        closed = np.sin(np.pi * min(frame / 36.0, 1.0)) ** 2  # shut after 18 frames, open again after 36
        move = np.array([aside * closed, 0.0, 0.6 * radius * closed])
        return FrameInput(collider_positions={0: plates[0] + move * [-1.0, 1.0, 1.0], 1: plates[1] + move * [1, 1, -1]})

    run(world, 18, given)
    assert np.ptp(world.positions(0)[:, 2]) < 0.8 * radius + 0.012
    run(world, 30, lambda frame: given(frame + 18))
    assert gas_law_error(world, gas) < 1e-12  # rounding
    # it lies on the lower plate and still swings
    assert world.diagnostics().bodies[0].volume_ratio == pytest.approx(BEACH_BALL.volume_ratio, rel=0.02)
