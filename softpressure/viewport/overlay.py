"""What the overlay shows of each body at the present frame, as arrays in world space. Draws nothing.

Shapes are those that are shown, so baked bodies have an overlay, too. A mesh that modifiers subdivide is overlaid with
the vertices that are simulated.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import bpy
import numpy as np

from ..cache.playback import scene_time
from ..reports.prefixes import quantity_text
from ..scene_io import hoses, mesh_io, point_attributes, simulation_mesh_choice, units
from ..scene_io.mesh_io import Float32Array, FloatArray, IntArray
from ..state import measurements, sessions
from . import colour_maps, plots

#: Limit of colours where nothing is strained or pressed: 1 %, 1 Pa and 1 mN.
_LEAST = {"STRAIN": 0.01, "PRESSURE": 1.0, "FORCE": 0.001}
#: What the legend shows: title, unit, and the factor to it.
_TITLES = {"STRAIN": ("Strain", "%", 100.0), "PRESSURE": ("Pressure", "Pa", 1.0), "FORCE": ("Contact Force", "N", 1.0)}
#: A colour covers this much, so that the shading below it gives form.
_COVERS = 0.75
#: Triangles and edges by object, with what they depend on; Edit Mode drops them.
_connected: dict[int, tuple[tuple[int | bool, ...], IntArray, IntArray]] = {}
NO_FORCES = "No contact forces in these frames: press Reset, then Simulate."
NOTHING = "Nothing is recorded yet: press Simulate."


@dataclass(frozen=True, slots=True)
class Shape:
    """An object as it is shown."""

    uid: int
    points: FloatArray  # world, Blender units, shape (n, 3)
    triangles: IntArray  # counter-clockwise from outside
    edges: IntArray  # of the mesh


@dataclass(frozen=True, slots=True)
class Legend:
    """The colour bar: what it is of, its ends, and whether the colours diverge from its middle."""

    title: str
    limit: float  # in the unit of values
    is_signed: bool
    labels: tuple[str, str, str]  # at its lower end, middle and upper end


def shapes(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, *kinds: str
) -> Iterator[tuple[bpy.types.Object, Shape]]:
    """The bodies of these kinds, but those in Edit Mode."""
    for obj in sessions.objects(scene, *kinds):
        if obj.type != "MESH":
            continue  # instances, which are seen as they are
        if mesh_io.is_edited(obj):
            _connected.pop(obj.session_uid, None)
        elif obj.visible_get():
            yield obj, shape_of(obj, depsgraph)


def shape_of(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Shape:
    """Of an object that is not in Edit Mode."""
    evaluated, mesh = obj.evaluated_get(depsgraph), obj.data
    matrix = mesh_io.world_matrix(evaluated)
    key = mesh_io.live_key(obj)
    if len(evaluated.data.vertices) == len(mesh.vertices):
        local = mesh_io.read_local(evaluated.data)
    elif key is not None and not key.mute:
        local = mesh_io.read_key(key)
    else:
        local = mesh_io.read_local(mesh)
    return Shape(obj.session_uid, mesh_io.to_world(matrix, local), *_connections(obj, matrix))


def _connections(obj: bpy.types.Object, matrix: FloatArray) -> tuple[IntArray, IntArray]:
    """Triangles and edges of a mesh, which are kept as long as its counts are the same."""
    mesh = obj.data
    counts = len(mesh.vertices), len(mesh.edges), len(mesh.loops), len(mesh.polygons)
    depends = mesh.session_uid, *counts, mesh_io.determinant(matrix[:3, :3]) < 0.0
    if obj.session_uid not in _connected or _connected[obj.session_uid][0] != depends:
        _connected[obj.session_uid] = depends, mesh_io.read_triangles(mesh, matrix), mesh_io.read_edges(mesh)
    return _connected[obj.session_uid][1:]


def values_of(scene: bpy.types.Scene, obj: bpy.types.Object, shape: Shape) -> FloatArray | Float32Array | None:
    """What a soft body is coloured by at each vertex; None if it is not known in this frame."""
    session, mode = sessions.of(scene), scene.softpressure.overlay_colour
    cache, uids, rows, count = (
        session.run.cache,
        session.run.object_uids,
        session.run.measured.get(scene.frame_current),
        len(shape.points),
    )
    if session.display.pose is not None:
        cache, uids, rows, _ = session.display.pose
    number = uids.index(shape.uid) if shape.uid in uids else -1
    if number >= 0 and (cache is None or not cache.frame_count or cache.vertex_counts[number] != count):
        number = -1
    if mode == "STRAIN":
        if cache is not None and number >= 0 and session.display.pose is None:
            start: FloatArray | Float32Array = cache.positions(number, cache.first_frame)
        else:
            start = mesh_io.to_world(mesh_io.world_matrix(obj), mesh_io.read_local(obj.data))
        return point_attributes.strain(shape.edges, shape.points, start)
    if mode == "FORCE":
        is_known = cache is not None and number >= 0 and cache.holds_forces
        return cache.forces(number, cache.clamp(scene_time(scene))) if cache is not None and is_known else None
    if rows is None or number < 0 or not np.isfinite(rows[number, measurements.PRESSURE]):
        return None
    return np.full(count, rows[number, measurements.PRESSURE])


def legend(mode: str, values: Iterable[FloatArray | Float32Array], limit: float) -> Legend:
    """The legend of these values. `limit`: value at the end of the colours; 0 for a round one that holds them all."""
    found = np.concatenate([np.zeros(1), *values])
    least, most = float(found.min()), float(found.max())
    is_signed = mode == "STRAIN" or least < -1e-6 * most
    end = limit or plots.nice_limit(max(most, -least if is_signed else 0.0, _LEAST[mode]))
    title, unit, scale = _TITLES[mode]
    low = -end if is_signed else 0.0
    first, middle, last = (quantity_text(scale * value, unit) for value in (low, 0.5 * (low + end), end))
    return Legend(title, end, is_signed, (first, middle, last))


def colours(values: FloatArray | Float32Array, bar: Legend) -> Float32Array:
    """Colours of values, as the legend has them."""
    return colour_maps.colours(values, bar.limit, bar.is_signed, _COVERS)


def shell(obj: bpy.types.Object, shape: Shape, depsgraph: bpy.types.Depsgraph, thickness: float) -> Float32Array:
    """The vertices moved along their normals by a thickness, shape (n, 3).

    The normals are Blender's, which it has made to draw the surface; a mesh that modifiers subdivide has those of what
    it shows without them.
    """
    evaluated, mesh = obj.evaluated_get(depsgraph), obj.data
    key = mesh_io.live_key(obj)
    local = np.empty(3 * len(mesh.vertices), np.float32)
    if len(evaluated.data.vertices) == len(mesh.vertices):
        evaluated.data.vertex_normals.foreach_get("vector", local)
    elif key is not None and not key.mute:
        local[:] = key.normals_vertex_get()
    else:
        mesh.vertex_normals.foreach_get("vector", local)
    matrix = mesh_io.world_matrix(evaluated)[:3, :3]
    # cofactors turn normals as the matrix turns planes
    cofactors = np.cross(np.roll(matrix, -1, axis=0), np.roll(matrix, -2, axis=0))
    outwards = -1.0 if mesh_io.determinant(matrix) < 0.0 else 1.0
    normals = local.reshape(-1, 3) @ (outwards * cofactors.T).astype(np.float32)
    length = np.sqrt(np.einsum("ij,ij->i", normals, normals))[:, None]
    found = shape.points.astype(np.float32)
    found += np.divide(thickness * normals, length, out=np.zeros_like(normals), where=length > 0.0)
    return found


def thickness_of(scene: bpy.types.Scene, obj: bpy.types.Object, shape: Shape) -> float:
    """Thickness of a body in Blender units. An automatic one is that of the run.

    Without a run it follows from the sides of the drawn triangles, as for a skin; it is 0 for other kinds.
    """
    settings, run = obj.softpressure, sessions.of(scene).run
    if settings.thickness > 0.0:
        return float(settings.thickness)
    if run.world is not None and shape.uid in run.object_uids:
        thickness = run.world.model.thickness[run.object_uids.index(shape.uid)]
        return float(thickness) / units.metres_per_unit(scene)
    if settings.kind != "SOFT" or not len(shape.triangles):
        return 0.0
    from ...core.bodies.assembly import AUTOMATIC_THICKNESS

    if simulation_mesh_choice.may_be_even(obj):
        from ..scene_io import simulation_mesh

        metres = units.metres_per_unit(scene)
        return simulation_mesh.thickness(0.0, metres * shape.points, shape.triangles, None) / metres
    sides = [point_attributes.lengths(shape.triangles[:, pair], shape.points) for pair in ((0, 1), (1, 2), (2, 0))]
    return AUTOMATIC_THICKNESS * float(np.mean(sides))


def simulated(scene: bpy.types.Scene, obj: bpy.types.Object, shape: Shape) -> Float32Array:
    """Lines of the mesh that a body simulates and the drawn one follows, as shown in this frame, shape (2 n, 3).

    Known from a start on; at the last frame of a run exact, at others from where the drawn vertices are. None for what
    is simulated as drawn.
    """
    session, run = sessions.of(scene), sessions.of(scene).run
    bodies = [] if run.start is None else run.start.bodies
    number = next((number for number, body in enumerate(bodies) if body.object_uid == obj.session_uid), -1)
    if run.start is None or number < 0 or bodies[number].drawn is None:
        return np.zeros((0, 3), np.float32)
    body, drawn = bodies[number], bodies[number].drawn
    assert drawn is not None
    if len(shape.points) != len(drawn.positions):
        return np.zeros((0, 3), np.float32)
    is_last = run.cache is not None and session.display.pose is None and scene_time(scene) == run.cache.last_frame
    if is_last and run.world is not None:
        positions = run.world.positions(number)
    else:
        positions = drawn.inverse.positions(shape.points * run.start.metres)
    sides = np.sort(np.concatenate([body.triangles[:, pair] for pair in ((0, 1), (1, 2), (2, 0))]), axis=1)
    return run.start.in_units(positions)[np.unique(sides, axis=0).ravel()].astype(np.float32)


def particles(scene: bpy.types.Scene) -> Float32Array:
    """Feature particles in the frame that is shown, shape (n, 3) [Blender units]: of interactive play or the last."""
    session = sessions.of(scene)
    if session.display.pose is not None:
        return session.display.pose.particles.astype(np.float32)
    if session.run.world is None or session.run.cache is None or scene_time(scene) != session.run.cache.last_frame:
        return np.zeros((0, 3), np.float32)
    return (session.run.world.particle_places() / units.metres_per_unit(scene)).astype(np.float32)


def link(shape: Shape, glued: IntArray, target: bpy.types.Object) -> Float32Array:
    """A line from the middle of glued vertices to the middle of the object they are glued to, shape (2, 3)."""
    return np.array([shape.points[glued].mean(axis=0), _middle(target)], np.float32)


def tube(hose: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Float32Array:
    """Two lines, from the middle of one body of a hose to the hose and on to the other, shape (4, 3); or (0, 3)."""
    ends = [end.evaluated_get(depsgraph) for end in hoses.ends(hose) if end is not None]
    if len(ends) < 2:
        return np.zeros((0, 3), np.float32)
    middle = _middle(hose.evaluated_get(depsgraph))
    return np.array([_middle(ends[0]), middle, middle, _middle(ends[1])], np.float32)


def _middle(obj: bpy.types.Object) -> FloatArray:
    """Middle of the bounding box, or of an empty [world, Blender units]."""
    matrix = mesh_io.world_matrix(obj)
    if obj.type == "EMPTY":
        return np.asarray(matrix[:3, 3])
    return np.asarray(mesh_io.to_world(matrix, np.array(obj.bound_box)).mean(axis=0))
