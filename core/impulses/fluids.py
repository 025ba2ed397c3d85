"""Fluids at rest under gravity: the weight of what fills a skin, buoyancy and drag of what surrounds bodies.

The potential of a fluid of density rho in a closed surface is E = -rho integral g . x dV. Its gradient is the
hydrostatic pressure rho |g| d along the normals, d the depth below the level (`wetting.py`): outwards of what fills a
skin, inwards of what surrounds it. Air is everywhere, a liquid besides with its density less the air's below its level.

What fills a skin has its mass in the skin's vertices, by area, so solvers give it inertia and weight. Here its weight
moves to where the pressure acts: rho |g'| d n dA - (m_fill / M) m_i g', without a resultant. g' = g - a is the gravity
in the frame of the body, averaged over FELT_TIME: in free flight there is none, and a body that brakes sloshes. A skin
that is not full has a free surface across g', below which the liquid has its volume.

Drag is 1/2 rho c A |v| v on a body's mean motion, A half of its wet area across v: exact for convex bodies.
"""

import numpy as np

from ..model import FloatArray, Model
from ..state import State
from .wetting import area_vectors, level_of, wet_integrals

#: Time over which the gravity in a body's frame is averaged [s]: longer than impacts, shorter than sloshing.
FELT_TIME = 0.02


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

    def felt(self, before: FloatArray, now: FloatArray, time: float) -> FloatArray:
        """g' after a time [s] in which it is `now` [m/s^2], shape (membrane_count, 3)."""
        past = np.exp(-time / FELT_TIME)
        return np.asarray(past * before + (1.0 - past) * now[: len(before)])

    def change(
        self, state: State, gravity: FloatArray, level: float, mass: FloatArray, time: FloatArray, is_late: bool = False
    ) -> tuple[FloatArray, FloatArray]:
        """Change of velocities in a `time` [s] at each vertex and rigid body [m/s], and torques [N m] on the latter.

        `gravity` [m/s^2], `level` around [m], `mass` [kg] of each; drag acts last, or if `is_late` first. Shapes
        (vertex_count + rigid_count, 3) and (rigid_count, 3).
        """
        model, change = self._model, np.zeros((len(mass), 3))
        torque = np.zeros((model.rigid_count, 3))
        if not self.any:
            return change, torque
        n, force = model.vertex_count, np.zeros((model.moving_point_count, 3))
        slowing = (
            self._surround(state, gravity, level, mass, force) if self._is_around else np.zeros(model.moving_count)
        )
        for body in self._filled:
            self._fill(state, body, force)
        change[:n] = force[:n] / mass[:n, None]
        if model.rigid_count:
            owner = model.point_body[n : model.moving_point_count] - model.membrane_count
            arm = state.positions[n : model.moving_point_count] - state.rigid.pose[owner, :3]
            for axis, turning in enumerate(np.cross(arm, force[n:]).T):
                torque[:, axis] = np.bincount(owner, turning, model.rigid_count)
                change[n:, axis] = np.bincount(owner, force[n:, axis], model.rigid_count) / mass[n:]
        for body in self._filled:
            first, last = model.body_point_start[body : body + 2]
            change[first:last] -= model.fill_mass[body] / model.body_mass[body] * state.felt_gravity[body]
        change *= time[:, None]
        if self._is_around and self._drag > 0.0:
            v = np.concatenate([state.velocities[:n], state.rigid.velocity])
            mean = self.mean_velocities(v if is_late else v + change, mass)
            speed = np.sqrt((mean * mean).sum(axis=1))
            rate = (slowing * speed)[self._body] * time
            change -= (rate / (1.0 + rate))[:, None] * mean[self._body]
        return change, torque

    def levels(self, state: State) -> FloatArray:
        """Height of the liquid in each membrane [m] along its vertical; NaN without, shape (membrane_count,)."""
        levels = np.full(self._model.membrane_count, np.nan)
        for body in self._filled:
            found = self._liquid_of(state, body)
            levels[body] = found[0] if found else np.nan
        return levels

    def _surround(
        self, state: State, gravity: FloatArray, level: float, mass: FloatArray, force: FloatArray
    ) -> FloatArray:
        """Add the pressure around bodies to the forces on points [N].

        Returns the rate at which drag slows each body over its speed [1/m], shape (moving_count,).
        """
        model, count = self._model, self._model.moving_count
        size = float(np.sqrt(gravity @ gravity))
        up = -gravity / size if size > 0.0 else np.zeros(3)
        corners = state.positions[self._triangles]
        area, height = area_vectors(corners), corners @ up
        body = self._triangle_body
        v = np.concatenate([state.velocities[: model.vertex_count], state.rigid.velocity])
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

    def _liquid_of(self, state: State, body: int) -> tuple[float, FloatArray, FloatArray, FloatArray, slice] | None:
        """Level [m], unit vector up, heights of the corners [m], area vectors [m^2], triangles; None without g'."""
        gravity = state.felt_gravity[body]
        size = float(np.sqrt(gravity @ gravity))
        if size == 0.0:
            return None
        first, last = np.searchsorted(self._triangle_body, [body, body + 1])
        corners = state.positions[self._triangles[first:last]]
        area, up = area_vectors(corners), -gravity / size
        height = corners @ up
        density, mass = self._model.fill_density[body], self._model.fill_mass[body]
        is_full = self._model.settings[body]["fill_share"] == 1.0
        level = float(height.max()) if is_full else level_of(mass / density, height, area @ up)
        return level, up, height, area, slice(first, last)

    def _fill(self, state: State, body: int, force: FloatArray) -> None:
        """Add the pressure of what fills a membrane to the forces on points [N]; their sum is its weight."""
        found = self._liquid_of(state, body)
        if found is None:
            return
        level, up, height, area, chosen = found
        integrals, _ = wet_integrals(level - height)
        volume = -float((integrals.sum(axis=1) * (area @ up)).sum())
        if volume > 0.0:
            gravity = state.felt_gravity[body]
            density = self._model.fill_mass[body] / volume
            self._press(force, density * float(np.sqrt(gravity @ gravity)) * integrals, area, chosen)
