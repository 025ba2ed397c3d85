"""Interactive play: the mouse grabs, throws and pokes bodies while the scene is simulated."""

import time
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty
from bpy_extras import view3d_utils
from mathutils import Vector

from ..softpressure.scene_io.blender_types import Context
from ..softpressure.state import jobs, sessions
from .job import JobOperator, redraw_progress
from .needs import A_BODY, settled_bodies
from .reports import finish

if TYPE_CHECKING:
    from ..softpressure.simulation.hand import Hand
    from ..softpressure.simulation.interactive import InteractivePlay

View = tuple[bpy.types.Region, Any]  # of a 3D viewport, with its `RegionView3D`

#: How often panels and the status bar are renewed [s]; viewports are with every frame.
_TEXT_EVERY = 0.25
_HINTS = (
    "Drag a body: move, throw  |  Ctrl Click: poke  |  Page Up, Page Down: pressure  |  Enter: keep as shape key  |  "
    "Shift Enter: keep as start  |  Esc: back to the start"
)
#: What the keys multiply the pressure or amount of gas by: up, down.
_PUMPS = {"PAGE_UP": 1.1, "PAGE_DOWN": 1.0 / 1.1}
_KEEP = [
    ("NOTHING", "Nothing", "Back to the start"),
    ("SHAPE_KEY", "Shape Key", "Add the pose to each soft body as a shape key"),
    ("START", "Start", "Make the pose the new start of each body"),
]


class SOFTPRESSURE_OT_live_play(JobOperator, bpy.types.Operator):
    """Simulate without the timeline: drag bodies with the mouse, change settings. Esc returns to the start."""

    bl_label = "Interactive"
    bl_options = {"UNDO"}

    keep: EnumProperty(  # type: ignore[valid-type]
        name="Keep", description="What to do with the pose at the end", items=_KEEP
    )
    frames: IntProperty(  # type: ignore[valid-type]
        name="Frames", description="Number of frames that a script simulates, 30 per second", default=30, min=0
    )

    acts: StringProperty(  # type: ignore[valid-type]
        name="Acts",
        description="Acts of a script by frame, as 10 grab Ball 0 0 1; 20 move 0 0 3; 30 release; 40 poke Ball 1 0 0",
    )

    needs = A_BODY, settled_bodies
    lets_go_on = True
    every = 1.0 / 120.0

    def job(self, context: Context) -> jobs.Work:
        """Frame after frame, until it is stopped."""
        from ..softpressure.simulation import interactive

        self._playing = interactive.InteractivePlay(context.scene)
        self._written, self._frame = 0.0, -1
        self._grabbed: tuple[View, Vector] | None = None  # in which view, and where
        return self._playing.play()

    def done_text(self, _context: Context) -> str:
        """How long it was played."""
        return _done_text(self._playing)

    def execute(self, context: Context) -> set[Any]:
        """Some frames at once, for scripts; then keep the pose."""
        from ..softpressure.simulation import interactive, interactive_actions
        from ..softpressure.state import worker_thread

        jobs.end()
        playing, rate = interactive.InteractivePlay(context.scene), 0.0
        try:
            acts = interactive_actions.parse(self.acts)
            jobs.finish(playing.begin(worker_thread.at_once))
            began = time.perf_counter()
            for frame in range(1, self.frames + 1):
                while acts and acts[0].frame <= frame:
                    interactive_actions.perform(playing, acts.pop(0))
                jobs.finish(playing.step())
                rate = frame / (time.perf_counter() - began)
            sessions.of(context.scene).live_rate = rate
            return self._kept(playing, self.keep, rate)
        except Exception as error:
            return self._fail(error)
        finally:
            playing.end()

    def modal(self, context: Context, event: bpy.types.Event) -> set[Any]:
        """The mouse and the keys of interactive play; the rest goes on to the window."""
        if self._job.is_over or event.type in {"TIMER", "ESC"}:
            return super().modal(context, event)
        hand, area = self._playing.hand, _viewport_at(context, event)
        is_taken = True
        if hand is not None and self._grabbed is not None and event.type in {"MOUSEMOVE", "INBETWEEN_MOUSEMOVE"}:
            (region, view), depth = self._grabbed  # it moves in the plane through there that faces the view
            place = event.mouse_x - region.x, event.mouse_y - region.y
            hand.drag(view3d_utils.region_2d_to_location_3d(region, view, place, depth)[:])
        elif hand is not None and self._grabbed is not None and (event.type, event.value) == ("LEFTMOUSE", "RELEASE"):
            hand.release()
            self._grabbed = None
        elif event.type == "LEFTMOUSE" and event.value in {"PRESS", "DOUBLE_CLICK"}:
            is_taken = hand is not None and self._take(hand, event, _view_at(area, event))
        elif area is not None and event.value == "PRESS" and event.type in {"RET", "NUMPAD_ENTER"}:
            found = self._kept(self._playing, "START" if event.shift else "SHAPE_KEY")
            self.cancel(context)
            return found
        elif area is not None and event.value == "PRESS" and event.type in _PUMPS:
            self._pump(context, _PUMPS[event.type])
        else:
            is_taken = False
        return {"RUNNING_MODAL" if is_taken else "PASS_THROUGH"}

    def show_progress(self, context: Context, job: jobs.Job) -> None:
        """Redraw the views with every frame, and write now and then how fast it plays."""
        views = _views(context)
        if self._playing.frame != self._frame:
            self._frame = self._playing.frame
            for region in (region for area in views for region in area.regions if region.type == "WINDOW"):
                region.tag_redraw()
        if time.monotonic() - self._written < _TEXT_EVERY:
            return
        self._written = time.monotonic()
        hand = self._playing.hand
        grabbed = f"  |  {hand.body_name}: {hand.force:.3g} N" if hand is not None and hand.body_name else ""
        for area in views:
            area.header_text_set(f"{job.progress[2]}{grabbed}")
        redraw_progress(context.window_manager)
        context.workspace.status_text_set(_HINTS)

    def cancel(self, context: Context) -> None:
        """Play is over."""
        for area in _views(context):
            area.header_text_set(None)
        super().cancel(context)

    def _take(self, hand: "Hand", event: bpy.types.Event, seen: View | None) -> bool:
        """Grab or poke what is under the mouse; returns whether there is something."""
        if seen is None:
            return False
        region, view = seen
        place = event.mouse_x - region.x, event.mouse_y - region.y
        origin = view3d_utils.region_2d_to_origin_3d(region, view, place)[:]
        direction = view3d_utils.region_2d_to_vector_3d(region, view, place)[:]
        if event.ctrl:
            return hand.poke(origin, direction)
        grabbed = hand.grab(origin, direction)
        self._grabbed = None if grabbed is None else (seen, Vector(grabbed.tolist()))
        return grabbed is not None

    def _pump(self, context: Context, factor: float) -> None:
        from ..softpressure.simulation import interactive_actions

        if text := interactive_actions.pump(self._playing, context.object, factor):
            context.workspace.status_text_set(text)
            self._written = time.monotonic() + _TEXT_EVERY  # so that it can be read

    def _kept(self, playing: "InteractivePlay", keep: str, rate: float = 0.0) -> set[Any]:
        """End play and keep its last pose; `rate`: frames per second, 0 where nobody counts."""
        notes, refusals = playing.keep(keep)
        return finish(self, notes or [_done_text(playing, rate)], refusals)


def _done_text(playing: "InteractivePlay", rate: float = 0.0) -> str:
    return f"Played {playing.frame} frames" + (f", {rate:.3g} per second" if rate > 0.0 else "")


def _views(context: Context) -> list[bpy.types.Area]:
    areas = [area for window in context.window_manager.windows for area in window.screen.areas]
    return [area for area in areas if area.type == "VIEW_3D"]


def _viewport_at(context: Context, event: bpy.types.Event) -> bpy.types.Area | None:
    """The 3D viewport under the mouse, including its sidebar and header."""
    areas = context.window.screen.areas if context.window is not None else ()
    return next((area for area in areas if area.type == "VIEW_3D" and _is_over(area, event)), None)


def _view_at(area: bpy.types.Area | None, event: bpy.types.Event) -> View | None:
    """The view of a 3D viewport under the mouse; None over its panels and headers."""
    over = [region for region in area.regions if _is_over(region, event)] if area is not None else []
    is_seen = bool(over) and all(region.type == "WINDOW" for region in over)
    return (over[-1], over[-1].data) if is_seen else None


def _is_over(place: bpy.types.Area | bpy.types.Region, event: bpy.types.Event) -> bool:
    """Whether the mouse is over an area or a region."""
    return bool(place.x <= event.mouse_x < place.x + place.width and place.y <= event.mouse_y < place.y + place.height)


CLASSES = (SOFTPRESSURE_OT_live_play,)
