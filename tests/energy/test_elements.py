"""An energy is its elements, a function with derivatives, and one entry in a list: then every solver has it."""

import numba
import numpy as np
import pytest
import shapes
from rigid_scene import block
from scenes import BEACH_BALL, Ball, add_ball, centre, played
from softpressure_ext.core import ModelBuilder, ParameterError, World
from softpressure_ext.core.energy import energies
from softpressure_ext.core.energy.elements import Energy, Part
from softpressure_ext.core.energy.energies import ENERGIES
from softpressure_ext.core.energy.stiffening import STIFFENING
from softpressure_ext.core.options import DEFAULTS
from softpressure_ext.core.solvers.explicit.layout import lay_out
from softpressure_ext.core.solvers.explicit.skins import accelerate, skins_of
from softpressure_ext.core.solvers.explicit.stability import DASHPOT_RATIO, SAFETY, plan_steps
from softpressure_ext.core.state import State
from softpressure_ext.core.team import team_of_one

#: Where each body is pulled to, from where it starts [m], and how hard [1/s^2]: k = mass * PULL.
AWAY = np.array([0.03, -0.02, 0.05])
PULL = np.array([[90.0, 10.0, -5.0], [10.0, 60.0, 20.0], [-5.0, 20.0, 120.0]])
SLACK = Ball(0.2, 0.2, 0.0, 2e4)


@numba.njit
def tether(parameters, first, x, y, z):
    """phi = d' K d / 2 of a symmetric matrix K: xx, yy, zz, xy, xz, yz."""
    a, b, c = parameters[first], parameters[first + 1], parameters[first + 2]
    d, e, f = parameters[first + 3], parameters[first + 4], parameters[first + 5]
    gx, gy, gz = a * x + d * y + e * z, d * x + b * y + f * z, e * x + f * y + c * z
    return 0.5 * (gx * x + gy * y + gz * z), gx, gy, gz, a, b, c, d, e, f


@numba.njit
def quartic(parameters, first, x, y, z):
    """phi = k |d|^4 / 4."""
    k = parameters[first]
    s = k * (x * x + y * y + z * z)
    value = 0.25 * s * (x * x + y * y + z * z)
    xx, yy, zz = s + 2.0 * k * x * x, s + 2.0 * k * y * y, s + 2.0 * k * z * z
    return value, s * x, s * y, s * z, xx, yy, zz, 2.0 * k * x * y, 2.0 * k * x * z, 2.0 * k * y * z


def tethered(target, pull=PULL):
    """An energy: a tether at every point that moves; those of a rigid body share its mass.

    `target`: from where points start to where they are pulled [m].
    """

    def elements(model):
        count, sizes = model.moving_point_count, np.diff(model.rigid.point_start)
        mass = np.concatenate([model.vertex_mass, np.repeat(model.rigid.mass / sizes, sizes)])
        points = np.repeat(np.arange(count)[:, None], 4, axis=1)
        entries = pull[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        weights = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
        return Part(points, weights, target(model.rest_positions[:count]), mass[:, None] * entries)

    return Energy("tether", elements, tether)


def pairs(model):
    """Quartic springs between the first vertices and the last ones, and what lies between them."""
    n = model.vertex_count
    first, last = np.arange(5), n - 1 - np.arange(5)
    return Part(
        np.stack([first, last, first + 5, last - 5], axis=1), np.tile([1.0, -0.75, -0.5, 0.25], (5, 1)),
        np.full((5, 3), 0.01), np.full((5, 1), 3e3),
    )  # fmt: skip


TETHER, QUARTIC = tethered(lambda x: x + AWAY), Energy("quartic", pairs, quartic)


@pytest.fixture
def listed(monkeypatch):
    """The list with two more energies."""
    monkeypatch.setattr(energies, "ENERGIES", (*ENERGIES, TETHER, QUARTIC))


@pytest.fixture
def with_tether(monkeypatch):
    """The list with one more energy."""
    monkeypatch.setattr(energies, "ENERGIES", (*ENERGIES, TETHER))


def ball():
    """A ball of 42 vertices in empty space, at rest as it is drawn."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    add_ball(builder, SLACK, 1, bend_modulus=0.01)
    return builder.build()


def glued_balls():
    """Two balls, one glued to the other across a gap."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    for place in (0.0, 2.02 * BEACH_BALL.radius):
        add_ball(builder, BEACH_BALL, 1, (place, 0.0, 0.0), name=f"ball {place:g}")
    builder.attach_to_membrane(0, [0, 1], 1)
    return builder.build()


def expected_force(model, x):
    """Force on each point [N] of the tethers and the quartic springs."""
    force = np.zeros_like(x)
    for part, function in ((TETHER.elements(model), tether), (pairs(model), quartic)):
        for points, weights, offset, parameters in zip(*part, strict=True):
            gradient = function(parameters, 0, *(weights @ x[points] - offset))[1:4]
            for i, w in zip(points, weights, strict=True):
                force[i] -= w * np.array(gradient)
    return force


@pytest.mark.parametrize(
    "energy", [*(each for each in ENERGIES if each is not STIFFENING), TETHER, QUARTIC], ids=lambda energy: energy.name
)
def test_derivatives_are_those_of_the_energy(energy):
    part, rng, step = energy.elements(glued_balls()), np.random.default_rng(3), 1e-6
    assert len(part.points) > 0
    for parameters in part.parameters[:5]:
        d = rng.normal(0.0, 0.1, 3)

        def value(d, parameters=parameters):
            return np.array(energy.potential(np.ascontiguousarray(parameters), 0, *d))

        found = value(d)
        rows = [(value(d + step * axis) - value(d - step * axis)) / (2.0 * step) for axis in np.eye(3)]
        size = np.abs(found[4:]).max()
        np.testing.assert_allclose([row[0] for row in rows], found[1:4], rtol=0, atol=1e-7 * size)
        xx, yy, zz, xy, xz, yz = found[4:]
        matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        np.testing.assert_allclose([row[1:4] for row in rows], matrix, rtol=0, atol=1e-6 * size)
        assert np.linalg.eigvalsh(matrix)[0] >= -1e-9 * size


def velocities(model, x):
    """What forces at x give unit masses in a second, in explicit steps [N]."""
    numbering, _ = lay_out(model)
    skins, flat = skins_of(model, numbering), np.zeros((model.point_count, 4))
    skins.gas.amount[:] = State.at_rest(model).gas
    flat[:, :3] = x[numbering.point]
    velocity, scratch = np.zeros(4 * model.point_count), np.zeros(4 * model.point_count)
    accelerate(flat.ravel(), skins, velocity, np.ones(model.point_count), 1.0, 0.0, 0.0, 0.0, scratch, team_of_one())
    return velocity.reshape(-1, 4)[numbering.place, :3]


def test_explicit_steps_have_the_force(listed, monkeypatch):
    model = ball()
    x = model.rest_positions + np.random.default_rng(1).normal(0.0, 2e-3, model.rest_positions.shape)
    found = velocities(model, x)
    with monkeypatch.context() as without:
        without.setattr(energies, "ENERGIES", ENERGIES)
        bare = velocities(model, x)
    np.testing.assert_allclose(found - bare, expected_force(model, x), rtol=0, atol=1e-9 * np.abs(found).max())


def test_explicit_steps_are_as_short_as_stiff_elements_ask_for(monkeypatch):
    soft = plan_steps(ball(), DEFAULTS).square
    stiff = tethered(lambda x: x, 10.0 * soft * np.diag([0.25, 0.5, 1.0]))
    monkeypatch.setattr(energies, "ENERGIES", (*ENERGIES, stiff))
    plan = plan_steps(ball(), DEFAULTS)
    assert 10.0 * soft < plan.square < 11.0 * soft * (1.0 + 1e-4)  # no more than both together, but for rounding up
    assert plan.square <= plan.bound
    dashpots = np.sqrt(1.0 + DASHPOT_RATIO**2) - DASHPOT_RATIO
    assert plan.step == pytest.approx(SAFETY * dashpots * 2.0 / np.sqrt(plan.square))


#: Substeps per frame, and the error of a swing as a share of it. Velocities of explicit steps begin half a step late;
#: XPBD's steps are those of implicit Euler's method; the others' errors are of higher order.
SOLVERS = {"EXPLICIT": (10, 2.5e-3), "RK4": (120, 1e-5), "XPBD": (100, 1e-2)}


def swung(time):
    """Where the middle of a body is that starts at rest [m]: x'' = -PULL (x - AWAY)."""
    square, axes = np.linalg.eigh(PULL)
    return AWAY - axes @ (np.cos(np.sqrt(square) * time) * (axes.T @ AWAY))


@pytest.mark.usefixtures("with_tether")
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_body_on_tethers_swings_at_the_frequencies_of_their_matrix(solver):
    substeps, lost = SOLVERS[solver]
    world = World(ball(), frame_rate=24.0, substeps=substeps, threads=1, solver=solver)
    start = centre(world)
    for frame in played(world, 12):
        np.testing.assert_allclose(
            centre(world) - start, swung(frame / 24.0), rtol=0, atol=lost * np.linalg.norm(AWAY), err_msg=f"{frame}"
        )


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_body_whose_tethers_are_turned_turns_to_and_fro(solver, monkeypatch):
    """As each pulls by its mass, a small turn swings at the same frequency, without deforming the body."""
    angle, square = 0.05, 80.0
    turn = shapes.rotation((0.0, 0.0, 1.0), angle)
    turned = tethered(lambda x: x @ turn.T, square * np.eye(3))
    monkeypatch.setattr(energies, "ENERGIES", (*ENERGIES, turned))
    substeps, lost = SOLVERS[solver]
    world = World(ball(), frame_rate=24.0, substeps=substeps, threads=1, solver=solver)
    start = world.positions(0)
    for frame in played(world, 12):
        x = world.positions(0)
        found = np.arctan2(
            (start[:, 0] * x[:, 1] - start[:, 1] * x[:, 0]).sum(), (start[:, :2] * x[:, :2]).sum()
        )  # fmt: skip
        expected = angle * (1.0 - np.cos(np.sqrt(square) * frame / 24.0))
        assert found == pytest.approx(expected, abs=(lost + 1e-3) * angle)  # of the sine: the period of a pendulum


@pytest.mark.usefixtures("with_tether")
def test_a_rigid_body_on_tethers_swings_at_the_same_frequencies():
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_rigid("box", *block((0.2, 0.2, 0.2), (0.0, 0.0, 0.0)), mass=2.0)
    world = World(builder.build(), frame_rate=24.0, substeps=120, threads=1, solver="RK4")
    for frame in played(world, 12):
        found = world.rigid_transform(0)[:3, 3]
        np.testing.assert_allclose(found, swung(frame / 24.0), rtol=0, atol=1e-8 * np.linalg.norm(AWAY))


@pytest.mark.usefixtures("with_tether")
@pytest.mark.parametrize("solver", ["EXPLICIT", "XPBD"])
def test_what_pulls_rigid_bodies_is_refused_where_it_is_not_known(solver):
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    add_ball(builder, BEACH_BALL, 1)
    builder.add_rigid("box", *block((0.2, 0.2, 0.2), (0.0, 0.0, 1.0)), mass=2.0)
    with pytest.raises(ParameterError, match="box: a rigid body that an energy of elements pulls"):
        World(builder.build(), solver=solver)
