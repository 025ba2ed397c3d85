"""Loops by physics: gas law, equilibrium, flight, momentum, their plane, floors and each other."""

import numpy as np
import pytest
import shapes
from flat_scene import in_plane, loop_world, momenta, out_of_plane, plane_of, ring_strain
from scenes import advance, moved_mass, played
from softpressure_ext.core import FrameInput, ModelBuilder, ParameterError, World
from softpressure_ext.core.contact.box_tree import build_trees
from softpressure_ext.core.contact.untangle.self_overlap import self_wrong_side
from validation import validated

TILTED = ((1.0, 2.0, 0.5), 0.8)
RING = shapes.ring(48, 0.5)
#: A band's points are moved some thousand times by numbers of about 1 m.
ROUNDING = 1e-12


def bark_world(**options):
    """A folded outline of 240 corners above a floor; it touches itself where it is squashed."""
    settings = {"floor": True, "gauge_pressure": 1e3, "stretch_modulus": 3e4, "bend_modulus": 5.0, "damping": 4.0}
    flat = shapes.bark(240, 0.5) + (0.0, 0.75)
    return loop_world(flat, self_collision=True, **(settings | options))


@pytest.mark.parametrize("turn", [None, TILTED])
def test_a_folded_outline_is_not_taken_to_be_inside_itself(turn):
    """Whether a corner is inside is asked within the plane: rays would leave a strip through its open sides."""
    world = bark_world(turn=turn)
    assert world.crossing_triangle_count == 0 and len(world.save().wrong_side) == 0
    model, surfaces = world.model, world.model.surfaces
    trees = build_trees(model.rest_positions, surfaces.triangles, surfaces.body_triangle_start)
    trees.refit(model.rest_positions, surfaces.triangles)
    assert len(self_wrong_side(model, trees, model.rest_positions, 0)[0]) == 0
    # a fold pushed through the other side: its corners, both copies, and no others
    x = model.rest_positions.copy()
    flat = (x[: model.vertex_count] @ plane_of(turn))[:, [0, 2]] - (0.0, 0.75)
    lobe = (flat[:, 0] > 0.35) & (np.abs(flat[:, 1]) < 0.2)
    x[: model.vertex_count][lobe] -= plane_of(turn) @ [1.2, 0.0, 0.0]
    trees.refit(x, surfaces.triangles)
    wrong = self_wrong_side(model, trees, x, 0)[0]
    assert len(wrong) and (np.sort(wrong // 2)[::2] == np.sort(wrong // 2)[1::2]).all()


@pytest.mark.parametrize("depth", [0.02, 0.2, 0.5])
def test_a_ring_keeps_the_strain_of_the_closed_form(depth):
    """From its equilibrium, and back to it from its shape without pressure; depth scales stiffness and gas alike."""
    strain = ring_strain(48, 0.5, 2e3, 1e4)
    for start in (strain, 0.0):
        world = loop_world(RING, gravity=0.0, gauge_pressure=2e3, damping=40.0, depth=depth)
        world.set_positions(0, (1.0 + start) * world.positions(0))
        advance(world, 30)
        radius = np.linalg.norm(in_plane(world), axis=1)
        validated(
            "strain of a ring under pressure", room="bodies/flat", measured=radius / 0.5 - 1.0, expected=strain,
            rel=0.01, source="p r (1 + ε) cos(π / 48) = Y ε", reason="it still rings a little",
        )  # fmt: skip
        pressure = world.diagnostics().bodies[0].gauge_pressure
        validated(
            "tension of a ring", room="bodies/flat", measured=1e4 * depth * (radius.mean() / 0.5 - 1.0), unit="N",
            expected=pressure * depth * radius.mean() * np.cos(np.pi / 48), rel=0.05, source="p depth r cos(π / 48)",
            reason="a small strain, found to 1 %, and the pressure at that volume",
        )  # fmt: skip


@pytest.mark.parametrize("turn", [None, TILTED])
def test_it_falls_exactly_and_only_within_its_plane(turn):
    """Gravity has a part out of the tilted plane, which holds it."""
    turned = shapes.rotation(*turn) if turn else np.eye(3)
    builder = ModelBuilder()
    builder.add_loop(
        "bark", shapes.upright(shapes.bark(240)) @ turned.T, mass=2.0, gauge_pressure=500.0, bend_modulus=1.0,
        velocity=turned @ [1.0, 3.0, 2.0],
    )  # fmt: skip
    world = World(builder.build(), frame_rate=60.0, substeps=4, solver="EXPLICIT")
    model = world.model
    mass, normal = moved_mass(world) / moved_mass(world).sum(), turned @ [0.0, 1.0, 0.0]
    start = mass @ model.rest_positions
    advance(world, 30)
    fall = model.gravity - (model.gravity @ normal) * normal
    expected = start + 0.5 * turned @ [1.0, 0.0, 2.0] + 0.125 * fall
    state = world.save()
    validated(
        "centre of a loop that falls within its plane", room="bodies/flat", measured=mass @ state.positions,
        expected=expected, unit="m", abs=1e-9, source="x0 + v0 t + g t²/2 within the plane",
        reason="rounding of some thousand steps",
    )  # fmt: skip
    validated(
        "velocity of a loop that falls within its plane", room="bodies/flat", measured=mass @ state.velocities,
        expected=turned @ [1.0, 0.0, 2.0] + 0.5 * fall, unit="m/s", abs=10 * ROUNDING, source="v0 + g t",
        reason="rounding",
    )  # fmt: skip
    assert max(out_of_plane(world, turn)) < ROUNDING
    shape = in_plane(world, 0, turn)
    assert np.ptp(shape[:, 0]) > 2.0  # it is still there


def test_it_spins_without_losing_anything():
    turned = shapes.rotation(*TILTED)
    world = loop_world(shapes.bark(120), turn=TILTED, gravity=0.0, bend_modulus=5.0)
    state = world.save()
    n = world.model.vertex_count
    state.velocities[:n] = np.cross(turned @ [0.0, 6.0, 0.0], state.positions[:n])
    world.load(state)
    before = momenta(world, TILTED)
    advance(world, 60)
    after = momenta(world, TILTED)
    np.testing.assert_allclose(after[0], before[0], atol=ROUNDING)
    validated(
        "angular momentum of a loop that spins for 1 s", room="bodies/flat", measured=after[1], expected=before[1],
        unit="kg m²/s", rel=1e-11, source="conserved", reason="rounding of 240 steps",
    )  # fmt: skip
    assert max(out_of_plane(world, TILTED)) < 6.0 * ROUNDING


def test_it_comes_to_rest_on_a_floor_under_its_weight():
    world = loop_world(shapes.ring(48, 0.3, (0.0, 0.31)), floor=True, mass=2.0, damping=8.0, bounciness=0.3)
    advance(world, 120)
    x = world.positions(0)
    advance(world, 30)
    assert np.abs(world.positions(0) - x).max() < 1e-4 and np.abs(world.velocities(0)).max() < 1e-3
    assert x[:, 2].min() == pytest.approx(world.model.thickness[0], rel=1e-3)
    assert world.diagnostics().contact_count > 0


@pytest.mark.parametrize("depths", [(0.1, 0.1), (0.3, 0.1), (0.1, 0.3)])
def test_loops_of_any_depths_hold_each_other(depths):
    """A fine ring on a square of four corners: the ring's corners meet sides without corners, as wide or not."""
    builder = ModelBuilder()
    square = np.array([(-0.4, 0.01), (0.4, 0.01), (0.4, 0.3), (-0.4, 0.3)])
    builder.add_loop("ring", shapes.upright(shapes.ring(40, 0.2, (0.0, 0.52))), mass=0.5, gauge_pressure=1e3,
                     damping=8.0, depth=depths[0], bounciness=0.2)  # fmt: skip
    builder.add_flat_truss("square", shapes.upright(square), cell_size=0.29, modulus=1e6, depth=depths[1], mass=1.0,
                           bounciness=0.2)  # fmt: skip
    builder.add_collider("floor", *shapes.grid(20.0, 2))
    world = World(builder.build(), frame_rate=60.0, substeps=4, solver="EXPLICIT")
    for _ in played(world, 60):
        assert in_plane(world, 0)[:, 1].min() > in_plane(world, 1)[:, 1].max() - 0.01  # the truss gives way by less
    assert in_plane(world, 0)[:, 1].min() < 0.35 and world.diagnostics().contact_count > 0


@pytest.mark.parametrize("depth", [0.0, 0.02, 0.2])
def test_rings_that_start_crossed_come_apart_within_their_plane(depth):
    """The corners of each that are inside the other are told, both copies; nothing is lost on the way out."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    options = {"mass": 1.0, "gauge_pressure": 1e3, "damping": 2.0, "friction": 0.0}
    builder.add_loop("one", shapes.upright(shapes.ring(40, 0.3)), depth=depth, **options)
    builder.add_loop("other", shapes.upright(shapes.ring(40, 0.3, (0.4, 0.1))), **options)
    world = World(builder.build(), frame_rate=60.0, substeps=4, solver="EXPLICIT")
    within = [np.linalg.norm(in_plane(world, a) - centre, axis=1) < 0.3 * np.cos(np.pi / 40)
              for a, centre in ((0, (0.4, 0.1)), (1, (0.0, 0.0)))]  # fmt: skip
    assert world.crossing_triangle_count > 0 and len(world.save().wrong_side) == 2 * np.sum(within)
    advance(world, 40)
    assert len(world.save().wrong_side) == 0
    apart = np.linalg.norm(in_plane(world, 0).mean(axis=0) - in_plane(world, 1).mean(axis=0))
    assert 0.55 < apart < 2.0  # they touch at 0.6, or less where they are flat
    np.testing.assert_allclose(momenta(world)[0], 0.0, atol=1e-11)
    assert max(out_of_plane(world)) < 1e-16


def test_it_is_glued_to_a_crate_that_turns_in_space():
    """Both copies of a corner are glued, so the crate hangs upright below the ring."""
    builder = ModelBuilder()
    ring = builder.add_loop("ring", shapes.upright(shapes.ring(40, 0.3, (0.0, 1.0))), depth=0.1, mass=1.0,
                            gauge_pressure=2e3, damping=5.0, pinned=[8, 9, 10, 11, 12])  # fmt: skip
    crate = builder.add_rigid("crate", *shapes.box(0.15, 1, (0.0, 0.02, 0.6)), mass=0.3, angular_damping=2.0,
                              linear_damping=2.0)  # fmt: skip
    builder.attach_to_rigid(ring, [29, 30, 31], crate)
    model = builder.build()
    assert len(model.attachments.stiffness) == 6
    world = World(model, frame_rate=60.0, substeps=4, solver="EXPLICIT")
    advance(world, 60)
    low = in_plane(world)[[29, 30, 31]]
    held = world.rigid_transform(crate) @ [0.0, 0.0, 0.7, 1.0]  # where the ring's lowest corner was glued
    assert np.linalg.norm(held[[0, 2]] - low.mean(axis=0)) < 0.02
    assert (np.abs(world.save().positions[:80, 1]) == 0.05).all()


def test_it_takes_part_in_a_scene_in_space():
    """A ball and a crate fall on a deep loop: it holds them up within its plane, and nothing passes through."""
    builder = ModelBuilder()
    builder.add_loop(
        "loop", shapes.upright(shapes.ring(40, 0.5), 0.51), depth=0.4, mass=3.0, gauge_pressure=2e3, damping=4.0,
        pinned=[28, 29, 30, 31, 32],
    )  # fmt: skip
    builder.add_membrane("ball", *shapes.icosphere(1, 0.15, (-0.12, 0.02, 1.4)), mass=0.3, gauge_pressure=2e3)
    builder.add_rigid("crate", *shapes.box(0.2, 1, (0.2, -0.03, 1.3)), mass=0.5)
    world = World(builder.build(), frame_rate=60.0, substeps=4, solver="EXPLICIT")
    for _ in played(world, 30):
        x, away = in_plane(world), np.abs(world.positions(1)[:, [0, 2]][:, None] - in_plane(world)).max()
        assert away < 10.0 and shapes.shoelace(x) > 0.7
        inside = np.linalg.norm(world.positions(1)[:, [0, 2]] - x.mean(axis=0), axis=1)
        assert inside.min() > np.linalg.norm(x - x.mean(axis=0), axis=1).min() - 0.05
    state, n = world.save(), 80
    assert (np.abs(state.positions[:n, 1]) == 0.2).all() and (state.velocities[:n, 1] == 0.0).all()


def test_pins_follow_within_the_plane():
    world = loop_world(RING, gravity=0.0, pinned=[0, 24], damping=5.0)
    held = world.positions(0)[[0, 24]]
    for frame in range(1, 13):
        world.advance_frame(FrameInput(pinned_positions={0: held + np.array([0.01, 0.02, -0.005]) * frame}))
    np.testing.assert_allclose(world.positions(0)[[0, 24]], held + [0.12, 0.0, -0.06], atol=1e-15)
    assert max(out_of_plane(world)) < 1e-16


def test_vertices_come_back_in_the_callers_order():
    rng = np.random.default_rng(2)
    shuffle = rng.permutation(48)
    builder = ModelBuilder()
    builder.add_loop("ring", shapes.upright(RING[shuffle]), np.argsort(shuffle))
    world = World(builder.build(), solver="EXPLICIT")
    np.testing.assert_allclose(world.positions(0), shapes.upright(RING[shuffle]), atol=1e-16)
    moved = world.positions(0) * 1.1 + [0.0, 0.3, 0.0]
    world.set_positions(0, moved)  # within the plane
    np.testing.assert_allclose(world.positions(0), moved - [0.0, 0.3, 0.0], atol=1e-15)
    with pytest.raises(ParameterError, match=r"^ring: positions of shape \(96, 3\); give \(48, 3\)\.$"):
        world.set_positions(0, np.zeros((96, 3)))
