"""Settings of gas that is pumped in and leaks out."""

from .declaration import SKINS, Parameter

PARAMETERS: tuple[Parameter, ...] = (
    Parameter(
        name="pump_rate",
        label="Pump",
        tooltip="Gas that a pump brings into the body, in moles per second. Higher fills faster; below 0 it is sucked "
        "out. A litre of air in the room is 0.042 mol",
        bodies=SKINS,
        default=0.0,
        unit="mol/s",
        soft_low=-1.0,
        soft_high=1.0,
        step=1,
        precision=4,
        is_animated=True,
        short="Pump (mol/s)",
    ),
    Parameter(
        name="leak_diameter",
        label="Leak",
        tooltip="Diameter in metres of a hole to the air, through which the gas streams out without pushing the body. "
        "Higher empties faster; 0 is tight",
        bodies=SKINS,
        default=0.0,
        low=0.0,
        unit="m",
        soft_high=0.1,
        step=0.1,
        precision=4,
        is_animated=True,
        short="Leak Diameter",
    ),
)
