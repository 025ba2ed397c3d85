"""Capture: from evaluated objects to the core's model. World space throughout, in metres.

Only world matrices are in Blender units: they place the positions that the cache keeps, which are in Blender units.
"""

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np

from ..core import MethodOptions, Model, ModelBuilder, SoftPressureError, World, parameters
from ..core.array_types import BoolArray
from ..core.bodies.freeze import NEVER_TEARS
from . import (
    actions,
    bodies,
    fingerprint,
    flat_shape,
    goals,
    instances,
    loading,
    mesh_io,
    rigid_shape,
    scene_settings,
    seen_shape,
    session,
    simulation_choice,
    simulation_mesh,
    taking_part,
    time_mapping,
    touching,
    units,
    vacuum,
)
from .hoses import Hose
from .hoses import capture as hoses_between
from .mesh_io import Float32Array, FloatArray, IntArray

SceneValues = bpy.types.Scene | SimpleNamespace

loading.use_own_folder()  # worlds call kernels


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
    attached_name: str
    kind: str  # MEMBRANE, LOOP, TRUSS or SOLID
    settings: dict[str, Any]
    outline: IntArray | None = None  # edges of the outline of a flat body, shape (edge_count, 2)
    pulled: goals.Goals | None = None
    weak: tuple[IntArray, FloatArray] | None = None  # vertices that tear more easily, and their weights
    pressed: tuple[IntArray, FloatArray] | None = None  # vertices that the gas presses on, and their weights
    drawn: simulation_mesh.Drawn | None = None  # that follows an even mesh, of which all above is
    exact: IntArray | None = None  # of the drawn vertices that follow, those that the animation places
    tied: IntArray | None = None  # vertices that threads join to opposite ones, ascending

    @property
    def drawn_positions(self) -> FloatArray:
        """Positions of the drawn vertices [m], shape (drawn_count, 3)."""
        return self.positions if self.drawn is None else self.drawn.positions

    def seen(self, positions: FloatArray) -> FloatArray:
        """Where the drawn vertices are for simulated ones at `positions` [m]."""
        return positions if self.drawn is None else self.drawn.follower.positions(positions)

    def led(self, drawn_positions: FloatArray, vertices: IntArray | None = None) -> FloatArray:
        """Where the animation has what is simulated, or some vertices of it, for drawn vertices at positions [m]."""
        if self.drawn is None:
            return drawn_positions if vertices is None else drawn_positions[vertices]
        return self.drawn.inverse.positions(drawn_positions, vertices)

    def torn(self, triangles: BoolArray) -> BoolArray:
        """Which drawn triangles are torn, for those that are simulated."""
        return triangles if self.drawn is None else self.drawn.torn(triangles)

    @property
    def drawn_triangles(self) -> IntArray:
        """Triangles of the drawn mesh."""
        return self.triangles if self.drawn is None else self.drawn.triangles


@dataclass(slots=True)
class Solid:
    """One rigid body at the first frame."""

    object_uid: int
    name: str
    positions: FloatArray  # of its surface [m], shape (vertex_count, 3)
    triangles: IntArray
    matrix: FloatArray  # world in Blender units from local, shape (4, 4)
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
    matrix: FloatArray  # world [m] from local, shape (4, 4)
    settings: dict[str, Any]


@dataclass(slots=True)
class Start:
    """All bodies at the start of a run."""

    bodies: list[Body]
    solids: list[Solid]
    obstacles: list[Obstacle]
    #: Between those that were captured, of which others may be refused later.
    hoses: list[Hose] = field(default_factory=list)
    #: Length of a Blender unit [m].
    metres: float = 1.0
    #: `session_uid` of the objects that each body touches, by its own, where those are not all.
    accepted: dict[int, frozenset[int]] = field(default_factory=dict)
    #: Why other objects take no part, by `session_uid`, for reasons that are found at a start only.
    refused: dict[int, str] = field(default_factory=dict)

    def uids(self) -> tuple[int, ...]:
        """`session_uid` of the objects that move, in the order of the cache: soft bodies, rigid bodies."""
        return tuple(body.object_uid for body in (*self.bodies, *self.solids))

    def all_uids(self) -> tuple[int, ...]:
        """`session_uid` of all objects that take part, colliders last."""
        return *self.uids(), *(obstacle.object_uid for obstacle in self.obstacles)

    def ignored(self) -> BoolArray | None:
        """Pairs of bodies that do not touch, in the order of `all_uids`; None if all do."""
        uids = self.all_uids()
        return touching.ignored(uids, [self.accepted.get(uid) for uid in uids])

    def links(self) -> list[tuple[int, int, Hose]]:
        """The hoses whose bodies take part, with the numbers of these, in an order that does not depend on names."""
        number_of = {body.object_uid: number for number, body in enumerate(self.bodies)}
        known = [hose for hose in self.hoses if {*hose.ends} <= number_of.keys()]
        linked = [(number_of[hose.ends[0]], number_of[hose.ends[1]], hose) for hose in known]
        return sorted(linked, key=lambda link: (link[0], link[1], link[2].conductance))

    def in_units(self, positions: FloatArray) -> FloatArray:
        """Positions [m] in Blender units."""
        return positions / self.metres

    def set_aside(self, refused: dict[int, str]) -> None:
        """Remove refused objects and those attached to them; raises `Refusals` if none is left."""
        self.refused |= refused
        while True:
            kept = [body for body in self.bodies if body.object_uid not in self.refused]
            glued = [body for body in kept if body.attached_uid in self.refused]
            if not glued:
                break
            for body in glued:
                self.refused[body.object_uid] = taking_part.glued_text(body.name, body.attached_name)
        self.bodies = kept
        self.solids = [solid for solid in self.solids if solid.object_uid not in self.refused]
        self.obstacles = [obstacle for obstacle in self.obstacles if obstacle.object_uid not in self.refused]
        if not self.uids():
            raise Refusals(self.refused)

    def forget_places(self) -> None:
        """Drop the last positions of colliders, which the world's state holds: all that are read next count as
        moved.
        """
        for obstacle in self.obstacles:
            obstacle.matrix = np.full((4, 4), np.nan)
            obstacle.positions = np.full_like(obstacle.positions, np.nan)

    def names(self) -> list[str]:
        """A digest of the shape and settings of each body, solid and obstacle, independent of object names."""
        plain = []
        for body in self.bodies:
            values = [body.positions, body.triangles, body.pinned, body.attached, body.kind, body.settings]
            values += [] if body.outline is None else [body.outline]
            values += [] if body.weak is None else [*body.weak]
            values += [] if body.pressed is None else ["pressed", *body.pressed]
            values += [] if body.tied is None else ["tied", body.tied]
            values += [] if body.drawn is None else ["drawn", body.drawn.positions, body.exact]
            plain.append(fingerprint.of_arrays(values + ([] if body.pulled is None else body.pulled.values)))
        for solid in self.solids:
            plain.append(fingerprint.of_arrays([solid.positions, solid.triangles, solid.matrix, solid.settings]))
        by_uid = dict(zip(self.uids(), plain, strict=True))
        targets = [by_uid.get(body.attached_uid, "") for body in self.bodies]
        glued = [name + target for name, target in zip(plain, targets, strict=False)]
        for obstacle in self.obstacles:
            plain.append(fingerprint.of_arrays([obstacle.positions, obstacle.triangles, obstacle.settings]))
        return glued + plain[len(glued) :]

    def fingerprint(self) -> str:
        """A digest of all of them, in any order."""
        return fingerprint.of_arrays(sorted(self.names()))

    def arrange(self, names: Sequence[str]) -> None:
        """Sort all by these digests, as the state of a continued run has them. Empty keeps the order."""
        if not names:
            return
        rank = {name: number for number, name in enumerate(names)}
        own = iter(self.names())
        parts: list[Any]
        for parts in (self.bodies, self.solids, self.obstacles):
            ranks = [rank[next(own)] for _ in parts]
            parts[:] = [parts[number] for number in np.argsort(ranks, kind="stable")]


class Refusals(SoftPressureError):
    """No object can take part."""

    def __init__(self, refused: dict[int, str]) -> None:
        super().__init__("\n".join(refused.values()))
        #: Sentences by `session_uid`, for reasons that are found at a start only.
        self.refused = refused


class _Refused(Exception):
    """The core refuses an object."""


def start(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> Start:
    """Capture all bodies that can take part; their meshes must show the input stage. Raises `Refusals`."""
    found = Start([], [], [], metres=units.metres_per_unit(scene))
    known = taking_part.static_problems(scene)
    refused = {}
    objects = [each for each in session.objects(scene, "SOFT", "RIGID", "COLLIDER") if each.session_uid not in known]
    seen = _seen(objects, depsgraph, found.metres)
    for obj in objects:
        try:
            if obj.softpressure.kind == "COLLIDER":
                found.obstacles.append(_obstacle(obj, depsgraph, found.metres))
            elif obj.softpressure.kind == "RIGID":
                found.solids.append(_solid(obj, depsgraph, found.metres))
            else:
                found.bodies.append(_body(scene, obj, seen, depsgraph, found.metres))
        except SoftPressureError as error:
            refused[obj.session_uid] = str(error)
        accepted = touching.accepted(obj)
        if accepted is not None:
            found.accepted[obj.session_uid] = accepted
    found.set_aside(refused)
    found.hoses = hoses_between(scene, depsgraph, (body.object_uid for body in found.bodies))
    return found


def scene_values(scene: bpy.types.Scene) -> SimpleNamespace:
    """The settings of a scene that the functions below read, as plain values for use beside the main thread."""
    settings = scene.softpressure
    names = [prop.identifier for prop in settings.bl_rna.properties if prop.identifier not in {"rna_type", "name"}]
    return SimpleNamespace(
        gravity=scene.gravity[:],
        use_gravity=scene.use_gravity,
        unit_settings=SimpleNamespace(system=scene.unit_settings.system, scale_length=scene.unit_settings.scale_length),
        render=SimpleNamespace(**{name: getattr(scene.render, name) for name in time_mapping.RENDER}),
        softpressure=SimpleNamespace(**{name: getattr(settings, name) for name in names}),
    )


def build_model(scene: SceneValues, start: Start) -> Model:
    """The core's model of a captured scene; objects that the core refuses are removed.

    Raises `Refusals` if none is left, and `ParameterError` for settings of the scene.
    """
    while True:
        try:
            return _build(scene, start)
        except _Refused as refusal:
            uid, sentence = refusal.args
            start.set_aside({uid: sentence})


def _build(scene: SceneValues, start: Start) -> Model:
    """The same; raises `_Refused` for the first object that the core refuses."""
    given = units.settings_in_metres(scene_settings.of_scene(scene.softpressure, "MODEL"), units.metres_per_unit(scene))
    builder = ModelBuilder(gravity=units.gravity(scene), **given)
    for number, body in enumerate(start.bodies):
        with _told_of(body):
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
    for solid in start.solids:
        with _told_of(solid):
            builder.add_rigid(solid.name, solid.positions, solid.triangles, **solid.settings)
    for obstacle in start.obstacles:
        with _told_of(obstacle):
            builder.add_collider(obstacle.name, obstacle.positions, obstacle.triangles, **obstacle.settings)
    uids = start.uids()
    for number, body in enumerate(start.bodies):
        if body.attached_uid:
            other = uids.index(body.attached_uid)
            with _told_of(body):
                if other < len(start.bodies):
                    builder.attach_to_membrane(number, body.attached, other)
                else:
                    builder.attach_to_rigid(number, body.attached, other - len(start.bodies))
    for one, other, hose in start.links():
        hose.add_to(builder, one, other)
    return builder.build(ignores=start.ignored())


@contextmanager
def _told_of(part: Body | Solid | Obstacle) -> Iterator[None]:
    """Name the object in an error of the core."""
    try:
        yield
    except SoftPressureError as error:
        raise _Refused(part.object_uid, str(error)) from error


def build_world(scene: SceneValues, model: Model) -> World:
    """The core's world for a run of a scene; raises `ParameterError`."""
    settings = scene.softpressure
    return World(
        model,
        frame_rate=time_mapping.frame_rate(scene),
        options=MethodOptions(**scene_settings.of_scene(settings, "OPTIONS")),
        **scene_settings.of_scene(settings, "WORLD"),
    )


def world_matrices(
    start: Start, objects: dict[int, bpy.types.Object], depsgraph: bpy.types.Depsgraph
) -> list[FloatArray]:
    """World from local matrix of every soft body."""
    return [mesh_io.world_matrix(objects[body.object_uid].evaluated_get(depsgraph)) for body in start.bodies]


def evaluated_of(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bpy.types.Object:
    """An object evaluated at the present frame; raises `SoftPressureError` if it is not evaluated."""
    evaluated = obj.evaluated_get(depsgraph)
    if not evaluated.is_evaluated:
        raise taking_part.not_evaluated(obj)
    return evaluated


def missing_meshes(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> list[simulation_mesh.Wanted]:
    """The even meshes that `start` would make, for who makes them in slices before it. Meshes must show the input."""
    metres, known, found = units.metres_per_unit(scene), taking_part.static_problems(scene), []
    objects = [obj for obj in session.objects(scene, "SOFT") if obj.session_uid not in known]
    objects = [obj for obj in objects if simulation_choice.may_be_even(obj)]
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
    return seen_shape.read((obj for obj in objects if simulation_choice.may_be_even(obj)), depsgraph, metres)


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
    positions = mesh_io.to_world(matrix, points)
    bodies.check_size(obj.name, positions)
    if not bodies.is_as_drawn(obj):  # else it has been looked at
        bodies.check_surface_of(obj, "SOFT", positions, faces, mesh)
    return evaluated, seen_shape.shape_of(seen.get(obj.session_uid), local, triangles, matrix)


def _body(
    scene: bpy.types.Scene,
    obj: bpy.types.Object,
    seen: dict[int, tuple[Float32Array, IntArray]],
    depsgraph: bpy.types.Depsgraph,
    metres: float,
) -> Body:
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
    if kind == "MEMBRANE" and simulation_choice.may_be_even(obj):
        values["thickness"] = simulation_mesh.thickness(values["thickness"], positions, triangles, drawn)
    return Body(
        obj.session_uid, obj.name, positions, triangles, pinned, attached, uid, name, kind, values, outline, pulled,
        weak, pressed, drawn, exact, tied,
    )  # fmt: skip


def _solid(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, metres: float) -> Solid:
    settings = obj.softpressure
    evaluated = evaluated_of(obj, depsgraph)
    matrix = mesh_io.world_matrix(evaluated)
    in_metres = units.to_metres(matrix, metres)
    positions, triangles = rigid_shape.read(obj.name, evaluated.data, in_metres, settings.rigid_shape)
    values = values_of(evaluated.softpressure, parameters.captured("RIGID", settings), metres)
    return Solid(obj.session_uid, obj.name, positions, triangles, matrix, values)


def values_of(settings: Any, names: tuple[str, ...], metres: float) -> dict[str, Any]:
    """Settings as plain numbers, strings and tuples, in SI units."""
    values = {name: getattr(settings, name) for name in names}
    plain = {name: value if isinstance(value, (float, bool, str)) else tuple(value) for name, value in values.items()}
    return units.settings_in_metres(plain, metres)


def _obstacle(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, metres: float) -> Obstacle:
    evaluated = evaluated_of(obj, depsgraph)
    mesh, matrix = evaluated.data, units.to_metres(mesh_io.world_matrix(evaluated), metres)
    local, triangles = instances.read_local(obj, evaluated, depsgraph)
    positions = mesh_io.to_world(matrix, local)
    bodies.check_size(obj.name, positions)
    if not bodies.is_as_drawn(obj):
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
        settings=values_of(evaluated.softpressure, parameters.captured("COLLIDER", obj.softpressure), metres),
    )
