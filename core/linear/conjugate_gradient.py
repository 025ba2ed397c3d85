"""Conjugate gradients on the Hessian of a time stage, which is never formed.

H = inertia + springs + hinges + contacts + one rank of gas per body, preconditioned by the multigrid cycle
(Hestenes and Stiefel 1952). All sums run over the model's chunks in a fixed order.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from ..forces.bend import bend_product, sharp_product
from ..forces.contact import BLOCK_SIZE, contact_product, contact_stretch
from ..forces.stretch import stretch_product
from ..jit import parallel_kernel
from .multigrid import apply_multigrid


class Hessian(NamedTuple):
    """What a Hessian product reads besides the topology (kept flat: numba's parallel loops take no nested tuples)."""

    inertia: Any  # mass / tau^2 [N/m], shape (vertex_count,)
    pinned: Any  # shape (vertex_count,)
    sharp_turn: Any  # shape (sharp_count, 18)
    edge_block: Any  # shape (edge_count, 4)
    volume_gradient: Any  # [m^2], shape (vertex_count, 3)
    gas_stiffness: Any  # nRT / V^2 [Pa/m^3], shape (membrane_count,)


class Scratch(NamedTuple):
    """Vectors of the iteration, shape (vertex_count, 3), and what a product sums up on its way."""

    direction: Any
    product: Any
    preconditioned: Any
    sums: Any  # per chunk, shape (chunk_count, 2)
    pulled: Any  # `sharp_product` of every sharp hinge, shape (sharp_count, 4, 3)
    gas: Any  # gas_stiffness * (dV/dx . direction) per membrane


@parallel_kernel
def multiply(edges, hinges, chunks, hessian, terms, contact_count, p, stretched, pulled, product, sums, gas):
    """`product` = H p without the gas; returns p'Hp with the gas, whose factor per body goes into `gas`."""
    if contact_count > 0:
        for block in prange((contact_count + BLOCK_SIZE - 1) // BLOCK_SIZE):
            for c in range(block * BLOCK_SIZE, min(contact_count, (block + 1) * BLOCK_SIZE)):
                stretched[c, 0], stretched[c, 1], stretched[c, 2] = contact_stretch(c, p, terms)
    hinge_count = hinges.points.shape[0]
    if pulled.shape[0] > 0:
        for chunk in prange(chunks.body.shape[0]):
            for place in range(chunks.sharp_start[chunk], chunks.sharp_start[chunk + 1]):
                sharp_product(place, p, hinges, hessian.sharp_turn, pulled)
    for chunk in prange(chunks.body.shape[0]):
        along = 0.0
        swept = 0.0
        for i in range(chunks.start[chunk], chunks.start[chunk + 1]):
            if hessian.pinned[i]:
                product[i, 0] = product[i, 1] = product[i, 2] = 0.0
                continue
            hx, hy, hz = stretch_product(i, p, edges, hessian.edge_block)
            m = hessian.inertia[i]
            hx += m * p[i, 0]
            hy += m * p[i, 1]
            hz += m * p[i, 2]
            if hinge_count > 0:
                bx, by, bz = bend_product(i, p, hinges, pulled)
                hx += bx
                hy += by
                hz += bz
            if contact_count > 0:
                cx, cy, cz = contact_product(i, terms, stretched)
                hx += cx
                hy += cy
                hz += cz
            product[i, 0], product[i, 1], product[i, 2] = hx, hy, hz
            along += p[i, 0] * hx + p[i, 1] * hy + p[i, 2] * hz
            g = hessian.volume_gradient[i]
            swept += g[0] * p[i, 0] + g[1] * p[i, 1] + g[2] * p[i, 2]
        sums[chunk, 0] = along
        sums[chunk, 1] = swept
    total = 0.0
    gas[:] = 0.0
    for chunk in range(chunks.body.shape[0]):
        total += sums[chunk, 0]
        gas[chunks.body[chunk]] += sums[chunk, 1]
    for body in range(gas.shape[0]):
        swept = gas[body]
        gas[body] = hessian.gas_stiffness[body] * swept
        total += gas[body] * swept
    return total


@parallel_kernel
def dot(a, b, chunks, sums):
    """Sum of a * b over all vertices, both of shape (vertex_count, 3)."""
    for chunk in prange(chunks.body.shape[0]):
        total = 0.0
        for i in range(chunks.start[chunk], chunks.start[chunk + 1]):
            total += a[i, 0] * b[i, 0] + a[i, 1] * b[i, 1] + a[i, 2] * b[i, 2]
        sums[chunk, 0] = total
    result = 0.0
    for chunk in range(chunks.body.shape[0]):
        result += sums[chunk, 0]
    return result


@parallel_kernel
def conjugate_gradient(
    edges, hinges, chunks, hessian, terms, contact_count, stretched, levels, residual, scratch,
    tolerance, enough, limit, u,
):  # fmt: skip
    """Solve H u = residual from u = 0 until r'Br <= tolerance^2 of its first value; `residual` is overwritten.

    Returns the number of iterations and r'Br at the start [J]; does nothing where that is at most `enough` already.
    `limit` bounds the iterations.
    """
    p, product, z = scratch.direction, scratch.product, scratch.preconditioned
    sums, pulled, gas = scratch.sums, scratch.pulled, scratch.gas
    u[:] = 0.0
    apply_multigrid(levels, residual, z)
    start = dot(residual, z, chunks, sums)
    size = start
    for chunk in prange(chunks.body.shape[0]):
        for i in range(chunks.start[chunk], chunks.start[chunk + 1]):
            p[i, 0], p[i, 1], p[i, 2] = z[i, 0], z[i, 1], z[i, 2]
    iterations = 0
    if not start > enough:
        return 0, start
    while iterations < limit:
        curvature = multiply(
            edges, hinges, chunks, hessian, terms, contact_count, p, stretched, pulled, product, sums, gas
        )
        if not curvature > 0.0:
            break
        step = size / curvature
        for chunk in prange(chunks.body.shape[0]):
            squeeze = gas[chunks.body[chunk]]
            for i in range(chunks.start[chunk], chunks.start[chunk + 1]):
                if hessian.pinned[i]:
                    continue
                for axis in range(3):
                    u[i, axis] += step * p[i, axis]
                    residual[i, axis] -= step * (product[i, axis] + squeeze * hessian.volume_gradient[i, axis])
        iterations += 1
        apply_multigrid(levels, residual, z)
        following = dot(residual, z, chunks, sums)
        if not np.isfinite(following) or following <= tolerance * tolerance * start:
            break
        ratio = following / size
        size = following
        for chunk in prange(chunks.body.shape[0]):
            for i in range(chunks.start[chunk], chunks.start[chunk + 1]):
                for axis in range(3):
                    p[i, axis] = z[i, axis] + ratio * p[i, axis]
    return iterations, start
