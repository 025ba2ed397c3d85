"""Small pictures of scenes, and sheets of them."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

#: Size of a picture [pixels].
WIDTH, HEIGHT = 480, 270
#: Longest side of a sheet [pixels]: with more pictures, every second pixel is taken, or every third, and so on.
_LONGEST = 8192
#: What is behind where a scene has no world: black would look like what lies in shadow.
BACKGROUND = (0.35, 0.37, 0.4)
#: Share of the picture left free around what is seen, and the colour of a picture that is missing.
_MARGIN, _MISSING = 1.1, (0.25, 0.05, 0.05, 1.0)


def render(scene: Any, frame: int, path: Path, size: tuple[int, int] = (WIDTH, HEIGHT), samples: int = 0) -> None:
    """Render a frame to a PNG, with Workbench, or with so many samples of Cycles; the render settings change."""
    scene.frame_set(frame)
    scene.render.engine = "CYCLES" if samples else "BLENDER_WORKBENCH"
    if samples:
        scene.cycles.samples, scene.cycles.use_denoising = samples, True
    scene.render.resolution_x, scene.render.resolution_y = size
    scene.render.resolution_percentage, scene.render.dither_intensity = 100, 0.0  # its noise would be half of the file
    image = scene.render.image_settings
    if hasattr(image, "media_type"):  # Blender 5
        image.media_type = "IMAGE"
    image.file_format, image.color_mode, image.compression = "PNG", "RGB", 100
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True, scene=scene.name)


def still(scene: Any, frame: int, path: Path, text: str) -> None:
    """Render a frame with Workbench, with a text at its top.

    From its camera if it has one, else from one that sees all meshes; before its world, else before a grey one.
    """
    scene.render.use_border = scene.render.use_multiview = scene.render.use_compositing = False
    scene.render.use_sequencer = False
    if scene.world is None:
        scene.world = bpy.data.worlds.new("World")
        scene.world.color = BACKGROUND
    scene.display.shading.light, scene.display.shading.color_type = "STUDIO", "MATERIAL"
    scene.display.shading.show_shadows = scene.display.shading.show_cavity = True
    for each in scene.render.bl_rna.properties:
        if each.identifier.startswith("use_stamp_"):
            setattr(scene.render, each.identifier, False)
    scene.render.use_stamp = scene.render.use_stamp_note = True
    scene.render.stamp_note_text, scene.render.stamp_font_size = text, 14
    scene.render.stamp_foreground, scene.render.stamp_background = (1.0, 1.0, 1.0, 1.0), (0.0, 0.0, 0.0, 0.6)
    scene.camera = scene.camera or overview_camera(scene, (frame,))
    render(scene, frame, path)


def overview_camera(scene: Any, frames: Iterable[int]) -> bpy.types.Object:
    """A new camera that sees all meshes of these frames, from the front, a little from above and the side."""
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    camera.rotation_euler = (math.radians(75.0), 0.0, math.radians(20.0))
    depsgraph, corners = scene.view_layers[0].depsgraph, []
    for frame in frames:
        scene.frame_set(frame)
        depsgraph.update()
        shown = [obj.evaluated_get(depsgraph) for obj in scene.objects if obj.type == "MESH" and not obj.hide_render]
        corners += [np.array(obj.matrix_world) @ (*corner, 1.0) for obj in shown for corner in obj.bound_box]
    points = np.array(corners)[:, :3]
    points = points.mean(axis=0) + _MARGIN * (points - points.mean(axis=0))
    camera.location, _ = camera.camera_fit_coords(depsgraph, points.ravel().tolist())
    return camera


def sheet(paths: list[Path], target: Path) -> None:
    """Put pictures side by side, the first at the top left; what is missing is red."""
    columns = math.ceil(math.sqrt(len(paths)))
    rows = math.ceil(len(paths) / columns)
    step = math.ceil(max(columns * WIDTH, rows * HEIGHT) / _LONGEST)
    missing = np.full((HEIGHT, WIDTH, 4), _MISSING, np.float32)
    found = (read(path) if path.is_file() else missing for path in paths)
    pixels = tiled([np.ascontiguousarray(picture[::step, ::step]) for picture in found], columns, 0.0)
    result: Any = bpy.data.images.new("contact sheet", pixels.shape[1], pixels.shape[0])
    result.pixels.foreach_set(pixels.ravel())
    result.filepath_raw, result.file_format = str(target), "PNG"
    result.save()
    bpy.data.images.remove(result)


def tiled(pictures: list[NDArray[np.float32]], columns: int, blank: float) -> NDArray[np.float32]:
    """Pictures of one size side by side, the first at the top left; what is left free has the value `blank`."""
    height, width, _ = pictures[0].shape
    rows = math.ceil(len(pictures) / columns)
    pixels = np.full((rows * height, columns * width, 4), blank, np.float32)
    for number, picture in enumerate(pictures):
        row, column = divmod(number, columns)
        bottom = (rows - 1 - row) * height  # Blender's pixels start at the bottom left
        pixels[bottom : bottom + height, column * width : (column + 1) * width] = picture
    return pixels


def read(path: Path) -> NDArray[np.float32]:
    """A picture as an array of shape (height, width, 4), rows from the bottom."""
    image = bpy.data.images.load(str(path))
    size: Any = image.size  # fake-bpy calls it an array of unknown length
    width, height = size
    pixels: NDArray[np.float32] = np.empty(width * height * 4, np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    return pixels.reshape(height, width, 4)
