"""The main job: install the built zip in an empty Blender, build a sample scene, bake it, make its pictures.

    python sample_blends/demo.py [bounce | squeeze | pile | newton | basket | walker]

Run by `nox -s demo` with a Python that has `bpy`. Leaves bounce_baked.blend, bounce.mp4 and bounce.png in build/demo/.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "build" / "demo"


def timed(what: str, action: Callable[[], object]) -> None:
    """Do it and say how long it took."""
    started = time.perf_counter()
    action()
    print(f"demo: {what}: {time.perf_counter() - started:.1f} s", flush=True)


def main(name: str) -> None:
    """Everything for the sample of this name, in one Blender."""
    import bpy
    import render

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
    render.set_up(scene)
    scene.camera = scene.camera or pictures.overview_camera(scene, render.frames_of(scene, 12))
    with tempfile.TemporaryDirectory() as folder:
        target = OUTPUT / f"{name}.png"
        timed("contact sheet", lambda: pictures.sheet(render.render_stills(scene, Path(folder)), target))
    timed("video", lambda: render.render_video(scene, OUTPUT / f"{name}.mp4"))
    for path in sorted(OUTPUT.glob(f"{name}*")):
        print(f"demo: {path.relative_to(ROOT)}, {path.stat().st_size} bytes")


if __name__ == "__main__":
    OUTPUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as resources:
        os.environ["BLENDER_USER_RESOURCES"] = resources  # read when bpy is imported
        main(sys.argv[1] if len(sys.argv) > 1 else "bounce")
