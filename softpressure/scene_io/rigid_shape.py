"""The surface of a rigid body: the convex hull of its mesh, or the mesh itself."""

import bmesh
import numpy as np

from ...core import MeshError, check_closed_surface
from ...core.topology import check_extent, signed_volume
from . import mesh_io
from .blender_types import Mesh
from .mesh_io import Float32Array, FloatArray, IntArray

#: A hull below this share of the cube around it counts as flat; float32 leaves 1e-7 of a plane turned in space.
_FLAT_SHARE = 1e-6


def read(name: str, mesh: Mesh, matrix: FloatArray, shape: str) -> tuple[FloatArray, IntArray]:
    """World positions [m] and outward triangles of a mesh as a rigid body of this shape, `HULL` or `MESH`.

    Raises `MeshError` if it encloses no volume.
    """
    local = mesh_io.read_local(mesh)
    check_extent(name, local)
    if shape == "MESH":
        positions, triangles = mesh_io.to_world(matrix, local), mesh_io.read_triangles(mesh, matrix)
        try:
            check_closed_surface(name, positions, triangles)
        except MeshError as error:
            if error.flaw != "OPEN":
                raise
            found = str(error).partition(";")[0]
            raise MeshError(
                f"{found}; the mesh of a rigid body must be closed. Fill the holes, or choose the shape Convex Hull."
            ) from None
        return positions, triangles
    if not np.isfinite(local).all():
        bad_count = int((~np.isfinite(local).all(axis=1)).sum())
        raise MeshError(f"{name}: {bad_count} vertices with invalid coordinates. Delete or move them.")
    used, triangles = _hull(local)
    positions = mesh_io.to_world(matrix, local[used])
    if np.linalg.det(matrix[:3, :3]) < 0.0:
        triangles = np.ascontiguousarray(triangles[:, ::-1])
    size = np.ptp(positions, axis=0) if len(positions) else np.zeros(3)
    volume = signed_volume(positions, triangles) if len(triangles) else 0.0
    if not volume > _FLAT_SHARE * float(size.max()) ** 3:
        extent = " x ".join(f"{length:.3g}" for length in size)
        raise MeshError(
            f"{name}: its {len(local)} vertices ({extent} m) enclose no volume, which a rigid body needs. "
            "Give it thickness, with a Solidify modifier for example."
        )
    check_closed_surface(name, positions, triangles)
    return positions, triangles


def _hull(local: Float32Array) -> tuple[IntArray, IntArray]:
    """Vertices of the convex hull, and its triangles in numbers of these, outward."""
    shape = bmesh.new()
    try:
        for point in local.tolist():
            shape.verts.new(point)
        shape.verts.index_update()
        bmesh.ops.convex_hull(shape, input=list(shape.verts), use_existing_faces=False)
        faces = [[vertex.index for vertex in face.verts] for face in shape.faces]
    finally:
        shape.free()
    used, numbers = np.unique(np.array(faces, np.int32).reshape(-1, 3), return_inverse=True)
    return used.astype(np.int32), numbers.reshape(-1, 3).astype(np.int32)
