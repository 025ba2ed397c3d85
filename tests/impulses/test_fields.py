"""Force fields: closed forms of single bodies, with every kind of solver."""

import dataclasses
import math

import numpy as np
import pytest
import shapes
from scenes import advance, assert_continues, played
from softpressure_ext.core import Field, FrameInput, ModelBuilder, ParameterError, World
from softpressure_ext.core.impulses import ticks
from softpressure_ext.core.impulses.forces import Forces, add_field
from softpressure_ext.core.impulses.noise import turbulence
from validation import validated

MASS = 2.0
#: Solvers by name; RIGID stands for a rigid body with impulses.
SOLVERS = ("EXPLICIT", "XPBD", "RIGID")
RATE = 24.0


def ball_world(solver, *, gravity=(0.0, 0.0, 0.0), centre=(0.0, 0.0, 0.0), substeps=10, frame_rate=RATE, **options):
    """One ball of 2 kg and 0.3 m without floor."""
    made = ModelBuilder(gravity=gravity)
    if solver == "RIGID":
        made.add_rigid("ball", *shapes.icosphere(1, 0.3, centre), mass=MASS, **options)
    else:
        made.add_membrane(
            "ball", *shapes.icosphere(1, 0.3, centre), mass=MASS, gauge_pressure=2e3, stretch_modulus=2e4,
            drawn_shape="INFLATED", pressure_at="REST", **options,
        )  # fmt: skip
    name = "EXPLICIT" if solver == "RIGID" else solver
    return World(made.build(), frame_rate=frame_rate, substeps=substeps, threads=1, solver=name)


def place(world):
    """Centre of mass [m] and its velocity [m/s]."""
    if world.model.rigid_count:
        state = world.save().rigid
        return state.pose[0, :3], state.velocity[0]
    share = world.model.vertex_mass / world.model.vertex_mass.sum()
    state, n = world.save(), world.model.vertex_count
    return share @ state.positions[:n], share @ state.velocities[:n]


def run(world, seconds, *fields, **given):
    """Advance with the same fields."""
    advance(world, round(seconds * world.frame_rate), fields=fields, **given)
    return place(world)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_uniform_field_accelerates_by_force_over_mass(solver):
    x, v = run(ball_world(solver), 0.5, Field("WIND", strength=6.0, axis=(0.0, 1.0, 0.0)))
    validated(
        "velocity in a uniform field after 0.5 s", room="impulses", measured=v, expected=(0.0, 6.0 / MASS * 0.5, 0.0),
        unit="m/s", abs=1e-6, source="F t / m", reason="what Newton's method leaves",
    )  # fmt: skip
    validated(
        "place in a uniform field after 0.5 s", room="impulses", measured=x,
        expected=(0.0, 0.5 * 6.0 / MASS * 0.25, 0.0), unit="m", abs=1e-6, source="F t² / 2m",
        reason="what Newton's method leaves",
    )  # fmt: skip


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_share_of_gravity_acts(solver):
    for share in (0.0, 0.5):
        x, v = run(ball_world(solver, gravity=(0.0, 0.0, -9.81)), 0.5, gravity_shares=(share,))
        assert v[2] == pytest.approx(-share * 9.81 * 0.5, abs=1e-6)
        validated(
            "place of a body that feels a part s of gravity, after 0.5 s", room="impulses", measured=x[2],
            expected=-share * 0.5 * 9.81 * 0.25, unit="m", abs=1e-6, source="-s g t²/2",
            reason="what Newton's method leaves",
        )  # fmt: skip


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("damping", "strength"), [(3.0, 0.0), (0.0, 4.0), (1e9, 0.0)])
def test_drag_slows_as_its_closed_form_says(solver, damping, strength):
    world = ball_world(solver, velocity=(5.0, 0.0, 0.0))
    _, v = run(world, 0.5, Field("DRAG", strength=strength, damping=damping))
    expected = 5.0 * math.exp(-damping * 0.5 / MASS) if damping else 5.0 / (1.0 + strength * 5.0 * 0.5 / MASS)
    validated(
        "velocity after 0.5 s of drag", room="impulses", measured=v, expected=(expected, 0.0, 0.0), unit="m/s",
        abs=1e-4 if strength else 2e-6, source="v0 exp(-d t / m); v0 / (1 + s v0 t / m)",
        reason="drag by the square acts on each vertex, and XPBD's skin breathes a little",
    )  # fmt: skip


@pytest.mark.parametrize("solver", SOLVERS)
def test_flow_lets_a_body_tend_to_a_speed(solver):
    _, v = run(ball_world(solver), 1.0, Field("WIND", strength=8.0, flow=4.0))
    validated(
        "velocity in a wind with flow after 1 s", room="impulses", measured=v[2],
        expected=2.0 * (1.0 - math.exp(-4.0 / MASS)), unit="m/s", rel=1e-5, source="(F / f) (1 - exp(-f t / m))",
        reason="what Newton's method leaves",
    )  # fmt: skip


@pytest.mark.parametrize("solver", ["EXPLICIT", "XPBD"])
def test_wind_on_a_skin_pushes_a_ball_with_its_strength(solver):
    world = ball_world(solver)
    _, v = run(world, 0.25, Field("WIND", strength=6.0, skin_share=1.0))
    validated(
        "velocity in a wind that acts on the skin, after 0.25 s", room="impulses", measured=v,
        expected=(0.0, 0.0, 6.0 / MASS * 0.25), unit="m/s", abs=0.02 * 6.0 / MASS * 0.25, source="F t / m",
        reason="42 vertices stand for the sphere's cross-section",
    )  # fmt: skip


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_spring_swings_with_its_frequency(solver):
    stiffness, start = 80.0, 0.2
    period = 2.0 * math.pi * math.sqrt(MASS / stiffness)
    world = ball_world(solver, centre=(start, 0.0, 0.0), frame_rate=20.0 / period, substeps=20)
    passed = [place(world)[0][0]]
    for _ in range(20):
        world.advance_frame(FrameInput(fields=(Field("HARMONIC", strength=stiffness),)))
        passed.append(place(world)[0][0])
    expected = start * np.cos(2.0 * math.pi * np.arange(21) / 20.0)
    validated(
        "place of a body on a spring, in a period", room="impulses", measured=passed, expected=expected, unit="m",
        abs=0.004 * start, source="x0 cos(sqrt(k / m) t)", reason="second order: 20 substeps per 1/20 period",
    )  # fmt: skip


def test_springs_are_of_second_order():
    """In ticks of a frame each."""
    errors, stiffness, start = [], 80.0, 0.2
    for rate in (480.0, 960.0, 1920.0):
        world = ball_world("RIGID", centre=(start, 0.0, 0.0), frame_rate=rate)
        x, _ = run(world, 0.4, Field("HARMONIC", strength=stiffness))
        errors.append(abs(x[0] - start * math.cos(0.4 * math.sqrt(stiffness / MASS))))
    assert errors[0] / errors[1] > 3.7 and errors[1] / errors[2] > 3.7


@pytest.mark.parametrize("strength", [1e3, 1e4, 4e4])
def test_a_spring_below_the_limit_loses_what_the_look_ahead_takes(strength):
    """Energy falls as exp(-2 zeta w t), zeta = 2 (w T)^2, in ticks of a frame each; by a share of zeta to and fro."""
    start, quick = 0.3, math.sqrt(strength / MASS)
    world = ball_world("RIGID", centre=(0.5 + start, 0.0, 0.0), frame_rate=1.0 / ticks.TICK)
    x, v = run(world, 0.5, Field("HARMONIC", strength=strength, size=0.5))
    ratio = 2.0 * (quick * ticks.TICK) ** 2
    kept = (0.5 * MASS * v[0] ** 2 + 0.5 * strength * (x[0] - 0.5) ** 2) / (0.5 * strength * start**2)
    assert math.log(kept) == pytest.approx(-2.0 * ratio * quick * 0.5, abs=1.5 * ratio)


@pytest.mark.parametrize("strength", [1e5, 1e6, 1e9])
def test_no_spring_is_too_stiff(strength):
    """All of these are above the limit of springs, 30 Hz, which is damped at a ratio of 0.32."""
    world = ball_world("RIGID", centre=(0.8, 0.0, 0.0), velocity=(3.0, 0.0, 0.0))
    x, v = run(world, 1.0, Field("HARMONIC", strength=strength, size=0.5))
    assert np.linalg.norm(v) < 1e-3 and x[0] == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_vortex_carries_a_body_on_a_circle(solver):
    turning, radius = 3.0, 1.5
    world = ball_world(solver, centre=(radius, 0.0, 0.0), velocity=(0.0, turning * radius, 0.0))
    for frame in range(1, 25):
        world.advance_frame(FrameInput(fields=(Field("VORTEX", strength=turning, shape="PLANE"),)))
        x, _ = place(world)
        angle = turning * frame / RATE
        np.testing.assert_allclose(x, (radius * math.cos(angle), radius * math.sin(angle), 0.0), atol=0.02)


def test_a_vortex_at_a_point_gives_angular_momentum_and_no_push_along_its_axis():
    world = ball_world("RIGID", centre=(0.5, 0.2, 0.3), velocity=(0.1, -0.4, 0.2))
    field = Field("VORTEX", strength=1.5)
    expected = MASS * np.cross(*place(world))[2]
    for _ in range(24):
        before, _ = place(world)
        world.advance_frame(FrameInput(fields=(field,)))
        after, v = place(world)
        # torque strength * distance * radius, by the trapezoid
        torque = [1.5 * np.linalg.norm(x) * np.linalg.norm(x[:2]) for x in (before, after)]
        expected += 0.5 * sum(torque) / RATE
    spin = MASS * np.cross(after, v)[2]
    assert spin == pytest.approx(expected, rel=1e-3)
    assert v[2] == pytest.approx(0.2, abs=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_turbulence_has_the_same_bits_when_a_run_is_continued(solver):
    fields = (Field("TURBULENCE", strength=5.0, size=0.7, flow=0.5), Field("WIND", strength=2.0, skin_share=1.0))
    given = FrameInput(fields=fields, gravity_shares=(0.5,))
    whole = assert_continues(lambda: ball_world(solver, gravity=(0.0, 0.0, -9.81)), 6, 3, given=lambda _: given)
    assert np.linalg.norm(place(whole)[1]) > 0.1


@pytest.mark.parametrize("solver", ["EXPLICIT", "XPBD"])
def test_pinned_vertices_take_nothing(solver):
    world = ball_world(solver, pinned=[0, 5, 7])
    before = world.positions(0)
    run(world, 0.25, Field("WIND", strength=50.0, skin_share=0.5))
    assert (world.positions(0)[[0, 5, 7]] == before[[0, 5, 7]]).all()
    assert (world.positions(0) != before).any()


def floor_world(solver, mesh=None, mass=1.0, friction=0.5):
    """An inflated ball or another mesh, or a rigid box, that lies on a floor."""
    made = ModelBuilder()
    if solver == "RIGID":
        made.add_rigid("box", *shapes.box(0.4, 1, (0.0, 0.0, 0.201)), mass=mass, friction=friction, thickness=1e-3)
    else:
        made.add_membrane(
            "ball", *(mesh or shapes.icosphere(2, 0.2, (0.0, 0.0, 0.202))), mass=mass,
            gauge_pressure=1e3, stretch_modulus=2e4,
            drawn_shape="INFLATED", pressure_at="REST", friction=friction, bounciness=0.5, damping=2.0,
            thickness=2e-3,
        )  # fmt: skip
    made.add_collider("floor", *shapes.grid(20.0, 1), friction=friction, bounciness=0.5)
    name = "EXPLICIT" if solver == "RIGID" else solver
    return World(made.build(), frame_rate=RATE, substeps=10, threads=1, solver=name)


def test_a_box_slides_in_a_wind_that_is_stronger_than_its_friction():
    for force in (3.0, 8.0):
        world = floor_world("RIGID")
        x, v = run(world, 1.0, Field("WIND", strength=force, axis=(1.0, 0.0, 0.0)))
        expected = max(force - 0.5 * 9.81, 0.0)
        assert v[0] == pytest.approx(expected, abs=0.02 * force)
        assert abs(v[2]) < 1e-3 and abs(x[2] - 0.2) < 5e-3


def unrest(world, frames, *fields):
    """Root mean square of the centre's way up and down per time over frames [m/s], and its last velocity."""
    heights = [place(world)[0][2], *(place(world)[0][2] for _ in played(world, frames, fields=fields))]
    return np.sqrt((np.diff(heights) ** 2).mean()) * world.frame_rate, place(world)[1]


@pytest.mark.parametrize("solver", ["EXPLICIT", "XPBD"])
def test_a_ball_rolls_in_a_wind_and_hops_no_more_than_one_that_rolls_freely(solver):
    wind = Field("WIND", strength=1.0, axis=(1.0, 0.0, 0.0), skin_share=1.0, flow=1.0)
    blown = floor_world(solver)
    run(blown, 2.0, wind)
    hops, velocity = unrest(blown, 24, wind)
    assert 0.3 < velocity[0] < 1.05
    free = floor_world(solver)
    free.load(blown.save())
    hops_freely, _ = unrest(free, 24)
    assert hops < 1.5 * hops_freely + 2e-3


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_body_pressed_on_the_floor_by_a_wind_stays_at_rest(solver):
    down = Field("WIND", strength=5.0, axis=(0.0, 0.0, -1.0), skin_share=1.0)
    world = floor_world(solver, shapes.box(0.4, 4, (0.0, 0.0, 0.203)))  # balls on a corner roll off it anyway
    run(world, 2.0, down)
    hops, velocity = unrest(world, 12, down)
    # between ticks a rigid body has half of a tick's speed at most, which leads nowhere
    speed = 5.0 / 240.0 if solver == "RIGID" else 1e-3
    assert hops < 3e-4 and np.abs(velocity[:2]).max() < 5e-3 and abs(velocity[2]) < speed


def test_a_light_ball_in_a_gale_does_not_tremble():
    """As a load, wind is balanced by pressure and floor: as impulses its top had gone up and down by 2 mm."""
    world = floor_world("EXPLICIT", shapes.icosphere(3, 0.2, (0.0, 0.0, 0.202)), mass=0.02)
    gale = FrameInput(fields=(Field("WIND", strength=1.0, axis=(0.0, 0.0, -1.0), skin_share=1.0),))
    tops = []
    for frame in range(72):
        world.advance_frame(gale)
        if frame >= 48:
            tops.append(world.positions(0)[:, 2].max())
    assert np.abs(np.diff(tops, 2)).max() < 1e-4


def test_ticks_are_as_long_as_what_acts_allows():
    def tick(solver, *fields):
        world = ball_world(solver)
        model, state = world.model, world.save()
        acting = ticks.Impulses(model, 1.0 / RATE).frame(
            fields, (), state, state.goals, model.pinned, model.vertex_mass
        )
        acting.wake(state, model.gravity)
        return acting.tick

    wind = Field("WIND", strength=5.0, skin_share=1.0)
    assert tick("EXPLICIT", wind) == ticks.LONGEST
    assert tick("RIGID", wind) == ticks.LONGEST_OF_RIGID
    assert tick("EXPLICIT", wind, Field("HARMONIC", strength=80.0)) == ticks.TICK
    braked = tick("EXPLICIT", dataclasses.replace(wind, flow=8.0 * MASS))
    assert ticks.TICK < braked < ticks.LONGEST


@pytest.mark.parametrize("solver", ["EXPLICIT", "RIGID"])
def test_a_wind_wakes_sleeping_bodies(solver):
    world = floor_world(solver)
    run(world, 3.0)
    state = world.save()
    assert (state.still > 0.25).all() or (len(state.still_time) and state.still_time[0] > 0.5)
    before = place(world)[0]
    after, _ = run(world, 0.5, Field("WIND", strength=8.0, axis=(1.0, 0.0, 0.0)))
    assert after[0] - before[0] > 0.1


def force_of(field, x, mass=MASS):
    """Push [N] and drag [N s/m] on bodies without a skin at places."""
    x = np.asarray(x, float).reshape(-1, 3)
    body, skin, square = Forces.none(len(x)), Forces.none(len(x)), np.zeros(len(x))
    ones = np.ones(len(x))
    add_field(field, x, ones, mass * ones, 0.0 * ones, body, skin, square)
    return body.push, body.drag


@pytest.mark.parametrize(
    ("options", "place", "expected"),
    [
        ({}, (0, 0, 4), (0, 0, 10)),
        ({"power": 2.0}, (0, 3, 0), (0, 10 / 16, 0)),
        ({"power": 1.0, "min_distance": 1.0}, (0, 3, 0), (0, 10 / 3, 0)),
        ({"power": 1.0, "min_distance": 5.0}, (0, 3, 0), (0, 10, 0)),
        ({"max_distance": 2.0}, (0, 3, 0), (0, 0, 0)),
        ({"has_gravitation": True}, (2, 0, 0), (2.5, 0, 0)),
        ({"shape": "LINE"}, (3, 4, 9), (6, 8, 0)),
        ({"shape": "PLANE"}, (3, 4, -2), (0, 0, -10)),
        ({"side": "POSITIVE"}, (0, 0, -2), (0, 0, 0)),
        ({"side": "NEGATIVE"}, (0, 0, -2), (0, 0, -10)),
        ({"falloff": "TUBE", "max_radius": 1.0}, (0, 2, 0), (0, 0, 0)),
        ({"falloff": "TUBE", "max_radius": 3.0, "radial_power": 1.0, "shape": "PLANE"}, (0, 1, 5), (0, 0, 5)),
        ({"falloff": "CONE", "max_radius": 30.0}, (1, 0, 1), (0, 0, 0)),
        ({"falloff": "CONE", "max_radius": 50.0, "shape": "PLANE"}, (1, 0, 1), (0, 0, 10)),
    ],
)
def test_falloff_and_shapes(options, place, expected):
    push, drag = force_of(Field("FORCE", strength=10.0, **options), place)
    np.testing.assert_allclose(push[0], expected, atol=1e-12)
    assert drag[0] == 0.0


def test_an_axis_of_any_length_is_a_direction():
    push, _ = force_of(Field("WIND", strength=2.0, axis=(0.0, 0.0, -7.0)), (1.0, 2.0, 3.0))
    np.testing.assert_allclose(push[0], (0.0, 0.0, -2.0), atol=1e-15)


def test_a_negative_share_turns_the_push_round_and_not_the_drag():
    world = ball_world("RIGID")
    _, v = run(world, 4.0, Field("WIND", strength=8.0, flow=4.0, shares=(-0.5,)))
    assert v[2] == pytest.approx(-2.0 * (1.0 - math.exp(-0.5 * 4.0 * 4.0 / MASS)), rel=1e-9)


def test_turbulence_is_smooth_and_has_no_preferred_direction():
    x = np.random.default_rng(1).uniform(-40.0, 40.0, (20_000, 3))
    found = turbulence(x, 5)
    assert np.abs(found).max() < 1.05 and 0.1 < found.std() < 0.4
    np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=0.01)
    assert np.abs(np.corrcoef(found.T) - np.eye(3)).max() < 0.03
    nearby = turbulence(x + 1e-6, 5)
    assert np.abs(nearby - found).max() < 1e-4
    assert (turbulence(x, 5) == found).all() and (turbulence(x, 6) != found).any()


def test_unknown_values_are_refused():
    with pytest.raises(ParameterError, match="kind 'MAGNET'"):
        Field("MAGNET")
    with pytest.raises(ParameterError, match="NaN"):
        Field("WIND", strength=math.nan)
    with pytest.raises(ParameterError, match="axis of length 0"):
        Field("WIND", axis=(0.0, 0.0, 0.0))
    with pytest.raises(ParameterError, match="shares of 2 bodies; give 1"):
        ball_world("RIGID").advance_frame(FrameInput(fields=(Field("WIND", shares=(1.0, 1.0)),)))
    with pytest.raises(ParameterError, match="gravity: shares hold NaN"):
        ball_world("RIGID").advance_frame(FrameInput(gravity_shares=(math.nan,)))
