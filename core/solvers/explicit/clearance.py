"""Distances that a skin has from itself at the start of a run: of neighbouring patches, for the proof of `shape.py`;
and of contacts, which keep no more than a share of them.
"""

from ...contact.kept_distance import REST_SHARE
from ...contact.narrow_phase.closest_points import closest_on_edges, closest_on_triangle
from ...jit import lean_inline_kernel, lean_kernel
from .carried import pair_of
from .closest import near_edges, near_triangles
from .own import FAR
from .shape import LEAST_SHARE


@lean_kernel
def measure_clearance(shape, patches, corner_candidates, side_candidates, corners, sides, still):
    """Fill in the clearance; `still`: zeros, flat, a row per point. Candidates and contacts are scratch."""
    triangle, edge = patches.triangle, patches.edge
    for P in range(shape.start.shape[0] - 1):
        for place in range(shape.start[P], shape.start[P + 1]):
            Q = shape.other[place]
            count = 0
            for turn in range(1 if P == Q else 2):
                one, other = (P, Q) if turn == 0 else (Q, P)
                for i in range(patches.vertex_start[one], patches.vertex_end[one]):
                    for t in range(3 * patches.triangle_start[other], 3 * patches.triangle_start[other + 1], 3):
                        j, k, m = triangle[t], triangle[t + 1], triangle[t + 2]
                        if i != j and i != k and i != m:
                            note(corner_candidates, count, i, j, k, m)
                            count += 1
            near_triangles(shape.rest, still, corner_candidates, count, 0.0, corners)
            least = FAR
            for c in range(count):
                least = min(least, corners.gap[4 * c])
            count = 0
            for e in range(2 * patches.edge_start[P], 2 * patches.edge_start[P + 1], 2):
                i, j = edge[e], edge[e + 1]
                for f in range(2 * patches.edge_start[Q], 2 * patches.edge_start[Q + 1], 2):
                    k, m = edge[f], edge[f + 1]
                    if i != k and i != m and j != k and j != m:
                        note(side_candidates, count, i, j, k, m)
                        count += 1
            near_edges(shape.rest, still, side_candidates, count, 0.0, sides)
            for c in range(count):
                least = min(least, sides.gap[4 * c])
            shape.clearance[place] = least


@lean_inline_kernel
def note(candidates, place, i, j, k, m):
    """Write a candidate whose slack excludes nothing."""
    points = candidates.points
    points[4 * place], points[4 * place + 1], points[4 * place + 2], points[4 * place + 3] = 4 * i, 4 * j, 4 * k, 4 * m
    candidates.slack[place], candidates.reach[place] = FAR, 0.0


@lean_kernel
def keep_what_is_drawn(contact):
    """Let contacts of a body with itself keep no more than a share of what they are apart at rest [m]."""
    rest = contact.boxes.shape.rest
    for kind, contacts in enumerate((contact.corners, contact.sides)):
        for c in range(contact.run.found[2 + kind]):
            a, b = pair_of(contact, contacts, c)
            if a != b:
                continue
            i, j = contacts.points[4 * c], contacts.points[4 * c + 1]
            k, m = contacts.points[4 * c + 2], contacts.points[4 * c + 3]
            px, py, pz = rest[i], rest[i + 1], rest[i + 2]
            ax, ay, az = rest[j], rest[j + 1], rest[j + 2]
            bx, by, bz = rest[k], rest[k + 1], rest[k + 2]
            cx, cy, cz = rest[m], rest[m + 1], rest[m + 2]
            if kind == 1:
                found = closest_on_edges(px, py, pz, ax - px, ay - py, az - pz, bx, by, bz, cx - bx, cy - by, cz - bz)
                square = found[5]
            else:
                square = closest_on_triangle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz)[6]
            reach = contacts.reach[c]
            contacts.reach[c] = min(reach, max(REST_SHARE * square**0.5, LEAST_SHARE * reach))
