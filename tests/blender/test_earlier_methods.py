"""Methods of earlier versions, in files and scripts, become the present one; the panel says so."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import pytest
import softpressure_ext
from bpy_panels import drawn
from bpy_scene import FallingWorld, add_ball, play
from bpy_seen import told
from softpressure_ext.panels import scene as scene_panels
from softpressure_ext.softpressure import handlers
from softpressure_ext.softpressure.cache import disk
from softpressure_ext.softpressure.reports import status
from softpressure_ext.softpressure.state import versions

SOLVER = "EXPLICIT"


def settings() -> Any:
    return bpy.context.scene.softpressure


def save_and_open(folder: Path) -> Path:
    """The scene from a file; returns the path of its cache."""
    path = folder / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    cache = disk.path_of(bpy.context.scene)
    assert cache is not None
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return cache


def hold_number(scene: Any, number: int) -> None:
    """Let a scene hold the number of a method as a file of an earlier version does."""
    group = scene.softpressure
    stored = group.bl_system_properties_get(do_create=True) if hasattr(group, "bl_system_properties_get") else group
    stored["solver"] = number


@pytest.fixture
def earlier(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, int], None]:
    """Saves the file as a version of other defaults did; version 0 was not noted."""

    def save(path: Path, version: int) -> None:
        for scene in bpy.data.scenes:
            scene.softpressure.property_unset("defaults_version")
        with monkeypatch.context() as patch:
            patch.setattr(versions, "CURRENT", version)
            bpy.ops.wm.save_as_mainfile(filepath=str(path))

    return save


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("version", "number", "asked"),
    [(0, None, "Implicit"), (1, None, "Automatic"), (2, None, "Automatic"), (2, 0, "Implicit"), (2, 8, "Automatic")],
)
def test_a_file_of_an_earlier_version_has_the_present_method_and_says_so(
    falling: Any, earlier: Callable[[Path, int], None], tmp_path: Path, version: int, number: int | None, asked: str
) -> None:
    add_ball()
    if number is not None:
        hold_number(bpy.context.scene, number)
    earlier(tmp_path / "scene.blend", version)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    assert settings().solver == SOLVER and settings().defaults_version == versions.CURRENT
    sentence = f"This file used the method {asked}, which was removed. Soft Pressure simulates it now."
    assert told().startswith(sentence)
    assert sentence.split()[-1] in " ".join(drawn(scene_panels.Simulation, width=2000))
    play(1, 2)
    assert FallingWorld.made[-1].solver == SOLVER and sentence in told()
    settings().solver = "XPBD"
    assert sentence not in told()
    settings().solver = SOLVER
    save_and_open(tmp_path)  # now it is a file of this version
    assert settings().solver == SOLVER and sentence not in told()


def test_other_methods_and_scenes_without_bodies_stay(earlier: Callable[[Path, int], None], tmp_path: Path) -> None:
    add_ball()
    settings().solver = "XPBD"
    other, empty = bpy.data.scenes.new("Other"), bpy.data.scenes.new("Empty")
    bpy.context.window.scene = other
    add_ball("Ball")
    other.softpressure.solver = SOLVER
    assert not empty.softpressure.is_property_set("solver")
    earlier(tmp_path / "scene.blend", 2)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    found = {scene.name: scene.softpressure.solver for scene in bpy.data.scenes}
    assert found == {"Scene": "XPBD", "Other": SOLVER, "Empty": SOLVER}
    assert not any(status.earlier_texts(scene) for scene in bpy.data.scenes)


def test_a_scene_appended_from_an_earlier_file_says_so(earlier: Callable[[Path, int], None], tmp_path: Path) -> None:
    if not hasattr(bpy.app.handlers, "blend_import_post"):
        pytest.skip("this Blender does not tell of what is appended")
    add_ball()
    bpy.context.scene.name = "Old"
    earlier(tmp_path / "old.blend", 0)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    add_ball()
    bpy.ops.wm.append(filename="Old", directory=f"{tmp_path / 'old.blend'}/Scene/")
    assert {scene.name: bool(status.earlier_texts(scene)) for scene in bpy.data.scenes} == {"Scene": False, "Old": True}


def test_a_file_of_this_version_stores_no_default(falling: Any, tmp_path: Path) -> None:
    ball = add_ball()
    assert settings().defaults_version == versions.CURRENT
    copy = bpy.data.scenes.new("Copy")
    copy.collection.objects.link(ball)  # noted when it is saved
    save_and_open(tmp_path)
    for scene in bpy.data.scenes:
        assert scene.softpressure.solver == SOLVER and not scene.softpressure.is_property_set("solver")
        assert scene.softpressure.defaults_version == versions.CURRENT and not status.earlier_texts(scene)


def test_a_file_that_is_open_when_the_extension_is_updated_is_told_of() -> None:
    add_ball()
    handlers.on_enable()
    assert not status.earlier_texts(bpy.context.scene)
    settings().property_unset("defaults_version")
    handlers.on_enable()
    assert settings().solver == SOLVER and settings().defaults_version == versions.CURRENT
    assert "the method Implicit" in status.earlier_texts(bpy.context.scene)[0]
    softpressure_ext.unregister()
    assert not bpy.app.timers.is_registered(handlers.on_enable)
    softpressure_ext.register()
    assert bpy.app.timers.is_registered(handlers.on_enable)


@pytest.mark.parametrize(("name", "asked"), [("AUTO", "Automatic"), ("IMPLICIT", "Implicit")])
def test_a_script_may_name_a_method_of_earlier_versions(name: str, asked: str) -> None:
    add_ball()
    settings().solver = "XPBD"
    settings().solver = name
    assert settings().solver == SOLVER and f"used the method {asked}" in told()
    settings().solver = SOLVER
    assert "asked for" not in told()
    with pytest.raises(TypeError, match="FASTEST"):
        settings().solver = "FASTEST"
    assert settings().solver == SOLVER


def test_a_method_of_no_version_becomes_the_engine(tmp_path: Path) -> None:
    add_ball()
    hold_number(bpy.context.scene, 99)
    save_and_open(tmp_path)
    assert settings().solver == SOLVER
