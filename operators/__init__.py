"""What a person clicks: the classes of all operators."""

from . import bake, bodies, check, curves, export, hoses, interactive, presets, simulate, sweep
from .reports import reports_errors

CLASSES = tuple(
    reports_errors(operator)
    for module in (bodies, check, hoses, presets, simulate, interactive, bake, export, sweep, curves)
    for operator in module.CLASSES
)
