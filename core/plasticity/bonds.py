"""Bonds of bodies that stick: where a vertex of a sticky soft body touches another soft body it is attached to it.

A bond is an attachment (`energy/attachment.py`) of the vertex to the nearest place of the other surface, as it lies
there. Each vertex has one at most. It breaks where the vertex's body pulls at it (`pulls.py`) with more than its bond
strength; what presses it against the other body does not count. The vertex sticks to that body again only after it was
out of its reach. Rigid bodies and colliders have no points for bonds.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..animation.keyed import NAMES, Keyed
from ..array_types import BoolArray, FloatArray, IntArray
from ..bodies.attachments import nearest_row
from ..energy.attachment import rotated_offsets
from ..model import Model
from ..tiny import TINY
from .pulls import Pulls

#: Distance up to which a vertex of a touching body is attached, over the distance that the two keep: bodies that rest
#: on each other lie at it or below.
REACH = 1.1

_STRENGTH = NAMES.index("bond_strength")


class Bonds:
    """Finds the bonds of a model, and those that break."""

    def __init__(self, model: Model) -> None:
        self._model, self._pulls = model, Pulls(model)
        count = model.membrane_count
        self._take(model)
        sticks = model.plasticity.sticks
        self._pairs = [
            (body, other)
            for body in np.flatnonzero(sticks).tolist()
            for other in range(count)
            if other != body and not model.ignores[body, other]
        ]

    def after(self, keyed: Keyed, now: Model, x: FloatArray, gas: FloatArray, touching: BoolArray) -> Keyed:
        """Animated values with the bonds at positions x [m]; the same object if none is new or breaks.

        `now`: the model with its present springs; `gas`: nRT [J]; `touching`: bodies with an active contact.
        """
        self._take(now)
        return self._joined(self._parted(self._broken(keyed, now, x, gas), x), x, touching)

    def _take(self, now: Model) -> None:
        """Use the surfaces of a model that differs in what is torn."""
        surfaces, count = now.surfaces, now.membrane_count
        triangles = [surfaces.triangles[slice(*surfaces.body_triangle_start[body : body + 2])] for body in range(count)]
        self._triangles, self._vertices = triangles, [np.unique(own) for own in triangles]

    def _broken(self, keyed: Keyed, now: Model, x: FloatArray, gas: FloatArray) -> Keyed:
        """Without the bonds that are pulled with more than their strength; 0 holds all."""
        strength = keyed.values[self._model.point_body[keyed.bond_points[:, 0]], _STRENGTH]
        rows = np.flatnonzero(strength > 0.0)
        if not len(rows):
            return keyed
        vertex, bound = keyed.bond_points[rows, 0], np.zeros(self._model.point_count, bool)
        bound[vertex] = True
        pull = self._pulls.at(now, bound[: now.vertex_count], x, gas)[vertex]
        away = rotated_offsets(now, x)[-len(strength) :][rows]  # bonds are the last attachments
        away /= np.linalg.norm(away, axis=1)[:, None] + TINY
        pull -= np.minimum((pull * away).sum(axis=1), 0.0)[:, None] * away
        breaks = rows[np.linalg.norm(pull, axis=1) > strength[rows]]
        if not len(breaks):
            return keyed
        parting = np.stack([keyed.bond_points[breaks, 0], keyed.bond_body[breaks]], axis=1)
        holds = np.delete(np.arange(len(strength)), breaks)
        return replace(
            keyed,
            bond_points=keyed.bond_points[holds],
            bond_weights=keyed.bond_weights[holds],
            bond_offset=keyed.bond_offset[holds],
            bond_body=keyed.bond_body[holds],
            bond_broken=np.concatenate([keyed.bond_broken, parting]).astype(np.int32),
        )

    def _parted(self, keyed: Keyed, x: FloatArray) -> Keyed:
        """Without the broken bonds whose vertices are out of reach by now: they may stick again."""
        owner = self._model.point_body
        close = [
            any(True for _ in self._near(int(owner[vertex]), other, np.array([vertex]), x))
            for vertex, other in keyed.bond_broken.tolist()
        ]
        return keyed if all(close) else replace(keyed, bond_broken=keyed.bond_broken[close])

    def _joined(self, keyed: Keyed, x: FloatArray, touching: BoolArray) -> Keyed:
        """With new bonds where bodies touch."""
        bound = np.zeros(self._model.point_count, bool)
        bound[keyed.bond_points[:, 0]] = True
        bound[keyed.glue_points[keyed.glue_weights.any(axis=1), 0]] = True
        rows, bodies = list[tuple[IntArray, FloatArray, FloatArray]](), list[int]()
        for body, other in self._pairs:
            if not (touching[body] and touching[other]):
                continue
            is_free = ~bound
            is_free[keyed.bond_broken[keyed.bond_broken[:, 1] == other, 0]] = False
            vertices = self._vertices[body]
            for row in self._near(body, other, vertices[is_free[vertices]], x):
                bound[row[0][0]] = True
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

    def _near(
        self, body: int, other: int, vertices: IntArray, x: FloatArray
    ) -> Iterator[tuple[IntArray, FloatArray, FloatArray]]:
        """Rows of `Attachments` of those vertices of a body that are within reach of another one."""
        reach, corners = REACH * float(self._model.thickness[[body, other]].sum()), x[self._triangles[other]]
        low, high = corners.min(axis=1) - reach, corners.max(axis=1) + reach
        inside = ((x[vertices] >= low.min(axis=0)) & (x[vertices] <= high.max(axis=0))).all(axis=1)
        for vertex in vertices[inside].tolist():
            near = ((x[vertex] >= low) & (x[vertex] <= high)).all(axis=1)
            if near.any():
                row = nearest_row(x, vertex, self._triangles[other][near])
                if np.linalg.norm(row[2]) <= reach:
                    yield row
