"""Contacts of the pairs of points and triangles that the broad phase has found."""

from ...jit import kernel
from ..contacts import RIGHT_SIDE, WRONG_SIDE


@kernel
def write_contacts(
    pairs, triangles, triangle_body, point_body, thickness, listed_start, listed_body, listed_facing,
    out_points, out_triangle, out_bodies, out_thickness, out_side, out_facing,
):  # fmt: skip
    """Write a row for each pair of a point and a triangle; `out_facing` is 0 for points that are not listed."""
    for row in range(pairs.shape[0]):
        point, triangle = pairs[row, 0], pairs[row, 1]
        body, other = point_body[point], triangle_body[triangle]
        out_triangle[row] = triangle
        out_points[row, 0] = point
        for corner in range(3):
            out_points[row, corner + 1] = triangles[triangle, corner]
        out_bodies[row, 0], out_bodies[row, 1] = body, other
        out_thickness[row] = thickness[body] + thickness[other]
        out_facing[row] = 0
        for k in range(listed_start[point], listed_start[point + 1]):
            if listed_body[k] == other:
                out_facing[row] = listed_facing[k]
        out_side[row] = RIGHT_SIDE if out_facing[row] == 0 else WRONG_SIDE
