"""Largest pressure that a skin can hold."""

from collections.abc import Callable
from math import ceil, floor, log10

#: Largest strain of the springs in equilibrium (`equilibrium.Rest`) that a skin can hold.
MOST_STRAIN = 0.3
#: Times that a pressure is corrected by the strain it leads to, and what it is lowered by where that is not enough.
CORRECTIONS, LOWER = 3, 0.9


def largest_pressure(strain: Callable[[float], float], pressure: float) -> float:
    """A pressure [Pa], of two digits, that leads to nearly the largest strain that a skin can hold, and no more.

    `strain`: function of the pressure; `pressure`: first guess. For springs under tension in the drawn shape the
    pressure is proportional to strain / (1 + strain).
    """
    for _ in range(CORRECTIONS):
        found = max(strain(pressure), 1e-3 * MOST_STRAIN)
        pressure *= MOST_STRAIN / (1.0 + MOST_STRAIN) * (1.0 + found) / found
    pressure = two_digits(pressure, floor)
    while strain(pressure) > MOST_STRAIN:
        pressure = two_digits(LOWER * pressure, floor)
    return pressure


def two_digits(value: float, rounded: Callable[[float], int] = ceil) -> float:
    """A positive value with two digits, rounded up unless told otherwise."""
    unit = 10.0 ** (floor(log10(value)) - 1)
    return float(f"{rounded(value / unit) * unit:.2g}")
