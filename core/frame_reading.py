"""Reads a `FrameInput`: where kinematic points and goals go, and how much gas there is at the end of the frame."""

import math

import numpy as np
from numpy.typing import ArrayLike

from .array_types import FloatArray, IntArray
from .bodies.flat.plane import moved_within
from .bodies.lattice.carried import carried_points
from .bodies.lattice.follow import held_points
from .checks import check
from .errors import ParameterError
from .frame_input import FrameInput
from .model import Model
from .solvers.kinematics import Motion
from .state import State, gas_of, gas_of_amount


def points_of(model: Model, membrane: int) -> IntArray:
    """Points of a membrane's vertices in the caller's order; raises `ParameterError` if there is no such membrane."""
    if not 0 <= membrane < model.membrane_count:
        raise ParameterError(f"membrane: {membrane}; the model has {model.membrane_count}, counted from 0.")
    return model.point_of_vertex[model.body_point_start[membrane] : model.body_point_start[membrane + 1]]


def shaped(name: str, what: str, values: ArrayLike, shape: tuple[int, int]) -> FloatArray:
    """Values as an array; raises `ParameterError` if they have another shape or are not finite."""
    array = np.asarray(values, dtype=float)
    if array.shape != shape:
        raise ParameterError(f"{name}: {what} of shape {array.shape}; give {shape}.")
    if not np.isfinite(array).all():
        raise ParameterError(f"{name}: {what} hold NaN or infinity. Check the animation of this object.")
    return array


def _without_resting(model: Model, given: FrameInput, moved: IntArray, state: State) -> IntArray:
    """Kinematic points without those of colliders that neither move nor have moved: they may be a million."""
    first, has_moved = model.moving_point_count, state.velocities[model.moving_point_count :].any()
    if not given.collider_positions and not has_moved:
        return moved[: len(moved) - (model.point_count - first)]
    is_busy = np.zeros(model.body_count - model.moving_count, bool)
    if has_moved:
        starts = model.body_point_start[model.moving_count : -1] - first
        is_busy |= np.logical_or.reduceat(state.velocities[first:].any(axis=1), starts)
    is_busy[[collider for collider in given.collider_positions if 0 <= collider < len(is_busy)]] = True
    colliders = model.point_body[first:] - model.moving_count
    return np.concatenate([moved[moved < first], first + np.flatnonzero(is_busy[colliders])]).astype(np.int32)


def read_motion(model: Model, given: FrameInput, moved: IntArray, state: State, frame_time: float) -> Motion:
    """Motion of the kinematic points `moved` in a frame of `frame_time` [s], but for colliders that are at rest."""
    target, moved = state.positions.copy(), _without_resting(model, given, moved, state)
    for membrane, positions in given.pinned_positions.items():
        points = points_of(model, membrane)
        points = points[model.pinned[points]]
        name = model.body_names[membrane]
        if model.is_lattice(membrane):
            count = int(np.diff(model.followers.pinned_start)[membrane])
            given_positions = shaped(name, "pinned positions", positions, (count, 3))
            target[points] = held_points(model, membrane, given_positions)
            target[points] = moved_within(model, membrane, model.rest_positions[points], target[points])
        else:
            target[points] = shaped(name, "pinned positions", positions, (len(points), 3))
    for membrane, positions in given.held.items():
        points = points_of(model, membrane)
        count = int(np.diff(model.followers.vertex_start)[membrane]) or len(points)
        whole = shaped(model.body_names[membrane], "positions", positions, (count, 3))
        points, target_of = carried_points(model, membrane, points, whole)
        target[points] = target_of
    for collider, positions in given.collider_positions.items():
        body = model.moving_count + collider
        if not model.moving_count <= body < model.body_count:
            count = model.body_count - model.moving_count
            raise ParameterError(f"collider: {collider}; the model has {count}, counted from 0.")
        first, last = model.body_point_start[body], model.body_point_start[body + 1]
        target[first:last] = shaped(model.body_names[body], "positions", positions, (last - first, 3))
    return Motion(moved, state.positions[moved], target[moved], frame_time)


def read_gas(model: Model, given: FrameInput, before: FloatArray) -> FloatArray:
    """nRT [J] of each membrane at the end of the frame; `before`: at its start."""
    gas = before.copy()
    for membrane, pressure in given.gauge_pressure.items():
        points_of(model, membrane)
        if not model.has_gas(membrane):
            raise ParameterError(f"{model.body_names[membrane]}: gauge pressure; a solid has none. Leave it out.")
        if not (math.isfinite(pressure) and pressure >= -model.ambient_pressure):
            raise ParameterError(
                f"{model.body_names[membrane]}: gauge pressure {pressure:g} Pa; "
                f"give a number of at least {-model.ambient_pressure:g}."
            )
        gas[membrane] = gas_of(model, membrane, pressure)
    for membrane, amount in given.gas.items():
        points_of(model, membrane)
        name = model.body_names[membrane]
        if not model.has_gas(membrane):
            raise ParameterError(f"{name}: amount of gas; a solid has none. Leave it out.")
        if membrane in given.gauge_pressure:
            raise ParameterError(f"{name}: amount of gas and gauge pressure; give one of them.")
        gas[membrane] = gas_of_amount(model, membrane, check(name, "amount of gas, nRT,", amount, "J", low=0.0))
    return gas


def read_goals(model: Model, given: FrameInput, before: FloatArray) -> FloatArray:
    """Positions of the goals at the end of the frame [m]; `before`: at its start."""
    places, start = before.copy(), model.goals.start
    for membrane, positions in given.goal_positions.items():
        points_of(model, membrane)
        first, last = start[membrane], start[membrane + 1]
        name = model.body_names[membrane]
        places[first:last] = shaped(name, "goal positions", positions, (last - first, 3))
    return places
