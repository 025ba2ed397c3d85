"""Contact stiffness of each body: as stiff as its gas presses it, or as its springs."""

import numpy as np

from ...model import FloatArray, Model
from ...topology import triangle_areas

#: Contact stiffness [pressure x vertex area / thickness]: a patch rests at about a third of the thickness.
PRESSURE_CONTACT = 10.0


class ContactScale:
    """kappa of the bodies of a model, from which `StageEnergy.set_contact_scale` makes that of each contact."""

    def __init__(self, model: Model) -> None:
        self._model = model
        skin = slice(0, model.membrane_count)
        edge_body = model.point_body[model.edges.points[:, 0]]
        edge_count = np.bincount(edge_body, minlength=model.membrane_count)
        self._edge_stiffness = np.bincount(edge_body, model.edges.stiffness, model.membrane_count) / edge_count
        area = np.zeros(model.membrane_count)
        np.add.at(area, model.point_body[: model.vertex_count], _vertex_areas(model))
        self._patch = area / np.diff(model.body_point_start)[skin] / model.thickness[skin]

    def of(self, gas: FloatArray, stage_time: float) -> FloatArray:
        """kappa of each body [N/m]: of a soft body by its pressure or its springs, of a rigid body by its mass.

        `gas`: nRT [J] of each membrane; `stage_time` [s]. Colliders have inf.
        """
        model = self._model
        pressure = np.zeros(model.membrane_count)
        np.divide(gas, model.rest_volume, out=pressure, where=model.rest_volume > 0.0)
        pressure = np.maximum(pressure - model.gas_base, 0.0)
        scale = np.full(model.body_count, np.inf)
        scale[: model.membrane_count] = np.maximum(PRESSURE_CONTACT * pressure * self._patch, self._edge_stiffness)
        scale[model.membrane_count : model.moving_count] = model.rigid.mass / stage_time**2
        return scale


def _vertex_areas(model: Model) -> FloatArray:
    """Area of each vertex of the membranes at rest [m^2], in proportion to its mass."""
    skin = model.surfaces.triangles[: model.surfaces.body_triangle_start[model.membrane_count]]
    area = triangle_areas(model.rest_positions, skin)
    share = np.bincount(skin.ravel(), np.repeat(area / 3.0, 3), minlength=model.vertex_count)
    return np.asarray(share, dtype=float)
