"""Hard scenes of rigid contact, after the unit scenes of rigid IPC (Ferguson et al. 2021) and of Erleben ("Methodology
for Assessing Mesh-Based Contact Point Methods", 2018), and the energy of rigid bodies.
"""

import numpy as np
import shapes
from rigid_scene import block
from scenes import GRAVITY
from scipy.spatial.transform import Rotation
from softpressure_ext.core import ModelBuilder, World

#: Corners and triangles of a tetrahedron of height 1 m with its upper edge along x and its lower edge along y.
WEDGE_TRIANGLES = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])


def tetrahedron(size=1.0, centre=(0.0, 0.0, 0.0), turn=None):
    """Regular, with one edge along x on top and one along y below, and the distance `size` [m] between them."""
    half = 0.5 * size
    side = half * np.sqrt(2.0)
    x = np.array([(-side, 0.0, half), (side, 0.0, half), (0.0, -side, -half), (0.0, side, -half)])
    return (x if turn is None else x @ turn.T) + np.asarray(centre, float), outward(x, WEDGE_TRIANGLES)


def wedge(width=1.0, height=1.0, length=1.0, centre=(0.0, 0.0, 0.0), turn=None):
    """A prism whose sharp edge lies along y on top."""
    w, h, d = 0.5 * width, 0.5 * height, 0.5 * length
    x = np.array([(-w, -d, -h), (w, -d, -h), (0, -d, h), (-w, d, -h), (w, d, -h), (0, d, h)])
    faces = [(0, 1, 2), (3, 5, 4), (0, 3, 4), (0, 4, 1), (1, 4, 5), (1, 5, 2), (2, 5, 3), (2, 3, 0)]
    return (x if turn is None else x @ turn.T) + np.asarray(centre, float), outward(x, faces)


def spike(width=0.5, height=1.0, centre=(0.0, 0.0, 0.0), turn=None):
    """A pyramid of four sides with its tip on top."""
    w, h = 0.5 * width, 0.5 * height
    x = np.array([(-w, -w, -h), (w, -w, -h), (w, w, -h), (-w, w, -h), (0, 0, h)])
    faces = [(0, 2, 1), (0, 3, 2), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)]
    return (x if turn is None else x @ turn.T) + np.asarray(centre, float), outward(x, faces)


def outward(x, triangles):
    """Triangles of a convex shape, turned so that they face away from its centre."""
    triangles = np.array(triangles)
    a, b, c = (x[triangles[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), (a + b + c) / 3.0 - x.mean(axis=0)) < 0.0
    triangles[inward] = triangles[inward][:, ::-1]
    return triangles


UPSIDE_DOWN = shapes.rotation((1.0, 0.0, 0.0), np.pi)


def built(bodies, colliders=(), gravity=(0.0, 0.0, -GRAVITY), rate=24.0, substeps=10, threads=1, solver="IMPLICIT"):
    """A world of rigid bodies (mesh, options each) and colliders (mesh, options each); steps of 1/240 s."""
    builder = ModelBuilder(gravity=gravity)
    for number, (mesh, own) in enumerate(bodies):
        builder.add_rigid(f"body {number}", *mesh, **own)
    for number, (mesh, own) in enumerate(colliders):
        builder.add_collider(f"collider {number}", *mesh, **own)
    return World(builder.build(), frame_rate=rate, substeps=substeps, threads=threads, solver=solver)


def energy(world):
    """Kinetic energy, also of rotation, and that of height [J], with the gravity of the model."""
    rigid, now = world.model.rigid, world.save().rigid
    total = 0.0
    for body in range(world.model.rigid_count):
        w, x, y, z = now.pose[body, 3:]
        turn = np.array(
            [
                (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
                (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
                (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
            ]
        )
        spin = turn.T @ now.angular_momentum[body]
        mass = rigid.mass[body]
        total += 0.5 * mass * now.velocity[body] @ now.velocity[body] + 0.5 * spin @ rigid.inverse_inertia[body] @ spin
        total -= mass * world.model.gravity @ now.pose[body, :3]
    return float(total)


def lively(options):
    """The bounciness among a body's options, for the colliders that it meets."""
    return {"bounciness": options["bounciness"]} if "bounciness" in options else {}


def tetrahedra(yaw=0.0, friction=0.0, gap=0.05, shift=(0.0, 0.0), **options):
    """A tetrahedron falls with its lower edge on the upper edge of another, a collider, turned by `yaw` [degrees] from
    parallel; the energy counts from the collider's base.
    """
    turn = shapes.rotation((0.0, 0.0, 1.0), np.radians(90.0 + yaw))
    upper = tetrahedron(1.0, (*shift, 1.5 + gap), turn)
    return built(
        [(upper, {"friction": friction, "mass": 1.0, **options})],
        [(tetrahedron(1.0, (0.0, 0.0, 0.5)), {"friction": friction, **lively(options)})],
    )


def wedges(yaw=0.0, friction=0.0, gap=0.05, shift=(0.0, 0.0), **options):
    turn = shapes.rotation((0.0, 0.0, 1.0), np.radians(yaw)) @ UPSIDE_DOWN
    return built(
        [(wedge(centre=(*shift, 1.5 + gap), turn=turn), {"friction": friction, "mass": 1.0, **options})],
        [(wedge(centre=(0.0, 0.0, 0.5)), {"friction": friction, **lively(options)})],
    )


def tunnel(walls=4, play=1e-4, friction=0.0, speed=10.0, rate=24.0, substeps=10, **options):
    """A box of 1 m slides along x between walls, each `play` [m] away; the fourth is the roof."""
    places = [(0, 0, -1), (0, -1, 0), (0, 1, 0), (0, 0, 1)][:walls]
    if walls == 2:
        places = [(0, -1, 0), (0, 1, 0)]
    solids = []
    for way in places:
        way = np.array(way, float)
        size = np.where(way != 0.0, 1.0, 3.0) * [1, 1, 1]
        size[0] = 60.0
        solids.append((block(size, way * (1.0 + play) + [25.0, 0.0, 0.0]), {"friction": friction, **lively(options)}))
    return built(
        [(block((1.0, 1.0, 1.0)), {"mass": 1000.0, "friction": friction, "velocity": (speed, 0.0, 0.0), **options})],
        solids,
        rate=rate,
        substeps=substeps,
        gravity=(0.0, 0.0, -GRAVITY if walls != 2 else 0.0),
    )


def heavy_on_light(ratio=1000.0, size=10.0, friction=0.5, gap=0.01, **options):
    floor = shapes.grid(60.0)
    big = block((size,) * 3, (0.0, 0.0, 1.0 + 2 * gap + 0.5 * size))
    return built(
        [
            (block((1.0,) * 3, (0.0, 0.0, 0.5 + gap)), {"mass": 1.0, "friction": friction, **options}),
            (big, {"mass": ratio, "friction": friction, **options}),
        ],
        [(floor, {"friction": friction, **lively(options)})],
    )


def card(place, lean, size=(1.0, 0.01, 1.0)):
    """A card whose height leans by an angle [rad] towards +x... about y."""
    x, t = block((size[1], size[0], size[2]))
    turn = shapes.rotation((0.0, 1.0, 0.0), lean)
    return x @ turn.T + np.asarray(place, float), t


def card_house(levels=2, friction=0.5, thick=0.01, height=1.0, angle=20.0, gap=5e-4, **options):
    """Tents of two cards each, side by side, a roof of flat cards, and so on."""
    a = np.radians(angle)
    bodies = []
    z = gap
    reach = height * np.sin(a) + thick * np.cos(a)  # of a leaning card along x
    rise = height * np.cos(a) + thick * np.sin(a)
    width = 2 * reach + gap
    for level in range(levels):
        count = levels - level
        first = -0.5 * (count - 1) * (width + 2 * gap)
        for k in range(count):
            x = first + k * (width + 2 * gap)
            for side in (-1, 1):
                bodies.append(
                    (
                        card((x + side * 0.5 * (reach + gap), 0.0, z + 0.5 * rise), -side * a, (1.0, thick, height)),
                        {"friction": friction, "mass": 0.1, **options},
                    )
                )
        z += rise + gap
        if level < levels - 1:
            for k in range(count - 1):
                x = first + (k + 0.5) * (width + 2 * gap)
                bodies.append(
                    (
                        block((1.2 * width, 1.0, thick), (x, 0.0, z + 0.5 * thick)),
                        {"friction": friction, "mass": 0.1, **options},
                    )
                )
            z += thick + gap
    return built(bodies, [(shapes.grid(20.0), {"friction": friction, **lively(options)})])


def spikes(friction=0.0, shift=(0.0, 0.0), gap=0.05, **options):
    """A spike falls tip on tip on another."""
    return built(
        [(spike(centre=(*shift, 1.5 + gap), turn=UPSIDE_DOWN), {"friction": friction, **options})],
        [
            (spike(centre=(0.0, 0.0, 0.5)), {"friction": friction, **lively(options)}),
            (shapes.grid(20.0), {"friction": friction, **lively(options)}),
        ],
    )


def cliff_edges(friction=0.0, shift=0.0, gap=0.05, **options):
    """A box falls between two boxes whose edges its own edges meet."""
    side = 1.0
    return built(
        [(block((side,) * 3, (shift, 0.0, 1.5 + gap)), {"friction": friction, **options})],
        [(block((side,) * 3, (s * side, 0.0, 0.5)), {"friction": friction, **lively(options)}) for s in (-1, 1)]
        + [(shapes.grid(20.0), {"friction": friction, **lively(options)})],
    )


def stack(count=10, seed=0, friction=0.5, size=0.2, **options):
    """Boxes on each other, out of place by some millimetres."""
    rng = np.random.default_rng(seed)
    bodies = []
    for level in range(count):
        turn = shapes.rotation((0.0, 0.0, 1.0), rng.normal(0.0, 0.02))
        place = (*rng.normal(0.0, 0.004, 2), 0.5 * size + 0.003 + level * (size + 0.003))
        bodies.append((block((size,) * 3, place, turn), {"friction": friction, **options}))
    return built(bodies, [(shapes.grid(40.0), {"friction": friction, **lively(options)})])


def heap(count=48, seed=1, friction=0.5, size=0.2, **options):
    """Boxes that fall in layers of sixteen, turned at random."""
    rng = np.random.default_rng(seed)
    bodies = []
    for k in range(count):
        turn = Rotation.random(random_state=rng.integers(1 << 30)).as_matrix()
        place = (0.4 * (k % 4) - 0.6, 0.4 * (k // 4 % 4) - 0.6, 0.3 + 0.4 * (k // 16))
        bodies.append((block((size,) * 3, place, turn), {"friction": friction, **options}))
    return built(bodies, [(shapes.grid(40.0), {"friction": friction, **lively(options)})])
