"""All projections of the skins in one call."""

from ...jit import kernel
from ...plane import hold_moves_in_plane
from .bend import project_bend
from .gas import predict_and_measure
from .move import longest_of_bodies, set_velocities, sizes_of_bodies
from .spin import lacking_spin, measure_moments, measure_spin
from .stretch import project_skins
from .volumes import project_volumes


@kernel
def advance_skins(
    x, v, inverse_mass, mass, fall, time, lying, body_point_start, chunks, block_chunk, fans, fan_tasks, rest_volume,
    gas, ambient, edges, hinges, hinge_order, tetrahedra, tetrahedron_order, start, rows, gradient, gas_sums, impulse,
    turn, force, tetrahedron_gradient, spin_sums, pairs, pair_normal, volume_share, moves, longest,
):  # fmt: skip
    """Predict, then gas, stretch, bend and tetrahedra; and what angular momentum that lost (`spin.measure_spin`).

    `fans` (places of corners) and `edges` are triangles and edges in the order of their `colours.Schedule`; `pairs`,
    `pair_normal` and `volume_share` of flat bodies, see `gas.predict_and_measure`.
    """
    predict_and_measure(
        x, v, fall, time, lying, body_point_start, chunks, block_chunk, fans, fan_tasks, rest_volume, gas,
        ambient, start, rows, gradient, gas_sums, impulse, pairs, pair_normal, volume_share,
    )  # fmt: skip
    sweep_skins(
        x, v, inverse_mass, mass, fall, time, lying, body_point_start, chunks, block_chunk, edges, hinges, hinge_order,
        tetrahedra, tetrahedron_order, start, rows, gradient, impulse, turn, force, tetrahedron_gradient, spin_sums,
        pairs, pair_normal, moves, longest,
    )  # fmt: skip


@kernel
def sweep_skins(
    x, v, inverse_mass, mass, fall, time, lying, body_point_start, chunks, block_chunk, edges, hinges, hinge_order,
    tetrahedra, tetrahedron_order, start, rows, gradient, impulse, turn, force, tetrahedron_gradient, spin_sums, pairs,
    pair_normal, moves, longest,
):  # fmt: skip
    """After the prediction: gas, which moves the vertices by `impulse` times `gradient`, stretch, bend, tetrahedra.

    All move `rows`; the last writes x.
    """
    project_skins(rows, gradient, impulse, chunks, block_chunk, edges)
    if force.shape[0] > 0:
        project_bend(rows, inverse_mass, hinges, hinge_order, time, turn, force)
    if tetrahedron_gradient.shape[0] > 0:
        project_volumes(rows, inverse_mass, tetrahedra, tetrahedron_order, time, tetrahedron_gradient)
    hold_moves_in_plane(pairs, pair_normal, start, rows)
    measure_spin(start, rows, v, mass, fall, time, body_point_start, chunks, lying, spin_sums, x, moves)
    longest_of_bodies(chunks, moves, longest)


@kernel
def finish_skins(
    x, v, inverse_mass, mass, fall, time, lying, free, moved, body_point_start, chunks, start, spin_sums, spin, moves,
    longest, squares, sizes,
):  # fmt: skip
    """Velocities from where everything went, with the spin that was lost; `moved`: whether the masses' moments are old.

    Returns whether the membranes are finite, see `move.sizes_of_bodies`.
    """
    if moved:
        measure_moments(x, start, mass, body_point_start, chunks, spin_sums)
    lacking_spin(start, body_point_start, chunks, free, spin_sums, spin)
    set_velocities(x, start, inverse_mass, fall, time, body_point_start, chunks, lying, spin, v, moves, squares)
    longest_of_bodies(chunks, moves, longest)
    return sizes_of_bodies(chunks, squares, sizes)


@kernel
def fly_skins(
    x, v, inverse_mass, mass, fall, time, lying, body_point_start, chunks, block_chunk, fans, fan_tasks, rest_volume,
    gas, ambient, edges, hinges, hinge_order, tetrahedra, tetrahedron_order, start, rows, gradient, gas_sums, impulse,
    turn, force, tetrahedron_gradient, spin_sums, pairs, pair_normal, volume_share, moves, longest, spare,
    free, spin, squares, sizes,
):  # fmt: skip
    """`advance_skins`, and `finish_skins` too where no membrane has gone farther than its `spare` [m] allows before it
    might meet something: then nothing is left to do. Returns 0 for what is left, 1 if not, 2 if all is finite besides.
    """
    advance_skins(
        x, v, inverse_mass, mass, fall, time, lying, body_point_start, chunks, block_chunk, fans, fan_tasks,
        rest_volume, gas, ambient, edges, hinges, hinge_order, tetrahedra, tetrahedron_order, start, rows,
        gradient, gas_sums, impulse, turn, force, tetrahedron_gradient, spin_sums, pairs, pair_normal, volume_share,
        moves, longest,
    )  # fmt: skip
    for body in range(longest.shape[0]):
        if not longest[body] <= spare[body]:
            return 0
    finite = finish_skins(
        x, v, inverse_mass, mass, fall, time, lying, free, False, body_point_start, chunks, start, spin_sums, spin,
        moves, longest, squares, sizes,
    )  # fmt: skip
    return 2 if finite else 1
