"""Preparing the kernels: afterwards nothing is left to compile."""

import numpy as np
from softpressure_ext.core import FrameInput, ModelBuilder, World, prepare


def signature_count() -> int:
    return sum(len(kernel.signatures) for kernel in prepare._kernels())


def test_after_preparing_a_scene_compiles_nothing() -> None:
    reports = list(prepare.prepare())
    assert prepare.is_prepared() and not prepare.is_running()
    assert reports[-1][0] == reports[-1][1] == len(prepare._kernels()) > 20
    done = [report[0] for report in reports]
    assert done == sorted(done)
    assert list(prepare.prepare()) == reports[-1:]  # the second time there is nothing to do

    before = signature_count()
    positions, triangles = prepare._box(20)  # 2 402 vertices: several threads
    builder = ModelBuilder(ambient_pressure=0.0)
    builder.add_membrane("low", positions + (0.0, 0.0, 0.01), triangles, gauge_pressure=100.0)
    builder.add_membrane("high", positions + (0.2, 0.1, 1.05), triangles, bend_modulus=0.1, pinned=[3], damping=2.0)
    corners = np.array([(-5.0, -5.0, 0.0), (5.0, -5.0, 0.0), (0.0, 6.0, 0.0)])
    builder.add_collider("floor", corners, np.array([(0, 1, 2)]), bounciness=0.3)
    world = World(builder.build())
    for frame in range(4):
        moved = {0: corners + (0.0, 0.0, 0.001 * frame)}
        world.advance_frame(FrameInput(gauge_pressure={0: 120.0}, collider_positions=moved))
    assert world.diagnostics().contact_count > 0
    solids = ModelBuilder()
    ball = solids.add_membrane("skin", *prepare._box(3), gauge_pressure=500.0)
    block, faces = prepare._box(2)
    for number in range(2):
        solids.add_rigid(f"block {number}", 0.5 * block + (1.3, 0.1 * number, 0.01 + 0.503 * number), faces)
    solids.attach_to_rigid(ball, [5, 6], 0)
    solids.add_collider("floor", corners, np.array([(0, 1, 2)]))
    world = World(solids.build())
    for _ in range(4):
        world.advance_frame()
    assert world.diagnostics().contact_count > 0
    jelly = ModelBuilder()
    positions, triangles = prepare._box(2)
    jelly.add_solid("jelly", positions + (0.0, 0.0, 0.02), triangles, cell_size=0.3)
    jelly.add_collider("floor", corners, np.array([(0, 1, 2)]))
    world = World(jelly.build())
    for _ in range(2):
        world.advance_frame()
    assert signature_count() == before


def test_the_box_is_closed_and_of_unit_volume() -> None:
    from softpressure_ext.core import check_closed_surface
    from softpressure_ext.core.topology import signed_volume

    positions, triangles = prepare._box(3)
    check_closed_surface("box", positions, triangles)
    assert abs(signed_volume(positions, triangles) - 1.0) < 1e-12
