"""From evaluated objects to the core's model and to what drives it in each frame. World space throughout."""

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ..core import Choice, FrameInput, Model, ModelBuilder, SoftPressureError, World
from ..core.solvers.automatic import choice_of
from . import bodies, fingerprint, mesh_io, method_options, rigid_shape, session
from .mesh_io import Float32Array, FloatArray, IntArray

_SURFACE = ("friction", "bounciness", "thickness")
_SKIN = (
    "mass",
    "gauge_pressure",
    "stretch_modulus",
    "bend_modulus",
    "damping",
    "velocity",
    "self_collision",
    *_SURFACE,
)
_LATTICE = ("mass", "cell_size", "modulus", "poisson_ratio", "damping", "velocity", *_SURFACE)
_TRUSS = (*_LATTICE, "particle_radius")
_LOOP = (*_SKIN, "depth")
_FLAT_TRUSS = ("mass", "cell_size", "depth", "modulus", "particle_radius", "damping", "velocity", *_SURFACE)
_SOLID = ("mass", "linear_damping", "angular_damping", "velocity", "angular_velocity", *_SURFACE)


@dataclass(slots=True)
class Body:
    """One soft body at the first frame."""

    object_uid: int
    name: str
    positions: FloatArray  # [m], shape (vertex_count, 3)
    triangles: IntArray
    pinned: IntArray  # ascending vertex numbers
    attached: IntArray  # ascending vertex numbers, glued to `attached_uid`
    attached_uid: int  # `session_uid` of a soft or rigid object, 0 if nothing is attached
    kind: str  # MEMBRANE, LOOP, TRUSS or SOLID
    settings: dict[str, Any]
    outline: IntArray | None = None  # edges of the outline of a flat body, shape (edge_count, 2)


@dataclass(slots=True)
class Solid:
    """One rigid body at the first frame."""

    object_uid: int
    name: str
    positions: FloatArray  # of its surface [m], shape (vertex_count, 3)
    triangles: IntArray
    matrix: FloatArray  # world from local, shape (4, 4)
    settings: dict[str, Any]


@dataclass(slots=True)
class Obstacle:
    """One collider at the first frame, and where it was last."""

    object_uid: int
    name: str
    vertex_count: int  # of the evaluated mesh
    used: IntArray  # vertices of it that take part
    triangles: IntArray  # in numbers of `used`
    positions: FloatArray  # [m], shape (len(used), 3)
    local: Float32Array | None  # of `used`, None if its shape can change with the frame
    matrix: FloatArray
    settings: dict[str, Any]


@dataclass(slots=True)
class Start:
    """Everything a simulation starts from."""

    bodies: list[Body]
    solids: list[Solid]
    obstacles: list[Obstacle]

    def uids(self) -> tuple[int, ...]:
        """`session_uid` of the objects that move, in the order of the cache: soft bodies, rigid bodies."""
        return tuple(body.object_uid for body in (*self.bodies, *self.solids))

    def fingerprint(self) -> str:
        """A name for these shapes and settings."""
        values: list[object] = []
        for body in self.bodies:
            values += [body.name, body.positions, body.triangles, body.pinned, body.attached, body.kind, body.settings]
            values += [] if body.outline is None else [body.outline]
        for solid in self.solids:
            values += [solid.name, solid.positions, solid.triangles, solid.matrix, solid.settings]
        for obstacle in self.obstacles:
            values += [obstacle.name, obstacle.positions, obstacle.triangles, obstacle.settings]
        uids = self.uids()
        values.append([uids.index(body.attached_uid) for body in self.bodies if body.attached_uid])
        return fingerprint.of_arrays(values)


class Refusals(SoftPressureError):
    """One or more objects cannot take part; one sentence per object."""


def start(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> Start:
    """Capture all bodies; their meshes must show the input stage. Raises `Refusals`."""
    found = Start([], [], [])
    sentences = []
    for obj in session.objects(scene, "SOFT", "RIGID", "COLLIDER"):
        try:
            if obj.softpressure.kind == "COLLIDER":
                found.obstacles.append(_obstacle(obj, depsgraph))
            elif obj.softpressure.kind == "RIGID":
                found.solids.append(_solid(obj, depsgraph))
            else:
                found.bodies.append(_body(scene, obj, depsgraph))
            session.problems.pop(obj.session_uid, None)
        except SoftPressureError as error:
            session.problems[obj.session_uid] = str(error)
            sentences.append(str(error))
    if sentences:
        raise Refusals("\n".join(sentences))
    return found


def build_model(scene: bpy.types.Scene, start: Start) -> Model:
    """The core's model of a captured scene; raises `MeshError` or `ParameterError`."""
    builder = ModelBuilder(
        gravity=scene.gravity[:] if scene.use_gravity else (0.0, 0.0, 0.0),
        ambient_pressure=scene.softpressure.ambient_pressure,
    )
    for body in start.bodies:
        if body.kind == "MEMBRANE":
            builder.add_membrane(body.name, body.positions, body.triangles, pinned=body.pinned, **body.settings)
        elif body.outline is not None:
            add = builder.add_loop if body.kind == "LOOP" else builder.add_flat_truss
            add(body.name, body.positions, body.outline, pinned=body.pinned, **body.settings)
        else:
            builder.add_solid(
                body.name, body.positions, body.triangles, kind=body.kind, pinned=body.pinned, **body.settings
            )
    for solid in start.solids:
        builder.add_rigid(solid.name, solid.positions, solid.triangles, **solid.settings)
    for obstacle in start.obstacles:
        builder.add_collider(obstacle.name, obstacle.positions, obstacle.triangles, **obstacle.settings)
    uids = start.uids()
    for number, body in enumerate(start.bodies):
        if body.attached_uid:
            other = uids.index(body.attached_uid)
            if other < len(start.bodies):
                builder.attach_to_membrane(number, body.attached, other)
            else:
                builder.attach_to_rigid(number, body.attached, other - len(start.bodies))
    return builder.build()


def choose(scene: bpy.types.Scene, model: Model) -> Choice | None:
    """What a new run of a scene is made with; None where its method says it all. Raises `ParameterError`."""
    settings = scene.softpressure
    options = method_options.of(settings)
    return choice_of(settings.solver, model, 1.0 / _frame_rate(scene), settings.substeps, options)


def build_world(scene: bpy.types.Scene, model: Model, choice: Choice | None) -> World:
    """The core's world for a run of a scene; raises `ParameterError`."""
    settings = scene.softpressure
    return World(
        model,
        frame_rate=_frame_rate(scene),
        substeps=settings.substeps,
        threads=settings.threads,
        solver=settings.solver,
        options=method_options.of(settings),
        choice=choice,
    )


def _frame_rate(scene: bpy.types.Scene) -> float:
    """Frames per second."""
    return float(scene.render.fps / scene.render.fps_base)


def frame_input(start: Start, objects: dict[int, bpy.types.Object], depsgraph: bpy.types.Depsgraph) -> FrameInput:
    """What drives the bodies at the end of this frame: pressures, pins, moved colliders."""
    pressures: dict[int, float] = {}
    pins: dict[int, FloatArray] = {}
    moved: dict[int, FloatArray] = {}
    for number, body in enumerate(start.bodies):
        evaluated = _evaluated(objects[body.object_uid], depsgraph)
        if body.kind in {"MEMBRANE", "LOOP"}:
            pressures[number] = evaluated.softpressure.gauge_pressure
        if len(body.pinned):
            positions = mesh_io.to_world(mesh_io.world_matrix(evaluated), mesh_io.read_local(evaluated.data))
            pins[number] = positions[body.pinned]
    for number, obstacle in enumerate(start.obstacles):
        if _move(obstacle, _evaluated(objects[obstacle.object_uid], depsgraph)):
            moved[number] = obstacle.positions
    return FrameInput(gauge_pressure=pressures, pinned_positions=pins, collider_positions=moved)


def world_matrices(
    start: Start, objects: dict[int, bpy.types.Object], depsgraph: bpy.types.Depsgraph
) -> list[FloatArray]:
    """World from local matrix of every soft body."""
    return [mesh_io.world_matrix(objects[body.object_uid].evaluated_get(depsgraph)) for body in start.bodies]


def frame_of(
    world: World, start: Start, objects: dict[int, bpy.types.Object], depsgraph: bpy.types.Depsgraph
) -> tuple[list[FloatArray], list[FloatArray]]:
    """What the cache keeps of a frame: positions and world matrices of every body, soft ones first.

    A rigid body has no positions; its matrix says where it is.
    """
    positions = [world.positions(number) for number in range(len(start.bodies))]
    positions += [np.empty((0, 3))] * len(start.solids)
    matrices = world_matrices(start, objects, depsgraph)
    matrices += [world.rigid_transform(number) @ solid.matrix for number, solid in enumerate(start.solids)]
    return positions, matrices


def _evaluated(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bpy.types.Object:
    evaluated = obj.evaluated_get(depsgraph)
    if not evaluated.is_evaluated:
        raise SoftPressureError(
            f"{obj.name}: is not evaluated: it (or its collection) is disabled in viewports or not in the view layer. "
            "Enable it, or remove it from the simulation."
        )
    return evaluated


def _body(scene: bpy.types.Scene, obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Body:
    settings = obj.softpressure
    bodies.check_before_capture(obj)
    _check_parents(obj)
    evaluated = _evaluated(obj, depsgraph)
    if settings.is_baked:
        raise SoftPressureError(f"{obj.name}: is baked. Free the bake before simulating again.")
    if mesh_io.live_key(obj) is None:
        raise SoftPressureError(f"{obj.name}: has lost its shape key {mesh_io.LIVE_KEY}. Add it as a soft body again.")
    if settings.pin_group and settings.pin_group not in obj.vertex_groups:
        raise SoftPressureError(
            f"{obj.name}: has no vertex group {settings.pin_group}. Choose an existing pin group or clear the field."
        )
    mesh, matrix = evaluated.data, mesh_io.world_matrix(evaluated)
    positions = mesh_io.to_world(matrix, mesh_io.read_local(mesh))
    triangles = mesh_io.read_triangles(mesh, matrix)
    if len(positions) != len(obj.data.vertices):
        raise SoftPressureError(
            f"{obj.name}: evaluates to {len(positions)} vertices instead of {len(obj.data.vertices)}. "
            "Apply what changes its topology, or move it behind the deforming modifiers."
        )
    bodies.check_surface_of(obj, "SOFT", positions, triangles, mesh)
    pinned = mesh_io.group_vertices(obj, settings.pin_group)
    attached, target = _attachment(scene, obj)
    kind = settings.body_type
    outline = mesh_io.read_outline(mesh) if bodies.is_flat_body(kind, positions) else None
    truss = _TRUSS if outline is None else _FLAT_TRUSS
    names = {"MEMBRANE": _SKIN, "LOOP": _LOOP, "SOLID": _LATTICE, "TRUSS": truss}
    values = _values(evaluated.softpressure, names[kind])
    if kind in {"MEMBRANE", "LOOP"}:
        values |= fingerprint.filling(evaluated.softpressure)
    return Body(obj.session_uid, obj.name, positions, triangles, pinned, attached, target, kind, values, outline)


def _attachment(scene: bpy.types.Scene, obj: bpy.types.Object) -> tuple[IntArray, int]:
    """The vertices of a soft body that are glued, and the `session_uid` of the object they are glued to, 0 if none."""
    target, group = obj.softpressure.attach_to, obj.softpressure.attach_group
    if target is None:
        return np.empty(0, np.int32), 0
    if target == obj:
        raise SoftPressureError(f"{obj.name}: is attached to itself. Choose another body or clear Attach To.")
    kind = target.softpressure.kind
    if kind == "COLLIDER":
        raise SoftPressureError(
            f"{obj.name}: is attached to {target.name}, a collider. Attach it to a soft or rigid body; "
            "to follow an animated object, parent it to that and pin the group."
        )
    if target not in session.objects(scene, "SOFT", "RIGID"):
        raise SoftPressureError(
            f"{obj.name}: is attached to {target.name}, which is no soft or rigid body of this scene. "
            "Add that as a body or clear Attach To."
        )
    if not group:
        raise SoftPressureError(
            f"{obj.name}: is attached to {target.name} without an attach group. Choose the group of vertices to glue."
        )
    if group not in obj.vertex_groups:
        raise SoftPressureError(
            f"{obj.name}: has no vertex group {group}. Choose an existing attach group or clear Attach To."
        )
    attached = mesh_io.group_vertices(obj, group)
    if not len(attached):
        raise SoftPressureError(
            f"{obj.name}: no vertex weighs more than 0.5 in the attach group {group}. Assign some with weight 1."
        )
    return attached, target.session_uid


def _solid(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Solid:
    settings = obj.softpressure
    bodies.check_before_capture(obj)
    if settings.is_baked:
        raise SoftPressureError(f"{obj.name}: is baked. Free the bake before simulating again.")
    evaluated = _evaluated(obj, depsgraph)
    matrix = mesh_io.world_matrix(evaluated)
    positions, triangles = rigid_shape.read(obj.name, evaluated.data, matrix, settings.rigid_shape)
    return Solid(obj.session_uid, obj.name, positions, triangles, matrix, _values(evaluated.softpressure, _SOLID))


def _check_parents(obj: bpy.types.Object) -> None:
    """Raise if an object hangs below a rigid body in the outliner: that is moved after its children were read."""
    parent = obj.parent
    while parent is not None:
        if parent.type == "MESH" and parent.softpressure.kind == "RIGID":
            remedy = "attach it instead" if obj.softpressure.kind == "SOFT" else "make it part of that mesh"
            raise SoftPressureError(
                f"{obj.name}: its parent {parent.name} is a rigid body. "
                f"Clear the parent (Alt P, Keep Transformation) and {remedy}."
            )
        parent = parent.parent


def _values(settings: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Settings as plain numbers and tuples."""
    values = {name: getattr(settings, name) for name in names}
    return {name: value if isinstance(value, (float, bool)) else tuple(value) for name, value in values.items()}


def _obstacle(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Obstacle:
    bodies.check_before_capture(obj)
    _check_parents(obj)
    evaluated = _evaluated(obj, depsgraph)
    mesh, matrix = evaluated.data, mesh_io.world_matrix(evaluated)
    local = mesh_io.read_local(mesh)
    positions = mesh_io.to_world(matrix, local)
    triangles = mesh_io.read_triangles(mesh, matrix)
    bodies.check_surface_of(obj, "COLLIDER", positions, triangles, mesh)
    used, kept = bodies.usable_part(positions, triangles)
    return Obstacle(
        object_uid=obj.session_uid,
        name=obj.name,
        vertex_count=len(local),
        used=used,
        triangles=kept,
        positions=positions[used],
        local=local[used] if bodies.is_as_drawn(obj) else None,
        matrix=matrix,
        settings=_values(obj.softpressure, _SURFACE),
    )


def _move(obstacle: Obstacle, evaluated: bpy.types.Object) -> bool:
    """Bring a collider to where it is now; False if it has not moved."""
    matrix = mesh_io.world_matrix(evaluated)
    if obstacle.local is not None and np.array_equal(matrix, obstacle.matrix):
        return False
    local = obstacle.local
    if local is None:
        whole = mesh_io.read_local(evaluated.data)
        if len(whole) != obstacle.vertex_count:
            raise SoftPressureError(
                f"{obstacle.name}: changes from {obstacle.vertex_count} to {len(whole)} vertices while it is animated. "
                "A collider must keep its topology: remove what changes it."
            )
        local = whole[obstacle.used]
    positions = mesh_io.to_world(matrix, local)
    has_moved = not np.array_equal(positions, obstacle.positions)
    obstacle.positions, obstacle.matrix = positions, matrix
    return has_moved
