"""Bodies without a gap where a run starts: none passes through or jumps, whatever the rounding of their distance."""

import numpy as np
import pytest
import shapes
from explicit_scene import run, world_of
from rigid_scene import block
from softpressure_ext.core import ModelBuilder, World

#: From a rounding below the floor to within the distance that is kept [m].
GAPS = [-1e-7, 0.0, 1e-7, 1e-4]
#: What a cushion swells, since its pressure is that of the volume as drawn [m].
SWELLS = 0.01


def placed(kind: str, gap: float, floor: str) -> World:
    """A body on a floor, or on a rigid slab that lies on the floor."""
    builder = ModelBuilder()
    surface = {"friction": 0.5, "bounciness": 1.0}
    top = 0.0
    if floor == "slab":
        builder.add_rigid("slab", *block((1.0, 1.0, 0.1), (0.0, 0.0, 0.05)), mass=20.0, **surface)
        top = 0.1
    if kind == "box":
        builder.add_rigid("box", *block((0.2, 0.2, 0.2), (0.0, 0.0, top + 0.1 + gap)), mass=1.0, **surface)
    elif kind == "cushion":  # its lower face lies in the floor's plane, with an edge along the floor's diagonal
        mesh, triangles = shapes.box(0.4, 2, (0.0, 0.0, top + 0.2 + gap))
        builder.add_membrane("cushion", mesh, triangles, mass=0.5, gauge_pressure=500.0, damping=20.0, **surface)
    else:
        mesh, triangles = shapes.icosphere(2, 0.2, (0.0, 0.0, top))
        mesh[:, 2] += top + gap - mesh[:, 2].min()
        builder.add_solid("ball", mesh, triangles, cell_size=0.1, mass=1.0, modulus=1e5, damping=20.0, **surface)
    builder.add_collider("floor", *shapes.grid(4.0, 2), **surface)
    return world_of(builder, frame_rate=96.0)


@pytest.mark.parametrize("floor", ["floor", "slab"])
@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("kind", ["box", "cushion", "ball"])
def test_bodies_without_a_gap_at_the_start_stay_where_they_are(kind: str, gap: float, floor: str) -> None:
    world = placed(kind, gap, floor)
    start = world.save().positions
    moving = world.model.moving_point_count
    kept = 2.0 * world.model.thickness.sum()  # between the floor, the slab and the body
    swells = SWELLS if kind == "cushion" else 0.0
    for frame in range(24):
        run(world, 1)
        moved = world.save().positions[:moving] - start[:moving]
        rises = moved.mean(axis=0)
        assert -0.5 * kept - swells < rises[2] < 1.2 * kept + swells, frame
        assert np.abs(rises[:2]).max() < 0.25 * kept, frame  # a ball that stands on a vertex begins to roll


def test_a_seam_that_is_drawn_thinner_than_the_kept_distance_does_not_press() -> None:
    """A cushion whose outermost rows are 3.6 mm high and keep 3.9 mm: all 968 contacts there pressed in every step."""
    mesh, triangles = shapes.box(2.0, 11)
    thick = 1.0 - 0.8 * np.abs(mesh[:, :2]).max(axis=1) ** 2.5
    pillow = np.column_stack([0.25 * mesh[:, :2], 0.1 * mesh[:, 2] * thick])
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_membrane(
        "cushion", pillow, triangles, mass=0.6, gauge_pressure=300.0, stretch_modulus=5e3, damping=10.0,
        self_collision=True, pressure_at="REST", drawn_shape="INFLATED",
    )  # fmt: skip
    world = world_of(builder)
    for _ in range(4):
        world.advance_frame()
        assert world.diagnostics().contact_count < 100
