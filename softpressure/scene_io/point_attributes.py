"""Attributes of soft bodies for shading and geometry nodes: strain and contact force of the frame that is shown, and
when each face tears, which is the same in all frames and stays in a bake.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.cache import NEVER, FrameCache
from .blender_types import Mesh
from .mesh_io import Float32Array, read_edges

#: Names of the attributes: mean strain of the edges at a vertex, and the normal force of contacts on it [N].
STRAIN, FORCE = "sp_strain", "sp_contact_force"
#: Name of the attribute of faces: the frame at which each tears, `NEVER` where it does not.
TORN = "sp_torn"


def write(mesh: Mesh, cache: FrameCache, number: int, time: float) -> None:
    """Write the attributes of a body of a cache at `time` [frames]; contact forces only if the cache holds them."""
    shape, start = cache.positions(number, time), cache.positions(number, cache.first_frame)
    _set(mesh, STRAIN, strain(read_edges(mesh), shape, start))
    if cache.holds_forces:
        _set(mesh, FORCE, cache.forces(number, time))


def write_torn(mesh: Mesh, cache: FrameCache, number: int) -> None:
    """Write the frame at which each face of a body of a cache tears; take the attribute away where none does."""
    frames = cache.torn.get(number)
    if frames is None:
        remove(mesh, TORN)
        return
    mesh.calc_loop_triangles()
    if len(frames) != len(mesh.loop_triangles):  # of a mesh that has changed
        return
    face = np.empty(len(frames), np.int32)
    mesh.loop_triangles.foreach_get("polygon_index", face)
    first = np.full(len(mesh.polygons), NEVER, np.float32)
    np.minimum.at(first, face, frames.astype(np.float32))
    _set(mesh, TORN, first, "FACE")


def remove(mesh: Mesh, *names: str) -> None:
    """Take attributes away, if they are there; all of them if none is named."""
    for name in names or (STRAIN, FORCE, TORN):
        if name in mesh.attributes:
            mesh.attributes.remove(mesh.attributes[name])


def strain(edges: NDArray[np.int32], shape: NDArray[Any], start: NDArray[Any]) -> Float32Array:
    """How much longer than in the start shape the edges at each vertex are, as a mean share, shape (vertex_count,)."""
    now, then = lengths(edges, shape), lengths(edges, start)
    longer = np.repeat(np.divide(now, then, where=then > 0.0, out=np.ones_like(now)) - 1.0, 2)
    ends = edges.ravel()
    count = np.bincount(ends, minlength=len(shape))
    total = np.bincount(ends, longer, len(shape))
    return (total / np.maximum(count, 1)).astype(np.float32)


def lengths(edges: NDArray[np.int32], points: NDArray[Any]) -> NDArray[Any]:
    """Of lines between points, shape (edge_count,); `take` and `einsum` cost a third of what indexing and `norm` do."""
    along = np.take(points, edges[:, 1], axis=0) - np.take(points, edges[:, 0], axis=0)
    found: NDArray[Any] = np.sqrt(np.einsum("ij,ij->i", along, along))
    return found


def _set(mesh: Mesh, name: str, values: Float32Array, domain: str = "POINT") -> None:
    attribute = mesh.attributes.get(name)
    if attribute is not None and (attribute.domain, attribute.data_type) != (domain, "FLOAT"):
        mesh.attributes.remove(attribute)
        attribute = None
    if attribute is None:
        attribute = mesh.attributes.new(name, "FLOAT", domain)
    attribute.data.foreach_set("value", np.ascontiguousarray(values))
