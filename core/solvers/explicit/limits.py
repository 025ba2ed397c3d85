"""Limits of the number of steps: a run that would need too many is refused, at its start or where values change."""

import math

import numpy as np

from ... import topology
from ...array_types import BoolArray, FloatArray
from ...energy.volume import bulk_stiffness
from ...errors import Diverged, ParameterError
from ...model import Model
from ...tiny import TINY
from .inflation import free_rate, inflation_rate
from .stability import (
    EDGE_SHARE,
    LONGEST_STEP,
    Bounds,
    Plan,
    rest_bounds,
    rest_squares,
    stable_step,
    start_gas,
    step_length,
)

#: Most steps in a frame.
MOST_STEPS = 5_000
#: The gas is the cause if omega^2 without it is less than this share; the mesh is if one vertex has so many times the
#: median stiffness over mass of its body.
WITHOUT_GAS, OUTSTANDING = 0.5, 100.0
#: Tolerance of the number of steps: rounding may make a step shorter than planned.
ROUNDING = 1.0 + 1e-6


class StepLimit:
    """Checks how many steps a run takes with its present shapes and gas."""

    def __init__(self, model: Model, plan: Plan) -> None:
        self._model, self._plan = model, plan
        self._bounds, self._start_gas = Bounds(model, plan.masses), start_gas(model)
        self._bound = plan.bound  # when last measured [1/s^2]
        self._rest_step = plan.step
        #: Length of a step at rest over that of the last run, and the body that asks for the shortest steps.
        self.excess, self.stiffest = 1.0, 0

    @property
    def hinge_rows(self) -> FloatArray:
        """Row sums of the hinges where last measured [N/m], see `bounds.py`."""
        return self._bounds.rows

    def measure(self, x: FloatArray) -> None:
        """Measure how stiff bodies are at positions x [m]: what has stretched or crumpled is stiffer than at rest."""
        if self._model.vertex_count:
            self._bound = self._bounds.measure(x)

    def steps(
        self, time: float, frame_time: float, gas: FloatArray, taken: int = 0, asleep: BoolArray | bool = False
    ) -> tuple[int, FloatArray, FloatArray]:
        """Steps for a time [s] that ends with an nRT [J], with the shapes of `measure`; `taken` in the frame before it.

        `asleep`: membranes that need none, whose longest step is infinite. Besides, the longest step [s] and omega^2
        [1/s^2] of each membrane. Raises `ParameterError` where the gas would need more steps than a frame may have,
        `Diverged` where the shape would: what is crushed for a moment only may take a frame's steps sooner.
        """
        model, plan, bound = self._model, self._plan, self._bound
        if model.vertex_count == 0:
            return max(1, math.ceil(time / LONGEST_STEP)), np.zeros(0), np.zeros(0)
        if not (bound < math.inf).all():
            raise Diverged(int(np.argmin(bound < math.inf)), "is not finite")
        squares, volume = self._bounds.gas(gas)
        grown = np.maximum(1.0, bound / np.maximum(plan.bound, TINY))
        shape, decay = plan.square * grown, plan.decay * grown
        square, rates = shape + np.maximum(squares - plan.gas, 0.0), plan.rate
        if (gas > self._start_gas).any() and (
            free_rate(model, gas, volume) * stable_step(square, decay) > EDGE_SHARE
        ).any():
            rates = np.maximum(rates, inflation_rate(model, gas, volume))
        longest = np.where(asleep, math.inf, step_length(square, decay, rates))
        body = self.stiffest = int(np.argmin(longest))
        step = min(float(longest[body]), LONGEST_STEP)
        if frame_time / step > MOST_STEPS * ROUNDING and taken + time / step > MOST_STEPS:
            needed = math.ceil(frame_time / step)
            if frame_time / step_length(shape, decay, plan.rate)[body] > MOST_STEPS:
                raise Diverged(body, f"would need {needed} explicit steps per frame")
            raise _gas_refusal(model, body, gas, needed)
        self.excess = self._rest_step / step
        return max(1, math.ceil(time / step)), longest, square


def check_plan(model: Model, plan: Plan, frame_time: float) -> None:
    """Raise `ParameterError` where frames of a length [s] would need too many steps, naming the cause."""
    if frame_time / plan.step <= MOST_STEPS:
        return
    body, needed, amount = int(np.argmin(plan.steps)), math.ceil(frame_time / plan.step), start_gas(model)
    if frame_time / step_length(plan.square, np.zeros(1), plan.rate)[body] <= MOST_STEPS:
        raise _damper_refusal(model, body, needed)
    if plan.steps[body] < stable_step(plan.square, plan.decay)[body]:
        raise _gas_refusal(model, body, amount, needed)
    if amount[body] > 0.0:
        without = rest_squares(model, plan.masses, np.zeros_like(amount))
        if without[body] < WITHOUT_GAS * plan.square[body]:
            raise _gas_refusal(model, body, amount, needed)
    found = _short_edge(model, body)
    if found is not None:
        raise _refusal(
            model, body, f"an edge of {found[0]:g} m near ({found[1]})", needed,
            "Merge vertices by distance, make the mesh even, or allow more added mass",
        )  # fmt: skip
    bounds = Bounds(model, plan.masses)
    bounds.measure(model.rest_positions)
    first, last = model.body_point_start[body : body + 2]
    what, value = _modulus(model, int(first + np.argmax(bounds.squares[first:last])))
    raise _refusal(
        model, body, f"{what} {value} at a mass of {model.body_mass[body]:g} kg", needed,
        f"Lower the {what}, raise the mass, or give the body fewer vertices",
    )  # fmt: skip


def check_speed(needed: float, velocities: FloatArray) -> None:
    """Raise `Diverged` for the fastest body if it needs too many steps per frame; mean velocities [m/s] of all."""
    if not needed <= MOST_STEPS * ROUNDING:
        speed = np.sqrt((velocities * velocities).sum(axis=1))
        body = int(np.argmax(np.where(np.isfinite(speed), speed, np.inf)))
        raise Diverged(body, f"at {speed[body]:g} m/s would need {needed:.0f} explicit steps per frame")


def _gas_refusal(model: Model, body: int, amount: FloatArray, needed: int) -> ParameterError:
    pressure = float(amount[body] / model.rest_volume[body] - model.gas_base[body])
    remedy = "Lower the pressure, raise the mass, or give the body fewer vertices"
    return _refusal(model, body, f"gauge pressure {pressure:g} Pa", needed, remedy)


def _damper_refusal(model: Model, body: int, needed: int) -> ParameterError:
    unit = "N s/m" if model.has_gas(body) or model.spring_constant[body] > 0.0 else "Pa s"
    return _refusal(
        model, body, f"spring damping {model.spring_damping[body]:g} {unit}", needed,
        "Lower the spring damping, raise the mass, or give the body fewer vertices",
    )  # fmt: skip


def _refusal(model: Model, body: int, cause: str, needed: int, remedy: str) -> ParameterError:
    return ParameterError(
        f"{model.body_names[body]}: {cause} would need {needed} explicit steps per frame, more than {MOST_STEPS}. "
        f"{remedy}."
    )


def _short_edge(model: Model, body: int) -> tuple[float, str] | None:
    """Length of the shortest edge at a vertex that is far stiffer than the others of its body [m], and where that
    vertex is; None if there is none.
    """
    own = slice(*model.body_point_start[body : body + 2])
    ratio = rest_bounds(model).stiffness[own] / model.vertex_mass[own]
    vertex = own.start + int(np.argmax(ratio))
    if not ratio.max() > OUTSTANDING * np.median(ratio):
        return None
    length = float(model.edges.rest_length[(model.edges.points == vertex).any(axis=1)].min())
    return length, ", ".join(f"{value:.3g}" for value in model.rest_positions[vertex].tolist())


def _modulus(model: Model, vertex: int) -> tuple[str, str]:
    """What makes a body stiff at its stiffest vertex, and how stiff that is, in the panel's words.

    Springs hold sum k L^2 = 3 Y A over a skin and 15 mu V over a solid (`bodies/lattice/springs.py`), mu = E / (2 (1 +
    nu)); hinges k = 3 B / area.
    """
    edges, hinges, surfaces, body = model.edges, model.hinges, model.surfaces, int(model.point_body[vertex])
    own = model.point_body[edges.points[:, 0]] == body
    constant = float(model.spring_constant[body])
    spring = ("spring constant", f"{constant:.4g} N/m") if constant > 0.0 else None
    held = float((edges.stiffness[own] * edges.rest_length[own] ** 2).sum())
    triangles = surfaces.triangles[slice(*surfaces.body_triangle_start[body : body + 2])]
    cells = model.tetrahedra
    if not model.has_gas(body):
        if spring is not None:
            return spring
        mine = model.point_body[cells.points[::8, 0]] == body
        volume = max(topology.signed_volume(model.rest_positions, triangles), TINY)
        mu = held / (15.0 * volume)
        volumes = cells.rest_volume.reshape(-1, 8).sum(axis=1)
        bulk = float(bulk_stiffness(cells.stiffness[::8], cells.sum_stiffness, volumes)[mine].max(initial=0.0))
        return "Young's modulus", f"{mu * (3.0 * (mu + bulk) + 2.0 * mu) / (2.0 * mu + bulk):.4g} Pa"
    folds = model.point_body[hinges.points[:, 0]] == body
    if folds.any():
        bounds = rest_bounds(model)
        if bounds.rows[vertex] > 0.5 * bounds.stiffness[vertex]:
            size = (1.0 / hinges.normal_scale[folds]).sum(axis=1)
            return "bending stiffness", f"{float(np.median(hinges.stiffness[folds] * size)) / 6.0:.4g} N m"
    if spring is not None:
        return spring
    area = float(topology.triangle_areas(model.rest_positions, triangles).sum())
    return "stiffness", f"{held / (3.0 * area):.4g} N/m"
