"""AUTO: the solver of a run by predicted cost.

The choice follows from the model and the numbers in this file alone, so it is the same on every machine. It is made
once, when a run starts, and stored with it: a run that is repeated, continued or baked elsewhere has the same bits.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from ..bodies.rigid.convex import ConvexShapes, convex_shapes
from ..energy.energies import ModelElements
from ..errors import ParameterError
from ..model import BoolArray, Model
from ..options import MethodOptions

#: The method that chooses.
AUTO = "AUTO"
#: Solvers that can be chosen: the method that makes each of them. Simple rigid bodies alone have the impulse solver
#: with IMPLICIT, too.
METHOD_OF = {"EXPLICIT": "EXPLICIT", "IMPLICIT": "IMPLICIT", "RIGID": "IMPLICIT"}
#: Methods that choose nothing but find the length of their steps themselves.
FORESEEN = ("EXPLICIT",)
#: Nanoseconds of each solver by kinds of work, on one thread of a cloud server's processor: `python
#: benchmarks/cost_table.py` measures scenes and fits them. Explicit steps: per second; per spring (of which a skin has
#: three per vertex), tetrahedron and hinge of each step; and per second and vertex of bodies with self-contact, or that
#: start crossed with themselves, as contacts are searched as often as bodies move, not as often as steps are taken.
#: Substeps of the other two: each, per moving point, and per vertex of bodies near others and of such bodies.
NANOSECONDS = {
    "EXPLICIT": {
        "second": 2.15e7,
        "spring": 7.69,
        "tetrahedron": 12.1,
        "hinge": 8.99,
        "itself": 8e4,
        "crossed": 1.37e6,
    },
    "IMPLICIT": {"substep": 3.16e6, "point": 741.0, "meeting": 3280.0, "itself": 1730.0, "crossed": 32400.0},
    "RIGID": {"substep": 2.13e5, "point": 349.0},
}
#: What is near enough to be met: a body whose box meets that of another one when both grow by this share of their size.
REACH = 0.25


@dataclass(frozen=True)
class Choice:
    """Solver and step of a run. Raises `ParameterError` for an unknown solver."""

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
        """Whether a run with this method can have this choice."""
        return method == AUTO or (method in FORESEEN and method == self.solver)


def likely(parts: Collection[str]) -> str:
    """The method that AUTO is likely to choose for a scene with these parts (`part_scenes.PARTS`)."""
    return "EXPLICIT" if {"SKIN", "LATTICE", "FLAT"} & set(parts) else "IMPLICIT"


def choose(model: Model, frame_time: float, substeps: int, options: MethodOptions) -> Choice:
    """The solver of lowest predicted cost for frames of a length [s]; `substeps` are those of the implicit solver.

    Lattices always take explicit steps: in implicit ones their springs take ten times as long. If explicit steps would
    be too many, or do not support the scene, the solver is implicit.
    """
    solver = "RIGID" if simple_shapes(model) is not None else "IMPLICIT"
    other = forecast(solver, model, frame_time, substeps, options)
    if not model.membrane_count:
        return other
    from .explicit.unsupported import unsupported

    if unsupported(model, options):
        return other
    try:
        explicit = forecast("EXPLICIT", model, frame_time, substeps, options)
    except ParameterError:
        return other
    is_lattice = not model.rest_volume.any()
    return explicit if is_lattice or explicit.milliseconds < other.milliseconds else other


def forecast(solver: str, model: Model, frame_time: float, substeps: int, options: MethodOptions) -> Choice:
    """Predicted cost of frames of a length [s] with one of the solvers that can be chosen.

    Raises `ParameterError` where explicit steps would be too many.
    """
    steps, added = substeps, 0.0
    if solver == "EXPLICIT":
        from .explicit.limits import check_plan
        from .explicit.stability import plan_steps

        plan = plan_steps(model, options)
        check_plan(model, plan, frame_time)
        steps, added = max(1, math.ceil(frame_time / plan.step)), float(plan.added.max(initial=0.0))
    amounts, costs = work(solver, model, steps, frame_time), NANOSECONDS[solver]
    milliseconds = 1e-6 * sum(costs[kind] * amount for kind, amount in amounts.items())
    return Choice(solver, steps, milliseconds, added)


def work(solver: str, model: Model, steps: int, frame_time: float) -> dict[str, float]:
    """What a frame of a length [s] consists of, in the kinds of `NANOSECONDS`."""
    points = steps * model.moving_point_count
    if solver == "RIGID":
        return {"substep": steps, "point": points}
    from .explicit.unsupported import starts_tangled

    size = np.diff(model.body_point_start)[: model.membrane_count]
    itself = float(size[model.self_collision[: model.membrane_count]].sum())
    crossed = float(model.vertex_count * starts_tangled(model))
    if solver == "IMPLICIT":
        meeting = float(size[near_others(model)[: model.membrane_count]].sum())
        vertices = {"meeting": meeting, "itself": itself, "crossed": crossed}
        return {"substep": steps, "point": points} | {kind: steps * count for kind, count in vertices.items()}
    return {
        "second": frame_time,
        "spring": steps * len(model.edges.points),
        "tetrahedron": steps * len(model.tetrahedra.points),
        "hinge": steps * len(model.hinges.points),
        "itself": frame_time * itself,
        "crossed": frame_time * crossed,
    }


def near_others(model: Model) -> BoolArray:
    """Whether each moving body may meet another one soon, shape (moving_count,)."""
    start, x = model.body_point_start[:-1], model.start_positions
    low, high = (each.reduceat(x, start)[: model.moving_count] for each in (np.minimum, np.maximum))
    reach = REACH * (high - low).max(axis=1, keepdims=True)
    low, high = low - reach, high + reach
    meet = ((low[:, None] <= high) & (high[:, None] >= low)).all(axis=2)
    return np.asarray(meet.sum(axis=1) > 1)


def choice_of(method: str, model: Model, frame_time: float, substeps: int, options: MethodOptions) -> Choice | None:
    """The choice of a new run with a method; None where the method has no choices: its steps are the substeps."""
    if method == AUTO:
        return choose(model, frame_time, substeps, options)
    return forecast(method, model, frame_time, substeps, options) if method in FORESEEN else None


def simple_shapes(model: Model) -> ConvexShapes | None:
    """Shapes of the rigid bodies where there is nothing else and all are convex with few faces; otherwise None."""
    if model.membrane_count or len(ModelElements(model)):
        return None
    shapes = convex_shapes(model)
    return shapes if shapes.simple.all() else None
