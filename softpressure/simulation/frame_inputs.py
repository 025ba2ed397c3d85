"""Input of the bodies in each frame of a run, read from evaluated objects. World space throughout."""

import bpy
import numpy as np

from ...core import FrameInput, SoftPressureError, nrt, parameters
from ..scene_io import fields, hoses, instances, mesh_io, rotations, units, vacuum
from ..scene_io.mesh_io import FloatArray, IntArray
from ..state.snapshot import ColliderSnapshot, RigidSnapshot, Snapshot
from .capture import evaluated_of, values_of

#: Least visible change of shape, as a share of the size.
_UNSEEN = 1e-3
#: By the number of a soft body whose drawn mesh follows another: vertices, and where [m] the animation has them.
Placed = dict[int, tuple[IntArray | slice, FloatArray]]


def frame_input(
    start: Snapshot, objects: dict[int, bpy.types.Object], depsgraph: bpy.types.Depsgraph
) -> tuple[FrameInput, Placed]:
    """Input at the end of this frame: given positions, animated values, fields; and what is drawn as it is placed."""
    values: dict[int, dict[str, float]] = {}
    attached: dict[int, bool] = {}
    held: dict[int, FloatArray] = {}
    held_rigid: dict[int, FloatArray] = {}
    pressures: dict[int, float] = {}
    gas: dict[int, float] = {}
    pins: dict[int, FloatArray] = {}
    pulled: dict[int, FloatArray] = {}
    moved: dict[int, FloatArray] = {}
    placed: Placed = {}
    for number, body in enumerate(start.bodies):
        evaluated = evaluated_of(objects[body.object_uid], depsgraph)
        settings = evaluated.softpressure
        if "gas_amount" in body.settings:
            gas[number] = nrt(settings.gas_amount, settings.temperature)
        elif "gauge_pressure" in body.settings:
            pressures[number] = settings.gauge_pressure
        names = tuple(
            name for name in parameters.animated(body.kind) if name in body.settings
        )  # that count in this run
        values[number] = values_of(settings, names, start.metres)
        if pressures.get(number, 0.0) < 0.0:
            values[number]["damping"] += vacuum.damping(
                pressures[number], body.positions, body.triangles, body.settings
            )  # fmt: skip
        if body.attached_uid:
            attached[number] = settings.is_attached
        is_held = not settings.is_active
        if is_held or len(body.pinned) or body.pulled is not None:
            matrix = units.to_metres(mesh_io.world_matrix(evaluated), start.metres)
            positions = mesh_io.to_world(matrix, mesh_io.read_local(evaluated.data))
            pins |= {number: body.led(positions, body.pinned)} if len(body.pinned) else {}
            pulled |= {number: body.led(positions, body.pulled.vertices)} if body.pulled is not None else {}
            held |= {number: body.led(positions)} if is_held else {}
            if body.exact is not None:
                placed[number] = (slice(None), positions) if is_held else (body.exact, positions[body.exact])
    for number, rigid_body in enumerate(start.rigid, len(start.bodies)):
        evaluated = evaluated_of(objects[rigid_body.object_uid], depsgraph)
        values[number] = values_of(evaluated.softpressure, parameters.animated("RIGID"), start.metres)
        if rigid_body.object_uid not in start.reshaped and _is_reshaped(rigid_body, evaluated):
            start.reshaped[rigid_body.object_uid] = (
                f"{rigid_body.name}: its modifiers or shape keys change its shape; as a rigid body it keeps that of "
                "the first frame. Make it a collider to have it touched as it is drawn."
            )
        if not evaluated.softpressure.is_active:
            transform = rotations.moved(rigid_body.matrix, mesh_io.world_matrix(evaluated))
            transform[:3, 3] *= start.metres
            held_rigid[number - len(start.bodies)] = transform
    for number, collider in enumerate(start.colliders):
        evaluated = evaluated_of(objects[collider.object_uid], depsgraph)
        values[len(start.uids()) + number] = values_of(
            evaluated.softpressure, parameters.animated("COLLIDER"), start.metres
        )
        if _move(collider, objects[collider.object_uid], evaluated, depsgraph, start.metres):
            moved[number] = collider.positions
    links = enumerate(start.links())
    valves = {number: hoses.valve_of(objects.get(hose.object_uid), depsgraph) for number, (*_, hose) in links}
    scene = depsgraph.scene_eval
    acting, falls = fields.of_frame([objects[uid] for uid in start.uids()], objects.values(), depsgraph, start.metres)
    given = FrameInput(
        gauge_pressure=pressures,
        pinned_positions=pins,
        goal_positions=pulled,
        collider_positions=moved,
        values=values,
        attached=attached,
        held=held,
        held_rigid=held_rigid,
        gravity=units.gravity(scene),
        fields=acting,
        gravity_shares=falls,
        gas=gas,
        valves=valves,
        **values_of(scene.softpressure, parameters.animated(parameters.SCENE), start.metres),
    )
    return given, placed


def _is_reshaped(rigid_body: RigidSnapshot, evaluated: bpy.types.Object) -> bool:
    """Whether what is drawn of a rigid body is no longer what it was at the first frame."""
    if rigid_body.local is None:
        return False
    local = mesh_io.read_local(evaluated.data)
    return local.shape != rigid_body.local.shape or bool(
        np.abs(local - rigid_body.local).max() > _UNSEEN * np.ptp(rigid_body.local)
    )


def _move(
    collider: ColliderSnapshot,
    obj: bpy.types.Object,
    evaluated: bpy.types.Object,
    depsgraph: bpy.types.Depsgraph,
    metres: float,
) -> bool:
    """Read a collider's present positions; False if it has not moved."""
    matrix = units.to_metres(mesh_io.world_matrix(evaluated), metres)
    if collider.local is not None and np.array_equal(matrix, collider.matrix):
        return False
    local = collider.local
    if local is None:
        whole = instances.read_points(obj, evaluated, depsgraph)
        if len(whole) != collider.vertex_count:
            raise SoftPressureError(
                f"{collider.name}: changes from {collider.vertex_count} to {len(whole)} vertices while it is animated. "
                "A collider must keep its topology: remove what changes it."
            )
        local = whole[collider.used]
    positions = mesh_io.to_world(matrix, local)
    has_moved = not np.array_equal(positions, collider.positions)
    collider.positions, collider.matrix = positions, matrix
    return has_moved
