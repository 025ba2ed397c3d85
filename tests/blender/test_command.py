"""`blender --command softpressure ...`, its function called as Blender calls it."""

from pathlib import Path
from typing import Any

import bpy
import pytest
from bpy_scene import add_ball
from bpy_seen import rest, shown
from softpressure_ext.softpressure.batch import command

pytestmark = pytest.mark.usefixtures("falling")


def saved_ball(folder: Path) -> Path:
    """A file with one soft ball and ten frames."""
    add_ball()
    file = folder / "ball.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    return file


def sample_count(file: Path) -> int:
    """How many frames are baked into the ball of a file; opens it."""
    bpy.ops.wm.open_mainfile(filepath=str(file))
    keys: Any = bpy.data.objects["Ball"].data.shape_keys
    return 0 if keys is None else sum(key.name.startswith("SP Bake") for key in keys.key_blocks)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "action"),
        (["bake"], "file"),
        (["bounce", "x.blend"], "invalid choice"),
        (["bake", "x.blend", "--frames", "12"], "'12' is not a frame range"),
        (["bake", "x.blend", "--frames=9:3"], "'9:3' is not a frame range"),
        (["bake", "x.blend", "--speed=2"], "--speed=2"),
        (["export", "x.blend", "x.abc", "--frames=2"], "not a frame range"),
        (["export", "x.blend", "x.abc", "--error=-1"], "'-1' is not a length"),
        (["export", "x.blend", "x.abc", "--error=x"], "'x' is not a length"),
    ],
)
def test_wrong_words_are_refused_in_one_line(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.run(words) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert len(output.err.splitlines()) == 1
    assert output.err.startswith("softpressure: ") and complaint in output.err


def test_missing_file_and_folder_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(["bake", str(tmp_path / "none.blend")]) == 1
    assert capsys.readouterr().err.startswith(f"softpressure: {tmp_path / 'none.blend'}: no such file.")
    file = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file), copy=True)
    assert command.run(["bake", str(file), "--output", str(tmp_path / "nowhere" / "out.blend")]) == 1
    assert f"{tmp_path / 'nowhere'}: no such folder" in capsys.readouterr().err


def test_a_file_that_is_no_blend_file_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "text.blend"
    file.write_text("not a blend file")
    assert command.run(["bake", str(file)]) == 1
    assert "softpressure: File format is not supported" in capfd.readouterr().err


@pytest.mark.smoke
def test_bake_writes_a_new_file_and_leaves_the_given_one(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = saved_ball(tmp_path)
    before = file.read_bytes()
    assert command.run(["bake", str(file)]) == 0
    assert f"saved {tmp_path / 'ball_baked.blend'}" in capfd.readouterr().out
    assert file.read_bytes() == before
    assert sample_count(tmp_path / "ball_baked.blend") == 10


def test_bake_keeps_to_the_frames_and_the_output_it_is_given(tmp_path: Path) -> None:
    target = tmp_path / "out.blend"
    assert command.run(["bake", str(saved_ball(tmp_path)), "--frames", "3:6", "--output", str(target)]) == 0
    assert not (tmp_path / "ball_baked.blend").exists()
    assert sample_count(target) == 4
    ball = bpy.data.objects["Ball"]
    bpy.context.scene.frame_set(6)
    assert shown(ball)[:, 2].mean() < rest(ball)[:, 2].mean() - 0.05


def test_a_baked_file_can_be_baked_again_over_itself(tmp_path: Path) -> None:
    file = saved_ball(tmp_path)
    assert command.run(["bake", str(file), "--output", str(file)]) == 0
    assert command.run(["bake", str(file), "--frames=1:4", "--output", str(file)]) == 0
    assert sample_count(file) == 4


def test_a_file_without_soft_bodies_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "empty.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    assert command.run(["bake", str(file)]) == 1
    sentence = f"softpressure: {file}: holds no soft or rigid body. Open it in Blender and add one first."
    assert capsys.readouterr().err == f"{sentence}\n"


def test_a_body_that_cannot_be_simulated_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = saved_ball(tmp_path)
    bpy.data.objects["Ball"].scale = (0, 1, 1)
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    assert command.run(["bake", str(file)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("softpressure: Ball: ") and "scale" in error and len(error.splitlines()) == 1
    assert not (tmp_path / "ball_baked.blend").exists()
