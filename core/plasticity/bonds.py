"""Bonds of bodies that stick: where a vertex of a sticky soft body touches another soft body it is attached to it.

A bond is an attachment (`energy/attachment.py`) of the vertex to the nearest place of the other surface, as it lies
there. Each vertex has one at most, and bonds last. Rigid bodies and colliders have no points for them.
"""

from dataclasses import replace

import numpy as np

from ..animation.keyed import Keyed
from ..bodies.attachments import nearest_row
from ..model import BoolArray, FloatArray, IntArray, Model

#: Distance up to which a vertex of a touching body is attached, over the distance that the two keep: bodies that rest
#: on each other lie at it or below.
REACH = 1.1


class Bonds:
    """Finds the bonds of a model."""

    def __init__(self, model: Model) -> None:
        self._model = model
        surfaces, count = model.surfaces, model.membrane_count
        triangles = [surfaces.triangles[slice(*surfaces.body_triangle_start[body : body + 2])] for body in range(count)]
        self._triangles, self._vertices = triangles, [np.unique(own) for own in triangles]
        sticks = model.plasticity.sticks
        self._pairs = [
            (body, other)
            for body in np.flatnonzero(sticks).tolist()
            for other in range(count)
            if other != body and not model.ignores[body, other]
        ]

    def after(self, keyed: Keyed, x: FloatArray, touching: BoolArray) -> Keyed:
        """Animated values with the bonds at positions x [m]; the same object if there are no new ones.

        `touching`: bodies with an active contact.
        """
        bound = np.zeros(self._model.point_count, bool)
        bound[keyed.bond_points[:, 0]] = True
        bound[keyed.glue_points[keyed.glue_weights.any(axis=1), 0]] = True
        rows, bodies = list[tuple[IntArray, FloatArray, FloatArray]](), list[int]()
        for body, other in self._pairs:
            if not (touching[body] and touching[other]):
                continue
            for vertex, near in self._near(body, other, x):
                row = nearest_row(x, vertex, near)
                if not bound[vertex] and np.linalg.norm(row[2]) <= self._reach(body, other):
                    bound[vertex] = True
                    rows.append(row)
                    bodies.append(other)
        if not rows:
            return keyed
        points, weights, offset = (np.array(column) for column in zip(*rows, strict=True))
        return replace(
            keyed,
            bond_points=np.concatenate([keyed.bond_points, points]).astype(np.int32),
            bond_weights=np.concatenate([keyed.bond_weights, weights]),
            bond_offset=np.concatenate([keyed.bond_offset, offset]),
            bond_body=np.concatenate([keyed.bond_body, bodies]).astype(np.int32),
        )

    def _reach(self, body: int, other: int) -> float:
        return float(REACH * (self._model.thickness[body] + self._model.thickness[other]))

    def _near(self, body: int, other: int, x: FloatArray) -> list[tuple[int, IntArray]]:
        """Vertices of a body, each with the triangles of another one whose boxes it is near."""
        reach, corners = self._reach(body, other), x[self._triangles[other]]
        low, high = corners.min(axis=1) - reach, corners.max(axis=1) + reach
        vertices = self._vertices[body]
        inside = ((x[vertices] >= low.min(axis=0)) & (x[vertices] <= high.max(axis=0))).all(axis=1)
        found = []
        for vertex in vertices[inside].tolist():
            near = ((x[vertex] >= low) & (x[vertex] <= high)).all(axis=1)
            if near.any():
                found.append((vertex, self._triangles[other][near]))
        return found
