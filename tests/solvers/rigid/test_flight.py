"""Rigid bodies through `World`: flight, damping, the gyroscope, collisions' momenta, invariance, errors."""

import numpy as np
import pytest
import scenes
import shapes
from rigid_scenes import GRAVITY, angular_momentum, block, centre, momentum, run, velocity, world_of
from scipy.spatial.transform import Rotation
from softpressure_ext.core import MeshError, ModelBuilder, ParameterError, Reason, World
from validation import validated

#: Of the core, by solver.
ROOMS = {"EXPLICIT": "solvers/rigid", "XPBD": "solvers/xpbd"}
BOX = block((0.3, 0.2, 0.1), (0.5, -0.2, 5.0))


@pytest.mark.parametrize("solver", ROOMS)
def test_free_fall_is_exact(solver):
    """The scheme is of second order, and so is a parabola."""
    world = world_of(
        (BOX, {"velocity": (1.0, 2.0, 3.0), "angular_velocity": (3.0, 4.0, 5.0)}), substeps=8, solver=solver
    )
    spin = world.save().rigid.angular_momentum
    run(world, 1.0)
    validated(
        "centre of a box that tumbles and falls for 1 s", room=ROOMS[solver], measured=centre(world),
        expected=[1.5, 1.8, 8.0 - 0.5 * GRAVITY], unit="m", abs=1e-12, source="x0 + v0 t + g t²/2", reason="rounding",
    )  # fmt: skip
    validated(
        "velocity of a box that tumbles and falls for 1 s", room=ROOMS[solver], measured=velocity(world),
        expected=[1.0, 2.0, 3.0 - GRAVITY], unit="m/s", abs=1e-12, source="v0 + g t", reason="rounding",
    )  # fmt: skip
    validated(
        "angular momentum of a box that tumbles and falls for 1 s", room=ROOMS[solver], unit="kg m²/s", abs=1e-10,
        measured=world.save().rigid.angular_momentum, expected=spin, source="conserved", reason="rounding",
    )  # fmt: skip


def test_points_move_with_their_body():
    world = world_of((BOX, {"angular_velocity": (3.0, -4.0, 5.0)}))
    before = angular_momentum(world_of((BOX, {"angular_velocity": (3.0, -4.0, 5.0)}), gravity=(0.0, 0.0, 0.0)))
    run(world, 0.5)
    speed, spin = world.rigid_velocity(0)
    transform = world.rigid_transform(0)
    x = BOX[0] @ transform[:3, :3].T + transform[:3, 3]
    np.testing.assert_allclose(world.rigid_positions(0), x, rtol=0, atol=1e-14)
    np.testing.assert_allclose(transform[:3, :3] @ transform[:3, :3].T, np.eye(3), rtol=0, atol=1e-14)
    state = world.save()
    expected = speed + np.cross(spin, x - centre(world))
    np.testing.assert_allclose(state.velocities, expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(state.rigid.angular_momentum[0], before, rtol=0, atol=1e-14)


def test_damping_is_exponential():
    spin = (0.0, 0.0, 9.0)
    world = world_of(
        (BOX, {"velocity": (2.0, 0.0, 0.0), "angular_velocity": spin, "linear_damping": 0.7, "angular_damping": 1.9}),
        gravity=(0.0, 0.0, 0.0),
    )
    run(world, 1.5)
    validated(
        "velocity of a damped box after 1.5 s", room="solvers/rigid", measured=velocity(world),
        expected=[2.0 * np.exp(-1.05), 0.0, 0.0], unit="m/s", abs=1e-13, source="v0 exp(-d t)", reason="rounding",
    )  # fmt: skip
    validated(
        "angular velocity of a damped box after 1.5 s", room="solvers/rigid", measured=world.rigid_velocity(0)[1],
        expected=[0.0, 0.0, 9.0 * np.exp(-2.85)], unit="1/s", abs=1e-12, source="ω0 exp(-d t)", reason="rounding",
    )  # fmt: skip


# --- collisions ------------------------------------------------------------------------------------------------


def colliding(friction=0.5, bounciness=0.6, solver="EXPLICIT"):
    """Two tumbling boxes and a turned one between, that meet off centre without gravity."""
    turn = Rotation.from_euler("xyz", (0.3, 0.5, 0.2)).as_matrix()
    return world_of(
        (block((0.3, 0.2, 0.2), (-0.4, 0.03, 0.0)), {"velocity": (3.0, 0.0, 0.0), "mass": 1.0}),
        (block((0.2, 0.3, 0.2), (0.1, 0.0, 0.05), turn), {"mass": 2.0}),
        (block((0.2, 0.2, 0.2), (0.7, 0.1, 0.0)), {"velocity": (-2.0, 0, 0), "angular_velocity": (5.0, 1.0, 0.0)}),
        gravity=(0.0, 0.0, 0.0), friction=friction, bounciness=bounciness, substeps=8, solver=solver,
    )  # fmt: skip


@pytest.mark.parametrize(("solver", "friction"), [("EXPLICIT", 0.0), ("EXPLICIT", 0.5), ("XPBD", 0.5)])
def test_collisions_of_boxes_keep_momenta(solver, friction):
    world = colliding(friction, solver=solver)
    before, turning = momentum(world), angular_momentum(world)
    first = velocity(world, 0).copy()
    run(world, 0.5)
    assert np.linalg.norm(velocity(world, 0) - first) > 1.0
    validated(
        "momentum of three boxes that collide", room=ROOMS[solver], measured=momentum(world), expected=before,
        unit="kg m/s", abs=1e-12, source="conserved", reason="rounding",
    )  # fmt: skip
    # friction acts on two surfaces up to a thickness (5 mm) apart: that much of exchanged impulses of some 3 N s
    np.testing.assert_allclose(angular_momentum(world), turning, rtol=0, atol=1e-12 if friction == 0.0 else 5e-3)


@pytest.mark.parametrize("seed", [5, 7, 13, 23, 41, 59])
def test_crossed_edges_that_meet_at_speed_stop_each_other(seed):
    """The contact that stops them must not be lost in mid-impact: one would go through the other, or be held by limits.

    Impulses alone do it: neither is the motion limited, nor do sweeps end unsettled.
    """
    rng = np.random.default_rng(seed)
    builder, speed = ModelBuilder(gravity=(0.0, 0.0, 0.0)), rng.uniform(3.0, 8.0)
    lean, turn = np.pi / 4 + rng.uniform(-0.2, 0.2, 2), np.pi / 2 + rng.uniform(-0.6, 0.6)
    low = Rotation.from_euler("x", lean[0]).as_matrix()
    high = Rotation.from_euler("xz", (lean[1], turn)).as_matrix()
    place = (*rng.uniform(-0.03, 0.03, 2), 0.12 * np.sqrt(2.0) + rng.uniform(0.005, 0.03))
    builder.add_rigid("low", *block((0.12, 0.12, 0.12), turn=low), mass=0.3)
    builder.add_rigid(
        "high", *block((0.12, 0.12, 0.12), place, high), mass=0.3, velocity=(*rng.uniform(-1.0, 1.0, 2), -speed)
    )
    scenes.add_ball(builder, scenes.BASKETBALL, 1, (5.0, 5.0, 5.0))  # so that the solver is the explicit one
    world = World(builder.build(), frame_rate=24.0, substeps=10, threads=1, solver="EXPLICIT")
    before, turning, reasons = momentum(world), angular_momentum(world), set()
    for _ in scenes.played(world, 4):
        reasons |= {finding.reason for report in world.reports() for finding in report.reasons}
    assert velocity(world, 0)[2] < -0.3 * speed
    np.testing.assert_allclose(momentum(world), before, rtol=0, atol=1e-13)
    np.testing.assert_allclose(angular_momentum(world), turning, rtol=0, atol=1e-13)
    assert not reasons & {Reason.KEPT_APART, Reason.STOPPED, Reason.NO_ROOM, Reason.CROSSED, Reason.NOT_CONVERGED}


# --- invariance --------------------------------------------------------------------------------------------------


def falling(turn=None, away=(0.0, 0.0, 0.0), scale=1.0, threads=1):
    """A tilted box falls on a floor; all turned, moved, or larger."""
    turn = np.eye(3) if turn is None else turn
    lean = Rotation.from_euler("xyz", (0.3, 0.4, 0.1)).as_matrix()
    builder = ModelBuilder(gravity=scale * turn @ [0.0, 0.0, -GRAVITY])
    x, triangles = block((0.3, 0.2, 0.2), (0.0, 0.0, 0.3), lean)
    builder.add_rigid("box", scale * x @ turn.T + away, triangles, bounciness=0.4, mass=scale**3)
    x, triangles = shapes.grid(4.0)
    builder.add_collider("floor", scale * x @ turn.T + away, triangles, bounciness=0.4)
    return World(builder.build(), frame_rate=60.0, substeps=4, threads=threads, solver="EXPLICIT")


@pytest.mark.parametrize(
    ("turn", "away", "scale"),
    [(Rotation.from_euler("xyz", (1.0, -0.5, 0.3)).as_matrix(), (0, 0, 0), 1.0), (None, (1000.0, -500.0, 300.0), 1.0),
     (None, (0, 0, 0), 10.0), (None, (0, 0, 0), 0.1)],
    ids=["turned", "a kilometre away", "large", "small"],
)  # fmt: skip
def test_a_landing_is_the_same_turned_far_away_and_scaled(turn, away, scale):
    """Up to the first touch of a second corner, some 0.1 s after the first: then differences grow."""
    plain, other = falling(), falling(turn, away, scale)
    run(plain, 0.25)
    run(other, 0.25)
    assert np.linalg.norm(plain.rigid_velocity(0)[1]) > 1.0  # it has landed, and turns
    turn = np.eye(3) if turn is None else turn
    expected = scale * plain.rigid_positions(0) @ turn.T + away
    # roundings of 1e-13 m a kilometre away, against a thickness of 2 mm; forces that count as none are not scaled
    np.testing.assert_allclose(
        other.rigid_positions(0), expected, rtol=0, atol=scale * (1e-7 if scale == 1.0 else 1e-4)
    )


# --- errors --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"velocity": (0.0, 1.0)}, ("crate", "velocity", "three")),
        ({"angular_velocity": (0.0, np.nan, 1.0)}, ("crate", "angular velocity", "finite")),
    ],
)  # fmt: skip
def test_wrong_numbers_are_answered_with_a_sentence(options, words):
    with pytest.raises(ParameterError) as error:
        ModelBuilder().add_rigid("crate", *BOX, **options)
    assert all(word in str(error.value) for word in words) and str(error.value).endswith(".")


def test_wrong_meshes_are_answered_with_a_sentence():
    x, triangles = BOX
    bad = x.copy()
    bad[3, 1] = np.nan
    for mesh in ((x, triangles[1:]), (x, triangles[:, ::-1]), (bad, triangles), (x, triangles[:0])):
        with pytest.raises(MeshError) as error:
            ModelBuilder().add_rigid("crate", *mesh)
        assert "crate" in str(error.value)
    for mesh in ((x[:, :2], triangles), (x, triangles[:, :2])):
        with pytest.raises(ParameterError, match=r"crate: .* of shape"):
            ModelBuilder().add_rigid("crate", *mesh)
    world = world_of((BOX, {}))
    for number in (-1, 1):
        with pytest.raises(ParameterError, match="the model has 1"):
            world.rigid_positions(number)
