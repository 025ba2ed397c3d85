"""Preparing the kernels: afterwards nothing is left to compile, in this process and in the next."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from numba.core import event
from softpressure_ext.core import FrameInput, MethodOptions, ModelBuilder, ParameterError, World, prepare

#: A ball falls on a floor, as in a scene of a user's second start; the last line says what was compiled for it.
SECOND_START = """
import extension
extension.load()
import shapes
from softpressure_ext.core import ModelBuilder, World, prepare
builder = ModelBuilder()
builder.add_membrane("ball", *shapes.icosphere(3, 0.1, (0.0, 0.0, 0.101)), gauge_pressure=500.0)
builder.add_collider("floor", [(-2.0, -2.0, 0.0), (2.0, -2.0, 0.0), (0.0, 3.0, 0.0)], [(0, 1, 2)])
is_prepared = prepare.is_prepared("SOLVER")
world = World(builder.build(), solver="SOLVER")
for _ in range(3):
    world.advance_frame()
assert world.diagnostics().counts is not None
print(is_prepared, prepare.compile_count())
"""


def signature_count() -> int:
    return sum(len(kernel.signatures) for kernel in prepare._kernels())


@pytest.fixture
def unprepared(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nothing had ever been prepared on this machine."""
    monkeypatch.setattr(prepare, "_prepared", set())
    monkeypatch.setattr(prepare, "_mark", lambda _: None)


@pytest.fixture
def kept_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """An empty folder of kernels; all scenes of the preparation are left out."""
    monkeypatch.setattr(prepare, "_prepared", set())
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(prepare, "_simulate_everything", lambda *_: None)
    yield tmp_path
    monkeypatch.setattr(prepare, "_failure", None)


def forget() -> None:
    """What only this process knows."""
    prepare._prepared.clear()


@pytest.mark.usefixtures("unprepared")
@pytest.mark.parametrize("solver", ["IMPLICIT", "XPBD"])
def test_after_preparing_a_scene_compiles_nothing(solver: str) -> None:
    reports = list(prepare.prepare(solver))
    assert prepare.is_prepared(solver) and not prepare.is_running()
    assert reports[-1][0] == reports[-1][1] == len(prepare._kernels()) > 20
    done = [report[0] for report in reports]
    assert done == sorted(done)
    assert list(prepare.prepare(solver)) == reports[-1:]  # the second time there is nothing to do

    before = signature_count()
    positions, triangles = prepare._box(20)  # 2 402 vertices: several threads
    builder = ModelBuilder(ambient_pressure=0.0)
    builder.add_membrane("low", positions + (0.0, 0.0, 0.01), triangles, gauge_pressure=100.0)
    builder.add_membrane("high", positions + (0.2, 0.1, 1.05), triangles, bend_modulus=0.1, pinned=[3], damping=2.0)
    corners = np.array([(-5.0, -5.0, 0.0), (5.0, -5.0, 0.0), (0.0, 6.0, 0.0)])
    builder.add_collider("floor", corners, np.array([(0, 1, 2)]), bounciness=0.3)
    world = World(builder.build(), solver=solver)
    for frame in range(4):
        moved = {0: corners + (0.0, 0.0, 0.001 * frame)}
        world.advance_frame(FrameInput(gauge_pressure={0: 120.0}, collider_positions=moved))
    assert world.diagnostics().contact_count > 0
    solids = ModelBuilder()
    ball = solids.add_membrane("skin", *prepare._box(3), gauge_pressure=500.0)
    block, faces = prepare._box(2)
    for number in range(2):
        solids.add_rigid(f"block {number}", 0.5 * block + (1.3, 0.1 * number, 0.01 + 0.503 * number), faces)
    solids.attach_to_rigid(ball, [5, 6], 0)
    solids.add_collider("floor", corners, np.array([(0, 1, 2)]))
    world = World(solids.build(), solver=solver)
    for _ in range(4):
        world.advance_frame()
    assert world.diagnostics().contact_count > 0
    jelly = ModelBuilder()
    positions, triangles = prepare._box(2)
    jelly.add_solid("jelly", positions + (0.0, 0.0, 0.02), triangles, cell_size=0.3)
    jelly.add_collider("floor", corners, np.array([(0, 1, 2)]))
    world = World(jelly.build(), solver=solver)
    for _ in range(2):
        world.advance_frame()
    assert signature_count() == before


@pytest.mark.parametrize("solver", ["IMPLICIT", "XPBD"])
def test_a_second_start_compiles_nothing_and_need_not_prepare(solver: str) -> None:
    for _ in prepare.prepare(solver):
        pass
    script = SECOND_START.replace("SOLVER", solver)
    folder = Path(__file__).resolve().parent
    run = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=False)
    assert run.stdout.splitlines()[-1:] == ["True 0"], run.stderr


def test_the_mark_tells_the_next_process_of_this_method_alone(kept_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not prepare.is_prepared()
    assert [label for _, _, label in prepare.prepare()][-1] == "Solver is prepared"
    assert len(list(kept_in.iterdir())) == 1
    forget()
    assert prepare.is_prepared()
    assert not prepare.is_prepared("XPBD")
    assert not prepare.is_prepared(options=MethodOptions(volume="BOUNDING_BOX"))
    ramp = MethodOptions(ramp_time=0.5)
    assert not prepare.is_prepared(options=ramp)
    list(prepare.prepare(options=ramp))
    forget()
    assert prepare.is_prepared(options=MethodOptions(ramp_time=2.0, stiffest_spring=7.0))  # the same kernels
    forget()
    monkeypatch.setattr(numba, "__version__", "another")
    assert not prepare.is_prepared()


def test_changed_code_is_prepared_again(kept_in: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    source = tmp_path / "code" / "prepare.py"
    source.write_text("old")
    monkeypatch.setattr(prepare, "__file__", str(source))
    list(prepare.prepare())
    forget()
    assert prepare.is_prepared()
    source.write_text("changed")
    forget()
    assert not prepare.is_prepared()


def test_a_preparation_that_fails_says_so_and_leaves_no_mark(kept_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(prepare, "_simulate_everything", fail)
    with pytest.raises(OSError, match="no space"):
        list(prepare.prepare())
    assert "no space" in str(prepare.failure())
    assert not prepare.is_prepared() and not list(kept_in.iterdir())


def test_a_method_that_refuses_a_scene_is_prepared_with_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    called = []

    def refuse(make: object) -> None:
        called.append(make)
        raise ParameterError("not with this method")

    for name in ("_skins", "_solids", "_solids_alone", "_touch_itself", "_jelly"):
        monkeypatch.setattr(prepare, name, refuse)
    prepare._simulate_everything("XPBD", MethodOptions())
    assert len(called) == 5


def test_the_first_kernel_to_be_compiled_is_told_once_and_only_if_it_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    monkeypatch.setattr(prepare._compiles, "call", None)
    monkeypatch.setattr(prepare._compiles, "count", 0)
    prepare.on_first_compile(lambda: told.append(prepare.compile_count()))
    assert prepare.progress()[2] == prepare.LOADING

    def begin(module: str) -> None:
        dispatcher = SimpleNamespace(py_func=SimpleNamespace(__module__=module))
        event.broadcast(event.Event("numba:compile", event.EventStatus.START, data={"dispatcher": dispatcher}))

    begin("somebody.elses")
    assert told == []
    begin("softpressure_ext.core.forces.gas")
    begin("softpressure_ext.core.forces.bend")
    assert told == [1] and prepare.compile_count() == 2
    assert prepare.progress()[2] == prepare.COMPILING


def test_the_box_is_closed_and_of_unit_volume() -> None:
    from softpressure_ext.core import check_closed_surface
    from softpressure_ext.core.topology import signed_volume

    positions, triangles = prepare._box(3)
    check_closed_surface("box", positions, triangles)
    assert abs(signed_volume(positions, triangles) - 1.0) < 1e-12
