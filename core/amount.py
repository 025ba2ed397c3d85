"""Amount of gas in moles: n R T, by which the core counts it, and back."""

from .checks import check
from .model import GAS_CONSTANT

#: Temperature of a gas that is not told otherwise [K]: 20 degrees Celsius.
ROOM_TEMPERATURE = 293.15


def nrt(amount: float, temperature: float = ROOM_TEMPERATURE) -> float:
    """nRT [J] of an amount of gas [mol] at a temperature [K]."""
    return amount * GAS_CONSTANT * temperature


def moles(gas: float, temperature: float = ROOM_TEMPERATURE) -> float:
    """Amount [mol] of a gas with `gas` = nRT [J] at a temperature [K]."""
    return gas / (GAS_CONSTANT * temperature)


def start_gas(
    name: str, gauge_pressure: float, amount: float | None, temperature: float, volume: float, ambient_pressure: float
) -> tuple[float, float | None]:
    """Gauge pressure [Pa] of a body at its drawn volume [m^3], and nRT [J] where its amount of gas [mol] is given.

    p = nRT / V - p_a (Mesit 2007, eq. 8; Martin 2009, 3.1.3); without an amount the pressure given. Raises
    `ParameterError` for numbers out of their range.
    """
    if amount is None:
        return check(name, "gauge pressure", gauge_pressure, "Pa", low=-ambient_pressure), None
    check(name, "amount of gas", amount, "mol", low=0.0)
    check(name, "temperature", temperature, "K", low=0.0, open_low=True)
    gas = nrt(float(amount), float(temperature))
    return gas / volume - ambient_pressure, gas
