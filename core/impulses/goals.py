"""Goals: springs that pull the caller's vertices towards given places.

A body of mass M with the goal stiffness K pulls a vertex of weight w by w K m / M, m its mass: so its motion does not
depend on the mesh, and a body of weights w is on springs of w K in all. Motion relative to the goal is damped at the
rate w c. The vertices of lattices share the masses of the points that they follow.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import FloatArray, IntArray
from ..checks import check
from ..errors import ParameterError
from ..model import Followers, Goals, Model
from ..topology import starts
from .oscillator import approach, strengths, tick_for


@dataclass(frozen=True, slots=True)
class GivenGoals:
    """As `ModelBuilder.add_goals` was given them."""

    membrane: int
    vertices: IntArray  # the caller's, ascending
    weights: FloatArray
    stiffness: float
    damping: float


def given_goals(
    membrane: int, name: str, vertex_count: int, vertices: ArrayLike, weights: ArrayLike, stiffness: float,
    damping: float,
) -> GivenGoals:  # fmt: skip
    """Goals in ascending order of their vertices; raises `ParameterError`."""
    numbers = np.asarray(vertices, dtype=np.int32).ravel()
    shares = np.broadcast_to(np.asarray(weights, dtype=float), numbers.shape)
    order = np.argsort(numbers, kind="stable")
    numbers, shares = numbers[order], shares[order]
    if not len(numbers) or numbers[0] < 0 or numbers[-1] >= vertex_count or (np.diff(numbers) == 0).any():
        raise ParameterError(f"{name}: goals; give vertices from 0 to {vertex_count - 1}, at least one, each once.")
    if not ((shares >= 0.0) & (shares <= 1.0)).all():
        raise ParameterError(f"{name}: goal weights from {shares.min():g} to {shares.max():g}; give 0 to 1.")
    stiffness = check(name, "goal stiffness", stiffness, "N/m", low=0.0)
    return GivenGoals(membrane, numbers, shares, stiffness, check(name, "goal damping", damping, "1/s", low=0.0))


def rest_goals(
    given: Sequence[GivenGoals], point_of_vertex: IntArray, point_start: IntArray, followers: Followers,
    mass: FloatArray, body_mass: FloatArray, positions: FloatArray,
) -> Goals:  # fmt: skip
    """The goals of a model; `mass` [kg] of the vertices, `positions` [m] of all points."""
    points, weights = [np.zeros((0, 4), np.int32)], [np.zeros((0, 4))]
    stiffness, damping, counts = [np.zeros(0)], [np.zeros(0)], [0] * (len(followers.vertex_start) - 1)
    for goals in sorted(given, key=lambda each: each.membrane):
        body = goals.membrane
        first = followers.vertex_start[body]
        if followers.vertex_start[body + 1] > first:
            all_points = followers.points[first : followers.vertex_start[body + 1]]
            all_weights = followers.weights[first : followers.vertex_start[body + 1]]
        else:
            own = point_of_vertex[point_start[body] : point_start[body + 1]]
            all_points = np.repeat(own[:, None], 4, axis=1)
            all_weights = np.tile([1.0, 0.0, 0.0, 0.0], (len(own), 1))
        pulled_mass = _masses_of(all_points, np.abs(all_weights), mass)[goals.vertices] * goals.weights
        points.append(all_points[goals.vertices])
        weights.append(all_weights[goals.vertices])
        stiffness.append(goals.stiffness / body_mass[body] * pulled_mass)
        damping.append(goals.damping * pulled_mass)
        counts[body] = len(goals.vertices)
    table, shares = np.concatenate(points).astype(np.int32), np.concatenate(weights)
    return Goals(
        points=table,
        weights=shares,
        stiffness=np.concatenate(stiffness),
        damping=np.concatenate(damping),
        rest=np.einsum("ij,ijk->ik", shares, positions[table]),
        start=starts(counts),
    )


def _masses_of(points: IntArray, weights: FloatArray, mass: FloatArray) -> FloatArray:
    """Masses of points, shared among the vertices that follow them, of each vertex [kg]."""
    total = np.bincount(points.ravel(), weights.ravel(), len(mass))
    shared = mass / np.where(total > 0.0, total, 1.0)
    return np.asarray((weights * shared[points]).sum(axis=1))


class GoalSprings:
    """Impulses of the goals of a model."""

    def __init__(self, model: Model) -> None:
        goals = model.goals
        row, column = np.nonzero(goals.weights)
        self._goal, self._point, self._weight = row, goals.points[row, column], goals.weights[row, column]
        self._count, self._goals = model.vertex_count, goals
        self._inverse_mass = np.where(model.pinned, 0.0, 1.0 / model.vertex_mass)
        # a bound of the stiffness of all goals at a point: goals of lattices share points
        reach = np.abs(goals.weights).sum(axis=1)
        self._bound = np.abs(self._weight) * reach[self._goal] * self._inverse_mass[self._point]
        self._frequency = np.sqrt(self._quickest(goals.stiffness))  # of each goal's quickest point [1/s]
        self._slowing = self._quickest(goals.damping)  # the same of damping alone [1/s]

    @property
    def any(self) -> bool:
        """Whether any goal has stiffness or damping."""
        return bool(self._goals.stiffness.any() or self._goals.damping.any())

    @property
    def tick(self) -> float:
        """The longest tick [s] that follows all goals."""
        return tick_for(self._frequency, self._slowing)

    def pull(self, x: FloatArray, targets: FloatArray, speeds: FloatArray, tick: float) -> FloatArray:
        """Accelerations [m/s^2] of the vertices at x [m] in a `tick` [s] without what damps them.

        `targets` [m] and their `speeds` [m/s], shape (goal_count, 3).
        """
        stiffness, slows = self._strengths(tick)
        return self._spread(stiffness[:, None] * (targets - self._at_goals(x)) + slows[:, None] * speeds)

    def change(self, v: FloatArray, pull: FloatArray, tick: float, time: FloatArray) -> FloatArray:
        """Change of the vertices' velocities v [m/s] by a `pull` and damping in a `time` [s], part of a `tick`."""
        _, slows = self._strengths(tick)
        rate = self._summed(self._bound * slows[self._goal])
        return (pull - self._spread(slows[:, None] * self._at_goals(v))) * approach(rate, time)[:, None]

    def _strengths(self, tick: float) -> tuple[FloatArray, FloatArray]:
        """Stiffness [N/m] and damping [N s/m] of each goal in a `tick` [s]."""
        return strengths(self._goals.stiffness, self._goals.damping, self._frequency, self._slowing, tick)

    def _at_goals(self, rows: FloatArray) -> FloatArray:
        """Means of the vertices' rows at the goals, shape (goal_count, 3)."""
        count = len(self._goals.stiffness)
        return np.stack([np.bincount(self._goal, self._weight * one[self._point], count) for one in rows.T], axis=1)

    def _spread(self, force: FloatArray) -> FloatArray:
        """Accelerations [m/s^2] of the vertices by forces on the goals [N], shape (goal_count, 3)."""
        sums = [self._summed(self._weight * one[self._goal]) for one in force.T]
        return np.asarray(np.stack(sums, axis=1) * self._inverse_mass[:, None])

    def _quickest(self, strength: FloatArray) -> FloatArray:
        """Largest rate that stiffness or damping of the goals gives to the points of each."""
        sums, largest = self._summed(self._bound * strength[self._goal]), np.zeros(len(strength))
        np.maximum.at(largest, self._goal, sums[self._point])
        return largest

    def _summed(self, values: FloatArray) -> FloatArray:
        """Sums over the points of the goals, shape (vertex_count,)."""
        return np.asarray(np.bincount(self._point, values, self._count), dtype=float)
