"""Rendering without cached frames, or with old ones, is reported."""

from pathlib import Path

import bpy
import pytest
from bpy_scene import add_ball, empty_file, falling, play  # noqa: F401
from softpressure_ext.softpressure import disk, handlers, status

pytestmark = pytest.mark.usefixtures("falling")


def render(*frames: int) -> None:
    """The calls of a render job."""
    scene = bpy.context.scene
    handlers.on_render_init(scene)
    for number in frames:
        scene.frame_set(number)
        handlers.on_render_pre(scene)
    handlers.on_render_end(scene)


def printed(capfd: pytest.CaptureFixture[str]) -> list[str]:
    """What was said of rendering."""
    return [
        line for line in capfd.readouterr().out.splitlines() if line.startswith("Soft Pressure") and "render" in line
    ]


def test_a_render_without_a_cache_says_so_once(capfd: pytest.CaptureFixture[str]) -> None:
    add_ball()
    render(1, 2, 3)
    told = printed(capfd)
    assert len(told) == 1 and "Scene: frame 1 is rendered without simulation" in told[0]
    assert "Simulate" in told[0] and "Bake" in told[0]
    assert told[0].removeprefix("Soft Pressure: ") in status.notices(bpy.context.scene)
    bpy.ops.softpressure.simulate()
    assert status.notices(bpy.context.scene) == []
    printed(capfd)
    render(1, 2, 3)
    assert printed(capfd) == []


def test_a_render_of_old_or_missing_frames_says_which(capfd: pytest.CaptureFixture[str]) -> None:
    ball = add_ball()
    play(1, 4)
    render(3, 4)
    assert printed(capfd) == []
    render(4, 5, 6)
    assert [line for line in printed(capfd) if "frame 5 is not simulated" in line and "frame 4" in line]
    ball.softpressure.mass = 3.0
    render(2)
    assert "Scene: frame 2 is rendered from frames that are out of date" in printed(capfd)[0]


def test_baked_bodies_need_no_cache(capfd: pytest.CaptureFixture[str]) -> None:
    add_ball()
    bpy.ops.softpressure.simulate()
    bpy.ops.softpressure.bake()
    printed(capfd)
    render(1, 5)
    assert printed(capfd) == []


@pytest.mark.smoke
def test_a_real_render_of_a_file_copied_without_its_cache_warns(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "scene.blend")
    add_ball()
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    scene.camera = camera
    play(1, 3)
    bpy.ops.wm.save_as_mainfile(filepath=path)
    cache = disk.path_of(scene)
    assert cache is not None
    cache.unlink()
    bpy.ops.wm.open_mainfile(filepath=path)
    scene = bpy.context.scene
    scene.render.engine, scene.cycles.samples = "CYCLES", 1
    scene.render.resolution_x = scene.render.resolution_y = 8
    scene.render.filepath = f"{tmp_path}/frame"
    scene.frame_start, scene.frame_end = 1, 2
    bpy.ops.render.render(animation=True)
    assert len(printed(capfd)) == 1
