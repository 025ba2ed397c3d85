"""Takes a state over from one model to another: the same bodies after a setting was changed."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from .animation.keyed import Keyed
from .array_types import BoolArray, FloatArray, IntArray
from .model import Model
from .state import State


def transferred(
    before: State, old: Model, positions: dict[int, FloatArray], new: Model, pairs: Iterable[tuple[int, int]]
) -> State:
    """The start of a model, with the motion that bodies of an earlier state had.

    `pairs`: numbers of a moving body in the `old` model and in the `new` one, membranes first; others start as they
    are. A soft body of as many points takes over positions, velocities, the flow of rest lengths, what is torn, lost
    gas, the surface of what fills it, and where it sticks to another such body. One of other points, as with other
    cells, keeps its place, turn and momentum: it is fitted to `positions` [m], those of its vertices by its old number,
    caller's order. A rigid body takes over its motion if its shape at the start is the same.
    """
    state, same = State.at_rest(new), list[tuple[int, int]]()
    for was, now in pairs:
        is_soft = was < old.membrane_count
        if is_soft != (now < new.membrane_count):
            continue
        if not is_soft:
            _take_rigid(before, old, was - old.membrane_count, state, new, now - new.membrane_count)
            continue
        ours, theirs = _points(new, now), _points(old, was)
        if ours.stop - ours.start == theirs.stop - theirs.start:
            state.positions[ours] = before.positions[theirs]
            state.velocities[ours] = before.velocities[theirs]
            state.load[now] = before.load[was]
            _take_flow(before, old, was, state, new, now)
            same.append((was, now))
        else:
            state.positions[ours], state.velocities[ours] = _fitted(before, old, was, positions[was], new, now)
    _take_bonds(before.keyed, old, state, new, same)
    pinned = np.flatnonzero(new.pinned)
    state.positions[pinned] = new.start_positions[pinned]
    state.velocities[pinned] = 0.0
    return state


def _points(model: Model, body: int) -> slice:
    return slice(int(model.body_point_start[body]), int(model.body_point_start[body + 1]))


def _take_flow(before: State, old: Model, was: int, state: State, new: Model, now: int) -> None:
    """Rest lengths, torn springs, lost gas and the surface of what fills a soft body, where both models have them."""
    ours = new.point_body[new.edges.points[:, 0]] == now
    theirs = old.point_body[old.edges.points[:, 0]] == was
    if ours.sum() == theirs.sum():
        if len(before.rest_lengths) and len(state.rest_lengths):
            state.rest_lengths[ours] = before.rest_lengths[theirs]
        if len(before.keyed.torn) and new.plasticity.tear_strain[now] > 0.0:
            torn = state.keyed.torn.copy()
            torn[ours] = before.keyed.torn[theirs]
            state.keyed = replace(state.keyed, torn=torn)
    if len(before.lost_gas) and len(state.lost_gas):
        state.lost_gas[now] = before.lost_gas[was]
    if len(before.surface) and new.fill_mass[now] > 0.0:
        state.surface[now], state.felt_gravity[now] = before.surface[was], before.felt_gravity[was]


def _take_bonds(keyed: Keyed, old: Model, state: State, new: Model, same: list[tuple[int, int]]) -> None:
    """Bonds of bodies that still stick, and those that broke; `same`: numbers of bodies with the same points."""
    point, body = np.full(old.point_count, -1, np.int32), np.full(old.body_count, -1, np.int32)
    for was, now in same:
        point[_points(old, was)], body[was] = np.arange(_points(new, now).start, _points(new, now).stop), now

    def kept(points: IntArray, bodies: IntArray) -> BoolArray:
        known = (point[points] >= 0).all(axis=1) & (body[bodies] >= 0)
        known[known] = new.plasticity.sticks[new.point_body[point[points[known, 0]]]]
        return np.asarray(known)

    holds, parts = kept(keyed.bond_points, keyed.bond_body), kept(keyed.bond_broken[:, :1], keyed.bond_broken[:, 1])
    broken = keyed.bond_broken[parts]
    state.keyed = replace(
        state.keyed,
        bond_points=point[keyed.bond_points[holds]],
        bond_weights=keyed.bond_weights[holds],
        bond_offset=keyed.bond_offset[holds],
        bond_body=body[keyed.bond_body[holds]],
        bond_broken=np.stack([point[broken[:, 0]], body[broken[:, 1]]], axis=1),
    )


def _take_rigid(before: State, old: Model, was: int, state: State, new: Model, now: int) -> None:
    """Motion of a rigid body, with its present inertia."""
    ours, theirs = _points(new, new.membrane_count + now), _points(old, old.membrane_count + was)
    count = int(new.rigid.vertex_count[now])
    same = slice(ours.start, ours.start + count), slice(theirs.start, theirs.start + count)
    if count != old.rigid.vertex_count[was] or not np.array_equal(
        new.rest_positions[same[0]], old.rest_positions[same[1]]
    ):
        return
    turned = before.rigid.angular_momentum[was]
    state.rigid.pose[now], state.rigid.velocity[now] = before.rigid.pose[was], before.rigid.velocity[was]
    # with equal shapes, inertia and mass have the same ratio
    state.rigid.angular_momentum[now] = turned * (new.rigid.mass[now] / old.rigid.mass[was])
    state.positions[same[0]] = before.positions[same[1]]
    state.velocities[same[0]] = before.velocities[same[1]]


def _fitted(
    before: State, old: Model, was: int, positions: FloatArray, new: Model, now: int
) -> tuple[FloatArray, FloatArray]:
    """Points of a body at its start, moved by the rotation and translation that fit its vertices best, and its mean
    velocity.

    The rotation is that of the singular value decomposition of the covariance (Kabsch 1976).
    """
    ours, theirs = _points(new, now), _points(old, was)
    drawn = _drawn(old, was, theirs)
    from_centre, at_centre = drawn.mean(axis=0), positions.mean(axis=0)
    u, _, v = np.linalg.svd((drawn - from_centre).T @ (positions - at_centre))
    u[:, 2] *= np.sign(np.linalg.det(u @ v))
    velocity = old.vertex_mass[theirs] @ before.velocities[theirs] / old.body_mass[was]
    return (new.start_positions[ours] - from_centre) @ (u @ v) + at_centre, velocity


def _drawn(model: Model, body: int, points: slice) -> FloatArray:
    """Vertices of a body as drawn [m], caller's order."""
    first, last = model.followers.vertex_start[body], model.followers.vertex_start[body + 1]
    if first == last:
        return np.asarray(model.rest_positions[model.point_of_vertex[points]])
    followers = slice(first, last)
    return np.einsum(
        "ij,ijk->ik", model.followers.weights[followers], model.rest_positions[model.followers.points[followers]]
    )
