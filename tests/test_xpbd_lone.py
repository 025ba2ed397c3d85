"""What XPBD does once instead of several times: lone contacts, wide reaches, and the check of a state."""

import numpy as np
import pytest
import shapes
from scenes import BEACH_BALL, LIVELY, add_ball, ball_world
from softpressure_ext.core import DivergenceError, ModelBuilder, World
from softpressure_ext.core.collide.mobility import Mobility
from softpressure_ext.core.collide.partners import widen_reach
from softpressure_ext.core.solvers.xpbd.contacts import project_contacts, project_lone
from softpressure_ext.core.solvers.xpbd.swept import NEVER, find_crossed, largest_move
from softpressure_ext.core.sound import is_sound

SOFT, GIVEN = 40, 3


class Floor:
    """Vertices that have moved into a given triangle, tilted; the last two share a row with each other."""

    def __init__(self, seed, moving):
        rng = np.random.default_rng(seed)
        corners = np.array([(-5.0, -5.0, 0.0), (5.0, -5.0, 0.3), (0.0, 5.0, -0.2)])
        self.normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        self.normal /= np.linalg.norm(self.normal)
        shares = rng.dirichlet(np.ones(3), SOFT)
        self.thickness = 2e-3
        gap = rng.uniform(-1e-3, 2.5e-3, SOFT)
        self.x = np.concatenate([shares @ corners + gap[:, None] * self.normal, corners])
        self.before = self.x + rng.normal(0.0, 2e-3, self.x.shape)
        self.before[SOFT:] = corners - (1e-3 * self.normal if moving else 0.0)
        self.points = np.array([(i, SOFT, SOFT + 1, SOFT + 2) for i in range(SOFT)], np.int32)
        self.weights = np.concatenate([np.ones((SOFT, 1)), -shares], axis=1)
        self.gap, self.depth = gap, 0.8 * self.thickness - gap
        self.friction = rng.uniform(0.0, 6.0, SOFT)
        # an edge row of the last two vertices
        self.points[-1] = SOFT - 2, SOFT - 1, SOFT, SOFT + 1
        self.weights[-1] = 0.5, 0.5, -0.5, -0.5
        self.rows = np.arange(SOFT, dtype=np.int32)
        mass = rng.uniform(0.5, 2.0, SOFT)
        mass[3] = np.inf  # pinned
        none = np.zeros(0, np.int32)
        self.mobility = Mobility(
            1.0 / mass, none, np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3, 3)),
        )  # fmt: skip
        self.normals = np.repeat(self.normal[None], SOFT, axis=0)
        self.feature = np.zeros(SOFT, np.int8)

    def lone(self):
        """Step, lambda, j, settled rows, and the rows left, as `project_lone` has them."""
        step, pressed, held = np.zeros((SOFT, 3)), np.full(SOFT, np.nan), np.full((SOFT, 3), np.nan)
        settled, waiting = np.zeros(SOFT, bool), np.zeros(SOFT, np.int32)
        left = project_lone(
            SOFT, self.rows, self.depth, self.points, self.weights, self.normals, self.gap, self.feature, self.friction,
            self.before, self.x, self.mobility, np.zeros(SOFT, np.int32), step, pressed, held, settled, waiting,
        )  # fmt: skip
        return step, pressed, held, settled, waiting[:left]

    def swept(self, rows, step, pressed, held):
        """`project_contacts` of some rows, many times."""
        project_contacts(
            len(rows), rows, self.rows, self.depth, self.points, self.weights, self.normals, self.friction, self.before,
            self.x, self.mobility, 40, step, pressed, held,
        )  # fmt: skip


@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_a_lone_contact_is_where_sweeps_would_take_it(seed, moving):
    floor = Floor(seed, moving)
    step, pressed, held, _, left = floor.lone()
    assert left.tolist() == [SOFT - 2, SOFT - 1]  # vertex 38 has two rows, vertex 39 one of them
    floor.swept(left, step, pressed, held)
    expected = np.zeros((SOFT, 3)), np.zeros(SOFT), np.zeros((SOFT, 3))
    floor.swept(floor.rows, *expected)
    assert 0 < np.count_nonzero(pressed) < SOFT and not step[3].any()
    sliding = np.linalg.norm(held, axis=1) > 0.999 * floor.friction * pressed
    assert sliding.any() and (~sliding[pressed > 0.0]).any()
    # rounding of moves of 1e-3 m over 40 sweeps
    for found, wanted in zip((step, pressed, held), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-12 * np.abs(wanted).max())


@pytest.mark.parametrize("seed", range(3))
def test_what_is_settled_has_not_crossed(seed):
    floor = Floor(seed, moving=False)
    step, _, _, settled, _ = floor.lone()
    assert settled.any()
    after = floor.x.copy()
    after[:SOFT] += step
    crossed = np.zeros(SOFT)
    find_crossed(
        floor.before, after, SOFT, floor.points, np.zeros(SOFT, np.int8), np.ones(SOFT, np.int8), np.zeros(SOFT, bool),
        np.zeros(SOFT), 1.0, floor.weights, floor.normals, floor.gap, crossed,
    )  # fmt: skip
    assert (crossed[settled] == NEVER).all()
    # a floor that moves might have been passed: its rows are looked at again
    assert not Floor(seed, moving=True).lone()[3].any()


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


def test_ways_tell_no_record_valid_that_is_not():
    """The same run whether ways or all points tell when a search is due, search for search."""
    found = []
    for told in (True, False):
        builder = ModelBuilder()
        add_ball(builder, BEACH_BALL, 2, (0.0, 0.0, 0.25), **LIVELY)
        add_ball(builder, BEACH_BALL, 2, (0.1, 0.0, 0.7), name="upper", **LIVELY)
        builder.add_collider("floor", *shapes.grid(4.0))
        world = World(builder.build(), frame_rate=60.0, substeps=20, threads=1, solver="XPBD")
        if not told:
            world._solver._moves_of_skins = lambda: None
        touched = 0
        for _ in range(20):
            world.advance_frame()
            touched += world.diagnostics().contact_count > 0
        assert touched > 3
        found.append((world.diagnostics().counts.contact_searches, world.save().positions))
    assert found[0][0] == found[1][0] > 20
    assert np.array_equal(found[0][1], found[1][1])
