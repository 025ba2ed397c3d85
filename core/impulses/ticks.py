"""Impulses of a frame: `World` calls `before` and `after` each run of substeps.

What pushes soft bodies in a tick acts within the steps, as their load (`solvers/loads.py`), so that contacts balance
it. It is that where everything is half a tick later: so a step of an oscillation keeps areas in phase space, as
leapfrog does. What brakes them comes half before the steps and half after them: symmetric, so of second order.

Rigid bodies have all of it as impulses, half before and half after. One in contact gets all of it before, as its
contacts balance it within the steps: else a body at rest would have the velocity of the second half.
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
from .frame_fields import FrameFields, Rows
from .goals import GoalSprings
from .pulls import FramePulls, Pull
from .skin import Skins
from .slosh import Slosh

#: Shortest tick [s], unless a substep is longer.
TICK = 1.0 / 480.0
#: Longest tick of soft bodies [s], and of what is filled and of rigid bodies, which have impulses: as many as they have
#: ticks of contacts. In fluids ticks are the shortest, as buoyancy is a spring without a damper.
LONGEST, LONGEST_OF_RIGID = 1.0 / 120.0, 1.0 / 240.0


def next_tick(left: int, substep: float, tick: float) -> int:
    """How many of the `left` substeps of a frame, of a length [s], the next tick takes, which is that of a `tick` [s].

    Ticks are as even as they can be, shorter ones first: explicit steps are shorter in them, and what contacts damp of
    a step's own push is less. That has settled at the end of the frame, where contact forces are read.
    """
    return left // math.ceil(left / max(1, round(tick / substep)))


class Impulses:
    """Fields and goals of a model: the data that last for a run. `frame_time` [s]."""

    def __init__(self, model: Model, frame_time: float) -> None:
        self.model, self.frame_time, self._surface = model, frame_time, model.surfaces.triangles
        self.goals, self.skins, self.fluids = GoalSprings(model), Skins(model), Fluids(model)
        self.slosh = Slosh(model, self.fluids)
        n, rigid = model.vertex_count, np.arange(model.membrane_count, model.moving_count, dtype=np.int32)
        # of each vertex and rigid body
        self.body = np.concatenate([model.point_body[:n], rigid])
        on_skin = (np.arange(len(self.body)) < n).astype(float)
        self.rows = Rows(model.body_mass[self.body], model.vertex_mass, on_skin)

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
        self._of, self._falls, self._level = of, falls, level
        self._goal_start, self._goal_way = goal_start, goal_end - goal_start
        whole = np.ones(len(of.body))
        weights = [np.array(one.shares)[of.body] if one.shares else whole for one in fields]
        self._fields = FrameFields(of.rows, of.skins, fields, weights, falls[of.body])
        # of vertices and rigid bodies [kg]; what of a tick is left for after its steps [s], of fields and of fluids;
        # mean velocities of the bodies before a tick [m/s]; accelerations in a tick that are no load [m/s^2]
        self._mass = np.concatenate([vertex_mass, of.model.rigid.mass])
        self._late, self._late_drag, self._speed = np.zeros(0), np.zeros(0), np.zeros((0, 3))
        self._kick, self._goal_pull = np.zeros((0, 3)), np.zeros((0, 3))
        self._pressure: Pressure | None = None  # of the tick
        self.tick = TICK  # [s]

    def wake(self, state: State, gravity: FloatArray) -> None:
        """Wake bodies that impulses act on, before a solver checks for sleep, and choose how long ticks are.

        `gravity` of the steps [m/s^2].
        """
        (x, v), n = self._read(state), self._of.model.vertex_count
        change = self._fields.pull(x, gravity, TICK)
        change[:n] += self._pull_of_goals(x[:n], 0.0, TICK)
        self.pulls.wake(state)
        fluids = self._of.fluids
        if fluids.any:
            change += fluids.pressure(state, gravity, self._level, self._mass, shares=1.0 + self._falls).force
        self._wake(state, change)
        has_rigid = self._is_free[n:].any()
        longest = TICK if fluids.is_around else LONGEST_OF_RIGID if has_rigid or fluids.any else LONGEST
        self.tick = max(TICK, min(longest, self._fields.tick_for(v), self._of.goals.tick, self.pulls.tick()))

    def before(self, state: State, share: float, gravity: FloatArray, tick: float) -> FloatArray | None:
        """Change velocities before steps that take a `tick` [s]; `share`: part of the frame before them.

        Returns the load of the steps [N], shape (vertex_count, 3), None for none, see `solvers.choice.Solver`.
        """
        x, v = self._read(state)
        n = self._of.model.vertex_count
        touching = state.touching[self._of.body]
        early = np.where(touching & (self._of.rows.on_skin == 0.0), tick, 0.5 * tick)
        self._late = tick - early
        early_drag = np.where(touching, tick, 0.5 * tick)
        self._late_drag = tick - early_drag
        if len(state.felt_gravity):
            self._speed = self._of.fluids.mean_velocities(v, self._mass)
        middle, share_then = x + 0.5 * tick * v, share + 0.5 * tick / self._of.frame_time
        pull = self._fields.pull(middle, gravity, tick)
        self._goal_pull = self._pull_of_goals(middle[:n], share_then, tick)
        self._kick = np.where(self._fields.kicks[:, None], pull, 0.0)
        change = self._change(state, x, v, share, tick, early, 1)
        self._wake(state, np.abs(pull) + np.abs(change))
        self._add(state, change)
        pull -= self._kick
        pull[~self._is_free] = 0.0
        hold_in_planes(self._of.model, pull)
        load = self._mass[:n, None] * pull[:n]
        if self._of.fluids.any:
            self._pressure = self._of.fluids.pressure(
                state, gravity, self._level, self._mass, 0.5 * tick, 1.0 + self._falls
            )
            self._push_rigid(state, self._pressure, early)
            self._add(state, self._of.fluids.drag(state, self._pressure.slowing, self._mass, early_drag))
            self._wake(state, self._pressure.force)
            load += np.where(self._is_free[:n, None], self._pressure.force[:n], 0.0)
        return load if load.any() else None

    def after(self, state: State, share: float, gravity: FloatArray, tick: float) -> None:
        """The same after them."""
        if self._pressure is not None:
            self._add(state, self._of.fluids.drag(state, self._pressure.slowing, self._mass, self._late_drag))
            self._push_rigid(state, self._pressure, self._late)
        x, v = self._read(state)
        change = self._change(state, x, v, share, tick, self._late, -1)
        if len(state.felt_gravity):
            fluids, n, count = self._of.fluids, self._of.model.vertex_count, self._of.model.membrane_count
            rate = (fluids.mean_velocities(v + change, self._mass) - self._speed)[:count] / tick
            felt = (1.0 + self._falls[:count, None]) * gravity - rate
            change[:n] += self._of.slosh.swing(state, felt, self._mass[:n], self._is_free[:n], tick)
        self._add(state, change)

    def _pull_of_goals(self, x: FloatArray, share: float, tick: float) -> FloatArray:
        """Accelerations [m/s^2] of the vertices at x [m] by goals."""
        if not self._of.goals.any:
            return np.zeros_like(x)
        targets, speeds = self._goal_start + share * self._goal_way, self._goal_way / self._of.frame_time
        return self._of.goals.pull(x, targets, speeds, tick)

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

    def _change(
        self, state: State, x: FloatArray, v: FloatArray, share: float, tick: float, time: FloatArray, order: int
    ) -> FloatArray:
        """Change of velocities [m/s] in a `time` [s] at each vertex and rigid body; `order`: -1 for the last first."""
        change, n = np.zeros_like(v), self._of.model.vertex_count

        def fields() -> None:
            change[:] += self._fields.change(v + change, self._kick, time)

        def goals() -> None:
            if self._of.goals.any:
                change[:n] += self._of.goals.change(v[:n] + change[:n], self._goal_pull, tick, time[:n])

        def pulls() -> None:
            change[:] += self.pulls.change(state, x, v + change, share, tick, time)

        for act in (fields, goals, pulls)[::order]:
            act()
        return change


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
