"""The frame cache: order, interpolation, files."""

import json
from pathlib import Path

import numpy as np
import pytest
from softpressure_ext.core.cache import FrameCache
from softpressure_ext.core.errors import CacheError


def filled(frame_count: int = 4, first_frame: int = -1) -> FrameCache:
    """Two bodies of 3 and 2 vertices with seeded positions."""
    generator = np.random.default_rng(1)
    cache = FrameCache(first_frame, ["A", "B"], [3, 2], input_fingerprint="in", start_fingerprint="start")
    for number in range(frame_count):
        positions = [generator.normal(size=(3, 3)), generator.normal(size=(2, 3))]
        cache.append(first_frame + number, positions, generator.normal(size=(2, 4, 4)))
    return cache


def test_frames_come_back_as_float32_at_whole_frames_and_linear_between() -> None:
    cache = FrameCache(5, ["A"], [1])
    cache.append(5, [[(0.1, 0.2, 0.3)]])
    cache.append(6, [[(1.1, 0.2, -0.7)]])
    assert cache.positions(0, 5).dtype == np.float32
    np.testing.assert_array_equal(cache.positions(0, 6), np.float32([(1.1, 0.2, -0.7)]))
    np.testing.assert_allclose(cache.positions(0, 5.25), [(0.35, 0.2, 0.05)], atol=1e-7)
    np.testing.assert_array_equal(cache.transform(0, 5), np.eye(4))
    assert (cache.first_frame, cache.last_frame, cache.frame_count) == (5, 6, 2)
    assert [cache.clamp(time) for time in (4.5, 5.5, 9.0)] == [5, 5.5, 6]
    assert cache.memory == 2 * (12 + 128)


def test_only_the_next_frame_can_be_appended_and_only_held_frames_read() -> None:
    cache = filled()
    with pytest.raises(CacheError, match="frame 4: the cache ends at 2"):
        cache.append(4, [np.zeros((3, 3)), np.zeros((2, 3))])
    with pytest.raises(CacheError, match=r"frame 3: positions of shapes \[\(2, 3\), \(2, 3\)\] for \(3, 2\) vertices"):
        cache.append(3, [np.zeros((2, 3)), np.zeros((2, 3))])
    for time in (-1.5, 2.5):
        with pytest.raises(CacheError, match="the cache holds -1 to 2"):
            cache.positions(0, time)
    with pytest.raises(CacheError, match="frame 7: the cache holds"):
        cache.transform(0, 7)
    assert cache.frame_count == 4


def test_a_file_gives_everything_back_bit_for_bit(tmp_path: Path) -> None:
    cache = filled()
    cache.state = {"gas": np.array([1.5, 2.5]), "frame": np.asarray(3)}
    path = tmp_path / "folder" / "scene.npz"
    cache.save(path)
    cache.save(path)  # over itself
    assert [file.name for file in path.parent.iterdir()] == ["scene.npz"]
    again = FrameCache.load(path)
    assert (again.first_frame, again.last_frame, again.body_names) == (-1, 2, ("A", "B"))
    assert (again.input_fingerprint, again.start_fingerprint) == ("in", "start")
    for body in (0, 1):
        for number in range(-1, 3):
            np.testing.assert_array_equal(again.positions(body, number), cache.positions(body, number))
            np.testing.assert_array_equal(again.transform(body, number), cache.transform(body, number))
    assert again.state is not None
    np.testing.assert_array_equal(again.state["gas"], [1.5, 2.5])
    assert again.state["frame"] == 3
    again.append(3, [np.ones((3, 3)), np.ones((2, 3))])
    assert again.last_frame == 3


def test_an_empty_cache_can_be_saved(tmp_path: Path) -> None:
    FrameCache(1, ["A"], [3]).save(tmp_path / "empty.npz")
    assert FrameCache.load(tmp_path / "empty.npz").frame_count == 0


def test_missing_damaged_and_foreign_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "scene.npz"
    with pytest.raises(CacheError, match="there is no such cache"):
        FrameCache.load(path)
    filled().save(path)
    whole = path.read_bytes()
    for damaged in (b"", b"not a zip", whole[:-40], whole[:200]):
        path.write_bytes(damaged)
        with pytest.raises(CacheError, match="not a readable cache"):
            FrameCache.load(path)
    monkeypatch.setattr("softpressure_ext.core.cache.FORMAT_VERSION", 99)
    path.write_bytes(whole)
    with pytest.raises(CacheError, match="written by another version"):
        FrameCache.load(path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CacheError, match=r"file/scene\.npz: cannot be written"):
        filled().save(tmp_path / "file" / "scene.npz")


@pytest.mark.parametrize("names", [[3], [["A"]], [None], 5])
def test_names_of_bodies_that_are_no_text_are_refused(tmp_path: Path, names: object) -> None:
    filled().save(tmp_path / "cache.npz")
    with np.load(tmp_path / "cache.npz") as archive:
        arrays = dict(archive)
    header = json.loads(arrays["header"].tobytes()) | {"body_names": names}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(tmp_path / "cache.npz", **arrays)
    with pytest.raises(CacheError, match="not a readable cache"):
        FrameCache.load(tmp_path / "cache.npz")
