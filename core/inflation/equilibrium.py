"""The equilibrium of one body of gas at constant gauge pressure, without gravity and contact.

    minimise  stretch(x) + bend(x) - p (V(x) - V_drawn)

by Newton steps with the energy, Hessian and preconditioner of the implicit solver (`solvers/implicit/stage_energy.py`).
That Hessian lacks -p d2V, so such steps converge linearly, and slowly where a flat skin wrinkles. Two things make up
for it: the curvature found along the last step (one pair of limited-memory BFGS; Nocedal 1980), and steps that are
doubled while the energy keeps falling.

Painted weights of the pressure have no energy: they are held as a load in each step, as implicit steps do. Where no
pin holds their resultant, the equilibrium is that in the frame which it accelerates.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..bodies.flat.plane import Planes
from ..linear.conjugate_gradient import Scratch
from ..linear.direction import newton_direction
from ..model import FloatArray, Model
from ..solvers.implicit.preconditioner import precondition
from ..solvers.implicit.stage_energy import StageEnergy
from ..solvers.implicit.sums import inner
from ..tiny import TINY

#: Newton steps, and iterations of conjugate gradients in each.
NEWTON_LIMIT, LINEAR_LIMIT = 60, 60
#: Reduction of the residual per Newton step.
LINEAR_TOLERANCE = 0.1
#: Converged: in each of two steps the volume changes by less than this share, and points move by less than this share
#: of the size: against an atmosphere a gauge pressure of 500 Pa is then right to 0.5 %.
VOLUME_TOLERANCE, MOVE_TOLERANCE = 1e-5, 1e-3
#: Inertia of a step in units of the mean spring constant: at first, and at least, where steps succeed.
INERTIA, LEAST_INERTIA = 1e-4, 1e-7
#: A step is doubled while the energy falls by more than this share of slope times step; a parabola falls by half.
STILL_FALLING = 0.75
#: Share of the skin that `Rest.strain` is exceeded on.
EXCEEDING = 0.25
#: Largest displacement in a step, as a share of the size.
LONGEST_MOVE = 0.3
#: Least and largest steps in units of the direction.
SHORTEST, LONGEST = 1e-6, 32.0
#: Mean strain at which the search ends: at constant pressure springs hold no more than a certain size.
LARGEST_STRAIN = 1.0


class Rest(NamedTuple):
    """Equilibrium of a body of gas."""

    positions: FloatArray  # [m], all points of the model, shape (point_count, 3)
    volume: float  # [m^3]
    strain: float  # of the springs, which a quarter of the skin exceeds


class ConstantPressure(StageEnergy):
    """Energy of a stage in which the gas keeps its gauge pressure [Pa], whatever its volume."""

    def __init__(self, model: Model, stage_time: float) -> None:
        super().__init__(model, stage_time)
        self._gauge_pressure = 0.0

    def hold(self, gauge_pressure: float) -> None:
        """Keep a gauge pressure [Pa] from now on."""
        self._gauge_pressure = gauge_pressure
        self._known_x[:] = np.nan

    def weigh(self, x: FloatArray) -> None:
        """Hold what weights change of the force of the gas at x [m]."""
        self.lag_gas(x)
        if self.load.lags and not self.model.pinned.any():
            self.load.ride(x)

    def _evaluate_bodies(self, x: FloatArray) -> None:
        super()._evaluate_bodies(x)
        self.pressure[:] = self._gauge_pressure
        self._gas_stiffness[:] = 0.0
        self._gas_sum = -self._gauge_pressure * float((self.volume - self.model.rest_volume).sum())


class Equilibrium:
    """Finds equilibria of a model of one membrane with gas and no other bodies."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._stage_time = math.sqrt(float(model.vertex_mass.mean()) / (INERTIA * float(model.edges.stiffness.mean())))
        self._energy = ConstantPressure(model, self._stage_time)
        self._levels = precondition(model, self._energy.inertia).levels
        self._planes = Planes(model)
        self._size = float(np.ptp(model.rest_positions, axis=0).max())
        self._scratch = Scratch.of(model)
        self._enough = np.zeros(1)  # residual r'Br that needs no further step [J]
        self._diagonal, self._direction, self._force, self._residual = np.zeros((4, model.vertex_count, 3))

    def find(self, gauge_pressure: float, start: FloatArray) -> Rest:
        """The equilibrium at a gauge pressure [Pa] reached from positions `start` [m]; it follows from these alone.

        Pins stay where they are. A pressure below 0 counts as 0: it would turn a skin inside out. Where the skin holds
        no equilibrium within LARGEST_STRAIN, the shape with about that strain.
        """
        return self._find(max(gauge_pressure, 0.0), start.copy())

    def push(self, gauge_pressure: float) -> FloatArray:
        """Force of the gas on each vertex of the drawn shape [N], shape (vertex_count, 3)."""
        self._energy.hold(gauge_pressure)
        energy, x = self._energy, self.model.rest_positions
        energy.weigh(x)
        self._evaluate(x)
        force: FloatArray = gauge_pressure * energy.hessian.volume_gradient
        if energy.load.lags:
            energy.load.add_force(force)
        self._planes.hold(force)
        return force

    def tighten(self, rest_lengths: FloatArray) -> None:
        """Give the springs other rest lengths [m], shape (edge_count,)."""
        edges = self.model.edges._replace(rest_length=rest_lengths)
        self.model = self._energy.model = replace(self.model, edges=edges)

    def lengths(self, x: FloatArray) -> FloatArray:
        """Length of each spring [m] at positions x, shape (edge_count,)."""
        first, second = self.model.edges.points.T
        length: FloatArray = np.sqrt(((x[first] - x[second]) ** 2).sum(axis=1))
        return length

    def _find(self, gauge_pressure: float, x: FloatArray) -> Rest:
        energy = self._energy
        energy.hold(gauge_pressure)
        inertia, calm = INERTIA, 0
        step, before = np.zeros((2, *self._direction.shape))
        for _ in range(NEWTON_LIMIT):
            energy.set_stage_time(self._stage_time * math.sqrt(INERTIA / inertia))
            energy.begin(x, np.zeros(1))
            energy.weigh(x)
            total = self._evaluate(x)
            energy.residual(x, self._force)
            self._planes.hold(self._force)
            if self._mean_strain(x) > LARGEST_STRAIN or not self._aim(step, before - self._force):
                break
            before[:] = self._force
            scale = self._search_line(x, total)
            step = scale * self._direction
            x += step
            swept = inner(energy.hessian.volume_gradient, step)
            inertia = max(inertia * (0.3 if scale >= 1.0 else 4.0 if scale < 0.5 else 1.0), LEAST_INERTIA)
            is_small = np.abs(step).max() < MOVE_TOLERANCE * self._size
            calm = calm + 1 if is_small and abs(swept) < VOLUME_TOLERANCE * float(energy.volume[0]) else 0
            if calm == 2:
                break
        self._evaluate(x)
        return Rest(x, float(energy.volume[0]), self._exceeded_strain(x))

    def _evaluate(self, x: FloatArray) -> float:
        return self._energy.evaluate(x)

    def _mean_strain(self, x: FloatArray) -> float:
        """Of the springs, weighted by k L."""
        edges = self.model.edges
        stretched = float((edges.stiffness * (self.lengths(x) - edges.rest_length)).sum())
        return stretched / float((edges.stiffness * edges.rest_length).sum())

    def _exceeded_strain(self, x: FloatArray) -> float:
        """Strain exceeded on a share EXCEEDING of the skin; k L^2 of a spring is proportional to its area."""
        edges = self.model.edges
        strain = self.lengths(x) / edges.rest_length - 1.0
        order = np.argsort(-strain, kind="stable")
        area = np.cumsum((edges.stiffness * edges.rest_length**2)[order])
        return float(strain[order][np.searchsorted(area, EXCEEDING * area[-1])])

    def _aim(self, step: FloatArray, change: FloatArray) -> bool:
        """Set the direction: by the Hessian, corrected by the change of the force on the last step. Whether it is a
        descent direction.

        One pair of limited-memory BFGS around the Hessian's inverse, left out where the curvature was not positive.
        """
        energy, model = self._energy, self.model
        self._residual[:] = self._force
        curvature = inner(step, change)
        along = inner(step, self._residual) / curvature if curvature > 0.0 else 0.0
        if along:
            self._residual -= along * change
        newton_direction(
            model.edges, model.hinges, model.chunks, energy.hessian, energy.acting, energy.acting_count,
            energy.contact_stretched, model.point_body, self._levels, self._diagonal, self._residual, self._scratch,
            LINEAR_TOLERANCE, self._enough, LINEAR_LIMIT, self._direction, 0,
        )  # fmt: skip
        if along:
            self._direction += (along - inner(change, self._direction) / curvature) * step
        self._direction *= min(1.0, self._longest_scale())
        return inner(self._force, self._direction) > 0.0

    def _longest_scale(self) -> float:
        """Largest step along the direction, in units of it."""
        return LONGEST_MOVE * self._size / max(float(np.abs(self._direction).max()), TINY)

    def _search_line(self, x: FloatArray, total: float) -> float:
        """Step along the direction from x, where the energy is `total` [J], that lowers the energy; 0 if there is
        none.
        """
        slope, rounding = inner(self._force, self._direction), 1e-13 * abs(total)

        def reached(scale: float) -> float:
            return self._evaluate(x + scale * self._direction)

        scale, energy, longest = 1.0, reached(1.0), min(LONGEST, self._longest_scale())
        while 2.0 * scale <= longest and energy < total - STILL_FALLING * scale * slope:
            longer = reached(2.0 * scale)
            if not longer < energy:
                break
            scale, energy = 2.0 * scale, longer
        while not energy <= total - 1e-4 * scale * slope + rounding:
            scale *= 0.5
            if scale < SHORTEST:
                return 0.0
            energy = reached(scale)
        return scale
