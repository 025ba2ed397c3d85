"""What the mouse does to bodies in interactive play: it grabs, moves and pokes them.

Bodies have the numbers of the world's model, soft bodies first. Places of callers are in Blender units.
"""

import math
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ...core import Handle, ParameterError, Pull, World
from ..scene_io import picking
from ..scene_io.mesh_io import FloatArray
from ..state.snapshot import Snapshot

#: Frames per second of interactive play: a step takes the inverse of it.
RATE = 30.0
#: Frequency of a free body on the spring to the mouse [1/s]: it follows within 0.1 s, and hangs 16 mm lower.
_GRAB_FREQUENCY = 4.0
#: Longest stretch of that spring, in sizes of the body: what is jerked away or stuck is not torn.
_REACH = 0.5
#: Speed that a poke gives to a free body, in its sizes per second.
_POKE_SPEED = 2.0
#: Time over which the speed of the mouse is averaged [s].
_AVERAGED = 0.1
#: Speed at which the spring's end follows a mouse that rests, in sizes of the body per second.
_HAND_SPEED = 2.0


@dataclass(slots=True)
class _Grip:
    """The body that the mouse has grabbed."""

    body: int
    grabbed: FloatArray  # where it was grabbed [m]
    mouse: FloatArray  # where the mouse is [m]
    handle: Handle | None = None  # None until the next frame
    offset: FloatArray | None = None  # of the handle from the mouse [m]
    end: FloatArray | None = None  # place of the spring's end [m]
    moves: deque[tuple[float, FloatArray]] = field(default_factory=deque)  # of the mouse of late: when [s], where [m]

    def move(self, mouse: FloatArray, now: float) -> None:
        """Move the mouse at a time [s]."""
        self.mouse = mouse
        self.moves.append((now, mouse))
        while len(self.moves) > 2 and now - self.moves[1][0] > _AVERAGED:
            self.moves.popleft()

    def speed(self, now: float) -> float:
        """How fast the mouse has moved of late, in the time of the person [m/s]."""
        if not self.moves or now - self.moves[-1][0] > _AVERAGED:
            return 0.0
        (since, start), (until, end) = self.moves[0], self.moves[-1]
        return float(np.linalg.norm(end - start)) / max(until - since, 1e-9) if until > since else math.inf


class Hand:
    """The mouse in a world that began from a snapshot. `force`: on the body that is grabbed [N]."""

    def __init__(self, world: World, start: Snapshot) -> None:
        self.world, self.start = world, start
        self._grip: _Grip | None = None
        self._pokes: list[tuple[int, FloatArray, FloatArray]] = []  # body, place [m] and direction
        self.force = 0.0

    @property
    def body_name(self) -> str:
        """The name of the body that is grabbed; empty if there is none."""
        return "" if self._grip is None else self.world.model.body_names[self._grip.body]

    def grab(self, origin: ArrayLike, direction: ArrayLike) -> FloatArray | None:
        """Grab the first body on a ray; returns where the ray meets it, None if there is none."""
        found = self._hit(origin, direction)
        if found is None:
            return None
        self._grip = _Grip(found[0], found[1], found[1])
        return self.start.in_units(found[1])

    def grab_body(self, name: str, place: ArrayLike) -> None:
        """Grab a body at its point nearest to a place; raises `ParameterError` if there is no such body."""
        body, at = self._number(name), np.asarray(place, dtype=float) * self.start.metres
        points = self._points(body)
        nearest = points[int(np.argmin(((points - at) ** 2).sum(axis=1)))]
        self._grip = _Grip(body, nearest, nearest)

    def drag(self, place: ArrayLike) -> None:
        """Move the mouse's end of the spring to a place."""
        if self._grip is not None:
            self._grip.move(np.asarray(place, dtype=float) * self.start.metres, time.monotonic())

    def release(self) -> None:
        """Let go: the body flies on."""
        self._grip, self.force = None, 0.0

    def poke(self, origin: ArrayLike, direction: ArrayLike) -> bool:
        """Push the first body on a ray along it, in the next frame; returns whether there is one."""
        found = self._hit(origin, direction)
        if found is not None:
            self._pokes.append((*found, _unit(direction)))
        return found is not None

    def poke_body(self, name: str, direction: ArrayLike) -> None:
        """Push a body through its middle in the next frame; raises `ParameterError` if there is no such body."""
        body, along = self._number(name), _unit(direction)
        points = self._points(body)
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        hit = points[int(np.argmin(points @ along + np.linalg.norm(np.cross(points - middle, along), axis=1)))]
        self._pokes.append((body, hit, along))

    def pulls(self, is_slow: bool) -> Iterator[Pull]:
        """What the mouse does to bodies in the next frame, that on the grabbed one first.

        In slow play the spring's end moves no faster than the mouse does for the person; else a throw would be as much
        faster as play is slower.
        """
        if self._grip is not None:
            yield self._pull(self._grip, is_slow)
        for body, place, direction in self._pokes:
            force = float(self.world.model.body_mass[body]) * _POKE_SPEED * self._size(body) * RATE * direction
            yield Pull(self.world.handle(body, place), force=force)
        self._pokes.clear()

    def _pull(self, grip: _Grip, is_slow: bool) -> Pull:
        if grip.handle is None or grip.offset is None or grip.end is None:
            grip.handle = self.world.handle(grip.body, grip.grabbed)
            grip.end = self.world.handle_place(grip.handle)
            grip.offset = grip.end - grip.grabbed
        size = self._size(grip.body)
        target = _within(self.world.handle_place(grip.handle), grip.mouse + grip.offset, _REACH * size)
        if is_slow:
            speed = max(grip.speed(time.monotonic()), _HAND_SPEED * size)
            target = _within(grip.end, target, speed / RATE)
        rate, mass = 2.0 * math.pi * _GRAB_FREQUENCY, float(self.world.model.body_mass[grip.body])
        pull = Pull(grip.handle, grip.end, target, mass * rate**2, 2.0 * mass * rate)
        grip.end = target
        return pull

    def _number(self, name: str) -> int:
        model = self.world.model
        if name not in model.body_names[: model.moving_count]:
            raise ParameterError(f"Interactive: there is no moving body {name!r}. Give the name of its object.")
        return model.body_names.index(name)

    def _points(self, body: int) -> FloatArray:
        soft = len(self.start.bodies)
        return self.world.positions(body) if body < soft else self.world.rigid_positions(body - soft)

    def _hit(self, origin: ArrayLike, direction: ArrayLike) -> tuple[int, FloatArray] | None:
        """The first moving body on a ray, and where it is hit [m]."""
        begin, along = np.asarray(origin, dtype=float) * self.start.metres, np.asarray(direction, dtype=float)
        hits = []
        for number, body in enumerate(self.start.bodies):
            surface = body.seen(self.world.positions(number)), body.drawn_triangles
            if body.outline is not None:
                surface = picking.fan(body.outline, surface[0])
            hits.append(picking.nearest(begin, along, *surface))
        for number, rigid_body in enumerate(self.start.rigid):
            hits.append(picking.nearest(begin, along, self.world.rigid_positions(number), rigid_body.triangles))
        first = int(np.argmin(hits))
        return None if hits[first] == np.inf else (first, begin + hits[first] * along)

    def _size(self, body: int) -> float:
        """The longest side of the box around a body at its start [m]."""
        model = self.world.model
        points = model.start_positions[model.body_point_start[body] : model.body_point_start[body + 1]]
        return float(np.ptp(points, axis=0).max())


def _unit(direction: ArrayLike) -> FloatArray:
    along = np.asarray(direction, dtype=float)
    return np.asarray(along / np.linalg.norm(along))


def _within(place: FloatArray, target: FloatArray, most: float) -> FloatArray:
    """The target, or what lies on the way there at the largest distance [m]."""
    way = target - place
    far = float(np.linalg.norm(way))
    return target if far <= most else place + most / far * way
