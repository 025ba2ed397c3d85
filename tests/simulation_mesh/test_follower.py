"""The follower: exact at rest and under rigid motion, near the exact bend, values to and fro."""

import drawn_meshes as drawn
import numpy as np
import pytest
import shapes
from contact_reference import inside
from softpressure_ext.core.simulation_mesh.bound import bound_mesh
from softpressure_ext.core.simulation_mesh.even import even_mesh
from softpressure_ext.core.simulation_mesh.follower import Follower

MESHES = {
    "figure": drawn.figure(),
    "uv sphere": shapes.uv_sphere(16, 32, 0.5),
    "torus": shapes.torus(0.4, 0.15),
    "cup": drawn.cup(),
    "sheet": shapes.grid(1.0, 12),
    "boxes": drawn.both(shapes.box(1.0, 8), shapes.box(1.0, 8, (0.5, 0.4, 0.3))),
}
#: Share of the size that 95 % of the vertices may be off where the body is bent; a wrap rounds the creases of boxes.
BEND = {"boxes": 0.01}


@pytest.fixture(scope="module", params=MESHES)
def bound(request):
    mesh = MESHES[request.param]
    even = even_mesh(*mesh, 1000)
    return mesh, even, Follower(even, mesh[0])


@pytest.fixture
def near(bound, request):
    return BEND.get(request.node.callspec.params["bound"], 0.005)


def is_seen(x):
    """Vertices of a mesh that are not inside the other one of two boxes."""
    if len(x) != len(MESHES["boxes"][0]):
        return np.ones(len(x), bool)
    deep = [(np.abs(x - centre) < 0.5 - 1e-9).all(axis=1) for centre in ((0, 0, 0), (0.5, 0.4, 0.3))]
    return ~(deep[0] | deep[1])


def test_it_is_exact_at_rest(bound):
    mesh, even, follower = bound
    assert np.abs(follower.positions(even.positions) - mesh[0]).max() < 1e-14


def test_rigid_motion_is_followed_exactly(bound):
    mesh, even, follower = bound
    turn = shapes.rotation((0.3, -1.0, 2.0), 2.2)
    moved = follower.positions(even.positions @ turn.T + (3.0, -1.0, 2.0))
    assert np.abs(moved - (mesh[0] @ turn.T + (3.0, -1.0, 2.0))).max() < 1e-13


def test_a_bend_is_followed_closely(bound, near):
    mesh, even, follower = bound
    length = np.ptp(mesh[0][:, 0])
    away = np.linalg.norm(follower.positions(drawn.bent(even.positions, length)) - drawn.bent(mesh[0], length), axis=1)
    away = away[is_seen(mesh[0])] / drawn.size_of(mesh[0])
    assert np.quantile(away, 0.95) < near
    assert away.max() < 5.0 * near


def test_a_squash_is_followed_closely(bound, near):
    mesh, even, follower = bound
    stretch = np.array([0.7**-0.5, 0.7**-0.5, 0.7])
    away = np.linalg.norm(follower.positions(even.positions * stretch) - mesh[0] * stretch, axis=1)
    away = away[is_seen(mesh[0])]
    assert np.quantile(away, 0.95) < near * drawn.size_of(mesh[0])


def test_stand_off_is_how_far_vertices_stand_out(bound):
    mesh, even, follower = bound
    out = mesh[0][~inside(mesh[0], even.positions, even.triangles)]
    assert drawn.distances(out, even.positions, even.triangles).max(initial=0.0) <= follower.stand_off + 1e-9
    assert follower.stand_off < 0.03 * drawn.size_of(mesh[0])


def test_a_ramp_is_carried_there_and_back(bound):
    mesh, even, follower = bound
    ramp = mesh[0][:, 0] / drawn.size_of(mesh[0])
    there = follower.transfer(ramp)
    assert np.sqrt(np.mean((there - even.positions[:, 0] / drawn.size_of(mesh[0])) ** 2)) < 0.01
    seen = is_seen(mesh[0])
    assert np.sqrt(np.mean((follower.interpolated(there) - ramp)[seen] ** 2)) < 0.02


def test_the_sides_of_a_thin_fin_do_not_mix():
    x, triangles = shapes.box(1.0, 12)
    fin = x * (1.0, 1.0, 0.03), triangles
    even = even_mesh(*fin, 600)
    follower = Follower(even, fin[0])
    up = (fin[0][:, 2] > 0.0).astype(float)
    inner = np.abs(even.positions[:, :2]).max(axis=1) < 0.45
    there = follower.transfer(up)[inner]
    assert np.array_equal(there > 0.5, even.positions[inner, 2] > 0.0)
    corner = even.triangles[follower.triangle]
    middle = np.abs(fin[0][:, :2]).max(axis=1) < 0.45
    assert np.array_equal(even.positions[corner].mean(axis=1)[middle, 2] > 0.0, fin[0][middle, 2] > 0.0)


def test_half_a_million_vertices_follow_with_the_same_bits_in_any_threads():
    x, triangles = shapes.icosphere(5, 0.5)
    even = even_mesh(x, triangles, 300)
    follower = Follower(even, x)
    whole = follower.positions(even.positions)
    many = np.repeat(np.arange(len(x)), 20)  # over several chunks
    follower.triangle, follower.weights = follower.triangle[many], follower.weights[many]
    follower.offsets = follower.offsets[many]
    assert np.array_equal(follower.positions(even.positions), whole[many])


def test_any_closed_mesh_can_be_followed():
    """A ball in a cage of few faces: exact at rest and turned, near the exact squash."""
    ball, faces = shapes.uv_sphere(16, 32, 0.5)
    cage, sides = shapes.icosphere(2)
    cage = 1.3 * np.linalg.norm(ball - ball.mean(axis=0), axis=1).max() * cage + ball.mean(axis=0)
    bound = bound_mesh(cage, sides, ball, faces)
    follower = Follower(bound, ball)
    turn, stretch = shapes.rotation((0.3, -1.0, 2.0), 2.2), np.array([1.1, 1.1, 0.8])
    assert np.abs(follower.positions(cage) - ball).max() < 1e-14
    assert np.abs(follower.positions(cage @ turn.T + 1.0) - (ball @ turn.T + 1.0)).max() < 1e-13
    away = np.linalg.norm(follower.positions(cage * stretch) - ball * stretch, axis=1)
    # offsets, of 0.3 radii, keep their length where the cage is stretched by up to a fifth
    assert away.max() < 0.05 * drawn.size_of(ball)
    heights = follower.transfer(ball[:, 2])
    assert np.corrcoef(heights, cage[:, 2])[0, 1] > 0.99
