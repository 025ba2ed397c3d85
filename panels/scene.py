"""Panels of the scene: simulating and baking."""

import math
from collections.abc import Iterator
from typing import Any

import bpy

from ..softpressure.properties.parameter_properties import FORCE_BASED, SUBSTEPPING, Parameter, parameters
from ..softpressure.reports import status
from ..softpressure.scene_io.blender_types import Context, Layout
from ..softpressure.state import sessions
from . import preferences
from .controls import draw_controls
from .layout import Part, draw_setting, draw_text, in_both_places

#: What bodies of these kinds become.
_BAKED_TO = {"SOFT": "shape keys", "RIGID": "keyframes", "BOTH": "shape keys and keyframes"}
#: What is said of a choice of the papers, by the methods that take it, where the method refuses it.
_ONLY_WITH = {
    FORCE_BASED: "Only with a method that integrates forces: Explicit Euler to Simplified.",
    SUBSTEPPING: "Only with XPBD, or a method that integrates forces: Explicit Euler to Simplified.",
}


class Simulation:
    """Settings of the simulation, and notices about it."""

    layout: Layout
    bl_label = "Simulation"

    def draw(self, context: Context) -> None:
        """Range, steps, notices; in Properties the controls above, which the tab has at its top."""
        layout = self.layout
        scene = context.scene
        settings = scene.softpressure
        if getattr(self, "bl_space_type", "") == "PROPERTIES":
            draw_controls(layout, context)
        column = layout.column()
        column.use_property_split = True
        column.prop(settings, "use_scene_range")
        frames = column.column(align=True)
        frames.prop(settings, "frame_start")
        frames.prop(settings, "frame_end")
        column.prop(settings, "speed")
        column.prop(settings, "detail")
        substeps = parameters.named("substeps")
        if parameters.counts_in_scene(substeps, settings):
            draw_setting(column, settings, substeps)
        if preferences.shows("advanced") or settings.threads:
            draw_setting(column, settings, parameters.named("threads"))
        for sentence in status.pace_texts(scene):
            draw_text(layout, context, sentence, "TIME")
        for sentence in status.notices(scene, context.object):
            draw_text(layout, context, sentence)
        if status.drops_frames(scene):
            draw_text(layout, context, "Playback drops frames to keep time; dropped frames are not simulated.")
            button = layout.operator("wm.context_set_enum", text="Play Every Frame", icon="PLAY")
            button.data_path, button.value = "scene.sync_mode", "NONE"
        if sessions.has_bodies(scene) and not scene.render.use_lock_interface:
            layout.prop(scene.render, "use_lock_interface")


class SOFTPRESSURE_UL_takes(bpy.types.UIList):
    """The takes of a scene: name and frames."""

    def draw_item(
        self,
        context: Context,
        layout: Layout,
        _data: Any,
        take: Any,
        _icon: Any,
        _active_data: Any,
        _active_property: Any,
        _index: Any,
        _flags: Any,
    ) -> None:
        """One take."""
        row = layout.row(align=True)
        row.prop(take, "name", text="", emboss=False, icon="PHYSICS")
        row.label(text=status.take_text(context.scene, take.key))


class Cache(Part):
    """Where the cached frames lie, and how much they take."""

    bl_label = "Cache"

    def draw(self, context: Context) -> None:
        """Takes; place, size and range; where it goes, and an end to it."""
        layout, scene = self.layout, context.scene
        settings = scene.softpressure
        row = layout.row()
        if settings.takes:
            row.template_list("SOFTPRESSURE_UL_takes", "", settings, "takes", settings, "active_take", rows=3)
        buttons = row.column(align=True)
        buttons.operator("softpressure.add_take", text="" if settings.takes else "Add Take", icon="ADD")
        if settings.takes:
            buttons.operator("softpressure.remove_take", text="", icon="REMOVE")
        if sessions.has_bodies(scene):
            draw_text(layout, context, f"Holds {status.cache_text(scene)}", "INFO")
            draw_text(layout, context, status.cache_sizes(scene), "BLANK1")
            draw_text(layout, context, status.cache_place(scene), "FILE_FOLDER")
        column = layout.column()
        column.use_property_split = True
        column.prop(settings, "cache_folder")
        column.use_property_split = False
        column.prop(settings, "pack_cache", text=status.pack_text(scene))
        row = column.row()
        row.use_property_split = True
        row.prop(settings, "render_without_frames")
        column.prop(settings, "point_attributes")
        for sentence in status.attribute_texts(scene):
            draw_text(layout, context, sentence, "INFO")
        row = layout.row(align=True)
        row.operator("softpressure.simulate", text="Calculate to Frame").to_frame = True
        row.operator("softpressure.delete_cache", icon="TRASH")
        # Blender's own simulations, as cloth may follow a body and a body may follow cloth
        layout.operator("ptcache.bake_all", text="Bake All Dynamics").bake = True


class Fluids(Part):
    """Air and liquid around all bodies."""

    bl_label = "Air and Liquid"

    def draw(self, context: Context) -> None:
        """Densities, level and drag."""
        self.layout.use_property_split = True
        for parameter in parameters.groups(parameters.SCENE)["FLUID"]:
            draw_setting(self.layout, context.scene.softpressure, parameter)


class Method(Part):
    """Which solver is used, and what else the papers do in another way."""

    bl_label = "Method"
    switch = "research"

    @classmethod
    def is_used(cls, context: Context) -> bool:
        """Whether the scene has another method than the engine, or a choice of the papers."""
        settings = context.scene.softpressure
        return any(_is_set(settings, each) for each in parameters.groups(parameters.SCENE)["METHOD"])

    def draw(self, context: Context) -> None:
        """The method, and what else the papers choose."""
        layout = self.layout
        scene = context.scene
        settings = scene.softpressure
        layout.operator_menu_enum("softpressure.set_up_as", "text", icon="PRESET")
        layout.use_property_split = True
        for parameter in parameters.groups(parameters.SCENE)["METHOD"]:
            is_refused = _is_refused(parameter, settings)
            if parameters.counts_in_scene(parameter, settings) or is_refused:
                draw_setting(layout, settings, parameter)
            for sentence, icon in _notes(scene, parameter.name):
                draw_text(layout, context, sentence, icon)
            if is_refused:
                draw_text(layout, context, _ONLY_WITH[parameter.solvers])


def _is_set(settings: Any, parameter: Parameter) -> bool:
    """Whether a setting has another value than its default, which Blender keeps with single precision."""
    value = getattr(settings, parameter.name)
    return (
        not math.isclose(value, parameter.default, rel_tol=1e-6)
        if isinstance(value, float)
        else value != parameter.default
    )


def _is_refused(parameter: Parameter, settings: Any) -> bool:
    """Whether a choice of the papers stands in the way of the method; numbers that it does not read do not."""
    value = getattr(settings, parameter.name)
    is_read = parameters.is_read_by(parameter, settings.solver)
    return (
        parameter.solvers in _ONLY_WITH
        and not is_read
        and not isinstance(value, float)
        and value != "NONE"
        and (value != parameter.default)
    )


def _notes(scene: bpy.types.Scene, name: str) -> Iterator[tuple[str, str]]:
    """Sentences below a setting of the method, each with its icon."""
    settings = scene.softpressure
    if name == "solver" and parameters.counts_in_scene(parameters.named("substeps"), settings):
        yield "Needs many more substeps.", "INFO"
    if name == "volume_rule" and settings.volume_rule != "EXACT" and settings.ambient_pressure > 0.0:
        yield "Made for a vacuum: set Air Pressure (panel Air and Liquid) to 0, or bodies jitter.", "INFO"


class Bake:
    """What a bake makes and costs."""

    layout: Layout
    bl_label = "Bake"

    def draw(self, context: Context) -> None:
        """What becomes of which frames."""
        layout, scene = self.layout, context.scene
        session = sessions.of(scene)
        if sessions.baked(scene):
            draw_text(layout, context, "The baked bodies play without this extension, too.", "INFO")
        elif session.run.cache is not None and not session.is_out_of_date(scene):
            kinds = {obj.softpressure.kind for obj in sessions.objects(scene, "SOFT", "RIGID")}
            made = _BAKED_TO["BOTH" if len(kinds) == 2 else next(iter(kinds), "SOFT")]
            size = max(1, round(status.bake_size(scene) / 1e6))
            draw_text(layout, context, f"Bake makes {made} of {status.cache_text(scene)}, {size} MB", "INFO")


SIDEBAR, SCENE = in_both_places(
    simulation=Simulation,
    cache=Cache,
    fluids=Fluids,
    method=Method,
    bake=Bake,
)

CLASSES = (SOFTPRESSURE_UL_takes, *SIDEBAR, *SCENE)
