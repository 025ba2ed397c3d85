"""All projections of the skins in one call: between launches of threads there is no time in which they fall asleep."""

from ...jit import kernel
from ...plane import hold_moves_in_plane
from .bend import project_bend
from .gas import predict_and_measure
from .spin import measure_spin
from .stretch import project_skins
from .volumes import project_volumes


@kernel
def advance_skins(
    x, v, inverse_mass, mass, fall, time, lying, body_point_start, chunks, block_chunk, fans, fan_tasks, fan_launches,
    rest_volume, gas, ambient, edges, hinges, hinge_rows, tetrahedra, tetrahedron_rows, start, rows, gradient, gas_sums,
    impulse, turn, force, tetrahedron_gradient, spin_sums, pairs, pair_normal, volume_share, moves,
):  # fmt: skip
    """Predict, then gas, stretch, bend and tetrahedra; and what angular momentum that lost (`spin.measure_spin`).

    `fans` (places of corners), `edges`, `hinge_rows` and `tetrahedron_rows` are triangles, edges, hinges and tetrahedra
    in the order of their `colours.Schedule`; `pairs`, `pair_normal` and `volume_share` of flat bodies, see
    `gas.predict_and_measure`.
    """
    predict_and_measure(
        x, v, fall, time, lying, body_point_start, chunks, block_chunk, fans, fan_tasks, fan_launches, rest_volume, gas,
        ambient, start, rows, gradient, gas_sums, impulse, pairs, pair_normal, volume_share,
    )  # fmt: skip
    sweep_skins(
        x, v, inverse_mass, mass, fall, time, lying, body_point_start, chunks, block_chunk, edges, hinges, hinge_rows,
        tetrahedra, tetrahedron_rows, start, rows, gradient, impulse, turn, force, tetrahedron_gradient, spin_sums,
        pairs, pair_normal, moves,
    )  # fmt: skip


@kernel
def sweep_skins(
    x, v, inverse_mass, mass, fall, time, lying, body_point_start, chunks, block_chunk, edges, hinges, hinge_rows,
    tetrahedra, tetrahedron_rows, start, rows, gradient, impulse, turn, force, tetrahedron_gradient, spin_sums, pairs,
    pair_normal, moves,
):  # fmt: skip
    """After the prediction: gas, which moves the vertices by `impulse` times `gradient`, stretch, bend, tetrahedra.

    All move `rows`; the last writes x.
    """
    project_skins(rows, gradient, impulse, chunks, block_chunk, edges)
    if force.shape[0] > 0:
        project_bend(rows, inverse_mass, hinges, hinge_rows, time, turn, force)
    if tetrahedron_gradient.shape[0] > 0:
        project_volumes(rows, inverse_mass, tetrahedra, tetrahedron_rows, time, tetrahedron_gradient)
    hold_moves_in_plane(pairs, pair_normal, start, rows)
    measure_spin(start, rows, v, mass, fall, time, body_point_start, chunks, lying, spin_sums, x, moves)
