"""AUTO: which solver a run takes, by what it is going to cost.

The choice follows from the model and the numbers in this file alone, so it is the same on every machine. It is made
once, when a run starts, and stored with it: a run that is repeated, continued or baked elsewhere has the same bits.
"""

import math
from dataclasses import dataclass

from ..errors import ParameterError
from ..model import Model
from ..options import MethodOptions
from ..rigid.convex import ConvexShapes, convex_shapes

#: The method that chooses.
AUTO = "AUTO"
#: Solvers that can be chosen: the method that makes each of them. Simple rigid bodies alone have the impulse solver
#: with IMPLICIT, too.
METHOD_OF = {"EXPLICIT": "EXPLICIT", "IMPLICIT": "IMPLICIT", "RIGID": "IMPLICIT"}
#: Methods that choose nothing but find the length of their steps themselves.
FORESEEN = ("EXPLICIT",)
#: The method whose kernels are prepared for AUTO while the model is not known.
LIKELY = "IMPLICIT"
#: Cost of a step [ns per moving point]: `docs/benchmarks.md`, falling and resting bodies, one thread.
NANOSECONDS = {"EXPLICIT": 16.0, "IMPLICIT": 2000.0, "RIGID": 150.0}


@dataclass(frozen=True)
class Choice:
    """What a run is made with. Raises `ParameterError` for what there is not."""

    solver: str  # EXPLICIT, IMPLICIT or RIGID (impulses, see `solvers/rigid/`)
    steps_per_frame: int
    milliseconds: float  # expected per frame
    added_mass: float  # share of the mass that mass scaling adds, 0 where none

    def __post_init__(self) -> None:
        if self.solver not in METHOD_OF:
            raise ParameterError(f"choice: solver {self.solver!r}; give one of {', '.join(METHOD_OF)}.")
        if self.steps_per_frame < 1 or int(self.steps_per_frame) != self.steps_per_frame:
            raise ParameterError(f"choice: {self.steps_per_frame} steps per frame; give a whole number from 1.")
        for what, value in (("milliseconds", self.milliseconds), ("added mass", self.added_mass)):
            if not (math.isfinite(value) and value >= 0.0):
                raise ParameterError(f"choice: {what} {value}; give a number of at least 0.")

    @property
    def method(self) -> str:
        """Name of the method that makes the solver."""
        return METHOD_OF[self.solver]

    def fits(self, method: str) -> bool:
        """Whether it can be what a run with a method is made with."""
        return method == AUTO or (method in FORESEEN and method == self.solver)


def choose(model: Model, frame_time: float, substeps: int, options: MethodOptions) -> Choice:
    """The solver of lowest predicted cost for frames of a length [s]; `substeps` are those of the implicit solver."""
    solver = "RIGID" if simple_shapes(model) is not None else "IMPLICIT"
    return forecast(solver, model, frame_time, substeps, options)


def forecast(solver: str, model: Model, frame_time: float, substeps: int, options: MethodOptions) -> Choice:
    """What frames of a length [s] take with one of the solvers that can be chosen."""
    milliseconds = 1e-6 * NANOSECONDS[solver] * model.moving_point_count * substeps
    return Choice(solver, substeps, milliseconds, added_mass=0.0)


def choice_of(method: str, model: Model, frame_time: float, substeps: int, options: MethodOptions) -> Choice | None:
    """What a new run with a method is made with; None where the method says it all: its steps are the substeps."""
    if method == AUTO:
        return choose(model, frame_time, substeps, options)
    return forecast(method, model, frame_time, substeps, options) if method in FORESEEN else None


def simple_shapes(model: Model) -> ConvexShapes | None:
    """Shapes of the rigid bodies where there is nothing else and all are convex with few faces; otherwise None."""
    if model.membrane_count:
        return None
    shapes = convex_shapes(model)
    return shapes if shapes.simple.all() else None
