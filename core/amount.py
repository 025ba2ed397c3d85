"""Amount of gas in moles: n R T, by which the core counts it, and back."""

from collections.abc import Mapping
from typing import Any

from .checks import check
from .model import GAS_CONSTANT
from .parameters import named

#: Temperature of a gas that is not told otherwise [K]: 20 degrees Celsius.
ROOM_TEMPERATURE: float = named("temperature").default


def nrt(amount: float, temperature: float = ROOM_TEMPERATURE) -> float:
    """nRT [J] of an amount of gas [mol] at a temperature [K]."""
    return amount * GAS_CONSTANT * temperature


def moles(gas: float, temperature: float = ROOM_TEMPERATURE) -> float:
    """Amount [mol] of a gas with `gas` = nRT [J] at a temperature [K]."""
    return gas / (GAS_CONSTANT * temperature)


def start_gas(
    name: str, settings: Mapping[str, Any], volume: float, ambient_pressure: float
) -> tuple[float, float | None]:
    """Gauge pressure [Pa] of a body at its drawn volume [m^3], and nRT [J] where its amount of gas [mol] is given.

    p = nRT / V - p_a (Mesit 2007, eq. 8; Martin 2009, 3.1.3); without an amount the pressure given. Raises
    `ParameterError` for a pressure below that of a vacuum.
    """
    if settings["gas_amount"] is None:
        return check(name, "gauge pressure", settings["gauge_pressure"], "Pa", low=-ambient_pressure), None
    gas = nrt(settings["gas_amount"], settings["temperature"])
    return gas / volume - ambient_pressure, gas
