"""Constants of a body's gas law (`energy/gas.py`) from what it holds.

    (p_gauge + p_base) V^k = constant

AMOUNT: p_base is the air's pressure, k the body's exponent. PRESSURE: k = 0. VOLUME: k = 1 and p_base a bulk modulus K,
so that p_gauge = K (V_held / V - 1): a liquid whose volume is off by p / K.
"""

import numpy as np

from .given import GivenMembrane

#: Bulk modulus over the pressures that are expected: the volume held is off by 0.1 % at most.
BULK_FACTOR = 1000.0
#: Least pressure that is expected [Pa]: 10 cm of water.
LEAST_PRESSURE = 1000.0
#: Gravity for what is expected of a liquid [m/s^2].
EARTH_GRAVITY = 9.81


def gas_base(body: GivenMembrane, ambient_pressure: float) -> float:
    """Absolute pressure at a gauge pressure of 0 [Pa]: that of the air, or where the volume is held a bulk modulus."""
    if not body.has_gas or body.setting("gas_hold") != "VOLUME":
        return ambient_pressure
    depth = float(np.ptp(body.positions, axis=0).max())
    liquid = body.setting("fill_density") * EARTH_GRAVITY * depth
    return max(BULK_FACTOR * max(abs(body.gauge_pressure), liquid, LEAST_PRESSURE), ambient_pressure)


def gas_exponent(body: GivenMembrane) -> float:
    """k of the gas law; 1 without gas."""
    if not body.has_gas or body.setting("gas_hold") == "VOLUME":
        return 1.0
    return 0.0 if body.setting("gas_hold") == "PRESSURE" else float(body.setting("gas_exponent"))
