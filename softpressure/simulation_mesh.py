"""Even meshes that soft bodies simulate, and how the drawn ones follow them."""

from dataclasses import dataclass
from functools import lru_cache

import bpy
import numpy as np

from ..core import (
    DrawnTriangles,
    EvenMesh,
    Follower,
    InverseFollower,
    MeshError,
    carried_vertices,
    carried_weights,
    check_closed_surface,
    even_mesh,
)
from ..core.model import BoolArray
from .mesh_io import FloatArray, IntArray
from .simulation_choice import may_be_even, vertex_count

#: An even mesh is used where steps times vertices of the drawn one are more than this many times its own.
_DEARER = 1.2
#: The shortest edge of an even mesh, in its mean length.
_SHORTEST = 0.6
#: Drawn meshes of less than this share of the even one's vertices are too coarse to lie on a floor.
_COARSE = 0.25
#: Share of drawn vertices whose distance from the simulated surface the thickness covers.
_COVERED = 0.95
#: Even meshes that are kept, of shapes that were simulated last.
_KEPT = 64


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
    stand_off: float  # how far drawn vertices stand out of the even mesh, but for a twentieth of them [m]
    notes: tuple[str, ...]  # what was done to the drawn mesh

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


def even_of(
    scene: bpy.types.Scene, obj: bpy.types.Object, positions: FloatArray, triangles: IntArray
) -> tuple[EvenMesh, Drawn] | None:
    """The even mesh of a body whose drawn vertices are at `positions` [m], None where the drawn mesh is simulated.

    Raises `MeshError` where there is nothing to simulate.
    """
    if not may_be_even(obj):
        return None
    count = vertex_count(scene, obj)
    if obj.softpressure.simulation_mesh == "AUTO" and _is_as_cheap(positions, triangles, count):
        return None
    try:
        return _made(positions.tobytes(), triangles.tobytes(), count)
    except MeshError as error:
        raise MeshError(f"{obj.name}: {str(error).removeprefix('mesh: ')}") from error


@lru_cache(_KEPT)
def _made(position_bytes: bytes, triangle_bytes: bytes, count: int) -> tuple[EvenMesh, Drawn]:
    """The even mesh of these arrays: made once for each shape."""
    positions = np.frombuffer(position_bytes).reshape(-1, 3)
    triangles = np.frombuffer(triangle_bytes, np.int32).reshape(-1, 3)
    even = even_mesh(positions, triangles, count)
    follower = Follower(even, positions)
    out = follower.offsets[:, 2]
    stand_off = float(np.quantile(np.where(out > 0.0, np.linalg.norm(follower.offsets, axis=1), 0.0), _COVERED))
    areas = _vertex_areas(positions, triangles)
    return even, Drawn(
        even, follower, InverseFollower(even, positions), positions, triangles, areas,
        _vertex_areas(even.positions, even.triangles), stand_off, even.notes,
    )  # fmt: skip


@lru_cache(_KEPT)
def _drawn_triangles(drawn: Drawn) -> DrawnTriangles:
    """What a torn even mesh tears of the drawn one: asked for in each frame."""
    return DrawnTriangles(drawn.even, drawn.positions, drawn.triangles)


def _vertex_areas(positions: FloatArray, triangles: IntArray) -> FloatArray:
    """A third of the area of the triangles around each vertex [m^2]."""
    a, b, c = (positions[triangles[:, corner]] for corner in range(3))
    third = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6.0
    areas: FloatArray = np.bincount(triangles.ravel(), np.repeat(third, 3), len(positions)).astype(float)
    return areas


def _is_as_cheap(positions: FloatArray, triangles: IntArray, count: int) -> bool:
    """Whether to simulate a drawn mesh costs no more than an even one of so many vertices, and meets others as well.

    Steps are as many as the shortest edges ask for.
    """
    try:
        check_closed_surface("", positions, triangles)
    except MeshError:
        return False
    sides = np.linalg.norm(positions[triangles] - positions[np.roll(triangles, -1, axis=1)], axis=2)
    length = np.sqrt(2.0 * _vertex_areas(positions, triangles).sum() / (np.sqrt(3.0) * count))
    drawn, even = len(positions) / sides.min(), count / (_SHORTEST * length)
    return bool(_COARSE * count <= len(positions) and drawn <= _DEARER * even)
