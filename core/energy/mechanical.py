"""Mechanical energy of each moving body at a state, for reports: the sums of the other files, in numpy.

    E = motion + height + stretch + bend + volumes of tetrahedra + gas

What contacts, attachments and goals hold is left out: it belongs to pairs. Asked once per frame, so no kernel.
"""

import numpy as np

from ..model import FloatArray, Model
from .bend import FOLD
from .gas import SMALLEST_VOLUME_SHARE


def mechanical_energy(
    model: Model,
    mass: FloatArray,
    x: FloatArray,
    v: FloatArray,
    rigid_velocity: FloatArray,
    poses: FloatArray,
    spin: FloatArray,
    gas: FloatArray,
    volume: FloatArray,
) -> FloatArray:
    """Energy [J] of each moving body, shape (moving_count,).

    `mass` [kg] of the vertices; `x`, `v`: positions [m] and velocities [m/s] of all points; `rigid_velocity` [m/s],
    `poses` and `spin`, angular momenta [kg m^2/s], of the rigid bodies; `gas`: nRT [J] and `volume` [m^3] of each
    membrane. Heights count from where bodies are drawn.
    """
    count, n = model.membrane_count, model.vertex_count
    body = model.point_body[:n]
    energy = np.zeros(model.moving_count)
    motion = 0.5 * mass * np.einsum("ij,ij->i", v[:n], v[:n])
    height = mass * ((x[:n] - model.rest_positions[:n]) @ model.gravity)
    energy[:count] = np.bincount(body, motion - height, count)
    ends, edges = model.edges.points, model.edges
    apart = x[ends[:, 1]] - x[ends[:, 0]]
    stretch = np.sqrt(np.einsum("ij,ij->i", apart, apart)) - edges.rest_length
    energy[:count] += np.bincount(body[ends[:, 0]], 0.5 * edges.stiffness * stretch**2, count)
    if len(model.hinges.points):
        energy[:count] += np.bincount(body[model.hinges.points[:, 0]], _bend(model, x), count)
    if len(model.tetrahedra.points):
        energy[:count] += np.bincount(body[model.tetrahedra.points[:, 0]], _squeeze(model, x), count)
    energy[:count] += _gas(model, gas, volume)
    energy[count:] = _rigid(model, rigid_velocity, poses, spin)
    return energy


def _bend(model: Model, x: FloatArray) -> FloatArray:
    """k/2 |b - c m|^2 of each hinge, see `bend.py`."""
    hinges = model.hinges
    first = x[hinges.points[:, 0]]
    edge, one, other = (x[hinges.points[:, slot]] - first for slot in (1, 2, 3))
    scale, weight = hinges.normal_scale, hinges.weight
    normal = np.cross(edge, scale[:, :1] * one - scale[:, 1:] * other)
    normal /= np.sqrt(np.einsum("ij,ij->i", normal, normal) + FOLD**2)[:, None]
    bend = weight[:, 1:2] * edge + weight[:, 2:3] * one + weight[:, 3:4] * other - hinges.rest_bend[:, None] * normal
    return np.asarray(0.5 * hinges.stiffness * np.einsum("ij,ij->i", bend, bend))


def _squeeze(model: Model, x: FloatArray) -> FloatArray:
    """K/2 (V - V0)^2 / V0 of each tetrahedron, see `volume.py`."""
    cells = model.tetrahedra
    first = x[cells.points[:, 0]]
    one, two, three = (x[cells.points[:, slot]] - first for slot in (1, 2, 3))
    volume = np.einsum("ij,ij->i", one, np.cross(two, three)) / 6.0
    return np.asarray(0.5 * cells.stiffness * (volume - cells.rest_volume) ** 2)


def _gas(model: Model, gas: FloatArray, volume: FloatArray) -> FloatArray:
    """-nRT ln(V / V_rest) + p_ambient (V - V_rest) of each membrane, continued as in `gas.py`; 0 without gas."""
    has_gas = model.rest_volume > 0.0
    rest = np.where(has_gas, model.rest_volume, 1.0)
    least = SMALLEST_VOLUME_SHARE * rest
    lack = np.maximum(least - volume, 0.0)
    energy = -gas * np.log(np.maximum(volume, least) / rest) + gas / least * lack + 0.5 * gas * (lack / least) ** 2
    return np.where(has_gas, energy + model.ambient_pressure * (volume - rest), 0.0)


def _rigid(model: Model, v: FloatArray, poses: FloatArray, spin: FloatArray) -> FloatArray:
    """Motion and height of each rigid body."""
    rigid = model.rigid
    turn = _turns(poses)
    own = np.einsum("bji,bj->bi", turn, spin)  # angular momentum in the body's frame
    motion = 0.5 * np.einsum("bi,bij,bj->b", own, rigid.inverse_inertia, own)
    motion += 0.5 * rigid.mass * np.einsum("ij,ij->i", v, v)
    return np.asarray(motion - rigid.mass * ((poses[:, :3] - rigid.centre) @ model.gravity))


def _turns(poses: FloatArray) -> FloatArray:
    """Matrices of the poses' quaternions (w, x, y, z), shape (rigid_count, 3, 3)."""
    w, axis = poses[:, 3], poses[:, 4:]
    cross = np.zeros((len(poses), 3, 3))
    cross[:, 0, 1], cross[:, 0, 2], cross[:, 1, 2] = -axis[:, 2], axis[:, 1], -axis[:, 0]
    cross -= cross.transpose(0, 2, 1)
    return np.asarray(np.eye(3) + 2.0 * w[:, None, None] * cross + 2.0 * cross @ cross)
