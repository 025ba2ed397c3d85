"""Getting the kernels of a scene ready before they are needed, with progress.

Each part of a scene, as skins or rigid bodies, has kernels of its own with each method. They are ready once a small
scene with that part was simulated in this process. Kernels that are in no file yet are compiled first, by another
process (`compile.py`): its compiler holds neither this one's interpreter lock nor its memory.
"""

import functools
import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numba.core import event

from . import kernel_store
from .builder import ModelBuilder
from .collide.contacts import Contacts
from .collide.near_rows import NearRows
from .errors import SoftPressureError
from .model import FloatArray, IntArray, Model
from .options import DEFAULTS, MethodOptions
from .rigid.convex import convex_shapes
from .solvers.choice import SOLVERS
from .world import FrameInput, World

#: What happens where kernels are in no file yet, for those who wait.
COMPILING = "Compiling the solver, once"
#: How often progress is reported [s].
_INTERVAL = 0.1
_NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # Windows only


#: Options that call other kernels, one by one; together they call no others.
_CHOICES = {
    "": DEFAULTS,
    "BOUNDING_BOX": MethodOptions(volume="BOUNDING_BOX"),
    "CENTRE_FAN": MethodOptions(volume="CENTRE_FAN"),
    "VALENCE": MethodOptions(spread="VALENCE"),
    "STEP_DAMPING": MethodOptions(step_damping=True, stiffest_spring=1e6),
    "RAMP": MethodOptions(ramp_time=0.01),
    "FEATURE_PARTICLES": MethodOptions(detection="FEATURE_PARTICLES"),
}


class Job(NamedTuple):
    """A part of a scene that a method is prepared for, with all options at their defaults or one of them changed."""

    part: str  # a key of `PARTS`
    solver: str
    choice: str = ""  # a key of `_CHOICES`

    @property
    def name(self) -> str:
        """Tells it from other jobs, in the name of a file."""
        return ".".join(word.lower() for word in (self.solver, self.part, self.choice) if word)


class Progress(NamedTuple):
    """How far the preparation is."""

    share: float  # 0 to 1
    label: str  # what happens, and how long it is going to take


_thread: threading.Thread | None = None
_failure: Exception | None = None  # of the last thread
_progress = Progress(0.0, "")
_prepared: set[Job] = set()


def jobs_for(parts: Collection[str], solver: str = "IMPLICIT", options: MethodOptions = DEFAULTS) -> tuple[Job, ...]:
    """What to prepare for a scene with these parts (keys of `PARTS`), in a fixed order."""
    changed = {
        options.volume,
        options.spread,
        options.detection,
        "STEP_DAMPING" if options.step_damping else "",
        "RAMP" if options.ramp_time > 0.0 else "",
    }
    jobs = [Job(part, solver) for part in PARTS if part in parts]
    return (*jobs, *(Job("SKIN", solver, choice) for choice in _CHOICES if choice and choice in changed))


def all_jobs() -> list[Job]:
    """For every scene with every method."""
    return [
        job
        for solver in SOLVERS
        for job in (
            *(Job(part, solver) for part in PARTS),
            *(Job("SKIN", solver, choice) for choice in _CHOICES if choice),
        )
    ]


def parts_of(model: Model) -> set[str]:
    """The parts (keys of `PARTS`) of a scene."""
    parts = set()
    for body in range(model.membrane_count):
        is_flat = bool(model.flat.normal[body].any())
        parts.add("FLAT" if is_flat else "SKIN" if model.has_gas(body) else "LATTICE")
    if model.self_collision.any():
        parts.add("SELF_CONTACT")
    if len(model.attachments.points) or (model.rigid_count and model.membrane_count):
        parts.add("COUPLED")
    elif model.rigid_count:
        parts.add("RIGID" if convex_shapes(model).simple.all() else "COUPLED")
    return parts


def is_prepared(jobs: Iterable[Job]) -> bool:
    """Whether all kernels of these jobs are loaded, so that a frame takes no longer than it must."""
    return _prepared.issuperset(jobs)


def is_compiled(jobs: Iterable[Job]) -> bool:
    """Whether all kernels of these jobs are in files: then preparing takes a second or two."""
    return all(job in _prepared or kernel_store.is_marked(job.name) for job in jobs)


def is_running() -> bool:
    """Whether something is being prepared now."""
    return _thread is not None and _thread.is_alive()


def failure() -> Exception | None:
    """What went wrong the last time something was prepared, None if nothing did."""
    return _failure


def progress() -> Progress:
    """How far it is while `is_running`."""
    return _progress


def start(jobs: Collection[Job]) -> None:
    """Begin to prepare in a thread, unless that is done or something is under way."""
    global _thread, _failure, _progress
    if is_prepared(jobs) or is_running():
        return
    _failure = None
    _progress = Progress(0.0, "Loading the solver")
    # A daemon: who ends the program does not wait for it.
    _thread = threading.Thread(target=_run, args=(tuple(jobs),), name="Soft Pressure kernels", daemon=True)
    _thread.start()


def prepare(jobs: Collection[Job]) -> Iterator[Progress]:
    """Wait until these jobs are done, yielding ten times a second.

    A thread does the work; who stops iterating leaves it running. Raises what went wrong in it.
    """
    while not is_prepared(jobs):
        start(jobs)
        while _thread is not None and _thread.is_alive():
            _thread.join(_INTERVAL)
            yield _progress
        if _failure is not None:
            raise _failure


def compile_count() -> int:
    """How many kernels of this package were compiled in this process, not loaded; each type of arguments counts."""
    return len(_compiles.names)


def compiled_names() -> list[str]:
    """Those kernels, in the order they were compiled in."""
    return _compiles.names


class _Compiles(event.Listener):  # type: ignore[misc]
    """Notes what numba compiles of this package."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.call: Callable[[], None] = lambda: None  # after each

    def on_start(self, found: event.Event) -> None:
        pass

    def on_end(self, found: event.Event) -> None:
        function, package = found.data["dispatcher"].py_func, f"{__package__}."
        if function.__module__.startswith(package):
            self.names.append(f"{function.__module__.removeprefix(package)}.{function.__name__}")
            self.call()


_compiles = _Compiles()
event.register("numba:compile", _compiles)


def _run(jobs: tuple[Job, ...]) -> None:
    global _failure, _progress
    try:
        missing = [job for job in jobs if not kernel_store.is_marked(job.name)]
        if missing:
            _compile_elsewhere(missing)
        _progress = Progress(1.0, "Loading the solver")
        for job in jobs:
            simulate(job)
    except Exception as error:
        _failure = error
        return
    _prepared.update(jobs)


def _compile_elsewhere(jobs: list[Job]) -> None:
    """Let another process compile, and say how long it is going to take."""
    global _progress
    expected = sum(cost.seconds for cost in _costs(jobs))
    _progress = Progress(0.0, _compiling(expected))
    asked = {
        "path": [folder for folder in sys.path if folder],
        "folder": str(kernel_store.user_folder()),
        "jobs": jobs,
    }
    processor, features = kernel_store.target()
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA_", "PYTHON"))}
    try:
        child = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("compile.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            creationflags=_NO_WINDOW,
            env={**kept, "NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": features},
        )
    except OSError as error:
        raise _failed(str(error)) from error
    assert child.stdin is not None and child.stdout is not None and child.stderr is not None
    words = deque[str](maxlen=1)  # the last of its complaints
    reader = threading.Thread(target=words.extend, args=(child.stderr,), daemon=True)
    reader.start()
    began = time.monotonic()
    with child.stdout, child.stderr:
        with child.stdin:
            json.dump(asked, child.stdin)
        for line in child.stdout:
            share = float(line)
            # at first as fast as the machine the costs were measured on, then as fast as this one
            total = expected if share < 0.2 else (time.monotonic() - began) / share
            _progress = Progress(share, _compiling(total * (1.0 - share)))
        reader.join()
    if child.wait():
        raise _failed("".join(words).strip())


def _failed(complaint: str) -> SoftPressureError:
    return SoftPressureError(f"Solver: compiling it failed. {complaint} Try again, or restart Blender.")


def _compiling(seconds: float) -> str:
    return f"{COMPILING}: about {max(5.0 * round(seconds / 5.0), 5.0):.0f} s left"


def compile_jobs(jobs: list[Job], say: Callable[[float], None]) -> None:
    """Compile what is in no file yet and mark it as kept; `say` is told the share that is done, 0 to 1."""
    costs = _costs(jobs)
    total, done = sum(cost.seconds for cost in costs), 0.0
    for job, cost in zip(jobs, costs, strict=True):
        before = compile_count()

        def tell(done: float = done, cost: "_Cost" = cost, before: int = before) -> None:
            share = min((compile_count() - before) / cost.kernels, 1.0)
            say((done + cost.seconds * share) / total)

        _compiles.call = tell
        simulate(job)
        kernel_store.mark(job.name)
        done += cost.seconds
        say(done / total)


def simulate(job: Job) -> None:
    """Call every kernel of a job; of a method that refuses its scene, none."""
    with suppress(SoftPressureError):
        run_scene(job)


def run_scene(job: Job) -> None:
    """Simulate the small scene of a job. Raises `SoftPressureError` where the method refuses it."""
    make = functools.partial(World, solver=job.solver, options=_CHOICES[job.choice])
    PARTS[job.part](make)
    if job.choice == "FEATURE_PARTICLES":
        _particles(make)


#: Makes a world of a model, with the method to prepare.
_WorldMaker = functools.partial[World]


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
    builder = ModelBuilder(ambient_pressure=0.0)
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
    alone = ModelBuilder(ambient_pressure=0.0)
    alone.add_membrane("box", positions, triangles, gauge_pressure=500.0)
    _fall(make, alone)
    if _is_default(make):
        _leave_out()


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
    world = make(builder.build(), frame_rate=120.0, substeps=1 if _is_default(make) else 40)
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
    """An empty skin whose walls lie on each other; another one whose top was pushed through its bottom."""
    positions, triangles = _box(4)
    middle = (np.abs(positions - (0.5, 0.5, 1.0)) < 0.3).all(axis=1)
    pushed = np.where(middle[:, None], positions - (0.0, 0.0, 1.4), positions)
    builder = ModelBuilder(ambient_pressure=0.0)
    builder.add_membrane("flat", positions, triangles, stretch_modulus=100.0, self_collision=True)
    for start in (positions * (1.0, 1.0, 0.02), pushed):
        world = make(builder.build(), frame_rate=240.0, substeps=1)
        world.set_positions(0, start)
        world.advance_frame()


def _particles(make: _WorldMaker) -> None:
    """Feature particles of rigid bodies: two that overlap, one of them also with a skin."""
    positions, triangles = _box(2)
    block, faces = _box(1)
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_membrane("skin", positions, triangles, gauge_pressure=500.0)
    builder.add_rigid("low", 0.4 * block + (0.33, 0.31, 0.9), faces)
    builder.add_rigid("high", 0.4 * block + (0.35, 0.32, 1.2), faces)
    world = make(builder.build(), frame_rate=240.0, substeps=10)
    world.advance_frame()


def _jelly(make: _WorldMaker) -> None:
    """A soft solid on a floor; in the second substep the record is that of the first."""
    builder = ModelBuilder()
    builder.add_solid("jelly", *_box(1), cell_size=0.5, pinned=[0])
    radius = _particle_radius(make)
    positions, triangles = _box(1)
    builder.add_solid(
        "truss", positions + (0.2, 0.0, 1.001), triangles, kind="TRUSS", cell_size=0.5, particle_radius=radius
    )
    builder.add_collider("floor", np.array([(-2.0, -2.0, -0.01), (2.0, -2.0, -0.01), (0.0, 3.0, -0.01)]), [(0, 1, 2)])
    world = make(builder.build(), frame_rate=240.0, substeps=2)
    world.advance_frame(FrameInput(pinned_positions={0: world.positions(0)[:1]}))
    alone = ModelBuilder()
    alone.add_solid("jelly", *_box(1), cell_size=0.5)
    _fall(make, alone)


def _fall(make: _WorldMaker, builder: ModelBuilder) -> None:
    """What falls on a floor while nothing is given: then less is looked for."""
    builder.add_collider("floor", np.array([(-2.0, -2.0, -0.02), (2.0, -2.0, -0.02), (0.0, 3.0, -0.02)]), [(0, 1, 2)])
    make(builder.build(), frame_rate=240.0, substeps=10).advance_frame()


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


def _is_default(make: _WorldMaker) -> bool:
    return bool(make.keywords["solver"] == "IMPLICIT")


def _particle_radius(make: _WorldMaker) -> float:
    """Share of a truss's cells; the default method has no particles."""
    return 0.0 if _is_default(make) else 0.4


def _flat(make: _WorldMaker) -> None:
    """A loop of gas and a flat truss that meet above a floor, both in an upright plane."""
    corners = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 0.0, 1.0), (0.0, 0.0, 1.0)])
    around = [(0, 1), (1, 2), (2, 3), (3, 0)]
    radius = _particle_radius(make)
    builder = ModelBuilder()
    builder.add_loop("loop", corners, around, gauge_pressure=500.0, bend_modulus=0.01, pinned=[0])
    builder.add_flat_truss("truss", corners + (0.1, 0.0, 1.001), around, cell_size=0.5, particle_radius=radius)
    builder.add_collider("floor", np.array([(-2.0, -2.0, -0.01), (2.0, -2.0, -0.01), (0.0, 3.0, -0.01)]), [(0, 1, 2)])
    world = make(builder.build(), frame_rate=240.0, substeps=2)
    world.advance_frame(FrameInput(pinned_positions={0: world.positions(0)[:1]}))
    world.diagnostics()
    alone = ModelBuilder()
    alone.add_loop("loop", corners, around, gauge_pressure=500.0)
    _fall(make, alone)


#: What scenes are made of, and a small scene of each: skins; skins that touch themselves; soft solids and trusses;
#: loops and trusses in a plane; rigid bodies that are convex and of few faces, alone; all other rigid bodies, and
#: attachments.
PARTS: dict[str, Callable[[_WorldMaker], None]] = {
    "SKIN": _skins,
    "SELF_CONTACT": _touch_itself,
    "LATTICE": _jelly,
    "FLAT": _flat,
    "RIGID": _solids_alone,
    "COUPLED": _solids,
}


class _Cost(NamedTuple):
    """What compiling takes with the default method; only for the time that is left."""

    seconds: float
    kernels: int


#: Of each part by itself, and of what all but rigid bodies alone have in common.
_COSTS = {
    "SKIN": _Cost(5.0, 20),
    "SELF_CONTACT": _Cost(2.0, 6),
    "LATTICE": _Cost(4.0, 8),
    "FLAT": _Cost(1.0, 2),
    "RIGID": _Cost(20.0, 76),
    "COUPLED": _Cost(10.0, 40),
}
_COMMON = _Cost(65.0, 260)


def _costs(jobs: Collection[Job]) -> list[_Cost]:
    """Of each of these jobs, one after the other."""
    found, is_first = list[_Cost](), True
    for job in jobs:
        own = _COSTS[job.part]
        if is_first and job.part != "RIGID":
            own, is_first = _Cost(own.seconds + _COMMON.seconds, own.kernels + _COMMON.kernels), False
        found.append(own)
    return found
