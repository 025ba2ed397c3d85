"""From a snapshot to the core's model and world. Reads none of Blender's data, so a worker thread may do it."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import bpy

from ...core import MethodOptions, Model, ModelBuilder, SoftPressureError, World
from ..bodies import wording
from ..scene_io import scene_settings, time_mapping, units
from ..state.snapshot import ColliderSnapshot, RigidSnapshot, SceneValues, Snapshot, SoftSnapshot
from . import loading

loading.use_own_folder()  # worlds call kernels


class _Refused(Exception):
    """The core refuses an object."""


def values_of_scene(scene: bpy.types.Scene) -> SimpleNamespace:
    """The settings of a scene that the functions below read, as plain values for any thread."""
    settings = scene.softpressure
    names = [
        each.identifier
        for each in settings.bl_rna.properties
        if each.type != "COLLECTION" and each.identifier not in {"rna_type", "name"}
    ]
    return SimpleNamespace(
        gravity=scene.gravity[:],
        use_gravity=scene.use_gravity,
        unit_settings=SimpleNamespace(system=scene.unit_settings.system, scale_length=scene.unit_settings.scale_length),
        render=SimpleNamespace(**{name: getattr(scene.render, name) for name in time_mapping.RENDER}),
        softpressure=SimpleNamespace(**{name: getattr(settings, name) for name in names}),
    )


def model_of(scene: SceneValues, start: Snapshot) -> Model:
    """The core's model of a captured scene; objects that the core refuses are removed.

    Raises `Refusals` if none is left, and `ParameterError` for settings of the scene.
    """
    while True:
        try:
            return _build(scene, start)
        except _Refused as refusal:
            uid, sentence = refusal.args
            start.set_aside({uid: sentence})


def _build(scene: SceneValues, start: Snapshot) -> Model:
    """The same; raises `_Refused` for the first object that the core refuses."""
    given = units.settings_in_metres(scene_settings.of_scene(scene.softpressure, "MODEL"), units.metres_per_unit(scene))
    builder = ModelBuilder(gravity=units.gravity(scene), **given)
    for number, body in enumerate(start.bodies):
        with _naming(body):
            if body.kind == "MEMBRANE":
                builder.add_membrane(body.name, body.positions, body.triangles, pinned=body.pinned, **body.settings)
            elif body.outline is not None:
                add = builder.add_loop if body.kind == "LOOP" else builder.add_flat_truss
                add(body.name, body.positions, body.outline, pinned=body.pinned, **body.settings)
            else:
                builder.add_solid(
                    body.name, body.positions, body.triangles, kind=body.kind, pinned=body.pinned, **body.settings
                )
            if body.pulled is not None:
                body.pulled.add_to(builder, number)
            if body.weak is not None:
                builder.weaken(number, *body.weak)
            if body.pressed is not None:
                builder.weigh_pressure(number, *body.pressed)
            if body.tied is not None:
                builder.tie(number, body.tied)
    for rigid_body in start.rigid:
        with _naming(rigid_body):
            builder.add_rigid(rigid_body.name, rigid_body.positions, rigid_body.triangles, **rigid_body.settings)
    for collider in start.colliders:
        with _naming(collider):
            builder.add_collider(
                collider.name, collider.positions, collider.triangles, deforms=collider.local is None,
                **collider.settings,
            )  # fmt: skip
    uids = start.uids()
    for number, body in enumerate(start.bodies):
        if body.attached_uid:
            other = uids.index(body.attached_uid)
            with _naming(body):
                if other < len(start.bodies):
                    builder.attach_to_membrane(number, body.attached, other)
                else:
                    builder.attach_to_rigid(number, body.attached, other - len(start.bodies))
    for one, other, hose in start.links():
        hose.add_to(builder, one, other)
    return builder.build(ignores=start.ignored())


@contextmanager
def _naming(part: SoftSnapshot | RigidSnapshot | ColliderSnapshot) -> Iterator[None]:
    """Name the object in an error of the core."""
    try:
        yield
    except SoftPressureError as error:
        raise _Refused(part.object_uid, wording.of(error)) from error


def world_of(scene: SceneValues, model: Model) -> World:
    """The core's world for a run of a scene; raises `ParameterError`."""
    settings = scene.softpressure
    world = World(
        model,
        frame_rate=time_mapping.frame_rate(scene),
        options=MethodOptions(**scene_settings.of_scene(settings, "OPTIONS")),
        **scene_settings.of_scene(settings, "WORLD"),
    )
    world.first_frame = settings.frame_start
    return world
