"""Loads or compiles the kernels of a scene before they are needed, with progress.

Each part of a scene, such as skins or rigid bodies, has kernels of its own with each method. They are loaded by
simulating a small scene with that part in this process. Kernels without a file are compiled first, by another process
(`compile.py`), which does not block this one's interpreter and frees its memory at the end.
"""

import atexit
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

from numba.core import event

from . import kernel_store
from .bodies.rigid.convex import convex_shapes
from .contact.untangle.at_start import starts_crossed
from .energy.energies import ModelElements
from .errors import SoftPressureError
from .impulses.fluids import Fluids
from .model import Model
from .options import DEFAULTS, MethodOptions
from .parameters.methods import ENGINE
from .part_scenes import PARTS, particles
from .plasticity.pieces import may_split
from .solvers.choice import SOLVERS, current_method
from .time_left import Left, TimeLeft, slowness
from .world import World

#: Message while kernels are compiled.
COMPILING = "Compiling the solver, once"
#: Interval of progress reports [s].
_INTERVAL = 0.1
#: Processes that compile at once, and parts whose kernels no other part has.
_MOST_PROCESSES = 2
_APART = ("RIGID", "SIMULATION_MESH")
_NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # Windows only
_LOW_PRIORITY = getattr(subprocess, "IDLE_PRIORITY_CLASS", 0)  # likewise; elsewhere the process lowers its own


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
    """A part of a scene and a method to prepare, with all options at their defaults or one of them changed."""

    part: str  # a key of `PARTS`
    solver: str
    choice: str = ""  # a key of `_CHOICES`

    @property
    def name(self) -> str:
        """Unique name of the job, for files."""
        return ".".join(word.lower() for word in (self.solver, self.part, self.choice) if word)


class Progress(NamedTuple):
    """Progress of the preparation."""

    share: float  # 0 to 1
    label: str  # present activity and remaining time


_thread: threading.Thread | None = None
_failure: Exception | None = None  # of the last thread
_progress = Progress(0.0, "")
_prepared: set[Job] = set()
_early: "subprocess.Popen[str] | None" = None  # compiles what nobody waits for


def jobs_for(parts: Collection[str], solver: str = ENGINE, options: MethodOptions = DEFAULTS) -> tuple[Job, ...]:
    """Jobs for a scene with these parts (keys of `PARTS`) and a method, in a fixed order."""
    solver = current_method(solver)
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
    """Jobs of all parts with all methods."""
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
    if starts_crossed(model) or may_split(model) or model.plasticity.sticks.any():
        parts.add("CROSSED")  # pieces, and bodies whose bonds break, may cross others
    if Fluids(model).any:
        parts.add("FLUIDS")
    if len(ModelElements(model)) or (model.rigid_count and model.membrane_count):
        parts.add("COUPLED")
    elif model.rigid_count:
        parts.add("RIGID" if convex_shapes(model).simple.all() else "COUPLED")
    return parts


def is_prepared(jobs: Iterable[Job]) -> bool:
    """Whether all kernels of these jobs are loaded."""
    return _prepared.issuperset(jobs)


def is_compiled(jobs: Iterable[Job]) -> bool:
    """Whether all kernels of these jobs are in files: loading takes a second or two."""
    return all(job in _prepared or kernel_store.is_marked(job.name) for job in jobs)


def is_running() -> bool:
    """Whether a preparation is running."""
    return _thread is not None and _thread.is_alive()


def failure() -> Exception | None:
    """Exception of the last preparation, or None."""
    return _failure


def progress() -> Progress:
    """Progress while `is_running`."""
    return _progress


def start(jobs: Collection[Job]) -> None:
    """Start preparing in a thread, unless the jobs are done or a preparation is running."""
    global _thread, _failure, _progress
    if is_prepared(jobs) or is_running():
        return
    stop_early()
    _failure = None
    _progress = Progress(0.0, "Loading the solver")
    # A daemon: the end of the program does not wait for it.
    _thread = threading.Thread(target=_run, args=(tuple(jobs),), name="Soft Pressure kernels", daemon=True)
    _thread.start()


def prepare(jobs: Collection[Job]) -> Iterator[Progress]:
    """Wait until these jobs are done, yielding progress ten times a second.

    A thread does the work; it continues if the caller stops iterating. Raises its exception.
    """
    while not is_prepared(jobs):
        start(jobs)
        while _thread is not None and _thread.is_alive():
            _thread.join(_INTERVAL)
            yield _progress
        if _failure is not None:
            raise _failure


def compile_count() -> int:
    """Number of kernels of this package compiled, not loaded, in this process; each signature counts."""
    return len(_compiles.names)


def compiled_names() -> list[str]:
    """Names of those kernels, in the order of compilation."""
    return _compiles.names


class _Compiles(event.Listener):  # type: ignore[misc]
    """Records the kernels of this package that numba compiles."""

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
    """Compile in other processes, and report the remaining time."""
    global _progress
    hands = dealt(jobs, min(_MOST_PROCESSES, os.cpu_count() or 1))
    costs = [sum(cost.seconds for cost in _costs(hand)) for hand in hands]
    clock = TimeLeft(max(costs) * slowness())
    _progress = Progress(0.0, _compiling(clock.estimate(0.0, 0.0)))
    began, shares = time.monotonic(), [0.0] * len(hands)
    children = _compilers(hands)
    complaints = [deque[str](maxlen=1) for _ in children]  # the last of each
    readers = []
    for k, (child, words) in enumerate(zip(children, complaints, strict=True)):
        readers.append(threading.Thread(target=_read_shares, args=(child.stdout, shares, k), daemon=True))
        readers.append(threading.Thread(target=words.extend, args=(child.stderr,), daemon=True))
    for reader in readers:
        reader.start()
    for reader in readers:
        while reader.is_alive():
            reader.join(_INTERVAL)
            share = min(shares)
            _progress = Progress(share, _compiling(clock.estimate(share, time.monotonic() - began)))
    for child, words in zip(children, complaints, strict=True):
        with child:  # closes its pipes and waits for it
            pass
        if child.returncode:
            raise _failed("".join(words).strip())


def _compilers(hands: list[list[Job]]) -> "list[subprocess.Popen[str]]":
    """A process for each list of jobs; if one cannot be started, those before it end."""
    children: list[subprocess.Popen[str]] = []
    try:
        for hand in hands:
            children.append(_compiler(hand))
    except SoftPressureError:
        for child in children:
            with child:  # closes its pipes and waits for it
                child.kill()
        raise
    return children


def dealt(jobs: Collection[Job], count: int) -> list[list[Job]]:
    """The jobs for up to so many processes that compile at once: those that share most kernels go to one."""
    rooms = dict[str, list[Job]]()
    for job in jobs:
        rooms.setdefault(job.part if job.part in _APART else job.solver, []).append(job)
    hands: list[list[Job]] = [[] for _ in range(count)]
    for room in sorted(rooms.values(), key=lambda room: -sum(cost.seconds for cost in _costs(room))):
        min(hands, key=lambda hand: sum(cost.seconds for cost in _costs(hand))).extend(room)
    return [hand for hand in hands if hand]


def _read_shares(lines: Iterable[str], shares: list[float], k: int) -> None:
    """Keep the share that a process prints as the k-th."""
    for line in lines:
        shares[k] = float(line)


def start_early(jobs: Collection[Job]) -> None:
    """Compile these jobs to files at low priority while nobody waits for them; `start` ends that."""
    global _early
    missing = [job for job in jobs if not is_compiled([job])]
    if not missing or is_running() or (_early is not None and _early.poll() is None):
        return
    atexit.unregister(stop_early)
    atexit.register(stop_early)
    with suppress(SoftPressureError):  # who waits for them is told
        _early = _compiler(missing, is_early=True)


def stop_early() -> None:
    """End that; what it has compiled stays."""
    global _early
    if _early is not None and _early.poll() is None:
        _early.terminate()
        _early.wait()
    _early = None


def _compiler(jobs: list[Job], is_early: bool = False) -> "subprocess.Popen[str]":
    """The process that compiles jobs; it prints its progress, but an early one, which has low priority."""
    asked = {
        "is_early": is_early,
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
            stdout=subprocess.DEVNULL if is_early else subprocess.PIPE,
            stderr=subprocess.DEVNULL if is_early else subprocess.PIPE,
            text=True,
            encoding="utf-8",
            creationflags=_NO_WINDOW | (_LOW_PRIORITY if is_early else 0),
            env={**kept, "NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": features},
        )
    except OSError as error:
        raise _failed(str(error)) from error
    assert child.stdin is not None
    with suppress(OSError), child.stdin:  # it may have ended already: then it says why
        json.dump(asked, child.stdin)
    return child


def _failed(complaint: str) -> SoftPressureError:
    return SoftPressureError(f"Solver: compiling it failed. {complaint} Try again, or restart the program.")


def _compiling(left: Left) -> str:
    about = "over" if left.is_least else "about"
    return f"Compiling, once: {about} {left.seconds:.0f} s left"  # no wider than the sidebar


def compile_jobs(jobs: list[Job], say: Callable[[float], None]) -> None:
    """Compile kernels without a file and mark the jobs as compiled; `say` is called with the progress, 0 to 1."""
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
    """Call every kernel of a job; none if the method refuses its scene."""
    with suppress(SoftPressureError):
        run_scene(job)


def run_scene(job: Job) -> None:
    """Simulate the small scene of a job. Raises `SoftPressureError` where the method refuses it."""
    make = functools.partial(World, solver=job.solver, options=_CHOICES[job.choice], check_crossings=True)
    PARTS[job.part](make)
    if job.choice == "FEATURE_PARTICLES":
        particles(make)


class _Cost(NamedTuple):
    """Cost of compiling, to estimate the remaining time."""

    seconds: float
    kernels: int


#: Cost of the kernels that all parts but rigid bodies alone share, and of each part by itself; with the explicit method
#: and with any other, measured on one machine.
_COSTS = {
    "EXPLICIT": {
        "": _Cost(25.0, 279), "SKIN": _Cost(2.0, 5), "SELF_CONTACT": _Cost(1.1, 8), "CROSSED": _Cost(3.6, 31),
        "LATTICE": _Cost(4.0, 8), "FLAT": _Cost(0.3, 2), "SIMULATION_MESH": _Cost(10.0, 65),
        "FLUIDS": _Cost(1.0, 9),
        "RIGID": _Cost(17.0, 111), "COUPLED": _Cost(12.0, 109),
    },
    "": {
        "": _Cost(40.0, 275), "SKIN": _Cost(4.0, 20), "SELF_CONTACT": _Cost(1.0, 5), "CROSSED": _Cost(1.5, 4),
        "LATTICE": _Cost(2.5, 8), "FLAT": _Cost(0.5, 4), "SIMULATION_MESH": _Cost(13.5, 22),
        "FLUIDS": _Cost(1.0, 9),
        "RIGID": _Cost(13.0, 65), "COUPLED": _Cost(1.5, 7),
    },
}  # fmt: skip


def _costs(jobs: Collection[Job]) -> list[_Cost]:
    """Cost of each of these jobs, in order."""
    found, is_first = list[_Cost](), True
    for job in jobs:
        costs = _COSTS.get(job.solver, _COSTS[""])
        own, common = costs[job.part], costs[""]
        if is_first and job.part != "RIGID":
            own, is_first = _Cost(own.seconds + common.seconds, own.kernels + common.kernels), False
        found.append(own)
    return found
