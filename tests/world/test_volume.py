"""Volumes that diagnostics tell: against closed forms, far from the origin, of several bodies, inside out and flat."""

import numpy as np
import pytest
import shapes
from softpressure_ext.core import ModelBuilder, World, part_scenes
from softpressure_ext.core.topology import signed_volume
from softpressure_ext.core.volume import EnclosedVolumes
from validation import validated

#: Rounding of a sum over some hundred triangles.
ROUNDING = 1e-13


def volumes(builder, change=lambda x: x):
    """Of all bodies at their rest shape, changed."""
    model = builder.build()
    enclosed = EnclosedVolumes(model)
    return [enclosed(body, change(model.rest_positions)) for body in range(model.membrane_count)]


def test_each_body_has_its_own_volume():
    builder = ModelBuilder()
    box, ball = part_scenes.box(4), shapes.icosphere(2, 0.3, (5.0, 0.0, 0.0))
    builder.add_membrane("box", *box)
    builder.add_membrane("ball", *ball)
    builder.add_collider("floor", [(-2.0, -2.0, -1.0), (2.0, -2.0, -1.0), (0.0, 3.0, -1.0)], [(0, 1, 2)])
    validated(
        "volumes of a box and a polyhedron", room="energy", measured=volumes(builder),
        expected=[1.0, signed_volume(*ball)], unit="m³", rel=ROUNDING, source="a³; sum of tetrahedra",
        reason="rounding",
    )  # fmt: skip
    assert volumes(builder, lambda x: 2.0 * x)[0] == pytest.approx(8.0, rel=ROUNDING)
    assert volumes(builder, lambda x: x * (-1.0, 1.0, 1.0))[0] == pytest.approx(-1.0, rel=ROUNDING)


def test_far_from_the_origin_no_digits_are_lost_but_those_of_the_positions():
    builder = ModelBuilder()
    builder.add_membrane("box", *part_scenes.box(4))
    far = 1e6
    # positions are rounded to 1e-10 m there; about the origin, the terms would be of the size far^3
    validated(
        "volume of a box 1 000 km from the origin", room="energy", measured=volumes(builder, lambda x: x + far)[0],
        expected=1.0, unit="m³", rel=10 * far * np.finfo(float).eps, source="a³",
        reason="positions are rounded to 1e-10 m there",
    )  # fmt: skip


def test_a_solid_is_measured_by_its_surface_and_a_loop_by_area_and_depth():
    builder = ModelBuilder()
    builder.add_solid("jelly", *part_scenes.box(2), cell_size=0.25)
    angles = 2.0 * np.pi * np.arange(30) / 30
    circle = 0.4 * np.stack([np.cos(angles), 0.0 * angles, np.sin(angles)], axis=1) + (4.0, 0.0, 0.0)
    builder.add_loop("ring", circle, np.stack([np.arange(30), (np.arange(30) + 1) % 30], axis=1), depth=0.2)
    area = 0.5 * 30 * 0.4**2 * np.sin(2.0 * np.pi / 30)
    solid, ring = volumes(builder)
    validated(
        "volume of a loop", room="bodies/flat", measured=ring, expected=0.2 * area, unit="m³", rel=ROUNDING,
        source="depth times area of the polygon", reason="rounding",
    )  # fmt: skip
    world = World(builder.build(), solver="EXPLICIT")
    assert [body.volume_ratio for body in world.diagnostics().bodies] == pytest.approx([1.0, 1.0], rel=ROUNDING)
    assert solid == pytest.approx(1.0, rel=ROUNDING)  # its cells fill the box
    assert [body.gas > 0.0 for body in world.diagnostics().bodies] == [False, True]
