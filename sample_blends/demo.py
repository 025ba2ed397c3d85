"""The main job: install the built zip in an empty Blender, build a sample scene, bake it, make its pictures.

    python sample_blends/demo.py [bounce | squeeze | pile | newton | basket | walker] [FRAME PICTURE.png]

Run by `nox -s demo` with a Python that has `bpy`. Leaves bounce_baked.blend, bounce.mp4 and bounce.png in build/demo/.
`bounce 58 docs/bounce.png` renders the picture of the README, too.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "build" / "demo"


def timed(what: str, action: Callable[[], object]) -> None:
    """Do it and say how long it took."""
    started = time.perf_counter()
    action()
    print(f"demo: {what}: {time.perf_counter() - started:.1f} s", flush=True)


def set_look(scene: Any) -> None:
    """Workbench with object colours and soft shadows."""
    import bpy

    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.use_simplify = True
    scene.render.simplify_subdivision_render = 0  # subdivided skins look the same here and take four times as long
    scene.display.render_aa, shading = "8", scene.display.shading
    shading.light, shading.color_type = "STUDIO", "OBJECT"
    shading.studio_light = "paint.sl"  # the brightest
    shading.show_shadows = shading.show_cavity = True
    scene.view_settings.view_transform = "Standard"
    scene.world = scene.world or bpy.data.worlds.new("World")
    scene.world.color = (0.8, 0.85, 0.9)


def render_video(scene: Any, path: Path) -> None:
    """Render the scene's frame range to an mp4 (H.264), as large as its last picture."""
    import bpy

    image, video = scene.render.image_settings, scene.render.ffmpeg
    if hasattr(image, "media_type"):  # Blender 5
        image.media_type = "VIDEO"
    image.file_format = "FFMPEG"
    video.format, video.codec, video.constant_rate_factor = "MPEG4", "H264", "HIGH"
    scene.render.filepath, scene.render.use_file_extension = str(path), False
    bpy.ops.render.render(animation=True, scene=scene.name)


def main(name: str, frame: str = "", target: str = "") -> None:
    """Everything for the sample of this name, in one Blender."""
    import bpy

    sys.path.append(str(ROOT / "tools"))
    import build_extension

    package = build_extension.zip_path(build_extension.current_platform())
    bpy.ops.extensions.package_install_files(
        filepath=str(package), repo="user_default", enable_on_install=True, overwrite=True
    )
    import bl_ext.user_default.softpressure as installed

    installed.__path__.append(str(ROOT))  # the generators of samples are not in the zip
    from bl_ext.user_default.softpressure.sample_blends import samples
    from bl_ext.user_default.softpressure.softpressure.batch import pictures

    timed("build the scene", lambda: samples.build(name))
    scene = bpy.context.scene
    timed("simulate (compiles the solver on first use)", bpy.ops.softpressure.simulate)
    timed("bake", lambda: bpy.ops.softpressure.bake(target="SHAPE_KEYS"))
    bpy.context.preferences.filepaths.save_version = 0
    bpy.ops.wm.save_as_mainfile(filepath=str(OUTPUT / f"{name}_baked.blend"), copy=True, compress=True)
    if target:
        timed("picture", lambda: pictures.render(scene, int(frame), Path(target).resolve(), (864, 486), 64))
    set_look(scene)
    frames = [scene.frame_start + round(part * (scene.frame_end - scene.frame_start) / 15.0) for part in range(16)]
    scene.camera = scene.camera or pictures.overview_camera(scene, frames)
    with tempfile.TemporaryDirectory() as folder:
        stills = {number: Path(folder) / f"{number}.png" for number in frames}
        timed("stills", lambda: [pictures.render(scene, number, path) for number, path in stills.items()])
        pictures.sheet([*stills.values()], OUTPUT / f"{name}.png")
    timed("video", lambda: render_video(scene, OUTPUT / f"{name}.mp4"))
    for path in sorted(OUTPUT.glob(f"{name}*")):
        print(f"demo: {path.relative_to(ROOT)}, {path.stat().st_size} bytes")


if __name__ == "__main__":
    OUTPUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as resources:
        os.environ["BLENDER_USER_RESOURCES"] = resources  # read when bpy is imported
        main(*sys.argv[1:] or ["bounce"])
