"""Mechanical energy of each moving body at a state, for reports: the sums of the other files, body by body.

    E = motion + height + stretch + stiffening + bend + volumes of cells + gas

Energies of contacts, attachments and goals are not included: they belong to pairs, or are external.
"""

import numpy as np

from ..array_types import FloatArray
from ..bodies.rigid.motion import turns
from ..jit import lean_kernel
from ..model import Model
from ..state import State
from .bend import bend_energy
from .gas import gas_law
from .stiffening import stiffening_energy
from .volume import corner_volume


def mechanical_energy(model: Model, mass: FloatArray, state: State, volume: FloatArray) -> FloatArray:
    """Energy [J] of each moving body, shape (moving_count,); heights are relative to the rest positions.

    `mass` [kg] of the vertices, shape (vertex_count,); `volume` [m^3] of each membrane, shape (membrane_count,).
    """
    count, energy = model.membrane_count, np.zeros(model.moving_count)
    add_soft_energies(
        state.positions, state.velocities, mass, model.rest_positions, model.gravity, model.point_body, model.edges,
        model.hinges, model.tetrahedra, state.gas, volume, model.rest_volume, model.gas_base, model.gas_exponent,
        energy,
    )  # fmt: skip
    if model.stiffening.any():
        energy[:count] += stiffening_energy(model, state.positions)
    if model.rigid_count:
        height = (state.rigid.pose[:, :3] - model.rigid.centre) @ model.gravity
        energy[count:] = rigid_motion(model, state) - model.rigid.mass * height
    return energy


@lean_kernel
def add_soft_energies(
    x, v, mass, rest, gravity, body, edges, hinges, tetrahedra, gas, volume, rest_volume, base, exponent, energy
):  # fmt: skip
    """Add the energies [J] of the membranes to their bodies' entries."""
    for i in range(mass.shape[0]):
        square = along = 0.0
        for axis in range(3):
            square += v[i, axis] * v[i, axis]
            along += gravity[axis] * (x[i, axis] - rest[i, axis])
        energy[body[i]] += mass[i] * (0.5 * square - along)
    for e in range(edges.points.shape[0]):
        i, j = edges.points[e, 0], edges.points[e, 1]
        dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        stretch = (dx * dx + dy * dy + dz * dz) ** 0.5 - edges.rest_length[e]
        energy[body[i]] += 0.5 * edges.stiffness[e] * stretch * stretch
    for h in range(hinges.points.shape[0]):
        energy[body[hinges.points[h, 0]]] += bend_energy(h, x, hinges)
    for cell in range(tetrahedra.sum_stiffness.shape[0]):
        total, own = 0.0, body[tetrahedra.points[8 * cell, 0]]
        for corner in range(8):
            t = 8 * cell + corner
            change = corner_volume(t, tetrahedra.points, x) - tetrahedra.rest_volume[t]
            energy[own] += 0.5 * tetrahedra.stiffness[t] * change * change
            total += change
        energy[own] += 0.5 * tetrahedra.sum_stiffness[cell] * total * total
    for b in range(volume.shape[0]):
        if rest_volume[b] > 0.0:
            energy[b] += gas_law(volume[b], rest_volume[b], gas[b], base[b], exponent[b])[2]


def rigid_motion(model: Model, state: State) -> FloatArray:
    """Kinetic energy of each rigid body [J], shape (rigid_count,)."""
    rigid, now = model.rigid, state.rigid
    own = np.einsum("bji,bj->bi", turns(now.pose), now.angular_momentum)  # in the body's frame
    spin = np.einsum("bi,bij,bj->b", own, rigid.inverse_inertia, own)
    return np.asarray(0.5 * (spin + rigid.mass * np.einsum("ij,ij->i", now.velocity, now.velocity)))
