"""Broad phase of vertices against triangles."""

from ...jit import kernel
from ..contacts import POINT_TRIANGLE, RIGHT_SIDE, WRONG_SIDE
from ..mixing import mixed_kernel
from ..narrow_phase.closest_points import closest_on_triangle_of
from ..narrow_phase.nearest_triangle import choose_exit


@kernel
def find_pairs(
    x, triangles, margin, points, group_start, group_body, group_box, partner_start, partner,
    triangle_order, triangle_start, node_start, depth, box,
    listed_start, listed_body, listed_facing, listed_direction, stack, found,
):  # fmt: skip
    """All pairs of a point and a triangle that are closer than the margins of both bodies, unsorted.

    Returns their number, which may exceed the room in `found`. A listed (point, body) has its exit triangle instead of
    its ordinary pairs.
    """
    count = 0
    for group in range(group_body.shape[0]):
        begin, end = group_start[group], group_start[group + 1]
        body = group_body[group]
        listed = False
        for place in range(begin, end):
            point = points[place]
            for k in range(listed_start[point], listed_start[point + 1]):
                if listed_body[k] == body:
                    continue  # `self_exits`
                listed = True
                triangle = choose_exit(
                    x, point, listed_body[k], listed_facing[k], listed_direction[k], triangles, triangle_order,
                    triangle_start, node_start, depth, box, stack,
                )  # fmt: skip
                if count < found.shape[0]:
                    found[count, 0], found[count, 1] = point, triangle
                count += 1
        for entry in range(partner_start[body], partner_start[body + 1]):
            other = partner[entry]
            levels = depth[other]
            if levels < 0:
                continue
            radius = margin[body] + margin[other]
            lx, ly, lz = group_box[group, 0] - radius, group_box[group, 1] - radius, group_box[group, 2] - radius
            ux, uy, uz = group_box[group, 3] + radius, group_box[group, 4] + radius, group_box[group, 5] + radius
            base, first = node_start[other], triangle_start[other]
            size = triangle_start[other + 1] - first
            leaves = 1 << levels
            stack[0] = 0
            waiting = 1
            while waiting > 0:
                waiting -= 1
                node = stack[waiting]
                row = base + node
                if (
                    box[row, 0] > ux or box[row, 3] < lx
                    or box[row, 1] > uy or box[row, 4] < ly
                    or box[row, 2] > uz or box[row, 5] < lz
                ):  # fmt: skip
                    continue
                if node < leaves - 1:
                    stack[waiting] = 2 * node + 1
                    stack[waiting + 1] = 2 * node + 2
                    waiting += 2
                    continue
                leaf = node - leaves + 1
                for spot in range(first + leaf * size // leaves, first + (leaf + 1) * size // leaves):
                    triangle = triangle_order[spot]
                    a, b, c = triangles[triangle, 0], triangles[triangle, 1], triangles[triangle, 2]
                    tlx, tux = min(x[a, 0], x[b, 0], x[c, 0]), max(x[a, 0], x[b, 0], x[c, 0])
                    tly, tuy = min(x[a, 1], x[b, 1], x[c, 1]), max(x[a, 1], x[b, 1], x[c, 1])
                    tlz, tuz = min(x[a, 2], x[b, 2], x[c, 2]), max(x[a, 2], x[b, 2], x[c, 2])
                    if tlx > ux or tux < lx or tly > uy or tuy < ly or tlz > uz or tuz < lz:
                        continue
                    tlx, tly, tlz = tlx - radius, tly - radius, tlz - radius
                    tux, tuy, tuz = tux + radius, tuy + radius, tuz + radius
                    for place in range(begin, end):
                        point = points[place]
                        px, py, pz = x[point, 0], x[point, 1], x[point, 2]
                        if px < tlx or px > tux or py < tly or py > tuy or pz < tlz or pz > tuz:
                            continue
                        skip = False
                        if listed:
                            for k in range(listed_start[point], listed_start[point + 1]):
                                skip = skip or listed_body[k] == other
                        if skip:
                            continue
                        if closest_on_triangle_of(x, point, triangles, triangle)[6] <= radius * radius:
                            if count < found.shape[0]:
                                found[count, 0], found[count, 1] = point, triangle
                            count += 1
    return count


@kernel
def write_contacts(
    pairs, triangles, triangle_body, point_body, thickness, friction, listed_start, listed_body, listed_facing,
    out_points, out_kind, out_triangle, out_bodies, out_thickness, out_friction, out_side, out_facing,
):  # fmt: skip
    """Write a row for each pair of a point and a triangle; `out_facing` is 0 for points that are not listed."""
    for row in range(pairs.shape[0]):
        point, triangle = pairs[row, 0], pairs[row, 1]
        body, other = point_body[point], triangle_body[triangle]
        out_kind[row], out_triangle[row] = POINT_TRIANGLE, triangle
        out_points[row, 0] = point
        for corner in range(3):
            out_points[row, corner + 1] = triangles[triangle, corner]
        out_bodies[row, 0], out_bodies[row, 1] = body, other
        out_thickness[row] = thickness[body] + thickness[other]
        out_friction[row] = mixed_kernel(friction[body], friction[other])
        out_facing[row] = 0
        for k in range(listed_start[point], listed_start[point + 1]):
            if listed_body[k] == other:
                out_facing[row] = listed_facing[k]
        out_side[row] = RIGHT_SIDE if out_facing[row] == 0 else WRONG_SIDE
