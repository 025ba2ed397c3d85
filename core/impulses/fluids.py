"""Fluids at rest under gravity: the weight of what fills a skin, buoyancy and drag of what surrounds bodies.

The potential of a fluid of density rho in a closed surface is E = -rho integral g . x dV. Its gradient is the
hydrostatic pressure rho |g| d along the normals, d the depth below the level (`wetting.py`): outwards of what fills a
skin, inwards of what surrounds it. Air is everywhere, a liquid besides with its density less the air's below its level.

What fills a skin has its mass in the skin's vertices, by area, so solvers give it inertia and weight. Here its weight
moves to where the pressure acts: rho |g'| d n dA, less its resultant by mass. g' = g - a is the gravity in the frame of
the body, averaged over FELT_TIME: in free flight there is none.

A skin that is not full has a free surface, below which the liquid has its volume. It sloshes: its normal u swings about
that across g' in the first mode of an upright cylinder of the surface's area A and of the liquid's depth h = V / A,

    u'' = -omega^2 (u + g' / |g'|) / (1 - epsilon) - damping,   omega^2 = |g'| k tanh(k h),   k = 1.841 / sqrt(A / pi)

(Ibrahim 2005, 1.3; Abramson 1966). The liquid's centre moves by -(I / V) u, I = A^2 / 4 pi, so the body gets the
impulse rho I du' in return: both momenta together stay. What that does to the body's acceleration is epsilon =
rho I omega^2 / (|g'| M), of the share of M that is free.

Drag is 1/2 rho c A |v| v on a body's mean motion, A half of its wet area across v: exact for convex bodies.
"""

from typing import NamedTuple

import numpy as np

from ..model import BoolArray, FloatArray, Model
from ..state import State
from .wetting import area_vectors, level_of, volume_below, wet_integrals

#: Time over which the gravity in a body's frame is averaged [s]: longer than impacts, shorter than sloshing.
FELT_TIME = 0.02
#: First zero of the derivative of the Bessel function J1: the first mode across a round surface.
FIRST_MODE = 1.8412
#: Share of critical damping of the sloshing: half is left after four swings.
SLOSH_DAMPING = 0.03


class Pressure(NamedTuple):
    """What fluids do to the bodies in a tick."""

    force: FloatArray  # on each vertex and rigid body [N], shape (vertex_count + rigid_count, 3)
    torque: FloatArray  # on each rigid body [N m], shape (rigid_count, 3)
    slowing: FloatArray  # rate at which drag slows each moving body, over its speed [1/m], shape (moving_count,)


class Fluids:
    """The fluids of a model; flat bodies have none, as their surface is open."""

    def __init__(self, model: Model) -> None:
        self._model, scene = model, model.settings[-1]
        self._air, self._liquid = scene.get("air_density", 0.0), scene.get("liquid_density", 0.0)
        self.level, self._drag = scene.get("liquid_level", 0.0), scene.get("drag_coefficient", 0.0)
        self._filled = np.flatnonzero(model.fill_mass).tolist()
        is_around = self._air > 0.0 or self._liquid > 0.0
        self.any = is_around or bool(self._filled)
        n, start = model.vertex_count, model.surfaces.body_triangle_start
        closed = np.ones(model.moving_count, bool)
        closed[: model.membrane_count] = model.flat.depth == 0.0
        surface = slice(0, start[model.moving_count])
        kept = closed[model.surfaces.triangle_body[surface]]
        self._triangles = model.surfaces.triangles[surface][kept]
        self._triangle_body = model.surfaces.triangle_body[surface][kept]
        # row of a body or vertex in what is changed: vertices, then rigid bodies
        rigid = np.arange(model.membrane_count, model.moving_count, dtype=np.int32)
        self._body = np.concatenate([model.point_body[:n], rigid])
        self._is_around = is_around

    def mean_velocities(self, v: FloatArray, mass: FloatArray) -> FloatArray:
        """Mean velocity of each moving body [m/s]; `v` [m/s] and `mass` [kg] of vertices and rigid bodies."""
        count = self._model.moving_count
        total = np.bincount(self._body, mass, count)
        return np.stack([np.bincount(self._body, mass * v[:, axis], count) / total for axis in range(3)], axis=1)

    def slosh(self, state: State, now: FloatArray, mass: FloatArray, is_free: BoolArray, time: float) -> FloatArray:
        """A time [s] passes in which g' is `now` [m/s^2], without what this does to the bodies: surfaces swing.

        `mass` [kg] of each vertex and rigid body, and whether it is free; returns the change of velocity [m/s] of the
        free ones, shape (membrane_count, 3).
        """
        past, change = np.exp(-time / FELT_TIME), np.zeros_like(state.felt_gravity)
        state.felt_gravity = past * state.felt_gravity + (1.0 - past) * now[: len(change)]
        state.surface = state.surface.copy()
        for body in self._filled:
            size = float(np.sqrt(state.felt_gravity[body] @ state.felt_gravity[body]))
            if size == 0.0 or self._is_full(body):
                continue
            first, last = self._model.body_point_start[body : body + 2]
            square, moment = self.mode(state, body)
            free = float(mass[first:last][is_free[first:last]].sum()) / self._model.body_mass[body] ** 2
            square /= 1.0 - free * moment * square / size
            up, rate = state.surface[body].reshape(2, 3)
            frequency = min(np.sqrt(square), 1.0 / time)  # what is tiny swings as fast as a tick can follow
            new = rate - time * frequency**2 * (up + state.felt_gravity[body] / size)
            new /= 1.0 + 2.0 * SLOSH_DAMPING * frequency * time
            new -= (new @ up) * up
            change[body] = moment / self._model.body_mass[body] * (new - rate)
            up = up + time * new
            state.surface[body] = [*(up / np.sqrt(up @ up)), *new]
        return change

    def mode(self, state: State, body: int) -> tuple[float, float]:
        """Square of the frequency of the first mode [1/s^2], and rho I [kg m], of a membrane that is not full."""
        found = self._liquid_of(state, state.positions, body)
        if found is None:
            return 0.0, 0.0
        level, up, height, area, _ = found
        volume, across = volume_below(level, height, area @ up)
        if across <= 0.0:
            return 0.0, 0.0
        k, gravity = FIRST_MODE / np.sqrt(across / np.pi), state.felt_gravity[body]
        square = float(np.sqrt(gravity @ gravity)) * k * np.tanh(k * volume / across)
        return square, self._model.fill_mass[body] / volume * across**2 / (4.0 * np.pi)

    def _is_full(self, body: int) -> bool:
        return bool(self._model.settings[body]["fill_share"] == 1.0)

    def pressure(
        self, state: State, gravity: FloatArray, level: float, mass: FloatArray, time: float = 0.0
    ) -> Pressure:
        """What fluids do to the bodies where they would be a `time` [s] after a state.

        `gravity` [m/s^2], `level` around [m], `mass` [kg] of each vertex and rigid body.
        """
        model, n = self._model, self._model.vertex_count
        points = slice(0, model.moving_point_count)
        x = state.positions[points] + time * state.velocities[points]
        on_points, slowing = np.zeros_like(x), np.zeros(model.moving_count)
        if self._is_around:
            slowing = self._surround(x, self._velocities(state), gravity, level, mass, on_points)
        for body in self._filled:
            self._fill(state, x, body, mass, on_points)
        force, torque = np.zeros((len(mass), 3)), np.zeros((model.rigid_count, 3))
        force[:n] = on_points[:n]
        if model.rigid_count:
            owner = model.point_body[n : model.moving_point_count] - model.membrane_count
            arm = x[n:] - (state.rigid.pose[:, :3] + time * state.rigid.velocity)[owner]
            for axis, turning in enumerate(np.cross(arm, on_points[n:]).T):
                torque[:, axis] = np.bincount(owner, turning, model.rigid_count)
                force[n:, axis] = np.bincount(owner, on_points[n:, axis], model.rigid_count)
        return Pressure(force, torque, slowing)

    def drag(self, state: State, slowing: FloatArray, mass: FloatArray, time: FloatArray) -> FloatArray:
        """Change of velocity [m/s] by drag in a `time` [s] at each vertex and rigid body, shape (len(time), 3)."""
        if self._drag == 0.0 or not self._is_around:
            return np.zeros((len(time), 3))
        mean = self.mean_velocities(self._velocities(state), mass)
        rate = (slowing * np.sqrt((mean * mean).sum(axis=1)))[self._body] * time
        return np.asarray(-(rate / (1.0 + rate))[:, None] * mean[self._body])

    def _velocities(self, state: State) -> FloatArray:
        """Of the vertices and rigid bodies [m/s]."""
        return np.concatenate([state.velocities[: self._model.vertex_count], state.rigid.velocity])

    def levels(self, state: State) -> FloatArray:
        """Height of the liquid in each membrane [m] along its vertical; NaN without, shape (membrane_count,)."""
        levels = np.full(self._model.membrane_count, np.nan)
        for body in self._filled:
            found = self._liquid_of(state, state.positions, body)
            levels[body] = found[0] if found else np.nan
        return levels

    def _surround(
        self, x: FloatArray, v: FloatArray, gravity: FloatArray, level: float, mass: FloatArray, force: FloatArray
    ) -> FloatArray:
        """Add the pressure around bodies to the forces on points at x [m], `v` [m/s] as `mass`.

        Returns the rate at which drag slows each body over its speed [1/m], shape (moving_count,).
        """
        model, count = self._model, self._model.moving_count
        size = float(np.sqrt(gravity @ gravity))
        up = -gravity / size if size > 0.0 else np.zeros(3)
        corners = x[self._triangles]
        area, height = area_vectors(corners), corners @ up
        body = self._triangle_body
        mean = self.mean_velocities(v, mass)
        across = (
            0.5 * np.abs((area * mean[body]).sum(axis=1)) / np.maximum(np.sqrt((mean * mean).sum(axis=1)), 1e-30)[body]
        )
        weight = np.zeros(len(area))
        if self._air > 0.0:
            middle = np.bincount(body, height.mean(axis=1), count) / np.maximum(np.bincount(body, minlength=count), 1)
            depth = middle[body, None] - height
            self._press(force, -size * self._air * (depth + depth.sum(axis=1, keepdims=True)) / 12.0, area)
            weight += self._air
        if self._liquid > 0.0 and size > 0.0:
            integrals, share = wet_integrals(level - height)
            self._press(force, -size * (self._liquid - self._air) * integrals, area)
            weight += (self._liquid - self._air) * share
        return np.asarray(0.5 * self._drag * np.bincount(body, weight * across, count) / model.body_mass[:count])

    def _press(self, force: FloatArray, load: FloatArray, area: FloatArray, chosen: slice = slice(None)) -> None:
        """Add loads [N/m^2] along area vectors [m^2] at the corners of the chosen triangles."""
        points = self._triangles[chosen].ravel()
        for axis in range(3):
            force[:, axis] += np.bincount(points, (load * area[:, axis, None]).ravel(), len(force))

    def _liquid_of(
        self, state: State, x: FloatArray, body: int
    ) -> tuple[float, FloatArray, FloatArray, FloatArray, slice] | None:
        """Level [m], unit vector up, heights of the corners [m], area vectors [m^2], triangles; None without g'."""
        gravity = state.felt_gravity[body]
        size = float(np.sqrt(gravity @ gravity))
        if size == 0.0:
            return None
        first, last = np.searchsorted(self._triangle_body, [body, body + 1])
        corners = x[self._triangles[first:last]]
        is_full = self._is_full(body)
        area, up = area_vectors(corners), -gravity / size if is_full else state.surface[body, :3]
        height = corners @ up
        density, mass = self._model.fill_density[body], self._model.fill_mass[body]
        level = float(height.max()) if is_full else level_of(mass / density, height, area @ up)
        return level, up, height, area, slice(first, last)

    def _fill(self, state: State, x: FloatArray, body: int, mass: FloatArray, force: FloatArray) -> None:
        """Add the pressure of what fills a membrane to the forces on points at x [N], less its resultant by mass."""
        found = self._liquid_of(state, x, body)
        if found is None:
            return
        level, up, height, area, chosen = found
        integrals, _ = wet_integrals(level - height)
        volume = -float((integrals.sum(axis=1) * (area @ up)).sum())
        if volume > 0.0:
            gravity = state.felt_gravity[body]
            density = self._model.fill_mass[body] / volume
            load = density * float(np.sqrt(gravity @ gravity)) * integrals
            self._press(force, load, area, chosen)
            first, last = self._model.body_point_start[body : body + 2]
            resultant = (load.sum(axis=1)[:, None] * area).sum(axis=0)
            force[first:last] -= mass[first:last, None] / self._model.body_mass[body] * resultant
