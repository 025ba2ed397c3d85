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
from ..model import Model
from ..options import MethodOptions

#: The method that chooses.
AUTO = "AUTO"
#: Solvers that can be chosen: the method that makes each of them. Simple rigid bodies alone have the impulse solver
#: with IMPLICIT, too.
METHOD_OF = {"EXPLICIT": "EXPLICIT", "IMPLICIT": "IMPLICIT", "RIGID": "IMPLICIT"}
#: Methods that choose nothing but find the length of their steps themselves.
FORESEEN = ("EXPLICIT",)
#: Cost of steps on one thread of a cloud server's processor, bodies that fall and come to rest (`docs/benchmarks.md`).
#: Implicit steps and those of impulses [ns per moving point and substep]; the second where soft bodies meet.
SUBSTEP_NANOSECONDS = {"IMPLICIT": (2000.0, 3300.0), "RIGID": (150.0, 150.0)}
#: The same where a skin starts crossed with itself, as many meshes of artists do: implicit steps look for a way out.
TANGLED_NANOSECONDS = 40_000.0
#: Explicit ones [ns]: per vertex, spring, tetrahedron, hinge.
VERTEX, SPRING, TETRAHEDRON, HINGE = 5.0, 3.3, 8.0, 6.0
#: What contacts add per vertex and step [ns]: of one body with others, of soft bodies with each neighbour, of which
#: there are at most so many, of a body with itself, and of one with holes.
BESIDE, MEETING, MOST_NEIGHBOURS, ITSELF, WITH_HOLES = 20.0, 30.0, 3, 15.0, 150.0
#: What each run of explicit steps takes whatever its size [ms], and in steps.
RUN_MILLISECONDS, RUN_STEPS = 0.3, 3


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


def choose(
    model: Model, frame_time: float, substeps: int, options: MethodOptions, explicit_worth: float = 1.0
) -> Choice:
    """The solver of lowest predicted cost for frames of a length [s]; `substeps` are those of the implicit solver.

    Lattices always take explicit steps: in implicit ones their springs take ten times as long. If explicit steps would
    be too many, or do not support the scene, the solver is implicit. `explicit_worth`: explicit steps may cost so many
    times as much as implicit ones; their frames take even times.
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
    return explicit if is_lattice or explicit.milliseconds < explicit_worth * other.milliseconds else other


def forecast(solver: str, model: Model, frame_time: float, substeps: int, options: MethodOptions) -> Choice:
    """Predicted cost of frames of a length [s] with one of the solvers that can be chosen.

    Raises `ParameterError` where explicit steps would be too many.
    """
    from .explicit.unsupported import starts_tangled

    soft_meet = model.membrane_count > 1 or bool(model.self_collision[: model.membrane_count].any())
    if solver != "EXPLICIT":
        nanoseconds = SUBSTEP_NANOSECONDS[solver][soft_meet]
        if soft_meet and starts_tangled(model):
            nanoseconds = TANGLED_NANOSECONDS
        milliseconds = 1e-6 * nanoseconds * model.moving_point_count * substeps
        return Choice(solver, substeps, milliseconds, added_mass=0.0)
    from .explicit.limits import check_plan
    from .explicit.stability import plan_steps

    plan = plan_steps(model, options)
    check_plan(model, plan, frame_time)
    steps = max(1, math.ceil(frame_time / plan.step))
    nanoseconds = (VERTEX + _contacts(model)) * model.vertex_count + SPRING * len(model.edges.points)
    nanoseconds += TETRAHEDRON * len(model.tetrahedra.points) + HINGE * len(model.hinges.points)
    milliseconds = RUN_MILLISECONDS + 1e-6 * nanoseconds * (steps + RUN_STEPS)
    return Choice(solver, steps, milliseconds, added_mass=float(plan.added.max(initial=0.0)))


def _contacts(model: Model) -> float:
    """Cost that contacts add to an explicit step [ns per vertex], estimated from the model."""
    if model.membrane_count > 1:
        return MEETING * min(model.membrane_count - 1, MOST_NEIGHBOURS)
    if model.self_collision[0]:
        surfaces = model.surfaces
        triangle_count, edge_count = surfaces.body_triangle_start[1], np.count_nonzero(surfaces.edge_body == 0)
        return ITSELF if model.vertex_count - edge_count + triangle_count == 2 else WITH_HOLES
    return BESIDE if model.body_count > 1 else 0.0


def choice_of(
    method: str, model: Model, frame_time: float, substeps: int, options: MethodOptions, explicit_worth: float = 1.0
) -> Choice | None:
    """The choice of a new run with a method; None where the method has no choices: its steps are the substeps."""
    if method == AUTO:
        return choose(model, frame_time, substeps, options, explicit_worth)
    return forecast(method, model, frame_time, substeps, options) if method in FORESEEN else None


def simple_shapes(model: Model) -> ConvexShapes | None:
    """Shapes of the rigid bodies where there is nothing else and all are convex with few faces; otherwise None."""
    if model.membrane_count or len(ModelElements(model)):
        return None
    shapes = convex_shapes(model)
    return shapes if shapes.simple.all() else None
