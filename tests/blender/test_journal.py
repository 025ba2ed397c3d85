"""The journal of a simulation: what is left if Blender ends in mid-run."""

from pathlib import Path
from typing import Any

import bpy
import pytest
from bpy_scene import add_ball, this_run, this_session
from softpressure_ext.softpressure.cache import disk, journal
from softpressure_ext.softpressure.simulation import simulate_job
from softpressure_ext.softpressure.state import jobs

pytestmark = pytest.mark.usefixtures("falling")


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
