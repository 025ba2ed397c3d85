"""Drawn vertices beside other bodies: what is drawn and what touches agree there."""

import numpy as np
import pytest
import shapes
from contact_reference import inside
from scipy.spatial import cKDTree
from softpressure_ext.core import ModelBuilder, World
from softpressure_ext.core.contact.beside import FARTHEST, STANDING, beside, set_gaps
from softpressure_ext.core.contact.box_tree import tree_of
from softpressure_ext.core.contact.narrow_phase.nearest_triangle import ALL

KEPT = 0.002  # thickness of soft bodies [m]


def scene(*meshes, cells=4, ignores=None):
    """Jellies above a floor; `ignores`: which bodies ignore each other."""
    builder = ModelBuilder()
    for number, (x, triangles) in enumerate(meshes):
        size = float(np.ptp(x, axis=0).min()) / cells
        builder.add_solid(
            f"{number}", x, triangles, cell_size=size, thickness=KEPT, modulus=2e4, damping=5.0, bounciness=0.0
        )
    builder.add_collider("floor", *shapes.grid(10.0))
    return World(builder.build(ignores=ignores), frame_rate=24.0)


def pressed(world, drawn, feet):
    return beside(world.model, 0, world.save().positions, drawn, feet)


def on_floor(mesh, height=0.02):
    x, triangles = mesh
    return x + (0.0, 0.0, height - x[:, 2].min()), triangles


def bulging_box():
    """A box of 1 x 1 x 0.2 m whose corners stand out of the cells, as its sides are bent between them."""
    x, triangles = shapes.box(1.0, 24)
    return x * (1.0, 1.0, 0.2) + np.array([0.0, 0.0, 0.02]) * np.cos(3.0 * np.pi * x[:, :1]), triangles


@pytest.mark.parametrize(
    "mesh", [shapes.icosphere(4, 0.5), shapes.beast(), bulging_box()], ids=["ball", "beast", "box"]
)
def test_a_jelly_is_drawn_where_it_touches(mesh):
    world = scene(on_floor(mesh))
    for _ in range(48):
        world.advance_frame()
    lowest = world.save().positions[: world.model.vertex_count, 2].min()
    assert lowest == pytest.approx(KEPT, abs=5e-4)
    assert world.positions(0)[:, 2].min() == pytest.approx(lowest, abs=3e-3)


def test_what_is_drawn_goes_through_nothing():
    """Whatever stands off, up to the sixth of a metre, a floor is not reached; far from it nothing is changed."""
    x, triangles = on_floor(shapes.icosphere(3, 1.0), 0.01)
    world = scene((x, triangles))
    feet = np.random.default_rng(3).uniform(x.min(axis=0), x.max(axis=0), (5000, 3))
    drawn = feet + np.random.default_rng(4).uniform(-0.1, 0.1, feet.shape)
    found = pressed(world, drawn, feet)
    away = np.linalg.norm(drawn - feet, axis=1)
    is_far = feet[:, 2] > away / STANDING + KEPT
    np.testing.assert_allclose(found[is_far], drawn[is_far], atol=1e-15)
    assert is_far.sum() > 1000 and (drawn[:, 2] < 0.0).sum() > 30
    assert found[:, 2].min() > 0.0
    off = np.linalg.norm(found - feet, axis=1)
    assert (off <= STANDING * np.maximum(feet[:, 2] - KEPT, 0.0) + 1e-12)[~is_far].all()


def test_what_may_stand_off_anywhere_does_and_goes_through_nothing():
    """Details of a mesh that follows an even one, up to the thickness that keeps them off."""
    x, triangles = on_floor(shapes.icosphere(3, 1.0), 0.01)
    world, free = scene((x, triangles)), 0.02
    feet = np.random.default_rng(3).uniform(x.min(axis=0), x.max(axis=0), (5000, 3)) * (1.0, 1.0, 0.1)
    drawn = feet + np.random.default_rng(4).uniform(-0.04, 0.04, feet.shape)
    found = beside(world.model, 0, world.save().positions, drawn, feet, free)
    away, off = np.linalg.norm(drawn - feet, axis=1), np.linalg.norm(found - feet, axis=1)
    np.testing.assert_array_equal(found[away <= free], drawn[away <= free])
    is_far = away > free
    most = np.minimum(feet[:, 2], free) + STANDING * np.maximum(feet[:, 2] - KEPT - free, 0.0)
    np.testing.assert_allclose(off[is_far], np.minimum(away, most)[is_far], rtol=1e-9)
    assert (off < away - 1e-6)[is_far].sum() > 100 and found[is_far, 2].min() >= 0.0


def test_what_stands_off_by_far_stops_at_the_first_surface():
    """Vertices of small parts apart, or that cells which bend much place far away."""
    x, triangles = on_floor(shapes.icosphere(3, 1.0), 0.01)
    world = scene((x, triangles))
    feet = np.random.default_rng(3).uniform(x.min(axis=0), x.max(axis=0), (5000, 3))
    drawn = feet + np.random.default_rng(4).uniform(-2.0, 2.0, feet.shape)
    found = pressed(world, drawn, feet)
    off = drawn - feet
    size = np.ptp(world.save().positions[: world.model.vertex_count], axis=0).max()
    is_far, is_clear = np.linalg.norm(off, axis=1) > FARTHEST * size, drawn[:, 2] > 0.0
    np.testing.assert_allclose(found[is_far & is_clear], drawn[is_far & is_clear], atol=1e-12)
    stopped = is_far & ~is_clear
    assert (is_far & is_clear).sum() > 1000 and stopped.sum() > 1000
    on_floor_at = feet - off * (feet[:, 2] / off[:, 2])[:, None]
    np.testing.assert_allclose(found[stopped], on_floor_at[stopped], atol=1e-9)


def test_gaps_are_distances_within_reach():
    random = np.random.default_rng(1)
    x, triangles = shapes.icosphere(2)
    places = random.uniform(-1.3, 1.3, (400, 3))
    gaps = np.full(400, np.inf)
    faces = triangles.astype(np.int32)
    set_gaps(places, np.full(400, 0.2), x, faces, tree_of(x, faces), ALL, gaps)
    corners = x[triangles]
    weights = random.dirichlet((1.0, 1.0, 1.0), 4000)
    sampled = np.einsum("sk,tkx->tsx", weights, corners).reshape(-1, 3)
    near = cKDTree(sampled).query(places)[0]
    known = np.isfinite(gaps)
    assert known.sum() > 50 and (near[~known] > 0.2).all()
    assert (gaps[known] <= near[known] + 1e-12).all() and (near[known] - gaps[known]).max() < 0.01


def test_drawn_jellies_in_contact_do_not_cross():
    """Of two balls, one on the other, no drawn vertex is within the other one."""
    ball = shapes.icosphere(4, 0.5)
    low, high = on_floor(ball), on_floor(shapes.icosphere(4, 0.5, (0.02, 0.0, 0.0)), 1.06)
    world = scene(low, high)
    worst = -1.0
    for _ in range(12):
        world.advance_frame()
        a, b = world.positions(0), world.positions(1)
        worst = max(worst, np.max(a[:, 2]) - np.min(b[:, 2]))
        assert not inside(a[a[:, 2] > b[:, 2].min() - 0.01], b, ball[1]).any()
        assert not inside(b[b[:, 2] < a[:, 2].max() + 0.01], a, ball[1]).any()
        assert min(a[:, 2].min(), b[:, 2].min()) > 0.0
    assert worst > -0.01  # they touched


def test_bodies_that_are_ignored_press_nothing():
    ball = on_floor(shapes.icosphere(4, 0.5))
    world, other = scene(ball, ignores=~np.eye(2, dtype=bool)), scene(ball)
    drawn = ball[0] - (0.0, 0.0, 0.03)
    np.testing.assert_array_equal(pressed(world, drawn, ball[0]), drawn)
    assert pressed(other, drawn, ball[0])[:, 2].min() > 0.0
