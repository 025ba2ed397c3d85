"""Islands of bodies at rest sleep until an awake body or a moving collider touches them.

An island is a set of bodies connected by contacts, colliders apart. It sleeps when it rests on a collider and none of
its bodies has left its place for a while; it wakes as a whole.
"""

import numpy as np

from ...contact.narrow_phase.manifolds import distance_between
from ...jit import kernel
from ...union_find import root_of, unite

#: A body keeps its place while no point of it is farther from there than this share of its radius.
STILL_MOVE = 0.01
#: It sleeps after this time [s].
STILL_TIME = 0.5


@kernel
def find_islands(pair, count, parent):
    """Islands of all bodies from the pairs that have contact points."""
    for body in range(parent.shape[0]):
        parent[body] = body
    for row in range(pair.shape[0]):
        if count[row] > 0:
            unite(parent, pair[row, 0], pair[row, 1])


@kernel
def fastest_near(parent, speed):
    """Speed of the fastest body of each body's island [m/s]: a bound of how fast it may be pushed within a step."""
    fastest, out = np.zeros_like(speed), np.empty_like(speed)
    for body in range(speed.shape[0]):
        root = root_of(parent, body)
        fastest[root] = max(fastest[root], speed[body])
    for body in range(speed.shape[0]):
        out[body] = fastest[root_of(parent, body)]
    return out


@kernel
def settle(parent, poses, radius, supported, shaken, time, still_pose, still_time, awake):
    """Add `time` [s] to the time that each island has been still, and set which bodies are awake.

    supported: whether a collider holds each body; shaken: whether a moving one touches it; still_pose: changed in
    place, the pose at which each body began to be still.
    """
    n = parent.shape[0]
    moving, on_collider = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    for body in range(n):
        root = root_of(parent, body)
        if (
            shaken[body]
            or not distance_between(poses[body], still_pose[body], radius[body]) <= STILL_MOVE * radius[body]
        ):
            moving[root] = True
        if supported[body]:
            on_collider[root] = True
    shortest = np.full(n, np.inf)
    for body in range(n):
        root = root_of(parent, body)
        if moving[root] or not on_collider[root]:
            still_time[body] = 0.0
            for axis in range(7):
                still_pose[body, axis] = poses[body, axis]
        else:
            still_time[body] += time
        shortest[root] = min(shortest[root], still_time[body])
    for body in range(n):
        awake[body] = shortest[root_of(parent, body)] < STILL_TIME
