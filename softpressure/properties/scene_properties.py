"""Settings of scenes. Their names are part of the extension's interface for scripts."""

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ...core.parameters import SCENE
from ..state import sessions
from ..state.versions import BLEND_RELATIVE, taken
from .automatic import boxes
from .parameter_properties import SETTING, Group, hidden, properties
from .view_properties import Curves, Overlay


def _get_frame_start(settings: Group) -> int:
    return int(settings.id_data.frame_start if settings.use_scene_range else settings.own_frame_start)


def _get_frame_end(settings: Group) -> int:
    return int(settings.id_data.frame_end if settings.use_scene_range else settings.own_frame_end)


def _set_range(settings: Group, start: int, end: int) -> None:
    settings.own_frame_start, settings.own_frame_end = start, end
    settings.use_scene_range = False


def _on_attributes(settings: Group, _context: bpy.types.Context) -> None:
    """Show the present frame again, with or without attributes."""
    from ..cache import playback

    sessions.forget_shown()
    playback.show(settings.id_data)


def _on_take(settings: Group, _context: bpy.types.Context) -> None:
    from ..cache import takes

    takes.follow(settings.id_data)


def _get_take(settings: Group) -> str:
    takes = settings.takes
    return str(takes[min(settings.active_take, len(takes) - 1)].name) if takes else ""


def _set_take(settings: Group, name: str) -> None:
    settings.active_take = max(0, settings.takes.find(name))


def _get_active_body(settings: Group) -> int:
    active = bpy.context.view_layer.objects.active
    return int(settings.id_data.objects.find(active.name)) if active is not None else -1


def _set_active_body(settings: Group, value: int) -> None:
    objects = settings.id_data.objects
    if not 0 <= value < len(objects) or objects[value].name not in bpy.context.view_layer.objects:
        return
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj == objects[value])
    bpy.context.view_layer.objects.active = objects[value]


def _set_frame_start(settings: Group, value: int) -> None:
    _set_range(settings, value, max(value, _get_frame_end(settings)))


def _set_frame_end(settings: Group, value: int) -> None:
    _set_range(settings, min(value, _get_frame_start(settings)), value)


class FromParameters:
    """The settings that `core/parameters/` declares."""

    __annotations__ = properties(SCENE) | boxes("threads")


class SOFTPRESSURE_PG_take(bpy.types.PropertyGroup):
    """A take: a cache with a name."""

    name: StringProperty(name="Name", description="Name of the take", options=set())
    key: StringProperty(name="Key", description="Names the file of the take", options={"HIDDEN"})


class SOFTPRESSURE_PG_scene(FromParameters, Curves, Overlay, bpy.types.PropertyGroup):
    """How a scene is simulated, and what Blender keeps of the simulation: its range, its cache."""

    use_scene_range: BoolProperty(
        name="Scene Range",
        description="Simulate the frame range of the scene",
        default=True,
        **SETTING,
    )
    frame_start: IntProperty(
        name="Start",
        description="First frame of the simulation; setting it switches Scene Range off",
        get=_get_frame_start,
        set=_set_frame_start,
        options=set(),
    )
    frame_end: IntProperty(
        name="End",
        description="Last frame of the simulation; setting it switches Scene Range off",
        get=_get_frame_end,
        set=_set_frame_end,
        options=set(),
    )
    active_body: IntProperty(
        name="Active Body",
        description="Number of the active object; setting it selects that object only",
        get=_get_active_body,
        set=_set_active_body,
        options={"SKIP_SAVE"},
    )
    live_rate: FloatProperty(
        name="Interactive Frames per Second",
        description="Frames per second of the last interactive simulation of a script",
        get=lambda settings: sessions.of(settings.id_data).live_rate,
        options={"SKIP_SAVE", "HIDDEN"},
    )
    own_frame_start: IntProperty(default=1, options={"HIDDEN"})
    own_frame_end: IntProperty(default=250, options={"HIDDEN"})
    takes: CollectionProperty(
        name="Takes",
        description="Caches of the scene, each with its own frames",
        type=SOFTPRESSURE_PG_take,
    )
    active_take: IntProperty(
        name="Active Take",
        description="Number of the take that is simulated, plays and is baked",
        min=0,
        options=set(),
        update=_on_take,
    )
    take: StringProperty(
        name="Take",
        description="Name of the active take; empty without a list of takes",
        get=_get_take,
        set=_set_take,
        options={"SKIP_SAVE"},
    )
    cache_folder: StringProperty(
        name="Folder",
        description="Folder of the cache; empty for the folder of the file",
        subtype="DIR_PATH",
        options=BLEND_RELATIVE,
    )
    pack_cache: BoolProperty(
        name="Pack into .blend",
        description="Save the cached frames in the .blend file, so that copies of it play and render anywhere",
        default=False,
        options=set(),
    )
    render_without_frames: EnumProperty(
        name="Missing Frames",
        description="What a render from the command line does where a frame is not simulated",
        items=(
            ("STOP", "Stop", "Quit Blender with exit status 1 and say what is missing"),
            ("RED", "Red Frame", "Write a red image instead of the frame and continue"),
            ("WARN", "Warn", "Print a warning and render the nearest cached frame"),
        ),
        default="STOP",
        options=set(),
    )
    key_error: FloatProperty(
        name="Largest Error",
        description="Largest distance of relative shape keys from the simulation. Larger makes fewer keys",
        default=0.001,
        min=0.0,
        soft_max=0.1,
        precision=4,
        step=0.01,
        subtype="DISTANCE",
        options=set(),
    )
    point_attributes: BoolProperty(
        name="Point Attributes",
        description="Write strain and contact force to the mesh attributes sp_strain and sp_contact_force",
        default=False,
        options=set(),
        update=_on_attributes,
    )
    defaults_version: hidden(
        IntProperty, "Version of the Defaults", "Version of the defaults; 0 in files of early versions"
    )

    def __setattr__(self, name: str, value: object) -> None:
        """Take a method of earlier versions, as scripts may name it, for the present one; refuse unknown takes."""
        if name == "take" and value not in self.takes:
            names = ", ".join(self.takes.keys()) or "none"
            raise ValueError(f"{self.id_data.name}: there is no take {value!r}. Its takes: {names}.")
        super().__setattr__(name, taken(self, value) if name == "solver" and isinstance(value, str) else value)
