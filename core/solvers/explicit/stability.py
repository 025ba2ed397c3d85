"""Length of a step: mass scaling, and the highest frequency of the scaled model.

Steps of h are stable for h omega < 2 (leapfrog). A vertex's stiffness (`bounds.py`) over its mass bounds omega^2. Crash
codes raise the masses of the few vertices that need the shortest steps until a share of the body's mass is added
(selective mass scaling; Olovsson, Simonsson, Unosson 2005): statics stay exact. The total mass is conserved: the other
vertices give it. The frequency at rest is computed by Lanczos' method on differences of the forces.

Dampers along springs shorten the step: their forces are those of half a step before, so an oscillation of the damping
ratio zeta is stable for h omega < 2 (sqrt(1 + zeta^2) - zeta). The dashpots have a ratio of their own; those of bodies
add half of the largest rate at which they damp, over omega.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...array_types import FloatArray
from ...energy.dampers import damper_forces
from ...energy.elements import bound_elements
from ...energy.energies import ModelElements
from ...energy.gas import SMALLEST_VOLUME_SHARE
from ...model import Model
from ...options import MethodOptions
from ...state import volume_share
from ...team import team_of_one
from ...tiny import TINY
from .bounds import measure
from .inflation import inflation_rate
from .latest import keep_latest
from .layout import Numbering
from .skins import accelerate, skins_of

#: Share of the longest stable step that is taken: springs stiffen as they turn and stretch.
SAFETY = 0.85
#: Damping ratio of the dashpots along springs at the highest frequency.
DASHPOT_RATIO = 0.03
#: Steps of Lanczos' method: accurate to 0.1 %.
LANCZOS_STEPS = 40
#: Longest step [s], of bodies that nothing else limits.
LONGEST_STEP = 1e-3
#: Largest move of a point in a step, as a share of an edge.
EDGE_SHARE = 0.25
#: Bits kept of results of libraries, whose rounding differs between processors.
KEPT_BITS = 16


class Plan(NamedTuple):
    """Masses and length of the steps of a model, from its rest shape and the gas that it starts with."""

    masses: FloatArray  # of the vertices [kg], in the model's order
    added: FloatArray  # share of its mass that each membrane was given, shape (membrane_count,)
    square: float  # omega^2 of the stiffest oscillation [1/s^2]
    decay: float  # largest rate at which the bodies' dampers damp [1/s]
    bound: float  # of omega^2 without the gas [1/s^2]
    stiffest: int  # vertex that it is taken from
    gas: FloatArray  # bound of the gas' part of omega^2 [1/s^2], shape (membrane_count,)
    rate: FloatArray  # how fast the gas stretches each membrane, at most [1/s], shape (membrane_count,)

    @property
    def step(self) -> float:
        """Length of a step [s]."""
        return step_length(self.square, self.decay, float(self.rate.max(initial=0.0)))


@keep_latest
def plan_steps(model: Model, options: MethodOptions) -> Plan:
    """The plan of a model: scaled masses, frequency and bounds."""
    stiffness, pairs = rest_bounds(model).stiffness, model.flat.pairs
    stiffness[pairs] = stiffness[pairs].max(axis=1, initial=0.0, keepdims=True)  # both copies move as one
    return plan_with(model, *scaled_masses(model, stiffness, options.added_mass))


def plan_with(model: Model, masses: FloatArray, added: FloatArray) -> Plan:
    """The plan of a model for these masses [kg], see `scaled_masses`."""
    x, amount = model.rest_positions, start_gas(model)
    bounds = Bounds(model, masses)
    bound, stiffest = bounds.measure(x)
    return Plan(
        masses=masses,
        added=added,
        square=rest_square(model, masses, amount),
        decay=damping_rate(model, masses),
        bound=bound,
        stiffest=stiffest,
        gas=bounds.gas(amount)[0],
        rate=inflation_rate(model, amount, model.start_volume),
    )


class Bounds:
    """Bounds of omega^2 of a model's vertices and of its gas, at the positions of the last `measure`.

    `masses` [kg]; pinned vertices do not count.
    """

    def __init__(self, model: Model, masses: FloatArray) -> None:
        self._model, self._inverse_mass = model, np.where(model.pinned, 0.0, 1.0 / masses)
        self._blocks = np.zeros((6, model.vertex_count))
        self.rows, self.stiffness = np.zeros((2, model.vertex_count))  # of the hinges alone, and of all [N/m]
        self._sums = np.zeros((model.membrane_count, 3))
        self._elements = ModelElements(model, joints=False)

    def measure(self, x: FloatArray) -> tuple[float, int]:
        """Bound without the gas [1/s^2], and the vertex that it is taken from, at positions x [m]."""
        model = self._model
        bound, vertex = measure(
            x, model.edges, model.hinges, model.tetrahedra, model.fans, model.body_point_start, self._inverse_mass,
            self._blocks, self.rows, self.stiffness, self._sums,
        )  # fmt: skip
        bound_elements(self._elements.rows, x.reshape(-1), 3, self.stiffness)
        if len(self._elements):
            square = self.stiffness * self._inverse_mass
            vertex = int(np.argmax(square))
            bound = square[vertex] if np.isfinite(square).all() else np.inf
        return float(bound), int(vertex)

    def gas(self, amount: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bound of the gas for an nRT [J] [1/s^2], and the volumes [m^3], shape (membrane_count,)."""
        model, (volumes, along, across) = self._model, self._sums.T
        volume = np.maximum(volumes, np.maximum(SMALLEST_VOLUME_SHARE * model.rest_volume, TINY))
        # absolute; times (V0 / V)^(k - 1), which is 1 at k = 1
        held = np.where(model.rest_volume > 0.0, amount, 0.0)
        pressure = held / volume * (np.maximum(model.rest_volume, TINY) / volume) ** (model.gas_exponent - 1.0)
        square = model.gas_exponent * pressure / volume * along + np.abs(pressure - model.gas_base) * across
        return np.where(model.rest_volume > 0.0, square, 0.0), volumes


def rest_bounds(model: Model) -> Bounds:
    """The bounds at rest, with the model's masses."""
    bounds = Bounds(model, model.vertex_mass)
    bounds.measure(model.rest_positions)
    return bounds


def start_gas(model: Model) -> FloatArray:
    """nRT that each membrane starts with [J]."""
    amount = (model.gauge_pressure + model.gas_base) * model.start_volume
    return np.asarray(amount * volume_share(model) ** (model.gas_exponent - 1.0))


def rest_square(model: Model, masses: FloatArray, amount: FloatArray) -> float:
    """omega^2 [1/s^2] of the bodies at rest with an nRT [J], rounded up to a few bits."""
    count = model.vertex_count
    if count == 0 or not len(model.edges.points):
        return 0.0
    same = np.arange(model.point_count, dtype=np.int32)
    skins = skins_of(model, Numbering(same, same))
    skins.gas.amount[:] = amount
    rest, force, scratch = np.zeros((model.point_count, 4)), np.zeros(4 * model.point_count), np.zeros(4 * count)
    rest[:, :3] = model.rest_positions
    size = 1e-6 * float(model.edges.rest_length.mean())
    trial: Any = rest.copy()
    unit, team = np.ones(model.point_count), team_of_one()

    def forces(u: FloatArray) -> FloatArray:
        trial[:count, :3] = rest[:count, :3] + u
        force[:] = 0.0  # velocities of unit masses after a second are forces
        accelerate(trial.ravel(), skins, 0.0, force, unit, 1.0, 0.0, 0.0, 0.0, scratch, team)
        return force.reshape(-1, 4)[:count, :3].copy()

    def product(u: FloatArray) -> FloatArray:
        scale = size / max(float(np.abs(u).max()), TINY)
        return np.asarray((forces(-scale * u) - forces(scale * u)) / (2.0 * scale))

    return _rounded_up(largest_square(product, np.where(model.pinned, np.inf, masses)))


def damping_rate(model: Model, masses: FloatArray) -> float:
    """Largest rate at which the dampers along springs damp a motion at rest [1/s], 0 without: 2 zeta omega of it.

    `masses` [kg]; pinned vertices do not count. Rounded up to a few bits.
    """
    if not model.edge_damping.any():
        return 0.0

    def product(v: FloatArray) -> FloatArray:
        return -damper_forces(model.rest_positions, v, model.edges.points, model.edge_damping)

    return _rounded_up(largest_square(product, np.where(model.pinned, np.inf, masses)))


def _rounded_up(value: float) -> float:
    """A value of at least 0 rounded up to a few bits."""
    mantissa, exponent = np.frexp(max(value, 0.0))
    return float(np.ldexp(np.ceil(mantissa * 2.0**KEPT_BITS), exponent - KEPT_BITS))


def scaled_masses(model: Model, stiffness: FloatArray, added: float) -> tuple[FloatArray, FloatArray]:
    """Masses for steps [kg], and the share of its mass that each membrane was given, shape (membrane_count,).

    All bodies take steps of one length: the one that the stiffest can with `added` of its mass.
    """
    starts = model.body_point_start[: model.membrane_count + 1]
    bodies = [slice(first, last) for first, last in zip(starts[:-1], starts[1:], strict=True)]
    square = max((_least_square(model.vertex_mass[own], stiffness[own], added) for own in bodies), default=0.0)
    masses, shares = model.vertex_mass.copy(), np.zeros(model.membrane_count)
    for body, own in enumerate(bodies):
        if square > 0.0:
            raised = np.maximum(model.vertex_mass[own], stiffness[own] / square)
            shares[body] = raised.sum() / model.vertex_mass[own].sum() - 1.0
            masses[own] = raised / (1.0 + shares[body])
    return masses, shares


def _least_square(mass: FloatArray, stiffness: FloatArray, added: float) -> float:
    """Least omega^2 such that raising masses to stiffness / omega^2 adds no more than a share of them."""
    ratio = stiffness / mass
    order = np.argsort(ratio)[::-1]
    # with the first k raised: (sum of their stiffness) / omega^2 = added * total + sum of their masses
    raised, held = np.cumsum(stiffness[order]), np.cumsum(mass[order])
    square = raised / (added * mass.sum() + held)
    return float(min(max(square.max(), 0.0), ratio.max(initial=0.0)))


def largest_square(product: Callable[[FloatArray], FloatArray], masses: FloatArray) -> float:
    """Largest omega^2 [1/s^2] of M u'' = -K u, or rate [1/s] of M u' = -K u, by Lanczos' method.

    `product`: K u, shape (vertex_count, 3); `masses` [kg]; what cannot move has a mass of infinity.
    Directions are not kept orthogonal: what is found twice then does not change the largest value.
    """
    root = 1.0 / np.sqrt(masses)[:, None]
    # has a component along every mode; the same in every run
    direction = np.cos(np.arange(3.0 * len(masses)) ** 2).reshape(-1, 3) * (root > 0.0)
    size = float(np.sqrt((direction * direction).sum()))
    if size == 0.0:
        return 0.0
    direction, before = direction / size, np.zeros_like(direction)
    diagonal, beside = list[float](), [0.0]
    for _ in range(min(LANCZOS_STEPS, 3 * len(masses))):
        image = root * product(root * direction) - beside[-1] * before
        diagonal.append(float((image * direction).sum()))
        image -= diagonal[-1] * direction
        beside.append(float(np.sqrt((image * image).sum())))
        if beside[-1] <= 1e-10 * abs(diagonal[0]):
            break
        direction, before = image / beside[-1], direction
    count = len(diagonal)
    matrix = np.diag(diagonal) + np.diag(beside[1:count], 1) + np.diag(beside[1:count], -1)
    return float(np.linalg.eigvalsh(matrix)[-1])


def stable_step(square: float, decay: float = 0.0) -> float:
    """Length of a step [s] for an omega^2 [1/s^2] and dampers of bodies that damp at most at a rate `decay` [1/s].

    SAFETY leaves as much room for contacts with dampers as without: h^2 omega^2 + 2 h decay is at most (2 SAFETY)^2.
    """
    if not square > 0.0:
        return LONGEST_STEP
    ratio = DASHPOT_RATIO + 0.5 * decay / (SAFETY * float(np.sqrt(square)))
    root = np.sqrt(1.0 + ratio**2)
    dashpots = root - ratio if ratio < 1.0 else 1.0 / (root + ratio)  # the same, without cancellation
    return float(min(SAFETY * dashpots * 2.0 / np.sqrt(square), LONGEST_STEP))


def step_length(square: float, decay: float, rate: float) -> float:
    """Length of a step [s] that is stable, see `stable_step`, and limits the stretch by a rate [1/s]."""
    return min(stable_step(square, decay), EDGE_SHARE / max(rate, TINY))
