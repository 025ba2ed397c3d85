"""Explicit steps refuse runs of too many steps, or that diverge, with a sentence and a remedy."""

import json
import re
import subprocess
import sys

import extension
import numpy as np
import pytest
import shapes
from explicit_scene import world_of
from softpressure_ext.core import FrameInput, ModelBuilder, SoftPressureError, World

#: What is wrong with the ball, and how its sentence gives the number.
CASES = {
    "pressure": r"1e\+?08|100000000",
    "keyed pressure": r"1e\+?08|100000000",
    "stiffness": r"1e\+?12|1000000000000",
    "mass": r"1e-0?6|0\.000001",
    "edge": r"\b1(\.0+)?e-0?6|9\.9+\d*e-0?7|0\.000001",
}
#: For all cases in one process [s]: a frame of what can be simulated takes less than one.
TIME = 60.0
REMEDY = r"\b(give|lower|raise|reduce|increase|choose|use|make|merge|scale|look)\b"


def ball(**changes: float) -> World:
    """A ball of 642 vertices over a floor; `edge` is the length of one of its edges [m]."""
    x, triangles = shapes.icosphere(3, 0.2, (0.0, 0.0, 0.25))
    if "edge" in changes:
        a, b = triangles[0, :2]
        along = x[b] - x[a]
        x[b] = x[a] + changes.pop("edge") / np.linalg.norm(along) * along
    options = {"mass": 0.1, "stretch_modulus": 1e5, "gauge_pressure": 2e3} | changes
    builder = ModelBuilder()
    builder.add_membrane("toy", x, triangles, **options)
    builder.add_collider("floor", *shapes.grid(4.0))
    return world_of(builder)


def provoke(case: str) -> World:
    """A world that has gone through three frames with what is wrong."""
    changed = {
        "pressure": {"gauge_pressure": 1e8}, "stiffness": {"stretch_modulus": 1e12}, "mass": {"mass": 1e-6},
        "edge": {"edge": 1e-6},
    }  # fmt: skip
    world = ball(**changed.get(case, {}))
    given = FrameInput(gauge_pressure={0: 1e8}) if case == "keyed pressure" else None
    for _ in range(3):
        world.advance_frame(given)
    return world


def report() -> None:
    """One line of JSON for every case: the error's class and what it says."""
    for case in CASES:
        answer = {"case": case, "error": "", "said": ""}
        try:
            finite = bool(np.isfinite(provoke(case).save().positions).all())
            answer["said"] = "nothing" if finite else "nothing, and gave positions that are not finite"
        except SoftPressureError as error:
            answer |= {"error": type(error).__name__, "said": str(error)}
        print(json.dumps(answer), flush=True)


@pytest.fixture(scope="module")
def answers() -> dict[str, dict[str, str]]:
    """What was answered in time, by case. In a process of its own, which can be stopped."""
    code = f"import extension; extension.load(); import runpy; runpy.run_path({__file__!r})['report']()"
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=extension.FOLDER, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            output, _ = process.communicate(timeout=TIME)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
    found = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return {answer["case"]: answer for answer in found}


@pytest.mark.parametrize("case", CASES)
def test_runs_of_too_many_steps_are_refused(case: str, answers: dict[str, dict[str, str]]) -> None:
    assert case in answers, f"no answer within {TIME:g} s"
    answer = answers[case]
    assert answer["error"] in ("ParameterError", "MeshError", "DivergenceError"), answer["said"]
    said = answer["said"]
    assert said.startswith("toy: ") and said.endswith("."), said
    assert re.search(CASES[case], said), f"the value is not in: {said}"
    assert re.search(REMEDY, said, re.IGNORECASE), f"no remedy in: {said}"


def test_a_refused_pressure_leaves_the_world_as_it_was() -> None:
    world = ball()
    world.advance_frame()
    before, again = world.save(), ball()
    again.load(before)
    with pytest.raises(SoftPressureError):
        for _ in range(3):
            world.advance_frame(FrameInput(gauge_pressure={0: 1e8}))
    world.load(before)
    world.advance_frame(FrameInput(gauge_pressure={0: 2e3}))
    again.advance_frame()
    np.testing.assert_array_equal(world.positions(0), again.positions(0))
