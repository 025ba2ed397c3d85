"""What is known while Blender runs: one `Session` per scene. Keyed by ids; Blender references do not survive undo."""

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import bpy

from . import fingerprint

if TYPE_CHECKING:
    from ..core import Choice, World
    from ..core.cache import FrameCache
    from ..core.solvers.pressure_retention import GaugeLeft
    from .capture import Start

_log = logging.getLogger("softpressure")


@dataclass(slots=True)
class Session:
    """The simulation of one scene."""

    cache: "FrameCache | None" = None
    #: `session_uid` of the object of each body of the cache.
    object_uids: tuple[int, ...] = ()
    #: What was captured at the first frame; None after a cache was read from disk.
    start: "Start | None" = None
    #: Always at the last frame of the cache.
    world: "World | None" = None
    #: What the run is made with, from before its world is made; None where the method says it all.
    choice: "Choice | None" = None
    #: Why the simulation does not go on; empty while it does.
    error: str = ""
    #: The frame that is being simulated, between the two handlers of a frame change.
    live_frame: int | None = None
    #: The frame that was set last; None before the first frame change.
    seen_frame: int | None = None
    #: What the live key of each object shows: time [frames] and world matrix.
    shown: dict[int, tuple[float, Any]] = field(default_factory=dict)
    #: Triangles that crossed the surface of another body at the start.
    crossing_count: int = 0
    #: Whether bodies cross each other there: that takes more kernels.
    starts_crossed: bool = False
    #: Volume over rest volume and gauge pressure [Pa] of each body, by frame; not kept on disk.
    gauges: dict[int, list[tuple[float, float]]] = field(default_factory=dict)
    #: Share of the pressure asked for that each body holds, by frame, with XPBD only; not kept on disk.
    held: dict[int, list[float]] = field(default_factory=dict)
    #: What tells it of the bodies of `world`; None before it is asked for.
    gauge_left: "GaugeLeft | None" = None
    #: What the method does not hold, in sentences: of solids, known from the start; of skins, at the last frame.
    soft_solids: list[str] = field(default_factory=list)
    slack_skins: list[str] = field(default_factory=list)
    #: Of bodies of gas that are not filled as drawn, by the `session_uid` of their objects: how much their volume grows
    #: until they are at rest, and how far a vertex moves [m], at most.
    puffs: dict[int, tuple[float, float]] = field(default_factory=dict)
    #: Why a skin does not hold its pressure, by the body's number; the last sentence of each.
    overstretched: dict[int, str] = field(default_factory=dict)
    needs_check: bool = True
    _is_out_of_date: bool = False
    _logged: set[str] = field(default_factory=set)

    def clear(self) -> None:
        """Forget everything that was simulated."""
        self.cache = self.start = self.world = self.choice = self.live_frame = None
        self.object_uids = ()
        self.error = ""
        self.crossing_count = 0
        self.starts_crossed = False
        self.needs_check = True
        self.shown.clear()
        self.gauges.clear()
        self.held.clear()
        self.gauge_left = None
        self.soft_solids, self.slack_skins = [], []
        self.puffs.clear()
        self.overstretched.clear()

    def fail(self, sentence: str) -> None:
        """Stop with a sentence for the panel; the log gets it once."""
        self.error = sentence
        if sentence not in self._logged:
            self._logged.add(sentence)
            _log.warning(sentence)

    def is_out_of_date(self, scene: bpy.types.Scene) -> bool:
        """Whether settings or meshes differ from those the cache was made with."""
        if self.cache is None or any(obj.softpressure.is_baked for obj in objects(scene, "RIGID")):
            return False  # a baked motion stands in for what the frames were made from
        if self.needs_check:
            self._is_out_of_date = fingerprint.of_inputs(scene) != self.cache.input_fingerprint
            self.needs_check = False
        return self._is_out_of_date


_sessions: dict[int, Session] = {}

#: Why an object cannot take part, by its `session_uid`; shown in the panel.
problems: dict[int, str] = {}

#: Between `render_init` and its end; `is_job_running('RENDER')` is False in background.
is_rendering = False


def of(scene: bpy.types.Scene) -> Session:
    """The session of a scene, made on first use."""
    return _sessions.setdefault(scene.session_uid, Session())


def mark_all() -> None:
    """Something may have changed: every session compares its inputs when it is asked next."""
    for session in _sessions.values():
        session.needs_check = True


def forget_shown() -> None:
    """The live keys may show something else than what was written last (undo, edit mode)."""
    for session in _sessions.values():
        session.shown.clear()


def forget_all() -> None:
    """Drop all sessions (another file, or the extension is disabled)."""
    _sessions.clear()
    problems.clear()


def objects(scene: bpy.types.Scene, *kinds: str) -> list[bpy.types.Object]:
    """The mesh objects of a scene that have one of these kinds, in a fixed order."""
    found = [obj for obj in scene.objects if obj.type == "MESH" and obj.softpressure.kind in kinds]
    return sorted(found, key=lambda obj: obj.name_full)


def has_bodies(scene: bpy.types.Scene) -> bool:
    """Whether there is anything to simulate or to refuse."""
    return any(obj.type == "MESH" and obj.softpressure.kind in {"SOFT", "RIGID"} for obj in scene.objects)
