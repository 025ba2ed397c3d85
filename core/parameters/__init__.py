"""All settings of bodies and scenes: name, unit, default, bounds, tooltip, and the bodies and solvers that have each.

Blender's properties, the rows of the panels, capture, per-frame input, fingerprint, presets of materials, the pages of
the manual, the builder's defaults and checks, and `Model.settings` follow from this table. It imports nothing else of
the core, and so no numba, which takes most of a second: registering the extension reads it.
"""

from functools import cache
from types import SimpleNamespace
from typing import Any

from . import elastic, flow, gas, motion, scene
from .declaration import BODIES as BODIES
from .declaration import SCENE as SCENE
from .declaration import SKINS as SKINS
from .declaration import SOFT as SOFT
from .declaration import Parameter as Parameter

#: How much gas there is.
GAS = ("gauge_pressure", "gas_amount", "temperature")
PARAMETERS: tuple[Parameter, ...] = (
    *gas.PARAMETERS, *flow.PARAMETERS, *elastic.PARAMETERS, *motion.PARAMETERS, *scene.PARAMETERS,
)  # fmt: skip


@cache
def of_body(body: str) -> tuple[Parameter, ...]:
    """The settings that a body of `BODIES` has, or with `SCENE` those of a scene."""
    return tuple(parameter for parameter in PARAMETERS if body in parameter.bodies)


@cache
def of_scene(taken_by: str) -> tuple[Parameter, ...]:
    """The settings of a scene that MODEL, WORLD or OPTIONS take."""
    return tuple(parameter for parameter in of_body(SCENE) if parameter.taken_by == taken_by)


@cache
def named(name: str) -> Parameter:
    """The setting of a name."""
    return next(parameter for parameter in PARAMETERS if parameter.name == name)


def builder_default(parameter: Parameter, body: str) -> Any:
    """The default of the core for a body or `SCENE`; None: not given."""
    value = parameter.plain.get(body, parameter.default)
    return 0.01 * value if parameter.unit == "%" else value


def builder_defaults(body: str) -> SimpleNamespace:
    """Those of all its settings, by their names there."""
    return SimpleNamespace(**{each.option or each.name: builder_default(each, body) for each in of_body(body)})


#: What is given of gas, stiffness and mass of a body: choices with which other settings count or not.
GIVEN = {
    parameter.name: parameter
    for parameter in PARAMETERS
    if parameter.name in {each.where[0] for each in PARAMETERS if SCENE not in each.bodies}
}


def counts(parameter: Parameter, body: str, settings: Any) -> bool:
    """Whether a setting counts for a body of `BODIES` with these settings; one that does not is not read."""
    choice, value = parameter.where
    return choice not in GIVEN or body not in GIVEN[choice].bodies or getattr(settings, choice) == value


def is_read_by(parameter: Parameter, solver: str) -> bool:
    """Whether a method reads a setting; the others refuse one of a body, unless it is its default."""
    return not parameter.solvers or solver in parameter.solvers


def counts_in_scene(parameter: Parameter, settings: Any) -> bool:
    """Whether a setting of a scene counts with the others: its method and another setting ask for it."""
    choice, value = parameter.where
    return is_read_by(parameter, settings.solver) and (not choice or getattr(settings, choice) == value)


def is_other(parameter: Parameter) -> bool:
    """Whether a setting counts in place of another one that is the default."""
    choice, value = parameter.where
    return choice in GIVEN and GIVEN[choice].default != value


def captured(body: str, settings: Any) -> tuple[str, ...]:
    """Names of the settings of a body that the builder gets."""
    return tuple(each.name for each in of_body(body) if each.is_captured and counts(each, body, settings))


@cache
def animated(body: str) -> tuple[str, ...]:
    """Names of the numbers of a body that are read in each frame; without those of its gas."""
    names = (parameter.name for parameter in of_body(body) if parameter.is_animated)
    return tuple(name for name in names if name not in GAS)


def groups(body: str) -> dict[str, list[Parameter]]:
    """The settings of a body or `SCENE` in the groups of a panel, by their names."""
    found: dict[str, list[Parameter]] = {}
    for parameter in of_body(body):
        if parameter.group:
            found.setdefault(parameter.group, []).append(parameter)
    return found
