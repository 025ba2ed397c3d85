"""AUTO: choice of the solver, its storage with the run, and its candidates."""

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import shapes
from scenes import Ball, add_ball
from softpressure_ext.benchmarks import cost_table
from softpressure_ext.core import Choice, MethodOptions, Model, ModelBuilder, ParameterError, World, prepare
from softpressure_ext.core import world as world_module
from softpressure_ext.core.solvers import automatic, choice
from softpressure_ext.core.solvers.implicit.solver import ImplicitSolver
from softpressure_ext.core.solvers.rigid.solver import RigidSolver

SOFT = Ball(0.2, 0.2, 2e3, 5e3)
FRAME, SUBSTEPS = 1.0 / 60.0, 4


def ball() -> Model:
    builder = ModelBuilder()
    add_ball(builder, SOFT, 1, (0.0, 0.0, 0.3))
    builder.add_collider("floor", *shapes.grid(4.0))
    return builder.build()


def boxes(other: Any = None) -> Model:
    builder = ModelBuilder()
    builder.add_rigid("box", *shapes.box(0.2, 1, (0.0, 0.0, 0.12)))
    if other is not None:
        builder.add_rigid("other", *other)
    return builder.build()


def world_of(model: Model, **options: Any) -> World:
    return World(model, frame_rate=60.0, substeps=SUBSTEPS, threads=1, **options)


def chosen(model: Model) -> Choice:
    return automatic.choose(model, FRAME, SUBSTEPS, MethodOptions())


def test_simple_rigid_bodies_alone_have_the_impulse_solver() -> None:
    round_one = shapes.icosphere(2, 0.1, (0.0, 0.0, 1.0))
    assert chosen(boxes()).solver == chosen(boxes(shapes.box(0.2, 1, (0.0, 0.0, 1.0)))).solver == "RIGID"
    assert chosen(boxes(round_one)).solver != "RIGID"  # too many faces
    assert chosen(ball()).solver != "RIGID"
    for model in (boxes(), ball()):
        found = chosen(model)
        assert found == chosen(model) and found.milliseconds > 0.0 and found.steps_per_frame >= 1
        assert found.solver == "EXPLICIT" or found.added_mass == 0.0


def test_bodies_are_near_others_when_their_boxes_almost_meet() -> None:
    for gap, expected in ((0.1, True), (0.3, False)):  # of two balls 0.4 m wide: a quarter of that each
        builder = ModelBuilder()
        for x in (0.0, 0.4 + gap):
            add_ball(builder, SOFT, 1, (x, 0.0, 0.3), name=f"ball {x}")
        builder.add_collider("floor", *shapes.grid(4.0))  # which does not count
        assert automatic.near_others(builder.build()).tolist() == [expected, expected]
    assert automatic.near_others(ball()).tolist() == [False]
    assert automatic.near_others(boxes(shapes.box(0.2, 1, (0.0, 0.0, 0.35)))).tolist() == [True, True]


def test_the_cost_is_that_of_the_work_in_a_frame() -> None:
    model = ball()
    found = automatic.forecast("EXPLICIT", model, FRAME, SUBSTEPS, MethodOptions())
    work = automatic.work("EXPLICIT", model, found.steps_per_frame, FRAME)
    assert work["spring"] == found.steps_per_frame * 120 and work["second"] == FRAME  # an icosphere of 42 vertices
    assert work["itself"] == work["crossed"] == work["tetrahedron"] == 0.0
    costs = automatic.NANOSECONDS["EXPLICIT"]
    assert found.milliseconds == pytest.approx(1e-6 * sum(costs[kind] * work[kind] for kind in costs), rel=1e-12)
    for solver, costs in automatic.NANOSECONDS.items():
        assert costs.keys() == automatic.work(solver, model, 4, FRAME).keys() and min(costs.values()) >= 0.0


def test_the_fit_of_the_table_finds_the_costs_that_times_were_made_with() -> None:
    noise = np.random.default_rng(2)
    true = {"step": 5e4, "point": 300.0, "unused": 0.0, "free": 0.0}
    work = [dict(zip(true, noise.uniform(0.1, 1.0, 4) * (10.0, 1e4, 0.0, 1e3), strict=True)) for _ in range(20)]
    times = [cost_table.predicted(each, true) for each in work]
    assert cost_table.fitted(work, times) == pytest.approx(true, rel=1e-9, abs=1e-6)
    doubled = [time * factor for time in times for factor in (0.5, 2.0)]  # off by as much to both sides
    twice = [each for each in work for _ in range(2)]
    assert cost_table.fitted(twice, doubled) == pytest.approx(true, rel=1e-6, abs=1e-3)


def test_a_world_chooses_once_and_builds_the_chosen_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def choose(*arguments: Any) -> Choice:
        calls.append(arguments)
        return Choice("IMPLICIT", 3, 1.0, 0.0)

    monkeypatch.setattr(automatic, "choose", choose)
    world = world_of(ball())
    world.advance_frame()
    world.reset()
    assert calls == [(world.model, FRAME, SUBSTEPS, world.options)]
    assert world.solver == "AUTO" and world.choice == Choice("IMPLICIT", 3, 1.0, 0.0)
    assert isinstance(world._solver, ImplicitSolver)
    assert world._solver.substep_time == pytest.approx(FRAME / 3, rel=1e-15)
    monkeypatch.undo()
    assert isinstance(world_of(boxes())._solver, RigidSolver)


@pytest.mark.parametrize("model", [ball(), boxes()])
def test_auto_has_the_bits_of_the_method_it_chose(model: Model) -> None:
    automatic_world = world_of(model)
    assert automatic_world.choice is not None
    named = world_of(model, solver=automatic_world.choice.method)
    for world in (automatic_world, named):
        for _ in range(8):
            world.advance_frame()
    assert automatic_world.save().positions.tobytes() == named.save().positions.tobytes()


def test_a_run_goes_on_with_the_choice_it_began_with(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Choice("IMPLICIT", 3, 1.0, 0.0)
    whole = world_of(ball(), choice=kept)
    for _ in range(12):
        whole.advance_frame()
    first = world_of(ball(), choice=kept)
    for _ in range(6):
        first.advance_frame()
    monkeypatch.setattr(world_module, "choice_of", lambda *_: pytest.fail("chosen anew"))
    rest = world_of(ball(), choice=first.choice)
    rest.load(first.save())
    for _ in range(6):
        rest.advance_frame()
    assert rest.choice == kept
    np.testing.assert_array_equal(rest.save().positions, whole.save().positions)


def test_a_named_method_has_no_choice() -> None:
    for name in ("IMPLICIT", "XPBD"):
        assert world_of(ball(), solver=name).choice is None
    assert world_of(ball(), solver=ImplicitSolver).choice is None
    foreseen = automatic.choice_of("EXPLICIT", ball(), FRAME, SUBSTEPS, MethodOptions())
    assert foreseen is not None and foreseen.fits("EXPLICIT") and foreseen.fits("AUTO")
    assert not foreseen.fits("IMPLICIT") and not chosen(ball()).fits("XPBD")


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"solver": "XPBD"}, r"choice: solver 'XPBD'; give one of EXPLICIT, IMPLICIT, RIGID\."),
        ({"steps_per_frame": 0}, r"choice: 0 steps per frame; give a whole number from 1\."),
        ({"steps_per_frame": 2.5}, r"choice: 2\.5 steps per frame; give a whole number from 1\."),
        ({"milliseconds": np.inf}, r"choice: milliseconds inf; give a number of at least 0\."),
        ({"added_mass": -0.1}, r"choice: added mass -0\.1; give a number of at least 0\."),
    ],
)
def test_an_unknown_choice_is_refused(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        Choice(**({"solver": "IMPLICIT", "steps_per_frame": 4, "milliseconds": 1.0, "added_mass": 0.0} | wrong))


@pytest.mark.parametrize("solver", ["XPBD", "IMPLICIT"])
def test_a_choice_with_a_named_method_is_refused(solver: str) -> None:
    with pytest.raises(
        ParameterError, match=rf"choice: IMPLICIT with the method {solver}\. Leave it out, or give AUTO"
    ):
        world_of(ball(), solver=solver, choice=Choice("IMPLICIT", 4, 1.0, 0.0))


def test_the_explicit_solver_is_made_with_its_step_and_the_options(monkeypatch: pytest.MonkeyPatch) -> None:
    made = SimpleNamespace(ExplicitSolver=lambda *arguments: arguments)
    monkeypatch.setitem(sys.modules, f"{choice.__package__}.explicit.solver", made)
    monkeypatch.setitem(choice.SOLVERS, "EXPLICIT", choice._explicit)
    options, model = MethodOptions(added_mass=0.05), ball()
    assert choice.solver_maker("EXPLICIT", options)(model, 1e-4) == (model, 1e-4, options)


def test_kernels_of_the_choice_are_prepared_with_each_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    assert prepare.jobs_for({"SKIN"}) == prepare.jobs_for({"SKIN"}, "AUTO") == (prepare.Job("SKIN", "EXPLICIT"),)
    assert [automatic.likely(parts) for parts in ({"LATTICE"}, {"RIGID"}, {"COUPLED"}, {"SKIN", "FLAT"})] == [
        "EXPLICIT", "IMPLICIT", "IMPLICIT", "EXPLICIT",
    ]  # fmt: skip
    models = []

    def choose(model: Model, *arguments: Any) -> Choice:
        models.append(model)
        return automatic.choose(model, *arguments)

    monkeypatch.setattr(prepare, "choose", choose)
    prepare.run_scene(prepare.Job("RIGID", "IMPLICIT"))
    assert len(models) == 1
    prepare.run_scene(prepare.Job("SKIN", "XPBD"))
    assert len(models) == 1
