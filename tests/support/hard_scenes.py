"""Hard scenes of rigid contact, after the unit scenes of rigid IPC (Ferguson et al. 2021) and of Erleben (2018)."""

import numpy as np
import shapes
from rigid_scene import block
from scenes import GRAVITY
from scipy.spatial.transform import Rotation
from softpressure_ext.core import ModelBuilder, World

FLOOR = shapes.grid(40.0)
UPSIDE_DOWN = shapes.rotation((1.0, 0.0, 0.0), np.pi)


def convex(points, triangles, centre, turn=None):
    """A convex mesh whose triangles face away from its middle, turned and moved."""
    x = np.array(points)
    return (x if turn is None else x @ turn.T) + np.asarray(centre, float), shapes.outward(x, np.array(triangles))


def tetrahedron(centre, turn=None):
    """Regular, with one edge along x on top and one along y below, and a distance of 1 m between them."""
    side = 0.5 * np.sqrt(2.0)
    x = [(-side, 0.0, 0.5), (side, 0.0, 0.5), (0.0, -side, -0.5), (0.0, side, -0.5)]
    return convex(x, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)], centre, turn)


def wedge(centre, turn=None):
    """A prism of 1 m whose sharp edge lies along y on top."""
    x = [(i, j, k) for j in (-0.5, 0.5) for i, k in ((-0.5, -0.5), (0.5, -0.5), (0.0, 0.5))]
    faces = [(0, 1, 2), (3, 5, 4), (0, 3, 4), (0, 4, 1), (1, 4, 5), (1, 5, 2), (2, 5, 3), (2, 3, 0)]
    return convex(x, faces, centre, turn)


def spike(centre, turn=None):
    """A pyramid of four sides, 1 m high, with its tip on top."""
    x = [(-0.25, -0.25, -0.5), (0.25, -0.25, -0.5), (0.25, 0.25, -0.5), (-0.25, 0.25, -0.5), (0.0, 0.0, 0.5)]
    return convex(x, [(0, 2, 1), (0, 3, 2), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)], centre, turn)


def built(meshes, colliders=(FLOOR,), *, friction=0.5, masses=1.0, gravity=GRAVITY, **options):
    """A world of rigid bodies and colliders of one friction and bounciness; steps of 1/240 s."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -gravity))
    for number, (mesh, mass) in enumerate(zip(meshes, np.broadcast_to(masses, len(meshes)), strict=True)):
        builder.add_rigid(f"body {number}", *mesh, mass=float(mass), friction=friction, **options)
    surface = {name: options[name] for name in ("bounciness",) if name in options}
    for number, mesh in enumerate(colliders):
        builder.add_collider(f"collider {number}", *mesh, friction=friction, **surface)
    return World(builder.build(), frame_rate=24.0, substeps=10, threads=1)


def tetrahedra(yaw=0.0, friction=0.0, shift=(0.0, 0.0), **options):
    """The lower edge of one falls on the upper edge of another, turned by `yaw` [degrees] from parallel."""
    turn = shapes.rotation((0.0, 0.0, 1.0), np.radians(90.0 + yaw))
    low = tetrahedron((0.0, 0.0, 0.5))
    return built([tetrahedron((*shift, 1.55), turn)], [low], friction=friction, **options)


def wedges(yaw=0.0, friction=0.0, shift=(0.0, 0.0), **options):
    turn = shapes.rotation((0.0, 0.0, 1.0), np.radians(yaw)) @ UPSIDE_DOWN
    return built([wedge((*shift, 1.55), turn)], [wedge((0.0, 0.0, 0.5))], friction=friction, **options)


def spikes(shift=(0.0, 0.0), **options):
    """A spike falls tip on tip on another."""
    below = [spike((0.0, 0.0, 0.5)), FLOOR]
    return built([spike((*shift, 1.55), UPSIDE_DOWN)], below, friction=0.0, **options)


def cliff_edges(shift=0.0, **options):
    """A box falls between two boxes whose edges its own edges meet."""
    below = [block((1.0, 1.0, 1.0), (side, 0.0, 0.5)) for side in (-1.0, 1.0)]
    return built([block((1.0, 1.0, 1.0), (shift, 0.0, 1.55))], [*below, FLOOR], friction=0.0, **options)


def tunnel(walls=4, play=1e-4, friction=0.0, speed=10.0, **options):
    """A box of 1 m slides along x between walls, each `play` [m] away; the fourth is the roof."""
    ways = [(0, -1, 0), (0, 1, 0)] if walls == 2 else [(0, 0, -1), (0, -1, 0), (0, 1, 0), (0, 0, 1)][:walls]
    solids = []
    for way in np.array(ways, float):
        size = np.where(way != 0.0, 1.0, 3.0)
        size[0] = 60.0
        solids.append(block(size, way * (1.0 + play) + [25.0, 0.0, 0.0]))
    return built(
        [block((1.0, 1.0, 1.0))], solids, friction=friction, masses=1000.0, velocity=(speed, 0.0, 0.0),
        gravity=GRAVITY if walls != 2 else 0.0, **options,
    )  # fmt: skip


def heavy_on_light(ratio=1000.0, size=10.0, gap=0.01):
    light, heavy = block((1.0,) * 3, (0.0, 0.0, 0.5 + gap)), block((size,) * 3, (0.0, 0.0, 1.0 + 2 * gap + 0.5 * size))
    return built([light, heavy], masses=(1.0, ratio))


def card_house(levels=2, thick=0.01, height=1.0, angle=20.0, gap=5e-4):
    """Tents of two cards each, side by side, a roof of flat cards, and so on."""
    a, z, cards = np.radians(angle), gap, []
    reach, rise = height * np.sin(a) + thick * np.cos(a), height * np.cos(a) + thick * np.sin(a)  # of a leaning card
    width = 2 * reach + gap
    for count in range(levels, 0, -1):
        first = -0.5 * (count - 1) * (width + 2 * gap)
        for k in range(count):
            for side in (-1, 1):
                place = (first + k * (width + 2 * gap) + side * 0.5 * (reach + gap), 0.0, z + 0.5 * rise)
                cards.append(block((thick, 1.0, height), place, shapes.rotation((0.0, 1.0, 0.0), -side * a)))
        z += rise + gap
        for k in range(count - 1):
            place = (first + (k + 0.5) * (width + 2 * gap), 0.0, z + 0.5 * thick)
            cards.append(block((1.2 * width, 1.0, thick), place))
        z += thick + gap
    return built(cards, masses=0.1)


def stack(count=10, seed=0, size=0.2, **options):
    """Boxes on each other, out of place by some millimetres."""
    rng, boxes = np.random.default_rng(seed), []
    for level in range(count):
        turn = shapes.rotation((0.0, 0.0, 1.0), rng.normal(0.0, 0.02))
        place = (*rng.normal(0.0, 0.004, 2), 0.5 * size + 0.003 + level * (size + 0.003))
        boxes.append(block((size,) * 3, place, turn))
    return built(boxes, **options)


def heap(count=48, seed=1, size=0.2, **options):
    """Boxes that fall in layers of sixteen, turned at random."""
    rng, boxes = np.random.default_rng(seed), []
    for k in range(count):
        turn = Rotation.random(random_state=rng.integers(1 << 30)).as_matrix()
        boxes.append(block((size,) * 3, (0.4 * (k % 4) - 0.6, 0.4 * (k // 4 % 4) - 0.6, 0.3 + 0.4 * (k // 16)), turn))
    return built(boxes, **options)
