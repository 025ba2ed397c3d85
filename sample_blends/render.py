"""Pictures of a baked scene: an mp4 and a contact sheet with the Workbench renderer, a still with Cycles.

    python sample_blends/render.py build/demo/bounce_baked.blend 58 docs/bounce.png

renders the picture of the README.
"""

import math
import sys
from pathlib import Path

import bpy
import numpy as np

WIDTH, HEIGHT = 480, 270


def set_up(scene: bpy.types.Scene) -> None:
    """Workbench with object colours, soft shadows and a small picture; the scene keeps its camera if it has one."""
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.resolution_x, scene.render.resolution_y = WIDTH, HEIGHT
    scene.render.resolution_percentage = 100
    scene.render.use_simplify = True
    scene.render.simplify_subdivision_render = 0  # subdivided skins look the same here and take four times as long
    scene.display.render_aa = "8"
    scene.display.shading.light = "STUDIO"
    scene.display.shading.studio_light = "paint.sl"  # the brightest
    scene.display.shading.color_type = "OBJECT"
    scene.display.shading.show_shadows = True
    scene.display.shading.show_cavity = True
    scene.view_settings.view_transform = "Standard"
    scene.world = scene.world or bpy.data.worlds.new("World")
    scene.world.color = (0.8, 0.85, 0.9)
    if scene.camera is None:
        scene.camera = overview_camera(scene)


def overview_camera(scene: bpy.types.Scene) -> bpy.types.Object:
    """A camera that sees all meshes at all times, from the front, a little from above and the side."""
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    camera.rotation_euler = (math.radians(75), 0.0, math.radians(20))
    corners = []
    for frame in np.linspace(scene.frame_start, scene.frame_end, 12):
        scene.frame_set(round(float(frame)))
        depsgraph = bpy.context.evaluated_depsgraph_get()
        meshes = [thing.evaluated_get(depsgraph) for thing in scene.objects if thing.type == "MESH"]
        corners += [np.array(thing.matrix_world) @ (*corner, 1.0) for thing in meshes for corner in thing.bound_box]
    points = np.array(corners)[:, :3]
    with_margin = points.mean(axis=0) + 1.1 * (points - points.mean(axis=0))
    camera.location, _ = camera.camera_fit_coords(depsgraph, with_margin.ravel().tolist())
    return camera


def render_video(scene: bpy.types.Scene, path: Path) -> None:
    """Render the scene's frame range to an mp4 (H.264)."""
    image = scene.render.image_settings
    if hasattr(image, "media_type"):  # Blender 5
        image.media_type = "VIDEO"
    image.file_format = "FFMPEG"
    scene.render.ffmpeg.format = "MPEG4"
    scene.render.ffmpeg.codec = "H264"
    scene.render.ffmpeg.constant_rate_factor = "HIGH"
    scene.render.use_file_extension = False
    scene.render.filepath = str(path)
    bpy.ops.render.render(animation=True, scene=scene.name)


def render_contact_sheet(scene: bpy.types.Scene, path: Path, columns: int = 4, rows: int = 4) -> None:
    """Render evenly spaced frames and put them side by side, first frame at the top left."""
    image = scene.render.image_settings
    if hasattr(image, "media_type"):
        image.media_type = "IMAGE"
    image.file_format = "PNG"
    scene.render.use_file_extension = True
    sheet = np.zeros((rows * HEIGHT, columns * WIDTH, 4), dtype=np.float32)
    still = path.with_name("still.png")
    for number, frame in enumerate(np.linspace(scene.frame_start, scene.frame_end, rows * columns)):
        scene.frame_set(round(float(frame)))
        scene.render.filepath = str(still)
        bpy.ops.render.render(write_still=True, scene=scene.name)
        row, column = divmod(number, columns)
        bottom = (rows - 1 - row) * HEIGHT  # Blender's pixels start at the bottom left
        sheet[bottom : bottom + HEIGHT, column * WIDTH : (column + 1) * WIDTH] = read_pixels(still)
    still.unlink()
    result = bpy.data.images.new("contact sheet", columns * WIDTH, rows * HEIGHT)
    result.pixels.foreach_set(sheet.ravel())
    result.filepath_raw = str(path)
    result.file_format = "PNG"
    result.save()
    bpy.data.images.remove(result)


def read_pixels(path: Path) -> np.ndarray:
    """An image file as an array of shape (HEIGHT, WIDTH, 4), rows from the bottom."""
    image = bpy.data.images.load(str(path))
    pixels = np.empty(WIDTH * HEIGHT * 4, dtype=np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    return pixels.reshape(HEIGHT, WIDTH, 4)


def render_still(scene: bpy.types.Scene, frame: int, path: Path) -> None:
    """Render one frame with Cycles, with the scene's own materials and light."""
    scene.frame_set(frame)
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = 64, True
    scene.render.resolution_x, scene.render.resolution_y = 864, 486
    scene.render.resolution_percentage = 100
    scene.render.image_settings.file_format = "PNG"
    scene.render.image_settings.color_mode = "RGB"
    scene.render.image_settings.compression = 100
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True, scene=scene.name)


if __name__ == "__main__":
    blend_file, frame_number, target = sys.argv[1:]
    bpy.ops.wm.open_mainfile(filepath=str(Path(blend_file).resolve()))
    render_still(bpy.context.scene, int(frame_number), Path(target).resolve())
