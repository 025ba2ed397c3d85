"""Interactive play: the scene is simulated at the rate of the window, without the timeline and without a cache, while
the mouse acts on it (`hand.py`).

It starts from the bodies' own shapes at the present frame, captures them as a run does, and steps a world of its own.
Settings that are read in each frame act in the next one; others make a new model, whose bodies keep their motion.
Bodies show `Display.pose` meanwhile. Stepping touches none of Blender's data: it is done in a worker thread.
"""

import time
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ...core import SoftPressureError, World
from ...core.cache import FrameCache
from ...core.transfer import transferred
from ..bodies import setup, validation
from ..cache import playback
from ..scene_io import kept_pose, mesh_io
from ..scene_io.blender_types import Mesh
from ..scene_io.mesh_io import Float32Array
from ..state import input_digest, measurements, sessions, snapshot, worker_thread
from ..state.jobs import Interrupted, Work
from . import build, capture, kernels, making_meshes, simulate_job, stepping
from .hand import RATE, Hand

#: From this share of real time on, play counts as real time.
_REAL_TIME = 0.9
#: Time over which the speed of play is averaged [s].
_AVERAGED = 1.0


@dataclass(slots=True)
class Pace:
    """How fast it plays, of late."""

    speed: float = 1.0  # simulated time over the time that has passed
    seconds: float = 0.0  # duration of a frame
    _noted: float = 0.0  # when the last frame was done, by `time.monotonic`

    @property
    def is_slow(self) -> bool:
        """Whether it plays slower than in real time."""
        return self.speed < _REAL_TIME

    def note(self, since: float) -> None:
        """Count a frame that was begun at a time [s]."""
        now, before = time.monotonic(), self._noted or since
        weight = min(1.0, (now - before) / _AVERAGED)
        self._noted = now
        self.speed += weight * (1.0 / (RATE * max(now - before, 1e-3)) - self.speed)
        self.seconds += (weight if self.seconds else 1.0) * (now - since - self.seconds)

    def __str__(self) -> str:
        if self.is_slow:
            return f"Interactive, {self.speed:.2f} of real time ({1e3 * self.seconds:.0f} ms a frame)"
        return f"Interactive, {self.speed * RATE:.0f} frames per second"


class InteractivePlay:
    """Interactive play of a scene. `begin`, `step` for each frame, and `end` in any case.

    Attributes: `frame`, the number of frames so far; `hand`, with the world, None before the first frame; `pace`.
    """

    def __init__(self, scene: bpy.types.Scene) -> None:
        self.scene = scene
        self.hand: Hand | None = None
        self.frame = 0
        self.pace = Pace()
        self._inputs: tuple[Any, ...] = ()
        self._made_of = ""
        self._reading: stepping.Reading | None = None
        self._must_read = False
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
                self.pace.note(since)
                yield self.pace.speed, 1.0, str(self.pace)
        finally:
            self.end()

    def begin(self, run: "worker_thread.Runner[Any]" = worker_thread.run) -> Work:
        """Capture the bodies and make the world; raises with a sentence if nothing can be simulated."""
        session = sessions.of(self.scene)
        yield from kernels.prepare(self.scene)
        while worker_thread.is_busy():
            yield None
        moving = sessions.objects(self.scene, "SOFT", "RIGID", "COLLIDER")
        meshes: list[Mesh] = [obj.data for obj in moving if obj.type == "MESH"]
        count = sum(len(mesh.vertices) for mesh in meshes)
        yield 0.0, 1.0, f"Interactive: starting with {count:,} vertices"
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
        hand = self.hand
        assert hand is not None
        reading = self._read(hand.start)
        has_grabbed = bool(hand.body_name)  # meanwhile the mouse may grab another body
        given = replace(reading.given, pulls=tuple(hand.pulls(self.pace.is_slow)))
        yield from run(lambda: hand.world.advance_frame(given))
        hand.force = RATE * float(np.linalg.norm(hand.world.pull_impulses[0])) if has_grabbed else 0.0
        self.frame += 1
        self._show(hand.world, hand.start, reading)

    def end(self) -> None:
        """Show what was shown before."""
        session = sessions.of(self.scene)
        session.display.pose, session.activity = None, sessions.Activity.IDLE
        for obj in sessions.objects(self.scene, "SOFT"):
            key, kept = mesh_io.live_key(obj), self._keys.get(obj.session_uid)
            if key is not None and kept is not None and len(kept) == len(key.points) and not mesh_io.is_edited(obj):
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
        playback.show_again(self.scene)
        return found

    def _check(self) -> None:
        """Raise `Interrupted` if it must not go on."""
        if sessions.is_rendering:
            raise Interrupted(f"{self.scene.name}: interactive play has ended, as a render has begun.")
        if sentence := sessions.waits_for(self.scene):
            raise Interrupted(sentence)

    def _follow(self, run: "worker_thread.Runner[Any]") -> Work:
        """Make a model for changed settings that are not read in each frame, keeping the motion of its bodies."""
        scene, session = self.scene, sessions.of(self.scene)
        _evaluated(scene)
        inputs = session.inputs(scene), playback.scene_time(scene)
        if inputs == self._inputs:
            return
        self._inputs, self._reading = inputs, None
        made_of = input_digest.of_model(scene)
        if made_of == self._made_of:
            return
        missing = capture.missing_meshes(scene, self._show_input(True))
        playback.show(scene)
        yield from making_meshes.make(scene, missing)
        start, values = self._capture(), build.values_of_scene(scene)
        values.render.fps, values.render.fps_base = RATE, 1.0
        values.render.frame_map_old = values.render.frame_map_new = 100

        def make() -> Any:
            model = build.model_of(values, start)
            return model, kernels.starts_crossed(model)

        model, session.run.starts_crossed = yield from run(make)
        yield from kernels.prepare(scene)
        old = self.hand

        def begin() -> World:
            world = build.world_of(values, model)
            if old is not None:
                _carry_over(old.world, old.start.uids(), world, start.uids())
            return world

        world = yield from run(begin)
        self.hand, self._made_of = Hand(world, start), made_of
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
            self._reading = stepping.read(self.scene, self._show_input(False), start, self.frame)
            playback.show(self.scene)
        return self._reading

    def _show_input(self, all_of_them: bool) -> bpy.types.Depsgraph:
        """Show the input of all bodies, or of those that each frame reads, and evaluate it."""
        playback.show_input(self.scene, all_of_them)
        return _evaluated(self.scene)

    def _show(self, world: World, start: snapshot.Snapshot, reading: stepping.Reading) -> None:
        """Show the present state of the world, with what the overlay shows of it."""
        session, colour = sessions.of(self.scene), self.scene.softpressure.overlay_colour
        last = session.display.pose
        if last is not None and last.object_uids != start.uids():
            last = None
        rows = forces = None
        if colour in {"PRESSURE", "FORCE"}:
            rows = measurements.measure(world, world.diagnostics())
            asleep = measurements.keep_asleep(rows, None if last is None else last.rows)
            if colour == "FORCE":
                before = last.cache if last is not None and last.cache.holds_forces else None
                forces = stepping.forces_of(world, start, asleep, before)
        positions, transforms = stepping.frame_of(world, start, reading)
        names = [part.name for part in (*start.bodies, *start.rigid)]
        frame = FrameCache(self.frame, names, [len(each) for each in positions], holds_forces=forces is not None)
        frame.append(self.frame, positions, transforms, forces)
        session.display.pose = sessions.Pose(frame, start.uids(), rows, start.in_units(world.particle_places()))
        playback.show(self.scene)


def _carry_over(old: World, were: tuple[int, ...], new: World, are: tuple[int, ...]) -> None:
    """Give a new world the motion of the bodies that an old one had, by `session_uid`."""
    pairs = [(were.index(uid), now) for now, uid in enumerate(are) if uid in were]
    positions = {was: old.positions(was) for was, _ in pairs if was < old.model.membrane_count}
    new.load(transferred(old.save(), old.model, positions, new.model, pairs))


def _evaluated(scene: bpy.types.Scene) -> bpy.types.Depsgraph:
    for layer in scene.view_layers:
        layer.update()
    return validation.graph_of_bodies(scene)
