"""The papers' own quantities: amount of gas and temperature, one spring constant, one point mass."""

import math

import numpy as np
import pytest
import shapes
from softpressure_ext.core import FrameInput, MethodOptions, ModelBuilder, ParameterError, World, moles, nrt
from softpressure_ext.core.animation.keyed import NAMES
from softpressure_ext.core.model import GAS_CONSTANT
from softpressure_ext.core.topology import signed_volume

AIR = 101_325.0
RADIUS, SPRING, POINT_MASS = 1.0, 200.0, 0.1
#: Edge over radius of an icosahedron, squared: 4 / (phi sqrt 5).
EDGE2 = 4.0 / (0.5 * (1.0 + math.sqrt(5.0)) * math.sqrt(5.0))
#: n R T = 1 J for a mole, as in the experiments with texts that give moles and no temperature.
COLD = 1.0 / GAS_CONSTANT


def weightless(air=0.0):
    return ModelBuilder(gravity=(0.0, 0.0, 0.0), ambient_pressure=air)


def icosahedron(amount=0.0, **options):
    """12 points and 30 edges, which change alike as it breathes: together a spring of 30 k (L / R)^2."""
    builder = weightless()
    values = {"spring_constant": SPRING, "point_mass": POINT_MASS, "gas_amount": amount, "temperature": COLD, **options}
    builder.add_membrane("ball", *shapes.icosphere(0, RADIUS), **values)
    return builder.build()


def radius(world):
    x = world.positions(0)
    return float(np.linalg.norm(x - x.mean(axis=0), axis=1).mean())


def circle(count=24, radius=0.5):
    return shapes.upright(shapes.ring(count, radius))


SQUARE = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 0.0, 1.0), (0.0, 0.0, 1.0)])
#: A skin, a loop, a truss, a jelly and a flat truss: how each is added, and its points as the caller counts them.
KINDS = (
    ("add_membrane", shapes.icosphere(2, 0.5), {}, 162),
    ("add_loop", (circle(),), {"depth": 0.1}, 24),
    ("add_solid", shapes.box(0.5, 2), {"kind": "TRUSS", "cell_size": 0.25}, 27),
    ("add_solid", shapes.box(0.5, 2), {"poisson_ratio": 0.4, "cell_size": 0.25}, 27),
    ("add_flat_truss", (SQUARE,), {"depth": 0.1, "cell_size": 0.25}, 25),
)


def of_kinds(*numbers, **given):
    """A model of these kinds of bodies."""
    builder = ModelBuilder()
    for number in numbers:
        method, mesh, options, _ = KINDS[number]
        getattr(builder, method)(f"body {number}", *mesh, **options, **given)
    return builder.build()


def springs_of(model, body):
    """Spring constants [N/m] of the edges as the caller counts them, and their lengths [m]; copies are one edge."""
    own = model.point_body[model.edges.points[:, 0]] == body
    copies = 2 if model.flat.depth[body] else 1
    return copies * model.edges.stiffness[own], model.edges.rest_length[own], copies


def test_every_edge_has_the_spring_constant_and_every_point_the_mass() -> None:
    model = of_kinds(*range(5), spring_constant=300.0, point_mass=0.02)
    for body, (*_, count) in enumerate(KINDS):
        stiffness, _, copies = springs_of(model, body)
        masses = copies * model.vertex_mass[slice(*model.body_point_start[body : body + 2])]
        assert len(masses) == copies * count
        np.testing.assert_allclose(stiffness, 300.0, rtol=1e-15)
        np.testing.assert_allclose(masses, 0.02, rtol=1e-15)
        assert model.body_mass[body] == pytest.approx(0.02 * count, rel=1e-14)
        assert model.body_mass[body] == pytest.approx(masses.sum() / copies, rel=1e-14)


def test_the_modulus_that_is_told_has_the_same_sum_of_k_l2() -> None:
    """Built with it, a body resists an even strain as much as with the spring constant; a jelly keeps its volume so."""
    model = of_kinds(*range(5), spring_constant=300.0)
    for body in range(5):
        modulus = float(model.stretch_modulus[body] + model.young_modulus[body])
        other = of_kinds(body, **{"stretch_modulus" if body < 2 else "modulus": modulus})
        (k, length, _), (k2, length2, _) = springs_of(model, body), springs_of(other, 0)
        assert k2 @ length2**2 == pytest.approx(k @ length**2, rel=1e-12)
        if body == 3:
            cells = model.point_body[model.tetrahedra.points[:, 0]] == body
            np.testing.assert_allclose(model.tetrahedra.stiffness[cells], other.tetrahedra.stiffness, rtol=1e-12)
            of_sums = model.tetrahedra.sum_stiffness[cells[::8]]
            np.testing.assert_allclose(of_sums, other.tetrahedra.sum_stiffness, rtol=1e-12)


@pytest.mark.parametrize("air", [0.0, AIR])
@pytest.mark.parametrize("drawn_shape", ["SLACK", "INFLATED"])
def test_the_pressure_is_that_of_the_amount_of_gas(air: float, drawn_shape: str) -> None:
    """p = nRT / V - p_a, and a skin that is drawn inflated keeps it."""
    x, triangles = shapes.icosphere(2, 0.2)
    wanted = 3_000.0
    amount = moles((wanted + air) * signed_volume(x, triangles), 300.0)
    builder = weightless(air)
    builder.add_membrane(
        "ball", x, triangles, gas_amount=amount, temperature=300.0, drawn_shape=drawn_shape, pressure_at="REST",
        stretch_modulus=2e4, damping=20.0,
    )  # fmt: skip
    model = builder.build()
    assert model.gauge_pressure[0] == pytest.approx(wanted, rel=1e-9)  # rounding of a difference of 1e5 Pa
    world = World(model, frame_rate=24.0, solver="EXPLICIT", threads=1)
    body = world.diagnostics().bodies[0]
    assert body.gas == pytest.approx(amount * GAS_CONSTANT * 300.0, rel=1e-12)
    for _ in range(24):
        world.advance_frame()
    body = world.diagnostics().bodies[0]
    assert body.gauge_pressure == pytest.approx(nrt(amount, 300.0) / body.volume - air, rel=1e-9)
    if drawn_shape == "INFLATED":
        assert body.volume_ratio == pytest.approx(1.0, abs=2e-3)  # what the search for the rest lengths leaves


def test_a_loop_has_its_amount_of_gas_in_area_times_depth() -> None:
    builder = weightless(AIR)
    points = circle(32, 0.3)
    area = 0.5 * 32 * 0.3**2 * math.sin(2.0 * math.pi / 32)
    builder.add_loop("loop", points, depth=0.1, gas_amount=2.0, temperature=350.0)
    model = builder.build()
    assert model.gauge_pressure[0] == pytest.approx(nrt(2.0, 350.0) / (0.1 * area) - AIR, rel=1e-9)


@pytest.mark.parametrize("rule, bodies", [("BOUNDING_BOX", "skin"), ("CENTRE_FAN", "skin"), ("CENTRE_FAN", "loop")])
def test_other_rules_for_the_volume_take_the_amount_as_it_is(rule: str, bodies: str) -> None:
    """As in Mesit 2007: p = nRT over the volume of the box. A ball's box makes the pressure pi/6 of that of its gas."""
    builder, x = weightless(), shapes.icosphere(3, 0.5)[0]
    if bodies == "skin":
        builder.add_membrane("skin", *shapes.icosphere(3, 0.5), gas_amount=7.0)
    else:
        builder.add_loop("loop", circle(), depth=0.1, gas_amount=7.0)
    model = builder.build()
    told = {
        "BOUNDING_BOX": np.ptp(x, axis=0).prod(),
        "CENTRE_FAN": model.drawn_volume[0],  # its centre sees all of either
    }[rule]
    world = World(model, solver="RK4", threads=1, options=MethodOptions(volume=rule))
    assert world.diagnostics().bodies[0].gauge_pressure == pytest.approx(nrt(7.0) / told, rel=1e-9)


def frequency(world, seconds, given=None):
    """Angular frequency [1/s] of the radius over the next frames, by the fit of r'' = -w^2 (r - mean)."""
    rate = world.frame_rate
    r = []
    for frame in range(round(seconds * rate)):
        world.advance_frame(given if frame == 0 and given else None)
        r.append(radius(world))
    middle = np.array(r[1:-1])
    ahead = np.array(r[2:]) + np.array(r[:-2])
    # of an oscillation: r(t + h) + r(t - h) = 2 cos(w h) r(t) + const
    slope = np.polyfit(middle, ahead, 1)[0]
    return math.acos(0.5 * slope) * rate


@pytest.mark.parametrize("solver, substeps", [("RK4", 20), ("EXPLICIT_EULER", 100), ("EXPLICIT", 1)])
def test_an_icosahedron_breathes_with_the_frequency_of_its_springs(solver: str, substeps: int) -> None:
    """w^2 = 30 k (L / R)^2 / (12 m); keyed from 200 to 1 000 N/m while it runs as the root of it (Mesit, fig. 3)."""
    world = World(icosahedron(), frame_rate=60.0, substeps=substeps, solver=solver, threads=1)
    world.set_positions(0, 1.05 * world.positions(0))
    expected = math.sqrt(2.5 * EDGE2 * SPRING / POINT_MASS)
    # symplectic Euler, also of the explicit method, is off by (w h)^2 / 24: its own steps are at most 1.8 / w_max long
    tolerance = {"RK4": 1e-5, "EXPLICIT_EULER": 1e-4, "EXPLICIT": 0.03}[solver]
    assert frequency(world, 0.5) == pytest.approx(expected, rel=tolerance)
    keyed = FrameInput(values={0: {"spring_constant": 5.0 * SPRING}})
    assert frequency(world, 0.5, keyed) == pytest.approx(math.sqrt(5.0) * expected, rel=tolerance)


def equilibrium(gas):
    """Radius [m] where 30 k (L / R)^2 (r - R) = 3 nRT / r: springs against gas, without air."""
    stiffness = 30.0 * EDGE2 * SPRING
    return 0.5 * (RADIUS + math.sqrt(RADIUS**2 + 12.0 * gas / stiffness))


@pytest.mark.parametrize("solver, substeps", [("RK4", 20), ("EXPLICIT", 1), ("IMPLICIT_MESIT", 40)])
def test_gas_that_is_let_out_while_it_runs_leaves_the_radius_of_the_closed_form(solver: str, substeps: int) -> None:
    """Mesit, figure 5: 700 to 100 mol."""
    world = World(icosahedron(700.0, damping=10.0), frame_rate=60.0, substeps=substeps, solver=solver, threads=1)
    for amount in (700.0, 100.0):
        for frame in range(75):
            world.advance_frame(FrameInput(gas={0: nrt(amount, COLD)}) if frame == 0 else None)
            body = world.diagnostics().bodies[0]
            assert body.gas == pytest.approx(amount, rel=1e-12)
            assert body.gauge_pressure == pytest.approx(amount / body.volume, rel=1e-12)
        assert radius(world) == pytest.approx(
            equilibrium(amount), rel=1e-3
        )  # 12 decay times: what remains is the fit of the step


def test_a_state_of_an_earlier_version_has_no_spring_constants() -> None:
    """Their columns are the last of the animated values; what such a state does not have is that of the model."""
    world = World(icosahedron(), solver="RK4", threads=1)
    state = world.save()
    column = NAMES.index("spring_constant")
    state.keyed.values = state.keyed.values[:, :column]
    world.load(state)
    world.advance_frame()
    assert world.save().keyed.values[0, column] == SPRING


def test_what_cannot_be_keyed_is_named() -> None:
    world = World(icosahedron(1.0), solver="RK4", threads=1)
    with pytest.raises(ParameterError, match=r"ball: stretch_modulus; what can change there is .*spring_constant"):
        world.advance_frame(FrameInput(values={0: {"stretch_modulus": 1.0}}))
    with pytest.raises(ParameterError, match="ball: amount of gas and gauge pressure; give one of them"):
        world.advance_frame(FrameInput(gas={0: 1.0}, gauge_pressure={0: 1.0}))
    with pytest.raises(ParameterError, match=r"ball: amount of gas, nRT, -1 J; give a number at least 0"):
        world.advance_frame(FrameInput(gas={0: -1.0}))
    builder = ModelBuilder()
    builder.add_solid("jelly", *shapes.box(0.5, 2))
    jelly = World(builder.build(), solver="RK4", threads=1)
    with pytest.raises(ParameterError, match="jelly: amount of gas; a solid has none"):
        jelly.advance_frame(FrameInput(gas={0: 1.0}))


def test_a_skin_that_its_gas_stretches_too_far_is_told_in_the_quantities_that_are_given() -> None:
    x, triangles = shapes.icosphere(2, 0.2)
    builder = ModelBuilder()
    gas = (AIR + 5e3) * signed_volume(x, triangles)
    builder.add_membrane(
        "ball", x, triangles, gas_amount=moles(gas), spring_constant=100.0, drawn_shape="INFLATED", point_mass=0.01
    )
    model = builder.build()
    sentence = model.fillings[0].complaint(float(model.gauge_pressure[0]))
    assert "Lower the amount of gas to 9" in sentence and "% of that, or raise the spring constant to" in sentence


def test_equal_springs_that_are_too_stiff_are_named_as_they_are_given() -> None:
    builder = weightless()
    builder.add_membrane("ball", *shapes.icosphere(1, 0.5), spring_constant=1e12, point_mass=0.01)
    with pytest.raises(
        ParameterError, match=r"ball: spring constant 1e\+12 N/m at a mass of .* Lower the spring const"
    ):
        World(builder.build(), solver="EXPLICIT", threads=1)
