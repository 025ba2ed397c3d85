"""How strongly a soft body pulls at vertices of it that are held: by its springs, its cells and its gas.

A vertex that is glued to another body carries this pull to it, but for its own inertia, weight and bending, which are
the smaller the finer the mesh is. So all methods have one measure, whether they glue by springs or by impulses.
"""

import numpy as np

from ..array_types import BoolArray, FloatArray
from ..energy.gas import SMALLEST_VOLUME_SHARE
from ..energy.volume import SIXTH
from ..impulses.ticks import hold_in_planes
from ..model import Model
from ..volume import EnclosedVolumes


class Pulls:
    """Pulls of the bodies of a model; their gas is that of the start."""

    def __init__(self, model: Model) -> None:
        self._volume = EnclosedVolumes(model)

    def at(self, model: Model, vertices: BoolArray, x: FloatArray, gas: FloatArray) -> FloatArray:
        """Forces [N] on the marked vertices at positions x [m] with nRT `gas` [J], 0 elsewhere: (vertex_count, 3).

        `model`: with the stiffness and the rest lengths that its springs have now.
        """
        self._volume.take(model)
        force = np.zeros((model.vertex_count, 3))
        edges, cells, fans = model.edges, model.tetrahedra, model.fans
        near = vertices[edges.points].any(axis=1)
        i, j = edges.points[near].T
        d = x[j] - x[i]
        length = np.linalg.norm(d, axis=1)
        pull = (edges.stiffness[near] * (1.0 - edges.rest_length[near] / length))[:, None] * d
        np.add.at(force, i, pull)
        np.subtract.at(force, j, pull)
        near = np.repeat(vertices[cells.points[:, 0].reshape(-1, 8)].any(axis=1), 8)
        points = cells.points[near]
        a, b, c = (x[points[:, k]] - x[points[:, 0]] for k in (1, 2, 3))
        sides = SIXTH * np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=1)  # dV/dx of three corners
        lack = cells.rest_volume[near] - (a * sides[:, 0]).sum(axis=1)
        of_cell = cells.sum_stiffness[near[::8]] * lack.reshape(-1, 8).sum(axis=1)
        lack = cells.stiffness[near] * lack + np.repeat(of_cell, 8)
        np.add.at(force, points[:, 1:], lack[:, None, None] * sides)
        np.subtract.at(force, points[:, 0], lack[:, None] * sides.sum(axis=1))
        chosen = np.flatnonzero(vertices)
        body = model.point_body[chosen]
        for inflated in np.unique(body[model.rest_volume[body] > 0.0]).tolist():
            rest, exponent = float(model.rest_volume[inflated]), float(model.gas_exponent[inflated])
            share = max(self._volume(inflated, x) / rest, SMALLEST_VOLUME_SHARE)
            pressure = float(gas[inflated]) / rest * share**-exponent - float(model.gas_base[inflated])
            for vertex in chosen[body == inflated].tolist():
                first, second = x[fans.corners[slice(*fans.vertex_start[vertex : vertex + 2])]].transpose(1, 0, 2)
                push = SIXTH * pressure * float(model.pressure_weight[vertex])
                force[vertex] += push * np.cross(first - x[vertex], second - x[vertex]).sum(axis=0)
        hold_in_planes(model, force)
        force[~vertices] = 0.0
        return force
