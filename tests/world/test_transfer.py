"""A state taken over to a model of the same bodies with other settings."""

from dataclasses import replace

import numpy as np
import shapes
from scenes import advance
from softpressure_ext.core import ModelBuilder, State, World
from softpressure_ext.core.transfer import transferred


def model_of(*, mass=1.0, cell_size=0.2, with_first=True, **flow):
    """A ball of gas that may flow, a jelly and a box; the first ball only if asked for."""
    made = ModelBuilder()
    if with_first:
        made.add_membrane("first", *shapes.icosphere(1, 0.2, (-2.0, 0.0, 0.0)), gauge_pressure=500.0)
    made.add_membrane("ball", *shapes.icosphere(1, 0.3), mass=mass, gauge_pressure=2e3, **flow)
    made.add_solid("jelly", *shapes.icosphere(2, 0.3, (2.0, 0.0, 0.0)), cell_size=cell_size, mass=mass, modulus=2e4)
    made.add_rigid("box", *shapes.box(0.3, 1, (4.0, 0.0, 0.0)), mass=mass)
    return made.build()


def moved(model):
    """A state in which every body has moved and turned by the same motion, and flown a bit."""
    state = State.at_rest(model)
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    state.positions[:] = state.positions @ turn.T + (0.0, 0.0, 5.0)
    state.velocities[:] = (1.0, 2.0, 3.0)
    state.rigid.pose[0, :3] = turn @ state.rigid.pose[0, :3] + (0.0, 0.0, 5.0)
    state.rigid.pose[0, 3:] = np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)
    state.rigid.velocity[0], state.rigid.angular_momentum[0] = (1.0, 2.0, 3.0), (0.0, 0.0, 0.5)
    state.rest_lengths = state.rest_lengths * 1.1
    state.lost_gas = state.lost_gas + 7.0
    return state, turn


def taken(state, old, new, pairs):
    positions = {was: shapes_of(old, state, was) for was, _ in pairs if was < old.membrane_count}
    return transferred(state, old, positions, new, pairs)


def shapes_of(model, state, body):
    """Vertices of a soft body in the caller's order."""
    from softpressure_ext.core.bodies.lattice.follow import followed

    points = model.point_of_vertex[slice(*model.body_point_start[body : body + 2])]
    return followed(model, body, points, state.positions)


def test_bodies_keep_their_motion_in_a_model_without_one_of_them():
    flow = {"creep_time": 0.5, "tear_strain": 3.0}
    old, new = model_of(**flow), model_of(mass=2.0, with_first=False, **flow)
    before, _ = moved(old)
    after = taken(before, old, new, [(1, 0), (2, 1), (3, 2)])
    skipped = old.body_point_start[1]
    np.testing.assert_array_equal(after.positions, before.positions[skipped:])
    np.testing.assert_array_equal(after.velocities, before.velocities[skipped:])
    np.testing.assert_array_equal(after.rigid.pose, before.rigid.pose)
    np.testing.assert_allclose(after.rigid.angular_momentum, 2.0 * before.rigid.angular_momentum)  # turns as fast
    ball = new.point_body[new.edges.points[:, 0]] == 0
    np.testing.assert_array_equal(after.rest_lengths[ball], 1.1 * new.edges.rest_length[ball])
    assert after.lost_gas[0] == 7.0


def test_what_is_torn_and_what_sloshes_goes_on_in_the_new_model():
    """Springs that grew together again would pull the pieces back, however far they are apart."""
    options = {"tear_strain": 3.0, "fill_density": 800.0, "fill_share": 0.5}
    old, new = model_of(**options), model_of(mass=2.0, with_first=False, **options)
    before, _ = moved(old)
    crosses = np.ptp(np.sign(old.rest_positions[old.edges.points, 2] - 0.01), axis=1) > 0.0
    before.keyed = replace(before.keyed, torn=crosses & (old.point_body[old.edges.points[:, 0]] == 1))
    before.surface[1], before.felt_gravity[1] = (0.6, 0.0, 0.8, 0.0, 2.0, 0.0), (0.0, 1.0, -9.0)
    after = taken(before, old, new, [(1, 0), (2, 1), (3, 2)])
    ends = [{tuple(pair) for pair in model.rest_positions[model.edges.points[torn]].reshape(-1, 6).tolist()}
            for model, torn in ((old, before.keyed.torn), (new, after.keyed.torn))]  # fmt: skip
    assert ends[0] == ends[1] and len(ends[0]) > 5
    np.testing.assert_array_equal(after.surface[0], before.surface[1])
    np.testing.assert_array_equal(after.felt_gravity[0], before.felt_gravity[1])


def sticky(*, with_first=True, mass=0.2, sticks=(True, True)):
    """Two balls that have fallen on each other in free flight and stick, after a third one if asked for."""
    made = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    if with_first:
        made.add_membrane("first", *shapes.icosphere(1, 0.2, (-2.0, 0.0, 0.0)), gauge_pressure=500.0)
    for height, speed, stick in ((0.0, 1.0, sticks[0]), (0.63, -1.0, sticks[1])):
        made.add_membrane(
            f"ball {height}", *shapes.icosphere(2, 0.3, (0.0, 0.0, height)), gauge_pressure=1e3,
            stretch_modulus=2e3, velocity=(0.0, 0.0, speed), sticks=stick, mass=mass,
        )  # fmt: skip
    return made.build()


def test_what_sticks_goes_on_sticking_in_the_new_model():
    old, new = sticky(), sticky(with_first=False, mass=0.3)
    world = World(old, frame_rate=24.0, threads=1, solver="EXPLICIT")
    advance(world, 4)
    before = world.save()
    assert len(before.keyed.bond_points) > 3
    before.keyed = replace(before.keyed, bond_broken=np.array([[old.body_point_start[1] + 5, 2], [3, 1]], np.int32))
    after, skipped = taken(before, old, new, [(1, 0), (2, 1)]), old.body_point_start[1]
    np.testing.assert_array_equal(after.keyed.bond_points, before.keyed.bond_points - skipped)
    np.testing.assert_array_equal(after.keyed.bond_body, before.keyed.bond_body - 1)
    np.testing.assert_array_equal(after.keyed.bond_offset, before.keyed.bond_offset)
    assert after.keyed.bond_broken.tolist() == [[5, 1]]
    going = World(new, frame_rate=24.0, threads=1, solver="EXPLICIT")
    going.load(after)
    advance(going, 12)
    assert np.ptp([going.positions(body)[:, 2].mean() for body in (0, 1)]) < 0.65  # without bonds they part


def test_bonds_end_where_a_body_no_longer_sticks_or_is_gone():
    old = sticky()
    world = World(old, frame_rate=24.0, threads=1, solver="EXPLICIT")
    advance(world, 4)
    before = world.save()
    gone = taken(before, old, sticky(), [(0, 0), (1, 1)])
    assert len(gone.keyed.bond_points) == 0
    rigid = ModelBuilder()
    rigid.add_rigid("box", *shapes.box(0.3, 1))
    assert len(taken(before, old, rigid.build(), []).keyed.bond_points) == 0
    half = taken(before, old, sticky(sticks=(True, False)), [(0, 0), (1, 1), (2, 2)]).keyed
    owner = old.point_body[half.bond_points[:, 0]]
    assert (owner == 1).all() and 0 < len(owner) < len(before.keyed.bond_points)


def test_a_solid_of_other_cells_keeps_place_turn_and_momentum():
    old, new = model_of(), model_of(cell_size=0.12)
    before, turn = moved(old)
    after = taken(before, old, new, [(2, 2)])
    jelly = slice(*new.body_point_start[2:4])
    expected = new.start_positions[jelly] @ turn.T + (0.0, 0.0, 5.0)
    np.testing.assert_allclose(after.positions[jelly], expected, atol=1e-12)
    np.testing.assert_allclose(new.vertex_mass[jelly] @ after.velocities[jelly], (1.0, 2.0, 3.0))
    others = slice(0, new.body_point_start[2])
    np.testing.assert_array_equal(after.positions[others], new.start_positions[others])


def test_a_rigid_body_of_another_shape_and_a_body_of_another_kind_start_anew():
    old = model_of()
    made = ModelBuilder()
    made.add_membrane("ball", *shapes.icosphere(1, 0.3), gauge_pressure=2e3)
    made.add_rigid("box", *shapes.box(0.4, 1, (4.0, 0.0, 0.0)), mass=1.0)
    new, (before, _) = made.build(), moved(old)
    after = taken(before, old, new, [(3, 0), (3, 1)])
    start = State.at_rest(new)
    np.testing.assert_array_equal(after.positions, start.positions)
    np.testing.assert_array_equal(after.rigid.pose, start.rigid.pose)
