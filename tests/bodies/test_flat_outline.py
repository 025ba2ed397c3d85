"""Outlines: the bands that the builder makes of them, and refusals."""

import numpy as np
import pytest
import shapes
from force_scene import hinge_energies
from softpressure_ext.core import MeshError, ModelBuilder, ParameterError
from softpressure_ext.core.bodies.flat.outline import boundary, is_flat, outline_of
from softpressure_ext.core.topology import check_closed_surface

SQUARE = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], float)
BARK = shapes.bark(120)


def loop_model(flat, outline=None, **options):
    builder = ModelBuilder()
    builder.add_loop("Ring", shapes.upright(flat), outline, **options)
    return builder.build()


def ring_edges(count):
    corner = np.arange(count)
    return np.stack([corner, (corner + 1) % count], axis=1)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("as_edges", [False, True])
def test_a_concave_outline_in_any_order_becomes_a_closed_band_of_its_area(as_edges, backwards):
    rng = np.random.default_rng(3)
    shuffle = rng.permutation(len(BARK))  # the caller's numbers run anyhow
    place = np.argsort(shuffle)
    points = BARK[shuffle]
    outline = place[::-1] if backwards else place
    if as_edges:
        outline = rng.permutation(place[ring_edges(len(BARK))])
    builder = ModelBuilder()
    builder.add_loop("Ring", shapes.upright(points), outline, depth=0.3, mass=2.0, stretch_modulus=500.0)
    model = builder.build()
    assert model.rest_volume[0] == pytest.approx(0.3 * shapes.shoelace(BARK), rel=1e-12)
    skin = model.surfaces.triangles
    strip = model.rest_positions[skin]
    assert np.abs(np.cross(strip[:, 1] - strip[:, 0], strip[:, 2] - strip[:, 0])[:, 1]).max() < 1e-15  # no caps
    # the gas sees a closed surface, outward all over
    gas = np.array([
        (i, *model.fans.corners[q]) for i in range(model.vertex_count)
        for q in range(model.fans.vertex_start[i], model.fans.vertex_start[i + 1])
    ])  # fmt: skip
    check_closed_surface("gas", model.rest_positions, gas[gas[:, 0] == gas.min(axis=1)].astype(np.int32))
    # every length of the outline has its share of the mass, and the stiffness Y D / L, in two equal halves
    x = model.rest_positions
    front, back = model.flat.pairs.T
    np.testing.assert_allclose(x[front] - x[back], np.tile(0.3 * model.flat.normal[0], (len(BARK), 1)), atol=1e-15)
    np.testing.assert_array_equal(model.vertex_mass[front], model.vertex_mass[back])
    assert model.vertex_mass.sum() == pytest.approx(2.0, rel=1e-14)
    np.testing.assert_allclose(model.edges.stiffness * model.edges.rest_length, 0.5 * 500.0 * 0.3, rtol=1e-14)
    assert len(model.edges.points) == 2 * len(BARK)


def test_components_out_of_the_plane_are_removed_at_the_start():
    turn = shapes.rotation((1, 2, 0.3), 1.1)
    builder = ModelBuilder()
    builder.add_loop("Ring", shapes.upright(BARK) @ turn.T, velocity=turn @ [1.0, 5.0, -2.0])
    np.testing.assert_allclose(builder.build().start_velocities @ turn, np.tile([1.0, 0.0, -2.0], (240, 1)), atol=1e-14)


def test_bending_costs_half_of_modulus_times_depth_times_curvature_squared():
    """Two sides of a thin strip, bent to arcs: each hinge turns by ds / R, so E = B D (2 sin(ds / 2 R))^2 / 2 ds.

    The corners, whose angles change, are left out.
    """
    count, step, radius, apart = 30, 0.1, 4.0, 1e-4
    along = np.arange(count + 1) * step
    strip = np.concatenate([np.stack([along, 0 * along], axis=1), np.stack([along, 0 * along + apart], axis=1)[::-1]])
    model = loop_model(strip, depth=0.2, bend_modulus=3.0)
    turn = strip[:, 0] / radius
    # corners on the arc have chords of exactly one length, turned by ds / R each
    reach = 0.5 * step / np.sin(0.5 * step / radius)
    bent = (reach - strip[:, 1])[:, None] * np.stack([np.sin(turn), -np.cos(turn)], axis=1)
    half = 0.5 * 0.2 * model.flat.normal[0]
    x = np.repeat(shapes.upright(bent), 2, axis=0) + np.tile([half, -half], (len(strip), 1))
    at_corner = np.isin(model.hinges.points[:, 0] // 2, [0, count, count + 1, 2 * count + 1])
    hinges = model.hinges._replace(stiffness=np.where(at_corner, 1e-12, 1.0) * model.hinges.stiffness)
    energy = hinge_energies(x, hinges).sum()
    each = 3.0 * 0.2 * (2.0 * np.sin(0.5 * step / radius)) ** 2 / (2.0 * step)
    # the upper chords are shorter by `apart` / R
    assert energy == pytest.approx(2 * (count - 1) * each, rel=3 * apart / radius)


BAD_OUTLINES = {
    "an outline of 2 vertices encloses nothing. Give at least 3.": (SQUARE[:2], None),
    "the outline comes through a vertex twice. Give each vertex once.": (SQUARE, [0, 1, 2, 1]),
    "the outline names vertex 7 of 4. Rebuild it.": (SQUARE, [0, 1, 7]),
    "no edges. A loop needs a closed outline of edges.": (SQUARE, np.zeros((0, 2), int)),
    "doubled edges. Merge them.": (SQUARE, [(0, 1), (1, 0), (1, 2), (2, 0)]),
    "the outline has 2 loose ends; it must be one closed ring. "
    "Join the ends and delete edges that branch off.":
        (SQUARE, [(0, 1), (1, 2)]),
    "the outline has 2 branches; it must be one closed ring. "
    "Join the ends and delete edges that branch off.":
        (SQUARE, [*ring_edges(4), (0, 2)]),
    "more than one outline; one of 4 edges, 4 edges besides. "
    "Separate them into objects of their own.":
        (np.concatenate([SQUARE, SQUARE + 2]), [*ring_edges(4), *(ring_edges(4) + 4)]),
    "1 vertices that are not on the outline; a loop is its outline only. "
    "Dissolve inner vertices and delete loose ones.":
        (np.concatenate([SQUARE, [(0.5, 0.5)]]), ring_edges(4)),
    "the outline crosses itself at (0.5, 0, 0.5) m, between the edges at vertices 1 and 3. Move the vertices apart.":
        (np.array([(0, 0), (1, 0), (0, 1), (1.5, 1.5)], float), None),
    "the outline encloses no area (0 m\u00b2). Widen it, or uncross it.": (SQUARE * (1, 0), None),
    "the outline turns back on itself at vertex 2. Open the angle, or delete it.":
        (np.array([(0, 0), (1, 0), (2, 0), (1.5, 0), (1, 1)], float), None),
    "an edge of no length. Merge its ends.": (SQUARE[[0, 1, 2, 2, 3]], None),
    "mass 0 kg; give a number above 0.": (SQUARE, None, {"mass": 0.0}),
    "depth -1 m; give a number at least 0.": (SQUARE, None, {"depth": -1.0}),
}  # fmt: skip


@pytest.mark.parametrize("sentence", BAD_OUTLINES)
def test_bad_outlines_are_refused(sentence):
    flat, outline, options = (*BAD_OUTLINES[sentence], {})[:3]
    with pytest.raises((MeshError, ParameterError)) as refused:
        loop_model(flat, outline, **options)
    assert str(refused.value) == f"Ring: {sentence}"


def test_an_outline_off_its_plane_is_refused_with_the_distance():
    x = shapes.upright(shapes.ring(40))
    x[7, 1] = 0.1  # and the plane leans towards it
    with pytest.raises(
        MeshError, match=r"^Ring: not flat; a vertex of the outline is 0\.0973 m off its plane\. Scale it"
    ):
        ModelBuilder().add_loop("Ring", x)
    x[7, 1] = np.nan
    with pytest.raises(MeshError, match=r"^Ring: vertices with invalid coordinates"):
        ModelBuilder().add_loop("Ring", x)


def test_positions_off_by_rounding_are_projected_into_the_plane():
    """Single precision is good to 6e-8 of a metre."""
    turn = shapes.rotation((1, 2, 0.3), 1.1)
    x = (shapes.upright(BARK) @ turn.T).astype(np.float32).astype(float)
    found = outline_of("Ring", x, None)
    assert 0.0 < np.abs((x - found.origin) @ found.normal).max() < 3e-7 and is_flat(x)
    assert np.abs((found.corners - found.origin) @ found.normal).max() < 1e-15
    assert not is_flat(shapes.icosphere(1)[0]) and not is_flat(x[:2])


def test_the_border_of_a_filled_mesh_is_its_outline():
    x, triangles = shapes.grid(1.0, 4)
    sides = boundary(triangles)
    assert len(sides) == 16 and (np.abs(x[sides]).max(axis=2) == 0.5).all()
    assert len(outline_of("Sheet", x, sides).vertices) == 16
