"""What the extension makes itself never blocks it: poses, modifiers, attributes, meshes, keys of its own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from bpy_scene import add_ball, add_primitive, frame, play, select
from bpy_seen import height, problem_of, this_session

pytestmark = pytest.mark.usefixtures("falling")


def kept_pose(_: Any) -> None:
    assert bpy.ops.softpressure.live_play(frames=3, keep="SHAPE_KEY") == {"FINISHED"}


def kept_pose_in_the_mix(ball: Any) -> None:
    kept_pose(ball)
    ball.data.shape_keys.key_blocks["SP Pose"].value = 0.5


def new_start(_: Any) -> None:
    assert bpy.ops.softpressure.live_play(frames=3, keep="START") == {"FINISHED"}


def hidden_faces(ball: Any) -> None:
    ball.softpressure.tear_strain = 5.0
    assert bpy.ops.softpressure.hide_torn() == {"FINISHED"}


def attributes(_: Any) -> None:
    bpy.context.scene.softpressure.point_attributes = True


def even_mesh(ball: Any) -> None:
    ball.softpressure.simulation_mesh, ball.softpressure.simulation_vertices = "EVEN", 60


def following_origin(ball: Any) -> None:
    ball.softpressure.origin_follows = True


def freed_bake(_: Any) -> None:
    play(1, 10)
    bpy.ops.softpressure.bake(target="RELATIVE_KEYS")
    bpy.ops.softpressure.free_bake()


def linked_duplicate(ball: Any) -> None:
    bpy.ops.object.duplicate(linked=True)
    bpy.context.object.location.x = 3.0
    play(1, 2)
    select(ball)


def cushion(ball: Any) -> None:
    bpy.data.objects.remove(ball)
    add_primitive("grid", x_subdivisions=4, y_subdivisions=4, location=(0, 0, 5))
    bpy.ops.softpressure.inflate()
    bpy.context.object.name = "Ball"


MAKINGS: tuple[Callable[[Any], None], ...] = (
    kept_pose, kept_pose_in_the_mix, new_start, hidden_faces, attributes, even_mesh, following_origin, freed_bake,
    linked_duplicate, cushion,
)  # fmt: skip


@pytest.mark.parametrize("make", MAKINGS, ids=lambda make: make.__name__)
def test_what_is_made_by_the_extension_hinders_none_of_its_buttons(make: Callable[[Any], None], tmp_path: Path) -> None:
    """Each refusal would be raised. Afterwards the body falls as before."""
    make(add_ball())
    ball = bpy.data.objects["Ball"]
    assert bpy.ops.softpressure.simulate() == {"FINISHED"} and problem_of(ball) == ""
    frame(10)
    low = height(ball)
    assert bpy.ops.softpressure.check() == {"FINISHED"}
    assert [flaw.sentence for flaw in this_session().checked[1]] == []
    for suffix in ("glb", "fbx", "abc", "usdc", "pc2"):
        path = tmp_path / suffix / f"out.{suffix}"
        path.parent.mkdir()
        assert bpy.ops.softpressure.export(filepath=str(path)) == {"FINISHED"}
        assert all(file.stat().st_size > 0 for file in path.parent.iterdir()) and any(path.parent.iterdir())
    for target in ("SHAPE_KEYS", "RELATIVE_KEYS"):
        assert bpy.ops.softpressure.bake(target=target) == {"FINISHED"}
        frame(10)
        assert height(ball) == pytest.approx(low, abs=1e-3)
        assert bpy.ops.softpressure.export(filepath=str(tmp_path / f"{target}.glb")) == {"FINISHED"}
        assert bpy.ops.softpressure.export(filepath=str(tmp_path / f"{target}.mdd")) == {"FINISHED"}
        assert ball.softpressure.is_baked and ball.data.shape_keys.use_relative == (target == "RELATIVE_KEYS")
        assert height(ball) == pytest.approx(low, abs=1e-3)
        assert bpy.ops.softpressure.free_bake() == {"FINISHED"}
    assert bpy.ops.softpressure.live_play(frames=2) == {"FINISHED"}
    frame(10)
    assert height(ball) == pytest.approx(low, abs=1e-3)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=str(tmp_path / "glb" / "out.glb"))
    copy = bpy.data.objects["Ball"]
    frame(10)
    assert np.isfinite(height(copy)) and height(copy) == pytest.approx(low, abs=0.05)
