"""What XPBD does once instead of several times: lone contacts, wide reaches, and the check of a state."""

import numpy as np
import pytest
import shapes
from scenes import BEACH_BALL, LIVELY, add_ball, ball_world
from softpressure_ext.core import DivergenceError, ModelBuilder, World
from softpressure_ext.core.collide.mobility import Mobility
from softpressure_ext.core.collide.partners import widen_reach
from softpressure_ext.core.model import Chunks
from softpressure_ext.core.solvers.xpbd.contacts import project_contacts
from softpressure_ext.core.solvers.xpbd.flat_edges import mark_flat
from softpressure_ext.core.solvers.xpbd.lone import press_lone
from softpressure_ext.core.solvers.xpbd.looking import DONE, IDLE, KEPT_SHARE, SWEPT
from softpressure_ext.core.solvers.xpbd.swept import NEVER, largest_move
from softpressure_ext.core.sound import is_sound

SOFT, THICKNESS, TIME = 40, 2e-3, 1 / 480


class Floor:
    """Vertices that have come to a given triangle, tilted, and a bit through it; the last two are swept besides."""

    def __init__(self, seed, moving):
        rng = np.random.default_rng(seed)
        corners = np.array([(-5.0, -5.0, 0.0), (5.0, -5.0, 0.3), (0.0, 5.0, -0.2)])
        up = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        up /= np.linalg.norm(up)
        self.moving = moving
        self.shares = rng.dirichlet(np.ones(3), SOFT)
        self.gap = rng.uniform(-1e-3, 2.5e-3, SOFT)
        self.x = np.concatenate([self.shares @ corners + self.gap[:, None] * up, corners])
        along = rng.normal(0.0, 2e-3, (SOFT, 3))
        along -= np.outer(along @ up, up)
        height = np.where(self.gap < 0.0, rng.uniform(1e-4, 3e-3, SOFT), self.gap + rng.uniform(0.0, 2e-3, SOFT))
        lift = 2e-3 if moving else 0.0  # the floor has come up by that
        self.before = np.concatenate([self.x[:SOFT] + along, corners - lift * up])
        self.before[:SOFT] += (height - self.gap)[:, None] * up
        self.up = np.repeat(up[None], SOFT, axis=0)
        self.points = np.array([(i, SOFT, SOFT + 1, SOFT + 2) for i in range(SOFT)], np.int32)
        self.friction = rng.uniform(0.0, 6.0, SOFT)
        self.mass = rng.uniform(0.5, 2.0, SOFT)
        self.inverse_mass = 1.0 / self.mass
        self.inverse_mass[3] = 0.0  # pinned
        self.busy = np.zeros(SOFT, bool)
        self.busy[-2:] = True
        self.far = np.full(SOFT, -1.0)

    def lone(self, ahead=0.0):
        """Positions after, lambda, marks, crossing times, what is added to the sums, and doubt, by `press_lone`."""
        x, n, none = self.x.copy(), SOFT, np.zeros(0, np.int32)
        chunks = Chunks(np.array([0, n], np.int32), np.zeros(1, np.int32), np.array([0, 1], np.int32), none, none)
        reached, sums, mark, crossed = np.full(n, np.nan), np.zeros((1, 13)), np.zeros(n, np.int8), np.full(n, np.nan)
        self.pushed, doubt = np.zeros(1), np.zeros(1, bool)
        self.sides = np.zeros((n, 4)), np.zeros((n, 3)), np.zeros(n), np.full(n, np.inf)
        press_lone(
            x, self.before, not self.moving, np.array([0, n], np.int32), np.ones(n, bool), self.busy,
            np.array([ahead, 0.0]), np.zeros(2), np.array([[n, n + 1, n + 2]], np.int32), np.full((1, 3), -1, np.int32),
            self.points, np.zeros(n, np.int8), np.zeros(n, np.int32), np.tile(np.array([0, 1], np.int32), (n, 1)),
            np.full(n, THICKNESS), self.friction, np.ones(n, np.int8), np.zeros(n, np.int8), np.zeros(n, np.int8),
            *self.sides, np.zeros(n, np.int8), self.inverse_mass, self.mass, TIME, np.array([0, n], np.int32), chunks,
            self.far, crossed, np.zeros(n), mark, reached, sums, self.pushed, doubt,
        )  # fmt: skip
        return x, reached, mark, crossed, sums[0], bool(doubt[0])

    def swept(self):
        """Step and lambda of all rows but those of busy vertices, swept many times (tested by itself elsewhere)."""
        rows = np.flatnonzero((self.gap < THICKNESS) & ~self.busy).astype(np.int32)
        step, pressed, held = np.zeros((SOFT, 3)), np.zeros(len(rows)), np.zeros((len(rows), 3))
        weights = np.concatenate([np.ones((SOFT, 1)), -self.shares], axis=1)
        none = np.zeros(0, np.int32)
        project_contacts(
            len(rows), rows, KEPT_SHARE * THICKNESS - self.gap[rows], self.points, weights, self.up, self.friction,
            self.before, self.x,
            Mobility(self.inverse_mass, none, np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3, 3))), 40, step, pressed,
            held,
        )  # fmt: skip
        reached = np.zeros(SOFT)
        reached[rows] = pressed
        return step, reached, rows


@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_a_lone_contact_is_where_sweeps_would_take_it(seed, moving):
    floor = Floor(seed, moving)
    x, reached, mark, crossed, _, doubt = floor.lone()
    step, wanted, rows = floor.swept()
    assert 0 < np.count_nonzero(wanted) < SOFT and not step[3].any()
    way = (x - floor.before)[:SOFT]
    slip = np.linalg.norm(way - np.einsum("ij,ij->i", way, floor.up)[:, None] * floor.up, axis=1)[wanted > 0.0]
    assert (slip < 1e-9).any() and (slip > 1e-4).any()  # held, and sliding
    # rounding of coordinates of 5 m, and of lambda = m depth with it
    np.testing.assert_allclose(x[:SOFT] - floor.x[:SOFT], step, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(reached, wanted, rtol=0.0, atol=1e-14)
    np.testing.assert_array_equal(x[SOFT:], floor.x[SOFT:])
    assert (mark[rows] == DONE).all() and (mark[floor.busy & (floor.gap < THICKNESS)] == SWEPT).all()
    assert (mark[floor.gap > THICKNESS] == IDLE).all()
    np.testing.assert_array_equal(crossed < NEVER, floor.gap < 0.0)
    assert floor.pushed[0] == pytest.approx(np.linalg.norm(step, axis=1).max(), rel=1e-12)
    weights, normal, _, gap = floor.sides
    np.testing.assert_allclose(weights[:, 1:], -floor.shares, atol=1e-12)
    np.testing.assert_allclose(normal, floor.up, atol=1e-12)
    np.testing.assert_allclose(gap, floor.gap, atol=1e-14)
    # a floor that moves might have been passed, and what is busy is yet to be moved: both are looked at again
    assert doubt


@pytest.mark.parametrize("seed", range(3))
def test_lone_contacts_tell_what_spin_they_cost(seed):
    """The same as `take_step` with the moves, and the moments of the masses where they have gone."""
    floor = Floor(seed, moving=False)
    floor.busy[:] = False
    floor.inverse_mass[3] = 1.0 / floor.mass[3]
    x, _, _, _, sums, doubt = floor.lone()
    assert not doubt  # each was seen to be on its side again
    step = x[:SOFT] - floor.x[:SOFT]
    torque = np.einsum("i,ij->j", -floor.mass / TIME, np.cross(step, (floor.x - floor.before)[:SOFT]))
    np.testing.assert_allclose(sums[:3], torque, atol=1e-12 * np.abs(torque).max() + 1e-14)
    arm = (x - floor.before[0])[:SOFT]
    first, second = floor.mass @ arm, np.einsum("i,ij,ik->jk", floor.mass, arm, arm)
    expected = [floor.mass.sum(), *first, *np.diag(second), second[0, 1], second[0, 2], second[1, 2]]
    np.testing.assert_allclose(sums[3:], expected, rtol=1e-12, atol=1e-12)


def test_rows_sleep_until_their_sides_may_have_met():
    floor = Floor(0, moving=False)
    floor.far[:] = 0.5
    x, reached, mark, *_ = floor.lone(ahead=0.5 - 1.001 * THICKNESS)
    assert not reached.any() and not mark.any() and np.array_equal(x, floor.x)
    floor.far[:] = 0.5
    assert floor.lone(ahead=0.5 - 0.999 * THICKNESS)[1].any()
    np.testing.assert_allclose(floor.far, np.abs(floor.gap), atol=1e-14)  # measured anew


def test_the_longest_move_is_not_underestimated():
    rng = np.random.default_rng(5)
    before = rng.normal(size=(100, 3))
    after = before + rng.normal(size=(100, 3))
    longest = np.linalg.norm(after - before, axis=1).max()
    assert longest <= largest_move(before, after) <= np.sqrt(3.0) * longest


@pytest.mark.parametrize("among_moving", [False, True])
def test_a_wide_reach_finds_no_pair(among_moving):
    rng = np.random.default_rng(2)
    low = rng.uniform(-3.0, 3.0, (9, 3))
    box = np.concatenate([low, low + rng.uniform(0.1, 0.5, (9, 3))], axis=1)
    thickness, asked = rng.uniform(0.0, 0.05, 9), rng.uniform(0.0, 0.05, 9)
    reach, moving = asked.copy(), 6
    widen_reach(box, thickness, moving, among_moving, reach)
    assert (reach >= asked).all() and (reach[:moving] > 2.0 * asked[:moving]).any()
    assert np.array_equal(reach[moving:], asked[moving:])
    for a, b in np.ndindex(moving, 9):
        if a == b or not (among_moving or b >= moving):
            continue
        apart = np.maximum(box[b, :3] - box[a, 3:], box[a, :3] - box[b, 3:]).max()
        near = thickness[[a, b]].sum() + reach[[a, b]].sum() >= apart
        # only what was near before, for one of the two at least
        assert not near or reach[a] == asked[a] or reach[b] == asked[b]


def test_a_body_alone_keeps_its_reach():
    reach = np.array([0.1])
    widen_reach(np.array([[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]]), np.zeros(1), 1, True, reach)
    assert reach[0] == 0.1


@pytest.mark.parametrize("spoilt", [np.nan, np.inf, 1e5])
def test_only_sound_states_pass(spoilt):
    builder = ModelBuilder()
    add_ball(builder, BEACH_BALL, 1)
    builder.add_collider("floor", *shapes.grid(4.0))
    model = builder.build()
    x, largest = model.rest_positions.copy(), np.array([100.0])
    v = np.ones_like(x)
    assert is_sound(x, v, model.body_point_start, largest)
    for point in (0, model.vertex_count - 1, len(x) - 1):
        for values in (x, v):
            kept = values[point, 2]
            values[point, 2] = spoilt
            # a given point may be anywhere, and what is fast is not yet large
            harmless = spoilt == 1e5 and (values is v or point >= model.vertex_count)
            assert is_sound(x, v, model.body_point_start, largest) == harmless
            values[point, 2] = kept


def test_a_large_body_of_many_points_is_looked_at_closer():
    """Its sum of squares is large though it has not grown; what has is found."""
    world = ball_world(BEACH_BALL, 2, solver="XPBD", substeps=10, **LIVELY)
    world._rest_size = world._rest_size * 1e-2  # the sum of 162 squares is above the bound, the size is not
    world.advance_frame()
    world._rest_size = world._rest_size * 1e-3
    with pytest.raises(DivergenceError, match="grows beyond all bounds"):
        world.advance_frame()


def falling_pair():
    builder = ModelBuilder()
    add_ball(builder, BEACH_BALL, 2, (0.0, 0.0, 0.25), **LIVELY)
    add_ball(builder, BEACH_BALL, 2, (0.1, 0.0, 0.7), name="upper", **LIVELY)
    builder.add_collider("floor", *shapes.grid(4.0, cells=8))
    return World(builder.build(), frame_rate=60.0, substeps=20, threads=1, solver="XPBD")


def end_of(world):
    touched = 0
    for _ in range(20):
        world.advance_frame()
        touched += world.diagnostics().contact_count > 0
    assert touched > 3
    return world.save().positions


@pytest.mark.parametrize("spared", ["records", "rows", "flight", "edges"])
def test_what_is_spared_changes_no_bit(spared):
    """Searches that ways make needless, rows that sleep, calls in free flight, flat edges that are passed over."""
    world = falling_pair()
    solver = world._solver
    if spared == "records":
        solver._moves_of_skins = lambda: None
    elif spared == "rows":
        solver._candidates.ways = lambda moves: solver._candidates._unknown
    elif spared == "flight":
        solver._may_fly = False
    else:
        solver._flat_edges.pass_over = lambda *given, still: None
    assert np.array_equal(end_of(world), end_of(falling_pair()))


def test_flat_edges_are_those_between_triangles_in_one_plane():
    builder = ModelBuilder()
    builder.add_rigid("box", *shapes.box(0.4, 2, (0.0, 0.0, 1.0)), mass=1.0)
    builder.add_collider("floor", *shapes.grid(4.0, cells=3))
    builder.add_collider("crate", *shapes.box(0.5, 2, (0.0, 0.0, 0.3)))
    model = builder.build()
    surfaces, x = model.surfaces, model.rest_positions
    flat = np.ones(len(surfaces.edges), bool)
    first = int(np.searchsorted(surfaces.edge_body, model.moving_count))
    mark_flat(x, first, surfaces.edges, surfaces.edge_apex, flat)
    assert flat[:first].all()  # as they were
    for e in range(first, len(flat)):
        corners = np.concatenate([x[surfaces.edges[e]], x[surfaces.edge_apex[e][surfaces.edge_apex[e] >= 0]]])
        thin = np.linalg.svd(corners - corners.mean(axis=0), compute_uv=False)[2] < 1e-12
        assert flat[e] == (thin and len(corners) == 4)
    assert 0 < flat[first:].sum() < len(flat) - first


def test_a_state_that_is_not_finite_is_noticed_though_nobody_looks_again():
    for height in (0.3, 0.2):  # in flight, on the floor
        world = ball_world(BEACH_BALL, 2, drop=height - 0.2, solver="XPBD", substeps=10)
        for _ in range(2):
            world.advance_frame()
        assert world._solver.sizes is not None
        state = world.save()
        state.velocities[7, 1] = np.nan
        world.load(state)
        with pytest.raises(DivergenceError, match="not finite"):
            world.advance_frame()
