"""The panel Cache: place, sizes, deleting, and caches inside the .blend."""

import io
import shutil
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest
from bpy_scene import add_ball, frame, height, play, this_run, this_session, told
from softpressure_ext.operators.simulate import SOFTPRESSURE_OT_delete_cache
from softpressure_ext.softpressure import handlers
from softpressure_ext.softpressure.cache import disk, packing
from softpressure_ext.softpressure.reports import status

pytestmark = pytest.mark.usefixtures("falling")


def simulated(path: Path | None = None, **settings: Any) -> Any:
    """A ball that fell for ten frames, in a saved file if there is a path; `settings` of the scene."""
    ball = add_ball()
    for name, value in settings.items():
        setattr(bpy.context.scene.softpressure, name, value)
    bpy.ops.softpressure.simulate()
    if path is not None:
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return ball


def size_of(path: Path) -> int:
    return path.stat().st_size


@pytest.mark.smoke
def test_a_packed_cache_plays_where_the_file_is_copied_to(tmp_path: Path) -> None:
    simulated(tmp_path / "made.blend", pack_cache=True)
    assert packing.KEY not in bpy.context.scene
    frame(8)
    there = height(bpy.data.objects["Ball"])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    copied = shutil.copy(tmp_path / "made.blend", elsewhere / "copied.blend")
    bpy.ops.wm.open_mainfile(filepath=str(copied))
    scene, ball = bpy.context.scene, bpy.data.objects["Ball"]
    assert not disk.path_of(scene).exists() and packing.KEY not in scene
    assert this_run().cache.last_frame == 10 and not this_session().is_out_of_date(scene)
    frame(8)
    assert height(ball) == there
    scene.frame_end = 12
    frame(1)
    play(11, 12)
    assert this_run().cache.last_frame == 12 and this_session().refusals.error == ""  # it goes on from its state


@pytest.mark.smoke
def test_packing_is_undone_when_it_is_switched_off_and_saved(tmp_path: Path) -> None:
    path = tmp_path / "file.blend"
    simulated(path, pack_cache=True)
    packed = size_of(path)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    bpy.context.scene.softpressure.pack_cache = False
    bpy.ops.wm.save_mainfile()
    assert size_of(path) < packed
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert this_run().cache.last_frame == 10  # that on disk
    disk.path_of(bpy.context.scene).unlink()
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert this_run().cache is None


def test_of_two_caches_the_one_that_fits_the_file_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "file.blend"
    ball = simulated(path, pack_cache=True)
    place = disk.path_of(bpy.context.scene)
    fitting = place.read_bytes()
    ball.softpressure.mass = 3.0
    bpy.ops.softpressure.simulate()  # goes to disk; the file stays as it was saved
    assert place.read_bytes() != fitting
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert not this_session().is_out_of_date(bpy.context.scene)
    place.write_bytes(b"nonsense")
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert this_run().cache.last_frame == 10 and this_session().refusals.error == ""


@pytest.mark.parametrize("data", [b"nonsense", b"", 5, "text", [1, 2]])
def test_a_damaged_packed_cache_is_named_and_never_unpickled(tmp_path: Path, data: Any) -> None:
    path = tmp_path / "file.blend"
    simulated(path)
    disk.path_of(bpy.context.scene).unlink()
    this_session().clear()
    bpy.context.scene.softpressure.pack_cache = True
    bpy.context.scene[packing.KEY] = data
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert "cache in the .blend: not a readable cache" in told()
    play(1, 3)
    assert this_session().refusals.error == "" and this_run().cache.last_frame == 3


def test_a_pickled_object_in_the_file_is_refused(tmp_path: Path) -> None:
    file = io.BytesIO()
    np.savez(file, header=np.array([{"a": 1}], dtype=object))
    simulated(tmp_path / "file.blend")
    bpy.context.scene[packing.KEY] = file.getvalue()
    with pytest.raises(Exception, match="not a readable cache"):
        packing.read(bpy.context.scene, "")


def test_a_failed_save_leaves_nothing_in_memory(tmp_path: Path) -> None:
    simulated(tmp_path / "file.blend", pack_cache=True)
    with pytest.raises(RuntimeError):
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "none" / "file.blend"))
    assert packing.KEY not in bpy.context.scene


#: What a person may do to a file with frames, each once.
STEPS = ("save", "bake", "pack", "move", "reopen")


def do(step: str, path: Path) -> Path:
    """Take a step with a file; returns where it is now. A file that was never saved cannot be moved or opened again."""
    if step == "save":
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
    elif step == "bake":
        assert bpy.ops.softpressure.bake() == {"FINISHED"}
    elif step == "pack":
        bpy.context.scene.softpressure.pack_cache = True
    elif path.exists():
        if step == "move":
            moved = path.parent / "moved" / path.name
            moved.parent.mkdir()
            for each in list(path.parent.iterdir()):
                if each != moved.parent:
                    shutil.move(each, moved.parent / each.name)
            path = moved
        bpy.ops.wm.open_mainfile(filepath=str(path))
    return path


@pytest.mark.parametrize("first", STEPS)
def test_frames_stay_whatever_the_order_of_save_bake_pack_move_and_reopen(first: str, tmp_path: Path) -> None:
    lost = []
    for number, order in enumerate(order for order in permutations(STEPS) if order[0] == first):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.context.scene.frame_end = 10
        simulated()
        path = tmp_path / str(number) / "file.blend"
        path.parent.mkdir()
        for step in (*order, "save", "reopen"):
            path = do(step, path)
        if any(obj.softpressure.is_baked for obj in bpy.context.scene.objects):
            bpy.ops.softpressure.free_bake()
        cache = this_run().cache
        if cache is None or cache.last_frame != 10 or this_session().is_out_of_date(bpy.context.scene):
            lost.append(order)
    assert not lost


def test_a_cache_too_large_for_a_file_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated(pack_cache=True)
    monkeypatch.setattr(packing, "MOST_BYTES", 1000)
    handlers.on_save_pre()
    assert packing.KEY not in bpy.context.scene and "at most 2 fit into a .blend" in told()


@pytest.mark.smoke
def test_the_folder_may_be_chosen_beside_the_file_or_anywhere(tmp_path: Path) -> None:
    scene = bpy.context.scene
    add_ball()
    assert disk.path_of(scene) is None
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    for folder, parent in (("", tmp_path), ("//caches", tmp_path / "caches"), (str(tmp_path / "x"), tmp_path / "x")):
        scene.softpressure.cache_folder = folder
        bpy.ops.softpressure.simulate()
        place = disk.path_of(scene)
        assert place.parent.parent == parent and place.exists()
        bpy.ops.wm.save_mainfile()
        bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
        scene = bpy.context.scene
        assert this_run().cache.last_frame == 10
    other = tmp_path / "other" / "file.blend"
    other.parent.mkdir()
    scene.softpressure.cache_folder = "//caches"
    bpy.ops.wm.save_as_mainfile(filepath=str(other), copy=True)
    assert (other.parent / "caches" / "softpressure_file" / "Scene.npz").exists()


@pytest.mark.smoke
def test_delete_removes_it_from_memory_disk_and_file(tmp_path: Path) -> None:
    path = tmp_path / "file.blend"
    ball = simulated(path, pack_cache=True)
    place = disk.path_of(bpy.context.scene)
    other = place.parent / "Other.npz"
    other.write_bytes(b"of another scene")
    frame(5)
    assert bpy.ops.softpressure.delete_cache() == {"FINISHED"}
    assert not place.exists() and other.exists()
    assert this_run().cache.last_frame == 1 and bpy.context.scene.frame_current == 1
    assert height(ball) == pytest.approx(5.0, abs=1e-5)
    other.unlink()
    bpy.ops.softpressure.simulate()
    assert place.exists()
    bpy.ops.softpressure.delete_cache()
    assert not place.parent.exists()
    this_session().clear()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert this_run().cache is None


def test_delete_asks_where_it_takes_long_to_simulate_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    manager = SimpleNamespace(invoke_confirm=lambda *_, message, **__: asked.append(message) or {"RUNNING_MODAL"})
    operator = SimpleNamespace(bl_label="Delete Cache", execute=lambda _: {"FINISHED"})
    simulated()
    context = SimpleNamespace(scene=bpy.context.scene, window_manager=manager)
    assert SOFTPRESSURE_OT_delete_cache.invoke(operator, context, None) == {"FINISHED"} and not asked
    monkeypatch.setattr(status, "remaking_seconds", lambda _: 90.0)
    assert SOFTPRESSURE_OT_delete_cache.invoke(operator, context, None) == {"RUNNING_MODAL"}
    assert asked == ["Delete frames 1–10 of 10? Simulating them again takes about 90 s."]
