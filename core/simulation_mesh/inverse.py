"""Inverse follower: an even mesh that goes where the drawn one is moved, by its own animation.

Each even vertex keeps its place on the nearest drawn triangle that faces the same way, and its offset in the frame of
that triangle. Rigid motions are followed exactly.
"""

import numpy as np

from ..array_types import FloatArray
from .even import EvenMesh
from .surface import Numbers

#: A triangle whose sides have a sine below this has no frame of its own: offsets there keep their direction.
NO_FRAME = 1e-9


class InverseFollower:
    """Where the vertices of an even mesh are when the drawn vertices have moved."""

    def __init__(self, even: EvenMesh, drawn_positions: FloatArray) -> None:
        """Bind an even mesh to the drawn vertices it was made of, shape (drawn_count, 3)."""
        self._corners: Numbers = np.ascontiguousarray(even.nearest)
        self._weights = even.nearest_weights
        corners = np.asarray(drawn_positions, float)[self._corners]
        ahead, across = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        sine = np.linalg.norm(np.cross(ahead, across), axis=1)
        self._is_flat = sine <= NO_FRAME * np.linalg.norm(ahead, axis=1) * np.linalg.norm(across, axis=1)
        places, frames = self._frames(corners)
        self._offsets = np.einsum("vij,vi->vj", frames, even.positions - places)

    def positions(self, drawn_positions: FloatArray, vertices: Numbers | None = None) -> FloatArray:
        """Positions of even vertices, or of some of them, shape (count, 3), for drawn ones, shape (drawn_count, 3)."""
        chosen = slice(None) if vertices is None else vertices
        places, frames = self._frames(np.asarray(drawn_positions, float)[self._corners[chosen]], chosen)
        found: FloatArray = places + np.einsum("vij,vj->vi", frames, self._offsets[chosen])
        return found

    def _frames(self, corners: FloatArray, chosen: "Numbers | slice" = slice(None)) -> tuple[FloatArray, FloatArray]:
        """Places on triangles, and their frames as columns, shape (count, 3, 3)."""
        places = np.einsum("vk,vkj->vj", self._weights[chosen], corners)
        ahead = _unit(corners[:, 1] - corners[:, 0])
        normal = _unit(np.cross(ahead, corners[:, 2] - corners[:, 0]))
        frames = np.stack([ahead, np.cross(normal, ahead), normal], axis=2)
        frames[self._is_flat[chosen]] = np.eye(3)
        return places, frames


def _unit(vectors: FloatArray) -> FloatArray:
    found: FloatArray = vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1e-300)[:, None]
    return found
