"""The compliance of volumes as the XPBD page counts it: one number for all tetrahedra, 0 included."""

import numpy as np
import pytest
import shapes
from softpressure_ext.core import FrameInput, ModelBuilder, ParameterError, World
from softpressure_ext.core.bodies.lattice.cells import tetrahedron_volumes


def cube(compliance=None, solver="XPBD", substeps=20, frames=0, ratio=0.3):
    """A cube of 27 cells that hangs from the points of its upper face."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    x, triangles = shapes.box(0.6, 3)
    top = np.flatnonzero(x[:, 2] > 0.299)
    builder.add_solid(
        "cube", x, triangles, cell_size=0.2, mass=20.0, modulus=1e4, poisson_ratio=ratio, damping=20.0, pinned=top,
        volume_compliance=compliance,
    )  # fmt: skip
    world = World(builder.build(), frame_rate=24.0, substeps=substeps, threads=1, solver=solver)
    for _ in range(frames):
        world.advance_frame()
    return world


def changes(world):
    """Change of each tetrahedron's volume as a share of it."""
    cells = world.model.tetrahedra
    return tetrahedron_volumes(world.save().positions, cells.points) / cells.rest_volume - 1.0


def test_every_tetrahedron_has_the_compliance_that_is_given():
    assert cube(2e-6).model.tetrahedra.stiffness == pytest.approx(5e5)
    # at Poisson's ratio 1/4 springs alone resist a change of volume: then the compliance is all there is
    assert len(cube(None, ratio=0.25).model.tetrahedra.points) == 0
    assert cube(2e-6, ratio=0.25).model.tetrahedra.stiffness == pytest.approx(5e5)
    assert np.isfinite(cube(0.0).model.tetrahedra.stiffness).all()


def test_one_projection_is_that_of_the_page():
    """lambda = -C / (sum w |grad C|^2 + alpha / h^2), one tetrahedron after another, in a loop of its own.

    With one compliance for all there is none for the sum of a cell's volumes.
    """
    from softpressure_ext.core.solvers.xpbd.volumes import project_volumes

    rng, h = np.random.default_rng(2), 1e-3
    for alpha in (0.0, 3e-5):
        cells = cube(alpha or None).model.tetrahedra
        number = len(cells.points) // 8
        stiffness = np.full(8 * number, np.inf if alpha == 0.0 else 1.0 / alpha)
        cells = cells._replace(stiffness=stiffness, sum_stiffness=np.zeros(number))
        count = cells.points.max() + 1
        x, w = rng.uniform(0.0, 0.6, (count, 3)), rng.uniform(0.1, 2.0, count)
        expected = x.copy()
        for points, rest in zip(cells.points, cells.rest_volume, strict=True):
            a, b, c, d = expected[points]
            gradient = np.array([np.cross(d - b, c - b), np.cross(c - a, d - a), np.cross(d - a, b - a),
                                 np.cross(b - a, c - a)]) / 6.0  # fmt: skip
            lack = np.dot(np.cross(b - a, c - a), d - a) / 6.0 - rest
            push = -lack / (w[points] @ (gradient**2).sum(axis=1) + alpha / h**2)
            expected[points] += push * w[points, None] * gradient
        project_volumes(x, w, cells, np.arange(number, dtype=np.int32), h)
        np.testing.assert_allclose(x, expected, rtol=1e-9, atol=1e-12)


def test_a_hanging_cube_of_no_compliance_keeps_each_volume():
    """What a sweep leaves is what gravity moves in a substep, and a small compliance comes to none, in proportion."""
    soft = np.abs(changes(cube(None, frames=24))).max()
    left = [np.abs(changes(cube(0.0, substeps=count, frames=24))).max() for count in (20, 40)]
    assert left[1] < 0.3 * left[0] < 0.03 * soft
    rigid = cube(0.0, frames=24).save().positions
    away = [np.abs(cube(a, frames=24).save().positions - rigid).max() for a in (1e-9, 1e-10)]
    assert away[0] / away[1] == pytest.approx(10.0, rel=0.1)


def test_a_modulus_that_changes_leaves_the_compliance():
    world = cube(2e-6, frames=1)
    world.advance_frame(FrameInput(values={0: {"modulus": 2e4}}))
    assert world.model.tetrahedra.stiffness == pytest.approx(5e5)


@pytest.mark.parametrize("solver", ["EXPLICIT", "RK4", "IMPLICIT_MESIT"])
def test_other_methods_take_a_compliance_but_not_none(solver):
    with pytest.raises(ParameterError, match=rf"cube: volume compliance 0; .* method {solver} all give\. Choose XPBD"):
        cube(0.0, solver=solver)
    cube(2e-6, solver=solver, substeps=60)


def test_trusses_have_no_volumes():
    builder = ModelBuilder()
    with pytest.raises(ParameterError, match="truss: volume compliance 0; a TRUSS has no volumes"):
        builder.add_solid("truss", *shapes.box(1.0, 2), kind="TRUSS", volume_compliance=0.0)
    with pytest.raises(ParameterError, match="cube: volume compliance -1 m"):
        cube(-1.0)
