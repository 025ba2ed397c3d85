"""Rigid bodies have their contacts at a rate of their own, whatever soft bodies are about."""

import numpy as np
import pytest
import rigid_scenes
import shapes
from explicit_scene import momenta, run, world_of
from rigid_scene import block
from scenes import advance, assert_continues, energy, played
from softpressure_ext.core import DivergenceError, ModelBuilder, World

EDGE = 0.2
#: Heights at which boxes lie above what is below them, as their thicknesses may ask for [m].
GAP = 0.004
THREE_SECONDS = 72


def add_ball(builder: ModelBuilder, centre: tuple[float, float, float], **settings: object) -> None:
    """A soft ball of radius 0.4 m."""
    values = {"mass": 1.0, "gauge_pressure": 2e3, "stretch_modulus": 2e4, "damping": 2.0, "friction": 0.5}
    builder.add_membrane("ball", *shapes.icosphere(2, 0.4, centre), **values | settings)


def add_box(builder: ModelBuilder, name: str, centre: tuple[float, float, float], **settings: object) -> None:
    """A box with edges of 0.2 m and 1 kg."""
    values = {"mass": 1.0, "bounciness": 0.1, "friction": 0.5, "turn": None} | settings
    turn = values.pop("turn")
    builder.add_rigid(name, *block((EDGE, EDGE, EDGE), centre, turn), **values)


def add_stack(builder: ModelBuilder, count: int, noise: np.random.Generator) -> None:
    """Boxes on each other, a little moved and turned."""
    for k in range(count):
        turn = shapes.rotation((0.0, 0.0, 1.0), noise.normal(0.0, 0.02))
        x, y = noise.normal(0.0, 0.003, 2)
        add_box(builder, f"box {k}", (x, y, 0.5 * EDGE + GAP + k * (EDGE + GAP)), turn=turn)


def add_heap(builder: ModelBuilder, count: int, noise: np.random.Generator) -> None:
    """Boxes turned at random, four by four above each other."""
    for k in range(count):
        turn = shapes.rotation(noise.normal(size=3), noise.uniform(0.0, np.pi))
        place = np.array([k % 4, k // 4 % 4, k // 16], float)
        add_box(builder, f"box {k}", tuple(0.4 * place + (-0.6, -0.6, 0.3)), turn=turn)


def scene(count: int = 0, kind: str = "stack", ball: tuple[float, float, float] | None = (3.0, 0.0, 0.41)) -> World:
    """Boxes and a soft ball above a floor."""
    builder = ModelBuilder()
    if ball is not None:
        add_ball(builder, ball)
    (add_stack if kind == "stack" else add_heap)(builder, count, np.random.default_rng(7))
    builder.add_collider("floor", *shapes.grid(12.0, 4), friction=0.5)
    return world_of(builder)


def rests(world: World) -> bool:
    """Whether all rigid bodies sleep."""
    rigid = world.save().rigid
    return not rigid.velocity.any() and not rigid.angular_momentum.any()


@pytest.mark.parametrize(("kind", "count"), [("stack", 10), ("heap", 48)])
def test_boxes_beside_a_ball_come_to_rest_without_gaining_energy(kind: str, count: int) -> None:
    world = scene(count, kind)
    start = rigid_scenes.energy(world)
    for _ in played(world, THREE_SECONDS):
        assert rigid_scenes.energy(world) <= start * (1.0 + 1e-6)
        if rests(world):
            break
    assert rests(world)
    heights = [rigid_scenes.centre(world, body)[2] for body in range(count)]
    if kind == "stack":
        expected = (np.arange(count) + 0.5) * EDGE
        np.testing.assert_allclose(np.sort(heights), expected, rtol=0, atol=0.02 * EDGE * count)
    else:
        assert min(heights) > 0.49 * EDGE


@pytest.mark.parametrize("ball", [None, (3.0, 0.0, 0.41)])
def test_a_velocity_that_is_not_finite_ends_the_run_with_a_sentence(ball: tuple[float, float, float] | None) -> None:
    """Else pairs are searched for ever."""
    world = scene(3, ball=ball)
    world.advance_frame()
    before = world.save()
    for name, value in (("velocity", np.nan), ("velocity", -np.inf), ("angular_momentum", np.nan), ("pose", np.nan)):
        bad = before.copy()
        getattr(bad.rigid, name)[1, 2] = value
        world.load(bad)
        with pytest.raises(DivergenceError, match=r"^box 1: the motion is not finite in frame 2"):
            world.advance_frame()
    world.load(before)
    world.advance_frame()


def test_a_stack_sleeps_while_a_ball_rolls_elsewhere() -> None:
    builder = ModelBuilder()
    add_ball(builder, (3.0, 0.0, 0.41), velocity=(0.0, 1.0, 0.0), damping=0.0)
    add_stack(builder, 4, np.random.default_rng(5))
    builder.add_collider("floor", *shapes.grid(12.0, 4), friction=0.5)
    world = world_of(builder)
    advance(world, 48)
    assert rests(world)
    place = world.save().rigid.pose.copy()
    advance(world, 12)
    ball = slice(0, world.model.vertex_count)
    assert np.abs(world.save().velocities[ball].mean(axis=0)[1]) > 0.3
    np.testing.assert_array_equal(world.save().rigid.pose, place)


def test_a_ball_that_arrives_wakes_a_stack() -> None:
    builder = ModelBuilder()
    add_ball(builder, (1.6, 0.0, 0.41), velocity=(0.0, 0.0, 0.0))
    add_stack(builder, 3, np.random.default_rng(5))
    builder.add_collider("floor", *shapes.grid(12.0, 4), friction=0.5)
    world = world_of(builder)
    advance(world, 48)
    assert rests(world)
    state = world.save()
    state.velocities[: world.model.vertex_count] = -3.0, 0.0, 0.0
    state.still[:] = 0.0
    world.load(state)
    before = world.save().rigid.pose.copy()
    run(world, 18)
    assert np.abs(world.save().rigid.pose - before)[:, :3].max() > 0.05


def test_a_soft_ball_that_hits_a_box_in_flight_keeps_all_momenta() -> None:
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    add_ball(builder, (0.0, 0.0, 0.0), velocity=(2.0, 0.0, 0.0), damping=0.0)
    turn = shapes.rotation((1.0, 2.0, 0.5), 0.6)
    for k, place in enumerate(((0.62, 0.05, 0.1), (0.86, 0.1, 0.12))):
        add_box(builder, f"box {k}", place, turn=turn)
    world = world_of(builder)
    before = momenta(world)
    run(world, 12)
    assert np.linalg.norm(world.rigid_velocity(0)[0]) > 0.3
    np.testing.assert_allclose(momenta(world)[0], before[0], rtol=0, atol=1e-11)
    np.testing.assert_allclose(momenta(world)[1], before[1], rtol=0, atol=1e-11)


def test_five_boxes_stand_on_a_jelly() -> None:
    builder = ModelBuilder()
    x, triangles = shapes.box(1.0, 4)
    builder.add_membrane(
        "jelly", x * (0.6, 0.6, 0.3) + (0.0, 0.0, 0.16), triangles, mass=3.0, gauge_pressure=3e3, stretch_modulus=3e4,
        damping=5.0, friction=0.5,
    )  # fmt: skip
    for k in range(5):
        add_box(builder, f"box {k}", (0.0, 0.0, 0.42 + k * (EDGE + GAP)), mass=0.5)
    builder.add_collider("floor", *shapes.grid(4.0, 4), friction=0.5)
    world = world_of(builder)
    start = energy(world)
    for _ in played(world, THREE_SECONDS):
        assert energy(world) <= start + 1e-3 * abs(start)
    run(world, 1)
    places = np.array([rigid_scenes.centre(world, body) for body in range(5)])
    assert np.abs(places[:, :2]).max() < 0.5 * EDGE
    np.testing.assert_allclose(np.diff(places[:, 2]), EDGE, rtol=0, atol=0.02 * EDGE)
    assert np.abs(world.save().rigid.velocity).max() < 0.03  # it sways a little on what gives way


def test_a_round_body_among_boxes_and_a_soft_ball() -> None:
    """Bodies that are not simple have their contacts in the steps, and boxes on them lie still."""
    builder = ModelBuilder()
    add_ball(builder, (0.0, 0.0, 0.9))
    builder.add_rigid("bowl", *shapes.icosphere(3, 0.3, (0.9, 0.0, 0.31)), mass=4.0, friction=0.5, bounciness=0.1)
    for k in range(3):
        add_box(builder, f"box {k}", (0.25 * k - 0.25, 0.02 * k, 0.5 * EDGE + GAP))
    builder.add_collider("floor", *shapes.grid(12.0, 4), friction=0.5)
    world = world_of(builder)
    start = energy(world)
    for _ in played(world, 36):
        assert energy(world) <= start + 1e-3 * abs(start)
    run(world, 1)


def mixed(threads: int = 1) -> World:
    """A ball falls on three boxes of which two form a stack."""
    builder = ModelBuilder()
    add_ball(builder, (0.02, 0.01, 1.0), velocity=(0.0, 0.0, -1.0))
    add_stack(builder, 2, np.random.default_rng(3))
    add_box(builder, "other", (0.3, 0.02, 0.5 * EDGE + GAP))
    builder.add_collider("floor", *shapes.grid(4.0, 4), friction=0.5)
    return world_of(builder, threads=threads)


def test_bits_are_the_same_continued_and_with_two_threads() -> None:
    assert_continues(mixed, 20, 0, 12, fresh=lambda: mixed(threads=2))


def test_a_state_without_soft_loads_continues() -> None:
    """As one from a file of an earlier version."""
    world = mixed()
    advance(world, 10)
    state = world.save()
    state.soft_load, state.rigid_marks = np.zeros((0, 6)), np.zeros((0, 3), bool)
    world.load(state)
    run(world, 6)


@pytest.mark.parametrize("ball", [None, (3.0, 0.0, 0.41)])
@pytest.mark.parametrize("depth", [-1e-6, 0.0, 1e-7, 2e-6])
def test_a_box_set_down_on_the_floor_stays_there_and_is_not_said_to_cross(depth, ball) -> None:
    """As Blender's snapping puts it: exactly on the floor, or beside that by rounding."""
    builder = ModelBuilder()
    if ball is not None:
        add_ball(builder, ball)
    add_box(builder, "box", (0.0, 0.0, 0.5 * EDGE - depth * EDGE))
    builder.add_collider("floor", *shapes.grid(12.0, 4), friction=0.5)
    world = world_of(builder)
    box = world.model.body_names.index("box") - world.model.membrane_count
    assert world.crossing_triangle_count == 0
    for _ in range(3):
        advance(world, 1)
        assert 0.0 < world.rigid_positions(box)[:, 2].min() < GAP
