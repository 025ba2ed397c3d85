"""Conjugate gradients on the Hessian of a time stage, which is never formed.

H = inertia + springs + hinges + tetrahedra + contacts + one rank of gas per body, preconditioned by the multigrid cycle
for the vertices and by blocks for the rigid bodies (Hestenes and Stiefel 1952). For flat bodies residuals and
preconditioned residuals are projected into their planes (`plane.py`), P B P in place of B. A vector has one row per
vertex, then two per rigid body.

Bodies without common contacts are independent systems: each island has its own step lengths and convergence. (With one
step length for all, the stiffest body's would be applied to every other: a free cube was moved by two edge lengths
because of a tangled cow in the scene.) Sums run over the model's chunks, then over the rows of the rigid bodies, always
in this order.
"""

from typing import Any, NamedTuple

import numpy as np

from ..bodies.flat.plane import hold_in_plane
from ..contact.barrier import add_wrenches, contact_product, contact_stretch
from ..energy.bend import bend_product, sharp_product
from ..energy.stretch import stretch_product
from ..energy.volume import squeeze_tetrahedra, tetrahedron_force
from ..jit import kernel, lean_inline_kernel
from ..model import Model
from ..simd import lane, load3, load4, spread, store3, sum_spread, triple
from ..team import Words, block_of, claim, done, finish, hand_out, has_part, kind_of, team_of_one
from ..union_find import name_islands, unite
from .cycle import FINISH, work_on_level
from .multigrid import apply_multigrid
from .rigid_blocks import solve_blocks
from .vertex_blocks import add_vertex_blocks

#: Jobs of a product, beside those of the cycle: passes over the model's chunks.
SQUEEZE, PRODUCT = FINISH + 1, FINISH + 2
#: If r'Br would end below this many times `enough`, iterations go on until it is below `enough`.
NEARLY_ENOUGH = 20.0


class Hessian(NamedTuple):
    """Data of a Hessian product besides the topology."""

    inertia: Any  # mass / tau^2 [N/m], shape (vertex_count,)
    pinned: Any  # shape (vertex_count,)
    sharp_turn: Any  # shape (sharp_count, 18)
    edge_block: Any  # shape (edge_count, 4)
    volume_gradient: Any  # [m^2], shape (vertex_count, 3)
    gas_stiffness: Any  # nRT / V^2 [Pa/m^3], shape (membrane_count,)
    rigid_mass: Any  # mass / tau^2 [N/m], shape (rigid_count,)
    rigid_inertia: Any  # inertia / tau^2 in world axes [N m], shape (rigid_count, 3, 3)
    rigid_point_start: Any  # first point of each rigid body, shape (rigid_count + 1,)
    tetrahedra: Any  # `Tetrahedra.points`
    tetrahedron_stiffness: Any  # `Tetrahedra.stiffness` [Pa/m^3]
    tetrahedron_gradient: Any  # dV/dx [m^2], shape (tetrahedron_count, 4, 3)
    tetrahedron_squeeze: Any  # scratch of the product [Pa], shape (tetrahedron_count,)
    tetrahedron_chunk: Any  # `Tetrahedra.chunk_start`
    tetrahedron_start: Any  # `Tetrahedra.vertex_start`
    tetrahedron_entry: Any  # `Tetrahedra.vertex_entry`
    flat_pairs: Any  # `Flat.pairs`
    flat_normal: Any  # `Flat.pair_normal`


class Scratch(NamedTuple):
    """Vectors of the iteration, shape (unknown_count, 3), and sums of a product."""

    direction: Any
    product: Any
    preconditioned: Any
    sums: Any  # per chunk, shape (chunk_count, 2)
    island: Any  # lowest moving body connected to each by contacts, shape (moving_count,)
    islands: Any  # scratch per moving body, read at its island, shape (7, moving_count)
    pulled: Any  # `sharp_product` of every sharp hinge, shape (sharp_count, 4, 3)
    gas: Any  # gas_stiffness * (dV/dx . direction) per membrane
    inverse: Any  # `invert_vertex_blocks`, shape (vertex_count, 6)
    blocks: Any  # factors of `rigid_blocks`, shape (rigid_count, 6, 6)
    team: Words  # threads that share the work, see `team.py`

    @staticmethod
    def of(model: Model) -> "Scratch":
        """For the unknowns of a model; `inverse` and `blocks` are still to be filled."""
        direction, product, preconditioned = np.zeros((3, model.unknown_count, 3))
        return Scratch(
            direction=direction,
            product=product,
            preconditioned=preconditioned,
            sums=np.zeros((len(model.chunks.body), 2)),
            island=np.arange(model.moving_count, dtype=np.int32),
            islands=np.zeros((7, model.moving_count)),
            pulled=np.zeros((len(model.hinges.sharp), 4, 3)),
            gas=np.zeros(model.membrane_count),
            inverse=np.zeros((model.vertex_count, 6)),
            blocks=np.zeros((model.rigid_count, 6, 6)),
            team=team_of_one(),
        )


@lean_inline_kernel
def squeeze_chunk(chunk, hessian, p):
    """Pressures of the tetrahedra of a chunk by displacements p."""
    squeeze_tetrahedra(
        hessian.tetrahedron_chunk[chunk], hessian.tetrahedron_chunk[chunk + 1], hessian.tetrahedra,
        hessian.tetrahedron_stiffness, hessian.tetrahedron_gradient, p, hessian.tetrahedron_squeeze,
    )  # fmt: skip


@lean_inline_kernel
def multiply_chunk(
    chunk, edges, hinges, chunks, hessian, terms, contact_count, p, stretched, pulled, product, sums
):  # fmt: skip
    """The rows of a chunk of `product` = H p without the gas, and the sums of p * product and p * dV/dx."""
    hinge_count, tetrahedron_count = hinges.points.shape[0], hessian.tetrahedra.shape[0]
    along = spread(0.0)
    swept = spread(0.0)
    for i in range(chunks.start[chunk], chunks.start[chunk + 1]):
        if hessian.pinned[i]:
            store3(product, 3 * i, spread(0.0))
            continue
        here = load3(p, 3 * i)
        row = hessian.inertia[i] * here + stretch_product(i, here, p, edges, hessian.edge_block)
        if hinge_count > 0:
            row = row + bend_product(i, here, p, hinges, pulled)
        if tetrahedron_count > 0:
            sx, sy, sz = tetrahedron_force(
                i, hessian.tetrahedron_start, hessian.tetrahedron_entry, hessian.tetrahedron_squeeze,
                hessian.tetrahedron_gradient,
            )  # fmt: skip
            row = row - triple(sx, sy, sz)
        if contact_count > 0:
            cx, cy, cz = contact_product(i, terms, stretched)
            row = row + triple(cx, cy, cz)
        store3(product, 3 * i, row)
        along = along + here * row
        swept = swept + here * load3(hessian.volume_gradient, 3 * i)
    sums[chunk, 0] = lane(sum_spread(along), 0)
    sums[chunk, 1] = lane(sum_spread(swept), 0)


@lean_inline_kernel
def work_on_product(
    kind, chunk, edges, hinges, chunks, hessian, terms, contact_count, p, stretched, pulled, product, sums
):
    """A chunk of a job of a product."""
    if kind == SQUEEZE:
        squeeze_chunk(chunk, hessian, p)
    else:
        multiply_chunk(chunk, edges, hinges, chunks, hessian, terms, contact_count, p, stretched, pulled, product, sums)


@kernel
def _run(
    kind, team, edges, hinges, chunks, hessian, terms, contact_count, p, stretched, pulled, product, sums
):  # fmt: skip
    """A job of a product on all chunks of the model."""
    hand_out(team, kind, 0, chunks.body.shape[0])
    claimed = claim(team, 0)
    while claimed >= 0:
        work_on_product(
            kind_of(claimed), block_of(claimed), edges, hinges, chunks, hessian, terms, contact_count, p, stretched,
            pulled, product, sums,
        )  # fmt: skip
        done(team, 0)
        claimed = claim(team, 0)
    finish(team)


@kernel
def assist(edges, hinges, chunks, hessian, terms, contact_count, stretched, levels, residual, scratch, number):
    """Work of a helper thread: chunks of every job of `conjugate_gradient`, which another thread calls."""
    team = scratch.team
    while has_part(team, number):
        claimed = claim(team, number)
        while claimed >= 0:
            kind, chunk = kind_of(claimed), block_of(claimed)
            if kind <= FINISH:
                work_on_level(kind, chunk, levels, residual, scratch.preconditioned)
            else:
                work_on_product(
                    kind, chunk, edges, hinges, chunks, hessian, terms, contact_count, scratch.direction, stretched,
                    scratch.pulled, scratch.product, scratch.sums,
                )  # fmt: skip
            done(team, number)
            claimed = claim(team, number)


@kernel
def multiply(
    edges, hinges, chunks, hessian, terms, contact_count, p, stretched, pulled, product, sums, gas, island, curvature,
    team,
):  # fmt: skip
    """`product` = H p without the gas, whose factor per body goes into `gas`; `curvature` p'Hp with it, per island."""
    if contact_count > 0:
        for c in range(contact_count):
            stretched[c, 0], stretched[c, 1], stretched[c, 2] = contact_stretch(c, p, terms)
    for place in range(pulled.shape[0]):
        sharp_product(place, p, hinges, hessian.sharp_turn, pulled)
    for kind in range(PRODUCT if hessian.tetrahedra.shape[0] == 0 else SQUEEZE, PRODUCT + 1):
        _run(kind, team, edges, hinges, chunks, hessian, terms, contact_count, p, stretched, pulled, product, sums)
    gas[:] = 0.0
    curvature[:] = 0.0
    for chunk in range(chunks.body.shape[0]):
        curvature[island[chunks.body[chunk]]] += sums[chunk, 0]
        gas[chunks.body[chunk]] += sums[chunk, 1]
    for body in range(gas.shape[0]):
        swept = gas[body]
        gas[body] = hessian.gas_stiffness[body] * swept
        curvature[island[body]] += gas[body] * swept
    if hessian.rigid_mass.shape[0] > 0:
        multiply_rigid(hessian, terms, contact_count, p, stretched, product)
        add_rigid_dot(p, product, hessian.inertia.shape[0], island, curvature)


@kernel
def multiply_rigid(hessian, terms, contact_count, p, stretched, product):
    """The rows of the rigid bodies of `product` = H p."""
    vertex_count = hessian.inertia.shape[0]
    for body in range(hessian.rigid_mass.shape[0]):
        row = vertex_count + 2 * body
        for i in range(3):
            product[row, i] = hessian.rigid_mass[body] * p[row, i]
            turned = 0.0
            for k in range(3):
                turned += hessian.rigid_inertia[body, i, k] * p[row + 1, k]
            product[row + 1, i] = turned
    if contact_count > 0:
        add_wrenches(terms, hessian.rigid_point_start, stretched, product)


@kernel
def add_rigid_dot(a, b, vertex_count, island, result):
    """Add the sums of a * b over the rows of each rigid body to those of its island."""
    rigid_count = (a.shape[0] - vertex_count) // 2
    for body in range(rigid_count):
        own = island[island.shape[0] - rigid_count + body]
        for row in range(vertex_count + 2 * body, vertex_count + 2 * body + 2):
            result[own] += a[row, 0] * b[row, 0] + a[row, 1] * b[row, 1] + a[row, 2] * b[row, 2]


@kernel
def dot(a, b, chunks, vertex_count, sums, island, result):
    """Sums of a * b over the unknowns of each island, both of shape (unknown_count, 3)."""
    for chunk in range(chunks.body.shape[0]):
        first, last = 3 * chunks.start[chunk], 3 * chunks.start[chunk + 1]
        even = spread(0.0)
        odd = spread(0.0)
        blocks = (last - first) >> 3
        for block in range(blocks):
            k = first + 8 * block
            even = even + load4(a, k) * load4(b, k)
            odd = odd + load4(a, k + 4) * load4(b, k + 4)
        total = lane(sum_spread(even + odd), 0)
        for k in range(first + 8 * blocks, last):
            total += a[k // 3, k % 3] * b[k // 3, k % 3]
        sums[chunk, 0] = total
    result[:] = 0.0
    for chunk in range(chunks.body.shape[0]):
        result[island[chunks.body[chunk]]] += sums[chunk, 0]
    add_rigid_dot(a, b, vertex_count, island, result)


@kernel
def join_islands(contact_count, points, point_body, island, enough):
    """Give bodies that contacts couple the number of the lowest of them; each point is of a body of `point_body`.

    `enough`, of each body, is raised to the most that an island's bodies have, where `conjugate_gradient` reads it.
    """
    for body in range(island.shape[0]):
        island[body] = body
    for c in range(contact_count):
        a, b = point_body[points[c, 0]], point_body[points[c, 3]]
        if a == b or a >= island.shape[0] or b >= island.shape[0]:
            continue
        unite(island, a, b)
    name_islands(island)
    for body in range(island.shape[0]):
        enough[island[body]] = max(enough[island[body]], enough[body])


@kernel
def _advance(first, last, step, squeeze, p, product, volume_gradient, u, residual):
    """A step along p: u += step p, and the residual minus its product; flat, so that loops have no inner ones."""
    ps, us = p.reshape(-1)[3 * first : 3 * last], u.reshape(-1)[3 * first : 3 * last]
    hs, rs = product.reshape(-1)[3 * first : 3 * last], residual.reshape(-1)[3 * first : 3 * last]
    gs = volume_gradient.reshape(-1)[3 * first : 3 * last]
    for k in range(ps.shape[0]):
        us[k] += step * ps[k]
        rs[k] -= step * (hs[k] + squeeze * gs[k])


@kernel
def _turn(first, last, ratio, z, p):
    """p = z + ratio p of a chunk."""
    ps, zs = p.reshape(-1)[3 * first : 3 * last], z.reshape(-1)[3 * first : 3 * last]
    for k in range(ps.shape[0]):
        ps[k] = zs[k] + ratio * ps[k]


@kernel
def precondition(levels, chunks, inverse, blocks, pairs, normal, residual, z, team):
    """z = P B P residual: a multigrid cycle and `inverse` blocks for the vertices, exact `blocks` for the rigid
    bodies.

    `pairs` and `normal`: of flat bodies. Changes the residual.
    """
    hold_in_plane(pairs, normal, residual)
    if residual.shape[0] > 2 * blocks.shape[0]:
        apply_multigrid(levels, residual, z, team)
        add_vertex_blocks(chunks, inverse, residual, z)
    if blocks.shape[0] > 0:
        solve_blocks(blocks, residual, z)
    hold_in_plane(pairs, normal, z)


@kernel
def conjugate_gradient(
    edges, hinges, chunks, hessian, terms, contact_count, stretched, levels, residual, scratch,
    tolerance, enough, limit, u,
):  # fmt: skip
    """Solve H u = residual from u = 0 until r'Br <= tolerance^2 of its first value in each island of `scratch.island`.

    `enough` [J], shape (moving_count,), is read at an island's number: nothing is done where r'Br is at most that
    already, and it goes on to half of it where that is near. `limit` bounds the iterations. Returns their number, 0
    where nothing is to be done; `residual` is overwritten, `scratch.islands[0]` holds r'Br at the start.
    """
    p, product, z = scratch.direction, scratch.product, scratch.preconditioned
    sums, pulled, gas, island, team = scratch.sums, scratch.pulled, scratch.gas, scratch.island, scratch.team
    start, size, following, curvature = scratch.islands[0], scratch.islands[1], scratch.islands[2], scratch.islands[3]
    target, step, ratio = scratch.islands[4], scratch.islands[5], scratch.islands[6]
    vertex_count, membrane_count = hessian.inertia.shape[0], gas.shape[0]
    u[:] = 0.0
    p[:] = 0.0
    ratio[:] = 0.0
    precondition(
        levels, chunks, scratch.inverse, scratch.blocks, hessian.flat_pairs, hessian.flat_normal, residual, z, team
    )  # fmt: skip
    dot(residual, z, chunks, vertex_count, sums, island, start)
    left = 0  # islands that have not converged; a converged one has the target inf
    for body in range(island.shape[0]):
        size[body] = start[body]
        target[body] = np.inf
        if island[body] == body and start[body] > enough[body]:
            left += 1
            target[body] = tolerance * tolerance * start[body]
            if target[body] < NEARLY_ENOUGH * enough[body]:  # a few iterations cost less than another Newton step
                target[body] = 0.5 * enough[body]
    iterations = 0
    while iterations < limit and left > 0:
        for chunk in range(chunks.body.shape[0]):
            own = island[chunks.body[chunk]]
            _turn(chunks.start[chunk], chunks.start[chunk + 1], ratio[own], z, p)
        for row in range(vertex_count, u.shape[0]):
            own = island[membrane_count + (row - vertex_count) // 2]
            for axis in range(3):
                p[row, axis] = z[row, axis] + ratio[own] * p[row, axis]
        multiply(
            edges, hinges, chunks, hessian, terms, contact_count, p, stretched, pulled, product, sums, gas, island,
            curvature, team,
        )  # fmt: skip
        for body in range(island.shape[0]):
            if target[body] < np.inf and not curvature[body] > 0.0:
                target[body] = np.inf
                ratio[body] = 0.0
                left -= 1
            step[body] = size[body] / curvature[body] if target[body] < np.inf else 0.0
        for chunk in range(chunks.body.shape[0]):
            own = island[chunks.body[chunk]]
            _advance(
                chunks.start[chunk], chunks.start[chunk + 1], step[own], gas[chunks.body[chunk]], p, product,
                hessian.volume_gradient, u, residual,
            )  # fmt: skip
        for row in range(vertex_count, u.shape[0]):
            own = island[membrane_count + (row - vertex_count) // 2]
            for axis in range(3):
                u[row, axis] += step[own] * p[row, axis]
                residual[row, axis] -= step[own] * product[row, axis]
        iterations += 1
        if left == 0:
            break
        precondition(
            levels, chunks, scratch.inverse, scratch.blocks, hessian.flat_pairs, hessian.flat_normal, residual, z, team
        )  # fmt: skip
        dot(residual, z, chunks, vertex_count, sums, island, following)
        for body in range(island.shape[0]):
            if not target[body] < np.inf:
                continue
            if not np.isfinite(following[body]) or following[body] <= target[body]:
                target[body] = np.inf
                ratio[body] = 0.0
                left -= 1
                continue
            ratio[body] = following[body] / size[body]
            size[body] = following[body]
    return iterations
