"""Compiling all kernels before they are needed, or loading them from the file cache, with progress.

A method has kernels of its own, and so have some choices beside it, so each is prepared by itself. Where kernels are
kept in files, a mark beside them says that all of a method were compiled on this machine. With the mark there is
nothing to prepare: each kernel is loaded when it is called, which takes milliseconds.
"""

import contextlib
import functools
import hashlib
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numba
import numpy as np
from numba.core import event
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target

from .builder import ModelBuilder
from .collide.contacts import Contacts
from .collide.near_rows import NearRows
from .errors import SoftPressureError
from .model import FloatArray, IntArray
from .options import DEFAULTS, MethodOptions
from .world import FrameInput, World

#: What happens when something has to be compiled, for those who wait.
COMPILING = "Compiling the solver, once for this machine (one to four minutes)"
#: The same while all comes from files.
LOADING = "Loading the solver"
#: How often progress is reported [s].
_INTERVAL = 0.1

#: A method and the choices beside it, as far as they call other kernels.
_Method = tuple[str, MethodOptions]

_thread: threading.Thread | None = None
_failure: Exception | None = None  # of the last thread
_prepared: set[_Method] = set()


def is_prepared(solver: str = "IMPLICIT", options: MethodOptions = DEFAULTS) -> bool:
    """Whether all kernels of a method are ready or lie in files, so that a frame takes no longer than it must."""
    method = _method(solver, options)
    if method in _prepared:
        return True
    mark = _mark(method)
    if mark is None or not mark.exists():
        return False
    _prepared.add(method)
    return True


def is_running() -> bool:
    """Whether kernels are being prepared now."""
    return _thread is not None and _thread.is_alive()


def failure() -> Exception | None:
    """What went wrong the last time kernels were prepared, None if nothing did."""
    return _failure


def start(solver: str = "IMPLICIT", options: MethodOptions = DEFAULTS) -> None:
    """Begin to prepare a method in a thread, unless that is done or another one is under way."""
    global _thread, _failure
    if is_prepared(solver, options) or is_running():
        return
    _failure = None
    # A daemon: who ends the program does not wait for a compiler.
    _thread = threading.Thread(target=_run, args=(_method(solver, options),), name="Soft Pressure kernels", daemon=True)
    _thread.start()


def progress() -> tuple[int, int, str]:
    """Number of kernels that are ready, of all, and what happens. Helpers of kernels from files count as missing."""
    kernels = _kernels()
    return sum(1 for kernel in kernels if kernel.signatures), len(kernels), COMPILING if compile_count() else LOADING


def prepare(solver: str = "IMPLICIT", options: MethodOptions = DEFAULTS) -> Iterator[tuple[int, int, str]]:
    """Wait until all kernels of a method are ready, yielding (done, total, label) ten times a second.

    A thread does the work; who stops iterating leaves it running. Raises what went wrong in it.
    """
    while not is_prepared(solver, options):
        start(solver, options)
        while _thread is not None and _thread.is_alive():
            _thread.join(_INTERVAL)
            yield progress()
        if _failure is not None:
            raise _failure
    total = len(_kernels())
    yield total, total, "Solver is prepared"


def compile_count() -> int:
    """How many kernels of this package were compiled in this process, not loaded; each type of arguments counts."""
    return _compiles.count


def on_first_compile(call: Callable[[], None]) -> None:
    """Have `call` called when a kernel is about to be compiled for the first time in this process."""
    _compiles.call = call


class _Compiles(event.Listener):  # type: ignore[misc]
    """Counts what numba compiles of this package."""

    def __init__(self) -> None:
        self.count = 0
        self.call: Callable[[], None] | None = None

    def on_start(self, found: event.Event) -> None:
        if not found.data["dispatcher"].py_func.__module__.startswith(f"{__package__}."):
            return
        self.count += 1
        if self.call is not None:
            call, self.call = self.call, None
            call()

    def on_end(self, found: event.Event) -> None:
        pass


_compiles = _Compiles()
event.register("numba:compile", _compiles)


def _method(solver: str, options: MethodOptions) -> _Method:
    """A method by what it calls: how long a ramp is makes no difference, that there is one does."""
    return solver, replace(options, ramp_time=float(options.ramp_time > 0.0), stiffest_spring=DEFAULTS.stiffest_spring)


def _mark(method: _Method) -> Path | None:
    """The file that marks a method as compiled: for this code, compiler and processor. None without the code's files.

    Kernels beside the code count as kept, too: `numba.config.CACHE_DIR` is empty then.
    """
    here = Path(__file__).parent
    digest = hashlib.blake2b(digest_size=8)
    for part in (method, sys.version, numba.__version__, cpu_target.target_context.codegen().magic_tuple()):
        digest.update(f"{part}\0".encode())
    try:
        for path in sorted(here.rglob("*.py")):
            found = path.stat()
            digest.update(f"{path} {found.st_mtime_ns} {found.st_size}\0".encode())
    except OSError:
        return None
    folder = Path(numba.config.CACHE_DIR) if numba.config.CACHE_DIR else here / "__pycache__"
    return folder / f"softpressure_{method[0].lower()}_{digest.hexdigest()}.compiled"


def _run(method: _Method) -> None:
    global _failure
    try:
        _simulate_everything(*method)
    except Exception as error:
        _failure = error
        return
    _prepared.add(method)
    mark = _mark(method)
    if mark is not None:
        with contextlib.suppress(OSError):  # then the next start prepares again
            mark.touch()


def _kernels() -> list[Dispatcher]:
    """All kernels of this package; helpers that are inlined into others are never compiled by themselves."""
    package = __package__ or ""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(f"{package}.")]
    found = {id(item): item for module in modules for item in vars(module).values() if isinstance(item, Dispatcher)}
    return [item for item in found.values() if item.targetoptions.get("inline") != "always"]


#: Makes a world of a model, with the method to prepare.
_WorldMaker = Callable[..., World]


def _simulate_everything(solver: str, options: MethodOptions) -> None:
    """Small scenes in which every kernel of a method is called."""
    make = functools.partial(World, solver=solver, options=options)
    for scene in (_skins, _solids, _solids_alone, _touch_itself, _jelly):
        with contextlib.suppress(SoftPressureError):  # a method may refuse a scene or diverge in it
            scene(make)
    if solver == "IMPLICIT":
        _leave_out()


def _leave_out() -> None:
    """A row left out of a record: no scene here is sure to have one."""
    wide, near, rows = Contacts(4), Contacts(4), NearRows(4)
    x, reach = np.eye(4, 3), np.zeros(1)
    wide.points[0] = range(4)
    wide.count = wide.edge_start = wide.first_attachment = 1
    rows.choose(x, x, wide, near, reach, reach)
    rows.valid(x)


def _skins(make: _WorldMaker) -> None:
    """Two boxes of skin that overlap, on a floor that moves."""
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
            pinned=[0] if height == 0.0 else [],
            velocity=(0.1, 0.0, -1.0),
        )
    corners = np.array([(-2.0, -2.0, -0.01), (2.0, -2.0, -0.01), (0.0, 3.0, -0.01)])
    builder.add_collider("floor", corners, np.array([(0, 1, 2)]))
    world = make(builder.build(), frame_rate=60.0, substeps=2)
    for height in (0.01, 0.0, 0.0):
        try:
            world.advance_frame(FrameInput(collider_positions={0: corners + (0.0, 0.0, height)}))
        except SoftPressureError:  # how it moves does not matter here
            world.reset()
    world.diagnostics()


def _solids(make: _WorldMaker) -> None:
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
    world = make(builder.build(), frame_rate=120.0, substeps=1)
    for height in (0.0, 0.0, 0.001):
        world.advance_frame(FrameInput(collider_positions={0: corners + (0.0, 0.0, height)}))


def _solids_alone(make: _WorldMaker) -> None:
    """Two blocks that bounce on each other and on a floor, without a skin: the impulse solver."""
    block, faces = _box(1)
    builder = ModelBuilder()
    for height in (0.003, 1.01):
        builder.add_rigid(f"block {height}", block + (height, 0.0, height), faces, velocity=(0.0, 0.0, -height))
    corners = np.array([(-4.0, -4.0, 0.0), (4.0, -4.0, 0.0), (0.0, 6.0, 0.0)])
    builder.add_collider("floor", corners, np.array([(0, 1, 2)]))
    world = make(builder.build(), frame_rate=120.0, substeps=1)
    for _ in range(4):
        world.advance_frame()


def _touch_itself(make: _WorldMaker) -> None:
    """An empty skin whose walls lie on each other, so that also those kernels are called."""
    positions, triangles = _box(2)
    builder = ModelBuilder(ambient_pressure=0.0)
    builder.add_membrane("flat", positions, triangles, stretch_modulus=100.0, self_collision=True)
    world = make(builder.build(), frame_rate=240.0, substeps=1)
    world.set_positions(0, positions * (1.0, 1.0, 0.02))
    world.advance_frame()


def _jelly(make: _WorldMaker) -> None:
    """A soft solid on a floor; in the second substep the record is that of the first."""
    builder = ModelBuilder()
    builder.add_solid("jelly", *_box(1), cell_size=0.5, pinned=[0])
    builder.add_collider("floor", np.array([(-2.0, -2.0, -0.01), (2.0, -2.0, -0.01), (0.0, 3.0, -0.01)]), [(0, 1, 2)])
    world = make(builder.build(), frame_rate=240.0, substeps=2)
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
