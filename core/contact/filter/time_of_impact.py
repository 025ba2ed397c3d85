"""Admissible fraction of a step for each pair: additive continuous collision detection (Li et al. 2021, section 5).

The mean displacement of a pair's four points changes no distance and is subtracted first, so bodies that move together
do not limit the step. The distance d falls by at most l = max |u_i| + max |u_j| per step, i over the points of one
side, j over those of the other. So the fraction (d - kept) / l of the step is admissible; at its end the distance is
measured again, and so on. Most pairs pass a cheaper test: a fixed plane that separates the sides at both ends of the
step separates them all along it.

Rigid points move along arcs. A share s of an arc of angle a and radius r deviation from its tangent by at most
s^2 r a^2 / 2: that much more is kept.
"""

import math

from ...jit import inline_kernel, kernel
from ...union_find import root_of
from ..contacts import EDGE_EDGE, POINT_TRIANGLE
from ..narrow_phase.closest_points import (
    closest_on_edges,
    closest_on_edges_of,
    closest_on_triangle,
    closest_on_triangle_of_row,
    closing,
    least_distance,
    move_of,
    unit_normal,
)
from ..narrow_phase.edge_edge import across

#: Fraction of its distance that a pair keeps in a step [1].
KEPT_DISTANCE = 0.1
#: Fraction that `separate` leaves [1]: somewhat more, so that the pair then admits the whole step.
SEPARATED_DISTANCE = 0.12
#: Advances at most per pair; a pair that needs more admits the fraction reached by then.
MOST_ADVANCES = 32
#: An advance by less than this fraction of the step [1] is the last.
LEAST_ADVANCE = 1e-3


@kernel
def limit_pairs(
    x, moves, arc_deviation, vertex_count, count, points, kind, apex, side, bodies, distance, island, share, limiting
):  # fmt: skip
    """Lower each island's fraction of the step to what its pairs admit; returns how many pairs limit the step.

    x: positions [m] of all points; moves: displacements of the moving ones [m]; arc_deviation: largest deviation of
    each rigid point from its straight path [m]; distance: of each pair at x, or a lower bound [m]; island: of each
    moving body; share: output, fraction of each island, at its number; limiting: output, rows of the pairs that limit
    the step. Pairs with side -1 may be crossed and do not limit it.
    """
    found, longest = 0, 0.0
    for i in range(moves.shape[0]):
        longest = max(longest, moves[i, 0] ** 2 + moves[i, 1] ** 2 + moves[i, 2] ** 2)
    longest = 2.0 * math.sqrt(longest)
    for row in range(count):
        if side[row] < 0 or not (kind[row] == POINT_TRIANGLE or kind[row] == EDGE_EDGE):
            continue
        if arc_deviation.shape[0] == 0 and longest < (1.0 - KEPT_DISTANCE) * distance[row]:
            continue
        split = 2 if kind[row] == EDGE_EDGE else 1
        deviation = pair_deviation(arc_deviation, vertex_count, points, row)
        room = (1.0 - KEPT_DISTANCE) * distance[row] - deviation
        if room > 0.0 and closing(moves, points, row, split) < room * room:
            continue
        admitted = admissible_share(x, moves, deviation, points, kind, apex, row, split)
        if admitted < 1.0:
            limiting[found] = row
            found += 1
            own = root_of(island, min(bodies[row, 0], bodies[row, 1]))  # colliders have the highest numbers
            share[own] = min(share[own], admitted)
    return found


@kernel
def separate(x, moves, step, inverse_mass, rows, count, points, kind):
    """Keep free vertices of pairs on their side of the plane between the closest points.

    The fraction SEPARATED_DISTANCE of the distance is left. `step` and `moves` [m] change alike; both sides by the same
    amount, or one where the other cannot move.
    """
    for k in range(count):
        row = rows[k]
        split = 2 if kind[row] == EDGE_EDGE else 1
        nx, ny, nz, d = direction_between(x, points, kind, row)
        if not d > least_distance(x, points[row, 0]):
            continue
        first, second = math.inf, -math.inf
        first_free = second_free = False
        for slot in range(4):
            i = points[row, slot]
            ux, uy, uz = move_of(moves, i)
            along = ux * nx + uy * ny + uz * nz
            free = i < inverse_mass.shape[0] and inverse_mass[i] > 0.0
            if slot < split:
                first, first_free = min(first, along), first_free or free
            else:
                second, second_free = max(second, along), second_free or free
        room = (1.0 - SEPARATED_DISTANCE) * d
        low, high = 0.5 * (first + second - room), 0.5 * (first + second + room)
        if not first_free:
            high = first + room
        elif not second_free:
            low = second - room
        for slot in range(4):
            i = points[row, slot]
            if i >= inverse_mass.shape[0] or inverse_mass[i] == 0.0:
                continue
            along = moves[i, 0] * nx + moves[i, 1] * ny + moves[i, 2] * nz
            lack = max(low - along, 0.0) if slot < split else min(high - along, 0.0)
            for out in (moves, step):
                out[i, 0] += lack * nx
                out[i, 1] += lack * ny
                out[i, 2] += lack * nz


@inline_kernel
def pair_deviation(arc_deviation, vertex_count, points, row):
    """Bound of how much nearer the sides of a pair come because rigid points move along arcs [m]."""
    total = 0.0
    for slot in range(4):
        point = points[row, slot] - vertex_count
        if 0 <= point < arc_deviation.shape[0]:
            total = max(total, arc_deviation[point])
    return 2.0 * total


@kernel
def admissible_share(x, moves, deviation, points, kind, apex, row, split):
    """Fraction of a step, 0 to 1, up to which the sides of a pair keep KEPT_DISTANCE of their distance."""
    nx, ny, nz, d = direction_between(x, points, kind, row)
    if not d > least_distance(x, points[row, 0]):
        # touching sides have no separating direction, but may separate along a face normal
        return 1.0 if deviation == 0.0 and is_separating(x, moves, points, kind, row, split) else 0.0
    if keeps_gap(x, moves, deviation, points, row, split, nx, ny, nz):
        return 1.0
    if kind[row] == EDGE_EDGE:
        nx, ny, nz, _ = across(x, points[row, 0], points[row, 1], points[row, 2], points[row, 3])
    else:
        nx, ny, nz = unit_normal(x, points[row, 1], points[row, 2], points[row, 3])
    if keeps_gap(x, moves, deviation, points, row, split, nx, ny, nz):
        return 1.0
    if kind[row] == EDGE_EDGE:  # an edge that slides over a surface is separated from its edges by the triangle planes
        for k in range(4):
            if apex[row, k] < 0:
                continue
            nx, ny, nz = unit_normal(x, points[row, k & 2], points[row, (k & 2) + 1], apex[row, k])
            if keeps_gap(x, moves, deviation, points, row, split, nx, ny, nz):
                return 1.0
    most = 1.0
    if deviation > 0.5 * d:  # it falls with the square of the fraction
        most = math.sqrt(0.5 * d / deviation)
        deviation = 0.5 * d
    kept = KEPT_DISTANCE * d + deviation
    speed = relative_speed(moves, points, row, split)
    share = 0.0
    for _ in range(MOST_ADVANCES):
        further = (d - kept) / speed if speed > 0.0 else 1.0
        share += further
        if share >= most:
            return most
        if further < LEAST_ADVANCE:
            break
        d = distance_after(x, moves, share, points, kind, row)
    return share


@inline_kernel
def relative_speed(moves, points, row, split):
    """Bound of the approach of a pair's sides per step [m], without their mean displacement."""
    mx = my = mz = 0.0
    for slot in range(4):
        ux, uy, uz = move_of(moves, points[row, slot])
        mx, my, mz = mx + 0.25 * ux, my + 0.25 * uy, mz + 0.25 * uz
    first = second = 0.0
    for slot in range(4):
        ux, uy, uz = move_of(moves, points[row, slot])
        u = (ux - mx) ** 2 + (uy - my) ** 2 + (uz - mz) ** 2
        if slot < split:
            first = max(first, u)
        else:
            second = max(second, u)
    return math.sqrt(first) + math.sqrt(second)


@inline_kernel
def direction_between(x, points, kind, row):
    """Unit vector from a pair's second side to its first between the closest points, and their distance [m]."""
    if kind[row] == EDGE_EDGE:
        _, _, nx, ny, nz, dd = closest_on_edges_of(x, points[row, 0], points[row, 1], points[row, 2], points[row, 3])
    else:
        nx, ny, nz, dd = closest_on_triangle_of_row(x, points, row)
    d = math.sqrt(dd)
    if d > 0.0:
        return nx / d, ny / d, nz / d, d
    return 0.0, 0.0, 0.0, 0.0


@inline_kernel
def position_after(x, moves, share, point):
    """Position of a point after a fraction of its displacement [m]."""
    ux, uy, uz = move_of(moves, point)
    return x[point, 0] + share * ux, x[point, 1] + share * uy, x[point, 2] + share * uz


@kernel
def distance_after(x, moves, share, points, kind, row):
    """Distance of a pair's sides after a fraction of their displacements [m]."""
    ax, ay, az = position_after(x, moves, share, points[row, 0])
    bx, by, bz = position_after(x, moves, share, points[row, 1])
    cx, cy, cz = position_after(x, moves, share, points[row, 2])
    dx, dy, dz = position_after(x, moves, share, points[row, 3])
    if kind[row] == EDGE_EDGE:
        dd = closest_on_edges(ax, ay, az, bx - ax, by - ay, bz - az, cx, cy, cz, dx - cx, dy - cy, dz - cz)[5]
    else:
        dd = closest_on_triangle(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz)[6]
    return math.sqrt(dd)


@inline_kernel
def extent(x, moves, points, row, split, nx, ny, nz):
    """Least and greatest coordinate along n [m] of a pair's first and second side, each before and after the step."""
    low, high, low_after, high_after = math.inf, -math.inf, math.inf, -math.inf
    bottom, top, bottom_after, top_after = math.inf, -math.inf, math.inf, -math.inf
    for slot in range(4):
        i = points[row, slot]
        before = x[i, 0] * nx + x[i, 1] * ny + x[i, 2] * nz
        ux, uy, uz = move_of(moves, i)
        after = before + ux * nx + uy * ny + uz * nz
        if slot < split:
            low, high = min(low, before), max(high, before)
            low_after, high_after = min(low_after, after), max(high_after, after)
        else:
            bottom, top = min(bottom, before), max(top, before)
            bottom_after, top_after = min(bottom_after, after), max(top_after, after)
    return low, high, low_after, high_after, bottom, top, bottom_after, top_after


@inline_kernel
def keeps_gap(x, moves, deviation, points, row, split, nx, ny, nz):
    """Whether a plane with unit normal n separates a pair along the whole step, with KEPT_DISTANCE of its gap left.

    Along straight paths the gap is a concave function of time, so it suffices to test both ends.
    """
    low, high, low_after, high_after, bottom, top, bottom_after, top_after = extent(
        x, moves, points, row, split, nx, ny, nz
    )
    least = least_distance(x, points[row, 0])
    over, under = low - top, bottom - high
    if over > least and low_after - top_after - deviation >= KEPT_DISTANCE * over:
        return True
    return under > least and bottom_after - high_after - deviation >= KEPT_DISTANCE * under


@inline_kernel
def is_separating(x, moves, points, kind, row, split):
    """Whether touching sides separate along the triangle's normal or that of both edges, up to rounding."""
    if kind[row] == EDGE_EDGE:
        nx, ny, nz, _ = across(x, points[row, 0], points[row, 1], points[row, 2], points[row, 3])
    else:
        nx, ny, nz = unit_normal(x, points[row, 1], points[row, 2], points[row, 3])
    low, high, low_after, high_after, bottom, top, bottom_after, top_after = extent(
        x, moves, points, row, split, nx, ny, nz
    )
    slack = -1e-12 * (abs(low) + abs(high))
    if low - top > slack and low_after - top_after >= 0.0:
        return True
    return bottom - high > slack and bottom_after - high_after >= 0.0
