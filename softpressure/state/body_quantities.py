"""What the settings of bodies amount to in the model of a run: gas, springs, moduli, masses."""

from dataclasses import dataclass

import numpy as np

from ...core import Model


@dataclass(frozen=True, slots=True)
class Quantities:
    """Of a body at the start of a run."""

    gas: float  # nRT [J], 0 without gas
    drawn_volume: float  # [m^3], 0 without gas
    springs: tuple[float, float]  # least and largest spring constant [N/m]
    modulus: float  # stretch modulus [N/m] of skins and outlines, Young's modulus [Pa] of lattices
    points: tuple[float, float]  # least and largest mass of a point [kg]
    mass: float  # [kg]


def of_model(model: Model) -> list[Quantities]:
    """Of each soft body of a model."""
    body_of_edge = model.point_body[model.edges.points[:, 0]]
    first_edge = np.searchsorted(body_of_edge, np.arange(model.membrane_count + 1))
    found = []
    for body in range(model.membrane_count):
        copies = 2.0 if model.flat.depth[body] > 0.0 else 1.0  # share what their point or edge has
        springs = copies * model.edges.stiffness[first_edge[body] : first_edge[body + 1]]
        masses = copies * model.vertex_mass[slice(*model.body_point_start[body : body + 2])]
        gas = (model.gauge_pressure[body] + model.ambient_pressure) * model.rest_volume[body]
        found.append(
            Quantities(
                gas=float(gas),
                drawn_volume=float(model.drawn_volume[body]),
                springs=(float(springs.min()), float(springs.max())),
                modulus=float(model.stretch_modulus[body] + model.young_modulus[body]),
                points=(float(masses.min()), float(masses.max())),
                mass=float(model.body_mass[body]),
            )
        )
    return found
