"""Run-time data: one `Session` per scene, in parts by their lifetimes. Keyed by ids; Blender references do not survive
undo.
"""

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import bpy

from ..scene_io import instances, mesh_io
from . import input_digest, jobs
from .memos import change_count as change_count
from .memos import forget_objects as forget_objects
from .memos import mark as mark
from .memos import mark_all as mark_all
from .memos import members
from .memos import memo as memo
from .memos import of_objects as of_objects

if TYPE_CHECKING:
    from pathlib import Path

    from ...core import StepReport, World
    from ...core.cache import FrameCache
    from ...core.solvers.xpbd.pressure_retention import PressureRetention
    from ..scene_io.mesh_io import FloatArray
    from .body_quantities import Quantities
    from .measurements import Table
    from .snapshot import Snapshot

_log = logging.getLogger("softpressure")
#: The panel shows the median of so many of the last frames.
LAST = 12


class Stepper(Protocol):
    """Who steps the world, in a thread of its own."""

    def do_between(self, work: Callable[[], None]) -> None:
        """Call a function of no Blender data before the next frame, or as soon as there is one."""

    def do_now(self, work: Callable[[], None]) -> None:
        """The same, waiting until it is done."""


@dataclass(slots=True)
class Run:
    """A simulation from its first frame on. It is replaced as a whole when it is dropped: who still steps an old one
    steps what nobody reads.
    """

    cache: "FrameCache | None" = None
    #: `session_uid` of the object of each body of the cache.
    object_uids: tuple[int, ...] = ()
    #: Capture of the first frame; None after a cache was read from disk.
    start: "Snapshot | None" = None
    #: Always at the last frame of the cache.
    world: "World | None" = None
    #: The file that holds these frames; None if none does.
    written: "Path | None" = None
    #: Who steps the world meanwhile, while the cache is filled.
    stepper: Stepper | None = None
    #: The frame that is being simulated, between the two handlers of a frame change.
    due_frame: int | None = None
    #: Duration of the last frames that were simulated [s], the latest one last; not kept on disk.
    seconds: deque[float] = field(default_factory=lambda: deque(maxlen=LAST))
    #: Largest share of a body's mass that is added, so that steps can be longer; not kept on disk.
    added_mass: float = 0.0
    #: Triangles that crossed the surface of another body at the start.
    crossing_count: int = 0
    #: Whether bodies cross each other there: that takes more kernels.
    starts_crossed: bool = False
    #: Whether all of its kernels are ready, as of its last frame.
    is_ready: bool = False
    #: What each body measures, by frame (`measurements.py`); kept with the state of the cache.
    measured: "Table" = field(default_factory=dict)
    #: Step reports of each island of bodies, by frame; not kept on disk.
    reports: "dict[int, tuple[StepReport, ...]]" = field(default_factory=dict)
    #: Share of its pressure that each body has, by frame, with XPBD only; not kept on disk.
    retention: dict[int, list[float]] = field(default_factory=dict)
    #: Computes it for the bodies of `world`; None before the first use.
    pressure_retention: "PressureRetention | None" = None
    #: Limits of the method, in sentences: of lattices, known from the start; of skins, at the last frame.
    soft_lattices: list[str] = field(default_factory=list)
    slack_skins: list[str] = field(default_factory=list)
    #: Growth of volume until rest and largest displacement [m] of bodies of gas that are not filled as drawn, by the
    #: `session_uid` of their objects.
    inflations: dict[int, tuple[float, float]] = field(default_factory=dict)
    #: What the settings of each soft body amount to, by the `session_uid` of its object.
    quantities: "dict[int, Quantities]" = field(default_factory=dict)
    #: Why a skin has less than its pressure, by the body's number; the last sentence of each.
    overstretched: dict[int, str] = field(default_factory=dict)
    #: What is squeezed without room to give way, in sentences by the bodies; not kept on disk.
    squeezed: dict[tuple[int, ...], str] = field(default_factory=dict)


@dataclass(slots=True)
class Refusals:
    """Why nothing, or not all, is simulated."""

    #: Error that stopped the simulation; empty if there is none. Shown while the inputs are those that caused it.
    error: str = ""
    failed_with: str = ""
    #: Why objects take no part, by `session_uid`, found at the last start, and the inputs of that start.
    of_objects: dict[int, str] = field(default_factory=dict)
    started_from: str = ""


class Pose(NamedTuple):
    """What interactive play shows instead of the cache."""

    cache: "FrameCache"  # of a single frame
    object_uids: tuple[int, ...]
    rows: "FloatArray | None"  # what each body measures; None if nothing shows that
    particles: "FloatArray"  # places of feature particles [Blender units]


@dataclass(slots=True)
class Display:
    """What the objects of the scene show."""

    #: None without interactive play.
    pose: Pose | None = None
    #: The frame that was set last; None before the first frame change.
    seen_frame: int | None = None
    #: The first frame of the last render without its simulation; None if there was none.
    missed_frame: int | None = None
    #: Paths of pictures of this render that are to be red ones, as their frames are not simulated.
    missing_pictures: list[str] = field(default_factory=list)
    #: Time [frames] and world matrix that the live key of each object shows.
    shown: dict[int, tuple[float, Any]] = field(default_factory=dict)
    #: `session_uid` of objects that show a frame of another scene since.
    lost: set[int] = field(default_factory=set)
    #: `session_uid` of bodies in Edit Mode, which do not show the frame that was set meanwhile.
    late: set[int] = field(default_factory=set)


class Activity(Enum):
    """What goes on with a scene; unless it is idle, the timeline only shows frames."""

    IDLE = auto()
    FILLING = auto()  # the cache is being filled
    READING = auto()  # meanwhile the scene is evaluated at another frame than the one that is shown
    INTERACTIVE = auto()


@dataclass(slots=True)
class Session:
    """The simulation of one scene."""

    run: Run = field(default_factory=Run)
    refusals: Refusals = field(default_factory=Refusals)
    display: Display = field(default_factory=Display)
    activity: Activity = Activity.IDLE
    #: The key of the take that run and refusals are of; those of the other takes, by their keys.
    take: str = ""
    parked: dict[str, tuple[Run, Refusals]] = field(default_factory=dict)
    #: What the panel called the method of an earlier version that the file or a script sets; empty if none.
    earlier_method: str = ""
    #: Frames per second of the last interactive play of a script; 0 before.
    live_rate: float = 0.0
    #: Result of Check, and its inputs; None before.
    checked: tuple[str, Any] | None = None
    _logged: set[str] = field(default_factory=set)

    def runs(self) -> dict[str, Run]:
        """The run of each take, by its key."""
        return {self.take: self.run} | {key: run for key, (run, _) in self.parked.items()}

    def clear(self) -> None:
        """Drop all simulation data of the chosen take."""
        self.run, self.refusals = Run(), Refusals()
        self.display.shown.clear()
        mark_all()

    def fail(self, sentence: str, inputs: str = "") -> None:
        """Stop with a sentence for the panel; it is logged once.

        `inputs`: those that caused it; without them it is shown until the simulation starts again.
        """
        self.refusals.error, self.refusals.failed_with = sentence, inputs
        if sentence not in self._logged:
            self._logged.add(sentence)
            _log.warning(sentence)

    def error_of(self, scene: bpy.types.Scene) -> str:
        """The error, unless its inputs have changed."""
        failed_with = self.refusals.failed_with
        return self.refusals.error if not failed_with or failed_with == self.inputs(scene) else ""

    def inputs(self, scene: bpy.types.Scene) -> str:
        """The fingerprint of a scene's inputs, computed after a change only, or where others are in the scene."""
        key = ("inputs", scene.session_uid, members(scene))
        found: str = memo.get(key, lambda: input_digest.of_inputs(scene, of_objects(scene)))
        return found

    def is_out_of_date(self, scene: bpy.types.Scene) -> bool:
        """Whether settings or meshes differ from those the cache was made with.

        What is baked plays from the file and stands in for what the frames were made from. A mesh in Edit Mode has no
        shape of its own until that is left.
        """
        moving = objects(scene, "SOFT", "RIGID", "COLLIDER")
        if self.run.cache is None or any(obj.softpressure.is_baked or mesh_io.is_edited(obj) for obj in moving):
            return False
        return self.inputs(scene) != self.run.cache.input_fingerprint


_sessions: dict[int, Session] = {}

#: Kind of the last refused attempt to add an object, by its `session_uid`.
refused_kinds: dict[int, str] = {}

#: Check of the shape of an object: digest of the shape, and a sentence if it cannot be a body, by `session_uid`.
shape_checks: dict[int, tuple[str, str]] = {}

#: Between `render_init` and its end; `is_job_running('RENDER')` is False in background.
is_rendering = False


def of(scene: bpy.types.Scene) -> Session:
    """The session of a scene, made on first use."""
    if scene.session_uid not in _sessions:
        _sessions[scene.session_uid] = Session(take=chosen_take(scene))
    return _sessions[scene.session_uid]


def takes(scene: bpy.types.Scene) -> list[str]:
    """The keys of the takes of a scene, in their order; without a list of takes there is one, of an empty key."""
    return [take.key for take in scene.softpressure.takes] or [""]


def chosen_take(scene: bpy.types.Scene) -> str:
    """The key of the chosen take."""
    found = takes(scene)
    return found[min(scene.softpressure.active_take, len(found) - 1)]


def note_shown(scene: bpy.types.Scene, obj: bpy.types.Object, what: tuple[float, Any]) -> None:
    """Note the time [frames] and world matrix that a scene shows of an object, and that no other scene shows its own.

    Scenes that are linked copies share their objects, and so what these show.
    """
    for uid, other in _sessions.items():
        if uid == scene.session_uid:
            other.display.shown[obj.session_uid] = what
            other.display.lost.discard(obj.session_uid)
        elif other.display.shown.pop(obj.session_uid, None) is not None:
            other.display.lost.add(obj.session_uid)


def forget_shown() -> None:
    """Drop the record of shown frames: live keys may differ from the last write (undo, edit mode)."""
    for session in _sessions.values():
        session.display.shown.clear()


def forget_all() -> None:
    """Drop all sessions (another file, or the extension is disabled)."""
    jobs.end()
    _sessions.clear()
    refused_kinds.clear()
    shape_checks.clear()
    mark_all()


def objects(scene: bpy.types.Scene, *kinds: str) -> list[bpy.types.Object]:
    """The objects of a scene that have one of these kinds, in a fixed order: meshes, and of colliders instances.

    Asking each of thousands takes milliseconds, so they are kept until a change is possible or others are in the scene.
    """
    found: list[bpy.types.Object] = memo.get(
        ("objects", scene.session_uid, members(scene), kinds),
        lambda: [obj for obj in _marked(scene) if obj.softpressure.kind in kinds],
    )
    return sorted(found, key=lambda obj: obj.name_full)  # anew, as nothing tells of a script that renames one


def _marked(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Those of any kind. What was baked in another file only plays, as any animation does."""
    found: list[bpy.types.Object] = memo.get(
        ("marked", scene.session_uid, members(scene)),
        lambda: [
            obj
            for obj in scene.objects
            if (kind := obj.softpressure.kind) != "NONE"
            and (obj.type == "MESH" or (kind == "COLLIDER" and instances.is_collection(obj)))
            and not (obj.softpressure.is_baked and obj.library is not None)
        ],
    )
    return found


def waits_for(scene: bpy.types.Scene) -> str:
    """Why a scene is not simulated for now: a body is baked or in edit mode. Empty if there is no reason."""
    for obj in objects(scene, "SOFT", "RIGID", "COLLIDER"):
        if obj.softpressure.is_baked:
            return f"{obj.name}: is baked. Free the bake before simulating again."
        if mesh_io.is_edited(obj):
            return f"{obj.name}: is in Edit Mode, so its shape is not settled. Leave Edit Mode (Tab)."
    return ""


def baked(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The bodies of a scene that are baked."""
    return [obj for obj in objects(scene, "SOFT", "RIGID") if obj.softpressure.is_baked]


def has_bodies(scene: bpy.types.Scene) -> bool:
    """Whether a scene has soft or rigid bodies."""
    return any(obj.softpressure.kind in ("SOFT", "RIGID") for obj in _marked(scene))
