"""The equilibrium of one body of gas at constant gauge pressure, without gravity and contact.

Springs, hinges and gas balance at every vertex: sought by dynamic relaxation (`relaxation.py`) from a start shape and
ended by its residual, the sum of the sizes of the forces on all vertices over p A, A the area of the skin.

A skin that is drawn flat or slack has many equilibria, folded in different ways, and a damped search ends in the first
one. So where the volume more than doubles, a higher pressure irons the folds out, lightly damped motion at the right
one leaves the shallow ones, and the larger volume of both counts: with p constant it has the least energy, but for the
little that springs hold. A skin that stretches has few folds.

Painted weights of the pressure have no energy, but forces all the same. Where no pin holds their resultant, the
equilibrium is that in the frame which it accelerates.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..array_types import FloatArray
from ..bodies.flat.plane import Planes
from ..model import Model
from ..solvers.explicit.stability import Bounds
from ..tiny import TINY
from ..topology import triangle_areas
from .relaxation import MIXING, Relaxing, State, relax, relaxing_of

#: Residual in equilibrium [p A]: against an atmosphere a gauge pressure of 500 Pa is then right to 0.5 %.
TOLERANCE = 1e-4
#: Residual that is rounding [sum of k L of the springs]: without gas, a skin as it is drawn is in equilibrium.
ROUNDING = 1e-12
#: Steps of a relaxation, and those between two measurements of the masses.
STEP_LIMIT, MEASURED = 40_000, 50
#: Square of the highest frequency that the bounds of stiffness allow, per step [1]; stable below 4.
HIGHEST = 2.0
#: Longest move of a vertex in a step [mean edge].
LONGEST_MOVE = 0.1
#: Moves along the normals that break the symmetry of the start [mean edge].
NUDGE = 1e-2
#: Growth of the volume above which folds are ironed out: by a pressure how many times as high, but one that stretches
#: the skin by at most so much; steps with it and after it, what each keeps of velocities.
UNFOLDING, OVERPRESSURE, IRONING_STRAIN = 2.0, 8.0, 0.1
IRONED, SHAKEN, KEPT = 1000, 2000, 0.999
#: Share of the skin that `Rest.strain` is exceeded on.
EXCEEDING = 0.25
#: Mean strain at which the search ends: at constant pressure springs hold no more than a certain size.
LARGEST_STRAIN = 1.0


class Rest(NamedTuple):
    """Equilibrium of a body of gas."""

    positions: FloatArray  # [m], all points of the model, shape (point_count, 3)
    volume: float  # [m^3]
    strain: float  # of the springs, which a quarter of the skin exceeds
    left: float  # residual over the one that is allowed: more than 1 where no equilibrium was found


class Equilibrium:
    """Finds equilibria of a model of one membrane with gas and no other bodies."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._area = float(triangle_areas(model.rest_positions, model.surfaces.triangles).sum())
        self._edge = float(self.lengths(model.rest_positions).mean())
        self._planes = Planes(model)
        self._bounds = Bounds(model, model.vertex_mass)
        self._relaxing = self._forces_of(model)

    def find(self, gauge_pressure: float, start: FloatArray, tolerance: float = TOLERANCE) -> Rest:
        """The equilibrium at a gauge pressure [Pa] reached from positions `start` [m]; it follows from these alone.

        Pins stay where they are. A pressure below 0 counts as 0: it would turn a skin inside out. Where the skin holds
        no equilibrium within LARGEST_STRAIN, the shape with about that strain. `tolerance`: residual [p A].
        """
        pressure = max(gauge_pressure, 0.0)
        _, volume, residual = self.forces(pressure, start)
        edges = self.model.edges
        rounding = ROUNDING * float((edges.stiffness * edges.rest_length).sum())
        enough = max(max(pressure * self._area, residual) * tolerance, rounding)
        found = self._relax(pressure, start, enough)
        is_held = self._mean_strain(found.positions) <= LARGEST_STRAIN and found.volume <= self._largest_volume()
        times = min(OVERPRESSURE, IRONING_STRAIN / max(found.strain, TINY))
        if is_held and found.volume > UNFOLDING * abs(volume) and times > 1.0:
            ironed = self._relax(pressure, found.positions, enough, times)
            found = max(found, ironed, key=lambda rest: (rest.left <= 1.0, rest.volume))
        return found

    def push(self, gauge_pressure: float, x: FloatArray) -> FloatArray:
        """Force of the gas on each vertex at positions x [N], shape (vertex_count, 3)."""
        with_gas, without = (self.forces(p, x)[0] for p in (gauge_pressure, 0.0))
        return with_gas[:, :3] - without[:, :3]

    def forces(self, gauge_pressure: float, x: FloatArray) -> tuple[FloatArray, float, float]:
        """Forces on the vertices at positions x [N], rows of four numbers, the volume [m^3] and the residual [N]."""
        state, gas = _at(x), self._relaxing.skins.gas
        gas.amount[:] = gauge_pressure
        free = np.where(self.model.pinned, 0.0, 1.0)
        residual = relax(self._relaxing, state, free, 0.0, 0.0, np.inf, np.inf, 1)  # no step, as any residual is enough
        return state.force.reshape(-1, 4), float(gas.volume[0]), residual

    def tighten(self, rest_lengths: FloatArray) -> None:
        """Give the springs other rest lengths [m], shape (edge_count,)."""
        self.model = replace(self.model, edges=self.model.edges._replace(rest_length=rest_lengths))
        self._bounds = Bounds(self.model, self.model.vertex_mass)
        self._relaxing = self._forces_of(self.model)

    def lengths(self, x: FloatArray) -> FloatArray:
        """Length of each spring [m] at positions x, shape (edge_count,)."""
        first, second = self.model.edges.points.T
        length: FloatArray = np.sqrt(((x[first] - x[second]) ** 2).sum(axis=1))
        return length

    @staticmethod
    def _forces_of(model: Model) -> Relaxing:
        return relaxing_of(model, model.weighs_pressure and not bool(model.pinned.any()))

    def _relax(self, pressure: float, start: FloatArray, enough: float, ironing: float = 0.0) -> Rest:
        """An equilibrium with a residual of `enough` [N] from a nudged start; before, `ironing` times the pressure."""
        longest, state = LONGEST_MOVE * self._edge, _at(start)
        rows = state.x.reshape(-1, 4)
        left = self.forces(pressure, start)[2]
        if left > enough:
            rows += self._nudge(start)
        largest, gas = self._largest_volume(), self._relaxing.skins.gas
        for times, steps in ((ironing, IRONED), (1.0, SHAKEN)) if ironing else ():
            gas.amount[:] = times * pressure
            for _ in range(steps // MEASURED):
                inverse_mass = self._inverse_mass(times * pressure, rows)
                relax(self._relaxing, state, inverse_mass, longest, KEPT, -1.0, largest, MEASURED)
            left = np.inf
        gas.amount[:] = pressure
        state.v[:] = 0.0
        for _ in range(STEP_LIMIT // MEASURED):
            if not left > enough or gas.volume[0] > largest or self._mean_strain(rows) > LARGEST_STRAIN:
                break
            inverse_mass = self._inverse_mass(pressure, rows)
            left = relax(self._relaxing, state, inverse_mass, longest, 0.0, enough, largest, MEASURED)
        x = np.ascontiguousarray(rows[:, :3])
        return Rest(x, self.forces(pressure, x)[1], self._exceeded_strain(x), left / max(enough, TINY))

    def _inverse_mass(self, pressure: float, x: FloatArray) -> FloatArray:
        """Of each vertex for steps of unit length [1/N m], 0 of pinned ones; x as three or four columns."""
        model, x = self.model, np.ascontiguousarray(x[:, :3])
        self._bounds.measure(x)
        first, second = model.edges.points.T
        length, n = self.lengths(x), model.vertex_count
        # rows of d^2V/dx^2: each edge is a side of two triangles at either end
        across = np.bincount(first, length, n) + np.bincount(second, length, n)
        bound = self._bounds.stiffness + pressure / 3.0 * across
        stiffness: FloatArray = np.where(model.pinned, np.inf, np.maximum(bound, TINY))
        return HIGHEST / stiffness

    def _largest_volume(self) -> float:
        """Of a sphere whose skin has the strain LARGEST_STRAIN [m^3]: no shape of less strain holds more."""
        return float((self._area * (1.0 + LARGEST_STRAIN) ** 2) ** 1.5 / (6.0 * np.sqrt(np.pi)))

    def _nudge(self, start: FloatArray) -> FloatArray:
        """Moves along the normals [m], rows of four numbers; 0 at pins. Noise: multiples of 2^32 / golden ratio."""
        n = self.model.vertex_count
        normal = self.push(1.0, start)
        size = np.maximum(np.sqrt((normal**2).sum(axis=1)), TINY)
        noise = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(2654435769)
        sizes = NUDGE * self._edge * ((noise % np.uint64(2**32)) / 2.0**31 - 1.0)
        amount = np.where(self.model.pinned, 0.0, sizes)
        moves = np.zeros((n, 4))
        moves[:, :3] = (amount / size)[:, None] * normal
        self._planes.hold(moves)
        return moves

    def _mean_strain(self, x: FloatArray) -> float:
        """Of the springs, weighted by k L."""
        edges = self.model.edges
        stretched = float((edges.stiffness * (self.lengths(x[:, :3]) - edges.rest_length)).sum())
        return stretched / float((edges.stiffness * edges.rest_length).sum())

    def _exceeded_strain(self, x: FloatArray) -> float:
        """Strain exceeded on a share EXCEEDING of the skin; k L^2 of a spring is proportional to its area."""
        edges = self.model.edges
        strain = self.lengths(x) / edges.rest_length - 1.0
        order = np.argsort(-strain, kind="stable")
        area = np.cumsum((edges.stiffness * edges.rest_length**2)[order])
        return float(strain[order][np.searchsorted(area, EXCEEDING * area[-1])])


def _at(x: FloatArray) -> State:
    """A relaxation that begins at positions x."""
    rows = np.zeros((len(x), 4))
    rows[:, :3] = x[:, :3]
    return State(rows.ravel(), np.zeros(4 * len(x)), np.zeros(4 * len(x)), np.array([1.0, MIXING, 0.0]))
