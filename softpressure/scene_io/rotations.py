"""Rotations as Blender stores them: quaternions, Euler angles of any order, axis and angle.

Matrices are float64, shape (n, 3, 3), orthonormal, of determinant 1. Results are continuous from row to row if the
representation allows it, so that linear curves through them take the short way. Blender's `mathutils` computes in
float32, which near gimbal lock loses half of the digits.
"""

import numpy as np

from .mesh_io import FloatArray

_AXES = {"X": 0, "Y": 1, "Z": 2}
#: Cosine of the middle angle up to which a rotation is taken as one in gimbal lock.
_LOCKED = 1e-9


def split(matrix: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Location (..., 3), rotation (..., 3, 3) and scale (..., 3) of world matrices (..., 4, 4) without shear.

    Of a mirrored one the scale of x is negative.
    """
    axes = matrix[..., :3, :3]
    scale = np.linalg.norm(axes, axis=-2)
    scale[..., 0] *= np.where(np.linalg.det(axes) < 0.0, -1.0, 1.0)
    return matrix[..., :3, 3].copy(), axes / scale[..., None, :], scale


def shear(matrix: FloatArray) -> float:
    """Shear of a matrix: the largest cosine between two of its axes."""
    axes = matrix[:3, :3] / np.linalg.norm(matrix[:3, :3], axis=0)
    return float(np.abs(axes.T @ axes - np.eye(3)).max())


def between(first: FloatArray, second: FloatArray, share: float) -> FloatArray:
    """The motion from one world matrix to another at `share` (0 to 1), as Blender blends linear curves.

    Locations are blended linearly, and so are quaternions, then normalised. The scale is that of the first.
    """
    start, turn, scale = split(first)
    end, turn_end, _ = split(second)
    pair = quaternions(np.stack([turn, turn_end]))
    mixed = pair[0] + share * (pair[1] - pair[0])
    result = np.eye(4)
    result[:3, :3] = from_quaternion(mixed) * scale
    result[:3, 3] = start + share * (end - start)
    return result


def moved(first: FloatArray, second: FloatArray) -> FloatArray:
    """Rigid motion (4, 4) from one world matrix to another, about the object's origin, without scale."""
    start, turn, _ = split(first)
    end, turn_end, _ = split(second)
    result = np.eye(4)
    result[:3, :3] = turn_end @ turn.T
    result[:3, 3] = end - result[:3, :3] @ start
    return result


def quaternions(turns: FloatArray) -> FloatArray:
    """Unit quaternions (w, x, y, z), shape (n, 4), each on the same side as the one before.

    The largest of the four components is found first (Shepperd 1978), so none is divided by a small number.
    """
    m = turns
    trace = np.trace(m, axis1=1, axis2=2)
    squares = np.stack([trace, m[:, 0, 0], m[:, 1, 1], m[:, 2, 2]], axis=1)
    largest = np.argmax(squares, axis=1)
    result = np.empty((len(m), 4))
    for row, (turn, which) in enumerate(zip(m, largest, strict=True)):
        if which == 0:
            away = (turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1])
            parts = np.array([1.0 + trace[row], *away])
        else:
            i = which - 1
            j, k = (i + 1) % 3, (i + 2) % 3
            parts = np.full(4, turn[k, j] - turn[j, k])
            parts[1 + i] = 1.0 + turn[i, i] - turn[j, j] - turn[k, k]
            parts[1 + j] = turn[j, i] + turn[i, j]
            parts[1 + k] = turn[k, i] + turn[i, k]
        result[row] = parts / np.linalg.norm(parts)
        if row and result[row] @ result[row - 1] < 0.0:
            result[row] *= -1.0
    return result


def from_quaternion(quaternion: FloatArray) -> FloatArray:
    """Rotation matrix (3, 3) of a quaternion (w, x, y, z) of any length but zero."""
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def from_euler(angles: FloatArray, order: str) -> FloatArray:
    """Rotation matrix (3, 3) of angles about x, y, z [rad], applied in `order`, the first letter first."""
    result = np.eye(3)
    for letter in order:
        axis = _AXES[letter]
        j, k = (axis + 1) % 3, (axis + 2) % 3
        c, s = np.cos(angles[axis]), np.sin(angles[axis])
        turn = np.eye(3)
        turn[j, j], turn[j, k], turn[k, j], turn[k, k] = c, -s, s, c
        result = turn @ result
    return result


def eulers(turns: FloatArray, order: str) -> FloatArray:
    """Angles about x, y, z [rad], shape (n, 3): of the equivalent triples, the nearest to the row before."""
    i, j, k = (_AXES[letter] for letter in order)
    sign, is_locked = _sign(order), _level(turns, order) <= _LOCKED
    result, before = angles(turns, order), np.zeros(3)
    for row, found in enumerate(result):
        if is_locked[row]:  # the first angle may be anything, so it stays
            found[[i, k]] = before[i], found[k] + sign * np.sign(found[j]) * before[i]
        other = found.copy()
        other[[i, j, k]] = found[i] + np.pi, np.pi - found[j], found[k] + np.pi
        ways = [way + 2.0 * np.pi * np.round((before - way) / (2.0 * np.pi)) for way in (found, other)]
        before = result[row] = min(ways, key=lambda way: float(np.abs(way - before).sum()))
    return result


def angles(turns: FloatArray, order: str) -> FloatArray:
    """Angles about x, y, z [rad], shape (n, 3), each by itself; at gimbal lock the first one is 0."""
    i, j, k = (_AXES[letter] for letter in order)
    sign, level, m = _sign(order), _level(turns, order), np.moveaxis(turns, 0, -1)
    found, is_free = np.empty((len(turns), 3)), level > _LOCKED
    found[:, i] = np.where(is_free, np.arctan2(sign * m[k, j], m[k, k]), 0.0)
    found[:, j] = np.arctan2(-sign * m[k, i], level)
    locked = np.arctan2(-sign * m[i, j], m[j, j])
    found[:, k] = np.where(is_free, np.arctan2(sign * m[j, i], m[i, i]), locked)
    return found


def _sign(order: str) -> float:
    """Whether an order of axes is cyclic, 1, or not, -1."""
    return 1.0 if (_AXES[order[1]] - _AXES[order[0]]) % 3 == 1 else -1.0


def _level(turns: FloatArray, order: str) -> FloatArray:
    """Cosine of the middle angle of each rotation."""
    i, j = _AXES[order[0]], _AXES[order[1]]
    return np.asarray(np.hypot(turns[:, i, i], turns[:, j, i]))


def axis_angles(turns: FloatArray) -> FloatArray:
    """Angle [rad] and unit axis, shape (n, 4); the axis never jumps to its opposite, the angle grows past a turn."""
    result = np.empty((len(turns), 4))
    axis, angle = np.array([0.0, 1.0, 0.0]), 0.0  # Blender's own for no rotation
    for row, quaternion in enumerate(quaternions(turns)):
        sine = float(np.linalg.norm(quaternion[1:]))
        if sine > 1e-9:
            found = quaternion[1:] / sine
            facing = -1.0 if found @ axis < 0.0 else 1.0
            turn = 2.0 * np.arctan2(facing * sine, quaternion[0])
            axis = facing * found
        else:
            turn = 0.0
        angle = turn + 2.0 * np.pi * np.round((angle - turn) / (2.0 * np.pi))
        result[row] = angle, *axis
    return result
