"""Rigid springs of XPBD: compliance 0, edges that keep their length (the XPBD page; Macklin et al. 2016)."""

import numpy as np
import pytest
import shapes
from softpressure_ext.core import ModelBuilder, ParameterError, World

GRAVITY = 9.81


def hanging(substeps, rigid=True, modulus=1e4, kind="TRUSS"):
    """A bar of 2 kg that hangs from its upper end, after two seconds."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
    x, triangles = shapes.box(1.0, 4)
    x = x * (0.1, 0.1, 0.4)
    top = np.flatnonzero(x[:, 2] > 0.199)
    builder.add_solid(
        "bar", x, triangles, kind=kind, cell_size=0.1, mass=2.0, modulus=modulus, damping=20.0, pinned=top,
        rigid_springs=rigid,
    )  # fmt: skip
    return run(builder, substeps, 48)


def inflated(substeps, rigid=True, modulus=1e3, hangs=True):
    """A ball of 42 vertices under pressure that floats, or hangs from one of them, after two seconds."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY if hangs else 0.0))
    x, triangles = shapes.icosphere(1, 0.2)
    builder.add_membrane(
        "ball", x, triangles, mass=0.5, gauge_pressure=500.0, stretch_modulus=modulus, damping=10.0,
        pinned=[int(np.argmax(x[:, 2]))] if hangs else None, rigid_springs=rigid,
    )  # fmt: skip
    return run(builder, substeps, 48)


def run(builder, substeps, frames):
    world = World(builder.build(), frame_rate=24.0, substeps=substeps, threads=1, solver="XPBD")
    for _ in range(frames):
        world.advance_frame()
    return world


def strains(world):
    """Strain of each spring."""
    edges, x = world.model.edges, world.save().positions
    return np.linalg.norm(x[edges.points[:, 1]] - x[edges.points[:, 0]], axis=1) / edges.rest_length - 1.0


@pytest.mark.parametrize("kind", ["TRUSS", "SOLID"])
def test_a_hanging_solid_does_not_stretch(kind):
    """What a sweep leaves is what gravity moves in a substep, g h^2: a quarter with twice the substeps."""
    errors = [np.abs(strains(hanging(substeps, kind=kind))).max() for substeps in (20, 40, 80)]
    for coarse, fine in zip(errors[:-1], errors[1:], strict=True):
        assert coarse / fine == pytest.approx(4.0, rel=0.02)  # the next term is a strain of 0.2 % smaller
    h = 1.0 / (24.0 * 80)
    # moves of four cells below, over the length of a cell; a straight truss has exactly that, to rounding
    assert errors[-1] < 5.0 * GRAVITY * h * h / 0.1 * (1.0 + 1e-9)


def test_the_bar_would_stretch_without_rigid_springs():
    """rho g L / (2 E) of its length on average, with a density of 2 / (0.1 * 0.1 * 0.4) and E of 1e4."""
    soft = hanging(80, rigid=False)
    expected = 500.0 * GRAVITY * 0.4**2 / (2.0 * 1e4)
    lowest = soft.model.rest_positions[: soft.model.vertex_count, 2].min()
    sag = lowest - soft.save().positions[: soft.model.vertex_count, 2].min()
    # stretched by a tenth and narrowed, springs at an angle turn: the closed form is that of small strains
    assert sag == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize("scene", [hanging, inflated])
def test_a_small_compliance_comes_to_compliance_0(scene):
    """The moduli 1e8 and 1e10 give by a share w k h^2 less: differences fall with the compliance, to rounding."""
    rigid = scene(40).save().positions
    away = [np.abs(scene(40, False, modulus).save().positions - rigid).max() for modulus in (1e8, 1e9, 1e10)]
    for coarse, fine in zip(away[:-1], away[1:], strict=True):
        assert coarse / fine == pytest.approx(10.0, rel=0.1)  # of first order in the compliance


def test_the_edges_of_a_skin_under_pressure_come_to_their_lengths():
    """In proportion to h^2, once a sweep gives edges more stiffness, m / h^2, than the gas has: from 160 substeps."""
    errors, speeds = [], []
    for substeps in (20, 160, 320, 640):
        world = inflated(substeps, hangs=False)
        errors.append(np.abs(strains(world)).max())
        speeds.append(np.abs(world.velocities(0)).max())
    assert errors[0] > errors[1]
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.12)  # a tenth of the stiffness is still that of the gas
    assert errors[2] / errors[3] == pytest.approx(4.0, rel=0.04)  # a quarter of that
    assert errors[3] < 5e-5
    assert max(speeds) < 1e-6  # at rest


def test_pins_at_both_ends_of_a_rigid_spring_stay():
    """Nothing can move there, and nothing is divided by 0."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
    x, triangles = shapes.icosphere(1, 0.2)
    pinned = np.flatnonzero(x[:, 2] > 0.1)
    builder.add_membrane("ball", x, triangles, gauge_pressure=500.0, pinned=pinned, rigid_springs=True)
    world = run(builder, 20, 4)
    np.testing.assert_array_equal(world.positions(0)[pinned], x[pinned])
    assert np.isfinite(world.positions(0)).all()


@pytest.mark.parametrize("solver", ["EXPLICIT", "RK4", "IMPLICIT_MESIT"])
def test_other_methods_refuse_rigid_springs(solver):
    builder = ModelBuilder()
    builder.add_membrane("soft", *shapes.icosphere(1, 0.2))
    builder.add_membrane("hard", *shapes.icosphere(1, 0.2, (1.0, 0.0, 0.0)), rigid_springs=True)
    with pytest.raises(ParameterError, match=rf"hard: rigid springs; .* method {solver} all give\. Choose XPBD"):
        World(builder.build(), solver=solver)
