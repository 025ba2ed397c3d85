"""Dampers along springs: decay of one oscillation against its closed form, momenta, animation."""

from dataclasses import replace

import numpy as np
import pytest
import shapes
from damped_bodies import MASS, MODULUS, RATIO, Breathing, dented_ball, measured_rate
from scenes import advance, energy, momenta, momentum, played
from softpressure_ext.core import MethodOptions, ModelBuilder, ParameterError, World
from softpressure_ext.core.animation.keyed import Keyed, changed
from softpressure_ext.core.animation.segments import with_values
from softpressure_ext.core.solvers.choice import FORCE_BASED
from softpressure_ext.core.solvers.explicit.stability import SAFETY, plan_steps

# --- decay of one oscillation --------------------------------------------------------------------------------------

KINDS = ("SKIN", "LOOP", "TRUSS", "FLAT_TRUSS", "SOLID")
#: Share of the rate that a solver may be off at 200 steps per period, h w = 0.03: some (h w)^4, (h w)^2 and, for the
#: steps of Euler, whose velocity is half a step old, ratio times h w.
DECAY = {"RK4": 1e-6, "HEUN": 1e-3, "EXPLICIT_EULER": 3e-3}


@pytest.mark.parametrize(
    ("kind", "solver"), [*((kind, "RK4") for kind in KINDS), ("SKIN", "HEUN"), ("SOLID", "EXPLICIT_EULER")]
)
def test_an_oscillation_decays_as_the_closed_form(kind, solver):
    """x'' + 2 rate x' + w^2 x = 0 with rate = (eta / Y) w^2 / 2."""
    body = Breathing(kind)
    period = 2.0 * np.pi / body.frequency
    measured = measured_rate(body, solver, period / 200, period)
    free = measured_rate(without_dampers(body), solver, period / 200, period)
    assert measured - free == pytest.approx(body.rate, rel=DECAY[solver])
    assert free == pytest.approx(0.0, abs=2e-3 * body.rate)


@pytest.mark.parametrize("kind", ["SKIN", "FLAT_TRUSS"])
@pytest.mark.parametrize("solver", ["EXPLICIT", "XPBD", "RK4_MARTIN"])
def test_dampers_add_to_the_losses_of_a_solver(kind, solver):
    """Dashpots of explicit steps, the sweeps of XPBD and Martin's stages damp, too: what the dampers add converges.

    All are of first order: extrapolated from 200 and 400 steps per period, the error left is of second order. The
    dashpots of explicit steps, with a ratio of 0.03, change the frequency that amplitudes are measured with by its
    half square and twice the product with that of the dampers: 0.2 %.
    """
    body = Breathing(kind)
    period = 2.0 * np.pi / body.frequency
    added = [
        measured_rate(body, solver, period / count, period)
        - measured_rate(without_dampers(body), solver, period / count, period)
        for count in (200, 400)
    ]
    assert added[1] == pytest.approx(body.rate, rel=0.015)  # a sweep around a loop is the least accurate
    assert 2.0 * added[1] - added[0] == pytest.approx(body.rate, rel=3e-3)


def without_dampers(body):
    """The same body without dampers; amplitudes are measured alike."""
    other = object.__new__(Breathing)
    other.__dict__ = dict(body.__dict__)
    other.model = replace(body.model, edge_damping=np.zeros_like(body.model.edge_damping))
    return other


@pytest.mark.parametrize(("solver", "order"), [("EXPLICIT_EULER", 1), ("HEUN", 2), ("RK4_MARTIN", 1), ("RK4", 4)])
def test_the_order_of_convergence_with_dampers(solver, order):
    """Stages have velocities of their own: a damper does not spoil the order. Errors at 0.7 periods, ratio 0.2."""
    body = Breathing("TRUSS", 0.2)
    time = 0.7 * 2.0 * np.pi / body.frequency
    errors = []
    for count in (64, 128):
        world = body.world(solver, time / count, speed=3.0)
        advance(world, count)
        away = np.subtract(body.strain(world), body.exact(time, speed=3.0))
        errors.append(np.hypot(away[0], away[1] / body.frequency))
    # the next term of the error is smaller by a factor of h w = 0.07 at most
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.12)


@pytest.mark.parametrize("solver", ["RK4", "EXPLICIT"])
def test_the_decay_does_not_depend_on_the_mesh(solver):
    """Balls of 42 and 642 vertices: rate = (eta / Y) w^2 / 2 with w^2 = 12 pi Y / m of the smooth ball."""
    expected = 0.5 * (12.0 * np.pi * MODULUS / MASS) * (2.0 * RATIO / Breathing("SKIN").frequency)
    rates = []
    for fineness in (1, 3):
        body = Breathing("SKIN", fineness=fineness)
        # the modulus of the dampers is that of the coarsest ball
        eta = Breathing("SKIN").model.spring_damping[0]
        edges = body.model.edges
        body.model = replace(body.model, edge_damping=edges.stiffness * eta / MODULUS)
        period = 2.0 * np.pi / body.frequency
        body.rate = 0.5 * eta / MODULUS * body.frequency**2
        # compressed by more, a skin without gas would begin to wrinkle
        step, time, strain = period / 200, period, 1e-4
        free = measured_rate(without_dampers(body), solver, step, time, strain)
        rates.append(measured_rate(body, solver, step, time, strain) - free)
    # facets: the area of 42 vertices lacks 10 %, of 642 vertices 1 %, and vertices of 5 edges move a little otherwise
    assert rates[0] == pytest.approx(expected, rel=0.12)
    assert rates[1] == pytest.approx(expected, rel=0.015)


# --- what stays, and what must not grow ----------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["EXPLICIT_EULER", "EXPLICIT", "XPBD"])
def test_momentum_and_angular_momentum_stay(solver):
    """Explicit steps to rounding; the others give back to a body what their sums leave, to a billionth of its inertia.

    Steps of Runge and Kutta keep angular momentum to their order only, with and without dampers.
    """
    world = dented_ball(solver, 5.0, 1e-4)
    before = np.concatenate(momenta(world))
    advance(world, 100)
    np.testing.assert_allclose(np.concatenate(momenta(world)), before, rtol=0.0, atol=1e-8 * np.abs(before).max())
    np.testing.assert_allclose(momentum(world), before[:3], rtol=0.0, atol=1e-12 * np.abs(before).max())


def test_explicit_steps_are_as_long_as_the_dampers_allow():
    """h^2 w^2 + 2 h rate at most (2 SAFETY)^2; heavy dampers take steps of 2 SAFETY^2 / rate."""
    plans = {eta: plan_steps(dented_ball("RK4", eta).model, MethodOptions()) for eta in (0.0, 1.0, 50.0)}
    assert plans[0.0].decay == 0.0 and plans[50.0].decay == pytest.approx(50.0 * plans[1.0].decay, rel=1e-4)
    assert plans[0.0].square == plans[50.0].square
    assert plans[0.0].step > plans[1.0].step > plans[50.0].step
    assert plans[50.0].step == pytest.approx(2.0 * SAFETY**2 / plans[50.0].decay, rel=0.02)
    # the rate is the largest eigenvalue of M^-1 C, bounded by that of (eta / Y) M^-1 K
    assert plans[1.0].decay <= 1.0 / 5e3 * plans[1.0].square


def test_a_run_takes_the_dampers_into_account():
    """Heavy dampers make explicit steps short; where they would be too many, the sentence names them."""
    soft, stiff = (dented_ball("EXPLICIT", eta, 1.0 / 24.0, substeps=1) for eta in (0.0, 100.0))
    assert stiff.steps_per_frame > 10 * soft.steps_per_frame
    with pytest.raises(
        ParameterError,
        match=r"ball: spring damping 300 N s/m would need \d+ explicit steps per frame.* fewer vertices\.$",
    ):
        dented_ball("EXPLICIT", 300.0, 1.0 / 24.0)


@pytest.mark.parametrize("eta", [5.0, 100.0])
def test_explicit_steps_with_stiff_dampers_gain_no_energy_in_a_bounce(eta):
    """Contacts have the room in the step that they have without dampers; what falls on a floor stays above it."""
    builder = ModelBuilder(gravity=(0, 0, -9.81))
    x, triangles = shapes.icosphere(1, 0.2)
    builder.add_membrane(
        "ball", x + (0, 0, 0.25), triangles, mass=0.2, gauge_pressure=2e3, stretch_modulus=5e3, spring_damping=eta,
        velocity=(0, 0, -2.0),
    )  # fmt: skip
    builder.add_collider("floor", *shapes.grid(2.0))
    world = World(builder.build(), frame_rate=240.0, substeps=1, threads=1, solver="EXPLICIT")
    most = energy(world)
    touched = 0
    for _ in played(world, 240):
        touched += world.diagnostics().contact_count > 0
        assert energy(world) <= most * (1.0 + 1e-9)
        assert world.positions(0)[:, 2].min() > 0.0
    assert touched > 10


# --- input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["RK4", "EXPLICIT", "XPBD"])
def test_a_keyed_damping_is_that_of_a_body_that_is_built_so(solver):
    """Keyed from the first frame on; and with the stretch modulus keyed the dampers stay as they are."""
    built, keyed = Breathing("SKIN", 0.1), Breathing("SKIN", 0.0)
    eta = float(built.model.spring_damping[0])
    step = 2.0 * np.pi / built.frequency / 100
    first, second = built.world(solver, step), keyed.world(solver, step)
    advance(first, 60)
    advance(second, 60, values={0: {"spring_damping": eta}})
    # of explicit steps the rate is a bound where dampers change; both frames are one step here
    np.testing.assert_allclose(keyed.strain(second), built.strain(first), rtol=1e-9, atol=1e-12)
    model = with_values(built.model, built.model, keyed_values(built.model, stretch_modulus=2.0 * MODULUS))
    np.testing.assert_array_equal(model.edge_damping, built.model.edge_damping)
    np.testing.assert_allclose(model.edges.stiffness, 2.0 * built.model.edges.stiffness, rtol=1e-12)
    model = with_values(built.model, built.model, keyed_values(built.model, spring_damping=3.0 * eta))
    np.testing.assert_allclose(model.edge_damping, 3.0 * built.model.edge_damping, rtol=1e-12)


def keyed_values(model, **values):
    return changed(model, Keyed.at_start(model), {0: values}, {}, (), (), None)


@pytest.mark.parametrize("method", FORCE_BASED)
def test_the_damping_between_neighbours_is_a_choice(method):
    """Mesit 2007, eq. 12, h sum k (v_j - v_i): in his methods, in every method, or in none."""
    x, v = {}, {}
    for choice in ("SIMPLIFIED", "ALL", "NONE"):
        body = Breathing("SKIN", 0.0)
        step = 0.1 / body.frequency
        world = body.world(method, step, speed=2.0, options=MethodOptions(neighbour_damping=choice))
        before = world.save().velocities.copy()
        world.advance_frame()
        x[choice], v[choice] = world.save().positions, world.save().velocities
    is_simplified = method in ("IMPLICIT_KANG", "IMPLICIT_MESIT")
    np.testing.assert_array_equal(v["SIMPLIFIED"], v["ALL" if is_simplified else "NONE"])
    if method == "EXPLICIT_EULER":
        edges, change = body.model.edges, np.zeros_like(before)
        for (i, j), k in zip(edges.points, edges.stiffness, strict=True):
            change[i] += step * k * (before[j] - before[i])
            change[j] += step * k * (before[i] - before[j])
        expected = step * change / body.model.vertex_mass[:, None]
        np.testing.assert_allclose(v["ALL"] - v["NONE"], expected, rtol=0.0, atol=1e-12 * np.abs(v["ALL"]).max())
    else:
        assert np.abs(v["ALL"] - v["NONE"]).max() > 1e-3 * np.abs(v["ALL"]).max()


def test_engine_and_xpbd_refuse_the_damping_between_neighbours():
    for solver in ("EXPLICIT", "XPBD"):
        with pytest.raises(ParameterError, match=f"neighbour damping: ALL with the method {solver}, which has none"):
            World(Breathing("SKIN").model, solver=solver, options=MethodOptions(neighbour_damping="ALL"))
