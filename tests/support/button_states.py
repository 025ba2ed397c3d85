"""States of a file in which a person may press a button, each made from an empty file with a few vertices."""

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

#: State by its name.
STATES: dict[str, Callable[[], None]] = {}
_FOLDER = Path(tempfile.mkdtemp(prefix="softpressure_buttons_"))


def state(make: Callable[[], None]) -> Callable[[], None]:
    """Register a state by the name of its function."""
    STATES[make.__name__.strip("_")] = make
    return make


def make(name: str) -> None:
    """An empty file in a state."""
    for job in list(_running):
        job.end()
    _running.clear()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 3
    STATES[name]()
    bpy.context.view_layer.update()


_running: list[Any] = []


def ball(name: str = "Ball", kind: str | None = "SOFT", location: Any = (0.0, 0.0, 2.0)) -> Any:
    """A small sphere, as a body unless told otherwise."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=6, ring_count=4, radius=0.5, location=location)
    obj = bpy.context.object
    obj.name = obj.data.name = name
    if kind:
        bpy.ops.softpressure.add_body(kind=kind)
    return obj


def _select(*objects: Any) -> None:
    for other in bpy.context.view_layer.objects:
        other.select_set(False)
    for obj in objects:
        obj.select_set(True)
        bpy.context.view_layer.objects.active = obj


def _save(name: str) -> str:
    path = str(_FOLDER / f"{name}.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    return path


@state
def nothing() -> None:
    """No object at all."""


@state
def no_bodies() -> None:
    ball(kind=None)


@state
def two_meshes() -> None:
    _select(ball("Other", None), ball(kind=None))


@state
def no_mesh() -> None:
    bpy.ops.object.camera_add()


@state
def a_curve() -> None:
    bpy.ops.curve.primitive_bezier_circle_add()


@state
def no_active_object() -> None:
    ball()
    _select()
    bpy.context.view_layer.objects.active = None


@state
def active_object_is_not_selected() -> None:
    obj = ball()
    _select()
    bpy.context.view_layer.objects.active = obj


@state
def a_soft_body() -> None:
    ball()


@state
def a_jelly() -> None:
    ball().softpressure.body_type = "SOLID"


@state
def a_flat_body() -> None:
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=3, y_subdivisions=3)
    bpy.ops.softpressure.add_body(kind="SOFT")


@state
def a_rigid_body() -> None:
    ball(kind="RIGID")


@state
def a_collider_alone() -> None:
    ball(kind="COLLIDER")


@state
def two_bodies_and_a_floor() -> None:
    bpy.ops.mesh.primitive_plane_add(size=4.0)
    bpy.ops.softpressure.add_body(kind="COLLIDER")
    _select(ball("Other", location=(2.0, 0.0, 2.0)), ball())


@state
def simulated() -> None:
    ball()
    bpy.ops.softpressure.simulate()


@state
def simulated_in_part() -> None:
    ball()
    bpy.ops.softpressure.simulate()
    bpy.context.scene.softpressure.frame_end = 6


@state
def out_of_date() -> None:
    obj = ball()
    bpy.ops.softpressure.simulate()
    obj.softpressure.mass = 3.0


@state
def baked() -> None:
    ball()
    bpy.ops.softpressure.simulate()
    bpy.ops.softpressure.bake()


@state
def baked_to_relative_keys() -> None:
    ball()
    bpy.ops.softpressure.simulate()
    bpy.ops.softpressure.bake(target="RELATIVE_KEYS")


@state
def baked_rigid_body() -> None:
    ball(kind="RIGID")
    bpy.ops.softpressure.simulate()
    bpy.ops.softpressure.bake()


@state
def baked_in_part() -> None:
    ball()
    bpy.ops.softpressure.simulate()
    bpy.ops.softpressure.bake()
    ball("Other", location=(2.0, 0.0, 2.0))


@state
def saved() -> None:
    ball()
    bpy.ops.softpressure.simulate()
    _save("saved")


@state
def saved_and_gone() -> None:
    ball()
    bpy.ops.softpressure.simulate()
    Path(_save("gone")).unlink()


@state
def saved_with_settings_of_a_sweep() -> None:
    ball()
    bpy.context.window_manager.softpressure.settings = 'Ball.mass="1,2'
    _save("sweep")


@state
def cache_folder_is_a_file() -> None:
    ball()
    file = _FOLDER / "file"
    file.touch()
    bpy.context.scene.softpressure.cache_folder = str(file)
    _save("folder")
    bpy.ops.softpressure.simulate()


@state
def in_edit_mode() -> None:
    ball()
    bpy.ops.object.mode_set(mode="EDIT")


@state
def simulated_and_in_edit_mode() -> None:
    ball()
    bpy.ops.softpressure.simulate()
    bpy.ops.object.mode_set(mode="EDIT")


@state
def baked_and_in_edit_mode() -> None:
    baked()
    bpy.ops.object.mode_set(mode="EDIT")


@state
def in_sculpt_mode() -> None:
    ball()
    bpy.ops.object.mode_set(mode="SCULPT")


@state
def in_weight_paint_mode() -> None:
    ball()
    bpy.ops.softpressure.simulate()
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")


@state
def in_pose_mode() -> None:
    obj = ball()
    bpy.ops.object.armature_add()
    bpy.ops.object.mode_set(mode="POSE")
    obj.select_set(True)


@state
def another_mesh_in_edit_mode() -> None:
    ball()
    bpy.ops.softpressure.simulate()
    ball("Other", None)
    bpy.ops.object.mode_set(mode="EDIT")


@state
def an_empty_mesh() -> None:
    obj = ball()
    obj.data.clear_geometry()


@state
def a_mesh_without_anything() -> None:
    obj = bpy.data.objects.new("Empty", bpy.data.meshes.new("Empty"))
    bpy.context.collection.objects.link(obj)
    _select(obj)


@state
def a_new_empty_mesh_as_body() -> None:
    a_mesh_without_anything()
    bpy.context.object.softpressure.kind = "SOFT"


@state
def a_mesh_with_holes() -> None:
    bpy.ops.mesh.primitive_monkey_add()


@state
def a_refused_mesh() -> None:
    bpy.ops.mesh.primitive_plane_add(size=0.0)
    with contextlib.suppress(RuntimeError):
        bpy.ops.softpressure.add_body(kind="SOFT")


@state
def a_body_of_no_size() -> None:
    ball().scale = 0.0, 0.0, 0.0


@state
def a_hidden_body() -> None:
    ball().hide_set(True)


@state
def a_disabled_body() -> None:
    ball().hide_viewport = True


@state
def a_body_out_of_the_view_layer() -> None:
    obj = ball()
    collection = bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(obj)
    bpy.context.scene.collection.objects.unlink(obj)
    bpy.context.view_layer.layer_collection.children["Away"].exclude = True


@state
def a_body_that_has_lost_its_key() -> None:
    ball().shape_key_clear()


@state
def a_group_that_is_gone() -> None:
    ball().softpressure.pin_group = "Nothing"


@state
def attached_to_nothing() -> None:
    obj = ball()
    obj.softpressure.attach_to = obj
    obj.softpressure.attach_group = "Nothing"


@state
def a_target_that_is_gone() -> None:
    ball("Other", location=(2.0, 0.0, 2.0))
    ball().softpressure.attach_to = bpy.data.objects["Other"]
    bpy.data.objects.remove(bpy.data.objects["Other"])


@state
def a_shared_mesh() -> None:
    ball()
    bpy.ops.object.duplicate(linked=True)


@state
def a_body_with_own_keys() -> None:
    obj = ball(kind=None)
    obj.shape_key_add(name="Basis")
    obj.shape_key_add(name="Smile").value = 0.5
    with contextlib.suppress(RuntimeError):
        bpy.ops.softpressure.add_body(kind="SOFT")


@state
def a_body_with_animated_keys() -> None:
    obj = ball()
    obj.shape_key_add(name="Smile", from_mix=False).keyframe_insert("value", frame=1)


@state
def a_linked_body() -> None:
    obj = ball()
    path = _FOLDER / "library.blend"
    bpy.data.libraries.write(str(path), {obj}, fake_user=True)
    bpy.data.objects.remove(obj)
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.objects = ["Ball"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    _select(wanted.objects[0])


@state
def an_overridden_body() -> None:
    a_linked_body()
    override = bpy.context.object.override_create(remap_local_usages=True)
    _select(override)


@state
def a_hose() -> None:
    two_bodies_and_a_floor()
    bpy.ops.softpressure.add_hose()


@state
def a_hose_without_a_body() -> None:
    a_hose()
    bpy.data.objects.remove(bpy.data.objects["Other"])
    bpy.context.view_layer.update()


@state
def a_body_in_two_scenes() -> None:
    ball()
    bpy.ops.softpressure.simulate()
    bpy.ops.scene.new(type="LINK_COPY")


@state
def a_range_of_one_frame() -> None:
    ball()
    bpy.context.scene.softpressure.frame_start = bpy.context.scene.softpressure.frame_end = 3


@state
def at_another_frame() -> None:
    ball()
    bpy.context.scene.frame_set(-20)


@state
def everything_hurts() -> None:
    """What the solver refuses at the start, after all checks of the file."""
    obj = ball()
    obj.softpressure.gauge_pressure = 1e9


@state
def a_job_runs() -> None:
    """Simulate is under way."""
    ball()
    bpy.ops.softpressure.simulate()
    bpy.context.scene.softpressure.frame_end = 6
    _begin("simulate_job", "simulate")


@state
def a_bake_runs() -> None:
    ball()
    bpy.ops.softpressure.simulate()
    _begin("bake", "bake")


def _begin(module: str, function: str) -> None:
    import importlib

    import softpressure_ext

    package = f"{softpressure_ext.__name__}.softpressure"
    folder = {"simulate_job": "simulation", "bake": "baking"}[module]
    work = getattr(importlib.import_module(f"{package}.{folder}.{module}"), function)(bpy.context.scene)
    job = importlib.import_module(f"{package}.state.jobs").Job(work)
    _running.append(job)
    for _ in range(3):
        job.advance()
