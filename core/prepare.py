"""Compiling all kernels before they are needed, or loading them from the file cache, with progress."""

import sys
import threading
from collections.abc import Iterator

import numpy as np
from numba.core.dispatcher import Dispatcher

from .builder import ModelBuilder
from .errors import SoftPressureError
from .model import FloatArray, IntArray
from .world import FrameInput, World

#: How often progress is reported [s].
_INTERVAL = 0.1

_thread: threading.Thread | None = None
_error: Exception | None = None
_is_prepared = False


def is_prepared() -> bool:
    """Whether all kernels are ready, so that a frame takes no longer than it must."""
    return _is_prepared


def is_running() -> bool:
    """Whether kernels are being prepared now."""
    return _thread is not None and _thread.is_alive()


def start() -> None:
    """Begin to prepare in a thread, unless that is done or under way."""
    global _thread, _error
    if _is_prepared or is_running():
        return
    _error = None
    # A daemon: who ends the program does not wait for a compiler.
    _thread = threading.Thread(target=_run, name="Soft Pressure kernels", daemon=True)
    _thread.start()


def progress() -> tuple[int, int]:
    """Number of kernels that are ready, and of all. Helpers of kernels from the file cache count as missing."""
    kernels = _kernels()
    return sum(1 for kernel in kernels if kernel.signatures), len(kernels)


def prepare() -> Iterator[tuple[int, int, str]]:
    """Wait until all kernels are ready, yielding (done, total, label) ten times a second.

    A thread does the work; who stops iterating leaves it running. Raises what went wrong in it.
    """
    start()
    while _thread is not None and _thread.is_alive():
        _thread.join(_INTERVAL)
        yield *progress(), "Preparing solver"
    if _error is not None:
        raise _error
    total = progress()[1]
    yield total, total, "Solver is prepared"


def _run() -> None:
    global _error, _is_prepared
    try:
        _simulate_everything()
        _is_prepared = True
    except Exception as error:
        _error = error


def _kernels() -> list[Dispatcher]:
    """All kernels of this package; helpers that are inlined into others are never compiled by themselves."""
    package = __package__ or ""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(f"{package}.")]
    found = {id(item): item for module in modules for item in vars(module).values() if isinstance(item, Dispatcher)}
    return [item for item in found.values() if item.targetoptions.get("inline") != "always"]


def _simulate_everything() -> None:
    """A small scene in which every kernel is called."""
    positions, triangles = _box(8)
    builder = ModelBuilder()
    for height in (0.0, 0.95):  # they overlap
        builder.add_membrane(
            f"box {height}",
            positions + (0.0, 0.0, height),
            triangles,
            gauge_pressure=500.0,
            bend_modulus=0.01,
            damping=1.0,
            bounciness=0.5,
            pinned=[0],
            velocity=(0.1, 0.0, -1.0),
        )
    corners = np.array([(-2.0, -2.0, -0.01), (2.0, -2.0, -0.01), (0.0, 3.0, -0.01)])
    builder.add_collider("floor", corners, np.array([(0, 1, 2)]))
    world = World(builder.build(), frame_rate=60.0, substeps=2)
    for height in (0.01, 0.0, 0.0):
        try:
            world.advance_frame(FrameInput(collider_positions={0: corners + (0.0, 0.0, height)}))
        except SoftPressureError:  # how it moves does not matter here
            world.reset()
    world.diagnostics()
    _solids()
    _solids_alone()
    _touch_itself()
    _jelly()


def _solids() -> None:
    """Two blocks, edges across edges, with a skin glued to the lower one and another to that skin."""
    positions, triangles = _box(2)
    block, faces = _box(1)
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
    world = World(builder.build(), frame_rate=120.0, substeps=1)
    for height in (0.0, 0.0, 0.001):
        world.advance_frame(FrameInput(collider_positions={0: corners + (0.0, 0.0, height)}))


def _solids_alone() -> None:
    """Two blocks that bounce on each other and on a floor, without a skin: the impulse solver."""
    block, faces = _box(1)
    builder = ModelBuilder()
    for height in (0.003, 1.01):
        builder.add_rigid(f"block {height}", block + (height, 0.0, height), faces, velocity=(0.0, 0.0, -height))
    corners = np.array([(-4.0, -4.0, 0.0), (4.0, -4.0, 0.0), (0.0, 6.0, 0.0)])
    builder.add_collider("floor", corners, np.array([(0, 1, 2)]))
    world = World(builder.build(), frame_rate=120.0, substeps=1)
    for _ in range(4):
        world.advance_frame()


def _touch_itself() -> None:
    """An empty skin whose walls lie on each other, so that also those kernels are called."""
    positions, triangles = _box(2)
    builder = ModelBuilder(ambient_pressure=0.0)
    builder.add_membrane("flat", positions, triangles, stretch_modulus=100.0, self_collision=True)
    world = World(builder.build(), frame_rate=240.0, substeps=1)
    world.set_positions(0, positions * (1.0, 1.0, 0.02))
    world.advance_frame()


def _jelly() -> None:
    """A soft solid on a floor."""
    builder = ModelBuilder()
    builder.add_solid("jelly", *_box(1), cell_size=0.5, pinned=[0])
    builder.add_collider("floor", np.array([(-2.0, -2.0, -0.01), (2.0, -2.0, -0.01), (0.0, 3.0, -0.01)]), [(0, 1, 2)])
    world = World(builder.build(), frame_rate=240.0, substeps=1)
    world.advance_frame(FrameInput(pinned_positions={0: world.positions(0)[:1]}))


def _box(side_count: int) -> tuple[FloatArray, IntArray]:
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
