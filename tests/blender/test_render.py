"""Rendering without cached frames, or with old ones, is reported."""

import subprocess
import sys
from pathlib import Path

import bpy
import pytest
from bpy_scene import add_ball, add_object, play
from softpressure_ext.softpressure import handlers
from softpressure_ext.softpressure.cache import disk
from softpressure_ext.softpressure.reports import status

ROOT = Path(__file__).resolve().parents[2]

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


def copied_without_cache(folder: Path, what: str) -> str:
    """A file that lost its cache, set to render two small pictures; returns its path."""
    path = str(folder / "scene.blend")
    add_ball()
    scene = bpy.context.scene
    scene.camera = add_object("Camera", bpy.data.cameras.new("Camera"))
    play(1, 3)
    scene.render.engine, scene.cycles.samples = "CYCLES", 1
    scene.render.resolution_x = scene.render.resolution_y = 8
    scene.render.filepath = f"{folder}/frame"
    scene.frame_start, scene.frame_end = 1, 2
    scene.softpressure.render_without_frames = what
    bpy.ops.wm.save_as_mainfile(filepath=path)
    cache = disk.path_of(scene)
    assert cache is not None
    cache.unlink()
    return path


@pytest.mark.smoke
def test_a_real_render_of_a_file_copied_without_its_cache_warns(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bpy.ops.wm.open_mainfile(filepath=copied_without_cache(tmp_path, "STOP"))
    bpy.ops.render.render(animation=True)
    told = printed(capfd)
    assert len(told) == 1 and str(tmp_path / "softpressure_scene") in told[0] and "Pack into .blend" in told[0]


@pytest.mark.smoke
def test_missing_frames_are_rendered_red(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["blender", "-b", "scene.blend", "-a"])
    bpy.ops.wm.open_mainfile(filepath=copied_without_cache(tmp_path, "RED"))
    bpy.ops.render.render(animation=True)
    for number in (1, 2):
        picture = bpy.data.images.load(str(tmp_path / f"frame{number:04d}.png"))
        red, green, blue, _ = picture.pixels[:4]
        assert tuple(picture.size) == (8, 8) and red > 3.0 * max(green, blue)


def test_a_render_from_the_command_line_ends_with_an_error_status(tmp_path: Path) -> None:
    path = copied_without_cache(tmp_path, "STOP")
    script = (
        "import sys; sys.path.insert(0, 'tests/support'); import extension; extension.load(); import bpy, "
        "softpressure_ext; softpressure_ext.register(); bpy.ops.wm.open_mainfile(filepath=sys.argv[1]); "
        "bpy.ops.render.render(animation=True); print('rendered')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, path, "-a"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and "rendered\n" not in done.stdout, done.stdout + done.stderr
    assert "frame 1 is rendered without simulation" in done.stdout
    assert not (tmp_path / "frame0001.png").exists()
