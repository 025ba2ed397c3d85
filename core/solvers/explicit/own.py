"""Which parts of a closed skin can be in contact with the skin itself: a proof that excludes most of it from the
search.

Let c be a point off a closed surface that does not cross itself, with the topology of a sphere. The surface winds once
around c, or not at all: along every ray from c, the triangles that face away from c outnumber those that face towards
it by one, or by none. So two triangles that both face away can only lie on one ray where a third one faces towards c.
Rays that meet no triangle that faces towards c, for the whole of an epoch, meet the surface once, so the triangles they
meet have no self-contact. An inflated body has no such triangle at all, or a few where it is dented (where all face
away it is star-shaped; Preparata and Shamos 1985, 7.2.6). And where two triangles that face away come together, the
third one is between them, so it touches both: only pairs with one that may face towards c are searched.

A triangle faces away for the epoch if it does so in the middle of it by more than its motion can change. Six times the
volume of its tetrahedron with c loses at most t |n| where it moves by t as a whole (n: twice its area), and 3 s times
the longest distance from c times its longest side where its corners move by s besides.
"""

from ...jit import lean_inline_kernel, lean_kernel
from ...simd import any_larger, dot, lane, larger, load4, root, smaller, spread, store4, sum_spread, transposed
from ...team import claim, done, finish, hand_out
from ...tiny import TINY
from .arrays import MARGINS, patches_of

#: Least margin of the proof that is used, as a share of the distance that a body keeps from itself.
LEAST_MARGIN = 0.5
#: Expected deviation as a share of the slack: a smaller margin would not last for the epoch.
EXPECTED_SHARE = 0.5
#: Allowed deviation of points, as a share of the margin.
MARGIN_SHARE = 0.8
#: Farther than all contacts [m].
FAR = 1e30


@lean_inline_kernel
def apart(low, high, other_low, other_high):
    """Whether two boxes (minus the lower corner, upper corner) do not meet."""
    return any_larger(-low, other_high) or any_larger(-other_low, high)


@lean_inline_kernel
def corners_of(x, triangle, t, k):
    """Corner k of the four triangles t: x, y, z in lanes."""
    x0, y0, z0, _ = transposed(
        load4(x, 4 * triangle[3 * t[0] + k]), load4(x, 4 * triangle[3 * t[1] + k]),
        load4(x, 4 * triangle[3 * t[2] + k]), load4(x, 4 * triangle[3 * t[3] + k]),
    )  # fmt: skip
    return x0, y0, z0


@lean_inline_kernel
def least_margin(first, last, triangle, x, flight, half, moved, far):
    """How far [m] corners of the triangles first .. last - 1 may stray before one can face towards the origin of x.

    `half`: half of the epoch [s]; `moved`: the longest way of a point in it [m]; `far`: the longest distance of a
    corner from the origin, at any time [m].
    """
    least = spread(FAR)
    for q in range(first, last, 4):
        end = last - 1
        t = (q, min(q + 1, end), min(q + 2, end), min(q + 3, end))
        ax, ay, az = corners_of(x, triangle, t, 0)
        bx, by, bz = corners_of(x, triangle, t, 1)
        cx, cy, cz = corners_of(x, triangle, t, 2)
        ux, uy, uz = bx - ax, by - ay, bz - az
        wx, wy, wz = cx - ax, cy - ay, cz - az
        nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
        volume = ax * nx + ay * ny + az * nz
        volume = volume - root(nx * nx + ny * ny + nz * nz) * moved
        dx, dy, dz = wx - ux, wy - uy, wz - uz
        long2 = larger(larger(ux * ux + uy * uy + uz * uz, wx * wx + wy * wy + wz * wz), dx * dx + dy * dy + dz * dz)
        # velocities of the second and third corner relative to the first
        ax, ay, az = corners_of(flight, triangle, t, 0)
        bx, by, bz = corners_of(flight, triangle, t, 1)
        cx, cy, cz = corners_of(flight, triangle, t, 2)
        ux, uy, uz = bx - ax, by - ay, bz - az
        wx, wy, wz = cx - ax, cy - ay, cz - az
        apart2 = larger(ux * ux + uy * uy + uz * uz, wx * wx + wy * wy + wz * wz)
        least = smaller(least, volume / (root(long2) * (3.0 * far) + TINY) - root(apart2) * half)
    return min(min(lane(least, 0), lane(least, 1)), min(lane(least, 2), lane(least, 3)))


@lean_inline_kernel
def find_margins(group, middle, flight, boxes):
    """Margins of the patches of a group."""
    patches, half, moved, far = boxes.patches, boxes.middle[0], boxes.middle[1], boxes.middle[2]
    first, last = patches_of(boxes, group)
    for patch in range(first, last):
        boxes.margin[patch] = MARGIN_SHARE * least_margin(
            patches.triangle_start[patch], patches.triangle_start[patch + 1], patches.triangle, middle, flight, half,
            moved, far,
        )  # fmt: skip


@lean_kernel
def find_suspects(body, time, middle, bodies, points, boxes, team):
    """Whether any patch of a body may touch the body within a time [s] of its predicted flight; marks those that
    may.

    Lowers the slack of the patches to the margins of the proof. `middle`: scratch, flat, a row per point.
    """
    first, last = bodies.point_start[body], bodies.point_start[body + 1]
    patches, suspect = boxes.patches, boxes.suspect
    begin, end = patches.body_start[body], patches.body_start[body + 1]
    centre, drift = spread(0.0), spread(0.0)
    for i in range(4 * first, 4 * last, 4):
        centre = centre + load4(points.start, i)
        drift = drift + load4(points.flight, i)
    share = 1.0 / (last - first)
    centre, drift = centre * share, drift * share
    half = 0.5 * time
    moved2, far2, near2 = 0.0, 0.0, FAR
    for i in range(4 * first, 4 * last, 4):
        move = (load4(points.flight, i) - drift) * half
        here = load4(points.start, i) - centre + move
        store4(middle, i, here)
        moved2 = max(moved2, dot(move, move))
        distance2 = dot(here, here)
        far2, near2 = max(far2, distance2), min(near2, distance2)
    moved, far, near = moved2**0.5, far2**0.5, near2**0.5
    boxes.middle[0], boxes.middle[1], boxes.middle[2] = half, moved, far + moved
    groups = boxes.groups
    hand_out(team, MARGINS, groups.body_start[body], groups.body_start[body + 1])
    _, block = claim(team, 0)
    while block >= 0:
        find_margins(block, middle, points.flight, boxes)
        done(team, 0)
        _, block = claim(team, 0)
    finish(team)
    least = LEAST_MARGIN * bodies.own_thickness[body]
    bad = 0
    for patch in range(begin, end):
        margin = boxes.margin[patch]
        corners, slack = range(patches.corner_start[patch], patches.corner_start[patch + 1]), 0.0
        for q in corners:
            slack = max(slack, points.slack[patches.corner[q] >> 2])
        suspect[patch] = 2 if margin < max(least, EXPECTED_SHARE * slack) else 0
        if suspect[patch] == 0:
            for q in corners:
                i = patches.corner[q] >> 2
                points.slack[i] = min(points.slack[i], margin)
        bad += suspect[patch] > 0
    for patch in range(begin, end):
        for i in range(patches.vertex_start[patch], patches.vertex_end[patch]):
            boxes.slack[patch] = min(boxes.slack[patch], points.slack[i])
    if bad == 0:
        return False
    slack = 0.0
    for patch in range(begin, end):
        slack = max(slack, boxes.slack[patch])
    # a triangle may come nearer to c than its corners, by its longest side at most; the patches' boxes bound that
    if near <= 2.0 * (moved + slack):
        for patch in range(begin, end):
            suspect[patch] = 2
        return True
    spread_of_rays(begin, end, (moved + slack) / near, middle, boxes)
    for group in range(groups.body_start[body], groups.body_start[body + 1]):
        group_end = min(groups.start[group + 1], end)
        low, high = spread(-FAR), spread(-FAR)
        for patch in range(groups.start[group], group_end):
            if suspect[patch] == 2:
                low, high = larger(low, load4(boxes.low, 4 * patch)), larger(high, load4(boxes.high, 4 * patch))
        if lane(high, 0) == -FAR:
            continue
        for patch in range(begin, end):
            if suspect[patch] == 0 and not apart(low, high, load4(boxes.low, 4 * patch), load4(boxes.high, 4 * patch)):
                suspect[patch] = 1
    spread_to_neighbours(begin, end, first, last, points, boxes)
    return True


@lean_kernel
def spread_to_neighbours(begin, end, first, last, points, boxes):
    """Mark the patches that own corners and edges of triangles that may face towards the origin."""
    patches, suspect, stamp = boxes.patches, boxes.suspect, points.stamp
    for i in range(first, last):
        stamp[i] = 0
    for patch in range(begin, end):
        if suspect[patch] == 2:
            for q in range(patches.corner_start[patch], patches.corner_start[patch + 1]):
                stamp[patches.corner[q] >> 2] = 1
    for patch in range(begin, end):
        if suspect[patch] == 1:
            for q in range(patches.corner_start[patch], patches.corner_start[patch + 1]):
                suspect[patch] += stamp[patches.corner[q] >> 2] * (2 - suspect[patch])


@lean_kernel
def spread_of_rays(begin, end, pad, x, boxes):
    """Boxes around the directions from the origin of x to the patches, widened by `pad`, into the patches' boxes.

    Between its corners the directions of a triangle leave their box by at most half the square of their spread.
    """
    patches = boxes.patches
    for patch in range(begin, end):
        low, high = spread(-FAR), spread(-FAR)
        for q in range(patches.corner_start[patch], patches.corner_start[patch + 1]):
            here = load4(x, patches.corner[q])
            ray = here / root(sum_spread(here * here) + TINY)
            low, high = larger(low, -ray), larger(high, ray)
        wide = low + high
        bulge = pad + 0.5 * dot(wide, wide)
        store4(boxes.low, 4 * patch, low + bulge)
        store4(boxes.high, 4 * patch, high + bulge)
