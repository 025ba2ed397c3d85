"""Move vertices: tangentially to the middle of the faces around them, then along the normal to fit the samples."""

import numpy as np

from ..jit import lean_kernel
from .flip import BAD, MOST_TURN
from .guard import enter, list_faces_by_cells, would_cross
from .samples import AGREEING, NO_BOUND, TOLERANCE, commit, gather, hand_over
from .surface import LARGEST_RING, dot_rows, following, preceding, ring_of, set_normal, sharp_edge_count

#: Weight of a vertex's own distance from the drawn surface against the distances of samples: without it, spikes.
OWN_WEIGHT = 0.1
#: Farthest a vertex moves along its normal at once, in wanted edge lengths.
FARTHEST = 0.3


@lean_kernel
def move_vertices(m, samples, lines, s, first, last, rate):
    """Move vertices first .. last - 1. `rate`: share of the way to the middle."""
    list_faces_by_cells(m)
    for v in range(first, last):
        if m.outgoing[v] >= 0 and m.valence[v] <= LARGEST_RING:
            sharp = sharp_edge_count(m, v)
            if sharp == 0:
                move(m, samples, lines, s, v, rate, False)
            elif sharp == 2:
                move(m, samples, lines, s, v, rate, True)


@lean_kernel
def move(m, samples, lines, s, v, rate, is_on_line):
    """Move one vertex as far as shapes and samples allow; along the sharp line it is on, if it is on one."""
    n = ring_of(m, v, s.ring_a)
    x0, x1, x2 = m.x[v, 0], m.x[v, 1], m.x[v, 2]
    gx = gy = gz = nx = ny = nz = total = lx = ly = lz = 0.0
    worst = 1.0
    for i in range(n):
        h = s.ring_a[i]
        s.faces[i] = h // 3
        p, q = m.origin[following(h)], m.origin[preceding(h)]
        for k in range(3):
            s.corners[i, k] = m.origin[3 * (h // 3) + k]
        worst = min(worst, set_normal(m.x, s.corners[i, 0], s.corners[i, 1], s.corners[i, 2], s.old, i))
        ux, uy, uz = m.x[p, 0] - x0, m.x[p, 1] - x1, m.x[p, 2] - x2
        vx, vy, vz = m.x[q, 0] - x0, m.x[q, 1] - x1, m.x[q, 2] - x2
        area = np.sqrt((uy * vz - uz * vy) ** 2 + (uz * vx - ux * vz) ** 2 + (ux * vy - uy * vx) ** 2)
        gx += area * (ux + vx) / 3.0
        gy += area * (uy + vy) / 3.0
        gz += area * (uz + vz) / 3.0
        nx += area * s.old[i, 0]
        ny += area * s.old[i, 1]
        nz += area * s.old[i, 2]
        total += area
        if m.sharp[h]:
            lx += 0.5 * ux
            ly += 0.5 * uy
            lz += 0.5 * uz
    scale = 1.0 / max(np.sqrt(nx * nx + ny * ny + nz * nz), 1e-30)
    nx, ny, nz = scale * nx, scale * ny, scale * nz
    if is_on_line:
        gx, gy, gz = lx, ly, lz
    else:
        gx, gy, gz = gx / max(total, 1e-30), gy / max(total, 1e-30), gz / max(total, 1e-30)
        along = gx * nx + gy * ny + gz * nz
        gx, gy, gz = gx - along * nx, gy - along * ny, gz - along * nz
    gathered = gather(m, s, n)
    line = m.line[v]
    for trial in range(3 if is_on_line else 4):
        share = rate if trial == 0 else (0.5 * rate if trial == 1 else (0.2 * rate if trial == 2 else 0.0))
        m.x[v, 0], m.x[v, 1], m.x[v, 2] = x0 + share * gx, x1 + share * gy, x2 + share * gz
        if is_on_line:
            m.line[v] = to_line(m, lines, v, line)
        for i in range(n):
            set_normal(m.x, s.corners[i, 0], s.corners[i, 1], s.corners[i, 2], s.normals, i)
        if not is_on_line:
            hand_over(m, samples, s, gathered, n, NO_BOUND)
            fit(m, samples, s, v, gathered, nx, ny, nz)
        is_good = True
        for i in range(n):
            quality = set_normal(m.x, s.corners[i, 0], s.corners[i, 1], s.corners[i, 2], s.normals, i)
            if quality < min(BAD, 0.9 * worst) or (worst > 1e-3 and dot_rows(s.normals, i, s.old, i) < MOST_TURN):
                is_good = False
                break
        if is_good and hand_over(m, samples, s, gathered, n, TOLERANCE) and not would_cross(m, s, n, n):
            commit(m, samples, s, gathered, n, s.faces)
            for i in range(n):
                enter(m, s.faces[i])
            return
    m.x[v, 0], m.x[v, 1], m.x[v, 2], m.line[v] = x0, x1, x2, line


@lean_kernel
def fit(m, samples, s, v, gathered, nx, ny, nz):
    """Move a vertex along its normal to the least squares of the distances of samples from the faces around it.

    Each sample counts by its area as seen along the face's normal.
    """
    above = below = whole = own_distance = 0.0
    nearest = 1e30
    for i in range(gathered):
        sample, face = s.gathered[i], s.best[i]
        whole += samples.area[sample]
        px, py, pz = samples.x[sample, 0], samples.x[sample, 1], samples.x[sample, 2]
        dx, dy, dz = m.x[v, 0] - px, m.x[v, 1] - py, m.x[v, 2] - pz
        tx, ty, tz = samples.normal[sample, 0], samples.normal[sample, 1], samples.normal[sample, 2]
        facing = nx * tx + ny * ty + nz * tz
        away = dx * dx + dy * dy + dz * dz
        if away < nearest and facing > AGREEING:
            nearest = away
            own_distance = -(dx * tx + dy * ty + dz * tz) / facing
        agreement = dot_rows(s.normals, face, samples.normal, sample)
        if agreement < AGREEING:
            continue
        a, b = s.corners[face, 0], s.corners[face, 1]
        own = s.weights[i, 0 if a == v else (1 if b == v else 2)]
        fx, fy, fz = s.normals[face, 0], s.normals[face, 1], s.normals[face, 2]
        own *= nx * fx + ny * fy + nz * fz
        residual = fx * (px - m.x[a, 0]) + fy * (py - m.x[a, 1]) + fz * (pz - m.x[a, 2])
        weight = samples.area[sample] * agreement
        above += weight * own * residual
        below += weight * own * own
    if nearest < 1e29 and whole > 0.0:
        way = (above + OWN_WEIGHT * whole * own_distance) / (below + OWN_WEIGHT * whole)
        farthest = FARTHEST * m.edge_length[0]
        way = min(max(way, -farthest), farthest)
        m.x[v, 0] += way * nx
        m.x[v, 1] += way * ny
        m.x[v, 2] += way * nz


@lean_kernel
def to_line(m, lines, v, segment):
    """Move a vertex to the nearest point of the sharp line, found from segment to segment; returns the last one."""
    if segment < 0:
        return segment
    best, px, py, pz = on_segment(m, lines, v, segment)
    while True:
        found = -1
        for end in range(2):
            corner = lines.ends[segment, end]
            for i in range(lines.start[corner], lines.start[corner + 1]):
                d, qx, qy, qz = on_segment(m, lines, v, lines.entry[i])
                if d < best:
                    best, found, px, py, pz = d, lines.entry[i], qx, qy, qz
        if found < 0:
            m.x[v, 0], m.x[v, 1], m.x[v, 2] = px, py, pz
            return segment
        segment = found


@lean_kernel
def on_segment(m, lines, v, segment):
    """Squared distance of a vertex from a segment, and the nearest point of it."""
    a, b = lines.ends[segment, 0], lines.ends[segment, 1]
    ax, ay, az = lines.x[a, 0], lines.x[a, 1], lines.x[a, 2]
    ex, ey, ez = lines.x[b, 0] - ax, lines.x[b, 1] - ay, lines.x[b, 2] - az
    dx, dy, dz = m.x[v, 0] - ax, m.x[v, 1] - ay, m.x[v, 2] - az
    w = min(max((dx * ex + dy * ey + dz * ez) / max(ex * ex + ey * ey + ez * ez, 1e-30), 0.0), 1.0)
    away = (dx - w * ex) ** 2 + (dy - w * ey) ** 2 + (dz - w * ez) ** 2
    return away, ax + w * ex, ay + w * ey, az + w * ez
