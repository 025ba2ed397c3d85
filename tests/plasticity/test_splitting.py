"""Torn bodies come apart: their pieces move on their own, and momentum stays (`core/plasticity/deletion.py`)."""

from dataclasses import replace

import numpy as np
import pytest
import scenes
import shapes
from softpressure_ext.core import FrameInput, ModelBuilder, ParameterError, World
from softpressure_ext.core.impulses.skin import Skins
from softpressure_ext.core.inside_out import is_inside_out
from softpressure_ext.core.plasticity.deletion import Deletion, caps_of
from softpressure_ext.core.plasticity.pieces import pieces_of, rigid_motion
from softpressure_ext.core.topology import signed_volume, triangle_areas
from softpressure_ext.core.volume import EnclosedVolumes

RATE = 24.0
METHODS = ("EXPLICIT", "XPBD")
#: How exactly a piece keeps its momentum, as a share of it.
KEPT = {"EXPLICIT": 1e-11, "XPBD": 1e-11}


def world_of(builder, solver):
    return World(builder.build(), frame_rate=RATE, substeps=20, threads=1, solver=solver)


def bar_world(solver, **options):
    """A bar of jelly, 0.4 m along x, of 2 x 2 x 8 cells."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    x, triangles = shapes.box(0.1, 4)
    builder.add_solid("bar", x * (4.0, 1.0, 1.0), triangles, cell_size=0.05, mass=0.5, modulus=2e4, **options)
    return world_of(builder, solver)


def skin_world(solver, torn_at=None, radius=0.2, **options):
    """A closed skin in a vacuum without gas, whose springs across its equator may be torn."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0), ambient_pressure=0.0)
    skin = scenes.Ball(radius, 0.05, 0.0, 800.0)
    scenes.add_ball(builder, skin, 2, bend_modulus=1e-4, tear_strain=5.0, **options)
    world = world_of(builder, solver)
    return world if torn_at is None else torn_across(world, 2, torn_at)


def torn_across(world, axis, place):
    """The world with the springs torn that cross a plane, or lie in it."""
    state = world.save()
    side = np.sign(np.round(state.positions[world.model.edges.points, axis] - place, 9))
    torn = (side[:, 0] * side[:, 1] < 0.0) | (side == 0.0).all(axis=1)
    state.keyed = replace(state.keyed, torn=torn)
    world.load(state)
    return world


def thrown(world, velocity):
    """The world with velocities [m/s] of its vertices: a function of their positions [m]."""
    state, count = world.save(), world.model.vertex_count
    state.velocities[:count] = velocity(state.positions[:count])
    world.load(state)
    return world


def apart(speed):
    """Halves that move apart along x, and up with a turn."""
    return lambda x: np.stack([speed * np.sign(np.round(x[:, 0], 6)), 2.0 * x[:, 0] + 0.3, 0.0 * x[:, 0]], axis=1)


def halves(world):
    """Vertices of the two largest pieces, by their places along the longest way between them."""
    edges = world._segments.model.edges.points
    names, count = np.unique(pieces := pieces_of(edges, world.model.vertex_count), return_counts=True)
    x = world.save().positions
    largest = names[np.argsort(-count, kind="stable")[:2]]
    return sorted((np.flatnonzero(pieces == name) for name in largest), key=lambda own: tuple(x[own].mean(axis=0)))


def motion(world, vertices=slice(None)):
    """Centre [m], momentum [N s] and angular momentum [N m s] of vertices, with the masses that steps move."""
    state, count = world.save(), world.model.vertex_count
    mass = world._solver.vertex_mass[vertices, None]
    x, v = state.positions[:count][vertices], state.velocities[:count][vertices]
    return (mass * x).sum(axis=0) / mass.sum(), (mass * v).sum(axis=0), (mass * np.cross(x, v)).sum(axis=0)


def energy(world):
    return float(world._measured(world._state).energy.sum())


@pytest.mark.parametrize("damping", [0.0, 5.0])
@pytest.mark.parametrize("solver", METHODS)
def test_a_bar_that_is_pulled_apart_comes_in_two_pieces_that_fly_on_freely(solver, damping):
    """All keeps its momentum through the tear; then each half does, and its centre moves in a straight line."""
    world = thrown(bar_world(solver, tear_strain=0.3, damping=damping), apart(6.0))
    _, momentum, turning = motion(world)
    energies = [energy(world), *(energy(world) for _ in scenes.played(world, 2))]
    _, after, turned = motion(world)
    np.testing.assert_allclose(after, momentum, rtol=0, atol=1e-11)
    np.testing.assert_allclose(turned, turning, rtol=0, atol=1e-11)
    parts = halves(world)
    assert min(map(len, parts)) > 20
    begun = [motion(world, own) for own in parts]
    for frame in scenes.played(world, 24):
        energies.append(energy(world))
        for own, (place, push, turn) in zip(parts, begun, strict=True):
            here, now, around = motion(world, own)
            size = np.linalg.norm(push)
            np.testing.assert_allclose(now, push, rtol=0, atol=KEPT[solver] * size)
            np.testing.assert_allclose(around, turn, rtol=0, atol=KEPT[solver] * size * 1.0)  # an arm of 1 m
            mass = world._solver.vertex_mass[own].sum()
            way = push / mass * frame / RATE
            np.testing.assert_allclose(here - place, way, rtol=0, atol=KEPT[solver] * np.linalg.norm(way) + 1e-12)
    gaps = np.diff(energies)
    assert gaps.max() < 1e-3 * energies[0]
    assert np.linalg.norm(motion(world, parts[1])[0] - motion(world, parts[0])[0]) > 3.0


@pytest.mark.parametrize("solver", METHODS)
def test_halves_of_a_skin_that_is_torn_around_its_equator_move_on_their_own(solver):
    """A half that is left alone stays where it is while the other one flies away."""
    world = skin_world(solver, torn_at=0.01, damping=5.0)
    lower, upper = sorted(halves(world), key=lambda own: world.save().positions[own, 2].mean())
    state = world.save()
    still = state.positions[lower].copy()
    state.velocities[upper] = (0.3, 0.0, 1.0)
    world.load(state)
    mass = world._solver.vertex_mass
    scenes.advance(world, 12)
    state = world.save()
    np.testing.assert_allclose(state.positions[lower], still, rtol=0, atol=1e-9)
    np.testing.assert_allclose(motion(world, upper)[1], mass[upper].sum() * np.array([0.3, 0.0, 1.0]), atol=1e-9)
    assert abs(state.positions[upper, 2].min() - state.positions[lower, 2].max()) > 0.3


def test_a_burst_skin_is_not_inside_out_wherever_its_pieces_are():
    """The sum over an open surface depends on the origin: pieces that pass each other change its sign."""
    world = skin_world("EXPLICIT", torn_at=0.01)
    upper = halves(world)[0]
    positions = world.save().positions
    positions[upper, 2] += 6.0 * np.sign(positions[:, 2].mean() - positions[upper, 2].mean())
    assert not is_inside_out(world._segments.model, positions, 0)
    assert is_inside_out(world.model, -world.model.rest_positions, 0)


@pytest.mark.parametrize("solver", METHODS)
def test_halves_of_a_bar_hit_each_other_with_their_torn_faces(solver):
    """The faces inside, which the tear has laid open, have contact: the halves bounce, and all keeps its momentum."""
    world = torn_across(bar_world(solver, tear_strain=0.9, damping=5.0, self_collision=True), 0, 0.0)
    thrown(world, lambda x: np.stack([-np.sign(np.round(x[:, 0], 6)), 0.0 * x[:, 0], 0.0 * x[:, 0]], axis=1))
    left, right = halves(world)
    gaps, before = [], energy(world)
    for _ in scenes.played(world, 8):
        x = world.save().positions[:, 0]
        gaps.append(x[right].min() - x[left].max())
        assert energy(world) < 1.0001 * before
    assert min(gaps) > 0.0
    assert gaps[-1] > 0.15
    assert motion(world, left)[1][0] < -0.05 < 0.05 < motion(world, right)[1][0]
    np.testing.assert_allclose(motion(world)[1], 0.0, atol=1e-6)


def test_halves_of_a_bar_pass_each_other_without_contact_with_itself():
    world = torn_across(bar_world("EXPLICIT", tear_strain=0.9, damping=5.0), 0, 0.0)
    thrown(world, lambda x: np.stack([-np.sign(np.round(x[:, 0], 6)), 0.0 * x[:, 0], 0.0 * x[:, 0]], axis=1))
    left, right = halves(world)
    scenes.advance(world, 8)
    assert motion(world, right)[1][0] < -0.05 < 0.05 < motion(world, left)[1][0]


@pytest.mark.parametrize("solver", METHODS)
def test_halves_of_a_skin_hit_each_other(solver):
    world = skin_world(solver, torn_at=0.01, damping=5.0, self_collision=True)
    lower, upper = sorted(halves(world), key=lambda own: world.save().positions[own, 2].mean())
    state = world.save()
    state.positions[upper, 2] += 0.1
    state.velocities[upper, 2] = -1.0
    world.load(state)
    scenes.advance(world, 12)
    state = world.save()
    assert state.velocities[lower, 2].mean() < -0.1  # pushed
    assert np.isfinite(state.positions).all()
    total = motion(world)[1]
    mass = world._solver.vertex_mass
    np.testing.assert_allclose(total, (0.0, 0.0, -mass[upper].sum()), atol=1e-6)


@pytest.mark.parametrize("solver", METHODS)
def test_the_gas_of_small_halves_is_gone_at_once_and_that_of_large_ones_pushes_them_apart(solver):
    """Sound passes a half of 0.2 m in a tick, but not one of 4 m; the jets through the equator drive those apart."""
    for radius, holds in ((0.2, False), (4.0, True)):
        builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
        skin = scenes.Ball(radius, 50.0 * radius**3, 1e3, 4000.0 * radius)
        scenes.add_ball(builder, skin, 2, damping=5.0, tear_strain=5.0, pressure_at="REST", drawn_shape="INFLATED")
        world = torn_across(world_of(builder, solver), 2, 0.05 * radius)
        assert world._segments.model.has_gas(0) == holds
        scenes.advance(world, 24)
        now = world.diagnostics().bodies[0]
        assert abs(now.gauge_pressure) < 0.05 * skin.gauge_pressure
        down, up = sorted(motion(world, own)[1][2] for own in halves(world))
        if holds:
            assert down < 0.0 < up
        else:
            assert now.gauge_pressure == 0.0
        speed = np.linalg.norm(world.save().velocities[: world.model.vertex_count], axis=1).max()
        assert speed < 60.0


@pytest.mark.parametrize("solver", METHODS)
def test_a_light_balloon_that_is_pumped_up_bursts_without_blowing_up(solver):
    """Most of its skin stays one piece, and nothing is faster than the gas could throw it in the time that it took."""
    builder = ModelBuilder()
    x, triangles = shapes.icosphere(3, 0.4)
    builder.add_membrane("balloon", x, triangles, mass=0.05, gauge_pressure=300.0, stretch_modulus=800.0, damping=5.0,
                         tear_strain=0.35, pressure_at="REST")  # fmt: skip
    world, speed = world_of(builder, solver), 0.0
    for frame in range(30):
        world.advance_frame(FrameInput(gauge_pressure={0: 300.0 + 110.0 * min(frame, 19)}))
        speed = max(speed, np.linalg.norm(world.save().velocities[:642], axis=1).max())
    assert world.torn_triangles(0).any()
    assert 4.0 < speed < 300.0
    assert max(map(len, halves(world))) > 320
    now = world.diagnostics().bodies[0]
    assert abs(now.gauge_pressure) < 100.0


@pytest.mark.parametrize("solver", METHODS)
def test_a_run_with_pieces_that_is_continued_has_the_same_bits(solver):
    def bar():
        return bar_world(solver, tear_strain=0.3, damping=5.0)

    whole = scenes.assert_continues(lambda: thrown(bar(), apart(6.0)), 5, 3, fresh=bar)
    assert len(halves(whole)[0]) > 20


@pytest.mark.parametrize("creep_time", [0.0, 0.2])
def test_pieces_of_dough_flow_on(creep_time):
    """Rest lengths are those of the springs that are left."""
    world = thrown(bar_world("EXPLICIT", tear_strain=0.6, damping=5.0, creep_time=creep_time), apart(9.0))
    scenes.advance(world, 6)
    state, left = world.save(), world._segments.model.edges
    assert state.keyed.torn.any()
    if creep_time:
        np.testing.assert_array_equal(left.rest_length, state.rest_lengths[~state.keyed.torn])
        assert (left.rest_length != world.model.edges.rest_length[~state.keyed.torn]).any()
    assert np.isfinite(energy(world))


def test_springs_without_an_element_are_torn_and_masses_stay():
    world = torn_across(bar_world("EXPLICIT", tear_strain=0.9), 0, 0.0)
    start, now, torn = world.model, world._segments.model, world.save().keyed.torn
    deletion = Deletion(start)
    cells = deletion.cells(torn)
    middle = start.rest_positions[start.cells].mean(axis=1)[:, 0]
    np.testing.assert_array_equal(cells, np.abs(middle) < 0.03)  # the layers on both sides of the plane
    gone = deletion.springs(torn)
    assert (gone & ~torn).any()
    kept = {tuple(pair) for cell in np.sort(start.cells[~cells]).tolist() for pair in zip(*_pairs(cell), strict=True)}
    assert {tuple(sorted(pair)) for pair in now.edges.points.tolist()} == kept
    np.testing.assert_array_equal(deletion.springs(gone), gone)
    np.testing.assert_array_equal(now.vertex_mass, start.vertex_mass)
    surface = now.surfaces
    assert (surface.triangle_neighbour >= 0).all()  # closed
    volume = signed_volume(now.rest_positions, surface.triangles)
    assert volume == pytest.approx(0.75 * signed_volume(start.rest_positions, start.surfaces.triangles), rel=1e-12)


def _pairs(cell):
    one, other = np.triu_indices(8, 1)
    return np.array(cell)[one].tolist(), np.array(cell)[other].tolist()


@pytest.mark.parametrize("ratio", [0.25, 0.4])
def test_tetrahedra_of_deleted_cells_are_gone(ratio):
    world = torn_across(bar_world("EXPLICIT", tear_strain=0.9, poisson_ratio=ratio), 0, 0.0)
    start, now = world.model.tetrahedra, world._segments.model.tetrahedra
    if ratio == 0.25:
        assert not len(start.points)
        return
    middle = world.model.rest_positions[start.points][:, :, 0].mean(axis=1)
    left = np.abs(middle) > 0.05
    np.testing.assert_array_equal(now.points, start.points[left])
    np.testing.assert_array_equal(now.rest_volume, start.rest_volume[left])


def test_caps_close_each_piece_of_a_skin_with_a_flat_strip():
    x, triangles = shapes.icosphere(3, 1.0)
    kept = triangles[np.abs(x[triangles][:, :, 2]).min(axis=1) > 0.2]
    caps = caps_of(kept, x)
    closed = np.concatenate([kept, caps])
    sides = {(int(a), int(b)) for tri in closed for a, b in zip(tri, np.roll(tri, -1), strict=True)}
    assert all(side[::-1] in sides for side in sides)
    upper = x[:, 2] > 0.0
    assert (upper[caps].all(axis=1) | ~upper[caps].any(axis=1)).all()
    area = triangle_areas(x, caps)[upper[caps[:, 0]]].sum()
    rim = np.linalg.norm(x[np.unique(caps)][:, :2], axis=1)
    assert np.pi * rim.min() ** 2 * 0.95 < area < np.pi * rim.max() ** 2 * 1.15  # the rim is a zigzag
    # no vertex has more than three triangles of a strip
    assert np.bincount(caps.ravel()).max() <= 3


def test_the_cap_of_a_crack_is_no_larger_than_the_triangles_that_it_replaces():
    """The strip begins at an end of the crack, wherever the rim's first vertex is."""
    x, triangles = shapes.icosphere(3, 1.0)
    at = x[triangles].mean(axis=1)
    cut = (np.abs(at[:, 2]) < 0.06) & (at[:, 0] > 0.2)
    caps = caps_of(triangles[~cut], x)
    assert len(caps) > 20
    assert triangle_areas(x, caps).sum() < 1.05 * triangle_areas(x, triangles[cut]).sum()


def test_a_rim_that_meets_itself_in_a_vertex_is_two_rims():
    x, triangles = shapes.icosphere(2, 1.0)
    corner = int(triangles[0, 0])
    at = np.flatnonzero((triangles == corner).any(axis=1))
    first = at[0]
    away = [t for t in at if len(set(triangles[t]) & set(triangles[first])) == 1]
    kept = np.delete(triangles, [first, away[0]], axis=0)
    caps = caps_of(kept, x)
    assert {frozenset(cap) for cap in caps.tolist()} == {frozenset(triangles[t].tolist()) for t in (first, away[0])}
    assert signed_volume(x, np.concatenate([kept, caps])) == pytest.approx(signed_volume(x, triangles), rel=1e-12)


def test_volume_and_gas_of_an_open_skin_are_those_of_its_triangles_and_caps():
    world = skin_world("EXPLICIT", torn_at=0.2, radius=4.0)
    model, x = world._segments.model, world.save().positions
    assert (model.surfaces.triangle_neighbour < 0).any()
    found = EnclosedVolumes(model)(0, x)
    whole = EnclosedVolumes(world.model)(0, x)
    assert 0.3 * whole < found < 0.95 * whole
    # each half with its cap is closed: moving one does not change the volume
    upper = max(halves(world), key=lambda own: x[own, 2].mean())
    moved = x.copy()
    moved[upper] += (0.3, -0.2, 0.5)
    assert EnclosedVolumes(model)(0, moved) == pytest.approx(found, rel=1e-9)


def test_a_part_of_a_mesh_that_is_whole_keeps_the_gas_when_the_other_one_bursts():
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    x, triangles = shapes.icosphere(2, 0.2)
    both = np.concatenate([x, x + (1.0, 0.0, 0.0)])
    builder.add_membrane("pair", both, np.concatenate([triangles, triangles + len(x)]), mass=0.1, gauge_pressure=500.0,
                         stretch_modulus=800.0, tear_strain=5.0)  # fmt: skip
    world = world_of(builder, "EXPLICIT")
    state, springs = world.save(), world.model.edges.points
    torn = (np.abs(state.positions[springs, 2]) < 0.1).all(axis=1) & (state.positions[springs[:, 0], 0] < 0.5)
    state.keyed = replace(state.keyed, torn=torn)
    world.load(state)
    now = world._segments.model
    assert now.has_gas(0)
    assert EnclosedVolumes(now)(0, state.positions) == pytest.approx(0.5 * world.model.rest_volume[0], rel=1e-9)


def test_the_rigid_motion_of_pieces_has_their_momenta():
    random = np.random.default_rng(3)
    x, v, mass = random.normal(size=(50, 3)), random.normal(size=(50, 3)), random.uniform(0.5, 2.0, 50)
    piece = np.repeat([0, 1, 2, 3], [30, 16, 3, 1])
    found = rigid_motion(x, v, mass, piece)
    for number in range(4):
        own = piece == number
        for values in (lambda w: w, lambda w: np.cross(x, w)):
            sums = [(mass[:, None] * values(w))[own].sum(axis=0) for w in (v, found)]
            np.testing.assert_allclose(sums[1], sums[0], atol=1e-9)
    np.testing.assert_allclose(found[49], v[49], rtol=1e-12)
    turning = np.cross((0.3, 0.1, -2.0), x) + (1.0, 0.0, 0.0)
    np.testing.assert_allclose(rigid_motion(x, turning, mass, np.zeros(50, int)), turning, rtol=1e-9)


def test_torn_triangles_of_a_solid_are_those_at_deleted_cells_or_between_pieces():
    world = bar_world("EXPLICIT", tear_strain=0.9)
    x, triangles = shapes.box(0.1, 4)
    assert not world.torn_triangles(0, triangles).any()
    torn_across(world, 0, 0.0)
    torn = world.torn_triangles(0, triangles)
    middle = 4.0 * x[triangles][:, :, 0].mean(axis=1)
    assert torn[np.abs(middle) < 0.04].all()
    assert not torn[np.abs(middle) > 0.11].any()
    with pytest.raises(ParameterError, match="bar: give the triangles of the solid's mesh"):
        world.torn_triangles(0)
    with pytest.raises(ParameterError, match="bar: give the triangles of the solid's mesh, corners from 0 to 97"):
        world.torn_triangles(0, triangles + 1)


def test_wind_does_not_blow_on_deleted_triangles():
    world = skin_world("EXPLICIT", torn_at=0.01)
    model, x = world.model, world.save().positions
    gone = np.setdiff1d(model.surfaces.triangles, world._segments.model.surfaces.triangles)
    rim = np.unique(model.surfaces.triangles[world._plastic.torn_triangles(world.save(), 0)])
    whole, open_skin = Skins(model), world._impulses.skins
    shares, torn_shares = whole.shares(x)[0], open_skin.shares(x)[0]
    assert (torn_shares[gone] == 0.0).all()
    others = np.setdiff1d(np.arange(model.vertex_count), rim)
    np.testing.assert_array_equal(torn_shares[others], shares[others])
    assert torn_shares[rim].sum() < 0.8 * shares[rim].sum()
