"""Exporting, each format verified by importing it back and comparing positions; thinned relative shape keys."""

import itertools
import re
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
import shapes
from bpy_panels import buttons, drawn
from bpy_scene import add_ball, add_mesh, frame, select
from bpy_seen import fingerprint, rest, shown, this_run, this_session
from softpressure_ext.core.cache import FrameCache
from softpressure_ext.panels import export as panels
from softpressure_ext.softpressure.baking import bake as baking
from softpressure_ext.softpressure.baking import thinning
from softpressure_ext.softpressure.batch import command
from softpressure_ext.softpressure.exporting import export as exporting
from softpressure_ext.softpressure.reports import status
from softpressure_ext.softpressure.scene_io import actions
from softpressure_ext.softpressure.state import sessions, worker_thread

pytestmark = pytest.mark.usefixtures("falling")
FRAMES = range(1, 11)


def wobbling(**settings: Any) -> tuple[Any, dict[int, Any]]:
    """A turned and scaled ball whose cache has another shape in every frame; its positions by frame."""
    ball = add_ball(**settings)
    ball.rotation_euler, ball.scale = (0.3, 0.2, 0.1), (1.1, 0.9, 1.3)
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    session = this_session()
    old = session.run.cache
    cache = FrameCache(1, old.body_names, old.vertex_counts, input_fingerprint=old.input_fingerprint)
    for number in FRAMES:
        fallen = [old.positions(body, number).copy() for body in range(len(old.body_names))]
        for positions in fallen:
            phase = 7.0 * positions[:, :1] + 3.0 * positions[:, 1:2] + 0.4 * number
            positions += 0.05 * (np.sin(phase + [0.0, 1.0, 2.0]) - np.sin(phase - 0.4 * number + [0.0, 1.0, 2.0]))
        cache.append(number, fallen, [old.transform(body, number) for body in range(len(old.body_names))])
    session.run.cache = cache
    session.display.shown.clear()
    return ball, {number: cache.positions(0, number).astype(float) for number in FRAMES}


def export(path: Path, **settings: Any) -> Path:
    assert bpy.ops.softpressure.export(filepath=str(path), **settings) == {"FINISHED"}
    return path


def replace_by_import(path: Path) -> Any:
    """The ball as another program has it: alone, in an empty file."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = 24
    operator, settings = {
        ".abc": (bpy.ops.wm.alembic_import, {}),
        ".usdc": (bpy.ops.wm.usd_import, {}),
        ".fbx": (bpy.ops.import_scene.fbx, {"anim_offset": 0.0}),  # else it starts a frame later
    }.get(path.suffix, (bpy.ops.import_scene.gltf, {}))
    operator(filepath=str(path), **settings)
    (found,) = [obj for obj in bpy.data.objects if obj.type == "MESH" and obj.name.startswith("Ball")]
    return found


@pytest.mark.smoke
@pytest.mark.parametrize("suffix", [".abc", ".usdc"])
@pytest.mark.parametrize("bake", ["", "SHAPE_KEYS", "RELATIVE_KEYS"])
def test_alembic_and_usd_have_every_frame(tmp_path: Path, suffix: str, bake: str) -> None:
    ball, simulated = wobbling()
    bpy.context.scene.softpressure.key_error = 0.0
    if bake:
        bpy.ops.softpressure.bake(target=bake)
    frame(4, 0.25)
    before = fingerprint(ball)
    path = export(tmp_path / f"out{suffix}")
    scene = bpy.context.scene
    assert fingerprint(ball) == before and (scene.frame_current, scene.frame_subframe) == (4, 0.25)
    assert (scene.frame_start, scene.frame_end) == (1, 10)
    copy = replace_by_import(path)
    for number in (3, 1, 10, 6):
        frame(number)
        np.testing.assert_allclose(shown(copy), simulated[number], atol=2e-6)


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("suffix", "bake"), [(".pc2", ""), (".mdd", ""), (".pc2", "SHAPE_KEYS"), (".mdd", "SHAPE_KEYS")]
)
def test_point_caches_play_in_the_mesh_cache_modifier(tmp_path: Path, suffix: str, bake: str) -> None:
    ball, simulated = wobbling()
    bpy.context.scene.softpressure.key_error = 0.0
    if bake:
        bpy.ops.softpressure.bake(target=bake)
    path = export(tmp_path / f"out{suffix}")
    copy = bpy.data.objects.new("Copy", bpy.data.meshes.new_from_object(ball, preserve_all_data_layers=False))
    copy.matrix_world = ball.matrix_world
    bpy.context.collection.objects.link(copy)
    modifier: Any = copy.modifiers.new("Points", "MESH_CACHE")
    modifier.cache_format, modifier.filepath, modifier.frame_start = suffix[1:].upper(), str(path), 1
    for number in FRAMES:
        frame(number)
        np.testing.assert_allclose(shown(copy), simulated[number], atol=2e-6)


@pytest.mark.smoke
@pytest.mark.parametrize(("suffix", "is_baked"), [(".glb", False), (".glb", True), (".gltf", False), (".fbx", False)])
def test_gltf_and_fbx_are_within_the_error(tmp_path: Path, suffix: str, is_baked: bool) -> None:
    ball, simulated = wobbling()
    start = rest(ball)
    bpy.context.scene.softpressure.key_error = error = 0.02
    if is_baked:
        bpy.ops.softpressure.bake(target="RELATIVE_KEYS")
    frame(4)
    before, actions_before = fingerprint(ball), len(bpy.data.actions)
    path = export(tmp_path / f"out{suffix}")
    assert fingerprint(ball) == before and len(bpy.data.actions) == actions_before
    assert ball.softpressure.is_baked == is_baked
    copy = replace_by_import(path)
    assert 2 < len(copy.data.shape_keys.key_blocks) - 1 < 10
    distance = np.linalg.norm(rest(copy)[:, None] - start[None], axis=2)
    assert distance.min(axis=1).max() < 2e-6
    vertex = distance.argmin(axis=1)  # glTF has a vertex for each of its normals
    worst = []
    for number in FRAMES:
        frame(number)
        worst.append(np.linalg.norm(shown(copy) - simulated[number][vertex], axis=1).max())
    assert 0.5 * error < max(worst) <= error


def test_gltf_and_fbx_move_rigid_bodies_and_several_soft_ones_in_one_animation(tmp_path: Path) -> None:
    add_ball("A"), add_ball("B", (3, 0, 6)), add_ball("C", (6, 0, 7), "RIGID", angular_velocity=(0.0, 3.0, 0.0))
    bpy.ops.softpressure.simulate()
    frame(10)
    expected = {name: shown(bpy.data.objects[name]) for name in "ABC"}
    path = export(tmp_path / "out.glb")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=str(path))
    frame(10)
    for name, positions in expected.items():
        found = shown(bpy.data.objects[name])
        assert np.linalg.norm(found[:, None] - positions[None], axis=2).min(axis=1).max() < 1.1e-3


def growing() -> Any:
    """A ball that falls, and whose radius of 0.5 m grows by 1 % times the square of the frames since the start."""
    ball = add_ball()
    bpy.ops.softpressure.simulate()
    for number, positions in enumerate(this_run().cache._positions):
        centre = positions.mean(axis=0)
        positions[:] = centre + (1.0 + 0.01 * number**2) * (positions - centre)
    return ball


def test_relative_keys_are_the_fewest_within_the_error_they_report() -> None:
    """A line over k frames is off by 5 mm m (k - m) after m of them: by 10 mm with k = 3, by 20 mm with k = 4."""
    ball = growing()
    frame(1)
    before = fingerprint(ball)
    bpy.context.scene.softpressure.key_error = 0.0199
    cache = this_run().cache
    assert bpy.ops.softpressure.bake(target="RELATIVE_KEYS") == {"FINISHED"}
    keys, kept = ball.data.shape_keys, (1, 4, 7, 10)
    assert [key.name for key in keys.key_blocks] == ["Basis", *(f"SP Bake {number}" for number in kept)]
    paths = {f'key_blocks["SP Bake {number}"].value' for number in kept}
    assert keys.use_relative and {curve.data_path for curve in actions.curves(keys)} == paths
    assert ball.softpressure.baked_error == pytest.approx(0.01, rel=1e-4)
    assert status.thinned_texts(bpy.context.scene) == ["Ball: 4 keys, within 1 cm"]
    for number, expected in ((1, 0.0), (2, 0.01), (3, 0.01), (4, 0.0), (9, 0.01), (10, 0.0)):
        frame(number)
        distance = np.linalg.norm(shown(ball) - cache.positions(0, number), axis=1)
        np.testing.assert_allclose(distance, expected, atol=2e-6)
    assert bpy.ops.softpressure.free_bake() == {"FINISHED"}
    frame(1)
    assert fingerprint(ball) == before and ball.softpressure.baked_error == 0.0


@pytest.mark.smoke
def test_a_body_that_only_moves_as_a_whole_needs_no_keys_between() -> None:
    ball = add_ball()
    ball.rotation_euler, ball.scale = (0.3, 0.2, 0.1), (1.1, 0.9, -1.3)
    ball.keyframe_insert("scale", frame=1)
    bpy.ops.softpressure.simulate()
    cache = this_run().cache
    for number, positions in enumerate(cache._positions):
        centre, angle = positions.mean(axis=0), 0.4 * number
        turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
        positions[:] = centre + (positions - centre) @ turn.T
    frame(1)
    before, matrix = fingerprint(ball), ball.matrix_world.copy()
    bpy.context.scene.softpressure.key_error = 1e-5
    bpy.ops.softpressure.bake(target="RELATIVE_KEYS")
    assert [key.name for key in ball.data.shape_keys.key_blocks] == ["Basis", "SP Bake 1", "SP Bake 10"]
    for number in FRAMES:
        frame(number)
        np.testing.assert_allclose(shown(ball), cache.positions(0, number), atol=5e-6)
    assert bpy.ops.softpressure.add_body(kind="SOFT") == {"FINISHED"} and ball.softpressure.is_baked
    bpy.ops.softpressure.free_bake()
    frame(1)
    assert fingerprint(ball) == before and ball.matrix_world == matrix
    assert not ball.softpressure.own_motion and [curve.data_path for curve in actions.curves(ball)] == ["scale"] * 3


def test_an_object_that_others_follow_stays_where_it_is() -> None:
    ball, child = growing(), add_ball("Child", (3, 0, 5), None)
    child.parent = ball
    bpy.ops.softpressure.simulate()
    cache = this_run().cache
    bpy.context.scene.softpressure.key_error = 0.0199
    bpy.ops.softpressure.bake(target="RELATIVE_KEYS")
    frame(10)
    assert tuple(ball.location) == (0.0, 0.0, 5.0) and not ball.softpressure.own_motion
    np.testing.assert_allclose(shown(ball), cache.positions(0, 10), atol=2e-6)


def test_a_baked_body_of_either_kind_becomes_another_and_is_freed() -> None:
    ball, box = growing(), add_ball("Box", (3, 0, 5), "RIGID")
    bpy.ops.softpressure.simulate()
    bpy.ops.softpressure.bake(target="RELATIVE_KEYS")
    ball.softpressure.kind, box.softpressure.kind = "RIGID", "SOFT"
    assert not ball.softpressure.is_baked and not box.softpressure.is_baked
    for obj in (ball, box):
        select(obj)
        bpy.ops.softpressure.remove_body()
        assert obj.data.shape_keys is None and not obj.softpressure.own_motion and not actions.curves(obj)


def test_thinning_keeps_the_fewest_frames_of_all_choices() -> None:
    generator = np.random.default_rng(5)
    counts = set()
    for error in (0.0, 0.6, 0.8, 1.0, 1.4, 3.0):
        for _ in range(10):
            moves = generator.normal(size=(7, 2, 3)).cumsum(axis=0).astype(np.float32)
            kept = thinning.fewest(moves, error)
            assert thinning.deviation(moves, kept) <= error
            fewer = [
                [0, *inner, 6] for count in range(len(kept) - 2) for inner in itertools.combinations(range(1, 6), count)
            ]
            assert all(thinning.deviation(moves, choice) > error for choice in fewer)
            counts.add(len(kept))
    assert counts >= {2, 3, 4, 5, 7}


def test_what_rests_takes_two_keys_and_a_single_frame_one() -> None:
    still = np.ones((50, 4, 3), np.float32)
    assert thinning.fewest(still, 0.0) == [0, 49]
    assert thinning.fewest(still[:1], 0.0) == [0]
    assert thinning.deviation(still[:1], [0]) == 0.0


def test_an_aborted_relative_bake_leaves_nothing_behind() -> None:
    balls = [growing(), add_ball("Two", (3, 0, 5))]
    bpy.ops.softpressure.simulate()
    frame(4)
    before, actions_before = [fingerprint(ball) for ball in balls], len(bpy.data.actions)
    job = baking.bake(bpy.context.scene, 0.0)
    while not balls[0].softpressure.own_motion:  # the first is done
        next(job)
    job.close()
    worker_thread.wait()
    assert [fingerprint(ball) for ball in balls] == before and len(bpy.data.actions) == actions_before
    assert not any(ball.softpressure.is_baked for ball in balls)


def test_several_soft_bodies_have_a_point_cache_each(tmp_path: Path) -> None:
    add_ball("One"), add_ball("Box", (6, 0, 5), "RIGID")
    two = add_ball("Two", (3, 0, 5))
    bpy.ops.softpressure.simulate()
    export(tmp_path / "out.pc2")
    assert {path.name for path in tmp_path.iterdir()} == {"out_One.pc2", "out_Two.pc2"}
    select(two)
    export(tmp_path / "selected", format="MDD", only_selected=True)
    assert (tmp_path / "selected.mdd").exists()
    select(bpy.data.objects["Box"])
    with pytest.raises(RuntimeError, match="no soft body is selected"):
        export(tmp_path / "none.pc2", only_selected=True)


def test_bodies_of_similar_names_have_a_point_cache_each(tmp_path: Path) -> None:
    for place, name in enumerate(("\u7403\u4e00", "\u7403\u4e8c", "Ball/1", "Ball_1")):
        add_ball(name, (3 * place, 0, 5))
    bpy.ops.softpressure.simulate()
    export(tmp_path / "out.pc2")
    assert len({path.name.lower() for path in tmp_path.iterdir()}) == 4


def on_a_cage() -> Any:
    """A mesh that follows a soft cage by a modifier, as *Add Cage* of earlier versions left it."""
    cage = add_mesh("Ball Cage", *shapes.icosphere(3, 0.6, (0.0, 0.0, 0.0)))
    cage.softpressure.simulation_mesh = "DRAWN"
    assert bpy.ops.softpressure.add_body() == {"FINISHED"}
    ball = add_mesh("Ball", *shapes.icosphere(4, 0.5, (0.0, 0.0, 0.0)))
    cage.parent, cage.display_type, cage.hide_render = ball, "WIRE", True
    modifier: Any = ball.modifiers.new("SP Cage", "SURFACE_DEFORM")
    modifier.target = cage
    bpy.context.view_layer.update()
    with bpy.context.temp_override(object=ball, active_object=ball):
        bpy.ops.object.surfacedeform_bind(modifier=modifier.name)
    assert modifier.is_bound
    return ball


def test_alembic_has_a_mesh_on_a_cage_in_every_frame_and_gltf_says_that_it_cannot(tmp_path: Any) -> None:
    ball = on_a_cage()
    bpy.ops.softpressure.simulate()
    expected = {}
    for number in (1, 5, 10):
        frame(number)
        expected[number] = shown(ball)
    with pytest.raises(RuntimeError, match=r"Ball: follows its cage by a modifier, which glTF leaves out\. Export to"):
        export(tmp_path / "ball.glb")
    path = export(tmp_path / "ball.abc")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.alembic_import(filepath=str(path))
    (copy,) = [obj for obj in bpy.data.objects if obj.type == "MESH" and len(obj.data.vertices) == 2562]
    for number, positions in expected.items():
        frame(number)
        np.testing.assert_allclose(shown(copy), positions, atol=2e-6)


def test_exporting_says_what_is_wrong(tmp_path: Path) -> None:
    ball = add_ball()
    with pytest.raises(RuntimeError, match="Simulate first"):
        export(tmp_path / "out.abc")
    bpy.ops.softpressure.simulate()
    with pytest.raises(RuntimeError, match=r"out\.obj: its suffix names no format for export\. Give one of \.abc"):
        export(tmp_path / "out.obj")
    for suffix in (".abc", ".pc2", ".glb"):
        with pytest.raises(RuntimeError, match=r"cannot be written \(No such file or directory\)\. Check the folder"):
            export(tmp_path / "nowhere" / f"out{suffix}")
        (tmp_path / f"folder{suffix}").mkdir()
        with pytest.raises(RuntimeError, match=r"cannot be written \(Is a directory\)"):
            export(tmp_path / f"folder{suffix}")
    ball.softpressure.mass = 9.0
    with pytest.raises(RuntimeError, match=r"the cached frames are out of date\. Press Simulate again"):
        export(tmp_path / "out.usdc")
    bpy.ops.softpressure.simulate()
    for target, suffix in (("SHAPE_KEYS", ".fbx"), ("RELATIVE_KEYS", ".mdd")):
        bpy.ops.softpressure.bake(target=target)
        cache, this_run().cache = this_run().cache, None
        with pytest.raises(RuntimeError, match=r"Ball: is baked to .* shape keys.*, and the cached frames are gone"):
            export(tmp_path / f"out{suffix}")
        this_run().cache = cache
        bpy.ops.softpressure.free_bake()
    assert not [path for path in tmp_path.iterdir() if path.is_file()]


def test_a_failing_exporter_leaves_the_scene_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ball = add_ball()
    bpy.ops.softpressure.simulate()
    frame(4)
    before = fingerprint(ball)
    monkeypatch.setitem(exporting._EXPORTERS, "GLTF", ("wm", "alembic_export"))  # knows no such settings
    with pytest.raises(RuntimeError, match="keyword"):
        export(tmp_path / "out.glb")
    assert fingerprint(ball) == before and bpy.context.scene.frame_current == 4
    assert not ball.softpressure.is_baked and not sessions.is_rendering


def greyed() -> set[str]:
    """Formats whose buttons cannot be pressed."""
    found = buttons([panels.SIDEBAR[0]])
    return {properties["format"] for name, properties, is_on in found if name == "softpressure.export" and not is_on}


def test_a_format_without_its_add_on_is_greyed_with_the_cure(tmp_path: Path) -> None:
    add_ball()
    bpy.ops.softpressure.simulate()
    assert greyed() == set()
    bpy.ops.preferences.addon_disable(module="io_scene_gltf2")
    try:
        assert greyed() == {"GLTF"}
        sentence = "glTF: its add-on is off. Enable glTF 2.0 format in Edit > Preferences > Add-ons."
        assert sentence in drawn(panels.Export, 20_000)
        for how in ("EXEC_DEFAULT", "INVOKE_DEFAULT"):  # before the file browser
            with pytest.raises(RuntimeError, match=re.escape(sentence)):
                bpy.ops.softpressure.export(how, filepath=str(tmp_path / "out.glb"), format="GLTF")
    finally:
        bpy.ops.preferences.addon_enable(module="io_scene_gltf2")
    assert greyed() == set()


def test_a_format_that_this_blender_was_built_without_is_greyed_with_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    add_ball()
    bpy.ops.softpressure.simulate()
    monkeypatch.setitem(exporting._EXPORTERS, "USD", ("wm", "no_such_export"))
    assert greyed() == {"USD"}
    assert "USD: this Blender was built without USD. Use one from blender.org" in " ".join(drawn(panels.Export, 20_000))


def test_formats_that_the_state_forbids_are_greyed_and_the_cure_is_right(tmp_path: Path) -> None:
    every = {"ALEMBIC", "USD", "GLTF", "FBX", "PC2", "MDD", "CSV"}
    ball = add_ball()
    assert greyed() == every and "Press Simulate first" in " ".join(drawn(panels.Export, 20_000))
    bpy.ops.softpressure.simulate()
    ball.softpressure.mass = 2.0
    assert greyed() == every and "out of date. Press Simulate again" in " ".join(drawn(panels.Export, 20_000))
    bpy.ops.softpressure.simulate()
    bpy.ops.softpressure.bake()
    assert greyed() == set()  # the cached frames are exported
    cache, this_run().cache = this_run().cache, None
    assert greyed() == {"GLTF", "FBX"}
    this_run().cache = cache
    bpy.ops.softpressure.free_bake()
    export(tmp_path / "out.glb")
    bpy.ops.softpressure.bake(target="RELATIVE_KEYS")
    assert greyed() == set()
    this_session().clear()
    assert greyed() == {"PC2", "MDD", "CSV"}
    assert "is baked, and its cached frames are gone. Free the bake and sim" in " ".join(drawn(panels.Export, 20_000))
    bpy.ops.softpressure.free_bake()
    assert greyed() == every
    bpy.ops.softpressure.simulate()
    bpy.ops.object.mode_set(mode="EDIT")
    assert greyed() == every and "Ball: is in Edit Mode. Leave it" in " ".join(drawn(panels.Export, 20_000))
    bpy.ops.object.mode_set(mode="OBJECT")
    ball.softpressure.kind = "RIGID"
    bpy.ops.softpressure.simulate()
    assert greyed() == {"PC2", "MDD"}


@pytest.mark.smoke
@pytest.mark.parametrize("suffix", [".abc", ".glb", ".mdd"])
def test_the_command_line_exports_and_leaves_the_file(
    tmp_path: Path, suffix: str, capfd: pytest.CaptureFixture[str]
) -> None:
    add_ball()
    file, target = tmp_path / "ball.blend", tmp_path / f"out{suffix}"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    before = file.read_bytes()
    assert command.run(["export", str(file), str(target), "--frames=1:4", "--error=0.5"]) == 0
    assert f"wrote {target}" in capfd.readouterr().out
    assert file.read_bytes() == before and target.stat().st_size > 0
    if suffix == ".glb":
        assert len(replace_by_import(target).data.shape_keys.key_blocks) == 1 + 2
