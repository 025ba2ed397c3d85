"""What the last frames took, in the panel and on the command line."""

import re
from pathlib import Path
from typing import Any

import bpy
import pytest
from bpy_panels import drawn
from bpy_scene import add_ball, play, reopen, this_run
from softpressure_ext.panels import scene as scene_panels
from softpressure_ext.softpressure.batch import command
from softpressure_ext.softpressure.reports import status
from softpressure_ext.softpressure.state import measurements


def texts() -> list[str]:
    return status.pace_texts(bpy.context.scene)


@pytest.mark.smoke
def test_the_panel_tells_of_a_run(tmp_path: Path) -> None:
    """A real one: each frame is timed, and its steps are those that are recorded."""
    panel = scene_panels.SOFTPRESSURE_PT_simulation
    ball = add_ball()
    assert not [text for text in drawn(panel) if "per frame" in text]
    play(1, 5)
    run = this_run()
    assert len(run.seconds) == 4 and min(run.seconds) > 0.0
    counts = {run.measured[frame][0][measurements.STEPS] for frame in range(2, 6)}
    assert len(counts) == 1 and counts.pop() > 1.0
    assert {*texts()} <= {*drawn(panel, width=900)}
    run.seconds.clear()
    steps = int(run.measured[5][0][measurements.STEPS])
    assert texts()[0] == f"{steps} steps per frame" and run.added_mass == run.world.added_mass
    reopen(tmp_path)
    assert texts() == [f"{steps} steps per frame"]
    ball = bpy.data.objects[0]
    ball.softpressure.mass *= 0.25  # a quarter of the mass takes twice the steps
    ball.softpressure.gauge_pressure *= 0.25
    play(1, 4)
    assert int(this_run().measured[4][0][measurements.STEPS]) > 1.5 * steps


def test_the_command_prints_it(falling: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    add_ball()
    file = tmp_path / "ball.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    assert command.run(["bake", str(file), "--frames=1:3"]) == 0
    assert re.search(r"^softpressure: Scene: \d+(\.\d+)? ms per frame$", capfd.readouterr().out, re.MULTILINE)
