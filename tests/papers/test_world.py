"""The methods of the papers behind `World`: a small scene with known numbers, momentum, bits, and giving up."""

import re
from dataclasses import replace

import numpy as np
import pytest
import shapes
from scenes import GRAVITY, Ball, add_ball, advance, angular_momentum, assert_continues, ball_world, centre, momentum
from softpressure_ext.core import DivergenceError, FrameInput, ModelBuilder, World
from softpressure_ext.core.papers.forces import SoftForces
from softpressure_ext.core.papers.stability import stable_time, stiffest_frequency
from softpressure_ext.core.solvers.choice import FORCE_BASED
from validation import validated

SOFT = Ball(0.2, 0.2, 2e3, 5e3)
#: Per frame of 1/60 s, for the ball of 42 vertices; Heun's method is the least stable without losses.
SUBSTEPS = {name: 240 if name == "HEUN" else 60 for name in FORCE_BASED} | {"XPBD": 20}


def small_scene(method, threads=1, parts=1):
    """A ball with a pinned vertex, a free ball above a box, a floor."""
    builder = ModelBuilder()
    add_ball(builder, SOFT, 1, (0, 0, 0.5), pinned=[3], damping=3.0, bounciness=0.5)
    add_ball(builder, SOFT, 1, (0.6, 0, 0.5), damping=3.0, bend_modulus=0.02, name="free", velocity=(0.1, 0.2, -1.0))
    builder.add_rigid("box", *shapes.box(0.2, 1, (0.62, 0.03, 0.12)), mass=0.5, bounciness=0.4, friction=0.6)
    builder.add_collider("floor", *shapes.grid(4.0))
    return World(
        builder.build(), frame_rate=60.0, substeps=parts * SUBSTEPS.get(method, 4), threads=threads, solver=method
    )


def given(frame):
    """A pin that moves, a floor that rises, a pressure that grows."""
    pin = shapes.icosphere(1, SOFT.radius)[0][[3]] + (0.02 * frame, 0, 0.5)
    floor = shapes.grid(4.0)[0] + (0, 0, 0.002 * frame)
    return FrameInput(pinned_positions={0: pin}, collider_positions={0: floor}, gauge_pressure={1: 2e3 + 100.0 * frame})


@pytest.mark.parametrize("method", SUBSTEPS)
def test_centre_and_momentum_in_flight(method):
    """Free fall is exact to the order of the method; linear momentum to rounding, angular momentum too at no step."""
    room = "solvers/xpbd" if method == "XPBD" else "papers"
    world = ball_world(SOFT, 1, floor=False, substeps=SUBSTEPS[method], solver=method, velocity=(1.0, 0.5, 2.0))
    state = world.save()
    x, v = state.positions, state.velocities
    v += np.cross([3.0, -2.0, 5.0], x - x.mean(axis=0)) + np.random.default_rng(1).normal(0, 0.2, v.shape)
    world.load(state)
    start, p, time = centre(world), momentum(world), 0.5
    about = angular_momentum(world, start)
    advance(world, 30)
    fallen = p + SOFT.mass * time * np.array([0, 0, -GRAVITY])
    validated(
        "momentum of a ball that spins and flies", room=room, measured=momentum(world), expected=fallen,
        unit="kg m/s", abs=1e-12, source="p0 + m g t", reason="a million roundings of 1e-18",
    )  # fmt: skip
    h = 1.0 / 60.0 / SUBSTEPS[method]
    expected = start + time * p / SOFT.mass + 0.5 * time**2 * np.array([0, 0, -GRAVITY])
    first_order = method not in ("HEUN", "RK4", "XPBD")
    validated(
        "centre of a ball that spins and flies", room=room, measured=centre(world), expected=expected,
        unit="m", abs=0.51 * GRAVITY * h * time if first_order else 1e-12,
        source="x0 + v0 t + g t²/2", reason="rounding, or g h t / 2 where positions move with the new velocity",
    )  # fmt: skip
    limit = {"EXPLICIT_EULER": 1e-12, "IMPLICIT_KANG": 1e-6, "IMPLICIT_MESIT": 1e-6, "XPBD": 1e-9}.get(method, 0.01)
    lost = np.linalg.norm(angular_momentum(world, centre(world)) - about) / np.linalg.norm(about)
    validated(
        "change of the angular momentum of a ball that spins and flies, over its size", room=room, measured=lost,
        expected=0.0, abs=limit, source="conserved",
        reason="rounding where positions move with the new velocity, the order of the method elsewhere; of simplified "
        "steps what is given back lacks a billionth each, as a body's inertia has that much added",
    )  # fmt: skip


@pytest.mark.parametrize("method", FORCE_BASED)
def test_threads_and_saved_states_do_not_change_a_bit(method):
    assert_continues(
        lambda: small_scene(method), 6, 0, 3, given=lambda frame: given(frame + 1),
        fresh=lambda: small_scene(method, threads=2),
    )  # fmt: skip


@pytest.mark.parametrize("method", ["EXPLICIT_EULER", "RK4", "RK4_MARTIN"])
def test_divergence_names_the_body_and_a_remedy_that_works(method):
    world = ball_world(SOFT, 2, drop=0.05, substeps=10, solver=method)
    kept = None
    with pytest.raises(DivergenceError) as refused:
        for _ in range(60):
            kept = world.positions(0)
            world.advance_frame()
    sentence = str(refused.value)
    found = re.fullmatch(
        r"ball: the motion grows beyond all bounds in frame (\d+), substep \d+ of 10\. Raise the substeps to about "
        r"(\d+), choose the method EXPLICIT, or look for extreme pressures, stiffness, force fields or animation\.",
        sentence,
    )
    assert found, sentence
    assert int(found[1]) == world.frame + 1
    assert (world.positions(0) == kept).all() and np.isfinite(kept).all()
    better = ball_world(SOFT, 2, drop=0.05, substeps=int(found[2]), solver=method)
    advance(better, 40)
    assert better.diagnostics().bodies[0].volume_ratio == pytest.approx(SOFT.volume_ratio, abs=0.05)


def test_divergence_asks_for_no_millions_of_substeps():
    stiff = replace(SOFT, stretch_modulus=1e14)
    world = ball_world(stiff, 1, drop=0.05, substeps=4, solver="RK4")
    with pytest.raises(DivergenceError, match=r"substep \d of 4\. Choose the method EXPLICIT, or look for extreme"):
        advance(world, 10)


@pytest.mark.parametrize(
    ("method", "place"), [("XPBD", ", substep 1 of 4"), ("RK4", ", substep 1 of 4"), ("EXPLICIT", "")]
)
def test_a_body_that_grows_a_thousandfold_has_diverged(monkeypatch, method, place):
    """The engine finds its steps itself, so it tells of none."""
    world = ball_world(SOFT, 1, substeps=4, solver=method)
    step = world._solver.step

    def swell(before, after, *rest):
        step(before, after, *rest)
        after.positions[: world.model.vertex_count] *= 2e3

    monkeypatch.setattr(world._solver, "step", swell)
    with pytest.raises(DivergenceError, match=rf"^ball: the motion grows beyond all bounds in frame 1{place}\."):
        world.advance_frame()


def test_the_stiffest_oscillation_is_that_of_the_dense_jacobian():
    model = ball_world(SOFT, 1, floor=False).model
    gas = (model.gauge_pressure + model.ambient_pressure) * model.rest_volume
    forces, n, x, step = SoftForces(model), model.vertex_count, model.rest_positions, 1e-7
    jacobian = np.zeros((3 * n, 3 * n))
    ahead, behind = np.zeros((n, 3)), np.zeros((n, 3))
    for column in range(3 * n):
        for sign, force in ((1.0, ahead), (-1.0, behind)):
            moved = x.copy()
            moved.reshape(-1)[column] += sign * step
            forces.evaluate(moved, gas, model.rigid.arm, force)
        jacobian[:, column] = ((ahead - behind) / (2 * step)).ravel()
    root = np.sqrt(np.repeat(model.vertex_mass, 3))
    spectrum = np.linalg.eigvalsh(-0.5 * (jacobian + jacobian.T) / root[:, None] / root)
    expected = np.sqrt(spectrum.max())
    # power iteration comes from below: 60 steps leave some per cent where frequencies lie close
    assert 0.97 * expected < stiffest_frequency(model, forces, gas) < 1.0001 * expected
    assert stable_time(model, forces, "RK4", gas) < 2.83 / expected
