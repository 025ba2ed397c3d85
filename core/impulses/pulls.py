"""Pulls: a damped spring draws a patch of a body to a place, or a force pushes it; as a hand does in live play.

A handle on a soft body is a patch of its vertices with weights w_i that sum to 1. The patch is at X = sum w_i x_i; a
force F on it gives vertex i the share w_i F, so X moves as a point of the mass 1 / sum (w_i^2 / m_i). On a rigid body
a handle is a point. Springs and damping are integrated as those of goals are (`oscillator.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..array_types import BoolArray, FloatArray, IntArray
from ..bodies.rigid.motion import turns
from ..errors import ParameterError
from ..model import Model
from ..state import State
from ..tiny import TINY
from .oscillator import approach, strengths, tick_for

#: Share of a soft body's mass in a patch. A spring with K / M = w^2 counts up to about w = 192 sqrt(share) / s
#: (`oscillator.QUICKEST_SPRING`): 12 Hz.
PATCH_SHARE = 0.15


@dataclass(frozen=True, slots=True)
class Handle:
    """Where a body is grabbed; made by `World.handle`."""

    body: int  # membranes first, then rigid bodies
    points: IntArray  # vertices of the patch of a soft body, shape (n,); none on a rigid body
    weights: FloatArray  # summing to 1, shape (n,)
    arm: FloatArray  # of a rigid body: from its centre of mass, in the axes of its start [m], shape (3,)

    def place(self, model: Model, state: State) -> FloatArray:
        """Where it is [m], shape (3,)."""
        if len(self.points):
            return np.asarray(self.weights @ state.positions[self.points])
        pose = state.rigid.pose[self.body - model.membrane_count]
        return np.asarray(pose[:3] + turns(pose[None])[0] @ self.arm)


@dataclass(frozen=True, slots=True)
class Pull:
    """A spring from a handle to a place that moves in a straight line, and a constant force, during one frame.

    Raises `ParameterError` for numbers that are not finite, or negative stiffness or damping.
    """

    handle: Handle
    start: FloatArray = field(default_factory=lambda: np.zeros(3))  # place at the start of the frame [m]
    end: FloatArray = field(default_factory=lambda: np.zeros(3))  # and at its end [m]
    stiffness: float = 0.0  # [N/m]
    damping: float = 0.0  # of motion relative to the place [N s/m]
    force: FloatArray = field(default_factory=lambda: np.zeros(3))  # [N]

    def __post_init__(self) -> None:
        numbers = np.concatenate([self.start, self.end, self.force, [self.stiffness, self.damping]])
        if numbers.shape != (11,) or not np.isfinite(numbers).all() or min(self.stiffness, self.damping) < 0.0:
            raise ParameterError(
                f"pull: stiffness {self.stiffness:g} N/m, damping {self.damping:g} N s/m, force {self.force} N from "
                f"{self.start} to {self.end}; give finite numbers, stiffness and damping of at least 0."
            )


def handle_at(model: Model, state: State, body: int, place: FloatArray) -> Handle:
    """A handle on a moving body, membranes first, at a place on its surface [m]; raises `ParameterError`."""
    if not 0 <= body < model.moving_count:
        raise ParameterError(f"body: {body}; the model has {model.moving_count} that move, counted from 0.")
    none, no_weights = np.zeros(0, np.int32), np.zeros(0)
    if body >= model.membrane_count:
        pose = state.rigid.pose[body - model.membrane_count]
        return Handle(body, none, no_weights, turns(pose[None])[0].T @ (place - pose[:3]))
    points = np.arange(model.body_point_start[body], model.body_point_start[body + 1], dtype=np.int32)
    points = points[~model.pinned[points]]
    if not len(points):
        raise ParameterError(f"{model.body_names[body]}: all its vertices are pinned. Free some to pull it.")
    distance = np.linalg.norm(state.positions[points] - place, axis=1)
    order = np.argsort(distance, kind="stable")
    mass = model.vertex_mass[points[order]]
    last = int(np.searchsorted(np.cumsum(mass), PATCH_SHARE * model.body_mass[body]))
    reach = 1.01 * distance[order[min(last + 1, len(order) - 1)]]  # the next one has next to no weight
    patch = order[: last + 2]
    falloff = mass[: last + 2] * (1.0 - (distance[patch] / max(reach, TINY)) ** 2)
    return Handle(body, points[patch], falloff / falloff.sum(), np.zeros(3))


class FramePulls:
    """The pulls of one frame, and the impulses that they have given so far [N s], shape (pull_count, 3).

    `is_free`: of each vertex and rigid body, whether it follows no given motion. Raises `ParameterError`.
    """

    def __init__(self, model: Model, pulls: Sequence[Pull], frame_time: float, is_free: BoolArray) -> None:
        for pull in pulls:
            body, points = pull.handle.body, pull.handle.points
            is_rigid = model.membrane_count <= body < model.moving_count
            if not (is_rigid if not len(points) else points.max() < model.vertex_count):
                raise ParameterError("pull: its handle belongs to another model. Make it with `World.handle`.")
        rows = [pull.handle.points if len(pull.handle.points) else [_row(model, pull.handle)] for pull in pulls]
        self._model, self._frame_time = model, frame_time
        self._acting = [n for n, row in enumerate(rows) if is_free[row].all()]
        self._pulls = pulls
        self.impulses = np.zeros((len(pulls), 3))

    def wake(self, state: State) -> None:
        """Wake the bodies that are grabbed."""
        for pull in self._pulls:
            state.still[pull.handle.body] = 0.0
            if not len(pull.handle.points):
                state.still_time[pull.handle.body - self._model.membrane_count] = 0.0

    def tick(self) -> float:
        """The longest tick [s] that follows all pulls; those on rigid bodies take the shortest, 0."""
        acting = [self._pulls[number] for number in self._acting]
        if not all(len(pull.handle.points) for pull in acting):
            return 0.0
        mobility = np.array([self._patch_mobility(pull.handle) for pull in acting])
        stiffness, damping = (np.array([getattr(pull, name) for pull in acting]) for name in ("stiffness", "damping"))
        return tick_for(np.sqrt(stiffness * mobility), damping * mobility)

    def _patch_mobility(self, handle: Handle) -> float:
        """Inverse mass of a patch [1/kg]."""
        return float(handle.weights**2 @ (1.0 / self._model.vertex_mass[handle.points]))

    def change(
        self, state: State, x: FloatArray, v: FloatArray, share: float, tick: float, time: FloatArray
    ) -> FloatArray:
        """Change of velocities [m/s] in a `time` [s] at each vertex and rigid body; turns rigid bodies at once.

        x [m], v [m/s] of these; `share`: part of the frame that is over; the drift between takes a `tick` [s].
        """
        change = np.zeros_like(v)
        for number in self._acting:
            pull = self._pulls[number]
            act = self._patch_change if len(pull.handle.points) else self._rigid_change
            self.impulses[number] += act(state, pull, x, v, share, tick, time, change)
        return change

    def _impulse(
        self, pull: Pull, place: FloatArray, velocity: FloatArray, mobility: float, share: float, tick: float,
        time: float,
    ) -> FloatArray:  # fmt: skip
        """Impulse [N s] on a handle with an inverse mass of at most `mobility` [1/kg]."""
        stiffness, damping = np.array([pull.stiffness]), np.array([pull.damping])
        stiffness, slows = strengths(stiffness, damping, np.sqrt(stiffness * mobility), damping * mobility, tick)
        target, speed = pull.start + share * (pull.end - pull.start), (pull.end - pull.start) / self._frame_time
        force = pull.force + stiffness * (target - place) + slows * (speed - velocity)
        return np.asarray(force * approach(slows * mobility, np.array([time])))

    def _patch_change(
        self, state: State, pull: Pull, x: FloatArray, v: FloatArray, share: float, tick: float, time: FloatArray,
        change: FloatArray,
    ) -> FloatArray:  # fmt: skip
        """Add the change of a soft body's velocities; returns the impulse [N s]."""
        model, points, weights = self._model, pull.handle.points, pull.handle.weights
        inverse = 1.0 / model.vertex_mass[points]
        mobility, lasts = self._patch_mobility(pull.handle), float(time[points[0]])
        impulse = self._impulse(pull, weights @ x[points], weights @ v[points], mobility, share, tick, lasts)
        normal = model.flat.normal[pull.handle.body]  # 0 where it is not flat
        impulse -= (impulse @ normal) * normal
        change[points] += (weights * inverse)[:, None] * impulse
        return impulse

    def _rigid_change(
        self, state: State, pull: Pull, x: FloatArray, v: FloatArray, share: float, tick: float, time: FloatArray,
        change: FloatArray,
    ) -> FloatArray:  # fmt: skip
        """Add the change of a rigid body's velocity and turn it; returns the impulse [N s]."""
        model, solids, motion = self._model, self._model.rigid, state.rigid
        row, number = _row(model, pull.handle), pull.handle.body - model.membrane_count
        turn = turns(motion.pose[number : number + 1])[0]
        arm, inverse = turn @ pull.handle.arm, turn @ solids.inverse_inertia[number] @ turn.T
        velocity = v[row] + np.cross(inverse @ motion.angular_momentum[number], arm)
        cross = np.cross(np.eye(3), arm)
        mobility = 1.0 / solids.mass[number] + float(np.linalg.eigvalsh(cross @ inverse @ cross.T)[-1])
        impulse = self._impulse(pull, x[row] + arm, velocity, mobility, share, tick, float(time[row]))
        change[row] += impulse / solids.mass[number]
        spin = np.cross(arm, impulse)
        motion.angular_momentum[number] += spin
        points = slice(solids.point_start[number], solids.point_start[number + 1])
        state.velocities[points] += np.cross(inverse @ spin, state.positions[points] - x[row])
        return impulse


def _row(model: Model, handle: Handle) -> int:
    """Row of a rigid body behind those of the vertices."""
    return model.vertex_count + handle.body - model.membrane_count
