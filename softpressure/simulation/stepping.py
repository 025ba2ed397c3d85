"""A frame of a run: what drives it is read from the scene, stepped by the core, and kept in the cache.

Reading belongs to the main thread. Stepping touches none of Blender's data, so a `Stepper` does it in a thread of its
own, as far as the main thread has read ahead.
"""

import functools
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np

from ...core import FrameInput, Reason, World
from ...core.cache import FrameCache
from ..cache import disk, journal
from ..scene_io.mesh_io import Float32Array, FloatArray
from ..state import measurements, snapshot
from ..state.sessions import Run
from . import build, capture, frame_inputs, gas_notes, xpbd_limits


@dataclass(frozen=True, slots=True)
class Reading:
    """What drives one frame, and where the soft bodies' objects are at its end."""

    frame: int
    given: FrameInput
    matrices: list[FloatArray]  # world from local (4, 4) of each soft body
    placed: frame_inputs.Placed  # drawn vertices that follow their animation exactly

    @property
    def size(self) -> int:
        """Memory it takes [bytes]."""
        given = self.given
        moved = (given.pinned_positions, given.goal_positions, given.collider_positions, given.held, given.held_rigid)
        arrays = [*(array for each in moved for array in each.values()), *self.matrices]
        arrays += [positions for _, positions in self.placed.values()]
        return sum(np.asarray(array).nbytes for array in arrays)


def read(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, start: snapshot.Snapshot, frame: int) -> Reading:
    """Read what drives a frame of a run from the scene, which is evaluated at it."""
    objects = {obj.session_uid: obj for obj in scene.objects}
    given, placed = frame_inputs.frame_input(start, objects, depsgraph)
    return Reading(frame, given, capture.world_matrices(start, objects, depsgraph), placed)


def resume(run: Run, values: snapshot.SceneValues) -> None:
    """Make the world of a cache that was read from disk, at its last frame; raises `CacheError` if it cannot be."""
    assert run.start is not None and run.cache is not None
    state = disk.state_in(run.cache)
    run.world = build.world_of(values, build.model_of(values, run.start))
    run.world.load(state)
    run.start.forget_places()
    run.added_mass = run.world.added_mass
    gas_notes.note_start(run, run.start)


def step(run: Run, values: snapshot.SceneValues, reading: Reading) -> None:
    """Simulate the frame that follows the last one of the cache, and add it; raises what the core says against it."""
    world, cache, start = run.world, run.cache, run.start
    assert world is not None and cache is not None and start is not None
    since = time.monotonic()
    world.advance_frame(reading.given)
    taken = time.monotonic() - since
    diagnostics = world.diagnostics()
    measured = measurements.measure(world, diagnostics)
    asleep = measurements.keep_asleep(measured, run.measured.get(cache.last_frame))
    positions, matrices = frame_of(world, start, reading)
    forces = forces_of(world, start, asleep, cache) if cache.holds_forces else None
    gas_notes.note_pressures(run, reading.given)
    run.seconds.append(taken)
    run.written = None
    run.measured[reading.frame] = measured
    run.reports[reading.frame] = diagnostics.reports
    note_squeezed(run, world, reading.frame)
    run.slack_skins = xpbd_limits.skins_that_are_slack(values, run, world.model, diagnostics.bodies, reading.frame)
    cache.append(reading.frame, positions, matrices, forces)
    for number, body in enumerate(start.bodies):
        if body.outline is None and world.model.plasticity.tear_strain[number] > 0.0:
            cache.note_torn(number, body.torn(world.torn_triangles(number, body.triangles)), reading.frame)


def note_squeezed(run: Run, world: World, frame: int) -> None:
    """Note bodies that had no room in a frame, the first time: nothing kept their surfaces apart."""
    for finding in (finding for report in run.reports[frame] for finding in report.reasons):
        if finding.reason is Reason.NO_ROOM and finding.bodies not in run.squeezed:
            names = [world.model.body_names[body] for body in dict.fromkeys(finding.bodies)]
            run.squeezed[finding.bodies] = (
                f"{names[0]}: its parts leave each other no room at frame {frame}, so they may have passed each other."
                if len(names) == 1
                else f"{' and '.join(names)}: pins or colliders leave no room at frame {frame}, so surfaces may have "
                "passed each other. Let them close less."
            )


def frame_of(world: World, start: snapshot.Snapshot, reading: Reading) -> tuple[list[FloatArray], list[FloatArray]]:
    """What the cache keeps of a frame: positions and world matrices of every body, soft ones first, in Blender units.

    A rigid body has no positions; its matrix says where it is.
    """
    positions = []
    for number, body in enumerate(start.bodies):
        seen = body.seen(world.positions(number), functools.partial(world.beside, number))
        if number in reading.placed:
            vertices, places = reading.placed[number]
            seen[vertices] = places
        positions.append(start.in_units(seen))
    positions += [np.empty((0, 3))] * len(start.rigid)
    if not start.rigid:
        return positions, reading.matrices
    moved = world.rigid_transforms()
    moved[:, :3, 3] = start.in_units(moved[:, :3, 3])
    return positions, [*reading.matrices, *moved @ np.reshape([body.matrix for body in start.rigid], (-1, 4, 4))]


def forces_of(
    world: World, start: snapshot.Snapshot, asleep: measurements.BoolArray, before: FrameCache | None
) -> list[FloatArray | Float32Array]:
    """Contact forces on the vertices of each soft body: of those that sleep, which are not computed, the last ones."""
    found: list[FloatArray | Float32Array] = [
        world.contact_forces(number) if body.drawn is None else body.drawn.forces(world.contact_forces(number))
        for number, body in enumerate(start.bodies)
    ]
    if before is not None:
        found = [before.forces(n, before.last_frame) if asleep[n] else force for n, force in enumerate(found)]
    return found


class Stepper:
    """Steps the frames of a run one after the other as they are read, and does other work on it between two frames.

    `path`: where the cache goes when all is done; until then a journal of it lies there.
    """

    #: How much may be read ahead [bytes], and at least this many frames.
    _most_bytes, _least_frames = 256e6, 2

    def __init__(self, run: Run, values: snapshot.SceneValues, path: Path | None = None) -> None:
        self._path = path
        self._run, self._values = run, values
        self._waiting: queue.SimpleQueue[Reading | None] = queue.SimpleQueue()
        self._between: deque[Callable[[], None]] = deque()
        self._lock = threading.Lock()  # of what is done between two frames
        self._given_bytes = self._given_count = self._done_bytes = self._done_count = 0
        self._is_stopped = self._is_over = False

    def has_room(self) -> bool:
        """Whether more may be read ahead."""
        is_small = self._given_bytes - self._done_bytes < self._most_bytes
        return is_small or self._given_count - self._done_count < self._least_frames

    def is_idle(self) -> bool:
        """Whether every frame that was given is done."""
        return self._given_count == self._done_count

    def give(self, reading: Reading) -> None:
        """The next frame."""
        self._given_bytes += reading.size
        self._given_count += 1
        self._waiting.put(reading)

    def do_between(self, work: Callable[[], None]) -> None:
        """Call a function of no Blender data before the next frame, or as soon as there is one, while none is stepped.

        It is called even if the run is stopped.
        """
        with self._lock:
            if not self._is_over:
                self._between.append(work)
                return
        work()

    def do_now(self, work: Callable[[], None]) -> None:
        """The same, waiting until it is done: for as long as the frame that is under way. Raises what it raises."""
        errors: list[BaseException] = []
        is_done = threading.Event()

        def noted() -> None:
            try:
                work()
            except BaseException as error:  # belongs to the caller, who is in another thread
                errors.append(error)
            is_done.set()

        self.do_between(noted)
        while not is_done.wait(0.005):
            with self._lock:
                if self.is_idle():  # it waits for a frame, which is not going to come before this is done
                    self._do_what_waits()
        if errors:
            raise errors[0]

    def finish(self) -> None:
        """Nothing more is going to be given."""
        self._waiting.put(None)

    def stop(self) -> None:
        """End after the frame that is under way; what else was given is dropped."""
        self._is_stopped = True
        self._waiting.put(None)

    def run(self) -> None:
        """All of it, for another thread; raises what the core says."""
        cache = self._run.cache
        assert cache is not None
        try:
            with journal.Journal(self._path, cache) as record:
                while (reading := self._waiting.get()) is not None:
                    self._do_what_waits()
                    if not self._is_stopped:
                        self._step(reading, cache, record)
        finally:
            with self._lock:
                self._do_what_waits()
                self._is_over = True

    def _step(self, reading: Reading, cache: FrameCache, record: journal.Journal) -> None:
        step(self._run, self._values, reading)
        if self._path is not None and self._run.world is not None:
            record.add(cache, disk.state_of(self._run.world, self._run.measured))
        self._done_bytes += reading.size
        self._done_count += 1

    def _do_what_waits(self) -> None:
        while self._between:
            self._between.popleft()()
