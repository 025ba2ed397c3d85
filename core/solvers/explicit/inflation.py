"""Rate at which gas may stretch a skin: an explosion needs shorter steps than the highest frequency at rest."""

import numpy as np

from ...array_types import FloatArray
from ...latest import keep_latest
from ...model import Model

#: Growth s - 1 that is sampled: from small strains to a thousandfold size.
GROWTH = np.geomspace(1e-4, 1e3, 141)
#: Least volume that a body is taken to have, as a share of the drawn one.
LEAST_VOLUME = 1e-3


def inflation_rate(model: Model, amount: FloatArray, volume: FloatArray) -> FloatArray:
    """Largest rate of stretch [1/s] of each membrane if its gas expanded freely from a volume [m^3].

    The body grows as a whole by a factor s against its springs: 1/2 s'^2 sum m r^2 = W(s^3) - p_base V0 (s^3 - 1) -
    springs, about its centre at rest. W = nRT ln s^3, or nRT (s^(3 - 3k) - 1) / (1 - k) with the exponent k. `amount`:
    nRT [J]. Shape (membrane_count,).
    """
    rates, volume = np.zeros(model.membrane_count), np.maximum(volume, LEAST_VOLUME * model.drawn_volume)
    edges, inertias = model.edges, _inertias(model)
    springs = 0.5 * np.bincount(
        model.point_body[edges.points[:, 0]], edges.stiffness * edges.rest_length**2, model.body_count
    )
    for body in np.flatnonzero(model.rest_volume > 0.0):
        rest = model.drawn_volume[body]
        first = (volume[body] / rest) ** (1.0 / 3.0)
        size = first * (1.0 + GROWTH)
        growth, power = 3.0 * np.log1p(GROWTH), 1.0 - model.gas_exponent[body]
        if power != 0.0:
            growth = (volume[body] / model.rest_volume[body]) ** power * np.expm1(power * growth) / power
        work = amount[body] * growth - model.gas_base[body] * rest * (size**3 - first**3)
        work -= springs[body] * (np.maximum(size - 1.0, 0.0) ** 2 - max(first - 1.0, 0.0) ** 2)
        work *= np.cumprod(work > 0.0)  # where it stops it turns: a held pressure would do work again far beyond
        rates[body] = np.sqrt(2.0 * max(work.max(), 0.0) / inertias[body]) / first
    return rates


def free_rate(model: Model, amount: FloatArray, volume: FloatArray) -> FloatArray:
    """A bound of `inflation_rate` [1/s], quickly: without springs, until the gas has the pressure of the air outside.

    Infinite where there is no air, and where the gas gets colder.
    """
    # W - p_base (V' - V) is largest at V' = nRT / p_base
    now = np.maximum(volume, LEAST_VOLUME * model.drawn_volume)
    held = model.gas_base * now
    is_known = (model.rest_volume > 0.0) & (held > 0.0) & (model.gas_exponent == 1.0)
    held = np.where(is_known, held, 1.0)
    over = np.maximum(amount / held, 1.0)
    work = held * (over * np.log(over) - over + 1.0)
    size2 = (now / np.where(is_known, model.drawn_volume, 1.0)) ** (2.0 / 3.0)
    rate = np.sqrt(2.0 * work / np.where(is_known, _inertias(model) * size2, 1.0))
    return np.where(is_known, rate, np.where(model.rest_volume > 0.0, np.inf, 0.0))


@keep_latest
def _inertias(model: Model) -> FloatArray:
    """Sum of m r^2 over the vertices of each membrane about its centre [kg m^2], shape (membrane_count,)."""
    start, inertias = model.body_point_start, np.zeros(model.membrane_count)
    for body in range(model.membrane_count):
        own = slice(start[body], start[body + 1])
        mass, x = model.vertex_mass[own, None], model.rest_positions[own]
        inertias[body] = (mass * (x - (mass * x).sum(axis=0) / mass.sum()) ** 2).sum()
    return inertias
