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
from bpy_panels import drawn
from bpy_scene import add_ball, frame, play
from bpy_seen import height, this_run, this_session, told
from softpressure_ext.operators.simulate import SOFTPRESSURE_OT_delete_cache
from softpressure_ext.panels import menus, scene
from softpressure_ext.softpressure import handlers
from softpressure_ext.softpressure.cache import disk, journal, packing
from softpressure_ext.softpressure.reports import status
from softpressure_ext.softpressure.simulation import simulate_job
from softpressure_ext.softpressure.state import jobs, sessions
from softpressure_ext.softpressure.viewport import cached_range

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


@pytest.mark.parametrize("first", STEPS[:3])  # what was never saved cannot be moved or opened again
def test_frames_stay_whatever_the_order_of_save_bake_pack_move_and_reopen(first: str, tmp_path: Path) -> None:
    lost = []
    orders = [order for order in permutations(STEPS) if order[0] == first]
    for number, order in enumerate(orders):
        if order.index("save") > min(order.index("move"), order.index("reopen")):
            continue  # there is nothing to move or open yet
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


@pytest.mark.parametrize(
    "names", [("\u5834\u9762\u4e00", "\u5834\u9762\u4e8c"), ("Shot/1", "Shot_1"), ("shot", "Shot")]
)
def test_scenes_of_similar_names_keep_a_cache_each(names: tuple[str, str], tmp_path: Path) -> None:
    for place, name in enumerate(names):
        if place:
            bpy.ops.scene.new()
            bpy.context.scene.frame_end = 10
        bpy.context.scene.name = name
        add_ball(f"Ball {name}", (0, 0, 5 + place))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shots.blend"))
    for name in names:
        bpy.context.window.scene = bpy.data.scenes[name]
        assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    places = {disk.path_of(scene) for scene in bpy.data.scenes}
    assert len({str(place).lower() for place in places}) == 2 and all(place.exists() for place in places)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    for name in names:
        assert sessions.of(bpy.data.scenes[name]).run.cache.body_names == (f"Ball {name}",)


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


# -- What people know from the caches of Blender's own physics: Calculate to Frame, the range in the timeline


def ranges() -> list[tuple[int, int]]:
    return [(first, last) for first, last, _ in cached_range.bars(bpy.context.scene)]


def color() -> Any:
    return cached_range.bars(bpy.context.scene)[-1][2]


def test_calculate_to_frame_ends_there_and_simulate_continues() -> None:
    add_ball()
    bpy.ops.softpressure.simulate()
    whole = this_run().cache
    bpy.ops.softpressure.reset()
    frame(6)
    assert bpy.ops.softpressure.simulate(to_frame=True) == {"FINISHED"}
    first, cache = this_run().world, this_run().cache
    assert cache.last_frame == 6 and bpy.context.scene.frame_current == 6
    assert bpy.ops.softpressure.simulate(to_frame=True) == {"FINISHED"} and cache.last_frame == 6
    bpy.ops.softpressure.simulate()
    assert this_run().world is first and this_run().cache.last_frame == 10
    np.testing.assert_array_equal(this_run().cache.positions(0, 10), whole.positions(0, 10))


@pytest.mark.parametrize("number", [-3, 11])
def test_calculate_to_a_frame_outside_the_range_says_so(number: int) -> None:
    add_ball()
    frame(number)
    with pytest.raises(RuntimeError, match="is outside the range of the simulation, 1 to 10"):
        bpy.ops.softpressure.simulate(to_frame=True)


def test_the_timeline_shows_the_cached_range_and_whether_it_is_out_of_date() -> None:
    assert ranges() == []
    ball = add_ball()
    frame(4)
    bpy.ops.softpressure.simulate(to_frame=True)
    assert ranges() == [(1, 10), (1, 4)]
    valid = color()
    ball.softpressure.mass = 3.0
    assert ranges() == [(1, 10), (1, 4)] and color() != valid
    bpy.ops.softpressure.simulate()
    assert ranges() == [(1, 10), (1, 10)] and color() == valid
    bpy.ops.softpressure.delete_cache()
    assert ranges()[0] == (1, 10) and ranges()[-1][1] < 10


def test_our_buttons_stand_beside_blender_s() -> None:
    add_ball()
    assert {"softpressure.simulate", "ptcache.bake_all"} <= {*drawn(scene.Cache)}
    for name in ("PHYSICS_PT_cloth_cache", "PHYSICS_PT_softbody_cache", "SCENE_PT_rigid_body_cache"):
        panel = getattr(bpy.types, name)
        assert menus._draw_cache in panel._dyn_ui_initialize()


# -- The journal of a simulation: what is left if Blender ends in mid-run


def stopped(path: Path, frames: int) -> tuple[Any, Path]:
    """A file with a ball whose simulation ended after so many frames, without a word; its cache, and the path of it."""
    add_ball()
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    scene = bpy.context.scene
    work = simulate_job.simulate(scene)
    while this_run().cache is None or this_run().cache.frame_count < frames:
        next(work)
    work.close()
    jobs.worker_thread.wait()
    return this_run().cache, disk.path_of(scene)


def same(a: Any, b: Any, frames: int) -> bool:
    return all((a.positions(0, n) == b.positions(0, n)).all() for n in range(1, frames + 1))


def test_frames_of_a_run_that_did_not_end_are_there_when_the_file_is_opened(tmp_path: Path) -> None:
    cache, place = stopped(tmp_path / "file.blend", 6)
    assert not place.exists() and journal.frames_path(place).exists()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "file.blend"))
    found, scene = this_run().cache, bpy.context.scene
    assert found.last_frame == cache.last_frame >= 6 and same(found, cache, found.last_frame)
    assert not this_session().is_out_of_date(scene)
    bpy.ops.softpressure.simulate()  # goes on from its state
    assert this_run().cache.last_frame == 10 and same(this_run().cache, cache, cache.last_frame)
    assert place.exists() and not journal.frames_path(place).exists() and not journal.state_path(place).exists()


def test_at_most_one_frame_is_lost_wherever_the_records_end(tmp_path: Path) -> None:
    cache, place = stopped(tmp_path / "file.blend", 5)
    records = journal.frames_path(place)
    content, found = records.read_bytes(), set()
    for length in range(0, len(content), 97):
        records.write_bytes(content[:length])
        left = journal.read(place)
        found.add(0 if left is None else left.frame_count)
        assert left is None or same(left, cache, left.frame_count)
    assert found == set(range(cache.frame_count))
    records.write_bytes(content)
    assert journal.read(place).frame_count == cache.frame_count
    # killed between the record of a frame and its state
    journal.state_path(place).unlink()
    left = journal.read(place)
    assert left.frame_count == 1


def test_a_damaged_journal_is_no_obstacle(tmp_path: Path) -> None:
    _, place = stopped(tmp_path / "file.blend", 4)
    records = journal.frames_path(place)
    records.write_bytes(b"\x08\0\0\0\0\0\0\0nonsense")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "file.blend"))
    assert this_run().cache is None and "not a readable cache" in this_session().refusals.error
    bpy.ops.softpressure.delete_cache()
    assert not records.exists()
    bpy.ops.softpressure.simulate()
    assert this_run().cache.last_frame == 10 and this_session().refusals.error == ""


def test_a_cache_that_fits_the_file_goes_before_a_journal_that_does_not(tmp_path: Path) -> None:
    path = tmp_path / "file.blend"
    ball = add_ball()
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.softpressure.simulate()
    ball.softpressure.mass = 3.0
    bpy.context.scene.softpressure.frame_end = 1000  # the worker is not done before it is stopped
    work, before = simulate_job.simulate(bpy.context.scene), this_run().cache
    while this_run().cache in (None, before) or this_run().cache.last_frame < 4:
        next(work)
    work.close()
    jobs.worker_thread.wait()
    assert journal.frames_path(disk.path_of(bpy.context.scene)).exists()
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert this_run().cache.last_frame == 10 and not this_session().is_out_of_date(bpy.context.scene)
