"""Pictures of a baked scene: an mp4 and stills with the Workbench renderer, one with Cycles.

    python sample_blends/render.py build/demo/bounce_baked.blend 58 docs/bounce.png

renders the picture of the README.
"""

import sys
from pathlib import Path

import bpy
import numpy as np

WIDTH, HEIGHT = 480, 270


def set_up(scene: bpy.types.Scene) -> None:
    """Workbench with object colours, soft shadows and a small picture."""
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


def render_stills(scene: bpy.types.Scene, folder: Path, count: int = 16) -> list[Path]:
    """Render evenly spaced frames to pictures in a folder."""
    image = scene.render.image_settings
    if hasattr(image, "media_type"):
        image.media_type = "IMAGE"
    image.file_format = "PNG"
    scene.render.use_file_extension = True
    paths = []
    for frame in frames_of(scene, count):
        scene.frame_set(frame)
        paths.append(folder / f"{frame:04d}.png")
        scene.render.filepath = str(paths[-1])
        bpy.ops.render.render(write_still=True, scene=scene.name)
    return paths


def frames_of(scene: bpy.types.Scene, count: int) -> list[int]:
    """Evenly spaced frames of a scene, the first and the last among them."""
    return [round(float(frame)) for frame in np.linspace(scene.frame_start, scene.frame_end, count)]


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
