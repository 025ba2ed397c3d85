"""Even meshes: closed, of even edges, and as near to what was drawn as is asked for; everything has one."""

import drawn_meshes as drawn
import numpy as np
import pytest
import shapes
from softpressure_ext.core import Follower, MeshError, ParameterError
from softpressure_ext.core.simulation_mesh import even, remesh, shrink
from softpressure_ext.core.simulation_mesh.even import (
    FILLED,
    JOINED,
    SMOOTHED,
    TURNED,
    WRAPPED,
    even_mesh,
    even_mesh_slices,
)
from softpressure_ext.core.simulation_mesh.repair import Mesh, oriented
from softpressure_ext.core.simulation_mesh.wrapped_parts import GAP
from softpressure_ext.core.topology import check_closed_surface, signed_volume

#: What is drawn closed; the spheres are coarse against the finest even mesh, the boxes have large faces.
CLOSED = {
    "icosphere": shapes.icosphere(3, 0.5),
    "uv sphere": shapes.uv_sphere(16, 32, 0.5),
    "cube": shapes.box(1.0, 1),
    "bevelled box": drawn.bevelled_box(),
    "torus": shapes.torus(0.4, 0.15),
    "figure": drawn.figure(),
}
TURN = shapes.rotation((1.0, -2.0, 0.5), 1.1)


@pytest.fixture(scope="module", params=[(name, count) for name in CLOSED for count in (300, 1000)], ids=str)
def made(request):
    name, count = request.param
    return name, count, CLOSED[name], even_mesh(*CLOSED[name], count)


def test_it_is_closed_with_the_count_volume_genus_and_parts(made):
    _, count, mesh, even = made
    check_closed_surface("even", even.positions, even.triangles)
    assert len(even.positions) == pytest.approx(count, rel=0.06)
    assert drawn.volume(even[:2]) == pytest.approx(drawn.volume(mesh), rel=1e-3)
    assert drawn.euler(even.triangles) == drawn.euler(mesh[1])
    assert drawn.part_count(even.triangles) == drawn.part_count(mesh[1])
    assert even.notes == ()


def test_its_edges_are_even(made):
    name, *_, even = made
    lengths = drawn.edge_lengths(even.positions, even.triangles)
    middle = np.median(lengths)
    # one edge of half the length halves the step; in limbs as thick as an edge is long some have to be shorter
    assert lengths.min() > (0.3 if name == "figure" else 0.45) * middle
    assert lengths.max() < 2.0 * middle
    assert np.bincount(even.triangles.ravel()).min() >= 4


def test_it_is_near_what_was_drawn(made):
    _, count, mesh, even = made
    points = np.concatenate([mesh[0], drawn.points_on(*mesh, 1000)])
    away = drawn.distances(points, even.positions, even.triangles) / drawn.size_of(mesh[0])
    assert away.max() < (0.06 if count == 300 else 0.03)  # a third as many vertices: twice as far
    assert np.quantile(away, 0.95) < (0.02 if count == 300 else 0.01)
    back = drawn.distances(even.positions, *mesh) / drawn.size_of(mesh[0])
    assert back.max() < 0.03


def test_it_does_not_cross_itself(made):
    *_, mesh, even = made
    assert drawn.crossing_count(*mesh) == 0
    assert drawn.crossing_count(even.positions, even.triangles) == 0


@pytest.mark.parametrize("count", [150, 300])
@pytest.mark.parametrize(("thickness", "gap"), [(0.01, 0.01), (0.02, 0.03), (0.03, 0.01)])
def test_thin_plates_near_each_other_do_not_cross(thickness, gap, count):
    x, triangles = drawn.folded_sheet(thickness, gap)
    assert drawn.crossing_count(x, triangles) == 0
    for turn in (np.eye(3), TURN):
        even = even_mesh(x @ turn.T, triangles, count)
        check_closed_surface("even", even.positions, even.triangles)
        assert drawn.crossing_count(even.positions, even.triangles) == 0
        assert len(even.positions) == pytest.approx(count, rel=0.06)
        assert drawn.volume(even[:2]) == pytest.approx(drawn.volume((x, triangles)), rel=1e-3)
        assert drawn.euler(even.triangles) == 2
        lengths = drawn.edge_lengths(even.positions, even.triangles)
        assert lengths.min() > 0.2 * np.median(lengths)
        away = drawn.distances(drawn.points_on(x @ turn.T, triangles, 500), even.positions, even.triangles)
        assert np.quantile(away, 0.95) < 0.03  # a tenth of a side at most


@pytest.mark.parametrize("count", [300, 1000])
def test_what_crosses_itself_is_smoothed_there(count, monkeypatch):
    """What crosses as drawn is not made with the guard: that would take twice the time and cross as well."""
    made, once = [], remesh._remesh
    monkeypatch.setattr(remesh, "_remesh", lambda *args, **how: made.append(how) or once(*args, **how))
    x, triangles = shapes.torus(0.145, 0.15)  # thicker than its hole is wide
    assert drawn.crossing_count(x, triangles) > 0
    even = even_mesh(x, triangles, count)
    assert even.notes == (SMOOTHED,)
    assert made[1] == {"is_guarded": False}
    check_closed_surface("even", even.positions, even.triangles)
    assert drawn.euler(even.triangles) == 0
    assert drawn.crossing_count(even.positions, even.triangles) == 0
    away = drawn.distances(drawn.points_on(x, triangles, 1000), even.positions, even.triangles) / drawn.size_of(x)
    assert away.max() < 0.03 and np.quantile(away, 0.95) < 0.0125
    follower = Follower(even, x)
    assert np.allclose(follower.positions(even.positions), x, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("count", [300, 1000])
def test_a_cube_is_met_exactly(count):
    even = even_mesh(*CLOSED["cube"], count)
    outer = np.abs(np.abs(even.positions).max(axis=1) - 0.5)
    assert outer.max() < 1e-9
    assert drawn.area(even[:2]) == pytest.approx(6.0, rel=1e-9)


def test_same_bits_each_time_in_any_order_of_faces_and_at_any_power_of_two():
    mesh = CLOSED["figure"]
    shuffled = np.roll(np.random.default_rng(2).permutation(mesh[1]), 1, axis=1)
    first, *others = (even_mesh(mesh[0], triangles, 500) for triangles in (mesh[1], mesh[1], shuffled))
    for other in others:
        assert all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))
    larger = even_mesh(8.0 * mesh[0], mesh[1], 500)
    assert np.array_equal(larger.positions, 8.0 * first.positions)
    assert np.array_equal(larger.triangles, first.triangles)


@pytest.mark.parametrize("name", ["figure", "bevelled box"])
def test_it_is_as_good_however_turned_moved_and_scaled(name):
    x, triangles = CLOSED[name]
    here = even_mesh(x, triangles, 600)
    there = even_mesh(3.7 * x @ TURN.T + (50.0, -20.0, 7.0), triangles, 600)
    back = (there.positions - (50.0, -20.0, 7.0)) @ TURN / 3.7
    assert len(back) == pytest.approx(len(here.positions), rel=0.03)
    assert drawn.volume((back, there.triangles)) == pytest.approx(drawn.volume(here[:2]), rel=1e-3)
    size = drawn.size_of(x)
    far = [np.quantile(drawn.distances(x, p, t), 0.95) / size for p, t in (here[:2], (back, there.triangles))]
    assert far[0] == pytest.approx(far[1], abs=2e-3)
    edges = [drawn.edge_lengths(p, t) for p, t in (here[:2], (back, there.triangles))]
    assert np.quantile(edges[0], 0.02) == pytest.approx(np.quantile(edges[1], 0.02), rel=0.05)


@pytest.mark.parametrize("mesh", [CLOSED["figure"], drawn.folded_sheet(0.01, 0.01)], ids=["figure", "made twice"])
def test_slices_tell_progress(mesh):
    slices = even_mesh_slices(*mesh, 300)
    shares = []
    try:
        while True:
            shares.append(next(slices))
    except StopIteration as end:
        even = end.value
    assert len(shares) > 20
    assert all(0.0 <= a <= b <= 1.0 for a, b in zip(shares[:-1], shares[1:], strict=True))
    assert np.array_equal(even.positions, even_mesh(*mesh, 300).positions)


def closed(mesh, count=800, shortest=0.3):
    """The even mesh of one that is not closed, with no edge shorter than a share of the median.

    What fills holes has no vertices: there are as many less as its share of the surface.
    """
    even = even_mesh(*mesh, count)
    check_closed_surface("even", even.positions, even.triangles)
    share = drawn.area(mesh) / drawn.area(even[:2]) if FILLED in even.notes else 1.0
    assert len(even.positions) == pytest.approx(share * count, rel=0.08)
    lengths = drawn.edge_lengths(even.positions, even.triangles)
    assert lengths.min() > shortest * np.median(lengths)
    return even


@pytest.mark.parametrize("count", [64, 200, 1000])
def test_long_thin_triangles_leave_room_for_even_ones(count):
    """A drum of so many sides, its ends fans from one corner: splits make more vertices than stay."""
    angle = 2.0 * np.pi * np.arange(count) / count
    ring = np.column_stack([np.cos(angle), np.sin(angle), np.ones(count)])
    x = np.concatenate([ring * (1, 1, -1), ring])
    i = np.arange(count)
    j, fan = (i + 1) % count, np.arange(1, count - 1)
    sides = [np.stack([i, j, count + i], axis=1), np.stack([j, count + j, count + i], axis=1)]
    ends = [np.stack([0 * fan, fan + 1, fan], axis=1), count + np.stack([0 * fan, fan, fan + 1], axis=1)]
    even = even_mesh(x, np.concatenate(sides + ends), 1000)
    corners = even.positions[even.triangles]
    lengths = np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2)
    assert len(even.positions) == pytest.approx(1000, rel=0.1)
    assert lengths.min() > 0.4 * lengths.mean() and lengths.max() < 1.7 * lengths.mean()


def test_a_cup_is_filled():
    mesh = drawn.cup()
    even = closed(mesh)
    assert even.notes == (FILLED,)
    # a ball of radius 1/2 without what is above its highest ring
    height = 0.5 - mesh[0][:, 2].max()
    cap = np.pi * height**2 * (1.5 - height) / 3.0
    assert drawn.volume(even[:2]) == pytest.approx(np.pi / 6.0 - cap, rel=0.02)
    assert drawn.euler(even.triangles) == 2
    assert drawn.crossing_count(even.positions, even.triangles) == 0


@pytest.mark.parametrize("count", [200, 800])
def test_what_closes_a_hole_has_vertices_at_its_rim_alone(count):
    """Of a cup, and of a box with two round holes in one face, one of them at a corner."""
    for mesh in (drawn.cup(), drawn.holed_box()):
        even = closed(mesh, count)
        assert even.notes == (FILLED,)
        assert drawn.euler(even.triangles) == 2
        side = drawn.edge_lengths(even.positions, even.triangles).mean()
        assert drawn.distances(even.positions, *mesh).max() < 0.15 * side
        follower = Follower(even, mesh[0])
        assert np.allclose(follower.positions(even.positions), mesh[0], rtol=0.0, atol=1e-9)


def test_a_wrap_of_crossing_sheets_is_near_to_them():
    """Three squares that cross in the middle: within a fifth of a side on both sides and at their rims."""
    sheet, faces = shapes.grid(1.0, 6)
    x = np.concatenate([np.roll(sheet, turn, axis=1) for turn in range(3)])
    triangles = np.concatenate([faces + k * len(sheet) for k in range(3)])
    even = closed((x, triangles), 1000, 0.2)
    assert even.notes == (WRAPPED,)
    assert drawn.crossing_count(even.positions, even.triangles) == 0
    side = drawn.edge_lengths(even.positions, even.triangles).mean()
    assert drawn.distances(even.positions, x, triangles).max() < 0.25 * side


def test_a_sheet_gets_a_thin_plate():
    mesh = shapes.grid(1.0, 12)
    even = closed(mesh, 2000, 0.2)  # its rim is half as thick as an edge is long
    assert even.notes == (WRAPPED,)
    assert drawn.part_count(even.triangles) == 1 and drawn.euler(even.triangles) == 2
    away = drawn.distances(mesh[0], even.positions, even.triangles)
    assert away.max() < 0.015
    assert 0.005 < np.ptp(even.positions[:, 2]) < 0.03


@pytest.mark.parametrize(("tips", "inner", "count"), [(6, 0.3, 300), (6, 0.3, 500), (12, 0.5, 500)])
def test_a_flat_star_gets_a_plate_that_does_not_cross_itself(tips, inner, count):
    """At its tips faces have their backs to the normal of a vertex: a ray from there tells no thickness."""
    turns = np.pi / tips * np.arange(2 * tips)
    radius = np.where(np.arange(2 * tips) % 2 == 1, inner, 1.0)
    outline = radius[:, None] * np.stack([np.cos(turns), np.sin(turns), 0.0 * turns], axis=1)
    number = 1 + np.arange(2 * tips)
    triangles = np.stack([0 * number, number, np.roll(number, -1)], axis=1)
    even = even_mesh(np.concatenate([np.zeros((1, 3)), outline]), triangles, count)
    assert even.notes == (WRAPPED,)
    assert drawn.crossing_count(even.positions, even.triangles) == 0


def test_two_crossing_boxes_become_one_body():
    mesh = drawn.both(shapes.box(1.0, 3), shapes.box(1.0, 3, (0.5, 0.4, 0.3)))
    even = closed(mesh)
    assert even.notes == (WRAPPED,)
    assert drawn.part_count(even.triangles) == 1
    assert drawn.volume(even[:2]) == pytest.approx(2.0 - 0.5 * 0.6 * 0.7, rel=0.03)
    assert drawn.crossing_count(even.positions, even.triangles) == 0


def test_a_ball_within_a_ball_vanishes_but_a_cavity_stays():
    outer, inner = shapes.icosphere(3, 0.5), shapes.icosphere(2, 0.25)
    even = closed(drawn.both(outer, inner))
    assert even.notes == (WRAPPED,)
    assert drawn.part_count(even.triangles) == 1
    hollow = closed(drawn.both(outer, (inner[0], inner[1][:, ::-1])))
    assert hollow.notes == ()
    assert drawn.part_count(hollow.triangles) == 2
    assert drawn.volume(hollow[:2]) == pytest.approx(drawn.volume(outer) - drawn.volume(inner), rel=1e-3)


def test_two_balls_apart_stay_two():
    even = closed(drawn.both(shapes.icosphere(3, 0.3), shapes.icosphere(3, 0.3, (0.8, 0.0, 0.0))))
    assert even.notes == ()
    assert drawn.part_count(even.triangles) == 2


@pytest.mark.parametrize(
    ("are_both_wrapped", "share"),
    [(True, 0.012), (True, 0.026), (True, 0.036), (False, 0.004), (False, 0.012), (False, 0.018)],
)
def test_gaps_between_parts_are_kept_from_the_share_of_the_size_that_is_told(are_both_wrapped, share):
    """Two blocks, one or both of which cross a smaller one, the other closed; half of the share does for one wrap."""
    (block, faces), gap = shapes.box(1.0, 4), 2.0 * share / (1.0 - share)
    away = 0.5 + 0.5 * gap
    parts = [block - (away, 0, 0), block + (away, 0, 0), 0.5 * block - (away + 0.1, 0.2, 0.4)]
    parts += [0.5 * block + (away + 0.1, 0.2, 0.4)] if are_both_wrapped else []
    triangles = np.concatenate([faces + k * len(block) for k in range(len(parts))])
    rng = np.random.default_rng(29)
    for number in (0, 1):
        turned = np.concatenate(parts) @ shapes.rotation(rng.standard_normal(3), 1.1 * number).T
        is_closed = gap < (GAP if are_both_wrapped else 0.5 * GAP) * drawn.size_of(turned)
        even = even_mesh(turned, triangles, 300)
        check_closed_surface("even", even.positions, even.triangles)
        assert drawn.part_count(even.triangles) == (1 if is_closed else 2)
        assert drawn.crossing_count(even.positions, even.triangles) == 0
        assert even.notes == ((WRAPPED, JOINED.format(1)) if is_closed else (WRAPPED,))


def test_flat_faces_doubles_and_windings_do_not_matter():
    x, triangles = shapes.icosphere(3, 0.5)
    # every triangle with corners of its own, one in two turned over, one of zero area on each edge of the first
    apart = x[triangles].reshape(-1, 3)
    soup = np.arange(len(apart)).reshape(-1, 3)
    soup[::2] = soup[::2, ::-1]
    flat = np.concatenate([soup, [(0, 1, 1), (0, 0, 2), (3, 4, 3)]])
    even = closed((apart, flat))
    assert even.notes == (TURNED,)
    assert drawn.volume(even[:2]) == pytest.approx(drawn.volume((x, triangles)), rel=1e-3)
    assert np.array_equal(even.positions, even_mesh(apart, soup, 800).positions)


def test_a_pinched_vertex_is_no_hindrance():
    lower, upper = shapes.box(0.5, 2), shapes.box(0.5, 2, (0.5, 0.5, 0.5))
    even = closed(drawn.both(lower, upper))  # they touch in one corner, which is welded
    assert drawn.part_count(even.triangles) in (1, 2)
    assert drawn.volume(even[:2]) == pytest.approx(0.25, rel=0.08)


def test_two_sheets_on_each_other_have_a_body():
    x, triangles = shapes.grid(1.0, 4)
    even = closed((x, np.concatenate([triangles, triangles[:, ::-1]])), 1000)
    assert even.notes == (WRAPPED,)


def test_an_empty_mesh_and_too_few_vertices_are_refused():
    with pytest.raises(MeshError, match="no faces"):
        even_mesh(np.zeros((3, 3)), np.zeros((0, 3), int), 300)
    with pytest.raises(MeshError, match="one point"):
        even_mesh(np.zeros((3, 3)), np.array([(0, 1, 2)]), 300)
    x, triangles = shapes.grid(1.0, 8)
    for way in ((0.0, 0.0), (0.37, 0.0), (0.37, 1e-8)):  # on one line, where some vertices coincide or none
        along, off = way
        line = np.outer(x[:, 0] + along * x[:, 1], (1.0, 0.3, 0.7)) + off * x
        with pytest.raises(MeshError, match="no area"):
            even_mesh(line, triangles, 300)
    with pytest.raises(ParameterError, match="vertex_count"):
        even_mesh(*CLOSED["cube"], 3)


def test_vertices_far_away_without_faces_change_nothing():
    x, triangles = CLOSED["cube"]
    even, other = even_mesh(x, triangles, 300), even_mesh(np.vstack([x, (5e3, 0.0, 0.0)]), triangles, 300)
    assert np.array_equal(other.positions, even.positions) and np.array_equal(other.triangles, even.triangles)


def test_very_fine_meshes_are_shrunk_first_and_followed_as_well(monkeypatch):
    """A ball with a thin fin of two sides, far nearer to each other than the cells are wide."""
    x, triangles = shapes.icosphere(6, 0.5)
    x[:, 2] *= np.where(x[:, 0] > 0.25, 0.02, 1.0)
    exact = even_mesh(x, triangles, 500)
    monkeypatch.setattr(even, "LARGE", 20_000)
    monkeypatch.setattr(shrink, "ABOUT", (6_000, 12_000))
    assert len(shrink.shrunk(x, triangles).x) < 0.4 * len(x)
    made = even_mesh(x, triangles, 500)
    check_closed_surface("even", made.positions, made.triangles)
    assert made.notes == () and drawn.euler(made.triangles) == 2
    assert len(made.positions) == pytest.approx(len(exact.positions), rel=0.05)
    assert drawn.volume((made.positions, made.triangles)) == pytest.approx(drawn.volume((x, triangles)), rel=0.005)
    away = drawn.distances(x[::7], made.positions, made.triangles)
    best = drawn.distances(x[::7], exact.positions, exact.triangles)
    assert np.quantile(away, 0.95) < 1.3 * np.quantile(best, 0.95)
    assert np.abs(Follower(made, x).positions(made.positions) - x).max() < 1e-14


def test_a_mesh_in_parts_that_is_drawn_inside_out_is_turned_as_a_whole_and_keeps_its_cavity():
    """Its vertices were bound to the far side, and what was simulated kept a tenth of its size from all else."""
    ball, shell, hollow = shapes.icosphere(1, 1.0, (3.0, 0.0, 0.0)), shapes.icosphere(1, 1.0), shapes.icosphere(1, 0.5)
    x, triangles = drawn.both(drawn.both(ball, shell), (hollow[0], hollow[1][:, ::-1]))
    for faces in (triangles, triangles[:, ::-1]):
        found = oriented(Mesh(x, np.ascontiguousarray(faces, np.int64), np.arange(len(x)))).triangles
        assert signed_volume(x, found) == pytest.approx(signed_volume(x, triangles))
