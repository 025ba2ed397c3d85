"""How wrong a step is said to be, and how many substeps are taken as one."""

import numpy as np
import pytest
import shapes
from scenes import BASKETBALL, Ball, ball_world, centre, inflate
from softpressure_ext.core import FrameInput, ModelBuilder, World
from softpressure_ext.core.errors import ParameterError
from softpressure_ext.core.options import MethodOptions
from softpressure_ext.core.solvers.implicit.newton import NewtonSettings
from softpressure_ext.core.solvers.implicit.solver import GAMMA, ImplicitSolver
from softpressure_ext.core.solvers.implicit.step_control import StepControl

HEAVY = Ball(0.2, 2.0, 2e4, 5e3)
EXACT = NewtonSettings(newton_tolerance=1e-9, linear_tolerance=1e-7, rest_acceleration=1e-9, linear_limit=1000)
NO_GRAVITY = {"floor": False, "gravity": (0.0, 0.0, 0.0)}


def wobble(substeps, frame_rate, step_error, frames=1):
    """A heavy ball under tension, released from an egg's shape: where it is after some frames, and its solver."""
    made = []

    def make(model, time):
        made.append(ImplicitSolver(model, time, EXACT, MethodOptions(step_error=step_error)))
        return made[0]

    world = ball_world(HEAVY, 2, frame_rate=frame_rate, substeps=substeps, solver=make, **NO_GRAVITY)
    inflate(world, HEAVY)
    middle = centre(world)
    world.set_positions(0, middle + (world.positions(0) - middle) * [1.02, 1.0, 0.98])
    for _ in range(frames):
        world.advance_frame()
    return world.positions(0), made[0]


def test_what_is_said_of_a_step_is_its_error():
    """Against the same time in 64 steps; the slowest wobble has a period of about 0.2 s."""
    said, found = [], []
    for rate in (100.0, 200.0):
        x, solver = wobble(1, rate, 1e-3)
        exact, _ = wobble(64, rate, 0.0)
        said.append(solver._error * 1e-3 * HEAVY.radius)
        found.append(np.sqrt(((x - exact) ** 2).sum(axis=1).mean()))
    # two accelerations tell a third derivative, at the middle of the step; the fast waves of the skin add to both
    np.testing.assert_allclose(said, found, rtol=0.6)


def test_the_error_of_a_cubic_motion_is_the_closed_form():
    """x = t^3 of all vertices: the stages' accelerations 6 g h and 6 h, the error C h^3 6 with C of the method."""
    model = ball_world(HEAVY, 2, **NO_GRAVITY).model
    h, rest = 0.01, np.zeros((model.vertex_count, 3))
    v1 = rest + [GAMMA * h * 6.0 * GAMMA * h, 0.0, 0.0]
    v = rest + [GAMMA * h * 6.0 * h, 0.0, 0.0]
    error = StepControl(model, GAMMA, 1e-3).of(rest, v1, rest, v, h)
    constant = 3.0 * GAMMA**2 - 2.0 * GAMMA**3 - 1.0 / 6.0
    # a ball's box has sides of twice its radius, but for the corners of the mesh
    assert error * 1e-3 * HEAVY.radius == pytest.approx(constant * 6.0 * h**3, rel=0.02)


def stages(world):
    return world.diagnostics().counts.stages


def test_a_ball_at_rest_takes_a_frame_as_one_step_and_an_impact_every_substep():
    world = ball_world(BASKETBALL, 2, drop=0.5, damping=20.0, bounciness=0.5, substeps=8)
    inflate(world, BASKETBALL)
    before, most, height = 0, 0, centre(world)[2]
    for _ in range(240):
        world.advance_frame()
        taken, before = stages(world) - before, stages(world)
        most = max(most, taken)
        falls = world.diagnostics().contact_count == 0 and centre(world)[2] > 0.9 * height
        assert not falls or world.frame < 4 or taken == 2  # 1, 2 and 4 substeps as one in the first frame
    assert taken == 2
    assert most >= 2 * 8  # what was tried as a longer step is counted, too


def test_joined_steps_end_where_single_ones_do():
    frames = 12
    single, solver = wobble(64, 50.0, 0.0, frames)
    joined, joining = wobble(64, 50.0, 1e-3, frames)
    assert joining.counts.stages < 0.5 * solver.counts.stages
    # up to 64 steps a frame may each be wrong by 1e-3 on the average of all vertices; the egg is 0.02 out of round
    assert np.linalg.norm(joined - single, axis=1).max() < 5e-3 * HEAVY.radius


@pytest.mark.parametrize("substeps", [1, 3, 7, 10, 16])
def test_all_of_a_frame_is_simulated(substeps):
    """Free fall is exact in steps of any length, so a substep too many or too few would show."""
    world = ball_world(BASKETBALL, 1, floor=False, substeps=substeps, frame_rate=24.0)
    inflate(world, BASKETBALL)
    start = centre(world)[2]
    for _ in range(12):
        world.advance_frame()
    assert centre(world)[2] == pytest.approx(start - 0.5 * 9.81 * 0.5**2, abs=2e-6)


def test_a_run_that_continues_from_a_saved_state_joins_the_same_steps():
    def run(world, frames):
        for _ in range(frames):
            world.advance_frame()
        return world

    def made():
        world = ball_world(BASKETBALL, 2, drop=0.1, damping=5.0, bounciness=0.8, substeps=8)
        inflate(world, BASKETBALL)
        return world

    first = run(made(), 7)
    saved, second = first.save(), made()
    second.load(saved)
    assert saved.joined > 1
    assert (run(first, 9).positions(0) == run(second, 9).positions(0)).all()


def test_the_pressure_of_a_ramp_and_of_an_animation_is_that_of_the_frames_end():
    builder = ModelBuilder()
    x, triangles = shapes.icosphere(2, 0.12)
    builder.add_membrane("ball", x, triangles, mass=0.6, gauge_pressure=1e3, stretch_modulus=1e5)
    model = builder.build()
    for options in (MethodOptions(), MethodOptions(ramp_time=0.1)):
        world = World(model, frame_rate=60.0, substeps=8, threads=1, options=options, solver="IMPLICIT")
        for frame in range(12):
            world.advance_frame(FrameInput(gauge_pressure={0: 1e3 + 100.0 * frame}))
        saved = world.save()
        assert saved.gas[0] == saved.final_gas[0]


def test_a_step_error_below_nothing_is_refused():
    with pytest.raises(ParameterError, match=r"scene: step error -0\.1; give a number at least 0"):
        MethodOptions(step_error=-0.1)
