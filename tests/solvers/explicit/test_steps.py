"""Number of explicit steps of a run: predicted, enough for stability, and refused if there are too many."""

from typing import Any

import numpy as np
import pytest
import shapes
from explicit_scene import SOLVER, bench_world, world_of
from softpressure_ext.core import (
    DivergenceError,
    FrameInput,
    MethodOptions,
    Model,
    ModelBuilder,
    SoftPressureError,
    World,
)
from softpressure_ext.core.solvers.choice import StepPlan, plan_run
from softpressure_ext.core.solvers.explicit.inflation import free_rate, inflation_rate
from softpressure_ext.core.solvers.explicit.limits import StepLimit
from softpressure_ext.core.solvers.explicit.stability import plan_steps, start_gas
from softpressure_ext.core.solvers.explicit.unsupported import unsupported
from softpressure_ext.core.solvers.notes import Reason

OPTIONS = MethodOptions()
FRAME = 1.0 / 24.0


def skin(subdivisions: int = 3, centre: tuple[float, float, float] = (0.0, 0.0, 0.25), **changes: Any) -> ModelBuilder:
    """A ball over a floor."""
    options = {"mass": 0.5, "stretch_modulus": 2e4, "gauge_pressure": 2e3} | changes
    builder = ModelBuilder()
    builder.add_membrane("toy", *shapes.icosphere(subdivisions, 0.2, centre), **options)
    builder.add_collider("floor", *shapes.grid(4.0))
    return builder


def jelly(**changes: Any) -> ModelBuilder:
    """A cube of jelly over a floor."""
    builder = ModelBuilder()
    options = {"cell_size": 0.1, "mass": 1.0, "modulus": 2e4} | changes
    builder.add_solid("jelly", *shapes.box(0.4, 1, (0.0, 0.0, 0.25)), **options)
    builder.add_collider("floor", *shapes.grid(4.0))
    return builder


def planned(builder: ModelBuilder, frame_time: float = FRAME) -> StepPlan:
    return plan_run(SOLVER, builder.build(), frame_time, 10, OPTIONS)


# --- what is foreseen -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scene", ["skin", "jelly", "pair"])
def test_a_run_takes_the_predicted_steps(scene: str) -> None:
    world = bench_world("pair", 642, 0)[0] if scene == "pair" else world_of(skin() if scene == "skin" else jelly())
    for _ in range(12):
        before = world.diagnostics().counts.stages
        world.advance_frame()
        assert world.diagnostics().counts.stages - before == pytest.approx(world.steps_per_frame, rel=0.3, abs=1)


@pytest.mark.parametrize("frames", [1.0, 10.0])
def test_steps_go_with_the_length_of_a_frame(frames: float) -> None:
    one, many = planned(skin()), planned(skin(), frames * FRAME)
    assert many.steps_per_frame == pytest.approx(frames * one.steps_per_frame, rel=0.01)


# --- masses -----------------------------------------------------------------------------------------------------


def with_a_sliver(**changes: Any) -> Model:
    """A ball with one short edge."""
    x, triangles = shapes.icosphere(3, 0.2, (0.0, 0.0, 0.25))
    a, b = triangles[0, :2]
    x[b] = x[a] + 0.02 * (x[b] - x[a])
    builder = ModelBuilder()
    builder.add_membrane("toy", x, triangles, mass=0.5, stretch_modulus=2e4, **changes)
    return builder.build()


@pytest.mark.parametrize("bend_modulus", [0.0, 0.01])
def test_a_sliver_has_more_mass_and_its_body_as_much_as_before(bend_modulus: float) -> None:
    model = with_a_sliver(bend_modulus=bend_modulus)
    plain, scaled = (plan_steps(model, MethodOptions(added_mass=share)) for share in (0.0, 0.01))
    assert scaled.masses.sum() == pytest.approx(0.5, rel=1e-12)
    np.testing.assert_allclose(plain.masses, model.vertex_mass, rtol=1e-12)
    assert 0.0 < scaled.added[0] <= 0.0101
    assert scaled.step > 1.3 * plain.step and scaled.bound < plain.bound / 1.7


def with_slivers(count: int = 40, **changes: Any) -> Model:
    """A ball of which some edges, far from each other, are short."""
    x, triangles = shapes.icosphere(4, 0.2)
    taken: set[int] = set()
    for triangle in triangles[:: len(triangles) // count]:
        a, b = triangle[:2]
        near = set(triangles[np.isin(triangles, (a, b)).any(axis=1)].ravel().tolist())
        if not taken & near:
            x[b] = x[a] + 0.03 * (x[b] - x[a])
            taken |= near
    builder = ModelBuilder()
    builder.add_membrane("toy", x, triangles, mass=0.5, stretch_modulus=2e4, **changes)
    return builder.build()


@pytest.mark.parametrize("bend_modulus", [1e-3, 0.01, 0.1])
def test_hinges_at_slivers_do_not_set_the_step(bend_modulus: float) -> None:
    stretching = plan_steps(with_slivers(), OPTIONS)
    assert plan_steps(with_slivers(bend_modulus=bend_modulus), OPTIONS).step > stretching.step / 1.2


@pytest.mark.parametrize("bend_modulus", [0.01, 3.0])
def test_hinges_of_an_even_mesh_are_as_stiff_as_they_are_asked_to_be(bend_modulus: float) -> None:
    """Also where bending sets the step of the whole body: k = 3 B / area."""
    builder = ModelBuilder()
    builder.add_membrane("ball", *shapes.icosphere(3, 0.2), stretch_modulus=2e4, bend_modulus=bend_modulus)
    hinges = builder.build().hinges
    area = 0.5 * (1.0 / hinges.normal_scale).sum(axis=1)
    np.testing.assert_allclose(hinges.stiffness, 3.0 * bend_modulus / area, rtol=1e-14)


def test_the_bound_is_above_the_measured_frequency() -> None:
    for model in (skin().build(), jelly().build(), with_a_sliver()):
        plan = plan_steps(model, OPTIONS)
        assert 0.4 * plan.bound < plan.square < 1.01 * (plan.bound + plan.gas.max())


# --- while a run goes on ----------------------------------------------------------------------------------------


def test_a_stretched_body_takes_more_steps() -> None:
    model = jelly(modulus=1e6).build()
    plan = plan_steps(model, OPTIONS)
    limit, gas = StepLimit(model, plan), np.zeros(1)
    counts = []
    for scale in (1.0, 1.5, 3.0):
        limit.measure(scale * model.rest_positions)
        counts.append(limit.steps(FRAME, FRAME, gas)[0])
    assert counts[0] < counts[1] < counts[2]


def test_gas_that_is_added_takes_more_steps() -> None:
    model = skin().build()
    limit = StepLimit(model, plan_steps(model, OPTIONS))
    limit.measure(model.rest_positions)
    amount = (model.gauge_pressure + model.ambient_pressure) * model.rest_volume
    assert limit.steps(FRAME, FRAME, 30.0 * amount)[0] > limit.steps(FRAME, FRAME, amount)[0]


@pytest.mark.parametrize("law", [{}, {"gas_exponent": 1.4}, {"gas_hold": "PRESSURE"}])
@pytest.mark.parametrize("ambient", [0.0, 101325.0])
def test_the_quick_bound_of_an_explosion_is_above_the_rate(law: dict[str, Any], ambient: float) -> None:
    """Of pressed and swollen bodies with too little gas, some and a hundred times as much as at the start."""
    builder = ModelBuilder(ambient_pressure=ambient)
    builder.add_membrane("ball", *shapes.icosphere(2, 0.25), gauge_pressure=2e3, mass=0.5, stretch_modulus=2e4, **law)
    model = builder.build()
    for gas in start_gas(model) * np.array([[0.1], [1.001], [1.1], [2.0], [100.0]]):
        for volume in model.rest_volume * np.array([[1e-4], [0.3], [1.0], [1.5], [20.0]]):
            assert free_rate(model, gas, volume) >= 0.999 * inflation_rate(model, gas, volume)
    assert np.isfinite(free_rate(model, gas, volume)).all() == (ambient > 0.0 and not law)


def test_a_shape_that_is_too_stiff_or_none_ends_the_run_with_a_sentence() -> None:
    world = world_of(jelly(modulus=1e7))
    world.advance_frame()
    before = world.save()
    for scale in (300.0, np.nan):
        bad = before.copy()
        bad.positions[: world.model.vertex_count] *= scale
        world.load(bad)
        with pytest.raises(DivergenceError, match=r"^jelly: the motion .* in frame 2\. Look for extreme"):
            world.advance_frame()


def test_a_fast_collider_does_not_need_unlimited_steps() -> None:
    world = world_of(skin())
    floor = world.model.rest_positions[world.model.moving_point_count :]
    with pytest.raises(DivergenceError, match=r"^floor: the motion at .* m/s would need .* explicit steps per frame"):
        world.advance_frame(FrameInput(collider_positions={0: floor - (0.0, 0.0, 1e3)}))


def test_what_has_fallen_far_away_does_not_shorten_steps() -> None:
    """Balls of 2 mm, one of which fell off the table: at 6 m/s it stopped the scene, as more than 5,000 steps."""
    builder = ModelBuilder()
    options = {"mass": 1e-5, "stretch_modulus": 40.0, "gauge_pressure": 2e3}
    for name, height, speed in (("rests", 1.1e-3, 0.0), ("fallen", -2.0, -6.0)):
        mesh = shapes.icosphere(2, 1e-3, (0.0, 0.0, height))
        builder.add_membrane(name, *mesh, **options, velocity=(0.0, 0.0, speed))
    builder.add_collider("table", *shapes.grid(0.05))
    world = World(builder.build(), threads=1)
    for _ in range(3):
        world.advance_frame()
        assert not any(finding.reason is Reason.FAST for report in world.reports() for finding in report.reasons)


def test_the_edges_of_other_bodies_do_not_shorten_the_steps_of_a_fast_one() -> None:
    """A ball thrown past beads of 2 mm: of those, 7,000 steps per frame."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    options = {"mass": 1e-5, "stretch_modulus": 40.0, "gauge_pressure": 2e3}
    for number in range(2):
        mesh = shapes.icosphere(2, 1e-3, (0.0, 2.5e-3 * number, 1.5e-3))
        builder.add_membrane(f"bead {number}", *mesh, **options)
    ball = shapes.icosphere(2, 0.1, (0.0, 2.0, 0.2))
    builder.add_membrane("ball", *ball, mass=0.1, stretch_modulus=2e3, gauge_pressure=2e3, velocity=(0.0, 5.0, 0.0))
    builder.add_collider("table", *shapes.grid(20.0))
    world = World(builder.build(), threads=1)
    world.advance_frame()
    assert not any(finding.reason is Reason.FAST for report in world.reports() for finding in report.reasons)


# --- what explicit steps do not know ----------------------------------------------------------------------------


def lacking(case: str) -> tuple[ModelBuilder, MethodOptions]:
    """A scene with what explicit steps do not know."""
    builder, options = skin(), OPTIONS
    if case == "gas":
        options = MethodOptions(volume="BOUNDING_BOX")
    if case == "step damping":
        options = MethodOptions(step_damping=True)
    return builder, options


@pytest.mark.parametrize(
    ("case", "sentence"), [("gas", "gas: volume BOUNDING_BOX"), ("step damping", "step damping: on")]
)
def test_unsupported_features_are_refused_and_the_sentence_says_what_to_do(case: str, sentence: str) -> None:
    builder, options = lacking(case)
    model = builder.build()
    assert unsupported(model, options)[0].startswith(sentence)
    with pytest.raises(SoftPressureError, match=f"^{sentence}.*; the method EXPLICIT does not know that. .*XPBD"):
        World(model, solver=SOLVER, options=options)
