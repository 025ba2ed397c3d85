"""Even meshes and cages that soft bodies simulate, and how the drawn ones follow them."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import lru_cache

import bpy
import numpy as np
from mathutils.kdtree import KDTree

from ...core import (
    CoarseCage,
    DrawnTriangles,
    EvenMesh,
    Follower,
    InverseFollower,
    MeshError,
    Subdivision,
    bound_mesh,
    carried_vertices,
    carried_weights,
    check_closed_surface,
    is_coarse,
)
from ...core.array_types import BoolArray
from ...core.bodies.assembly import AUTOMATIC_THICKNESS
from ...core.parameters.methods import FORCE_BASED
from ...core.parameters.scene import DETAIL
from ...core.simulation_mesh.parts import have_parts_to_unite
from ...core.tiny import TINY
from ...core.topology import triangle_areas, vertex_areas
from . import digests, flat_shape, kept_meshes, mesh_io, units
from .mesh_io import FloatArray, IntArray
from .seen_shape import Shape
from .simulation_mesh_choice import may_be_even, vertex_count

#: An even mesh is used where steps times vertices of the drawn one are more than this many times its own, or steps.
_DEARER, _MORE_STEPS = 1.2, 1.5
#: It is used as well where triangles are thinner than this, on average: 1 is equilateral; halves of squares have 0.87,
#: Blender's sphere 0.8, its cylinder 0.34. Long thin ones fold at once.
_THINNEST = 0.4
#: What is seen coarser than the scene's detail gets as many vertices as it has, but this share of the detail.
_COARSE = 0.5
#: What is seen looks as it is drawn where it is no farther from that than this share of the size, nor ends farther in.
_NEAR_DRAWN = 0.06
#: The shortest edge of an even mesh, in its mean length.
_SHORTEST = 0.6
#: Most automatic thickness as a share of the size: a cube of 2 m and eight vertices lies 2.5 mm over the floor.
_THIN = 1.25e-3
#: Cells fill drawn meshes of up to so many times the vertices of an even one: filling takes time for each.
_FINE = 10
#: A mesh that is seen subdivided into fewer vertices, as a multiple of those of an even mesh, is subdivided further.
_SMOOTH = 2
#: How many bodies that tear are kept in mind.
_KEPT = 64


#: Drawn vertices [m] out of what an even mesh touches; by those that follow it, and its own vertices [m].
KeepOff = Callable[[FloatArray, Follower, FloatArray], FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """A drawn mesh that follows an even one."""

    even: EvenMesh
    follower: Follower
    inverse: InverseFollower  # where the even mesh is when the drawn one is animated
    positions: FloatArray  # at the start [m], shape (vertex_count, 3)
    triangles: IntArray
    areas: FloatArray  # of its vertices [m^2]
    even_areas: FloatArray  # of the vertices of the even mesh [m^2]
    stand_off: float  # how far most of what is seen stands out of the even mesh, at most [m]
    notes: tuple[str, ...]  # what was done to the drawn mesh
    seen_count: int  # vertices that are seen, with those that modifiers make
    surface: tuple[Subdivision, Follower] | None  # of a mesh that is seen subdivided, where its vertices go
    coarse: CoarseCage | None  # of one that is drawn with few vertices

    def at(self, even_positions: FloatArray, keep_off: KeepOff | None = None) -> FloatArray:
        """Where the drawn vertices are for even ones at positions [m].

        `keep_off`: moves what stands off the even mesh out of what this touches. Not where the surface between the
        vertices is seen: it would get waves.
        """
        seen = self.follower.positions(even_positions)
        if self.surface is not None:
            subdivision, follower = self.surface
            seen = subdivision.cage(seen, follower.positions(even_positions))
        elif keep_off is not None:
            seen = keep_off(seen, self.follower, even_positions)
        return seen if self.coarse is None else self.coarse.within(seen, even_positions)

    def values(self, vertices: IntArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
        """A vertex group carried over to the even mesh: vertices with a weight, ascending, and their weights."""
        return carried_weights(self.follower, self.even, vertices, weights)

    def vertices(self, vertices: IntArray) -> IntArray:
        """Chosen vertices carried over to the even mesh, ascending."""
        return carried_vertices(self.follower, self.even, self.positions, vertices)

    def torn(self, even_torn: BoolArray) -> BoolArray:
        """Which drawn triangles are torn."""
        if not even_torn.any():
            return np.zeros(len(self.triangles), bool)
        return _drawn_triangles(self).torn(even_torn)

    def forces(self, even_forces: FloatArray) -> FloatArray:
        """Forces on drawn vertices [N] from those on the even mesh: the same pressure on each area."""
        found: FloatArray = self.follower.interpolated(np.asarray(even_forces) / self.even_areas) * self.areas
        return found


@dataclass(frozen=True, slots=True)
class Wanted:
    """An even mesh that is to be made."""

    object_uid: int
    name: str
    shape: Shape
    count: int

    def making(self) -> Generator[float, None, kept_meshes.Kept]:
        """Make it in slices, without Blender's data; yields the share that is done. Raises `MeshError`."""
        try:
            return (yield from kept_meshes.making(self.shape, self.count))
        except MeshError as error:
            raise MeshError(f"{self.name}: {str(error).removeprefix('mesh: ')}") from error

    def keep(self, obj: bpy.types.Object, kept: kept_meshes.Kept) -> None:
        """Keep what was made with the file."""
        kept_meshes.keep(obj, kept_meshes.key_of(self.shape, self.count), kept)


def wanted(scene: bpy.types.Scene, obj: bpy.types.Object, shape: Shape) -> Wanted | None:
    """The even mesh that a body takes and that is not there yet; None if there is nothing to be made."""
    if not _takes_even(scene, obj, shape):
        return None
    count = _even_count(scene, obj, shape)
    shape = _smooth(obj, shape, count)
    if kept_meshes.find(obj, kept_meshes.key_of(shape, count)) is not None:
        return None
    return Wanted(obj.session_uid, obj.name, shape, count)


def _smooth(obj: bpy.types.Object, shape: Shape, count: int) -> Shape:
    """What an even mesh of so many vertices is made of: of a mesh seen subdivided into few faces their smooth surface.

    An even mesh of the faces would cut their corners, which would then keep it off the floor.
    """
    subdivision, seen = _subdivision(obj, shape), shape.positions
    if subdivision is None or len(seen) >= _SMOOTH * count:
        return shape
    points = shape.own
    while len(points) < len(seen):
        subdivision, points = subdivision.refined(points)
    there = subdivision.limit_points(points)
    if len(there) != len(seen) or not _are_near(there, seen, 1e-4 * float(np.ptp(seen))):
        return shape  # other modifiers show more
    while len(points) < _SMOOTH * count:
        subdivision, points = subdivision.refined(points)
    there, faces = subdivision.limit_points(points), subdivision.triangles
    return replace(shape, positions=there, triangles=faces, digest=digests.of_arrays([shape.digest, there, faces]))


def _are_near(points: FloatArray, others: FloatArray, distance: float) -> bool:
    """Whether none of the points is farther from all others than a distance [m]."""
    tree = KDTree(len(others))
    for number, place in enumerate(others):
        tree.insert(place, number)
    tree.balance()
    return all(tree.find_range(place, distance) for place in points)


def followed(
    scene: bpy.types.Scene, obj: bpy.types.Object, shape: Shape, depsgraph: bpy.types.Depsgraph
) -> tuple[FloatArray, IntArray, Drawn] | None:
    """Positions [m] and triangles that a body simulates, and how the drawn mesh follows; None: it is simulated itself.

    An even mesh that is not there is made at once. Raises `MeshError` where there is nothing to simulate.
    """
    if obj.softpressure.simulation_mesh == "CUSTOM" and may_be_even(obj):
        kept_meshes.drop(obj)
        mesh, stand_off = _bound_to_cage(scene, obj, shape, depsgraph)
    elif _takes_even(scene, obj, shape):
        missing = wanted(scene, obj, shape)
        if missing is not None:
            missing.keep(obj, _result(missing.making()))
        count = _even_count(scene, obj, shape)
        key = kept_meshes.key_of(_smooth(obj, shape, count), count)
        kept = kept_meshes.find(obj, key)
        assert kept is not None
        kept_meshes.store(obj, key, kept)
        there = mesh_io.to_world(shape.placement, kept.even.positions)
        mesh, stand_off = kept.even._replace(positions=there), kept.stand_off
    else:
        kept_meshes.drop(obj)
        return None
    own = shape.world
    areas, surface, coarse = vertex_areas(mesh.positions, mesh.triangles), None, None
    subdivision = _subdivision(obj, shape)
    if subdivision is not None:
        there = mesh_io.to_world(shape.placement, shape.positions[: len(own)])
        surface = subdivision, Follower(mesh, there)
        coarse = CoarseCage(mesh, areas, own, subdivision) if is_coarse(len(own), len(mesh.positions)) else None
    drawn = Drawn(
        mesh, Follower(mesh, own), InverseFollower(mesh, own), own, shape.own_triangles,
        vertex_areas(own, shape.own_triangles), areas, stand_off, mesh.notes, len(shape.positions), surface,
        coarse,
    )  # fmt: skip
    return mesh.positions, mesh.triangles, drawn


def _subdivision(obj: bpy.types.Object, shape: Shape) -> Subdivision | None:
    """What shows the surface that is seen, where that is the drawn mesh subdivided."""
    count = len(shape.own)
    if shape.is_as_drawn or len(shape.positions) <= count or not len(obj.data.polygons):
        return None
    subdivision = Subdivision(*mesh_io.read_faces(obj.data))
    return subdivision if subdivision.is_of(shape.own, shape.positions[:count]) else None


def thickness(chosen: float, positions: FloatArray, triangles: IntArray, drawn: Drawn | None) -> float:
    """Thickness [m] of what is simulated, at `positions` [m]: it covers how far drawn vertices stand out.

    chosen: by the person; 0 for an automatic one, by the sides of the triangles, but small against the body.
    """
    sides = np.linalg.norm(positions[triangles] - positions[np.roll(triangles, -1, axis=1)], axis=2)
    most = _THIN * float(np.ptp(positions, axis=0).max())
    return max(chosen or min(AUTOMATIC_THICKNESS * float(sides.mean()), most), drawn.stand_off if drawn else 0.0)


def _result(slices: Generator[float, None, kept_meshes.Kept]) -> kept_meshes.Kept:
    """What slices of work come to, all at once."""
    while True:
        try:
            next(slices)
        except StopIteration as end:
            found: kept_meshes.Kept = end.value
            return found


def _takes_even(scene: bpy.types.Scene, obj: bpy.types.Object, shape: Shape) -> bool:
    """Whether a body simulates an even mesh."""
    choice = obj.softpressure.simulation_mesh
    if choice == "CUSTOM" or not may_be_even(obj) or flat_shape.is_flat_body(obj.softpressure.body_type, shape.world):
        return False
    count = _even_count(scene, obj, shape)
    if choice == "EVEN" or not (
        shape.is_as_drawn or (is_coarse(len(shape.own), count) and _looks_as_drawn(obj, shape))
    ):
        return True
    if obj.softpressure.body_type != "MEMBRANE":
        return len(shape.own) > _FINE * count or not _is_closed(shape.own, shape.own_triangles)
    return not _is_best_as_drawn(scene, shape.own, shape.own_triangles, count)


def _looks_as_drawn(obj: bpy.types.Object, shape: Shape) -> bool:
    """Whether what is seen is the drawn surface with its edges worked over, as by a bevel."""
    drawn, seen = shape.own, shape.positions
    near = _NEAR_DRAWN * float(np.ptp(drawn, axis=0).max())
    shrunk = max(np.abs(drawn.min(axis=0) - seen.min(axis=0)).max(), np.abs(drawn.max(axis=0) - seen.max(axis=0)).max())
    if shrunk > near or not len(shape.own_triangles) or _subdivision(obj, shape) is not None:
        return False
    mesh = bound_mesh(drawn, shape.own_triangles, seen, shape.triangles)
    return bool(np.linalg.norm(Follower(mesh, seen).offsets, axis=1).max() <= near)


def _even_count(scene: bpy.types.Scene, obj: bpy.types.Object, shape: Shape) -> int:
    """Vertices that the even mesh of a body is to have: of the scene's detail no more than tell the shape that is seen.

    Thin triangles, as those of letters, have few vertices for what they show.
    """
    count, seen = vertex_count(scene, obj), len(shape.positions)
    if obj.softpressure.simulation_vertices or seen >= count or _evenness(shape.positions, shape.triangles) < _THINNEST:
        return count
    return min(count, max(seen, int(_COARSE * count), DETAIL["DRAFT"]))


def _evenness(positions: FloatArray, triangles: IntArray) -> float:
    """Mean of what triangles have of the area of equilateral ones with the same sides, 1 for these."""
    sides = np.linalg.norm(positions[triangles] - positions[np.roll(triangles, -1, axis=1)], axis=2)
    areas = triangle_areas(positions, triangles)
    share = 4.0 * np.sqrt(3.0) * areas / np.maximum((sides * sides).sum(axis=1), TINY)
    return float((share * areas).sum()) / max(float(areas.sum()), TINY)


def _bound_to_cage(
    scene: bpy.types.Scene, obj: bpy.types.Object, shape: Shape, depsgraph: bpy.types.Depsgraph
) -> tuple[EvenMesh, float]:
    """The mesh of a body's cage [m], to which its own vertices are bound, and how far what is seen stands out."""
    cage = obj.softpressure.cage_object
    evaluated = cage.evaluated_get(depsgraph)
    source = evaluated if evaluated.is_evaluated else cage  # a hidden one is not evaluated
    matrix = units.to_metres(mesh_io.world_matrix(source), units.metres_per_unit(scene))
    positions = mesh_io.to_world(matrix, mesh_io.read_local(source.data))
    triangles = mesh_io.read_triangles(source.data, matrix)
    check_closed_surface(cage.name, positions, triangles)
    seen = mesh_io.to_world(shape.placement, shape.positions)
    mesh = bound_mesh(positions, triangles, seen, shape.triangles)
    stand_off = kept_meshes.stand_off_of(mesh, seen, shape.triangles)
    if stand_off > float(np.ptp(positions, axis=0).max()):
        raise MeshError(
            f"{obj.name}: lies {units.length_text(scene, stand_off)} outside of its cage {cage.name}. Move the cage "
            "around it, or choose another one."
        )
    if not shape.is_as_drawn:
        mesh = bound_mesh(positions, triangles, shape.world, shape.own_triangles)
    return mesh, stand_off


@lru_cache(_KEPT)
def _drawn_triangles(drawn: Drawn) -> DrawnTriangles:
    """What a torn even mesh tears of the drawn one; called in each frame."""
    return DrawnTriangles(drawn.even, drawn.follower, drawn.positions, drawn.triangles)


def _is_closed(positions: FloatArray, triangles: IntArray) -> bool:
    try:
        check_closed_surface("", positions, triangles)
    except MeshError:
        return False
    return True


def _is_best_as_drawn(scene: bpy.types.Scene, positions: FloatArray, triangles: IntArray, count: int) -> bool:
    """Whether a drawn mesh can be simulated, as well as an even one of so many vertices, and costs no more.

    Steps are as many as the shortest edges ask for. The methods of papers simulate what is drawn, as they do.
    """
    if scene.softpressure.solver not in FORCE_BASED and len(triangles):
        sides = np.linalg.norm(positions[triangles] - positions[np.roll(triangles, -1, axis=1)], axis=2)
        areas = triangle_areas(positions, triangles)
        length = np.sqrt(2.0 * areas.sum() / (np.sqrt(3.0) * count))
        steps = _SHORTEST * length / max(float(sides.min()), 1e-300)  # over those of the even mesh
        if steps > _MORE_STEPS or steps * len(positions) > _DEARER * count:
            return False
        if len(positions) > _COARSE * count and _evenness(positions, triangles) < _THINNEST:
            return False
    return _is_closed(positions, triangles) and not have_parts_to_unite(positions, triangles.astype(np.int64))
