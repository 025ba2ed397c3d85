"""Capture: from evaluated objects to a snapshot of plain data. World space throughout, in metres.

Only world matrices are in Blender units: they place the positions that the cache keeps, which are in Blender units.
"""

import contextlib
from typing import Any

import bpy

from ...core import SoftPressureError, parameters
from ...core.bodies.automatic_cells import automatic_cell_size
from ...core.bodies.freeze import NEVER_TEARS
from ...core.parameters.gas import FOLLOWING
from ..bodies import object_checks, validation, wording
from ..scene_io import (
    actions,
    collision_filter,
    flat_shape,
    goals,
    instances,
    mesh_io,
    rigid_shape,
    seen_shape,
    simulation_mesh,
    simulation_mesh_choice,
    units,
    vacuum,
)
from ..scene_io.hoses import capture as hoses_between
from ..scene_io.mesh_io import Float32Array, FloatArray, IntArray
from ..state import sessions
from ..state.snapshot import ColliderSnapshot, RigidSnapshot, Snapshot, SoftSnapshot


def start(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> Snapshot:
    """Capture all bodies that can take part; their meshes must show the input stage. Raises `Refusals`."""
    found = Snapshot([], [], [], metres=units.metres_per_unit(scene))
    known = validation.static_problems(scene)
    refused = {}
    objects = [each for each in sessions.objects(scene, "SOFT", "RIGID", "COLLIDER") if each.session_uid not in known]
    seen = _seen(objects, depsgraph, found.metres)
    for obj in objects:
        try:
            if obj.softpressure.kind == "COLLIDER":
                found.colliders.append(_collider(obj, depsgraph, found.metres))
            elif obj.softpressure.kind == "RIGID":
                found.rigid.append(_rigid(obj, depsgraph, found.metres))
            else:
                found.bodies.append(_body(scene, obj, seen, depsgraph, found.metres))
        except SoftPressureError as error:
            refused[obj.session_uid] = wording.of(error)
        accepted = collision_filter.accepted(obj)
        if accepted is not None:
            found.accepted[obj.session_uid] = accepted
    found.set_aside(refused)
    found.hoses = hoses_between(scene, depsgraph, (body.object_uid for body in found.bodies))
    return found


def world_matrices(
    start: Snapshot, objects: dict[int, bpy.types.Object], depsgraph: bpy.types.Depsgraph
) -> list[FloatArray]:
    """World from local matrix of every soft body."""
    return [mesh_io.world_matrix(objects[body.object_uid].evaluated_get(depsgraph)) for body in start.bodies]


def evaluated_of(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bpy.types.Object:
    """An object evaluated at the present frame; raises `SoftPressureError` if it is not evaluated."""
    evaluated = obj.evaluated_get(depsgraph)
    if not evaluated.is_evaluated:
        raise validation.not_evaluated(obj)
    return evaluated


def missing_meshes(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> list[simulation_mesh.Wanted]:
    """The even meshes that `start` would make, for who makes them in slices before it. Meshes must show the input."""
    metres, known, found = units.metres_per_unit(scene), validation.static_problems(scene), []
    objects = [obj for obj in sessions.objects(scene, "SOFT") if obj.session_uid not in known]
    objects = [obj for obj in objects if simulation_mesh_choice.may_be_even(obj)]
    seen = _seen(objects, depsgraph, metres)
    for obj in objects:
        with contextlib.suppress(SoftPressureError):  # `start` says so
            shape = _drawn_of(obj, seen, depsgraph, metres)[1]
            wanted = simulation_mesh.wanted(scene, obj, shape)
            found += [] if wanted is None else [wanted]
    return found


def _seen(
    objects: list[bpy.types.Object], depsgraph: bpy.types.Depsgraph, metres: float
) -> dict[int, tuple[Float32Array, IntArray]]:
    """What modifiers show of those of these objects that may follow another mesh."""
    return seen_shape.read((obj for obj in objects if simulation_mesh_choice.may_be_even(obj)), depsgraph, metres)


def _drawn_of(
    obj: bpy.types.Object,
    seen: dict[int, tuple[Float32Array, IntArray]],
    depsgraph: bpy.types.Depsgraph,
    metres: float,
) -> tuple[bpy.types.Object, seen_shape.Shape]:
    """A soft body evaluated, and its shape; raises `SoftPressureError` if that cannot be a body."""
    evaluated = evaluated_of(obj, depsgraph)
    mesh, matrix = evaluated.data, units.to_metres(mesh_io.world_matrix(evaluated), metres)
    local, triangles = mesh_io.read_local(mesh), mesh_io.read_triangles(mesh, matrix)
    if len(local) != len(obj.data.vertices):
        raise SoftPressureError(
            f"{obj.name}: evaluates to {len(local)} vertices instead of {len(obj.data.vertices)}. "
            "Apply what changes its topology, or move it behind the deforming modifiers."
        )
    points, faces = seen.get(obj.session_uid, (local, triangles))
    object_checks.check_left(obj.name, len(points))
    positions = mesh_io.to_world(matrix, points)
    object_checks.check_size(obj.name, positions)
    if not object_checks.is_as_drawn(obj):  # else it has been looked at
        object_checks.check_surface_of(obj, "SOFT", positions, faces, mesh)
    return evaluated, seen_shape.shape_of(seen.get(obj.session_uid), local, triangles, matrix)


def _body(
    scene: bpy.types.Scene,
    obj: bpy.types.Object,
    seen: dict[int, tuple[Float32Array, IntArray]],
    depsgraph: bpy.types.Depsgraph,
    metres: float,
) -> SoftSnapshot:
    settings = obj.softpressure
    evaluated, shape = _drawn_of(obj, seen, depsgraph, metres)
    mesh, triangles = evaluated.data, shape.own_triangles
    positions = shape.world
    target = settings.attach_to
    attached = mesh_io.group_vertices(obj, "" if target is None else settings.attach_group)
    kind = settings.body_type
    outline = mesh_io.read_outline(mesh) if flat_shape.is_flat_body(kind, positions) else None
    body = "FLAT_TRUSS" if kind == "TRUSS" and outline is not None else kind
    values = values_of(evaluated.softpressure, parameters.captured(body, settings), metres)
    uid, name = (0, "") if target is None else (target.session_uid, target.name)
    weak = mesh_io.group_weights(obj, settings.weak_group) if settings.weak_group and kind == "MEMBRANE" else None
    has_gas, group = kind in parameters.SKINS, settings.pressure_group
    pressed = mesh_io.group_weights(obj, group) if group and has_gas else None
    drawn = None
    even = None if outline is not None else simulation_mesh.followed(scene, obj, shape, depsgraph)
    if even is not None:
        positions, triangles, drawn = even
        pressed = None if pressed is None else drawn.values(*pressed)
        weak = None if weak is None else drawn.values(*weak)
        attached = drawn.vertices(attached)
    tied = mesh_io.group_vertices(obj, settings.tie_group) if settings.tie_group and kind == "MEMBRANE" else None
    tied = tied if tied is None or drawn is None else drawn.vertices(tied)
    pinned, pulled = goals.read(obj, drawn)
    exact = None if drawn is None else goals.read(obj)[0]
    if "gauge_pressure" in values and vacuum.is_held(scene, obj):
        values["gas_hold"] = "PRESSURE"
    if values["tear_strain"] == 0.0 and "softpressure.tear_strain" in actions.animated_paths(obj):
        values["tear_strain"] = NEVER_TEARS
    if values.get("cell_size") == 0.0:
        count = simulation_mesh_choice.vertex_count(scene, obj)
        inside = None if outline is not None else triangles
        values["cell_size"] = automatic_cell_size(obj.name, positions, inside, outline, count)
    if len(triangles) and kind in FOLLOWING:
        values["thickness"] = simulation_mesh.thickness(values["thickness"], positions, triangles, drawn)
    return SoftSnapshot(
        obj.session_uid, obj.name, positions, triangles, pinned, attached, uid, name, kind, values, outline, pulled,
        weak, pressed, drawn, exact, tied,
    )  # fmt: skip


def _rigid(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, metres: float) -> RigidSnapshot:
    settings = obj.softpressure
    evaluated = evaluated_of(obj, depsgraph)
    matrix = mesh_io.world_matrix(evaluated)
    in_metres = units.to_metres(matrix, metres)
    object_checks.check_left(obj.name, len(evaluated.data.vertices))
    positions, triangles = rigid_shape.read(obj.name, evaluated.data, in_metres, settings.rigid_shape)
    values = values_of(evaluated.softpressure, parameters.captured("RIGID", settings), metres)
    local = None if object_checks.is_as_drawn(obj) else mesh_io.read_local(evaluated.data)
    return RigidSnapshot(obj.session_uid, obj.name, positions, triangles, matrix, values, local)


def values_of(settings: Any, names: tuple[str, ...], metres: float) -> dict[str, Any]:
    """Settings as plain numbers, strings and tuples, in SI units."""
    values = {name: getattr(settings, name) for name in names}
    plain = {name: value if isinstance(value, (float, bool, str)) else tuple(value) for name, value in values.items()}
    return units.settings_in_metres(plain, metres)


def _collider(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, metres: float) -> ColliderSnapshot:
    evaluated = evaluated_of(obj, depsgraph)
    mesh, matrix = evaluated.data, units.to_metres(mesh_io.world_matrix(evaluated), metres)
    local, triangles = instances.read_local(obj, evaluated, depsgraph)
    object_checks.check_left(obj.name, len(local))
    positions = mesh_io.to_world(matrix, local)
    object_checks.check_size(obj.name, positions)
    if not object_checks.is_as_drawn(obj):
        object_checks.check_surface_of(obj, "COLLIDER", positions, triangles, mesh)
    used, kept = object_checks.usable_part(positions, triangles)
    return ColliderSnapshot(
        object_uid=obj.session_uid,
        name=obj.name,
        vertex_count=len(local),
        used=used,
        triangles=kept,
        positions=positions[used],
        local=local[used] if object_checks.is_as_drawn(obj) else None,
        matrix=matrix,
        settings=values_of(evaluated.softpressure, parameters.captured("COLLIDER", obj.softpressure), metres),
    )
