"""Every number of a body or of the options of a method is refused by name where it is out of its range."""

import math

import numpy as np
import pytest
import shapes
from softpressure_ext.core import MethodOptions, ModelBuilder, ParameterError, parameters
from softpressure_ext.core.parameters.declaration import BODIES

SQUARE = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 0.0, 1.0), (0.0, 0.0, 1.0)])


def add(body: str, **options: object) -> None:
    """Give a builder one body of a kind."""
    builder = ModelBuilder()
    if body == "MEMBRANE":
        builder.add_membrane("body", *shapes.icosphere(0), **options)
    elif body == "LOOP":
        builder.add_loop("body", SQUARE, **options)
    elif body == "FLAT_TRUSS":
        builder.add_flat_truss("body", SQUARE, **options)
    elif body == "RIGID":
        builder.add_rigid("body", *shapes.box(), **options)
    elif body == "COLLIDER":
        builder.add_collider("body", *shapes.grid(1.0), **options)
    else:
        builder.add_solid("body", *shapes.box(), kind=body, **options)


def outside(parameter: parameters.Parameter) -> list[float]:
    """Values that a number cannot have: not finite, and beyond its bounds."""
    share = 0.01 if parameter.unit == "%" else 1.0
    values = [math.nan, math.inf]
    values += [] if parameter.low is None else [share * (parameter.low - 1.0)]
    return values + ([] if parameter.high is None else [share * (parameter.high + 1.0)])


def numbers(body: str) -> list[parameters.Parameter]:
    return [
        each for each in parameters.of_body(body) if type(each.default) is float and each.is_captured and each.is_dated
    ]


@pytest.mark.parametrize("body", BODIES)
def test_numbers_out_of_range_are_refused_by_name(body: str) -> None:
    found = numbers(body)
    assert len(found) > (1 if body == "COLLIDER" else 5)
    for parameter in found:
        for value in outside(parameter):
            with pytest.raises(ParameterError, match=rf"^body: {parameter.what} .*; give .*\.$"):
                add(body, **{parameter.option or parameter.name: value})


def test_options_out_of_range_are_refused_by_name() -> None:
    found = parameters.of_scene("OPTIONS")
    assert len(found) > 8
    for parameter in found:
        if parameter.choices:
            wrong: list[object] = ["NOTHING"]
        elif type(parameter.default) is float:
            wrong = [*outside(parameter)]
        else:
            continue
        for value in wrong:
            with pytest.raises(ParameterError, match=rf"^scene: {parameter.what} .*; give .*\.$"):
                MethodOptions(**{parameter.option or parameter.name: value})
