"""Which solver advances a model: by name, all behind one interface."""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from ..array_types import FloatArray
from ..bodies.rigid.convex import ConvexShapes, convex_shapes
from ..energy.energies import ModelElements
from ..errors import ParameterError
from ..extras import circles, gas_rules, step_damping
from ..latest import keep_latest
from ..model import Model
from ..options import DEFAULTS, MethodOptions
from ..parameters.methods import ENGINE
from ..parameters.methods import FORCE_BASED as FORCE_BASED
from ..parameters.methods import current_method as current_method
from ..state import State
from ..tiny import ROUNDING
from .counts import Counts
from .kinematics import Motion
from .notes import FrameNotes


class Solver(Protocol):
    """Advances a model by substeps of one length, or by several of them as one."""

    model: Model

    @property
    def vertex_mass(self) -> FloatArray:
        """Masses that its steps move [kg], in the model's order."""

    @property
    def counts(self) -> Counts:
        """How much work was done since the start."""

    @property
    def contact_count(self) -> int:
        """Contacts that exert a force at the end of the last substep."""

    @property
    def candidate_count(self) -> int:
        """Pairs in the contact set."""

    def untangle(self, state: State) -> int:
        """Write the points behind another body's surface into the state; returns how many triangles cross."""

    def start_frame(self, state: State) -> None:
        """Drop everything that is not in the state, so that a continued run has the same bits."""

    def join(self, state: State, left: int, /) -> int:
        """How many of the `left` substeps of a frame to take as one in the next step."""

    def step(
        self, before: State, after: State, motion: Motion, share: float, gas: FloatArray, count: int = 1,
        load: FloatArray | None = None, /,
    ) -> None:  # fmt: skip
        """`count` substeps as one, as `join` said, from `before` to `after`, which may be the same object.

        `share`: part of the frame (0 to 1) before its start; `gas`: nRT [J] at its end; `load`: forces on the vertices
        that are constant in the step [N], as of fluids where the vertices are in the middle of it, 0 on pinned ones,
        shape (vertex_count, 3), None for none. Raises `Diverged` if it detects that the motion grows beyond all bounds.
        """

    def revised(self, model: Model, /) -> "Solver | None":
        """One for a model with other values (`segments.py`), made faster than a new one; None where it would not be."""

    def remade(self, model: Model, /) -> "Solver | None":
        """One for a model with other parts that moves the same masses, as tears keep the momentum; None if none can."""

    def take_rest_lengths(self) -> None:
        """Use the rest lengths of the model's springs, which have changed in place since the last step."""

    def notes(self) -> FrameNotes:
        """What the steps since `start_frame` took; derived when it is asked for."""

    def contact_forces(self) -> FloatArray:
        """Sum of the normal forces on each point in the last step [N], shape (point_count,); derived likewise."""


#: Length of a step of rigid bodies alone, at most [s].
RIGID_STEP = 1.0 / 240.0
#: Makes the solver of a model for substeps of a length [s].
SolverMaker = Callable[[Model, float], Solver]


@keep_latest
def simple_shapes(model: Model) -> ConvexShapes | None:
    """Shapes of the rigid bodies where there is nothing else and all are convex with few faces; otherwise None."""
    if model.membrane_count or len(ModelElements(model)):
        return None
    shapes = convex_shapes(model)
    return shapes if shapes.simple.all() else None


# Solvers are loaded on first use: kernels that no scene needs must not be among those to prepare.


def _explicit(model: Model, substep_time: float, options: MethodOptions = DEFAULTS) -> Solver:
    """Sequential impulses where all bodies are rigid and of a simple convex shape, else explicit steps."""
    shapes = simple_shapes(model)
    if shapes is not None:
        from .rigid.solver import RigidSolver

        return RigidSolver(model, substep_time, shapes, step_damping(model, options))
    from .explicit.solver import ExplicitSolver

    return ExplicitSolver(model, substep_time, options)


def _xpbd(model: Model, substep_time: float, options: MethodOptions = DEFAULTS) -> Solver:
    from .sequential.solver import SequentialSolver
    from .xpbd.integrator import Xpbd

    integrator = partial(Xpbd, rules=gas_rules(model, options), circles=circles(model))
    return SequentialSolver(model, substep_time, integrator, step_damping(model, options))


def _force_based(method: str, model: Model, substep_time: float, options: MethodOptions = DEFAULTS) -> Solver:
    from ..papers.integrator import ForceBased
    from .sequential.solver import SequentialSolver

    integrator = partial(ForceBased, method, options)
    return SequentialSolver(model, substep_time, integrator, step_damping(model, options))


#: Makers by name, which also take the options beside the solver.
SOLVERS: dict[str, Callable[..., Solver]] = {ENGINE: _explicit, "XPBD": _xpbd}
SOLVERS |= {name: partial(_force_based, name) for name in FORCE_BASED}
#: What only force-based solvers have: what others say of it, and which values of the option they take.
_ONLY_FORCE_BASED = {
    "detection": ("whose contacts must be complete", ("SURFACE",)),
    "neighbour_damping": ("which has none", ("SIMPLIFIED", "NONE")),
    "collider_rule": ("which has contacts only", ("CONTACT",)),
}


class StepPlan(NamedTuple):
    """The steps of a run."""

    steps_per_frame: int
    added_mass: float  # largest share of its mass that a body is given, so that steps can be longer; 0 where none


def plan_run(name: str, model: Model, frame_time: float, substeps: int, options: MethodOptions) -> StepPlan:
    """The steps of frames of a length [s]: `substeps`, or what the engine needs.

    Raises `ParameterError` where that would be too many.
    """
    if name != ENGINE:
        return StepPlan(substeps, 0.0)
    if simple_shapes(model) is not None:
        return StepPlan(max(1, math.ceil(frame_time / RIGID_STEP - ROUNDING)), 0.0)
    from .explicit.limits import check_plan
    from .explicit.stability import plan_steps

    plan = plan_steps(model, options)
    check_plan(model, plan, frame_time)
    return StepPlan(max(1, math.ceil(frame_time / plan.step)), float(plan.added.max(initial=0.0)))


def check_method(name: str, options: MethodOptions = DEFAULTS) -> None:
    """Raise `ParameterError` where there is no such method, or not with these options."""
    if name not in SOLVERS:
        raise ParameterError(f"solver: {name!r}; give one of {', '.join(SOLVERS)}.")
    for option, (why, values) in _ONLY_FORCE_BASED.items():
        value = getattr(options, option)
        if value not in values and name not in FORCE_BASED:
            raise ParameterError(
                f"{option.replace('_', ' ')}: {value} with the method {name}, {why}. "
                f"Choose {' or '.join(values)}, or one of {', '.join(FORCE_BASED)}."
            )


def check_bodies(name: str, model: Model) -> None:
    """Raise `ParameterError` where a method does not know what a body has.

    Only XPBD has rigid springs and volumes. It knows no weights of the pressure and holds amounts of gas alone: a sweep
    of its projections leaves springs too soft for a held pressure, and a held volume to the springs.
    """
    if name == "XPBD" and model.weighs_pressure:
        body = model.body_names[model.point_body[int(np.argmin(model.pressure_weight))]]
        raise ParameterError(
            f"{body}: weights of the pressure; the method XPBD keeps the angular momentum, which they change. "
            "Choose EXPLICIT, or leave the weights out."
        )
    for body, settings in zip(model.body_names, model.settings, strict=False):
        hold = settings.get("gas_hold", "AMOUNT")
        if name == "XPBD" and hold != "AMOUNT":
            raise ParameterError(
                f"{body}: a held {hold.lower()}; the method XPBD holds amounts of gas only. Choose EXPLICIT, or hold "
                "the amount."
            )
    if name != "XPBD" and model.rigid_springs.any():
        body = model.body_names[int(np.argmax(model.rigid_springs))]
        raise ParameterError(
            f"{body}: rigid springs; the springs of the method {name} all give. Choose XPBD, or turn them off."
        )
    if name != "XPBD" and model.rigid_volumes.any():
        body = model.body_names[int(np.argmax(model.rigid_volumes))]
        raise ParameterError(
            f"{body}: volume compliance 0; the volumes of the method {name} all give. Choose XPBD, or give a "
            "compliance above 0."
        )


def solver_maker(name: str, options: MethodOptions = DEFAULTS) -> SolverMaker:
    """Makes the solver of this name with these options. Raises `ParameterError` where there is no such solver."""
    check_method(name, options)
    return partial(SOLVERS[name], options=options)
