"""What the last frames took, in the panel and on the command line."""

import re
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from bpy_panels import drawn
from bpy_scene import add_ball, empty_file, falling, play, this_session  # noqa: F401
from softpressure_ext.panels import scene as scene_panels
from softpressure_ext.softpressure.batch import command
from softpressure_ext.softpressure.reports import status
from softpressure_ext.softpressure.state import measurements, sessions


def texts() -> list[str]:
    return status.pace_texts(bpy.context.scene)


def take(*steps: float) -> None:
    """Let frames from 1 on have had so many steps; of the first body, the second one sleeps."""
    for frame, count in enumerate(steps, 1):
        row = np.full((2, len(measurements.COLUMNS)), np.nan)
        row[:, measurements.STEPS] = count, 0.0 * count  # none of the first frame is known
        this_session().measured[frame] = row


@pytest.mark.parametrize(
    ("seconds", "steps", "expected"),
    [
        ([], [], []),
        ([0.000364], [], ["0.4 ms per frame"]),
        ([0.00617], [np.nan, 74.0], ["6.2 ms and 74 steps per frame"]),
        ([1.234, 0.001, 1.0], [np.nan, 1.0, 1.0], ["1 s and 1 step per frame"]),
        ([0.9], [0.0], ["900 ms and 0 steps per frame"]),
        ([], [74.0, 80.0, 2000.0], ["80 steps per frame"]),  # from a cache that was read from disk
    ],
)
def test_the_sentence_is_of_a_frame_of_the_last_ones(
    seconds: list[float], steps: list[float], expected: list[str]
) -> None:
    this_session().seconds.extend(seconds)
    take(*steps)
    assert texts() == expected


def test_only_the_last_frames_count() -> None:
    this_session().seconds.extend([5.0] * 40 + [0.01] * sessions.LAST)
    take(*[900.0] * 40, *[70.0] * sessions.LAST)
    assert texts() == ["10 ms and 70 steps per frame"]
    this_session().clear()
    assert texts() == []


@pytest.mark.smoke
def test_the_panel_tells_of_a_run(tmp_path: Path) -> None:
    """A real one: each frame is timed, and its steps are those that are recorded."""
    panel = scene_panels.SOFTPRESSURE_PT_simulation
    ball = add_ball()
    assert not [text for text in drawn(panel) if "per frame" in text]
    play(1, 5)
    session = this_session()
    assert len(session.seconds) == 4 and min(session.seconds) > 0.0
    counts = {session.measured[frame][0][measurements.STEPS] for frame in range(2, 6)}
    assert len(counts) == 1 and counts.pop() > 1.0
    assert {*texts()} <= {*drawn(panel, width=900)}
    session.seconds.clear()
    steps = int(session.measured[5][0][measurements.STEPS])
    assert texts()[0] == f"{steps} steps per frame" and session.added_mass == session.world.added_mass
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "ball.blend"))
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    assert texts() == [f"{steps} steps per frame"]
    ball = bpy.data.objects[0]
    ball.softpressure.mass *= 0.25  # a quarter of the mass takes twice the steps
    ball.softpressure.gauge_pressure *= 0.25
    play(1, 4)
    assert int(this_session().measured[4][0][measurements.STEPS]) > 1.5 * steps


def test_the_command_prints_it(
    falling: Any,  # noqa: F811
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    add_ball()
    file = tmp_path / "ball.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    assert command.run(["bake", str(file), "--frames=1:3"]) == 0
    assert re.search(r"^softpressure: Scene: \d+(\.\d+)? ms per frame$", capfd.readouterr().out, re.MULTILINE)
