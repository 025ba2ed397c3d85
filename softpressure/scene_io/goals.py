"""Goals of a soft body: vertices pulled towards their animated places, and vertices that follow them exactly."""

from dataclasses import dataclass

import bpy
import numpy as np

from ...core import ModelBuilder
from . import mesh_io, simulation_mesh
from .mesh_io import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Goals:
    """Goal springs of one body."""

    vertices: IntArray  # ascending
    weights: FloatArray  # above 0
    stiffness: float  # [N/m], of the whole body
    damping: float  # [1/s]

    def add_to(self, builder: ModelBuilder, number: int) -> None:
        """Add them to a soft body of the builder."""
        builder.add_goals(number, self.vertices, self.weights, stiffness=self.stiffness, damping=self.damping)

    @property
    def values(self) -> list[object]:
        """Values for the fingerprint."""
        return [self.vertices, self.weights, self.stiffness, self.damping]


def read(obj: bpy.types.Object, drawn: "simulation_mesh.Drawn | None" = None) -> tuple[IntArray, Goals | None]:
    """Vertices of a body that follow the animation exactly, ascending, and its goals, None without any.

    Pinned are the pin group and goals of weight 1. drawn: they are those of the mesh that this one follows.
    """
    settings = obj.softpressure
    pinned = mesh_io.group_vertices(obj, settings.pin_group)
    vertices, weights = mesh_io.group_weights(obj, settings.goal_group)
    pinned = np.union1d(pinned, vertices[weights >= 1.0]).astype(np.int32)
    if drawn is not None:
        pinned, (vertices, weights) = drawn.vertices(pinned), drawn.values(vertices, weights)
    is_pulled = (weights > 0.0) & ~np.isin(vertices, pinned)
    if not is_pulled.any():
        return pinned, None
    return pinned, Goals(vertices[is_pulled], weights[is_pulled], settings.goal_stiffness, settings.goal_damping)
