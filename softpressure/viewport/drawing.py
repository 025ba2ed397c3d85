"""Drawing with Blender's built-in shaders: lines, rectangles, points, surfaces, text. Only within draw handlers.

What has an alpha needs `gpu.state.blend_set("ALPHA")` before.
"""

import functools
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import blf
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix
from numpy.typing import ArrayLike, NDArray

from ..scene_io.mesh_io import Float32Array
from .redraw import redraw

_log = logging.getLogger("softpressure")

Colour = tuple[float, ...]
#: Font of Blender's interface.
_FONT = 0


def _batch(shader: Any, kind: Any, indices: Any = None, **content: Any) -> Any:
    """Data for a shader; arrays are taken as they are."""
    return batch_for_shader(shader, kind, content, indices=indices)


def _draw(batch: Any, name: str, **uniforms: Any) -> None:
    """Draw a batch with the built-in shader of a name."""
    shader = gpu.shader.from_builtin(name)
    shader.bind()
    for key, value in uniforms.items():
        shader.uniform_float(key, value)
    batch.draw(shader)


def line_batch(points: ArrayLike) -> Any:
    """Lines between pairs of points, shape (2 n, 3)."""
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    return _batch(shader, "LINES", pos=np.asarray(points, np.float32))


def draw_lines(batch: Any, colour: Colour, width: float) -> None:
    """Draw a `line_batch`; width in pixels."""
    _draw(batch, "POLYLINE_UNIFORM_COLOR", viewportSize=gpu.state.viewport_get()[2:], lineWidth=width, color=colour)


def lines(points: ArrayLike, colour: Colour, width: float = 1.0) -> None:
    """Draw lines between pairs of points at once."""
    if len(np.atleast_2d(points)) > 1:
        draw_lines(line_batch(points), colour, width)


def coloured_line_batch(points: Float32Array, edges: NDArray[np.int32], colours: Float32Array) -> Any:
    """Lines between points, with a colour (n, 4) at each."""
    shader = gpu.shader.from_builtin("POLYLINE_SMOOTH_COLOR")
    ends = edges.ravel()
    return _batch(shader, "LINES", pos=points[ends], color=colours[ends])


def draw_coloured_lines(batch: Any, width: float) -> None:
    """Draw a `coloured_line_batch`; width in pixels."""
    _draw(batch, "POLYLINE_SMOOTH_COLOR", viewportSize=gpu.state.viewport_get()[2:], lineWidth=width)


def _point_shader() -> str:
    """The shader of points: one for points alone, which has their size, where Blender has it."""
    try:
        gpu.shader.from_builtin("POINT_UNIFORM_COLOR")
    except ValueError:
        return "UNIFORM_COLOR"
    return "POINT_UNIFORM_COLOR"


def points_batch(points: Float32Array) -> Any:
    """Points, shape (n, 3)."""
    return _batch(gpu.shader.from_builtin(_point_shader()), "POINTS", pos=points)


def draw_points(batch: Any, colour: Colour, size: float) -> None:
    """Draw a `points_batch`; size in pixels."""
    name = _point_shader()
    gpu.state.point_size_set(size)
    _draw(batch, name, color=colour, **({} if name == "UNIFORM_COLOR" else {"size": size}))
    gpu.state.point_size_set(1.0)


def draw_uniform(batch: Any, colour: Colour) -> None:
    """Draw a surface in one colour."""
    _draw(batch, "UNIFORM_COLOR", color=colour)


def draw_rim(batch: Any, colour: Colour) -> None:
    """Draw the inside of a surface, of which a body within leaves the rim to be seen."""
    gpu.state.face_culling_set("FRONT")
    draw_uniform(batch, colour)
    gpu.state.face_culling_set("BACK")


@contextmanager
def nearer(share: float) -> Iterator[None]:
    """Draw nearer to the viewer by a share of the depth range, so that a surface hides what lies in it."""
    with gpu.matrix.push_pop_projection():
        projection = np.array(gpu.matrix.get_projection_matrix())
        projection[2] -= share * projection[3]
        gpu.matrix.load_projection_matrix(Matrix(projection.tolist()))
        yield


def guarded(draw: Callable[[], None]) -> Callable[[], None]:
    """A draw handler that logs an exception once instead of raising it at each redraw."""
    logged: set[str] = set()

    @functools.wraps(draw)
    def handler() -> None:
        try:
            draw()
        except Exception as error:
            if repr(error) not in logged:
                logged.add(repr(error))
                _log.exception("Internal error in %s", draw.__name__)

    return handler


class Handlers:
    """Functions that draw in the editors of a type while the extension is registered, each in one space of them."""

    def __init__(self, editor: Any, **draws: Callable[[], None]) -> None:
        self._editor, self._draws, self._handles = editor, draws, list[Any]()

    def register(self) -> None:
        """Add them."""
        for space, draw in self._draws.items():
            self._handles.append(self._editor.draw_handler_add(draw, (), "WINDOW", space))

    def unregister(self) -> None:
        """Take them away, and what they drew with them."""
        while self._handles:
            self._editor.draw_handler_remove(self._handles.pop(), "WINDOW")
        redraw()


def surface_batch(points: Float32Array, triangles: NDArray[np.int32], colours: Float32Array | None = None) -> Any:
    """A surface, with a colour (n, 4) at each point or without."""
    if colours is None:
        return _batch(gpu.shader.from_builtin("UNIFORM_COLOR"), "TRIS", triangles, pos=points)
    return _batch(gpu.shader.from_builtin("SMOOTH_COLOR"), "TRIS", triangles, pos=points, color=colours)


def draw_smooth(batch: Any) -> None:
    """Draw a surface that has its colours."""
    _draw(batch, "SMOOTH_COLOR")


def rectangle(low: Sequence[float], high: Sequence[float], colour: Colour) -> None:
    """A filled rectangle between two corners [pixels]."""
    corners = np.array([(low[0], low[1], 0), (high[0], low[1], 0), (high[0], high[1], 0), (low[0], high[1], 0)])
    draw_uniform(surface_batch(corners.astype(np.float32), np.array([(0, 1, 2), (0, 2, 3)], np.int32)), colour)


def text_size(text: str, size: float) -> tuple[float, float]:
    """Width and height of a text [pixels]; size of the font in pixels."""
    blf.size(_FONT, size)
    width, height = blf.dimensions(_FONT, text)
    return float(width), float(height)


def text(place: Sequence[float], words: str, size: float, colour: Colour, align: float = 0.0) -> None:
    """A line of text with its lower left corner at a place [pixels]; `align`: share of its width to the left of it."""
    blf.size(_FONT, size)
    blf.color(_FONT, *colour)
    shift = align * blf.dimensions(_FONT, words)[0] if align else 0.0
    blf.position(_FONT, place[0] - shift, place[1], 0.0)
    blf.draw(_FONT, words)
    gpu.state.blend_set("ALPHA")  # which that ends
