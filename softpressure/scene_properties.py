"""Settings of scenes. Their names are part of the extension's interface for scripts."""

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from . import session
from .methods import COLLIDER_RULES, DETECTIONS, METHODS, NEIGHBOUR_DAMPINGS, SPREADS, VOLUMES
from .versions import BLEND_RELATIVE

Group = Any  # a property group: its members are known to Blender only


def on_change(_settings: Group, _context: bpy.types.Context) -> None:
    """Mark the simulation as possibly out of date."""
    session.mark_all()


#: Options of a property that a simulation depends on: not animated; a change makes the cache out of date.
SETTING: Any = {"options": set(), "update": on_change}
#: The same, but animated: read in each frame.
ANIMATED: Any = {"update": on_change}


def _get_frame_start(settings: Group) -> int:
    return int(settings.id_data.frame_start if settings.use_scene_range else settings.own_frame_start)


def _get_frame_end(settings: Group) -> int:
    return int(settings.id_data.frame_end if settings.use_scene_range else settings.own_frame_end)


def _set_range(settings: Group, start: int, end: int) -> None:
    settings.own_frame_start, settings.own_frame_end = start, end
    settings.use_scene_range = False


def _on_attributes(settings: Group, _context: bpy.types.Context) -> None:
    """Show the present frame again, with or without attributes."""
    from . import playback

    session.forget_shown()
    playback.show(settings.id_data)


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


class SOFTPRESSURE_PG_scene(bpy.types.PropertyGroup):
    """How a scene is simulated."""

    substeps: IntProperty(
        name="Substeps",
        description="Time steps per frame where much happens. More is slower, bounces livelier and follows fast "
        "motion better. Explicit steps choose their own number",
        default=10,
        min=1,
        soft_max=100,
        **SETTING,
    )
    solver: EnumProperty(
        name="Method",
        description="How a time step is made: automatically as is fastest, by a solver of your choice, or by one of "
        "the methods of the papers for comparison",
        items=METHODS,
        default="AUTO",
        **SETTING,
    )
    added_mass: FloatProperty(
        name="Added Mass",
        description="How much mass, in per cent of a body's, may be added where it is stiffest, so that explicit "
        "steps can be longer. Higher is faster; its total mass, and how it hangs and rests, stay the same. 0 adds "
        "none",
        default=1.0,
        min=0.0,
        max=10.0,
        precision=1,
        subtype="PERCENTAGE",
        **SETTING,
    )
    volume_rule: EnumProperty(
        name="Volume",
        description="How the volume in the gas law is computed",
        items=VOLUMES,
        default="EXACT",
        **SETTING,
    )
    pressure_spread: EnumProperty(
        name="Spread",
        description="How the pressure is spread over the vertices",
        items=SPREADS,
        default="EXACT_GRADIENT",
        **SETTING,
    )
    detection: EnumProperty(
        name="Contacts",
        description="How contacts are found",
        items=DETECTIONS,
        default="SURFACE",
        **SETTING,
    )
    collider_rule: EnumProperty(
        name="Colliders",
        description="What happens where a soft body meets a collider",
        items=COLLIDER_RULES,
        default="CONTACT",
        **SETTING,
    )
    neighbour_damping: EnumProperty(
        name="Damping of Neighbours",
        description="Which of the methods of the papers damp each vertex relative to its neighbours",
        items=NEIGHBOUR_DAMPINGS,
        default="SIMPLIFIED",
        **SETTING,
    )
    ramp_time: FloatProperty(
        name="Ramp",
        description="For how many seconds the pressure rises to its value; gravity acts when it is reached (Matyka "
        "2004, section 5.1). Longer starts more gently; with 0 both act from the start",
        default=0.0,
        min=0.0,
        soft_max=5.0,
        precision=2,
        **SETTING,
    )
    use_step_damping: BoolProperty(
        name="Damping per Step",
        description="Slow all motion down, that of stiff springs most (Martin 2009, section 3.1.3): by 1 % and by "
        "the share of the stiffest spring, 60 times per second",
        default=False,
        **SETTING,
    )
    stiffest_spring: FloatProperty(
        name="Stiffest Spring",
        description="Spring constant in newtons per metre whose motion is stopped at once; 400 in Martin 2009, "
        "3.1.3. Higher damps less. Must be above the springs of all bodies",
        default=400.0,
        min=1e-3,
        soft_max=1e6,
        precision=0,
        **SETTING,
    )
    ambient_pressure: FloatProperty(
        name="Air Pressure",
        description="Pressure of the air around all bodies in pascals. Higher keeps volumes better; 0 is a vacuum, "
        "where the gas has only its own",
        default=101_325.0,
        min=0.0,
        soft_max=200_000.0,
        step=100_000,
        precision=0,
        **SETTING,
    )
    step_error: FloatProperty(
        name="Step Error",
        description="Where little happens several substeps are taken as one, as long as the step is wrong by no more "
        "than this share of a body's radius. Higher is faster; 0 takes every substep. Only with the implicit solver",
        default=0.001,
        min=0.0,
        soft_max=0.01,
        precision=4,
        step=0.01,
        **SETTING,
    )
    use_scene_range: BoolProperty(
        name="Scene Range",
        description="Simulate the frame range of the scene. Setting a start or end frame here switches this off",
        default=True,
        **SETTING,
    )
    frame_start: IntProperty(
        name="Start",
        description="First frame of the simulation, where bodies have their rest shape; the scene's unless set here",
        get=_get_frame_start,
        set=_set_frame_start,
        options=set(),
    )
    frame_end: IntProperty(
        name="End",
        description="Last frame of the simulation; the scene's unless set here",
        get=_get_frame_end,
        set=_set_frame_end,
        options=set(),
    )
    active_body: IntProperty(
        name="Active Body",
        description="Which object of the scene is active, by number; setting it selects that object alone",
        get=_get_active_body,
        set=_set_active_body,
        options={"SKIP_SAVE"},
    )
    own_frame_start: IntProperty(default=1, options={"HIDDEN"})
    own_frame_end: IntProperty(default=250, options={"HIDDEN"})
    threads: IntProperty(
        name="Threads",
        description="Processor threads of the simulation. 0 is automatic: one for small scenes, all for larger ones. "
        "The result does not depend on it",
        default=0,
        min=0,
        soft_max=64,
        options=set(),
    )
    cache_folder: StringProperty(
        name="Folder",
        description="Where the cache is written: empty is beside the file. It goes there when it is simulated or saved "
        "next; a path that begins with // is that of the file",
        subtype="DIR_PATH",
        options=BLEND_RELATIVE,
    )
    pack_cache: BoolProperty(
        name="Pack into .blend",
        description="Save the cached frames inside the .blend, too, so that a copy of it plays and renders anywhere. "
        "The file grows by their size; switched off it shrinks when it is saved next",
        default=False,
        options=set(),
    )
    key_error: FloatProperty(
        name="Largest Error",
        description="How far a vertex may be from the simulated one with relative shape keys. Larger makes fewer "
        "keys and smaller files; 0 keeps every frame in which something does not move evenly",
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
        description="Write strain and contact force (N) of the shown frame to the vertices of soft bodies, as the mesh "
        "attributes sp_strain and sp_contact_force, for shading and geometry nodes. Forces are kept with frames that "
        "are simulated from the start while this is on",
        default=False,
        options=set(),
        update=_on_attributes,
    )
    run_choice: StringProperty(
        name="Choice of the Run",
        description="What the last run was made with, and the shapes and settings that was chosen for",
        options={"HIDDEN"},
    )
    defaults_version: IntProperty(
        name="Version of the Defaults",
        description="Which defaults hold where a setting was not changed; 0 in files of early versions",
        options={"HIDDEN"},
    )
