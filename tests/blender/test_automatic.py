"""AUTO in Blender: a run keeps its choice, wherever it is continued; the panel shows it; old files keep their
method.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import pytest
import softpressure_ext
from bpy_panels import drawn
from bpy_scene import FallingWorld, add_ball, empty_file, falling, play, this_session  # noqa: F401
from softpressure_ext.core import Choice, prepare
from softpressure_ext.core.solvers import automatic
from softpressure_ext.panels import scene as scene_panels
from softpressure_ext.softpressure import command, disk, fingerprint, handlers, status, versions

EXPLICIT = Choice("EXPLICIT", 74, 6.17, 0.008)
IMPLICIT = Choice("IMPLICIT", 10, 0.36, 0.0)
Chosen = Callable[[Choice | None], None]


@pytest.fixture
def chosen(falling: type[FallingWorld], monkeypatch: pytest.MonkeyPatch) -> Chosen:  # noqa: F811
    """What is chosen from now on; None: nothing may be."""

    def set_choice(choice: Choice | None) -> None:
        monkeypatch.setattr(automatic, "choose", lambda *_: choice or pytest.fail("chosen anew"))

    monkeypatch.setattr(prepare, "is_compiled", lambda *_: True)
    set_choice(EXPLICIT)
    return set_choice


def settings() -> Any:
    return bpy.context.scene.softpressure


def texts() -> list[str]:
    return status.choice_texts(bpy.context.scene)


def save_and_open(folder: Path) -> Path:
    """The scene from a file; returns the folder of its cache."""
    path = folder / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    cache = disk.path_of(bpy.context.scene)
    assert cache is not None
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return cache.parent


# --- a run keeps its choice ----------------------------------------------------------------------------------------


@pytest.mark.smoke
def test_a_run_has_the_choice_of_its_start(chosen: Chosen) -> None:
    add_ball()
    play(1, 4)
    chosen(None)
    play(1, 6)  # passing the first frame keeps the run
    assert [world.choice for world in FallingWorld.made] == [EXPLICIT]
    assert this_session().choice == this_session().cache.choice == EXPLICIT
    assert json.loads(settings().run_choice)["choice"]["solver"] == "EXPLICIT"


def test_a_run_repeated_has_the_same_choice_and_one_of_another_scene_a_new_one(chosen: Chosen) -> None:
    ball = add_ball()
    play(1, 4)
    chosen(None)
    bpy.ops.softpressure.reset()
    play(1, 3)
    assert [world.choice for world in FallingWorld.made] == [EXPLICIT, EXPLICIT]
    chosen(IMPLICIT)
    ball.softpressure.mass = 3.0
    play(1, 3)
    assert FallingWorld.made[-1].choice == this_session().cache.choice == IMPLICIT
    assert json.loads(settings().run_choice)["choice"]["solver"] == "IMPLICIT"


@pytest.mark.parametrize("has_cache", [True, False])
def test_a_file_goes_on_and_is_simulated_elsewhere_with_the_stored_choice(
    chosen: Chosen, tmp_path: Path, has_cache: bool
) -> None:
    add_ball()
    play(1, 4)
    folder = save_and_open(tmp_path)
    if not has_cache:
        shutil.rmtree(folder)
        bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
        assert this_session().cache is None
    assert texts()[0].startswith("Explicit, 74 steps")
    chosen(None)
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert this_session().cache.last_frame == 10
    assert [world.choice for world in FallingWorld.made] == [EXPLICIT, EXPLICIT]
    assert FallingWorld.made[1].state.frame == 9  # of which three are loaded where there is a cache
    assert len(FallingWorld.made[1].given) == (6 if has_cache else 9)


def test_a_stored_choice_that_cannot_be_read_is_made_anew(chosen: Chosen) -> None:
    add_ball()
    play(1, 2)
    whole = settings().run_choice
    for text in ("{", "[]", "{}", whole.replace("EXPLICIT", "NEWER"), whole.replace("steps_per_frame", "steps")):
        bpy.ops.softpressure.reset()
        this_session().clear()
        settings().run_choice = text
        assert texts() == ["Chosen when the first frame is simulated"]
        play(1, 2)
        assert settings().run_choice == whole and FallingWorld.made[-1].choice == EXPLICIT


def test_a_named_method_stores_nothing(chosen: Chosen) -> None:
    add_ball()
    play(1, 2)
    chosen(None)
    settings().solver = "XPBD"
    play(1, 2)
    assert FallingWorld.made[-1].choice is None and this_session().cache.choice is None
    assert settings().run_choice == ""


def test_added_mass_makes_caches_of_methods_that_add_it_out_of_date() -> None:
    scene = bpy.context.scene
    add_ball()
    for method, is_named in (("AUTO", True), ("IMPLICIT", False), ("XPBD", False)):
        settings().solver, settings().added_mass = method, 1.0
        before = fingerprint.of_inputs(scene)
        settings().added_mass = 3.0
        assert (fingerprint.of_inputs(scene) != before) == is_named
    settings().added_mass = 20.0
    assert settings().added_mass == 10.0


# --- what is told --------------------------------------------------------------------------------------------------


def rows() -> list[str]:
    """The panel Method in a wide sidebar, as far as the volume."""
    found = drawn(scene_panels.SOFTPRESSURE_PT_method, width=900)
    return found[: found.index("volume_rule")]


def test_the_panel_shows_the_choice_and_makes_none(chosen: Chosen) -> None:
    add_ball()
    chosen(None)
    assert rows() == ["solver", "Chosen when the first frame is simulated", "added_mass"]
    chosen(EXPLICIT)
    play(1, 2)
    chosen(None)
    told = ["Explicit, 74 steps per frame, about 6.2 ms", "Added mass 0.8 %"]
    assert rows() == ["solver", *told, "added_mass"]
    settings().solver = "XPBD"
    assert rows() == ["solver", "Needs many more substeps."]
    settings().solver = "IMPLICIT"
    assert rows() == ["solver"]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (Choice("IMPLICIT", 10, 0.364, 0.0), ["Implicit, 10 steps per frame, about 0.4 ms"]),
        (Choice("RIGID", 1, 0.0042, 0.0), ["Rigid impulses, 1 step per frame, about 0.004 ms"]),
        (Choice("EXPLICIT", 2048, 1234.0, 0.005), ["Explicit, 2048 steps per frame, about 1200 ms"]),
        (Choice("EXPLICIT", 74, 16.0, 0.0051), ["Explicit, 74 steps per frame, about 16 ms", "Added mass 0.51 %"]),
        (Choice("EXPLICIT", 74, 16.0, 0.1), ["Explicit, 74 steps per frame, about 16 ms", "Added mass 10 %"]),
    ],
)
def test_the_sentences_about_a_choice(choice: Choice, expected: list[str]) -> None:
    this_session().choice = choice
    assert texts() == expected


def test_the_command_prints_the_choice(chosen: Chosen, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    add_ball()
    file = tmp_path / "ball.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    assert command.run(["bake", str(file), "--frames=1:3"]) == 0
    assert "softpressure: Scene: Explicit, 74 steps per frame, about 6.2 ms\n" in capfd.readouterr().out


# --- files of earlier versions -------------------------------------------------------------------------------------


@pytest.fixture
def earlier(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Saves the file as a version did whose default was another one, and that noted no version."""

    def save(path: Path) -> None:
        for scene in bpy.data.scenes:
            scene.softpressure.property_unset("defaults_version")
        with monkeypatch.context() as patch:
            patch.setattr(versions, "CURRENT", 0)
            bpy.ops.wm.save_as_mainfile(filepath=str(path))

    return save


@pytest.mark.smoke
def test_a_file_of_an_earlier_version_keeps_its_method(
    falling: Any,  # noqa: F811
    earlier: Callable[[Path], None],
    tmp_path: Path,
) -> None:
    add_ball("Default")
    other, empty = bpy.data.scenes.new("Other"), bpy.data.scenes.new("Empty")
    bpy.context.window.scene = other
    add_ball("Ball")
    other.softpressure.solver = "XPBD"
    assert not empty.softpressure.is_property_set("solver")
    earlier(tmp_path / "scene.blend")
    for _ in range(2):
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
        found = {scene.name: scene.softpressure.solver for scene in bpy.data.scenes}
        assert found == {"Scene": "IMPLICIT", "Other": "XPBD", "Empty": "AUTO"}
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))


def test_a_scene_appended_from_an_earlier_file_keeps_its_method(
    earlier: Callable[[Path], None], tmp_path: Path
) -> None:
    if not hasattr(bpy.app.handlers, "blend_import_post"):
        pytest.skip("this Blender does not tell of what is appended")
    add_ball()
    bpy.context.scene.name = "Old"
    earlier(tmp_path / "old.blend")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    add_ball()
    bpy.ops.wm.append(filename="Old", directory=f"{tmp_path / 'old.blend'}/Scene/")
    assert {scene.name: scene.softpressure.solver for scene in bpy.data.scenes} == {"Scene": "AUTO", "Old": "IMPLICIT"}


def test_a_file_of_this_version_keeps_auto(falling: Any, tmp_path: Path) -> None:  # noqa: F811
    ball = add_ball()
    assert settings().defaults_version == versions.CURRENT
    copy = bpy.data.scenes.new("Copy")
    copy.collection.objects.link(ball)  # noted when it is saved
    save_and_open(tmp_path)
    for scene in bpy.data.scenes:
        assert scene.softpressure.solver == "AUTO" and not scene.softpressure.is_property_set("solver")
        assert scene.softpressure.defaults_version == versions.CURRENT


def test_a_file_that_is_open_when_the_extension_is_updated_keeps_its_method() -> None:
    add_ball()
    handlers.on_enable()
    assert settings().solver == "AUTO"
    settings().property_unset("defaults_version")
    handlers.on_enable()
    assert settings().solver == "IMPLICIT" and settings().defaults_version == versions.CURRENT
    softpressure_ext.unregister()
    assert not bpy.app.timers.is_registered(handlers.on_enable)
    softpressure_ext.register()
    assert bpy.app.timers.is_registered(handlers.on_enable)
