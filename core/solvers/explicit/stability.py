"""Length of a step for each body: mass scaling, and the highest frequency of the scaled body.

Steps of h are stable for h omega < 2 (leapfrog). A vertex's stiffness (`bounds.py`) over its mass bounds omega^2. Crash
codes raise the masses of the few vertices that need the shortest steps until a share of the body's mass is added
(selective mass scaling; Olovsson, Simonsson, Unosson 2005): statics stay exact. The total mass is conserved: the other
vertices give it. The frequency at rest is computed by Lanczos' method on differences of the forces, of all bodies at
once. Steps are as short as the stiffest body needs them; the forces of another one act as often as itself needs
(`paces.py`).

Dampers along springs shorten the step: their forces are those of half a step before, so an oscillation of the damping
ratio zeta is stable for h omega < 2 (sqrt(1 + zeta^2) - zeta). The dashpots have a ratio of their own; those of bodies
add half of the largest rate at which they damp, over omega.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...array_types import FloatArray, IntArray
from ...energy.dampers import damper_forces
from ...energy.elements import bound_elements
from ...energy.energies import ModelElements
from ...energy.gas import SMALLEST_VOLUME_SHARE
from ...jit import Repeated
from ...latest import keep_latest
from ...model import Model
from ...options import MethodOptions
from ...state import volume_share
from ...team import team_of_one
from ...tiny import TINY
from .bounds import measure
from .inflation import inflation_rate
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
    """Masses and steps of each membrane, from its rest shape and the gas that it starts with."""

    masses: FloatArray  # of the vertices [kg], in the model's order
    added: FloatArray  # share of its mass that was given to a membrane, shape (membrane_count,) as of all that follow
    square: FloatArray  # omega^2 of its stiffest oscillation [1/s^2]
    decay: FloatArray  # largest rate at which its dampers damp [1/s]
    bound: FloatArray  # of omega^2 without the gas [1/s^2]
    gas: FloatArray  # bound of the gas' part of omega^2 [1/s^2]
    rate: FloatArray  # how fast the gas stretches it, at most [1/s]

    @property
    def steps(self) -> FloatArray:
        """Longest step of each membrane [s]."""
        return step_length(self.square, self.decay, self.rate)

    @property
    def step(self) -> float:
        """Length of a step [s]."""
        return float(self.steps.min(initial=LONGEST_STEP))


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
    return Plan(
        masses=masses,
        added=added,
        square=rest_squares(model, masses, amount),
        decay=damping_rates(model, masses),
        bound=bounds.measure(x),
        gas=bounds.gas(amount)[0],
        rate=inflation_rate(model, amount, model.start_volume),
    )


class Bounds:
    """Bounds of omega^2 of a model's membranes and of their gas, at the positions of the last `measure`.

    `masses` [kg]; pinned vertices do not count.
    """

    def __init__(self, model: Model, masses: FloatArray) -> None:
        self._model, self._inverse_mass = model, np.where(model.pinned, 0.0, 1.0 / masses)
        self._blocks = np.zeros((6, model.vertex_count))
        self.rows, self.stiffness = np.zeros((2, model.vertex_count))  # of the hinges alone, and of all [N/m]
        self._sums = np.zeros((model.membrane_count, 3))
        self._elements = ModelElements(model, joints=False)
        self._measure = Repeated(measure, 1)
        self._has_gas = model.rest_volume > 0.0
        self._rest_volume = np.maximum(model.rest_volume, TINY)
        self._least_volume = np.maximum(SMALLEST_VOLUME_SHARE * model.rest_volume, TINY)

    def measure(self, x: FloatArray) -> FloatArray:
        """Bounds without the gas [1/s^2] at positions x [m], shape (membrane_count,); NaN where there is none."""
        model = self._model
        self._measure(
            x, model.edges, model.hinges, model.tetrahedra, model.fans, model.body_point_start, self._inverse_mass,
            self._blocks, self.rows, self.stiffness, self._sums,
        )  # fmt: skip
        if len(self._elements.rows.first):
            bound_elements(self._elements.rows, x.reshape(-1), 3, self.stiffness)
        return np.maximum.reduceat(self.squares, soft_starts(model)[:-1])

    @property
    def squares(self) -> FloatArray:
        """Bound of each vertex without the gas [1/s^2]."""
        return self.stiffness * self._inverse_mass

    def gas(self, amount: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bound of the gas for an nRT [J] [1/s^2], and the volumes [m^3], shape (membrane_count,)."""
        model, (volumes, along, across) = self._model, self._sums.T
        volume, held = np.maximum(volumes, self._least_volume), np.where(self._has_gas, amount, 0.0)
        # absolute; times (V0 / V)^(k - 1), which is 1 at k = 1
        pressure = held / volume * (self._rest_volume / volume) ** (model.gas_exponent - 1.0)
        square = model.gas_exponent * pressure / volume * along + np.abs(pressure - model.gas_base) * across
        return np.where(self._has_gas, square, 0.0), volumes


def rest_bounds(model: Model) -> Bounds:
    """The bounds at rest, with the model's masses."""
    bounds = Bounds(model, model.vertex_mass)
    bounds.measure(model.rest_positions)
    return bounds


def start_gas(model: Model) -> FloatArray:
    """nRT that each membrane starts with [J]."""
    amount = (model.gauge_pressure + model.gas_base) * model.start_volume
    return np.asarray(amount * volume_share(model) ** (model.gas_exponent - 1.0))


def soft_starts(model: Model) -> IntArray:
    """First vertex of each membrane, and one past the last one's, shape (membrane_count + 1,)."""
    return model.body_point_start[: model.membrane_count + 1]


def rest_squares(model: Model, masses: FloatArray, amount: FloatArray) -> FloatArray:
    """omega^2 of each membrane at rest with an nRT [J] [1/s^2], rounded up to a few bits."""
    count, ends = model.vertex_count, model.edges.points
    if count == 0 or not len(ends):
        return np.zeros(model.membrane_count)
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
        accelerate(trial.ravel(), skins, force, unit, 1.0, 0.0, 0.0, 0.0, scratch, team)
        return force.reshape(-1, 4)[:count, :3].copy()

    def product(u: FloatArray) -> FloatArray:
        scale = size / max(float(np.abs(u).max()), TINY)
        return np.asarray((forces(-scale * u) - forces(scale * u)) / (2.0 * scale))

    return _rounded_up(largest_squares(product, np.where(model.pinned, np.inf, masses), soft_starts(model)))


def damping_rates(model: Model, masses: FloatArray) -> FloatArray:
    """Largest rate at which the dampers along springs damp a motion of each membrane at rest [1/s]: 2 zeta omega of it.

    `masses` [kg]; pinned vertices do not count. 0 without dampers. Rounded up to a few bits.
    """
    if not model.edge_damping.any():
        return np.zeros(model.membrane_count)

    def product(v: FloatArray) -> FloatArray:
        return -damper_forces(model.rest_positions, v, model.edges.points, model.edge_damping)

    return _rounded_up(largest_squares(product, np.where(model.pinned, np.inf, masses), soft_starts(model)))


def _rounded_up(values: FloatArray) -> FloatArray:
    """Values of at least 0 rounded up to a few bits."""
    mantissa, exponent = np.frexp(np.maximum(values, 0.0))
    return np.asarray(np.ldexp(np.ceil(mantissa * 2.0**KEPT_BITS), exponent - KEPT_BITS))


def scaled_masses(model: Model, stiffness: FloatArray, added: float) -> tuple[FloatArray, FloatArray]:
    """Masses for steps [kg], and the share `added` of its mass that each membrane was given at most."""
    masses, shares = model.vertex_mass.copy(), np.zeros(model.membrane_count)
    for body, own in enumerate(slice(*ends) for ends in pairwise(soft_starts(model))):
        mass = model.vertex_mass[own]
        square = _least_square(mass, stiffness[own], added)
        if square > 0.0:
            raised = np.maximum(mass, stiffness[own] / square)
            shares[body] = raised.sum() / mass.sum() - 1.0
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


def largest_squares(product: Callable[[FloatArray], FloatArray], masses: FloatArray, start: IntArray) -> FloatArray:
    """Largest omega^2 [1/s^2] of M u'' = -K u, or rate [1/s] of M u' = -K u, of each body, by Lanczos' method.

    `product`: K u, shape (vertex_count, 3); `masses` [kg]; what cannot move has a mass of infinity. `start`: first
    vertex of each body, and one past the last one's; K couples no two bodies. Directions are not kept orthogonal: what
    is found twice then does not change the largest value.
    """
    counts = np.diff(start)
    body, root = np.repeat(np.arange(len(counts)), counts), 1.0 / np.sqrt(masses)[:, None]

    def dots(a: FloatArray, b: FloatArray) -> FloatArray:
        return np.add.reduceat(np.einsum("ij,ij->i", a, b), start[:-1])

    def unit(u: FloatArray, size: FloatArray) -> FloatArray:
        return u * np.divide(1.0, size, out=np.zeros_like(size), where=size > 0.0)[body, None]

    # has a component along every mode; the same in every run
    direction = np.cos(np.arange(3.0 * len(masses)) ** 2).reshape(-1, 3) * (root > 0.0)
    direction, before = unit(direction, np.sqrt(dots(direction, direction))), np.zeros_like(direction)
    diagonal, beside = list[FloatArray](), [np.zeros(len(counts))]
    for _ in range(min(LANCZOS_STEPS, 3 * int(counts.max()))):
        image = root * product(root * direction) - beside[-1][body, None] * before
        diagonal.append(dots(image, direction))
        image -= diagonal[-1][body, None] * direction
        size = np.sqrt(dots(image, image))
        size[size <= 1e-10 * np.abs(diagonal[0])] = 0.0  # what has ended goes on with zeros
        beside.append(size)
        if not size.any():
            break
        direction, before = unit(image, size), direction
    count = len(diagonal)
    matrix, along = np.zeros((len(counts), count, count)), np.arange(count)
    matrix[:, along, along] = np.transpose(diagonal)
    matrix[:, along[1:], along[:-1]] = np.transpose(beside[1:count]) if count > 1 else 0.0
    return np.asarray(np.linalg.eigvalsh(matrix)[:, -1])


def stable_step(square: FloatArray, decay: FloatArray) -> FloatArray:
    """Lengths of steps [s] for an omega^2 [1/s^2] and dampers of bodies that damp at most at a rate `decay` [1/s].

    SAFETY leaves as much room for contacts with dampers as without: h^2 omega^2 + 2 h decay is at most (2 SAFETY)^2.
    """
    swings = square > 0.0
    frequency = np.sqrt(np.where(swings, square, 1.0))
    ratio = DASHPOT_RATIO + 0.5 * decay / (SAFETY * frequency)
    # 1 / (sqrt(1 + zeta^2) + zeta) is sqrt(1 + zeta^2) - zeta without cancellation
    step = 2.0 * SAFETY / (frequency * (np.sqrt(1.0 + ratio**2) + ratio))
    return np.where(swings, np.minimum(step, LONGEST_STEP), LONGEST_STEP)


def dashpot_times(square: FloatArray) -> FloatArray:
    """2 zeta / omega of the dashpots along springs [s], for an omega^2 [1/s^2]; 0 where nothing swings."""
    return np.asarray(2.0 * DASHPOT_RATIO * (square > 0.0) / np.sqrt(np.maximum(square, TINY)))


def step_length(square: FloatArray, decay: FloatArray, rate: FloatArray) -> FloatArray:
    """Lengths of steps [s] that are stable, see `stable_step`, and limit the stretch by a rate [1/s]."""
    return np.minimum(stable_step(square, decay), EDGE_SHARE / np.maximum(rate, TINY))
