"""Vertex groups, carried over from a drawn mesh to the even one."""

import numpy as np

from ..array_types import FloatArray, IntArray
from .even import EvenMesh
from .follower import Follower
from .surface import Numbers

#: Even vertices within this share of their mean side of chosen vertices, sides and triangles are chosen.
REACH = 0.5


def carried_weights(
    follower: Follower, even: EvenMesh, vertices: Numbers, weights: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Weights of even vertices, above 0 and ascending by vertex, for those of drawn vertices.

    Those of the drawn surface where it is nearest. Of a drawn vertex so far from any even one that none takes part, the
    nearest corner of its triangle takes the weight.
    """
    whole = np.zeros(len(follower.offsets))
    whole[vertices] = weights
    there = np.clip(follower.transfer(whole), 0.0, 1.0)
    weighted = np.asarray(vertices)[np.asarray(weights) > 0.0]
    alone = weighted[_are_zero(there, follower, even, weighted)]
    np.maximum.at(there, _nearest_corner(follower, even, alone), whole[alone])
    chosen = np.flatnonzero(there > 0.0)
    return chosen.astype(np.int32), there[chosen]


def carried_vertices(follower: Follower, even: EvenMesh, drawn_positions: FloatArray, vertices: Numbers) -> IntArray:
    """Even vertices for chosen drawn ones, ascending: those near them, and near sides and triangles between them.

    Near is half a side of the even mesh: of a coarse drawn mesh no more is chosen than what lies between its chosen
    vertices. A chosen vertex without such a neighbour has the nearest corner of its triangle.
    """
    is_chosen = np.zeros(len(drawn_positions), bool)
    is_chosen[vertices] = True
    part = even.nearest_weights * is_chosen[even.nearest]
    share = part.sum(axis=1)
    corners = np.asarray(drawn_positions, float)[even.nearest]
    place = np.einsum("vk,vkj->vj", even.nearest_weights, corners)
    among = np.einsum("vk,vkj->vj", part, corners) / np.maximum(share, 1e-300)[:, None]
    sides = even.positions[even.triangles] - even.positions[np.roll(even.triangles, -1, axis=1)]
    reach = REACH * float(np.linalg.norm(sides, axis=2).mean())
    there = (share > 0.0) & (np.linalg.norm(place - among, axis=1) <= reach)
    alone = np.asarray(vertices)[_are_zero(there, follower, even, vertices)]
    there[_nearest_corner(follower, even, alone)] = True
    return np.flatnonzero(there).astype(np.int32)


def _are_zero(values: FloatArray, follower: Follower, even: EvenMesh, drawn: Numbers) -> Numbers:
    """Whether drawn vertices lie on triangles at whose corners the values are all zero."""
    found: Numbers = ~(values[even.triangles[follower.triangle[drawn]]] > 0.0).any(axis=1)
    return found


def _nearest_corner(follower: Follower, even: EvenMesh, drawn: Numbers) -> Numbers:
    """The nearest corner of the triangles of drawn vertices."""
    corners = even.triangles[follower.triangle[drawn]]
    found: Numbers = corners[np.arange(len(corners)), follower.weights[drawn].argmax(axis=1)]
    return found
