"""Settings as arguments: checked and made plain as `parameters/` declares them."""

import math
from collections.abc import Mapping
from typing import Any

from .checks import check, check_choice, vector
from .errors import ParameterError
from .parameters import Parameter, builder_default, of_body


def settings_of(name: str, body: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a body of `BODIES`, or of a `SCENE`, among the arguments `given` to a method, by name.

    What has no argument of its own is in `given["settings"]`; what is not there has the builder's default. Numbers,
    truth values, choices and vectors are plain; None is what replaces another setting and is not given. Raises
    `ParameterError` for values out of their range, and for names that are not declared.
    """
    own = {each.name: each for each in of_body(body) if each.is_captured and each.taken_by == "MODEL"}
    if unknown := given["settings"].keys() - own.keys():
        raise ParameterError(f"{name}: {min(unknown)}; there is no such setting. Give one of {', '.join(own)}.")
    values = {setting: builder_default(each, body) for setting, each in own.items()}
    values |= {setting: value for setting, value in {**given, **given["settings"]}.items() if setting in own}
    return {setting: checked(name, own[setting], value, body) for setting, value in values.items()}


def checked(name: str, parameter: Parameter, value: Any, body: str = "") -> Any:
    """A value of a setting as a plain one, or `ParameterError` with the name of its body or scene."""
    what, default = parameter.what, parameter.default
    if value is None and builder_default(parameter, body) is None:
        return None
    if parameter.choices:
        return check_choice(name, what, value, parameter.names())
    if isinstance(default, bool):
        return bool(value)
    if isinstance(default, tuple):
        return vector(name, what, value, parameter.unit)
    low, high = parameter.low, parameter.high
    if isinstance(default, int):
        if int(value) != value or (low is not None and value < low):
            raise ParameterError(f"{name}: {what} {value}; give a whole number from {low}.")
        return int(value)
    unit, share = ("", 0.01) if parameter.unit == "%" else (parameter.unit, 1.0)
    return check(
        name, what, value, unit,
        low=-math.inf if low is None else share * low, high=math.inf if high is None else share * high,
        open_low=low is not None and parameter.least is not None,
    )  # fmt: skip
