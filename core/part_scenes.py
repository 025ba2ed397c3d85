"""Small scenes, one for each part of scenes: simulated once, each calls every kernel of its part."""

import functools
from collections.abc import Callable

import numpy as np

from .array_types import FloatArray, IntArray
from .builder import ModelBuilder
from .contact.beside import beside
from .energy.elements import bound_elements
from .energy.energies import ModelElements
from .errors import SoftPressureError
from .frame_input import FrameInput
from .impulses.noise import turbulence
from .rigid_change import moved_as_one
from .simulation_mesh.bound import bound_mesh
from .simulation_mesh.even import even_mesh
from .simulation_mesh.follower import Follower
from .world import World

#: Makes a world of a model, with the method to prepare.
WorldMaker = functools.partial[World]


def _skins(make: WorldMaker) -> None:
    """Two boxes of skin on a moving floor, which overlap if that needs no other kernels; inflated ones."""
    positions, triangles = box(8)
    inflated = ModelBuilder()
    inflated.add_membrane(
        "box", positions, triangles, gauge_pressure=500.0, bend_modulus=0.01, pressure_at="REST", drawn_shape="INFLATED"
    )
    flat = box(4)[0] * (1.0, 1.0, 0.05) + (2.0, 0.0, 0.0)
    inflated.add_membrane("pillow", flat, box(4)[1], gauge_pressure=20.0, bend_modulus=0.01, pressure_at="REST")
    if make.keywords["solver"] == "EXPLICIT":
        _fall(make, inflated)
    else:
        inflated.build()
    _two_skins(make, positions, triangles, 1.001 if make.keywords["solver"] == "EXPLICIT" else 0.95)
    alone = ModelBuilder(ambient_pressure=0.0)
    alone.add_membrane("box", positions, triangles, gauge_pressure=500.0)
    _fall(make, alone)


def _crossed(make: WorldMaker) -> None:
    """Two boxes of skin that overlap; a skin whose top has passed through its bottom; two loops that overlap."""
    _two_skins(make, *box(8), 0.95)
    positions, _ = box(4)
    middle = (np.abs(positions - (0.5, 0.5, 1.0)) < 0.3).all(axis=1)
    _fold(make, np.where(middle[:, None], positions - (0.0, 0.0, 1.4), positions))
    flat = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    for place in (0.0, 0.9):
        flat.add_loop(f"loop {place}", *_square(place), gauge_pressure=500.0)
    make(flat.build(), frame_rate=240.0, substeps=4).advance_frame()


def _square(place: float) -> tuple[FloatArray, list[tuple[int, int]]]:
    """The outline of a square of 1 m in an upright plane, this far along it [m], and its edges."""
    corners = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 0.0, 1.0), (0.0, 0.0, 1.0)])
    return corners + (place, 0.0, 0.1 * place), [(0, 1), (1, 2), (2, 3), (3, 0)]


def _two_skins(make: WorldMaker, positions: FloatArray, triangles: IntArray, upper: float) -> None:
    builder = ModelBuilder(ambient_pressure=0.0)
    for height in (0.0, upper):
        builder.add_membrane(
            f"box {height}",
            positions + (0.0, 0.0, height),
            triangles,
            gauge_pressure=500.0,
            bend_modulus=0.01,
            damping=1.0,
            bounciness=0.5,
            pinned=[0] if height == 0.0 else [],
            velocity=(0.1, 0.0, -1.0),
        )
    corners = np.array([(-2.0, -2.0, -0.01), (2.0, -2.0, -0.01), (0.0, 3.0, -0.01)])
    builder.add_collider("floor", corners, np.array([(0, 1, 2)]))
    world = make(builder.build(), frame_rate=60.0, substeps=2)
    for height in (0.01, 0.0, 0.0):
        try:
            world.advance_frame(FrameInput(collider_positions={0: corners + (0.0, 0.0, height)}))
        except SoftPressureError:  # only the kernels matter here
            world.reset()
    _query(world)


def _solids(make: WorldMaker) -> None:
    """Two blocks, edges across edges, with a skin attached to the lower one and another to that skin."""
    positions, triangles = box(2)
    block, faces = box(1)
    builder = ModelBuilder()
    for place in (2.0, 3.1):
        builder.add_membrane(f"skin {place}", positions + (place, 0.0, 0.5), triangles, gauge_pressure=500.0)
    for turn in (0.0, 0.5):
        along, across = np.array([np.cos(turn), np.sin(turn), 0.0]), np.array([-np.sin(turn), np.cos(turn), 0.0])
        turned = (block - 0.5) @ np.array([along, across, [0.0, 0.0, 1.0]])
        builder.add_rigid(f"block {turn}", 0.5 * turned + (1.6, 0.0, 0.252 + 1.003 * turn), faces, bounciness=0.5)
    builder.attach_to_rigid(0, [1], 0)
    builder.attach_to_membrane(1, [1], 0)
    corners = np.array([(-2.0, -2.0, 0.0), (4.0, -2.0, 0.0), (0.0, 6.0, 0.0)])
    builder.add_collider("floor", corners, np.array([(0, 1, 2)]))
    world = make(builder.build(), frame_rate=120.0, substeps=40)
    for height in (0.0, 0.0, 0.001):
        world.advance_frame(FrameInput(collider_positions={0: corners + (0.0, 0.0, height)}))
    _query(world)
    if make.keywords["solver"] == "EXPLICIT":  # asks it of springs that stiffen
        model, x = world.model, world.save().positions.reshape(-1)
        bound_elements(ModelElements(model).rows, x, 3, np.zeros(model.vertex_count))


def _solids_alone(make: WorldMaker) -> None:
    """Two blocks that bounce on each other and across the rim of a floor, without a skin: the impulse solver."""
    block, faces = box(1)
    builder = ModelBuilder()
    for height in (0.003, 1.01):
        place = block + (0.1 * height, 0.0, height)
        builder.add_rigid(f"block {height}", place, faces, bounciness=0.5, velocity=(0.0, 0.0, -height))
    corners = np.array([(-2.0, -2.0, 0.0), (2.0, -2.0, 0.0), (0.0, 3.0, 0.0)])
    builder.add_collider("floor", corners, np.array([(0, 1, 2)]), bounciness=0.5)
    world = make(builder.build(), frame_rate=120.0, substeps=1)
    for _ in range(8):
        world.advance_frame()
    _query(world)


def _touch_itself(make: WorldMaker) -> None:
    """An empty skin whose walls lie on each other."""
    _fold(make, box(4)[0] * (1.0, 1.0, 0.02))


def _fold(make: WorldMaker, start: FloatArray) -> None:
    """A skin with self-contact that is moved to a start shape [m]."""
    builder = ModelBuilder(ambient_pressure=0.0)
    builder.add_membrane("flat", *box(4), stretch_modulus=100.0, self_collision=True)
    world = make(builder.build(), frame_rate=240.0, substeps=4)
    world.set_positions(0, start)
    world.advance_frame()
    _query(world)


def particles(make: WorldMaker) -> None:
    """Feature particles of rigid bodies: two that overlap, one of them also with a skin."""
    positions, triangles = box(2)
    block, faces = box(1)
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_membrane("skin", positions, triangles, gauge_pressure=500.0)
    builder.add_rigid("low", 0.4 * block + (0.33, 0.31, 0.9), faces)
    builder.add_rigid("high", 0.4 * block + (0.35, 0.32, 1.2), faces)
    world = make(builder.build(), frame_rate=240.0, substeps=10)
    world.advance_frame()


def _jelly(make: WorldMaker) -> None:
    """A soft solid on a floor; the second substep reuses the contact set of the first."""
    builder = ModelBuilder()
    builder.add_solid("jelly", *box(1), cell_size=0.5, pinned=[0])
    radius = _particle_radius(make)
    positions, triangles = box(1)
    builder.add_solid(
        "truss", positions + (0.2, 0.0, 1.001), triangles, kind="TRUSS", cell_size=0.5, particle_radius=radius
    )
    builder.add_collider("floor", np.array([(-2.0, -2.0, -0.01), (2.0, -2.0, -0.01), (0.0, 3.0, -0.01)]), [(0, 1, 2)])
    world = make(builder.build(), frame_rate=240.0, substeps=2)
    world.advance_frame(FrameInput(pinned_positions={0: world.positions(0)[:1]}))
    _query(world)
    alone = ModelBuilder()
    alone.add_solid("jelly", *box(1), cell_size=0.5)
    _fall(make, alone)


def _query(world: World) -> None:
    """Call all that is read of a frame."""
    world.diagnostics()
    for membrane in range(world.model.membrane_count):
        places = world.positions(membrane)
        beside(world.model, membrane, world.save().positions, places + 0.01, places)
    for rigid in range(world.model.rigid_count):
        world.rigid_velocity(rigid)
    x = world.save().positions
    moved_as_one(x, np.ones(len(x)), x, x)  # as jets and liquids push
    turbulence(x, 0)


def _fall(make: WorldMaker, builder: ModelBuilder) -> None:
    """Bodies that fall on a floor without kinematic motion: the search is then smaller."""
    builder.add_collider("floor", np.array([(-2.0, -2.0, -0.02), (2.0, -2.0, -0.02), (0.0, 3.0, -0.02)]), [(0, 1, 2)])
    make(builder.build(), frame_rate=240.0, substeps=10).advance_frame()


def box(side_count: int) -> tuple[FloatArray, IntArray]:
    """A cube of 1 m with `side_count` squares along each edge: positions [m] and triangles."""
    grid = np.arange(side_count)
    u, v = (index.ravel() for index in np.meshgrid(grid, grid, indexing="ij"))
    squares = np.stack([np.stack([u, v]), np.stack([u + 1, v]), np.stack([u + 1, v + 1]), np.stack([u, v + 1])])
    corners = []
    for axis in range(3):
        for far in (False, True):
            face = np.empty((4, 3, len(u)), dtype=np.int64)
            face[:, axis] = side_count if far else 0
            face[:, (axis + 1) % 3], face[:, (axis + 2) % 3] = squares[:, 0], squares[:, 1]
            corners.append((face if far else face[::-1]).transpose(2, 0, 1))
    points, number = np.unique(np.concatenate(corners).reshape(-1, 3), axis=0, return_inverse=True)
    quads = number.reshape(-1, 4)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(np.int32)
    return points / side_count, triangles


def _particle_radius(make: WorldMaker) -> float:
    """Such that particles of neighbouring cells of a truss are near each other [m]; 0 for methods without particles."""
    return 0.0 if make.keywords["solver"] == "EXPLICIT" else 0.45


def _flat(make: WorldMaker) -> None:
    """A loop of gas and a flat truss that meet above a floor, both in an upright plane."""
    corners, around = _square(0.0)
    radius = _particle_radius(make)
    inflated = ModelBuilder()
    inflated.add_loop("loop", corners, around, gauge_pressure=500.0, pressure_at="REST", drawn_shape="INFLATED")
    if make.keywords["solver"] == "EXPLICIT":
        _fall(make, inflated)
    else:
        inflated.build()
    builder = ModelBuilder()
    builder.add_loop("loop", corners, around, gauge_pressure=500.0, bend_modulus=0.01, damping=1.0, pinned=[0])
    builder.add_flat_truss("truss", corners + (0.1, 0.0, 1.001), around, cell_size=0.5, particle_radius=radius)
    builder.add_collider("floor", np.array([(-2.0, -2.0, -0.01), (2.0, -2.0, -0.01), (0.0, 3.0, -0.01)]), [(0, 1, 2)])
    world = make(builder.build(), frame_rate=240.0, substeps=2)
    world.advance_frame(FrameInput(pinned_positions={0: world.positions(0)[:1] + (1e-3, 0.0, 0.0)}))
    _query(world)
    alone = ModelBuilder()
    alone.add_loop("loop", corners, around, gauge_pressure=500.0)
    _fall(make, alone)


def _simulation_mesh(make: WorldMaker) -> None:
    """Even meshes of a box, of one with a hole and of a sheet, which is wrapped; the box's vertices follow."""
    positions, triangles = box(2)
    for some in (triangles, triangles[1:], triangles[:1]):
        Follower(even_mesh(positions, some, 50), positions)
    bound_mesh(*box(1), positions, triangles)
    ends = np.concatenate([positions, positions + (0.6, 0.3, 0.2)])
    even = even_mesh(ends, np.concatenate([triangles, triangles + len(positions)]), 100)
    Follower(even, ends).positions(even.positions)


def _fluids(make: WorldMaker) -> None:
    """A skin that is half full of water falls into water."""
    builder = ModelBuilder(air_density=1.2, liquid_density=1000.0, liquid_level=0.3, drag_coefficient=0.5)
    builder.add_membrane("box", *box(2), gauge_pressure=500.0, fill_density=1000.0, fill_share=0.5)
    _fall(make, builder)


#: A small scene of each part: skins; skins with self-contact; bodies that start crossed; soft solids
#: and trusses; loops and trusses in a plane; even meshes of drawn ones; fluids in and around bodies; convex rigid
#: bodies of few faces, alone; all other rigid bodies, and attachments.
PARTS: dict[str, Callable[[WorldMaker], None]] = {
    "SKIN": _skins,
    "SELF_CONTACT": _touch_itself,
    "CROSSED": _crossed,
    "LATTICE": _jelly,
    "FLAT": _flat,
    "SIMULATION_MESH": _simulation_mesh,
    "FLUIDS": _fluids,
    "RIGID": _solids_alone,
    "COUPLED": _solids,
}
