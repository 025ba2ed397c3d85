"""How far a step may go before a pair meets: additive continuous collision detection (Li et al. 2021, section 5).

The mean displacement of a pair's four points changes no distance and is subtracted first, so bodies that move together
are not braked. What is left bounds how fast the distance d can fall: by no more than l = max |u_i| + max |u_j| per
step, i over the points of one side, j over those of the other. So a share (d - kept) / l of the step is admissible;
from where it leads the distance is measured again, and so on. Most pairs pass a cheaper test: a fixed plane that
separates both ends of the step separates its middle, too.

Rigid points move along arcs. A share s of an arc of angle a and radius r strays from its tangent by at most
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

#: Share of its distance that a pair keeps in a step.
KEPT = 0.1
#: What is left of it where vertices are held back: a little more.
LEFT = 0.12
#: Measurements of a pair's distance along a step; where they end is admissible.
ROUNDS = 32
#: A measurement that leads no farther than this share of the step is the last.
SHORTEST = 1e-3


@kernel
def limit_pairs(
    x, moves, bulge, vertex_count, count, points, kind, apex, side, bodies, distance, island, share, braked
):  # fmt: skip
    """Lower each island's share of the step to what its pairs admit; returns how many pairs admit less than all.

    x: positions [m] of all points; moves: of those that move [m]; bulge: how far each rigid point strays from its
    straight move at most [m]; distance: of each row at x, or less [m]; island: of each moving body; share: output, of
    each island, at its number; braked: output, the rows of those pairs. Rows with side -1 may be crossed: they are on
    their way back.
    """
    found, longest = 0, 0.0
    for i in range(moves.shape[0]):
        longest = max(longest, moves[i, 0] ** 2 + moves[i, 1] ** 2 + moves[i, 2] ** 2)
    longest = 2.0 * math.sqrt(longest)
    for row in range(count):
        if side[row] < 0 or not (kind[row] == POINT_TRIANGLE or kind[row] == EDGE_EDGE):
            continue
        if bulge.shape[0] == 0 and longest < (1.0 - KEPT) * distance[row]:
            continue
        split = 2 if kind[row] == EDGE_EDGE else 1
        strays = stray_of(bulge, vertex_count, points, row)
        room = (1.0 - KEPT) * distance[row] - strays
        if room > 0.0 and closing(moves, points, row, split) < room * room:
            continue
        admitted = admissible_share(x, moves, strays, points, kind, apex, row, split)
        if admitted < 1.0:
            braked[found] = row
            found += 1
            own = root_of(island, min(bodies[row, 0], bodies[row, 1]))  # colliders have the highest numbers
            share[own] = min(share[own], admitted)
    return found


@kernel
def separate(x, moves, step, inverse_mass, rows, count, points, kind):
    """Keep free vertices of rows on their side of the plane between the closest points, of which LEFT is kept.

    `step` and `moves` [m] change alike. Both sides give way alike, or one where the other cannot.
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
        room = (1.0 - LEFT) * d
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
def stray_of(bulge, vertex_count, points, row):
    """How much nearer the sides of a row may come because rigid points move along arcs [m]."""
    total = 0.0
    for slot in range(4):
        point = points[row, slot] - vertex_count
        if 0 <= point < bulge.shape[0]:
            total = max(total, bulge[point])
    return 2.0 * total


@kernel
def admissible_share(x, moves, strays, points, kind, apex, row, split):
    """Share of a step, 0 to 1, after which the sides of a row keep KEPT of their distance, and at every time before."""
    nx, ny, nz, d = direction_between(x, points, kind, row)
    if not d > least_distance(x, points[row, 0]):
        # no direction is known to be safe: parting along the normal of a face is
        return 1.0 if strays == 0.0 and parts(x, moves, points, kind, row, split) else 0.0
    if keeps_gap(x, moves, strays, points, row, split, nx, ny, nz):
        return 1.0
    if kind[row] == EDGE_EDGE:
        nx, ny, nz, _ = across(x, points[row, 0], points[row, 1], points[row, 2], points[row, 3])
    else:
        nx, ny, nz = unit_normal(x, points[row, 1], points[row, 2], points[row, 3])
    if keeps_gap(x, moves, strays, points, row, split, nx, ny, nz):
        return 1.0
    if kind[row] == EDGE_EDGE:  # an edge that slides over a surface passes its edges in the planes of its triangles
        for k in range(4):
            if apex[row, k] < 0:
                continue
            nx, ny, nz = unit_normal(x, points[row, k & 2], points[row, (k & 2) + 1], apex[row, k])
            if keeps_gap(x, moves, strays, points, row, split, nx, ny, nz):
                return 1.0
    most = 1.0
    if strays > 0.5 * d:  # it falls with the square of the share
        most = math.sqrt(0.5 * d / strays)
        strays = 0.5 * d
    kept = KEPT * d + strays
    speed = relative_speed(moves, points, row, split)
    share = 0.0
    for _ in range(ROUNDS):
        further = (d - kept) / speed if speed > 0.0 else 1.0
        share += further
        if share >= most:
            return most
        if further < SHORTEST:
            break
        d = distance_after(x, moves, share, points, kind, row)
    return share


@inline_kernel
def relative_speed(moves, points, row, split):
    """Bound of how fast the sides of a row come nearer, in units of their step [m]; their mean move is subtracted."""
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
    """Unit vector from a row's second side to its first between their closest points, and their distance [m]."""
    if kind[row] == EDGE_EDGE:
        _, _, nx, ny, nz, dd = closest_on_edges_of(x, points[row, 0], points[row, 1], points[row, 2], points[row, 3])
    else:
        nx, ny, nz, dd = closest_on_triangle_of_row(x, points, row)
    d = math.sqrt(dd)
    if d > 0.0:
        return nx / d, ny / d, nz / d, d
    return 0.0, 0.0, 0.0, 0.0


@inline_kernel
def place(x, moves, share, point):
    """Where a point is after a share of its move [m]."""
    ux, uy, uz = move_of(moves, point)
    return x[point, 0] + share * ux, x[point, 1] + share * uy, x[point, 2] + share * uz


@kernel
def distance_after(x, moves, share, points, kind, row):
    """Distance of a row's sides after a share of their moves [m]."""
    ax, ay, az = place(x, moves, share, points[row, 0])
    bx, by, bz = place(x, moves, share, points[row, 1])
    cx, cy, cz = place(x, moves, share, points[row, 2])
    dx, dy, dz = place(x, moves, share, points[row, 3])
    if kind[row] == EDGE_EDGE:
        dd = closest_on_edges(ax, ay, az, bx - ax, by - ay, bz - az, cx, cy, cz, dx - cx, dy - cy, dz - cz)[5]
    else:
        dd = closest_on_triangle(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz)[6]
    return math.sqrt(dd)


@inline_kernel
def extent(x, moves, points, row, split, nx, ny, nz):
    """Lowest and highest place along a unit vector [m] of a row's first side and of its second, before and after."""
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
def keeps_gap(x, moves, strays, points, row, split, nx, ny, nz):
    """Whether a plane with unit normal n separates the sides of a row, and keeps KEPT of their gap, all along a step.

    Along straight moves the gap is a concave function of time, so its ends tell.
    """
    low, high, low_after, high_after, bottom, top, bottom_after, top_after = extent(
        x, moves, points, row, split, nx, ny, nz
    )
    least = least_distance(x, points[row, 0])
    over, under = low - top, bottom - high
    if over > least and low_after - top_after - strays >= KEPT * over:
        return True
    return under > least and bottom_after - high_after - strays >= KEPT * under


@inline_kernel
def parts(x, moves, points, kind, row, split):
    """Whether sides that touch part along the normal of the triangle, or across both edges; rounding is no crossing."""
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
