"""The gas by other rules where options ask for them. Loaded on first use: few do, and their kernels need compiling."""

from typing import TYPE_CHECKING

from ..model import Model
from ..options import MethodOptions

if TYPE_CHECKING:
    from .gas_rules import GasRules
    from .lagged_gas import LaggedGas


def gas_rules(model: Model, options: MethodOptions) -> "GasRules | None":
    """The rules, None for the exact gas."""
    if not options.changes_gas:
        return None
    from .gas_rules import GasRules

    return GasRules(model, options)


def lagged_gas(model: Model, options: MethodOptions) -> "LaggedGas | None":
    """The rules for the implicit step, None for the exact gas."""
    if not options.changes_gas:
        return None
    from .lagged_gas import LaggedGas

    return LaggedGas(model, options)
