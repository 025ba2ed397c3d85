"""Live play: the mouse grabs, throws and pokes bodies while the scene is simulated."""

import time
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty
from bpy_extras import view3d_utils
from mathutils import Vector

from ..softpressure.scene_io.blender_types import Context
from ..softpressure.state import jobs, sessions
from .job import JobOperator, redraw_progress
from .reports import finish

if TYPE_CHECKING:
    from ..softpressure.simulation.interactive import Live

#: How often panels and the status bar are renewed [s]; viewports are with every frame.
_TELL_EVERY = 0.25
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
    """Play without the timeline; the mouse grabs, throws and pokes bodies."""

    bl_idname = "softpressure.live_play"
    bl_label = "Interactive"
    bl_description = (
        "Simulate without the timeline: drag bodies with the mouse, change settings. Esc returns to the start"
    )
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

    lets_go_on = True
    every = 1.0 / 120.0

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs a body, and no reason to wait."""
        if sessions.has_bodies(context.scene):
            return cls.may_simulate(context)
        cls.poll_message_set("Add a soft or rigid body first")
        return False

    def job(self, context: Context) -> jobs.Work:
        """Frame after frame, until it is stopped."""
        from ..softpressure.simulation import interactive

        self._live: Live = interactive.Live(context.scene)
        self._told, self._frame, self._is_dragging = 0.0, -1, False
        return self._live.play()

    def done_text(self, _context: Context) -> str:
        """How long it was played."""
        return _done_text(self._live)

    def execute(self, context: Context) -> set[Any]:
        """Some frames at once, for scripts; then keep the pose."""
        from ..softpressure.simulation import interactive, interactive_actions
        from ..softpressure.state import worker_thread

        jobs.end()
        playing, rate = interactive.Live(context.scene), 0.0
        try:
            acts = interactive_actions.parse(self.acts)
            for _ in jobs.whole(playing.begin(worker_thread.at_once)):
                pass
            began = time.perf_counter()
            for frame in range(1, self.frames + 1):
                while acts and acts[0].frame <= frame:
                    interactive_actions.perform(playing, acts.pop(0))
                for _ in jobs.whole(playing.step()):
                    pass
                rate = frame / (time.perf_counter() - began)
            sessions.of(context.scene).live_rate = rate
            return self._kept(playing, self.keep, rate)
        except Exception as error:
            return self._fail(error)
        finally:
            playing.end()

    def modal(self, context: Context, event: bpy.types.Event) -> set[Any]:
        """The mouse and the keys of live play; the rest goes on to the window."""
        if self._job.is_over or event.type in {"TIMER", "ESC"}:
            return super().modal(context, event)
        if (
            event.type in {"RET", "NUMPAD_ENTER"}
            and event.value == "PRESS"
            and _viewport_at(context, event) is not None
        ):
            found = self._kept(self._live, "START" if event.shift else "SHAPE_KEY")
            self.cancel(context)
            return found
        if event.type in _PUMPS and event.value == "PRESS" and _viewport_at(context, event) is not None:
            self._pump(context, _PUMPS[event.type])
            return {"RUNNING_MODAL"}
        if self._is_dragging and event.type == "LEFTMOUSE" and event.value == "RELEASE":
            self._live.release()
            self._is_dragging = False
            return {"RUNNING_MODAL"}
        if self._is_dragging and event.type in {"MOUSEMOVE", "INBETWEEN_MOUSEMOVE"}:
            self._drag(event)
            return {"RUNNING_MODAL"}
        view = _view_at(context, event)
        is_pressed = event.type == "LEFTMOUSE" and event.value in {"PRESS", "DOUBLE_CLICK"}
        is_taken = is_pressed and view is not None and self._take(event, *view)
        return {"RUNNING_MODAL" if is_taken else "PASS_THROUGH"}

    def tell(self, context: Context, job: jobs.Job) -> None:
        """Redraw the views with every frame, and tell now and then how fast it plays."""
        views = [area for window in context.window_manager.windows for area in window.screen.areas]
        views = [area for area in views if area.type == "VIEW_3D"]
        if self._live.frame != self._frame:
            self._frame = self._live.frame
            for area in views:
                for region in area.regions:
                    if region.type == "WINDOW":
                        region.tag_redraw()
        if time.monotonic() - self._told < _TELL_EVERY:
            return
        self._told = time.monotonic()
        name = self._live.held_name()
        holding = f"  |  {name}: {self._live.force:.3g} N" if name else ""
        for area in views:
            area.header_text_set(f"{job.progress[2]}{holding}")
        redraw_progress(context.window_manager)
        context.workspace.status_text_set(_HINTS)

    def cancel(self, context: Context) -> None:
        """Live play is over."""
        for window in context.window_manager.windows:
            for area in window.screen.areas:
                if area.type == "VIEW_3D":
                    area.header_text_set(None)
        super().cancel(context)

    def _take(self, event: bpy.types.Event, region: bpy.types.Region, view: Any) -> bool:
        """Grab or poke what is under the mouse; returns whether there is something."""
        place = event.mouse_x - region.x, event.mouse_y - region.y
        origin = view3d_utils.region_2d_to_origin_3d(region, view, place)[:]
        direction = view3d_utils.region_2d_to_vector_3d(region, view, place)[:]
        if event.ctrl:
            return self._live.poke(origin, direction)
        grabbed = self._live.grab(origin, direction)
        if grabbed is not None:
            self._region, self._view, self._grabbed = region, view, Vector(grabbed.tolist())
        self._is_dragging = grabbed is not None
        return self._is_dragging

    def _pump(self, context: Context, factor: float) -> None:
        """Change the pressure of the body that is held, else of the active one, else of all."""
        from ..softpressure.simulation import interactive_actions

        told = interactive_actions.pump(interactive_actions.pumped(self._live, context.object), factor)
        if told:
            context.workspace.status_text_set(told)
            self._told = time.monotonic() + _TELL_EVERY  # so that it can be read

    def _drag(self, event: bpy.types.Event) -> None:
        """Move the hand in the plane through what it grabbed that faces the view."""
        place = event.mouse_x - self._region.x, event.mouse_y - self._region.y
        self._live.drag(view3d_utils.region_2d_to_location_3d(self._region, self._view, place, self._grabbed)[:])

    def _kept(self, playing: "Live", keep: str, rate: float = 0.0) -> set[Any]:
        """End live play and keep its last pose; `rate`: frames per second, 0 where nobody counts."""
        notes, refusals = playing.keep(keep)
        return finish(self, notes or [_done_text(playing, rate)], refusals)


def _done_text(playing: "Live", rate: float = 0.0) -> str:
    return f"Played {playing.frame} frames live" + (f", {rate:.3g} per second" if rate > 0.0 else "")


def _viewport_at(context: Context, event: bpy.types.Event) -> bpy.types.Area | None:
    """The 3D viewport under the mouse, its sidebar and header included; None over other editors."""
    for area in context.window.screen.areas if context.window is not None else ():
        if area.type == "VIEW_3D" and _is_over(area, event):
            return area
    return None


def _view_at(context: Context, event: bpy.types.Event) -> tuple[bpy.types.Region, Any] | None:
    """The region of a 3D viewport under the mouse and its view; None over panels, headers and other editors."""
    area = _viewport_at(context, event)
    over = [region for region in area.regions if _is_over(region, event)] if area is not None else []
    if over and all(region.type == "WINDOW" for region in over):
        return over[-1], over[-1].data
    return None


def _is_over(place: bpy.types.Area | bpy.types.Region, event: bpy.types.Event) -> bool:
    """Whether the mouse is over an area or a region."""
    return bool(place.x <= event.mouse_x < place.x + place.width and place.y <= event.mouse_y < place.y + place.height)


CLASSES = (SOFTPRESSURE_OT_live_play,)
