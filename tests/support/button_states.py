"""States of a file in which a person may press a button, each made from an empty file with a few vertices."""

import contextlib
import importlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

_FOLDER = Path(tempfile.mkdtemp(prefix="softpressure_buttons_"))
_running: list[Any] = []


def make(name: str) -> None:
    """An empty file in a state."""
    for job in list(_running):
        job.end()
    _running.clear()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)  # a quarter of the time of all settings
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 3
    STATES[name]()
    bpy.context.view_layer.update()


def ball(name: str = "Ball", kind: str | None = "SOFT", location: Any = (0.0, 0.0, 2.0), **settings: Any) -> Any:
    """A small sphere, as a body with these settings unless told otherwise."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=6, ring_count=4, radius=0.5, location=location)
    obj = bpy.context.object
    obj.name = obj.data.name = name
    if kind:
        bpy.ops.softpressure.add_body(kind=kind)
    _set(obj.softpressure, **settings)
    return obj


def _other(kind: str | None = "SOFT") -> Any:
    return ball("Other", kind, (2.0, 0.0, 2.0))


def _set(data: Any, **values: Any) -> None:
    for name, value in values.items():
        setattr(data, name, value)


def _select(*objects: Any) -> None:
    for other in bpy.context.view_layer.objects:
        other.select_set(False)
    for obj in objects:
        obj.select_set(True)
        bpy.context.view_layer.objects.active = obj


def _save(name: str) -> Path:
    path = _FOLDER / f"{name}.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def _simulated(kind: str = "SOFT", **settings: Any) -> Any:
    """A ball with frames, whose settings are changed after that."""
    obj = ball(kind=kind)
    bpy.ops.softpressure.simulate()
    _set(obj.softpressure, **settings)
    return obj


def _baked(kind: str = "SOFT", target: str = "SHAPE_KEYS") -> None:
    _simulated(kind)
    bpy.ops.softpressure.bake(target=target)


def _mode(mode: str) -> None:
    bpy.ops.object.mode_set(mode=mode)


def _in_scene(**settings: Any) -> None:
    _set(bpy.context.scene.softpressure, **settings)


def _flat_body() -> None:
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=3, y_subdivisions=3)
    bpy.ops.softpressure.add_body(kind="SOFT")


def _two_bodies_and_a_floor() -> None:
    bpy.ops.mesh.primitive_plane_add(size=4.0)
    bpy.ops.softpressure.add_body(kind="COLLIDER")
    _select(_other(), ball())


def _cache_folder_is_a_file() -> None:
    ball()
    (_FOLDER / "file").touch()
    _in_scene(cache_folder=str(_FOLDER / "file"))
    _save("folder")
    bpy.ops.softpressure.simulate()


def _in_pose_mode() -> None:
    obj = ball()
    bpy.ops.object.armature_add()
    _mode("POSE")
    obj.select_set(True)


def _bare_mesh() -> None:
    obj = bpy.data.objects.new("Empty", bpy.data.meshes.new("Empty"))
    bpy.context.collection.objects.link(obj)
    _select(obj)


def _refused_mesh() -> None:
    bpy.ops.mesh.primitive_plane_add(size=0.0)
    with contextlib.suppress(RuntimeError):
        bpy.ops.softpressure.add_body(kind="SOFT")


def _out_of_the_view_layer() -> None:
    obj, collection = ball(), bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(obj)
    bpy.context.scene.collection.objects.unlink(obj)
    bpy.context.view_layer.layer_collection.children["Away"].exclude = True


def _target_is_gone() -> None:
    ball(attach_to=_other())
    bpy.data.objects.remove(bpy.data.objects["Other"])


def _own_keys() -> None:
    obj = ball(kind=None)
    obj.shape_key_add(name="Basis")
    obj.shape_key_add(name="Smile").value = 0.5
    with contextlib.suppress(RuntimeError):
        bpy.ops.softpressure.add_body(kind="SOFT")


def _linked() -> None:
    obj, path = ball(), str(_FOLDER / "library.blend")
    bpy.data.libraries.write(path, {obj}, fake_user=True)
    bpy.data.objects.remove(obj)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Ball"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    _select(wanted.objects[0])


def _hose() -> None:
    _two_bodies_and_a_floor()
    bpy.ops.softpressure.add_hose()


def _hose_without_a_body() -> None:
    _hose()
    bpy.data.objects.remove(bpy.data.objects["Other"])


def _begin(module: str, function: str) -> None:
    """Let a job be under way."""
    root = next(name for name in sys.modules if name.endswith("softpressure.state.sessions"))[: -len(".state.sessions")]
    work = getattr(importlib.import_module(f"{root}.{module}"), function)(bpy.context.scene)
    _running.append(importlib.import_module(f"{root}.state.jobs").Job(work))
    for _ in range(3):
        _running[-1].advance()


#: State by its name; of several steps each follows the one before.
STATES: dict[str, Callable[[], Any]] = {
    "nothing": lambda: None,
    "no_bodies": lambda: ball(kind=None),
    "two_meshes": lambda: _select(_other(None), ball(kind=None)),
    "no_mesh": bpy.ops.object.camera_add,
    "a_curve": bpy.ops.curve.primitive_bezier_circle_add,
    "no_active_object": lambda: (ball(), _select(), _set(bpy.context.view_layer.objects, active=None)),
    "active_object_is_not_selected": lambda: ball().select_set(False),
    "a_soft_body": ball,
    "a_jelly": lambda: ball(body_type="SOLID"),
    "a_flat_body": _flat_body,
    "a_rigid_body": lambda: ball(kind="RIGID"),
    "a_collider_alone": lambda: ball(kind="COLLIDER"),
    "two_bodies_and_a_floor": _two_bodies_and_a_floor,
    "simulated": _simulated,
    "simulated_in_part": lambda: (_simulated(), _in_scene(frame_end=6)),
    "out_of_date": lambda: _simulated(mass=3.0),
    "baked": _baked,
    "baked_to_relative_keys": lambda: _baked(target="RELATIVE_KEYS"),
    "baked_rigid_body": lambda: _baked("RIGID"),
    "baked_in_part": lambda: (_baked(), _other()),
    "saved": lambda: (_simulated(), _save("saved")),
    "saved_and_gone": lambda: (_simulated(), _save("gone").unlink()),
    "saved_with_settings_of_a_sweep": lambda: (
        ball(), _set(bpy.context.window_manager.softpressure, settings='Ball.mass="1,2'), _save("sweep")
    ),
    "cache_folder_is_a_file": _cache_folder_is_a_file,
    "in_edit_mode": lambda: (ball(), _mode("EDIT")),
    "simulated_and_in_edit_mode": lambda: (_simulated(), _mode("EDIT")),
    "baked_and_in_edit_mode": lambda: (_baked(), _mode("EDIT")),
    "in_sculpt_mode": lambda: (ball(), _mode("SCULPT")),
    "in_weight_paint_mode": lambda: (_simulated(), _mode("WEIGHT_PAINT")),
    "in_pose_mode": _in_pose_mode,
    "another_mesh_in_edit_mode": lambda: (_simulated(), _other(None), _mode("EDIT")),
    "an_empty_mesh": lambda: ball().data.clear_geometry(),
    "a_mesh_without_anything": _bare_mesh,
    "a_new_empty_mesh_as_body": lambda: (_bare_mesh(), _set(bpy.context.object.softpressure, kind="SOFT")),
    "a_mesh_with_holes": bpy.ops.mesh.primitive_monkey_add,
    "a_refused_mesh": _refused_mesh,
    "a_body_of_no_size": lambda: _set(ball(), scale=(0.0, 0.0, 0.0)),
    "a_hidden_body": lambda: ball().hide_set(True),
    "a_disabled_body": lambda: _set(ball(), hide_viewport=True),
    "a_body_out_of_the_view_layer": _out_of_the_view_layer,
    "a_body_that_has_lost_its_key": lambda: ball().shape_key_clear(),
    "a_group_that_is_gone": lambda: ball(pin_group="Nothing"),
    "attached_to_nothing": lambda: _set((obj := ball()).softpressure, attach_to=obj, attach_group="Nothing"),
    "a_target_that_is_gone": _target_is_gone,
    "a_shared_mesh": lambda: (ball(), bpy.ops.object.duplicate(linked=True)),
    "a_body_with_own_keys": _own_keys,
    "a_body_with_animated_keys": lambda: (
        ball().shape_key_add(name="Smile", from_mix=False).keyframe_insert("value", frame=1)
    ),
    "a_linked_body": _linked,
    "an_overridden_body": lambda: (
        _linked(), _select(bpy.context.object.override_create(remap_local_usages=True))
    ),
    "a_hose": _hose,
    "a_hose_without_a_body": _hose_without_a_body,
    "a_body_in_two_scenes": lambda: (_simulated(), bpy.ops.scene.new(type="LINK_COPY")),
    "a_range_of_one_frame": lambda: (ball(), _in_scene(frame_start=3, frame_end=3)),
    "at_another_frame": lambda: (ball(), bpy.context.scene.frame_set(-20)),
    "everything_hurts": lambda: ball(gauge_pressure=1e9),  # the solver refuses it, after all checks of the file
    "a_job_runs": lambda: (_simulated(), _in_scene(frame_end=6), _begin("simulation.simulate_job", "simulate")),
    "a_bake_runs": lambda: (_simulated(), _begin("baking.bake", "bake")),
}  # fmt: skip
