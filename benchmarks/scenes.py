"""The scenes that every engine gets: meshes, masses, springs and gas, in SI units, without any engine's words.

Soft bodies are closed skins of 10 kg, spread evenly over the vertices; every edge is a spring of 1e4 N/m; the gas has
1 000 Pa V0 / V inside and nothing outside. So no number depends on how an engine turns a modulus into springs.
"""

import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import shapes

GRAVITY = 9.81
#: Length of a frame of the soft scenes [s]. Blender's Cloth and Soft Body know no other, whatever the frame rate.
SOFT_FRAME = math.sqrt(0.001)
#: Length of a frame of the rigid scenes [s]: a whole number of every engine's own steps.
RIGID_FRAME = 1.0 / 30.0
BODY_MASS, SPRING, PRESSURE, RADIUS = 10.0, 1e4, 1000.0, 0.5
FRICTION = 0.5
#: Where Blender writes meshes for all engines.
MESHES = Path(__file__).resolve().parent.parent / "build" / "bench" / "meshes"
#: Vertices of an icosphere -> its subdivisions.
SUBDIVISIONS = {10 * 4**n + 2: n for n in range(1, 8)}


@dataclass(frozen=True)
class Box:
    """A box along the axes: a collider, or a rigid body where it has a mass."""

    centre: tuple[float, float, float]
    size: tuple[float, float, float]
    mass: float = 0.0

    def mesh(self):
        """Corners [m] and squares, outward."""
        corners = np.array([(x, y, z) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]) * np.array(self.size) / 2
        return corners, [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (1, 3, 7, 5), (3, 2, 6, 7), (2, 0, 4, 6)]


FLOOR = Box((0.0, 0.0, -0.5), (40.0, 40.0, 1.0))


@dataclass(frozen=True)
class Scene:
    """What is simulated, and for how long."""

    name: str
    size: int  # vertices of a soft body, or number of boxes
    frames: int
    free_frames: int  # frames in which the body that is watched falls freely
    watched: int  # that body: its number among the soft ones, then the rigid ones; -1: all soft ones together
    soft: list = field(default_factory=list)  # positions [m], triangles
    rigid: list = field(default_factory=list)
    colliders: list = field(default_factory=lambda: [FLOOR])
    frame_time: float = SOFT_FRAME
    volume_ratio: float | None = None  # V / V0 of a soft body at rest without weight, where a closed form is known
    friction: float = FRICTION


def ball_volume_ratio():
    """V / V0 of the inflated ball without weight: tension 1.5 Y e / (1 + e), Y = 2 k / sqrt(3) (equal triangles)."""
    import reference

    modulus = 2.0 / math.sqrt(3.0) * SPRING
    return (1.0 + reference.ball_strain(RADIUS, PRESSURE, modulus, ambient=0.0)) ** 3


def _ball(size, centre):
    return shapes.icosphere(SUBDIVISIONS[size], RADIUS, centre)


def drop(size, frames=60):
    """One ball falls 0.5 m on a floor."""
    body = _ball(size, (0.0, 0.0, RADIUS + 0.5))
    return Scene("drop", size, frames, 9, 0, [body], volume_ratio=ball_volume_ratio())


def pair(size, frames=60):
    """A ball falls 0.2 m on another one that stands on the floor, 0.05 m beside its middle."""
    bodies = [_ball(size, (0.0, 0.0, RADIUS + 0.03)), _ball(size, (0.05, 0.0, 3.4 * RADIUS + 0.03))]
    return Scene("pair", size, frames, 5, 1, bodies, volume_ratio=ball_volume_ratio())


def box8(size, frames=60):
    """Eight balls fall 0.5 m into an open box of 2.2 m."""
    pitch, inner, wall, height = 0.525, 2.2, 0.3, 3.0
    cells = [(x, y, z) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]
    bodies = [
        _ball(size, (x * pitch, y * pitch, 1.0 + (z + 1) * pitch + 0.01 * i)) for i, (x, y, z) in enumerate(cells)
    ]
    at, long = (inner + wall) / 2, inner + 2 * wall
    walls = [Box((s * at, 0.0, height / 2), (wall, long, height)) for s in (-1, 1)]
    walls += [Box((0.0, s * at, height / 2), (inner, wall, height)) for s in (-1, 1)]
    return Scene("box8", size, frames, 9, -1, bodies, colliders=[FLOOR, *walls], volume_ratio=ball_volume_ratio())


def torus(size, frames=60):
    """A torus on edge, 0.3 m thick, falls 0.5 m on a slit 0.26 m wide between two slabs and squeezes through."""
    rings = {96: (12, 8), 512: (32, 16), 2048: (64, 32), 8192: (128, 64)}[size]
    positions, triangles = shapes.torus(0.35, 0.15, *rings)
    upright = positions @ shapes.rotation((1.0, 0.0, 0.0), 0.5 * np.pi).T
    upright[:, 2] += 2.5
    slabs = [Box((0.0, s * (0.5 + 0.13), 1.25), (3.0, 1.0, 0.5)) for s in (-1, 1)]
    return Scene("torus", size, frames, 9, 0, [(upright, triangles)], colliders=[FLOOR, *slabs], friction=0.0)


def suzanne(size, frames=60):
    """Blender's monkey, closed, 1 m wide, falls 0.5 m on a floor. Her mesh is written by `meshes.py`."""
    with np.load(MESHES / f"suzanne_{size}.npz") as found:
        positions, triangles = found["positions"], found["triangles"]
    positions = positions + [0.0, 0.0, 0.5 - positions[:, 2].min()]
    return Scene("suzanne", size, frames, 9, 0, [(positions, triangles)])


def stack(size, frames=120):
    """Boxes of 1 kg and 0.5 m, a little beside a grid, fall 0.25 m."""
    side, edge, pitch = round(size ** (1.0 / 3.0)), 0.5, 0.55
    random = np.random.default_rng(1)
    grid = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), axis=-1).reshape(-1, 3).astype(float)
    centres = grid * pitch - [(side - 1) * pitch / 2, (side - 1) * pitch / 2, -0.5]
    centres[:, :2] += random.uniform(-0.01, 0.01, (len(centres), 2))
    boxes = [Box(tuple(centre.tolist()), (edge,) * 3, 1.0) for centre in centres]
    return Scene("stack", size, frames, 6, 0, rigid=boxes, frame_time=RIGID_FRAME)


def crate(size, frames=60):
    """A box of 5 kg falls 0.15 m on a ball that stands on the floor."""
    ball = _ball(size, (0.0, 0.0, RADIUS + 0.03))
    box = Box((0.0, 0.0, 2 * RADIUS + 0.28), (0.8, 0.8, 0.2), 5.0)
    return Scene("crate", size, frames, 4, 1, [ball], [box], volume_ratio=ball_volume_ratio())


SCENES = {"drop": drop, "pair": pair, "box8": box8, "torus": torus, "suzanne": suzanne, "stack": stack, "crate": crate}


def make(name, size, frames=None):
    """The scene of this name and size; `frames` in place of its own."""
    return SCENES[name](size) if frames is None else SCENES[name](size, frames)
