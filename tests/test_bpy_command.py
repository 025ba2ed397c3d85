"""`blender --command softpressure ...`, its function called as Blender calls it."""

from pathlib import Path

import bpy
import pytest
from softpressure_ext.softpressure import command


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "action"),
        (["bake"], "file"),
        (["bounce", "x.blend"], "invalid choice"),
        (["bake", "x.blend", "--frames", "12"], "'12' is no frame range"),
        (["bake", "x.blend", "--frames=9:3"], "'9:3' is no frame range"),
        (["bake", "x.blend", "--speed=2"], "--speed=2"),
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


def test_help_is_a_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(["bake", "--help"]) == 0
    assert "--frames" in capsys.readouterr().out
