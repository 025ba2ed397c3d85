"""Impulses of a frame: `World` calls `before` and `after` each run of substeps.

Half of a tick's impulse comes before its steps and half after them, in the opposite order: symmetric, so of second
order. A rigid body in contact gets all of it before, as its contacts balance it within the steps: else a body at rest
would have the velocity of the second half.

The pressure of fluids on vertices acts within the steps instead, as their load (`solvers/loads.py`), so that contacts
balance it, too. It is that where everything is half a tick later: so a step of an oscillation keeps areas in phase
space, as leapfrog does.
"""

import math
from collections.abc import Sequence

import numpy as np

from ..array_types import BoolArray, FloatArray
from ..errors import ParameterError
from ..model import Model
from ..state import State
from .field import Field
from .fluids import Fluids, Pressure
from .forces import Forces, add_field
from .goals import GoalSprings
from .oscillator import QUICKEST_DRAG, approach, drag_share, look_ahead, spring_share
from .pulls import FramePulls, Pull
from .skin import Skins
from .slosh import Slosh

#: Length of a tick [s], unless a substep is longer.
TICK = 1.0 / 480.0


def next_tick(left: int, substep: float) -> int:
    """How many of the `left` substeps of a frame, of a length [s], the next tick takes.

    Ticks are as even as they can be, shorter ones first: explicit steps are shorter in them, and what contacts damp of
    a step's own push is less. That has settled at the end of the frame, where contact forces are read.
    """
    return left // math.ceil(left / max(1, round(TICK / substep)))


class Impulses:
    """Fields and goals of a model: the data that last for a run. `frame_time` [s]."""

    def __init__(self, model: Model, frame_time: float) -> None:
        self.model, self.frame_time, self._surface = model, frame_time, model.surfaces.triangles
        self.goals, self.skins, self.fluids = GoalSprings(model), Skins(model), Fluids(model)
        self.slosh = Slosh(model, self.fluids)
        n, rigid = model.vertex_count, np.arange(model.membrane_count, model.moving_count, dtype=np.int32)
        # of each vertex and rigid body
        self.body = np.concatenate([model.point_body[:n], rigid])
        self.mass = model.body_mass[self.body]  # of its body [kg]
        self.on_skin = (np.arange(len(self.body)) < n).astype(float)

    def take(self, model: Model) -> None:
        """Use the surfaces of a model that differs in what is torn."""
        if model.surfaces.triangles is not self._surface:
            self._surface = model.surfaces.triangles
            self.skins.take(model)
            self.fluids.take(model)

    def frame(
        self,
        fields: Sequence[Field],
        gravity_shares: Sequence[float],
        state: State,
        goal_end: FloatArray,
        pinned: BoolArray,
        vertex_mass: FloatArray,
        pulls: Sequence[Pull] = (),
        liquid_level: float | None = None,
    ) -> "FrameImpulses | None":
        """The impulses of a frame from a state; None if none act. Goals move in a straight line to their ends [m].

        `gravity_shares`: share of gravity that acts on each moving body; empty: all of it. `pinned`: vertices that
        follow given motion, shape (vertex_count,); `vertex_mass` [kg] that the solver moves. `liquid_level` [m]: None
        is the model's.
        Raises `ParameterError`.
        """
        level = self.fluids.level if liquid_level is None else float(liquid_level)
        if not math.isfinite(level):
            raise ParameterError(f"liquid: level {level} m; give a finite number.")
        if not (fields or gravity_shares or pulls or self.goals.any or self.fluids.any):
            return None
        count = self.model.moving_count
        for what, shares in (*((f"field {one.kind}", one.shares) for one in fields), ("gravity", gravity_shares)):
            if len(shares) not in (0, count):
                raise ParameterError(f"{what}: shares of {len(shares)} bodies; give {count}, or none for all of it.")
        falls = np.array(gravity_shares or [1.0] * count) - 1.0
        if not np.isfinite(falls).all():
            raise ParameterError("gravity: shares hold NaN or infinity. Check the animation of the bodies.")
        acting = [one for one in fields if not one.shares or any(one.shares)]
        if not acting and not falls.any() and not self.goals.any and not self.fluids.any and not pulls:
            return None
        fixed = np.concatenate([pinned, state.keyed.held[self.model.membrane_count :]])
        return FrameImpulses(self, acting, falls, state.goals, goal_end, fixed, vertex_mass, pulls, level)


class FrameImpulses:
    """The impulses of one frame."""

    def __init__(
        self,
        of: Impulses,
        fields: list[Field],
        falls: FloatArray,
        goal_start: FloatArray,
        goal_end: FloatArray,
        fixed: BoolArray,
        vertex_mass: FloatArray,
        pulls: Sequence[Pull],
        level: float,
    ) -> None:
        self._is_free = ~fixed
        self.pulls = FramePulls(of.model, pulls, of.frame_time, self._is_free)
        self._of, self._fields, self._falls, self._level = of, fields, falls, level
        self._goal_start, self._goal_way = goal_start, goal_end - goal_start
        whole = np.ones(len(of.body))
        self._weights = [np.array(one.shares)[of.body] if one.shares else whole for one in fields]
        # of vertices and rigid bodies [kg]; what of a tick is left for after its steps [s], of fields and of fluids;
        # mean velocities of the bodies before a tick [m/s]
        self._mass = np.concatenate([vertex_mass, of.model.rigid.mass])
        self._late, self._late_drag, self._speed = np.zeros(0), np.zeros(0), np.zeros((0, 3))
        self._pressure: Pressure | None = None  # of the tick
        self._known: tuple[FloatArray, tuple[Forces, Forces, FloatArray]] | None = None  # places, and the fields there

    def wake(self, state: State, gravity: FloatArray) -> None:
        """Wake bodies that impulses act on, before a solver checks for sleep; `gravity` of the steps [m/s^2]."""
        x, v = self._read(state)
        time = np.full(len(v), TICK)
        change = self._goal_change(x, v, 0.0, TICK, time)
        change += self._field_change(state, x, v, gravity, TICK, time)
        self.pulls.wake(state)
        if self._of.fluids.any:
            change += self._of.fluids.pressure(state, gravity, self._level, self._mass).force
        self._wake(state, change)

    def before(self, state: State, share: float, gravity: FloatArray, tick: float) -> FloatArray | None:
        """Change velocities before steps that take a `tick` [s]; `share`: part of the frame before them.

        Returns the load of the steps [N], shape (vertex_count, 3), None for none, see `solvers.choice.Solver`.
        """
        x, v = self._read(state)
        at_once = state.touching[self._of.body] & (self._of.on_skin == 0.0)
        early = np.where(at_once, tick, 0.5 * tick)
        self._late = tick - early
        early_drag = np.where(state.touching[self._of.body], tick, 0.5 * tick)
        self._late_drag = tick - early_drag
        if len(state.felt_gravity):
            self._speed = self._of.fluids.mean_velocities(v, self._mass)
        change = self._field_change(state, x, v, gravity, tick, early)
        change += self._goal_change(x, v + change, share, tick, early)
        change += self.pulls.change(state, x, v + change, share, tick, early)
        self._wake(state, change)
        self._add(state, change)
        if not self._of.fluids.any:
            return None
        self._pressure = self._of.fluids.pressure(state, gravity, self._level, self._mass, 0.5 * tick)
        self._push_rigid(state, self._pressure, early)
        self._add(state, self._of.fluids.drag(state, self._pressure.slowing, self._mass, early_drag))
        n = self._of.model.vertex_count
        self._wake(state, self._pressure.force)
        return np.where(self._is_free[:n, None], self._pressure.force[:n], 0.0)

    def after(self, state: State, share: float, gravity: FloatArray, tick: float) -> None:
        """The same after them."""
        if self._pressure is not None:
            self._add(state, self._of.fluids.drag(state, self._pressure.slowing, self._mass, self._late_drag))
            self._push_rigid(state, self._pressure, self._late)
        x, v = self._read(state)
        change = self.pulls.change(state, x, v, share, tick, self._late)
        change += self._goal_change(x, v + change, share, tick, self._late)
        change += self._field_change(state, x, v + change, gravity, tick, self._late)
        if len(state.felt_gravity):
            fluids, n, count = self._of.fluids, self._of.model.vertex_count, self._of.model.membrane_count
            rate = (fluids.mean_velocities(v + change, self._mass) - self._speed)[:count] / tick
            felt = (1.0 + self._falls[:count, None]) * gravity - rate
            change[:n] += self._of.slosh.swing(state, felt, self._mass[:n], self._is_free[:n], tick)
        self._add(state, change)

    def _push_rigid(self, state: State, pressure: Pressure, time: FloatArray) -> None:
        """Push and turn the rigid bodies by fluids for a `time` [s] at each vertex and rigid body."""
        n = self._of.model.vertex_count
        change = np.zeros_like(pressure.force)
        change[n:] = pressure.force[n:] / self._mass[n:, None] * time[n:, None]
        state.rigid.angular_momentum += np.where(self._is_free[n:, None], pressure.torque * time[n:, None], 0.0)
        self._add(state, change)

    def _read(self, state: State) -> tuple[FloatArray, FloatArray]:
        """Positions [m] and velocities [m/s] of the vertices and the rigid bodies' centres."""
        n = self._of.model.vertex_count
        x = np.concatenate([state.positions[:n], state.rigid.pose[:, :3]])
        return x, np.concatenate([state.velocities[:n], state.rigid.velocity])

    def _add(self, state: State, change: FloatArray) -> None:
        """Add to the velocities of free points and bodies."""
        model, n = self._of.model, self._of.model.vertex_count
        change[~self._is_free] = 0.0
        hold_in_planes(model, change)
        state.velocities[:n] += change[:n]
        if model.rigid_count:
            state.rigid.velocity += change[n:]
            points = slice(n, model.moving_point_count)
            state.velocities[points] += change[n + model.point_body[points] - model.membrane_count]

    def _wake(self, state: State, change: FloatArray) -> None:
        """Wake bodies whose velocities change."""
        model, changed = self._of.model, change.any(axis=1) & self._is_free
        rigid: BoolArray = changed[model.vertex_count :]
        state.still[model.point_body[np.flatnonzero(changed[: model.vertex_count])]] = 0.0
        state.still[model.membrane_count :][rigid] = state.still_time[rigid] = 0.0

    def _goal_change(self, x: FloatArray, v: FloatArray, share: float, tick: float, time: FloatArray) -> FloatArray:
        """Change of velocities by goals in a `time` [s] at each point, shape (point count, 3)."""
        of, n, change = self._of, self._of.model.vertex_count, np.zeros_like(v)
        if of.goals.any:
            targets = self._goal_start + share * self._goal_way
            speeds = self._goal_way / of.frame_time
            change[:n] = of.goals.change(x[:n], v[:n], targets, speeds, tick, time[:n])
        return change

    def _field_change(
        self, state: State, x: FloatArray, v: FloatArray, gravity: FloatArray, tick: float, time: FloatArray
    ) -> FloatArray:
        """Change of velocities by fields and by the gravity's share in a `time` [s]."""
        of = self._of
        if not self._fields and not self._falls.any():
            return np.zeros_like(v)
        fall = self._falls[of.body][:, None] * gravity
        if not self._fields:
            return np.asarray(fall * time[:, None])
        body, skin, square = self._forces(x)
        reached, half = v.copy(), 0.5 * time
        _slow(reached, square / of.mass, half)
        self._press(state, reached, skin, tick, half)
        share, rate = _limits(body.drag / of.mass, body.stiffness / of.mass, tick)
        pull = share[:, None] * body.push / of.mass[:, None] + fall - rate[:, None] * reached
        reached += pull * approach(rate, time)[:, None]
        self._press(state, reached, skin, tick, half)
        _slow(reached, square / of.mass, half)
        return reached - v

    def _forces(self, x: FloatArray) -> tuple[Forces, Forces, FloatArray]:
        """What all fields are at x, see `add_field`; the places after a tick are those before the next one."""
        if self._known is None or not np.array_equal(self._known[0], x):
            body, skin, square = Forces.none(len(x)), Forces.none(len(x)), np.zeros(len(x))
            for one, weight in zip(self._fields, self._weights, strict=True):
                add_field(one, x, weight, self._of.mass, self._of.on_skin, body, skin, square)
            self._known = x, (body, skin, square)
        return self._known[1]

    def _press(self, state: State, v: FloatArray, force: Forces, tick: float, time: FloatArray) -> None:
        """Apply forces along the normals of skins for a `time` [s] at each point: change v [m/s]."""
        of, n = self._of, self._of.model.vertex_count
        if not (force.push.any() or force.drag.any()):
            return
        area, normal = of.skins.shares(state.positions)
        mobility = area / of.model.vertex_mass
        share, rate = _limits(mobility * force.drag[:n], mobility * force.stiffness[:n], tick)
        pull = share * mobility * (force.push[:n] * normal).sum(axis=1) - rate * (v[:n] * normal).sum(axis=1)
        v[:n] += (pull * approach(rate, time[:n]))[:, None] * normal


def hold_in_planes(model: Model, rows: FloatArray) -> None:
    """Keep changes of flat bodies within their planes: change rows.

    `plane.hold_in_plane` in numpy: scenes are prepared without fields, so a kernel might not be compiled yet.
    """
    front, back = model.flat.pairs.T
    if len(front):
        normal = model.flat.pair_normal
        mean = 0.5 * (rows[front] + rows[back])
        mean -= (mean * normal).sum(axis=1)[:, None] * normal
        rows[front] = rows[back] = mean


def _limits(slowing: FloatArray, square: FloatArray, tick: float) -> tuple[FloatArray, FloatArray]:
    """Share of forces that is applied, and the rate at which they damp [1/s], see `oscillator`.

    From the rate of their drag and the squared angular frequency of their springs.
    """
    frequency = np.sqrt(square)
    share: FloatArray = np.minimum(drag_share(slowing, tick), spring_share(frequency, tick))
    return np.asarray(share), np.asarray(share * (slowing + square * look_ahead(frequency, tick)))


def _slow(v: FloatArray, square: FloatArray, time: FloatArray) -> None:
    """dv/dt = -square |v| v, exact up to the limit of drag: change v [m/s] in a `time` [s]."""
    if square.any():
        v /= (1.0 + np.minimum(square * time * np.sqrt((v * v).sum(axis=1)), QUICKEST_DRAG))[:, None]
