"""Settings of gas that is pumped in and leaks out."""

from .declaration import SKINS, Parameter

PARAMETERS: tuple[Parameter, ...] = (
    Parameter(
        "pump_rate", "Pump", "Gas pumped in, in moles per second; negative values suck it out",
        bodies=SKINS, default=0.0, unit="mol/s", soft_low=-1.0, soft_high=1.0, step=1, precision=4, is_animated=True,
        short="Pump (mol/s)",
    ),
    Parameter(
        "leak_diameter", "Leak", "Diameter of a hole through which gas escapes; 0 is airtight",
        bodies=SKINS, default=0.0, low=0.0, unit="m", soft_high=0.1, step=0.1, precision=4, is_animated=True,
        short="Leak Diameter",
    ),
)  # fmt: skip
