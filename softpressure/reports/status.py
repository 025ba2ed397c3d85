"""Texts about the state of a scene, for panels and reports."""

import math
from statistics import median
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ...core.parameters import SKINS
from ...core.parameters.methods import ENGINE
from ..bodies import collider_notes, hose_problems
from ..scene_io import effectors, modifier_stack, units
from ..simulation import loading
from ..state import measurements, sessions

if TYPE_CHECKING:
    from ...core.cache import FrameCache

#: Least added mass that is shown, as a share of a body's mass.
_LEAST_MASS = 0.005
#: Assumed duration of a frame before any was simulated [s].
_SLOW_FRAME = 0.2
#: Least visible change of shape, as a share of the size.
_UNSEEN = 1e-3


def cache_text(scene: bpy.types.Scene) -> str:
    """Frames in the cache: `frames 1–120 of 250`."""
    cache, settings = sessions.of(scene).run.cache, scene.softpressure
    if cache is None or not cache.frame_count or not sessions.has_bodies(scene):
        return "no frames"
    last = min(cache.last_frame, settings.frame_end)
    held = f"frame {last}" if last == cache.first_frame else f"frames {cache.first_frame}–{last}"
    return f"{held} of {settings.frame_end}"


def take_text(scene: bpy.types.Scene, key: str) -> str:
    """Frames of a take, for its row: `1–120`; empty if it has none. With a mark where they are out of date."""
    session = sessions.of(scene)
    run = session.runs().get(key)
    if run is None or run.cache is None or not run.cache.frame_count:
        return ""
    mark = "" if run.cache.input_fingerprint == session.inputs(scene) else " (out of date)"
    return f"{run.cache.first_frame}–{run.cache.last_frame}{mark}"


def cache_share(scene: bpy.types.Scene) -> float:
    """Part of the frame range in the cache, 0 to 1."""
    cache, settings = sessions.of(scene).run.cache, scene.softpressure
    if cache is None or not cache.frame_count:
        return 0.0
    count = min(cache.last_frame, settings.frame_end) - settings.frame_start + 1
    return min(1.0, max(0.0, count / (settings.frame_end - settings.frame_start + 1)))


def cache_place(scene: bpy.types.Scene) -> str:
    """Where the cache of a scene is kept."""
    from ..cache import disk

    path = disk.path_of(scene)
    return "In memory until the file is saved" if path is None else str(path)


def cache_sizes(scene: bpy.types.Scene) -> str:
    """Size of the cache of a scene: `In memory 12.3 MB, on disk 12.4 MB`."""
    from ..cache import disk

    cache, path = sessions.of(scene).run.cache, disk.path_of(scene)
    found = [f"In memory {_megabytes(0 if cache is None else cache.memory)}"]
    if path is not None:
        found.append(f"on disk {_megabytes(path.stat().st_size)}" if path.exists() else "not on disk yet")
    return ", ".join(found)


def pack_text(scene: bpy.types.Scene) -> str:
    """Label of the choice to pack the cache: `Pack into .blend (12.3 MB)`."""
    cache = sessions.of(scene).run.cache
    return "Pack into .blend" + (f" ({_megabytes(cache.memory)})" if cache is not None and cache.frame_count else "")


def attribute_texts(scene: bpy.types.Scene) -> list[str]:
    """What the cached frames lack for point attributes, if these are on."""
    cache = sessions.of(scene).run.cache
    if not scene.softpressure.point_attributes or cache is None or cache.holds_forces:
        return []
    return ["These frames hold no contact forces. Press Reset and simulate again."]


def remaking_seconds(scene: bpy.types.Scene) -> float:
    """Estimated time to make the cache anew [s]: by what the last frames took, or as for slow ones."""
    session = sessions.of(scene)
    if session.run.cache is None or not session.run.cache.frame_count:
        return 0.0
    from ..simulation import run_start

    return run_start.seconds(scene) + (_frame_seconds(session.run) or _SLOW_FRAME) * session.run.cache.frame_count


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size < 1e9 else f"{size / 1e9:.2f} GB"


def notices(scene: bpy.types.Scene, active: bpy.types.Object | None = None) -> list[str]:
    """Warnings about the simulation and what is shown.

    The row of controls shows the state itself, and the panel of the `active` object its problems.
    """
    found: list[str] = []
    if not sessions.has_bodies(scene):
        return found
    if missing := loading.missing_compiler():
        return [missing]
    found += earlier_texts(scene)
    from ..simulation import run_start, timeline

    session, run = sessions.of(scene), sessions.of(scene).run
    cache = None if session.is_out_of_date(scene) else run.cache
    is_idle = session.activity is sessions.Activity.IDLE
    if cache is not None and is_idle and not cache.first_frame <= scene.frame_current <= cache.last_frame:
        found.append(f"Frame {scene.frame_current} is not simulated; the nearest cached frame is shown.")
    if run_start.is_too_long_to_play(scene) and cache is None:
        found.append(f"Starting takes about {run_start.seconds(scene):.0f} s: press Simulate, which Esc stops.")
    if timeline.is_too_slow(session) and cache_share(scene) < 1.0:
        found.append(f"A frame takes {run.seconds[-1]:.1f} s: press Simulate, which lets you go on and Esc stops.")
    if run.crossing_count:
        found.append(
            f"{run.crossing_count} triangles cross at the start. They are moved apart before the first frame where "
            "possible. If that is visible, move the bodies apart, or repair a mesh that crosses itself."
        )
    found += [*run.soft_lattices, *run.slack_skins, *run.overstretched.values(), *run.squeezed.values()]
    found += run.start.reshaped.values() if run.start is not None else ()
    if cache is not None:
        found += _torn_texts(scene, cache)
    found += effectors.notes(scene)
    found += hose_problems.notes(scene)
    found += collider_notes.notes(scene)
    found += _who_is_missing(scene, active)
    if session.display.missed_frame is not None:
        found += filter(None, [render_text(scene, session.display.missed_frame)])
    shown = {*found, problem_text(scene, active) if active is not None else ""}
    found += [sentence for sentence in session.error_of(scene).splitlines() if sentence not in shown]
    if not scene.render.use_lock_interface:
        found.append("Render > Lock Interface is off: rendering while the viewport plays can crash Blender.")
    return found


def _torn_texts(scene: bpy.types.Scene, cache: "FrameCache") -> list[str]:
    """Bodies of which the frames have torn faces that go on being drawn, however far apart their corners are."""
    uids = sessions.of(scene).run.object_uids
    torn = [obj for obj in sessions.objects(scene, "SOFT") if obj.session_uid in {uids[each] for each in cache.torn}]
    text = "is torn. Press Hide Torn Faces in Flow and Tear, or its torn faces stretch."
    return [f"{obj.name} {text}" for obj in torn if not modifier_stack.hides_torn_faces(obj)]


def render_text(scene: bpy.types.Scene, frame: int) -> str:
    """What is missing or out of date in a render of this frame; empty if nothing is."""
    session, settings = sessions.of(scene), scene.softpressure
    if all(obj.softpressure.is_baked for obj in sessions.objects(scene, "SOFT", "RIGID")):
        return ""
    remedy = "Press Simulate before rendering, or Bake, which needs no cache."
    if session.run.cache is None or not session.run.cache.frame_count:
        from ..cache import disk

        place = disk.path_of(scene)
        copied = ""
        if place is not None:
            remedy = f"Copy the folder {place.parent} along with the file, or switch on Pack into .blend. {remedy}"
            copied = f" in {place}"
        return f"{scene.name}: frame {frame} is rendered without simulation: no cached frames{copied}. {remedy}"
    if session.is_out_of_date(scene):
        return f"{scene.name}: frame {frame} is rendered from frames that are out of date. {remedy}"
    if session.run.cache.last_frame < min(frame, settings.frame_end):
        last = session.run.cache.last_frame
        return f"{scene.name}: frame {frame} is not simulated; frame {last} is rendered. {remedy}"
    return ""


def is_unsimulated(scene: bpy.types.Scene) -> bool:
    """Whether the present frame has no simulated shape to render."""
    cache, settings = sessions.of(scene).run.cache, scene.softpressure
    if all(obj.softpressure.is_baked for obj in sessions.objects(scene, "SOFT", "RIGID")):
        return False
    return not (cache and cache.frame_count) or cache.last_frame < min(scene.frame_current, settings.frame_end)


def drops_frames(scene: bpy.types.Scene) -> bool:
    """Whether playing the timeline may skip frames that are to be simulated, so that it stops at the first gap."""
    if scene.sync_mode == "NONE" or all(obj.softpressure.is_baked for obj in sessions.objects(scene, "SOFT", "RIGID")):
        return False
    return cache_share(scene) < 1.0 or sessions.of(scene).is_out_of_date(scene)


def problem_text(scene: bpy.types.Scene, obj: bpy.types.Object) -> str:
    """Why a body takes no part, or why an object was refused when it was added; empty if nothing is wrong with it."""
    is_body = obj.softpressure.kind != "NONE"
    if not is_body and obj.session_uid not in sessions.refused_kinds:
        return ""
    from ..bodies import validation

    return validation.problems(scene).get(obj.session_uid, "") if is_body else validation.refusal(obj)


def state_icon(scene: bpy.types.Scene, obj: bpy.types.Object) -> str:
    """Icon of a body's state: refused, baked, simulated, out of date, or none of these."""
    session = sessions.of(scene)
    if problem_text(scene, obj):
        return "ERROR"
    if obj.softpressure.is_baked:
        return "KEYFRAME_HLT"
    if session.is_out_of_date(scene):
        return "FILE_REFRESH"
    return "CHECKMARK" if obj.session_uid in session.run.object_uids else "BLANK1"


def _who_is_missing(scene: bpy.types.Scene, active: bpy.types.Object | None) -> list[str]:
    """Bodies that take no part: refused ones but for the active one, and those added since."""
    from ..bodies import validation

    session, refused = sessions.of(scene), validation.problems(scene)
    here_told = None if active is None else active.session_uid
    found = [sentence for uid, sentence in refused.items() if uid != here_told]
    baked = sessions.baked(scene)
    if not baked and (session.run.cache is None or session.is_out_of_date(scene)):
        return found
    remedy = "Go to the first frame, or simulate again"
    if baked:
        remedy = f"{baked[0].name} is baked: press Free Bake, then Simulate, and bake again"
    for obj in sessions.objects(scene, "SOFT", "RIGID"):
        uid = obj.session_uid
        if uid not in refused and uid not in session.run.object_uids and obj not in baked:
            found.append(f"{obj.name} is not simulated yet. {remedy}.")
    return found


def pace_texts(scene: bpy.types.Scene) -> list[str]:
    """What the last frames took: `6.2 ms and 74 steps per frame`, and `Added mass 0.8 %` where it is worth telling."""
    run, found = sessions.of(scene).run, []
    if taken := _frame_seconds(run):
        time = 1e3 * taken if taken < 1.0 else taken
        digits = float(f"{time:.2g}" if time >= 1.0 else f"{time:.1g}")
        found.append(f"{digits:g} {'ms' if taken < 1.0 else 's'}")
    rows = [run.measured[frame][:, measurements.STEPS] for frame in sorted(run.measured)[-sessions.LAST :]]
    if counts := [float(np.nanmax(row)) for row in rows if np.isfinite(row).any()]:
        steps = round(median(counts))
        found.append("1 step" if steps == 1 else f"{steps} steps")
    texts = [f"{' and '.join(found)} per frame"] if found else []
    if run.added_mass > _LEAST_MASS:
        texts.append(f"Added mass {100.0 * run.added_mass:.2g} %")
    return texts


def earlier_texts(scene: bpy.types.Scene) -> list[str]:
    """That the method which a file or script sets has been replaced, if so."""
    earlier = sessions.of(scene).earlier_method
    if not earlier or scene.softpressure.solver != ENGINE:
        return []
    return [f"This file used the method {earlier}, which was removed. Soft Pressure simulates it now."]


def _frame_seconds(run: sessions.Run) -> float:
    """What a frame takes by the last ones [s]; 0 before any was simulated."""
    return median(run.seconds) if run.seconds else 0.0


def bake_size(scene: bpy.types.Scene) -> int:
    """Memory of baked shape keys [bytes]: Blender keeps two copies of each. Keyframes are few."""
    cache = sessions.of(scene).run.cache
    return 0 if cache is None else 2 * 12 * sum(cache.vertex_counts) * cache.frame_count


def thinned_texts(scene: bpy.types.Scene) -> list[str]:
    """Relative shape keys of each baked body, and the error they reach: `Ball: 14 keys, within 0.8 mm`."""
    found = []
    for obj in sessions.objects(scene, "SOFT"):
        keys = obj.data.shape_keys
        if obj.softpressure.is_baked and keys is not None and keys.use_relative:
            error = units.length_text(scene, obj.softpressure.baked_error * units.metres_per_unit(scene))
            found.append(f"{obj.name}: {len(keys.key_blocks) - 1} keys, within {error}")
    return found


def inflation_text(scene: bpy.types.Scene, obj: bpy.types.Object) -> str:
    """Growth of a body of gas from its drawn shape: `Inflates 2.5 cm, volume +4.6 %`; empty if filled as drawn.

    The largest displacement, and the change of volume; before they are known it says so, so that the panel keeps its
    layout.
    """
    settings = obj.softpressure
    if settings.body_type not in SKINS or (settings.pressure_at, settings.drawn_shape) == (
        "DRAWN",
        "SLACK",
    ):
        return ""
    session = sessions.of(scene)
    if obj.session_uid not in session.run.inflations or session.is_out_of_date(scene):
        return "Inflates: not yet known"
    growth, move = session.run.inflations[obj.session_uid]
    if move < _UNSEEN * units.metres_per_unit(scene) * max(obj.dimensions[:]) and abs(growth) < _UNSEEN:
        return "Keeps its drawn shape"
    what = "area" if settings.body_type == "LOOP" else "volume"
    return f"Inflates {units.length_text(scene, move)}, {what} {100.0 * growth:+.1f} %"


def measurement_text(scene: bpy.types.Scene, obj: bpy.types.Object) -> str:
    """Volume and pressure of a body in this frame: `Volume 98.2 %, 2310 Pa`, or that they are unknown.

    A lattice has a volume only; an outline has its area. Empty for other bodies.
    """
    if obj.softpressure.kind != "SOFT":
        return ""
    run = sessions.of(scene).run
    rows = run.measured.get(scene.frame_current)
    kind = obj.softpressure.body_type
    what = "Area" if kind == "LOOP" else "Volume"
    has_gas = kind in SKINS
    if rows is None or obj.session_uid not in run.object_uids:
        return f"{what}: not yet known"
    volume_ratio, pressure = rows[run.object_uids.index(obj.session_uid), [measurements.VOLUME, measurements.PRESSURE]]
    return f"{what} {100 * volume_ratio:.1f} %" + (f", {pressure:.0f} Pa" if has_gas else "")


def liquid_text(scene: bpy.types.Scene, obj: bpy.types.Object) -> str:
    """Height of the liquid in a body in this frame: `Liquid up to 12 cm`; empty without, or if unknown."""
    run = sessions.of(scene).run
    rows = run.measured.get(scene.frame_current)
    if rows is None or obj.session_uid not in run.object_uids:
        return ""
    level = float(rows[run.object_uids.index(obj.session_uid), measurements.LEVEL])
    return "" if math.isnan(level) else f"Liquid up to {units.length_text(scene, level)}"
