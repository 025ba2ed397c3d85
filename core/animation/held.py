"""Rigid bodies that follow given transforms in a frame, as inactive ones do.

In the model of the frame their mass is so large that no contact moves them, and gravity does not act (`segments.py`).
In every tick they get the linear and angular velocity that lead in a straight line to the given transform. At the end
of the frame they are there, with the velocity of that line and the momentum of their own mass.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import FloatArray
from ..bodies.rigid.motion import turns
from ..errors import ParameterError
from ..model import Model
from ..state import State

#: How far the rows of a rotation may be from perpendicular and of length 1.
_SHEARED = 1e-4


class HeldMotion:
    """Transforms of rigid bodies at the end of a frame of a length [s], and their velocities until then.

    `acting`: the model of this frame; `given`: as `FrameInput.held_rigid`. Raises `ParameterError`.
    """

    def __init__(
        self, model: Model, acting: Model, state: State, given: Mapping[int, ArrayLike], frame_time: float
    ) -> None:
        self._model, self._acting, self._frame_time = model, acting, frame_time
        self._rigid = np.array(sorted(given), dtype=np.int32)
        self._pose = np.empty((len(given), 7))  # at the end of the frame
        for row, body in enumerate(self._rigid.tolist()):
            matrix = _transform(model.body_names[model.membrane_count + body], given[body])
            self._pose[row, :3] = matrix[:3, :3] @ model.rigid.centre[body] + matrix[:3, 3]
            self._pose[row, 3:] = quaternion(matrix[:3, :3])
        self._velocity, self._spin = self._way(state, frame_time)

    def wake(self, state: State) -> None:
        """Wake those of these bodies that move."""
        moving = self._rigid[(self._velocity != 0.0).any(axis=1) | (self._spin != 0.0).any(axis=1)]
        state.still[self._model.membrane_count + moving] = state.still_time[moving] = 0.0

    def before(self, state: State, share: float) -> None:
        """Set velocities for a tick; `share`: part of the frame before it."""
        self._move(state, self._acting, *self._way(state, (1.0 - share) * self._frame_time))

    def finish(self, state: State) -> None:
        """Set the given transforms, with the velocity that led there."""
        state.rigid.pose[self._rigid] = self._pose
        for body in self._rigid.tolist():
            points, turn = self._points(body), turns(state.rigid.pose[body : body + 1])[0]
            arm = self._acting.rigid.arm[
                points.start - self._model.vertex_count : points.stop - self._model.vertex_count
            ]
            state.positions[points] = state.rigid.pose[body, :3] + arm @ turn.T
        self._move(state, self._model, self._velocity, self._spin)

    def _way(self, state: State, time: float) -> tuple[FloatArray, FloatArray]:
        """Velocities [m/s] and angular velocities [1/s] that lead to the end in a time [s]."""
        now = state.rigid.pose[self._rigid]
        ways = [turn_between(first, second) for first, second in zip(now[:, 3:], self._pose[:, 3:], strict=True)]
        return (self._pose[:, :3] - now[:, :3]) / time, np.array(ways).reshape(-1, 3) / time

    def _move(self, state: State, model: Model, velocity: FloatArray, spin: FloatArray) -> None:
        """Set velocities, and momenta by the inertia of a model."""
        state.rigid.velocity[self._rigid] = velocity
        for body, v, w in zip(self._rigid.tolist(), velocity, spin, strict=True):
            points, turn = self._points(body), turns(state.rigid.pose[body : body + 1])[0]
            state.rigid.angular_momentum[body] = turn @ model.rigid.inertia[body] @ turn.T @ w
            state.velocities[points] = v + np.cross(w, state.positions[points] - state.rigid.pose[body, :3])

    def _points(self, body: int) -> slice:
        start = self._model.rigid.point_start
        return slice(int(start[body]), int(start[body + 1]))


def quaternion(turn: FloatArray) -> FloatArray:
    """Unit quaternion (w, x, y, z) of a rotation matrix: its largest part is found first (Shepperd 1978)."""
    squares = np.array([np.trace(turn), *np.diag(turn)])
    largest = int(np.argmax(squares))
    if largest == 0:
        away = (turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1])
        parts = np.array([1.0 + squares[0], *away])
    else:
        i = largest - 1
        j, k = (i + 1) % 3, (i + 2) % 3
        parts = np.empty(4)
        parts[0] = turn[k, j] - turn[j, k]
        parts[1 + i] = 1.0 + turn[i, i] - turn[j, j] - turn[k, k]
        parts[1 + j], parts[1 + k] = turn[j, i] + turn[i, j], turn[k, i] + turn[i, k]
    return np.asarray(parts / np.linalg.norm(parts))


def turn_between(first: FloatArray, second: FloatArray) -> FloatArray:
    """Rotation vector [rad], at most half a turn, from one unit quaternion to another."""
    if np.array_equal(first, second) or np.array_equal(first, -second):
        return np.zeros(3)
    w, axis = first[0], first[1:]
    real = w * second[0] + axis @ second[1:]
    rest = w * second[1:] - second[0] * axis - np.cross(second[1:], axis)
    sine = float(np.linalg.norm(rest))
    angle = 2.0 * np.arctan2(sine, abs(real))
    return np.asarray(rest * (np.copysign(angle, real) / sine if sine > 0.0 else 0.0))


def _transform(name: str, given: ArrayLike) -> FloatArray:
    """A rigid transform (4, 4) whose rotation is exact to rounding. Raises `ParameterError`."""
    matrix = np.array(given, dtype=float)
    if matrix.shape != (4, 4):
        raise ParameterError(f"{name}: transform of shape {matrix.shape}; give (4, 4).")
    if not np.isfinite(matrix).all():
        raise ParameterError(f"{name}: transform holds NaN or infinity. Check the animation of this object.")
    turn = matrix[:3, :3]
    error = np.abs(turn @ turn.T - np.eye(3)).max()
    if error > _SHEARED or np.linalg.det(turn) < 0.0:
        raise ParameterError(f"{name}: transform is no rotation and move (off by {error:.2g}); give one without scale.")
    return matrix
