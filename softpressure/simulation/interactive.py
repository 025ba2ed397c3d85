"""Live play: the scene is simulated at the rate of the window, without the timeline and without a cache, and can be
grabbed.

It starts from the bodies' own shapes at the present frame, captures them as a run does, and steps a world of its own.
Settings that are read in each frame act in the next one; others make a new model, whose bodies keep their motion.
Bodies show `Session.live` meanwhile. Stepping touches none of Blender's data: it is done beside the main thread.
"""

import math
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import ArrayLike

from ...core import Handle, ParameterError, Pull, SoftPressureError, World
from ...core.cache import FrameCache
from ...core.transfer import transferred
from ..bodies import setup, validation
from ..cache import playback
from ..scene_io import kept_pose, mesh_io, picking
from ..scene_io.blender_types import Mesh
from ..scene_io.mesh_io import Float32Array, FloatArray
from ..state import input_digest, measurements, sessions, snapshot, worker_thread
from ..state.jobs import Interrupted, Work
from . import capture, kernels, making_meshes, simulate_job, stepping

#: Frames per second: a step takes the inverse of it.
RATE = 30.0
#: Frequency of a free body on the spring to the mouse [1/s]: it follows within 0.1 s, and hangs 16 mm lower.
_GRAB_FREQUENCY = 4.0
#: From this share of real time on, play counts as real time.
_REAL_TIME = 0.9
#: Longest stretch of that spring, in sizes of the body: what is jerked away or stuck is not torn.
_REACH = 0.5
#: Speed that a poke gives to a free body, in its sizes per second.
_POKE_SPEED = 2.0
#: Time over which the speed of play is averaged, and that of the mouse [s].
_AVERAGED, _MOUSE_AVERAGED = 1.0, 0.1
#: Speed at which the hand follows a mouse that rests, in sizes of the body per second.
_HAND_SPEED = 2.0


@dataclass(slots=True)
class Hold:
    """The body that the mouse holds."""

    body: int  # soft bodies first, then rigid ones
    grabbed: FloatArray  # where it was grabbed [m]
    mouse: FloatArray  # where the mouse is [m]
    handle: Handle | None = None  # None until the next frame
    offset: FloatArray | None = None  # of the handle from the mouse [m]
    last: FloatArray | None = None  # place of the spring's end [m]
    moves: deque[tuple[float, FloatArray]] = field(default_factory=deque)  # of the mouse of late: when [s], where [m]

    def move(self, mouse: FloatArray, now: float) -> None:
        """Move the mouse at a time [s]."""
        self.mouse = mouse
        self.moves.append((now, mouse))
        while len(self.moves) > 2 and now - self.moves[1][0] > _MOUSE_AVERAGED:
            self.moves.popleft()

    def speed(self, now: float) -> float:
        """How fast the mouse has moved of late, in the time of the person [m/s]."""
        if not self.moves or now - self.moves[-1][0] > _MOUSE_AVERAGED:
            return 0.0
        (since, start), (until, end) = self.moves[0], self.moves[-1]
        return float(np.linalg.norm(end - start)) / max(until - since, 1e-9) if until > since else math.inf


class Live:
    """Live play of a scene. `begin`, `step` for each frame, and `end` in any case.

    Attributes: `frame`, the number of frames so far; `world`; `force`, of the mouse on the body it holds [N].
    """

    def __init__(self, scene: bpy.types.Scene) -> None:
        self.scene = scene
        self.world: World | None = None
        self.frame = 0
        self.force = 0.0
        #: Simulated time over the time that has passed, and duration of a frame [s], both of late.
        self.speed, self.seconds = 1.0, 0.0
        self._noted = 0.0  # when the last frame was done, by `time.monotonic`
        self._start: snapshot.Snapshot | None = None
        self._inputs: tuple[Any, ...] = ()
        self._made_of = ""
        self._reading: stepping.Reading | None = None
        self._must_read = False
        self._hold: Hold | None = None
        self._pokes: list[tuple[int, FloatArray, FloatArray]] = []  # body, place [m] and direction
        self._keys: dict[int, Float32Array] = {}

    def play(self) -> Work:
        """All of it as a job of a window: frame after frame, in real time or slower, until it is closed."""
        try:
            yield from self.begin()
            due = time.monotonic()
            while True:
                while time.monotonic() < due:
                    yield None
                since = time.monotonic()
                due = max(due + 1.0 / RATE, since)  # time that was lost is not made up for
                yield from self.step(worker_thread.run)
                self._note(since)
                yield self.speed, 1.0, self.text()
        finally:
            self.end()

    def text(self) -> str:
        """How fast it plays."""
        if self.speed < _REAL_TIME:
            return f"Live, {self.speed:.2f} of real time ({1e3 * self.seconds:.0f} ms a frame)"
        return f"Live, {self.speed * RATE:.0f} frames per second"

    def begin(self, run: "worker_thread.Runner[Any]" = worker_thread.run) -> Work:
        """Capture the bodies and make the world; raises with a sentence if nothing can be simulated."""
        session = sessions.of(self.scene)
        yield from kernels.prepare(self.scene)
        while worker_thread.is_busy():
            yield None
        moving = sessions.objects(self.scene, "SOFT", "RIGID", "COLLIDER")
        meshes: list[Mesh] = [obj.data for obj in moving if obj.type == "MESH"]
        count = sum(len(mesh.vertices) for mesh in meshes)
        yield 0.0, 1.0, f"Live: starting with {count:,} vertices"
        yield None  # so that it is drawn before the bodies are read
        setup.prepare(moving)
        self._check()
        keys = {obj.session_uid: mesh_io.live_key(obj) for obj in moving}
        self._keys = {uid: mesh_io.read_key(key) for uid, key in keys.items() if key is not None}
        session.activity = sessions.Activity.INTERACTIVE
        yield from self._follow(run)

    def step(self, run: "worker_thread.Runner[Any]" = worker_thread.at_once) -> Work:
        """Simulate and show the next frame.

        Raises `SoftPressureError` if it cannot go on, `Interrupted` if a body is edited or a render has begun.
        """
        self._check()
        yield from self._follow(run)
        world, start = self.world, self._start
        assert world is not None and start is not None
        reading = self._read(start)
        is_held = self._hold is not None  # meanwhile the mouse may grab another body
        given = replace(reading.given, pulls=tuple(self._pulls(world, start)))
        yield from run(lambda: world.advance_frame(given))
        self.force = RATE * float(np.linalg.norm(world.pull_impulses[0])) if is_held else 0.0
        self.frame += 1
        self._show(world, start, reading)

    def end(self) -> None:
        """Show what was shown before."""
        session = sessions.of(self.scene)
        session.display.pose, session.activity = None, sessions.Activity.IDLE
        for obj in sessions.objects(self.scene, "SOFT"):
            key, kept = mesh_io.live_key(obj), self._keys.get(obj.session_uid)
            if key is not None and kept is not None and len(kept) == len(key.points) and obj.mode != "EDIT":
                mesh_io.write_key(key, kept)
                obj.data.update_tag()
        self._keys = {}
        session.display.shown.clear()
        playback.show(self.scene)

    def keep(self, what: str) -> tuple[list[str], list[str]]:
        """End, and keep the last pose: NOTHING of it, as SHAPE_KEY, or as START.

        Returns what was done, and why not the rest, one sentence per object.
        """
        session = sessions.of(self.scene)
        shown = session.display.pose
        self.end()
        by_uid = {obj.session_uid: obj for obj in self.scene.objects}
        if shown is None or what == "NOTHING" or not by_uid.keys() >= set(shown.object_uids):
            return [], []
        objects = [by_uid[uid] for uid in shown.object_uids]
        if what == "SHAPE_KEY":
            return kept_pose.keep_as_keys(objects, shown.cache)
        found = kept_pose.keep_as_start(objects, shown.cache)
        session.clear()  # what it holds is of another start
        sessions.mark_all()
        playback.show_again(self.scene)
        return found

    def grab(self, origin: ArrayLike, direction: ArrayLike) -> FloatArray | None:
        """Hold the first body on a ray; returns where the ray meets it, None if there is none. Blender units."""
        found = self._hit(origin, direction)
        if found is None:
            return None
        self._hold = Hold(found[0], found[1], found[1])
        return self._in_units(found[1])

    def grab_body(self, name: str, place: ArrayLike) -> None:
        """Hold a body at its point nearest to a place [Blender units]; raises `ParameterError` if there is no such."""
        world, start, body = self._body(name)
        at = np.asarray(place, dtype=float) * start.metres
        points = world.positions(body) if body < len(start.bodies) else world.rigid_positions(body - len(start.bodies))
        nearest = points[int(np.argmin(((points - at) ** 2).sum(axis=1)))]
        self._hold = Hold(body, nearest, nearest)

    def poke_body(self, name: str, direction: ArrayLike) -> None:
        """Push a body through its middle in the next frame; raises `ParameterError` if there is no such."""
        world, start, body = self._body(name)
        points = world.positions(body) if body < len(start.bodies) else world.rigid_positions(body - len(start.bodies))
        along = np.asarray(direction, dtype=float)
        along = along / np.linalg.norm(along)
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        hit = points[int(np.argmin(points @ along + np.linalg.norm(np.cross(points - middle, along), axis=1)))]
        self._pokes.append((body, hit, along))

    def _body(self, name: str) -> tuple[World, snapshot.Snapshot, int]:
        world, start = self.world, self._start
        if world is None or start is None or name not in world.model.body_names[: world.model.moving_count]:
            raise ParameterError(f"live play: there is no moving body {name!r}. Give the name of its object.")
        return world, start, world.model.body_names.index(name)

    def drag(self, place: ArrayLike) -> None:
        """Move the mouse's end of the spring to a place [Blender units]."""
        if self._hold is not None and self._start is not None:
            self._hold.move(np.asarray(place, dtype=float) * self._start.metres, time.monotonic())

    def release(self) -> None:
        """Let go: the body flies on."""
        self._hold, self.force = None, 0.0

    def held_name(self) -> str:
        """The name of the body that is held; empty if there is none."""
        if self._hold is None or self.world is None:
            return ""
        return self.world.model.body_names[self._hold.body]

    def poke(self, origin: ArrayLike, direction: ArrayLike) -> bool:
        """Push the first body on a ray along it, in the next frame; returns whether there is one. Blender units."""
        found = self._hit(origin, direction)
        if found is not None:
            along = np.asarray(direction, dtype=float)
            self._pokes.append((*found, along / np.linalg.norm(along)))
        return found is not None

    def _check(self) -> None:
        """Raise `Interrupted` if it must not go on."""
        if sessions.is_rendering:
            raise Interrupted(f"{self.scene.name}: live play has ended, as a render has begun.")
        sentence = sessions.waits_for(self.scene)
        if sentence:
            raise Interrupted(sentence)

    def _follow(self, run: "worker_thread.Runner[Any]") -> Work:
        """Make a model for changed settings that are not read in each frame, keeping the motion of its bodies."""
        scene, session = self.scene, sessions.of(self.scene)
        self._evaluate()
        inputs = session.inputs(scene), playback.scene_time(scene)
        if inputs == self._inputs:
            return
        self._inputs, self._reading = inputs, None
        made_of = input_digest.of_model(scene)
        if made_of == self._made_of:
            return
        self.release()
        self._pokes.clear()
        missing = capture.missing_meshes(scene, self._show_input(True))
        playback.show(scene)
        yield from making_meshes.make(scene, missing)
        start, values = self._capture(), capture.scene_values(scene)
        values.render.fps, values.render.fps_base = RATE, 1.0
        values.render.frame_map_old = values.render.frame_map_new = 100

        def make() -> Any:
            model = capture.build_model(values, start)
            return model, kernels.starts_crossed(model)

        model, session.run.starts_crossed = yield from run(make)
        yield from kernels.prepare(scene)
        old = None if self.world is None or self._start is None else (self.world, self._start.uids())

        def begin() -> World:
            world = capture.build_world(values, model)
            if old is not None:
                _carry_over(*old, world, start.uids())
            return world

        self.world = yield from run(begin)
        self._start, self._made_of = start, made_of
        self._must_read = simulate_job.follows_what_is_simulated(scene, start)

    def _capture(self) -> snapshot.Snapshot:
        """All bodies as they are without simulation, at the present frame."""
        graph = self._show_input(True)
        try:
            return capture.start(self.scene, graph)
        except snapshot.Refusals as error:
            sentence = str(error) or "\n".join(validation.problems(self.scene).values())
            nothing = f"{self.scene.name}: no body to simulate. Select a closed mesh and add it as a soft body."
            raise SoftPressureError(sentence or nothing) from error
        finally:
            playback.show(self.scene)

    def _read(self, start: snapshot.Snapshot) -> stepping.Reading:
        """Input of the next frame; read again only after a change."""
        if self._reading is None or self._must_read:
            graph = self._show_input(False)
            self._reading = stepping.read(self.scene, graph, start, self.frame)
            playback.show(self.scene)
        return self._reading

    def _show_input(self, all_of_them: bool) -> bpy.types.Depsgraph:
        """Show the input of all bodies, or of those that each frame reads, and evaluate it."""
        playback.show_input(self.scene, all_of_them)
        return self._evaluate()

    def _evaluate(self) -> bpy.types.Depsgraph:
        """The scene evaluated at the present frame, in the view layer that has all bodies."""
        for layer in self.scene.view_layers:
            layer.update()
        graphs = [layer.depsgraph for layer in self.scene.view_layers if layer.depsgraph is not None]
        return next((graph for graph in graphs if validation.sees_bodies(self.scene, graph)), graphs[-1])

    def _show(self, world: World, start: snapshot.Snapshot, reading: stepping.Reading) -> None:
        """Show the present state of the world."""
        positions, transforms = stepping.frame_of(world, start, reading)
        counts = [len(each) for each in positions]
        session = sessions.of(self.scene)
        rows, forces = self._measure(world, start)
        names = [part.name for part in (*start.bodies, *start.rigid)]
        frame = FrameCache(self.frame, names, counts, holds_forces=forces is not None)
        frame.append(self.frame, positions, transforms, forces)
        session.display.pose = sessions.Pose(frame, start.uids(), rows, self._in_units(world.particle_places()))
        playback.show(self.scene)

    def _measure(self, world: World, start: snapshot.Snapshot) -> tuple[FloatArray | None, list[Any] | None]:
        """What the overlay shows: rows of measurements, and contact forces on vertices; None for what it does not."""
        colour = self.scene.softpressure.overlay_colour
        if colour not in {"PRESSURE", "FORCE"}:
            return None, None
        last = sessions.of(self.scene).display.pose
        if last is not None and last.object_uids != start.uids():
            last = None
        before = None if last is None else last.rows
        frame = last.cache if last is not None and last.cache.holds_forces else None
        rows = measurements.measure(world, world.diagnostics())
        asleep = measurements.keep_asleep(rows, before)
        if colour != "FORCE":
            return rows, None
        return rows, stepping.forces_of(world, start, asleep, frame)

    def _pulls(self, world: World, start: snapshot.Snapshot) -> Iterator[Pull]:
        """What the mouse does to bodies in the next frame, the hold first."""
        mass = world.model.body_mass
        hold = self._hold
        if hold is not None:
            if hold.handle is None or hold.offset is None or hold.last is None:
                hold.handle = world.handle(hold.body, hold.grabbed)
                hold.last = world.handle_place(hold.handle)
                hold.offset = hold.last - hold.grabbed
            place, target = world.handle_place(hold.handle), hold.mouse + hold.offset
            way, reach = target - place, _REACH * self._size(world, hold.body)
            far = float(np.linalg.norm(way))
            if far > reach:
                target = place + reach / far * way
            target = self._hand(hold, target, self._size(world, hold.body))
            rate, m = 2.0 * math.pi * _GRAB_FREQUENCY, float(mass[hold.body])
            yield Pull(hold.handle, hold.last, target, m * rate**2, 2.0 * m * rate)
            hold.last = target
        for body, place, direction in self._pokes:
            force = float(mass[body]) * _POKE_SPEED * self._size(world, body) * RATE * direction
            yield Pull(world.handle(body, place), force=force)
        self._pokes.clear()

    def _hand(self, hold: Hold, target: FloatArray, size: float) -> FloatArray:
        """The spring's end after the next frame [m]: in slow play no faster than the mouse is for the person.

        Else a throw would be as much faster as the play is slower. `size`: of the body [m].
        """
        assert hold.last is not None
        if self.speed >= _REAL_TIME:
            return target
        way = target - hold.last
        far, most = float(np.linalg.norm(way)), max(hold.speed(time.monotonic()), _HAND_SPEED * size) / RATE
        return target if far <= most else hold.last + most / far * way

    def _hit(self, origin: ArrayLike, direction: ArrayLike) -> tuple[int, FloatArray] | None:
        """The first moving body on a ray [Blender units], and where it is hit [m]."""
        world, start = self.world, self._start
        if world is None or start is None:
            return None
        begin, along = np.asarray(origin, dtype=float) * start.metres, np.asarray(direction, dtype=float)
        hits = []
        for number, body in enumerate(start.bodies):
            surface = body.seen(world.positions(number)), body.drawn_triangles
            if body.outline is not None:
                surface = picking.fan(body.outline, surface[0])
            hits.append(picking.nearest(begin, along, *surface))
        for number, solid in enumerate(start.rigid):
            hits.append(picking.nearest(begin, along, world.rigid_positions(number), solid.triangles))
        first = int(np.argmin(hits))
        return None if hits[first] == np.inf else (first, begin + hits[first] * along)

    def _size(self, world: World, body: int) -> float:
        """Size of a body: the longest side of the box around it at its start [m]."""
        model = world.model
        points = model.start_positions[model.body_point_start[body] : model.body_point_start[body + 1]]
        return float(np.ptp(points, axis=0).max())

    def _in_units(self, place: FloatArray) -> FloatArray:
        assert self._start is not None
        return self._start.in_units(place)

    def _note(self, since: float) -> None:
        """Average how fast it plays, after a frame that was begun at a time [s]."""
        now, before = time.monotonic(), self._noted or since
        weight = min(1.0, (now - before) / _AVERAGED)
        self._noted = now
        self.speed += weight * (1.0 / (RATE * max(now - before, 1e-3)) - self.speed)
        self.seconds += (weight if self.seconds else 1.0) * (now - since - self.seconds)


def _carry_over(old: World, were: tuple[int, ...], new: World, are: tuple[int, ...]) -> None:
    """Give a new world the motion of the bodies that an old one had, by `session_uid`."""
    pairs = [(were.index(uid), now) for now, uid in enumerate(are) if uid in were]
    positions = {was: old.positions(was) for was, _ in pairs if was < old.model.membrane_count}
    new.load(transferred(old.save(), old.model, positions, new.model, pairs))
