"""Preparing the kernels of a scene: compiled by another process where no file has them, then loaded."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import extension
import pytest
import shapes
from explicit_scene import SOLVER
from softpressure_ext.core import (
    MethodOptions,
    ModelBuilder,
    SoftPressureError,
    World,
    kernel_store,
    part_scenes,
    prepare,
)

FLOOR = [(-2.0, -2.0, 0.0), (2.0, -2.0, 0.0), (0.0, 3.0, 0.0)], [(0, 1, 2)]

#: A ball falls on a floor, as in a scene of a user's second start; the last line says what was compiled for it.
SECOND_START = """
import numba
settings = {name: getattr(numba.config, name) for name in dir(numba.config) if name.isupper()}
import extension
extension.ALIAS = "installed_elsewhere"
extension.load()
import shapes
from installed_elsewhere.core import FrameInput, ModelBuilder, World, prepare
jobs = prepare.jobs_for(["SKIN"], "SOLVER")
is_compiled = prepare.is_compiled(jobs)
for _ in prepare.prepare(jobs):
    pass
builder = ModelBuilder()
ball = shapes.icosphere(3, 0.1, (0.0, 0.0, 0.101))
builder.add_membrane("ball", *ball, gauge_pressure=500.0, pressure_at="REST", drawn_shape="INFLATED")
builder.add_collider("floor", [(-2.0, -2.0, 0.0), (2.0, -2.0, 0.0), (0.0, 3.0, 0.0)], [(0, 1, 2)])
world = World(builder.build(), solver="SOLVER")
for frame in range(3):
    world.advance_frame(FrameInput(gauge_pressure={0: 500.0 + 100.0 * frame}))
changed = [name for name, value in settings.items() if getattr(numba.config, name) != value]
print(is_compiled, prepare.compiled_names(), changed)
"""


@pytest.fixture
def unprepared(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if this process had prepared nothing yet."""
    monkeypatch.setattr(prepare, "_prepared", set())
    monkeypatch.setattr(prepare, "_failure", None)


@pytest.fixture
def empty_folder(unprepared: None, tmp_path: Path) -> Iterator[Path]:
    """A folder of kernels that holds none."""
    before = kernel_store._user_folder
    kernel_store.use_folder(tmp_path / "kernels")
    yield tmp_path / "kernels"
    kernel_store._user_folder = before


def ball_on_floor() -> ModelBuilder:
    builder = ModelBuilder()
    builder.add_membrane("ball", *shapes.icosphere(1, 0.1, (0.0, 0.0, 0.2)), gauge_pressure=500.0)
    builder.add_collider("floor", *FLOOR)
    return builder


@pytest.mark.parametrize("solver", ["XPBD", SOLVER])
def test_another_process_and_package_loads_compiled_kernels_and_changes_no_setting_of_numba(solver: str) -> None:
    for _ in prepare.prepare(prepare.jobs_for(["SKIN"], solver)):
        pass
    script = SECOND_START.replace("SOLVER", solver)
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=extension.FOLDER, capture_output=True, text=True, check=False
    )
    assert run.stdout.splitlines()[-1:] == ["True [] []"], run.stderr


@pytest.mark.slow  # of a method and all parts: the session `kernels`
def test_a_cold_start_compiles_in_another_process(empty_folder: Path) -> None:
    jobs = prepare.jobs_for(["RIGID"])
    assert not prepare.is_compiled(jobs) and not prepare.is_prepared(jobs)
    before = prepare.compile_count()
    reports = list(prepare.prepare(jobs))
    assert prepare.is_compiled(jobs) and prepare.is_prepared(jobs) and not prepare.is_running()
    assert prepare.compile_count() == before  # none of them here
    shares = [report.share for report in reports]
    assert shares == sorted(shares) and len(set(shares)) > 10
    assert reports[0].label.startswith("Compiling, once: about ") and reports[0].label.endswith(" s left")
    assert list(prepare.prepare(jobs)) == []  # the second time there is nothing to do
    builder = ModelBuilder()
    block, faces = part_scenes.box(1)
    for number in range(2):
        builder.add_rigid(f"block {number}", block + (0.1 * number, 0.0, 0.01 + 1.02 * number), faces)
    builder.add_collider("floor", *FLOOR)
    world = World(builder.build())
    for _ in range(4):
        world.advance_frame()
    assert world.diagnostics().contact_count > 0 and prepare.compile_count() == before


def test_kernels_to_prepare_follow_from_the_parts_of_the_scene() -> None:
    def parts(builder: ModelBuilder) -> set[str]:
        return prepare.parts_of(builder.build())

    builder = ball_on_floor()
    assert parts(builder) == {"SKIN"}
    builder.add_membrane("other", *shapes.icosphere(1, 0.1, (0.0, 0.0, 0.6)), self_collision=True)
    assert parts(builder) == {"SKIN", "SELF_CONTACT"} or parts(builder) == {"SKIN", "LATTICE", "SELF_CONTACT"}
    builder.add_rigid("block", *part_scenes.box(1))
    assert {"SKIN", "COUPLED"} <= parts(builder) and "RIGID" not in parts(builder)
    blocks = ModelBuilder()
    blocks.add_rigid("block", *part_scenes.box(1))
    assert parts(blocks) == {"RIGID"}
    blocks.add_rigid("ball", *shapes.icosphere(2, 0.1, (0.0, 0.0, 2.0)))  # too many faces for separating axes
    assert parts(blocks) == {"COUPLED"}
    jelly = ModelBuilder()
    jelly.add_solid("jelly", *part_scenes.box(1), cell_size=0.5)
    assert parts(jelly) == {"LATTICE"}
    loop = ModelBuilder()
    loop.add_loop("loop", [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)], [(0, 1), (1, 2), (2, 0)])
    assert parts(loop) == {"FLAT"}
    crossed = ball_on_floor()
    crossed.add_membrane("other", *shapes.icosphere(2, 0.1, (0.0, 0.0, 0.0)))
    assert parts(crossed) == {"SKIN", "CROSSED"}
    sticky = ball_on_floor()
    sticky.add_membrane("other", *shapes.icosphere(1, 0.1, (0.0, 0.0, 0.6)), sticks=True)
    assert parts(sticky) == {"SKIN", "CROSSED"}


def test_what_shares_kernels_is_compiled_by_one_process() -> None:
    jobs = prepare.jobs_for(["SKIN", "CROSSED", "LATTICE", "SIMULATION_MESH", "COUPLED"])
    assert sorted(prepare.dealt(jobs, 1)[0]) == sorted(jobs)
    large, small = prepare.dealt(jobs, 2)
    assert [job.part for job in small] == ["SIMULATION_MESH"] and sorted(large + small) == sorted(jobs)
    assert prepare.dealt(prepare.jobs_for(["SKIN", "FLAT"]), 2) == [list(prepare.jobs_for(["SKIN", "FLAT"]))]


def test_options_are_prepared_one_by_one() -> None:
    assert prepare.jobs_for({"SELF_CONTACT", "SKIN"}, "EXPLICIT") == (
        prepare.Job("SKIN", "EXPLICIT"),
        prepare.Job("SELF_CONTACT", "EXPLICIT"),
    )
    options = MethodOptions(volume="BOUNDING_BOX", ramp_time=2.0, stiffest_spring=7.0)
    jobs = prepare.jobs_for({"LATTICE"}, "HEUN", options)
    assert jobs == (
        prepare.Job("LATTICE", "HEUN"),
        prepare.Job("SKIN", "HEUN", "BOUNDING_BOX"),
        prepare.Job("SKIN", "HEUN", "RAMP"),
    )
    assert set(jobs) <= set(prepare.all_jobs())
    names = [job.name for job in prepare.all_jobs()]
    assert len(set(names)) == len(names)


def test_a_preparation_that_fails_says_so_and_leaves_no_mark(
    empty_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "compile.py").write_text("import sys; sys.exit('no space left on device')")
    monkeypatch.setattr(prepare, "__file__", str(tmp_path / "prepare.py"))
    jobs = prepare.jobs_for(["RIGID"])
    with pytest.raises(SoftPressureError, match=r"Solver: compiling it failed. no space left on device Try again"):
        list(prepare.prepare(jobs))
    assert "no space" in str(prepare.failure())
    assert not prepare.is_prepared(jobs) and not prepare.is_compiled(jobs)


def test_a_compiler_that_cannot_be_started_says_so(
    empty_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    with pytest.raises(SoftPressureError, match=r"Solver: compiling it failed\. .*nothing.* Try again"):
        list(prepare.prepare(prepare.jobs_for(["RIGID"])))


def test_a_second_compiler_that_cannot_be_started_ends_the_first(
    empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, popen = [], prepare.subprocess.Popen

    def start(*given: Any, **options: Any) -> Any:
        if started:
            raise OSError("out of memory")
        started.append(popen(*given, **options))
        return started[0]

    monkeypatch.setattr(prepare.subprocess, "Popen", start)
    monkeypatch.setattr(prepare.os, "cpu_count", lambda: 2)
    jobs = prepare.jobs_for(["SKIN", "SIMULATION_MESH"])
    with pytest.raises(SoftPressureError, match=r"Solver: compiling it failed\. out of memory Try again"):
        list(prepare.prepare(jobs))
    assert len(started) == 1 and started[0].returncode is not None and not prepare.is_compiled(jobs)


def test_a_method_that_refuses_a_scene_is_prepared_all_the_same(unprepared: None) -> None:
    jobs = prepare.jobs_for(["SKIN"], "XPBD", MethodOptions(detection="FEATURE_PARTICLES"))
    for _ in prepare.prepare(jobs):
        pass
    assert prepare.is_prepared(jobs)


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="no priorities of this kind")
def test_what_nobody_waits_for_is_compiled_at_low_priority_and_gives_way(
    empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = prepare.jobs_for(["RIGID"])
    prepare.start_early(jobs)
    early = prepare._early
    assert early is not None and not prepare.is_running()  # so no panel tells of it
    until = time.monotonic() + 60.0
    while os.getpriority(os.PRIO_PROCESS, early.pid) < 19:
        assert time.monotonic() < until and early.poll() is None
        time.sleep(0.05)
    prepare.start_early(jobs)
    assert prepare._early is early  # once
    monkeypatch.setattr(prepare, "_run", lambda jobs: None)
    prepare.start(jobs)  # someone waits
    assert early.poll() is not None and prepare._early is None
