"""What is seen of a soft body without simulation: the shape that an even mesh is made of.

Modifiers of the input come before the live key, others after it: these show what they make of the drawn mesh's own
vertices, which follow the simulated mesh. So the shape is that of the whole stack, up to the first modifier that
repeats parts of the mesh elsewhere: there no vertex follows.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import bpy
import numpy as np

from . import digests, mesh_io, modifier_stack, units
from .mesh_io import FloatArray, IntArray

#: Digits of scales that count: those of a turned object differ in the seventh.
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a body [m], in a frame that turns and moves with its object but is not scaled."""

    positions: FloatArray  # what is seen, shape (seen_count, 3)
    triangles: IntArray
    own: FloatArray  # vertices of the drawn mesh, shape (drawn_count, 3)
    own_triangles: IntArray
    world: FloatArray  # the same vertices in world space [m]
    placement: FloatArray  # world [m] from this frame, shape (4, 4)
    is_as_drawn: bool  # what is seen has the drawn vertices alone
    digest: str  # of all but the placement


def read(
    objects: Iterable[bpy.types.Object], depsgraph: bpy.types.Depsgraph, metres: float
) -> dict[int, tuple[mesh_io.Float32Array, IntArray]]:
    """Local positions and triangles of what is seen of soft bodies that modifiers change, by `session_uid`.

    They must show their input, and do again afterwards; references to evaluated data are invalid then.
    """
    chosen = [obj for obj in objects if modifier_stack.is_modified(obj)]
    if not chosen:
        return {}
    for obj in chosen:
        modifier_stack.show(obj, modifier_stack.Stage.SEEN)
    depsgraph.update()
    found = {}
    for obj in chosen:
        evaluated = obj.evaluated_get(depsgraph)
        if evaluated.is_evaluated:
            matrix = units.to_metres(mesh_io.world_matrix(evaluated), metres)
            found[obj.session_uid] = (
                mesh_io.read_local(evaluated.data), mesh_io.read_triangles(evaluated.data, matrix)
            )  # fmt: skip
    for obj in chosen:
        modifier_stack.show(obj, modifier_stack.Stage.INPUT)
    depsgraph.update()
    return found


def shape_of(
    seen: tuple[mesh_io.Float32Array, IntArray] | None,
    local: mesh_io.Float32Array,
    triangles: IntArray,
    matrix: FloatArray,
) -> Shape:
    """The shape of a body whose drawn vertices are `local` in object space; `matrix`: world [m] from there.

    seen: what `read` found of it, None where that are the drawn vertices.
    """
    scale = _stretch(matrix[:3, :3])
    placement = matrix.copy()
    placement[:3, :3] = matrix[:3, :3] @ np.linalg.inv(scale)
    points, faces = (local, triangles) if seen is None else seen
    digest = digests.of_arrays([points, faces, local, triangles, scale])
    own = local.astype(float) @ scale.T
    positions = own if seen is None else points.astype(float) @ scale.T
    world = mesh_io.to_world(matrix, local)
    return Shape(positions, faces, own, triangles, world, placement, seen is None, digest)


def _stretch(matrix: FloatArray) -> FloatArray:
    """The symmetric factor of a polar decomposition, negative for a mirroring one; of few digits."""
    _, sizes, right = np.linalg.svd(matrix)
    stretch = right.T @ (sizes[:, None] * right)
    if np.linalg.det(matrix) < 0.0:
        stretch = -stretch
    rounded = [float(f"{value:.{_DIGITS}g}") for value in stretch.ravel()]
    found = np.array(rounded).reshape(3, 3)
    return np.where(np.abs(found) > 10.0**-_DIGITS * np.abs(found).max(), found, 0.0)
