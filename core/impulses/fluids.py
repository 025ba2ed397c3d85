"""Fluids at rest under gravity: the weight of what fills a skin, buoyancy and drag of what surrounds bodies.

The potential of a fluid of density rho in a closed surface is E = -rho integral g . x dV. Its gradient is the
hydrostatic pressure rho |g| d along the normals, d the depth below the level (`wetting.py`): outwards of what fills a
skin, inwards of what surrounds it. Air is everywhere, a liquid besides with its density less the air's below its level.

What fills a skin has its mass in the skin's vertices, by area, so solvers give it inertia and weight. Here its weight
moves to where the pressure acts: rho |g| d n dA, less its resultant by mass. In free flight there is none: the pressure
falls with g' = g - a, the gravity in the body's frame, averaged over FELT_TIME, once that is below LEAST_FELT of g.
g' itself in place of g lags behind the motion and so drove it: a full skin of 4 t swung by its own radius for ever.

A skin that is not full has a free surface, below which the liquid has its volume; it sloshes (`slosh.py`).

Drag is 1/2 rho c A |v| v on a body's mean motion, A half of its wet area across v: exact for convex bodies.
"""

from typing import NamedTuple

import numpy as np

from ..array_types import FloatArray
from ..model import Model
from ..state import State
from ..volume import closed_surface, is_burst
from .wetting import Facets, facets_of, level_of, press, volume_below, wet_integrals

#: Share of gravity that must be felt for what is inside to have all of its weight.
LEAST_FELT = 0.25


class Liquid(NamedTuple):
    """What fills a membrane."""

    level: float  # along the way up [m]
    facets: Facets  # of the membrane


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
        is_around = self._air > 0.0 or self._liquid > 0.0
        self.any = is_around or bool(model.fill_mass.any())
        n = model.vertex_count
        self.take(model)
        # row of a body or vertex in what is changed: vertices, then rigid bodies
        rigid = np.arange(model.membrane_count, model.moving_count, dtype=np.int32)
        self._body = np.concatenate([model.point_body[:n], rigid])
        self.is_around = is_around

    def take(self, model: Model) -> None:
        """Use the surfaces of a model that differs in what is torn."""
        closed = [body for body in range(model.moving_count) if not self._is_flat(body)]
        surfaces = [closed_surface(model, body) for body in closed]
        is_whole = np.array([not is_burst(model, body) for body in closed], bool)
        # membranes that hold a liquid
        self.filled = [body for body in np.flatnonzero(model.fill_mass).tolist() if not is_burst(model, body)]
        self._triangles = np.concatenate([np.zeros((0, 3), np.int32), *surfaces])
        self._triangle_body = np.repeat(np.array(closed, np.int32), [len(own) for own in surfaces])
        # whether what surrounds a triangle presses: on both sides of a burst skin it does not
        self._is_pressed = np.repeat(is_whole, [len(own) for own in surfaces])

    def _is_flat(self, body: int) -> bool:
        return body < self._model.membrane_count and bool(self._model.flat.depth[body] > 0.0)

    def mean_velocities(self, v: FloatArray, mass: FloatArray) -> FloatArray:
        """Mean velocity of each moving body [m/s]; `v` [m/s] and `mass` [kg] of vertices and rigid bodies."""
        count = self._model.moving_count
        total = np.bincount(self._body, mass, count)
        return np.stack([np.bincount(self._body, mass * v[:, axis], count) / total for axis in range(3)], axis=1)

    def pressure(
        self, state: State, gravity: FloatArray, level: float, mass: FloatArray, time: float = 0.0,
        shares: FloatArray | None = None,
    ) -> Pressure:  # fmt: skip
        """What fluids do to the bodies where they would be a `time` [s] after a state.

        `gravity` [m/s^2], `level` around [m], `mass` [kg] of each vertex and rigid body; `shares` of gravity that
        act on the moving bodies, None for all of it.
        """
        model, n = self._model, self._model.vertex_count
        points = slice(0, model.moving_point_count)
        x = state.positions[points] + time * state.velocities[points]
        on_points, slowing = np.zeros_like(x), np.zeros(model.moving_count)
        if self.is_around:
            slowing = self._surround(x, self._velocities(state), gravity, level, mass, on_points)
        for body in self.filled:
            self._fill(state, x, body, gravity if shares is None else shares[body] * gravity, mass, on_points)
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
        if self._drag == 0.0 or not self.is_around:
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
        for body in self.filled:
            if state.felt_gravity[body].any():
                levels[body] = self.liquid_of(state, state.positions, body).level
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
        _, _, _, area, height, _ = facets_of(x, self._triangles, up)
        body = self._triangle_body
        mean = self.mean_velocities(v, mass)
        across = (
            0.5 * np.abs((area * mean[body]).sum(axis=1)) / np.maximum(np.sqrt((mean * mean).sum(axis=1)), 1e-30)[body]
        )
        weight, pressed = np.zeros(len(area)), area * self._is_pressed[:, None]
        if self._air > 0.0:
            middle = np.bincount(body, height.mean(axis=1), count) / np.maximum(np.bincount(body, minlength=count), 1)
            depth = middle[body, None] - height
            load = -size * self._air * (depth + depth.sum(axis=1, keepdims=True)) / 12.0
            press(self._triangles, load, pressed, force)
            weight += self._air
        if self._liquid > 0.0 and size > 0.0:
            integrals, share = wet_integrals(level - height)
            press(self._triangles, -size * (self._liquid - self._air) * integrals, pressed, force)
            weight += (self._liquid - self._air) * share
        return np.asarray(0.5 * self._drag * np.bincount(body, weight * across, count) / model.body_mass[:count])

    def is_full(self, body: int) -> bool:
        """Whether the liquid in a membrane has no free surface."""
        return bool(self._model.settings[body]["fill_share"] == 1.0)

    def liquid_of(self, state: State, x: FloatArray, body: int, up: FloatArray | None = None) -> Liquid:
        """What fills a membrane with points at x [m]; `up`: normal of its surface, None for that of the state."""
        gravity = state.felt_gravity[body]
        size = float(np.sqrt(gravity @ gravity))
        first, last = np.searchsorted(self._triangle_body, [body, body + 1])
        is_full = self.is_full(body)
        if up is None:
            up = -gravity / size if is_full and size > 0.0 else state.surface[body, :3]
        facets = facets_of(x, self._triangles[first:last], up)
        volume = self._model.fill_mass[body] / self._model.fill_density[body]
        level = float(facets.height.max()) if is_full else level_of(volume, facets.height, facets.rise)
        return Liquid(level, facets)

    def _fill(
        self, state: State, x: FloatArray, body: int, gravity: FloatArray, mass: FloatArray, force: FloatArray
    ) -> None:
        """Add the pressure of what fills a membrane to the forces on points at x [N], less its resultant by mass."""
        felt, size = (float(np.sqrt(one @ one)) for one in (state.felt_gravity[body], gravity))
        if felt == 0.0 or size == 0.0:
            return
        level, facets = self.liquid_of(state, x, body, -gravity / size if self.is_full(body) else None)
        volume, _ = volume_below(level, facets.height, facets.rise)
        if volume > 0.0:
            density = self._model.fill_mass[body] / volume
            load = density * min(felt / LEAST_FELT, size) * wet_integrals(level - facets.height)[0]
            press(facets.triangles, load, facets.area, force)
            first, last = self._model.body_point_start[body : body + 2]
            resultant = load.sum(axis=1) @ facets.area
            force[first:last] -= mass[first:last, None] / self._model.body_mass[body] * resultant
