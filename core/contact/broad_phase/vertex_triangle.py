"""Broad phase of vertices against triangles."""

from ...jit import kernel
from ..contacts import POINT_TRIANGLE, RIGHT_SIDE, WRONG_SIDE
from ..mixing import mixed_kernel
from ..narrow_phase.closest_points import closest_on_triangle_of
from ..narrow_phase.nearest_triangle import choose_exit


@kernel
def find_pairs(
    x, triangles, margin, points, group_start, group_body, group_box, chunk_start, chunk_order,
    partner_start, partner, triangle_order, triangle_start, node_start, depth, box,
    listed_start, listed_body, listed_facing, listed_direction, stacks,
    region_start, found_point, found_triangle, found_facing, found_count, point_count,
):  # fmt: skip
    """All pairs of a point and a triangle that are closer than the margins of both bodies.

    Chunk c writes to places region_start[c] .. of the found arrays, found_facing 0 for ordinary pairs;
    found_count[c] may exceed the room. point_count[p] is the number of pairs of point p. A listed (point, body) has its
    exit triangle instead of its ordinary pairs.
    """
    for index in range(chunk_order.shape[0]):
        chunk = chunk_order[index]
        stack = stacks[chunk]
        room = region_start[chunk + 1]
        out = region_start[chunk]
        for group in range(chunk_start[chunk], chunk_start[chunk + 1]):
            begin, end = group_start[group], group_start[group + 1]
            body = group_body[group]
            listed = False
            for place in range(begin, end):
                point = points[place]
                point_count[point] = 0
                for k in range(listed_start[point], listed_start[point + 1]):
                    if listed_body[k] == body:
                        continue  # `self_exits`
                    listed = True
                    triangle = choose_exit(
                        x, point, listed_body[k], listed_facing[k], listed_direction[k], triangles, triangle_order,
                        triangle_start, node_start, depth, box, stack,
                    )  # fmt: skip
                    point_count[point] += 1
                    if out < room:
                        found_point[out], found_triangle[out], found_facing[out] = point, triangle, listed_facing[k]
                    out += 1
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
                                point_count[point] += 1
                                if out < room:
                                    found_point[out], found_triangle[out], found_facing[out] = point, triangle, 0
                                out += 1
        found_count[chunk] = out - region_start[chunk]


@kernel
def add_counts(pairs, point_count):
    """Add (point, triangle) pairs of self-contact to the counts."""
    for k in range(pairs.shape[0]):
        point_count[pairs[k, 0]] += 1


@kernel
def place_rows(pairs, facing, cursor, out_triangle, out_facing):
    """Place (point, triangle) pairs of self-contact, and their facing, first among the rows of their points."""
    for k in range(pairs.shape[0]):
        row = cursor[pairs[k, 0]]
        cursor[pairs[k, 0]] += 1
        out_triangle[row] = pairs[k, 1]
        out_facing[row] = facing[k]


@kernel
def start_rows(point_count, cursor):
    """First row of each point; returns the number of rows."""
    total = 0
    for point in range(point_count.shape[0]):
        cursor[point] = total
        total += point_count[point]
    return total


@kernel
def write_contacts(
    triangles, triangle_body, thickness, friction, points, group_start, group_body, chunk_start,
    chunk_order, region_start, found_count, found_point, found_triangle, found_facing, cursor, point_count,
    out_points, out_kind, out_triangle, out_bodies, out_thickness, out_friction, out_side, out_facing,
):  # fmt: skip
    """Write rows sorted by (point, triangle); a point's rows are written by its chunk alone."""
    for index in range(chunk_order.shape[0]):
        chunk = chunk_order[index]
        for k in range(region_start[chunk], region_start[chunk] + found_count[chunk]):
            row = cursor[found_point[k]]
            cursor[found_point[k]] += 1
            out_triangle[row] = found_triangle[k]
            out_facing[row] = found_facing[k]
        for place in range(group_start[chunk_start[chunk]], group_start[chunk_start[chunk + 1]]):
            point = points[place]
            last = cursor[point]
            first = last - point_count[point]
            if first == last:
                continue
            sort_rows(first, last, out_triangle, out_facing)
            body = group_body[chunk_start[chunk]]
            for row in range(first, last):
                triangle = out_triangle[row]
                other = triangle_body[triangle]
                out_kind[row] = POINT_TRIANGLE
                out_points[row, 0] = point
                for corner in range(3):
                    out_points[row, corner + 1] = triangles[triangle, corner]
                out_bodies[row, 0], out_bodies[row, 1] = body, other
                out_thickness[row] = thickness[body] + thickness[other]
                out_friction[row] = mixed_kernel(friction[body], friction[other])
                out_side[row] = RIGHT_SIDE if out_facing[row] == 0 else WRONG_SIDE


@kernel
def sort_rows(first, last, triangle, facing):
    """Shell sort of rows first .. last - 1 by triangle: fast for short runs, correct for any length."""
    step = (last - first) // 2
    while step > 0:
        for row in range(first + step, last):
            key, value = triangle[row], facing[row]
            spot = row
            while spot - step >= first and triangle[spot - step] > key:
                triangle[spot], facing[spot] = triangle[spot - step], facing[spot - step]
                spot -= step
            triangle[spot], facing[spot] = key, value
        step //= 2
