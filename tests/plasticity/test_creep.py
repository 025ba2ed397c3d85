"""Yield and creep of rest lengths: closed forms of the Maxwell and the Bingham body, in every solver."""

import numpy as np
import pytest
import scenes
import shapes
from softpressure_ext.core import ModelBuilder, ParameterError, World
from solid_scene import static_moves
from validation import validated

RATE = 24.0
CREEP_TIME = 0.5
#: Those with which a lattice of these tests is stable at 20 substeps per frame, one of each kind of arrays.
SOLVERS = ["EXPLICIT", "XPBD", "RK4"]
each_solver = pytest.mark.parametrize("solver", SOLVERS)


def cube_world(solver="EXPLICIT", frame_rate=RATE, substeps=20, **options):
    """A cube of one cell whose points are all pinned: its springs have the lengths that they are given."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    x, triangles = shapes.box(0.5, 1)
    builder.add_solid("cube", x, triangles, kind="TRUSS", cell_size=0.5, modulus=1e4, pinned=np.arange(8), **options)
    return World(builder.build(), frame_rate=frame_rate, substeps=substeps, threads=1, solver=solver), x


def spring_state(world):
    """Lengths, rest lengths and drawn lengths of all springs [m]."""
    state, edges = world.save(), world.model.edges
    i, j = edges.points.T
    return np.linalg.norm(state.positions[i] - state.positions[j], axis=1), state.rest_lengths, edges.rest_length


@each_solver
def test_at_a_constant_strain_the_stress_above_the_yield_stress_decays_exponentially(solver):
    world, x = cube_world(solver, creep_time=CREEP_TIME, yield_strain=0.02)
    scenes.advance(world, 1, pinned_positions={0: x * (1.1, 0.95, 1.0)})
    length, rest, drawn = spring_state(world)
    before = np.abs(length - rest) - 0.02 * drawn
    scenes.advance(world, 6)
    length, rest, _ = spring_state(world)
    after = np.abs(length - rest) - 0.02 * drawn
    flows = before > 0.0
    assert 0 < flows.sum() < len(drawn)
    # the exponential is exact in each tick: only rounding of up to 120 of them is left
    np.testing.assert_allclose(after[flows], before[flows] * np.exp(-6.0 / RATE / CREEP_TIME), rtol=1e-10)
    np.testing.assert_array_equal(rest[~flows], drawn[~flows])
    validated(
        "excess stress after a relaxation", room="plasticity", measured=after[flows][0] / before[flows][0],
        expected=np.exp(-6.0 / RATE / CREEP_TIME), rel=1e-10, source="exp(-t / T)", reason="exact in each tick",
    )  # fmt: skip


def test_the_relaxation_does_not_depend_on_frames_and_substeps():
    found = []
    for frame_rate, substeps, frames in ((24.0, 20, 12), (60.0, 7, 30), (12.0, 1, 6)):
        world = cube_world("EXPLICIT", frame_rate, substeps, creep_time=CREEP_TIME)[0]
        state = world.save()
        state.positions[:8] *= (1.1, 0.9, 1.0)  # from the start, as motion within frames would differ
        world.load(state)
        scenes.advance(world, frames)
        found.append(spring_state(world)[1])
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-12)


@each_solver
def test_below_the_yield_strain_no_bit_of_the_rest_lengths_changes(solver):
    world, x = cube_world(solver, creep_time=0.01, yield_strain=0.11)
    scenes.advance(world, 2, pinned_positions={0: x * (1.1, 0.95, 1.0)})
    _, rest, drawn = spring_state(world)
    np.testing.assert_array_equal(rest, drawn)


def test_the_plastic_limit_bounds_the_rest_lengths():
    world, x = cube_world(creep_time=1e-3, plastic_limit=0.03)
    scenes.advance(world, 4, pinned_positions={0: x * (1.1, 0.9, 1.0)})
    _, rest, drawn = spring_state(world)
    ratio = rest / drawn
    assert ratio.max() == pytest.approx(1.03, rel=1e-12)
    assert ratio.min() == pytest.approx(0.97, rel=1e-12)


def hanging_world(solver, modulus, frame_rate=RATE, substeps=20, **options):
    """A cube that hangs by its top under little gravity: strains of a twentieth of a percent."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -1.0))
    x, triangles = shapes.box(0.5, 2)
    top = np.flatnonzero(x[:, 2] > 0.249)
    builder.add_solid(
        "cube", x, triangles, kind="TRUSS", cell_size=0.25, mass=5.0, modulus=modulus, damping=20.0, pinned=top,
        **options,
    )  # fmt: skip
    return World(builder.build(), frame_rate=frame_rate, substeps=substeps, threads=1, solver=solver)


def hanging_sag(model):
    """By the statics of all springs, linear [m]."""
    return -static_moves(model, model.vertex_mass[:, None] * model.gravity)[:, 2].min()


def sag(world):
    return -(world.positions(0)[:, 2].min() + 0.25)


def creeping(solver, **options):
    """Rate at which a hanging cube creeps [m/s], and its elastic sag [m]."""
    world = hanging_world(solver, 2e4, creep_time=CREEP_TIME, **options)
    scenes.advance(world, 36)
    begin = sag(world)
    scenes.advance(world, 12)
    return (sag(world) - begin) * RATE / 12.0, hanging_sag(world.model)


@each_solver
def test_under_a_constant_load_a_maxwell_body_creeps_at_the_rate_of_the_closed_form(solver):
    """All springs relax alike, so the strain is that of statics times 1 + t / T."""
    rate, statics = creeping(solver)
    assert statics > 2e-4
    # the splitting takes 1 - exp(-tick / T) for tick / T: 0.2 %; the damping brakes the creep by 20 rate / g: 1 %
    validated(
        f"creep rate of a hanging cube, {solver}", room="plasticity", measured=rate,
        expected=statics / CREEP_TIME, unit="m/s", rel=0.02, source="strain_elastic / T (Maxwell)",
        reason="first order in the tick 0.2 %, damping 1 %",
    )  # fmt: skip


@each_solver
def test_dampers_along_springs_do_not_stop_creep(solver):
    """The dampers carry eta / (Y T) = 0.2 % of the load while it creeps."""
    rate, statics = creeping(solver, spring_damping=20.0)
    assert rate == pytest.approx(statics / CREEP_TIME, rel=0.02)  # as without


def test_creep_is_of_first_order_in_the_tick():
    """A spring that is pulled at a constant speed v has the excess v T (1 - exp(-t / T)).

    Frames shorter than a tick are the ticks then.
    """
    errors, time, speed = [], 6.0 / RATE, 0.5 * 0.01 * RATE
    for rate in (480.0, 960.0, 1920.0):
        world, x = cube_world("EXPLICIT", rate, creep_time=CREEP_TIME)
        for frame in range(round(time * rate)):
            scenes.advance(world, 1, pinned_positions={0: x * (1.0 + 0.01 * RATE * (frame + 1) / rate, 1.0, 1.0)})
        length, rest, drawn = spring_state(world)
        along = (drawn < 0.51) & (length > drawn + 1e-3)
        assert along.sum() == 4
        expected = -speed * CREEP_TIME * np.expm1(-time / CREEP_TIME)
        errors.append(1.0 - (length - rest)[along].mean() / expected)
    assert 0.0 < errors[0] < 0.6 / 480.0 / CREEP_TIME  # half a tick over T
    # the next order adds a twelfth of tick / T
    np.testing.assert_allclose(np.array(errors[:2]) / errors[1:], 2.0, rtol=0.02)


def test_a_solid_flows_without_a_change_of_volume():
    """A block that lies on a floor spreads upright; its volumes stay elastic."""
    builder = ModelBuilder()
    x, triangles = shapes.box(0.4, 3, (0.0, 0.0, 0.21))
    builder.add_solid(
        "dough", x, triangles, cell_size=0.4 / 3.0, mass=10.0, modulus=2e4, poisson_ratio=0.45, damping=5.0,
        friction=0.0, creep_time=0.1,
    )  # fmt: skip
    builder.add_collider("floor", *shapes.grid(8.0), friction=0.0)
    world = World(builder.build(), frame_rate=RATE, substeps=10, threads=1)
    scenes.advance(world, 36)
    now = world.positions(0)
    height = np.ptp(now[:, 2])
    assert height < 0.9 * 0.4  # elastic, it would sink by 1.5 %
    lean = now[x[:, 2] > 0.4].mean(axis=0) - now[x[:, 2] < 0.02].mean(axis=0)
    assert np.abs(lean[:2]).max() < 1e-4  # six tetrahedra a cell leaned along their diagonal
    # what springs would hold is held by the volumes: a mean pressure of 300 Pa over a bulk modulus of 55 kPa
    assert world.diagnostics().bodies[0].volume_ratio == pytest.approx(1.0, abs=0.02)


def test_flow_conserves_momentum():
    """Springs act along their lengths whatever their rest lengths are."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    x, triangles = shapes.box(0.4, 2)
    builder.add_solid("lump", x, triangles, cell_size=0.2, mass=1.0, modulus=200.0, creep_time=0.05)
    world = World(builder.build(), frame_rate=RATE, substeps=20, threads=1, solver="RK4")
    state = world.save()
    state.velocities[:] = state.positions @ np.array([[2.0, 1.0, 0.0], [-1.0, 0.0, 0.5], [0.0, 0.0, -1.0]]) + (1, 0, 0)
    world.load(state)
    momentum, spin = scenes.momenta(world)
    scenes.advance(world, 12)
    np.testing.assert_allclose(scenes.momentum(world), momentum, atol=1e-9)
    # of fourth order in the substep of 2 ms
    np.testing.assert_allclose(scenes.angular_momentum(world), spin, atol=1e-5)
    assert np.abs(world.save().rest_lengths / world.model.edges.rest_length - 1.0).max() > 0.02


@pytest.mark.parametrize("spring_damping", [0.0, 2.0])
@each_solver
def test_a_continued_run_has_the_bits_of_one_that_was_not_interrupted(solver, spring_damping):
    def elsewhere():
        world = scene_world(solver, spring_damping)
        scenes.advance(world, 2)  # has rest lengths of its own by then
        return world

    whole = scenes.assert_continues(lambda: scene_world(solver, spring_damping), 6, 3, fresh=elsewhere)
    whole.reset()
    np.testing.assert_array_equal(whole.save().rest_lengths, whole.model.edges.rest_length)


def scene_world(solver="EXPLICIT", spring_damping=0.0):
    """An inflated skin that creeps, on a floor."""
    builder = ModelBuilder()
    scenes.add_ball(
        builder, scenes.Ball(0.2, 0.3, 2e3, 5e3), 1, (0.0, 0.0, 0.21), bend_modulus=0.01, creep_time=0.1,
        yield_strain=0.01, spring_damping=spring_damping,
    )  # fmt: skip
    builder.add_collider("floor", *shapes.grid(4.0))
    substeps = 60 if solver == "RK4" else 20  # its limit of stability is 39
    return World(builder.build(), frame_rate=RATE, substeps=substeps, threads=1, solver=solver)


def test_an_animated_modulus_keeps_what_has_flowed():
    """Solvers that are revised share arrays with the one they come from."""
    world = scene_world()
    scenes.advance(world, 3)
    rest = world.save().rest_lengths.copy()
    assert (rest != world.model.edges.rest_length).any()
    values = {0: {"stretch_modulus": 1e4}}
    scenes.advance(world, 1, values=values)
    state = world.save()
    other = scene_world()
    other.load(state)
    scenes.advance(world, 2)
    scenes.advance(other, 2)
    np.testing.assert_array_equal(world.save().positions, other.save().positions)
    scenes.advance(world, 1, values={0: {"stretch_modulus": 2.5e3}})
    assert not np.array_equal(world.save().rest_lengths, rest)


def test_springs_that_stiffen_do_not_flow():
    with pytest.raises(ParameterError, match="springs that stiffen do not flow"):
        cube_world(stiffening=10.0, creep_time=1.0)
