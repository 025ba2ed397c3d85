"""The engine: which solver it makes, how many steps it takes, and what earlier versions called it."""

import numpy as np
import pytest
import shapes
from rigid_scene import block
from softpressure_ext.core import MethodOptions, Model, ModelBuilder, ParameterError, World
from softpressure_ext.core.parameters.methods import EARLIER, ENGINE, METHODS, current_method
from softpressure_ext.core.solvers.choice import SOLVERS, StepPlan, plan_run
from softpressure_ext.core.solvers.explicit.solver import ExplicitSolver
from softpressure_ext.core.solvers.explicit.stability import plan_steps
from softpressure_ext.core.solvers.rigid.solver import RigidSolver

FRAME = 1.0 / 24.0


def boxes(*more: tuple[np.ndarray, np.ndarray]) -> Model:
    """Two boxes over a floor, and other rigid bodies."""
    builder = ModelBuilder()
    for number, height in enumerate((0.11, 0.32)):
        builder.add_rigid(f"box {number}", *block((0.2, 0.2, 0.2), (0.0, 0.0, height)))
    for number, mesh in enumerate(more):
        builder.add_rigid(f"other {number}", *mesh)
    builder.add_collider("floor", *shapes.grid(4.0))
    return builder.build()


def ball() -> Model:
    builder = ModelBuilder()
    builder.add_membrane("ball", *shapes.icosphere(2, 0.2, (0.0, 0.0, 0.25)), gauge_pressure=500.0)
    builder.add_collider("floor", *shapes.grid(4.0))
    return builder.build()


def test_simple_rigid_bodies_alone_have_impulses_and_all_else_explicit_steps() -> None:
    assert isinstance(World(boxes())._solver, RigidSolver)
    round_one, concave = shapes.icosphere(2, 0.1, (1.0, 0.0, 0.2)), shapes.torus(0.2, 0.05, 12, 8, (1.0, 0.0, 0.2))
    for model in (ball(), boxes(round_one), boxes(concave)):
        assert isinstance(World(model)._solver, ExplicitSolver)


@pytest.mark.parametrize("frame_rate", [24.0, 60.0, 240.0, 1000.0])
def test_rigid_bodies_alone_take_240_steps_per_second_or_one_per_frame(frame_rate: float) -> None:
    for substeps in (1, 10):
        world = World(boxes(), frame_rate=frame_rate, substeps=substeps)
        assert world.steps_per_frame == max(1, round(240.0 / frame_rate)) and world.added_mass == 0.0
        assert world._solver.substep_time <= 1.0 / 240.0 * (1.0 + 1e-9)  # type: ignore[attr-defined]


def test_a_soft_body_has_the_steps_and_the_mass_of_its_plan() -> None:
    model, options = ball(), MethodOptions(added_mass=0.05)
    plan = plan_steps(model, options)
    world = World(model, options=options)
    assert world.steps_per_frame == int(np.ceil(FRAME / plan.step))
    assert world.added_mass == plan.added.max() > 0.0
    assert plan_run(ENGINE, model, FRAME, 10, options) == StepPlan(world.steps_per_frame, world.added_mass)
    assert World(model, solver="XPBD", substeps=7).steps_per_frame == 7


@pytest.mark.parametrize("model", [ball(), boxes()])
def test_methods_of_earlier_versions_mean_the_engine_bit_for_bit(model: Model) -> None:
    worlds = [World(model, solver=name) for name in (ENGINE, *EARLIER)]
    for world in worlds:
        assert world.solver == ENGINE
        for _ in range(4):
            world.advance_frame()
    first, *others = (world.save().positions for world in worlds)
    for positions in others:
        np.testing.assert_array_equal(positions, first)


def test_each_name_is_known_once() -> None:
    assert [method[0] for method in METHODS] == list(SOLVERS) and METHODS[0][0] == ENGINE
    assert not set(EARLIER) & set(SOLVERS) and {current_method(name) for name in EARLIER} == {ENGINE}
    assert all(current_method(name) == name for name in (*SOLVERS, "OTHER"))
    with pytest.raises(ParameterError, match=r"solver: 'OTHER'; give one of EXPLICIT, XPBD, "):
        World(ball(), solver="OTHER")
