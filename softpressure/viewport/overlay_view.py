"""The overlay in the 3D viewport: draw handlers, and what they drew last.

What is drawn is made anew after a change of the frame, of the file's data or of a setting, and kept until then.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import gpu
import numpy as np

from ..scene_io import hoses, mesh_io
from ..scene_io.mesh_io import Float32Array, IntArray
from ..state import sessions
from . import colour_maps, drawing
from .drawing import Colour

if TYPE_CHECKING:
    from . import overlay

#: Colours of marks (sRGB): pins, goals, attachments, hoses, shell, simulated mesh, particles. They differ in lightness.
_PIN, _GOAL, _GLUE, _HOSE, _SHELL, _MESH, _PARTICLE = (
    (1.0, 0.85, 0.1, 1.0),
    (0.2, 0.75, 1.0, 1.0),
    (0.95, 0.3, 0.05, 1.0),
    (0.3, 0.9, 0.55, 1.0),
    (0.75, 0.55, 1.0, 0.8),
    (0.05, 0.1, 0.3, 1.0),
    (1.0, 1.0, 1.0, 1.0),
)
#: Opacity of a hose whose valve is closed.
_CLOSED = 0.35
#: Size of points and width of lines for a scale of 1 [pixels].
_POINT, _LINE = 5.0, 1.5
#: Around lines, which lie on colours of all kinds: its colour, and how much wider it makes them [pixels].
_RIM, _RIM_WIDTH = (0.0, 0.0, 0.0, 0.75), 2.0
#: How far colours are drawn before the surface and marks before both, as shares of the depth range.
_BEFORE, _FAR_BEFORE = 2e-5, 2e-4
#: The legend for a scale of 1 [pixels]: width and height of its bar, its distance from the corner, size of text.
_BAR, _CORNER, _TEXT = (180.0, 12.0), 18.0, 11.0
#: What lies behind it on any background: its opacity, and how far it reaches beyond the legend [pixels].
_BACKING, _MARGIN = 0.6, 8.0
#: Heights in sizes of text: of a line, of the labels below the bar, and of the gap between bar and title.
_LINE_HEIGHT, _LABEL_HEIGHT, _TITLE_GAP = 1.7, 1.4, 0.5


class Layer(NamedTuple):
    """One batch of a body."""

    uid: int  # of the object
    before: float | None  # how far before the surface, as a share of the depth range; None before everything
    draw: Callable[..., None]
    arguments: tuple[Any, ...]
    size: float = 0.0  # last argument of `draw` for a scale of 1 [pixels]; 0 if it takes none


@dataclass(slots=True)
class Picture:
    """What is drawn of a scene."""

    layers: list[Layer] = field(default_factory=list)
    legend: "overlay.Legend | None" = None
    marks: dict[str, Colour] = field(default_factory=dict)
    note: str = ""


_pictures: dict[int, tuple[tuple[Any, ...], Picture]] = {}
#: Pins, goals and glued vertices by object, with the frame at which they were read last and what they depend on.
_groups: dict[int, tuple[int, tuple[Any, ...], tuple[IntArray, IntArray, IntArray]]] = {}
#: Settings of what is marked.
_MARKS = (
    *("overlay_pins", "overlay_attachments", "overlay_hoses"),
    *("overlay_mesh", "overlay_particles", "overlay_thickness"),
)


def picture(context: Any) -> Picture:
    """What is drawn now."""
    scene = context.scene
    settings = scene.softpressure
    cache = sessions.of(scene).run.cache
    key = (
        scene.frame_current_final, sessions.change_count(), id(cache), cache.frame_count if cache else 0,
        *(getattr(settings, name) for name in (*_MARKS, "overlay_colour", "overlay_limit")),
    )  # fmt: skip
    if scene.session_uid not in _pictures or _pictures[scene.session_uid][0] != key:
        _pictures.clear()
        _pictures[scene.session_uid] = key, _make(scene, context.evaluated_depsgraph_get())
    return _pictures[scene.session_uid][1]


def is_on(context: Any) -> bool:
    """Whether anything is to be drawn in the viewport of a context."""
    settings = context.scene.softpressure
    marks = (getattr(settings, name) for name in _MARKS)
    return context.space_data.overlay.show_overlays and (settings.overlay_colour != "NONE" or any(marks))


def _make(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> Picture:
    from . import overlay  # which loads the core

    settings, found = scene.softpressure, Picture()
    soft = list(overlay.shapes(scene, depsgraph, "SOFT"))
    if settings.overlay_colour != "NONE" and soft:
        _add_colours(scene, soft, found)
    for obj, shape in soft if settings.overlay_mesh else ():
        lines = overlay.simulated(scene, obj, shape)
        if len(lines):
            found.marks["Simulated Mesh"] = _MESH
            layer = (drawing.line_batch(lines), _MESH)
            found.layers.append(Layer(shape.uid, _FAR_BEFORE, drawing.draw_lines, layer, _LINE))
    if settings.overlay_thickness:
        found.marks["Thickness"] = (*_SHELL[:3], 1.0)
        for obj, shape in [*soft, *overlay.shapes(scene, depsgraph, "RIGID", "COLLIDER")]:
            thickness = overlay.thickness_of(scene, obj, shape)
            if thickness > 0.0 and len(shape.triangles):
                points = overlay.shell(obj, shape, depsgraph, thickness)
                batch = drawing.surface_batch(points, shape.triangles)
                found.layers.append(Layer(shape.uid, _BEFORE, drawing.draw_rim, (batch, _SHELL)))
    for obj, shape in soft if settings.overlay_pins or settings.overlay_attachments else ():
        pins, pulled, glued = _marked(obj, scene.frame_current)
        if settings.overlay_pins:
            _add_points(found, shape, pins, "Pins", _PIN)
            _add_points(found, shape, pulled, "Goals", _GOAL)
        if settings.overlay_attachments and _add_points(found, shape, glued, "Attachments", _GLUE):
            _add_lines(found, shape.uid, overlay.link(shape, glued, obj.softpressure.attach_to), _GLUE, _LINE)
    if settings.overlay_particles and len(places := overlay.particles(scene)):
        found.marks["Particles"] = _PARTICLE
        batch = drawing.points_batch(places)
        found.layers.append(Layer(0, None, drawing.draw_points, (batch, _PARTICLE), 1.5 * _POINT))
    for hose in hoses.of_scene(scene) if settings.overlay_hoses else ():
        lines = overlay.tube(hose, depsgraph)
        if len(lines):
            found.marks["Hoses"] = _HOSE
            colour = (*_HOSE[:3], 1.0 if hoses.valve_of(hose, depsgraph) > 0.0 else _CLOSED)
            _add_lines(found, hose.session_uid, lines, colour, 2.0 * _LINE)
    return found


def _add_colours(scene: bpy.types.Scene, soft: list[tuple[Any, "overlay.Shape"]], found: Picture) -> None:
    from . import overlay

    mode, cache = scene.softpressure.overlay_colour, sessions.of(scene).run.cache
    known = [(shape, overlay.values_of(scene, obj, shape)) for obj, shape in soft]
    coloured = [(shape, values) for shape, values in known if values is not None]
    if not coloured:
        found.note = overlay.NO_FORCES if mode == "FORCE" and cache is not None else overlay.NOTHING
        return
    found.legend = overlay.legend(mode, (values for _, values in coloured), scene.softpressure.overlay_limit)
    for shape, values in coloured:
        points, colours = shape.points.astype(np.float32), overlay.colours(values, found.legend)
        if len(shape.triangles):
            batch = drawing.surface_batch(points, shape.triangles, colours)
            found.layers.append(Layer(shape.uid, _BEFORE, drawing.draw_smooth, (batch,)))
        else:
            batch = drawing.coloured_line_batch(points, shape.edges, colours)
            found.layers.append(Layer(shape.uid, _BEFORE, drawing.draw_coloured_lines, (batch,), 2.0 * _LINE))


def _add_points(found: Picture, shape: "overlay.Shape", chosen: IntArray, name: str, colour: Colour) -> bool:
    """Points of a mark, and its line in the legend; whether there are any."""
    if not len(chosen):
        return False
    found.marks[name] = colour
    batch = drawing.points_batch(shape.points[chosen].astype(np.float32))
    found.layers.append(Layer(shape.uid, _FAR_BEFORE, drawing.draw_points, (batch, colour), _POINT))
    return True


def _add_lines(found: Picture, uid: int, lines: Float32Array, colour: Colour, width: float) -> None:
    """Lines of an object that nothing hides, as opaque as their colour with its rim."""
    batch, rim = drawing.line_batch(lines), (*_RIM[:3], _RIM[3] * colour[3])
    for drawn, size in ((rim, width + _RIM_WIDTH), (colour, width)):
        found.layers.append(Layer(uid, None, drawing.draw_lines, (batch, drawn), size))


def _marked(obj: bpy.types.Object, frame: int) -> tuple[IntArray, IntArray, IntArray]:
    """Vertices that are pinned, pulled, and glued.

    Reading groups is slow: while frames change they are those of the frame before.
    """
    settings = obj.softpressure
    target = settings.attach_to
    depends = (settings.pin_group, settings.goal_group, settings.attach_group, target is None, len(obj.data.vertices))
    known = _groups.get(obj.session_uid)
    if known is None or known[0] == frame or known[1] != depends:
        from ..scene_io import goals

        pins, pulled = goals.read(obj)
        glued = mesh_io.group_vertices(obj, "" if target is None else settings.attach_group)
        found = pins, np.zeros(0, np.int32) if pulled is None else pulled.vertices, glued
    else:
        found = known[2]
    _groups[obj.session_uid] = frame, depends, found
    return found


@drawing.guarded
def draw_bodies() -> None:
    """The handler in the space of the view."""
    context: Any = bpy.context
    if not is_on(context):
        return
    scale = context.preferences.system.ui_scale
    hidden = {obj.session_uid for obj in context.scene.objects if not obj.visible_get(viewport=context.space_data)}
    gpu.state.blend_set("ALPHA")
    gpu.state.face_culling_set("BACK")
    for layer in picture(context).layers:
        if layer.uid not in hidden:
            gpu.state.depth_test_set("NONE" if layer.before is None else "LESS_EQUAL")
            with drawing.nearer(layer.before or 0.0):
                layer.draw(*layer.arguments, *((scale * layer.size,) if layer.size else ()))
    gpu.state.depth_test_set("NONE")
    gpu.state.face_culling_set("NONE")
    gpu.state.blend_set("NONE")


@drawing.guarded
def draw_legend() -> None:
    """The handler in the space of the region [pixels]: the legend, from the lower right corner upwards.

    Behind it lies what is dark for a theme with bright text, and bright for dark text: a rendered view may have any
    colour.
    """
    context: Any = bpy.context
    if not is_on(context):
        return
    found, scale = picture(context), context.preferences.system.ui_scale
    space = context.preferences.themes[0].view_3d.space
    ink, size = (*tuple(space.text_hi), 1.0), _TEXT * scale
    beside = [region.width for region in context.area.regions if region.type == "UI" and region.width > 1]
    right = context.region.width - (beside[0] if context.preferences.system.use_region_overlap and beside else 0)
    right, low = right - _CORNER * scale, _CORNER * scale
    left = right - _BAR[0] * scale
    gpu.state.blend_set("ALPHA")
    if high := _height(found, size, scale):
        shade, margin = 0.0 if sum(ink[:3]) > 1.5 else 1.0, _MARGIN * scale
        start = min(left, right - drawing.text_size(found.note, size)[0])
        drawing.rectangle(
            (start - margin, low - margin), (right + margin, low + high + margin), (shade, shade, shade, _BACKING)
        )
    for name, colour in reversed(found.marks.items()):
        drawing.rectangle((left, low), (left + 0.8 * size, low + 0.8 * size), colour)
        drawing.text((left + 1.4 * size, low), name, size, ink)
        low += _LINE_HEIGHT * size
    if found.note:
        drawing.text((right, low), found.note, size, ink, align=1.0)
    if found.legend:
        _draw_bar(found.legend, left, right, low, scale, ink)
    gpu.state.blend_set("NONE")


def _height(found: Picture, size: float, scale: float) -> float:
    """Height of a legend with a text of this size [pixels]; 0 if it is empty."""
    marks = _LINE_HEIGHT * size * len(found.marks)
    if found.legend:
        return marks + (_LABEL_HEIGHT + _TITLE_GAP + 1.0) * size + _BAR[1] * scale
    return marks + size if found.note else max(0.0, marks - (_LINE_HEIGHT - 1.0) * size)


def _draw_bar(bar: "overlay.Legend", left: float, right: float, low: float, scale: float, ink: Colour) -> None:
    """The colour bar, with its title above and its labels below."""
    size, high = _TEXT * scale, _BAR[1] * scale
    for share, words in zip((0.0, 0.5, 1.0), bar.labels, strict=True):
        drawing.text((left + share * (right - left), low), words.replace("-", "\N{MINUS SIGN}"), size, ink, align=share)
    bottom, count = low + _LABEL_HEIGHT * size, 33
    shares = np.linspace(0.0, 1.0, count)
    values = bar.limit * (2.0 * shares - 1.0 if bar.is_signed else shares)
    points = np.zeros((2 * count, 3), np.float32)
    points[:, 0] = np.repeat(left + shares * (right - left), 2)
    points[:, 1] = np.tile([bottom, bottom + high], count)
    first = 2 * np.arange(count - 1, dtype=np.int32)[:, None]
    triangles = np.concatenate([first + [0, 2, 1], first + [1, 2, 3]]).astype(np.int32)
    colours = np.repeat(colour_maps.colours(values, bar.limit, bar.is_signed), 2, axis=0)
    drawing.draw_smooth(drawing.surface_batch(points, triangles, colours))
    drawing.text((left, bottom + high + _TITLE_GAP * size), bar.title, size, ink)


_handlers = drawing.Handlers(bpy.types.SpaceView3D, POST_VIEW=draw_bodies, POST_PIXEL=draw_legend)
register = _handlers.register


def unregister() -> None:
    """Take the handlers away, and what is kept for them."""
    _handlers.unregister()
    _pictures.clear()
    _groups.clear()
