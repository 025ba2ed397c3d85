"""Narrow phase of edges of rigid bodies against edges of colliders: gap, normal, weights and contact weight.

Surfaces are kept apart by vertices against triangles. These miss two sharp edges that cross. So an edge pair is a
contact only if

* the closest points lie inside both edges, which are not parallel: otherwise a vertex touches;
* the direction to the other edge leaves both surfaces: it points into neither of the two triangles at each edge (the
  feature blocks of Offset Geometric Contact, Chen et al. 2025);
* each edge protrudes from its surface: flat edges, which only divide a surface into triangles, are no contacts.

The result is a weight of the contact, 0 to 1.
"""

import math

from ...jit import inline_kernel, kernel
from .closest_points import closest_on_edges_of

#: Protrusion of an edge from its triangles for a contact weight of 0.5 [thickness]. Below, the ends of the other edge
#: are as near to them as the edge itself.
LEAST_PROTRUSION = 0.15
#: Sine of the angle (6 degrees) by which the direction to the other edge may point into a triangle [1]: edges of boxes
#: whose faces lie on each other cross as well.
LEAN = 0.1
#: Part of an edge at its ends over which the contact weight falls to 0 [1]: there the vertex takes over.
NEAR_END = 0.02
#: Squared sine below which two edges are parallel [1].
PARALLEL = 1e-6


@kernel
def evaluate_edges(x, pairs):
    """Write weights, normals, distances, gaps and target weights of the pairs of edges."""
    points, thickness = pairs.points, pairs.thickness
    for row in range(pairs.edge_start, points.shape[0]):
        s, t, nx, ny, nz = measure_edges(x, points, pairs.apex, row, pairs.weights, pairs.normal, pairs.distance)
        weight = 0.0
        if pairs.side[row] > 0 and s > 0.0 and s < 1.0 and t > 0.0 and t < 1.0:
            weight = wanted_weight(x, points, pairs.apex, row, nx, ny, nz, thickness[row])
            weight *= min(1.0, min(min(s, 1.0 - s), min(t, 1.0 - t)) / NEAR_END)
        pairs.target_weight[row], pairs.gap[row] = weight, pairs.distance[row]


@inline_kernel
def measure_edges(x, points, apex, row, weights, normal, distance):
    """Write weights, normal and distance of a row; returns the parameters of the closest points and the normal."""
    p, p_end, q, q_end = points[row, 0], points[row, 1], points[row, 2], points[row, 3]
    s, t, vx, vy, vz, dd = closest_on_edges_of(x, p, p_end, q, q_end)
    d = math.sqrt(dd)
    # The direction of a vector shorter than this is rounding.
    if d > 1e-14 * (abs(x[p, 0]) + abs(x[p, 1]) + abs(x[p, 2])):
        nx, ny, nz = vx / d, vy / d, vz / d
    else:
        nx, ny, nz, _ = across(x, p, p_end, q, q_end)
        if protrusion(x, points, apex, row, 0, nx, ny, nz)[1] > LEAN:
            nx, ny, nz = -nx, -ny, -nz
    weights[row, 0], weights[row, 1], weights[row, 2], weights[row, 3] = 1.0 - s, s, t - 1.0, -t
    normal[row, 0], normal[row, 1], normal[row, 2] = nx, ny, nz
    distance[row] = d
    return s, t, nx, ny, nz


@inline_kernel
def across(x, p, p_end, q, q_end):
    """Unit normal of two edges and the squared sine of their angle; +z and 0 where they are parallel."""
    ex, ey, ez = x[p_end, 0] - x[p, 0], x[p_end, 1] - x[p, 1], x[p_end, 2] - x[p, 2]
    fx, fy, fz = x[q_end, 0] - x[q, 0], x[q_end, 1] - x[q, 1], x[q_end, 2] - x[q, 2]
    nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    nn = nx * nx + ny * ny + nz * nz
    both = (ex * ex + ey * ey + ez * ez) * (fx * fx + fy * fy + fz * fz)
    if not nn > 0.0:
        return 0.0, 0.0, 1.0, 0.0
    length = math.sqrt(nn)
    return nx / length, ny / length, nz / length, nn / both


@inline_kernel
def wanted_weight(x, points, apex, row, nx, ny, nz, thickness):
    """Target contact weight of a row with interior closest points, 0 to 1; n is its normal."""
    if across(x, points[row, 0], points[row, 1], points[row, 2], points[row, 3])[3] < PARALLEL:
        return 0.0
    bulge, lean = protrusion(x, points, apex, row, 0, nx, ny, nz)
    other, other_lean = protrusion(x, points, apex, row, 1, -nx, -ny, -nz)
    clear = min(2.0 - 2.0 * max(lean, other_lean) / LEAN, 1.0)  # less from half of LEAN on
    if clear <= 0.0:
        return 0.0
    # from half of LEAST_PROTRUSION to one and a half
    first = min(max(bulge / (LEAST_PROTRUSION * thickness) - 0.5, 0.0), 1.0)
    second = min(max(other / (LEAST_PROTRUSION * thickness) - 0.5, 0.0), 1.0)
    return clear * min(first, second)


@inline_kernel
def protrusion(x, points, apex, row, edge, nx, ny, nz):
    """Protrusion [m] of the row's first (0) or second (1) edge along -n from its two triangles; infinite at a border.

    And the sine of the angle by which -n points into one of them.
    """
    p, p_end = points[row, 2 * edge], points[row, 2 * edge + 1]
    ex, ey, ez = x[p_end, 0] - x[p, 0], x[p_end, 1] - x[p, 1], x[p_end, 2] - x[p, 2]
    ee = ex * ex + ey * ey + ez * ez
    slope = 0.0
    width = math.inf
    border = False
    lean = 0.0
    for k in range(2):
        c = apex[row, 2 * edge + k]
        if c < 0:
            border = True
            continue
        # across the edge, to the corner opposite
        cx, cy, cz = x[c, 0] - x[p, 0], x[c, 1] - x[p, 1], x[c, 2] - x[p, 2]
        along = (cx * ex + cy * ey + cz * ez) / ee
        cx, cy, cz = cx - along * ex, cy - along * ey, cz - along * ez
        length = math.sqrt(cx * cx + cy * cy + cz * cz)
        height = nx * cx + ny * cy + nz * cz
        if length > 0.0:
            lean = max(lean, -height / length)
            slope += 0.5 * height / length
        width = min(width, length)
    return math.inf if border else max(0.0, slope * width), lean
