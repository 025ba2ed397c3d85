"""Closest points of candidates, four pairs at a time: candidates that may come near become contacts.

A pair is excluded where a plane across its closest points, or the plane of its triangle, keeps both sides apart by more
than the reach at both ends of the flight: positions are linear in time, so it does in between too. There are two
reaches: the distance that the guarantee needs (`LEAST_SHARE` of the distance to keep, and all slack), and the one
within which a contact may press.
"""

from ...contact.narrow_phase.closest_points import FLATTEST_FACE
from ...jit import lean_inline_kernel, lean_kernel
from ...simd import larger, load4, positive, root, smaller, store4, transposed, where_larger
from ...tiny import TINY
from .shape import LEAST_SHARE, PRESS_SHARE

#: Squared sine of the angle below which two directions count as parallel.
PARALLEL = 1e-9


@lean_inline_kernel
def corner(array, points, q, k):
    """Point k of the four pairs from q on: x, y, z in lanes."""
    x, y, z, _ = transposed(
        load4(array, points[4 * q + k]), load4(array, points[4 * q + 4 + k]), load4(array, points[4 * q + 8 + k]),
        load4(array, points[4 * q + 12 + k]),
    )  # fmt: skip
    return x, y, z


@lean_inline_kernel
def to_segment(px, py, pz, ux, uy, uz):
    """Parameter of the point of segment u nearest to p (from its start), vector from it to p, and squared length."""
    zero = px - px
    t = smaller(larger((px * ux + py * uy + pz * uz) / (ux * ux + uy * uy + uz * uz + TINY), zero), zero + 1.0)
    x, y, z = px - t * ux, py - t * uy, pz - t * uz
    return t, x, y, z, x * x + y * y + z * z


@lean_kernel
def fill_up(candidates, count):
    """Repeat the last candidate so that the number can be divided by four."""
    points = candidates.points
    for q in range(count, (count + 3) // 4 * 4):
        for k in range(4):
            points[4 * q + k] = points[4 * (count - 1) + k]
        candidates.slack[q], candidates.reach[q] = candidates.slack[count - 1], candidates.reach[count - 1]


@lean_inline_kernel
def pick(fours, k):
    """Lane k of four."""
    return fours[0] if k == 0 else (fours[1] if k == 1 else (fours[2] if k == 2 else fours[3]))


@lean_inline_kernel
def write(contacts, at, candidates, q, normal, weight, gap, presses, must):
    """Write candidate q as a contact."""
    for k in range(4):
        contacts.points[4 * at + k] = candidates.points[4 * q + k]
    store4(contacts.normal, 4 * at, normal)
    store4(contacts.weight, 4 * at, weight)
    store4(contacts.gap, 4 * at, gap)
    contacts.presses[at] = presses
    contacts.must[at] = must
    contacts.reach[at] = candidates.reach[q]


@lean_kernel
def near_triangles(x, flight, candidates, count, time, contacts):
    """Contacts of vertices and triangles; returns how many there are, even if they exceed the capacity."""
    fill_up(candidates, count)
    points, found, room = candidates.points, 0, contacts.reach.shape[0]
    for q in range(0, count, 4):
        px, py, pz = corner(x, points, q, 0)
        ax, ay, az = corner(x, points, q, 1)
        bx, by, bz = corner(x, points, q, 2)
        cx, cy, cz = corner(x, points, q, 3)
        p0, p1, p2 = corner(flight, points, q, 0)
        a0, a1, a2 = corner(flight, points, q, 1)
        b0, b1, b2 = corner(flight, points, q, 2)
        c0, c1, c2 = corner(flight, points, q, 3)
        bx, by, bz = bx - ax, by - ay, bz - az
        cx, cy, cz = cx - ax, cy - ay, cz - az
        px, py, pz = px - ax, py - ay, pz - az
        nx, ny, nz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
        area2 = nx * nx + ny * ny + nz * nz
        flattest = (bx * bx + by * by + bz * bz) * (cx * cx + cy * cy + cz * cz) * FLATTEST_FACE
        gap = nx * px + ny * py + nz * pz
        zero = gap - gap
        inverse = 1.0 / root(area2 + TINY)
        gap = gap * inverse
        inverse = where_larger(gap, zero, inverse, -inverse)
        gap = larger(gap, -gap)
        fx, fy, fz = nx * inverse, ny * inverse, nz * inverse
        top = larger(larger(fx * a0 + fy * a1 + fz * a2, fx * b0 + fy * b1 + fz * b2), fx * c0 + fy * c1 + fz * c2)
        later = gap + (fx * p0 + fy * p1 + fz * p2 - top) * time
        slack, keep = load4(candidates.slack, q), load4(candidates.reach, q)
        watched = slack + keep * LEAST_SHARE
        reach = larger(slack * PRESS_SHARE + keep, watched)
        bits = 15 - (positive(smaller(gap, later) - reach) & positive(area2 - flattest))
        if bits == 0:
            continue
        # inside the triangle, or the nearest of three sides
        w1 = (py * cz - pz * cy) * nx + (pz * cx - px * cz) * ny + (px * cy - py * cx) * nz
        w2 = (by * pz - bz * py) * nx + (bz * px - bx * pz) * ny + (bx * py - by * px) * nz
        inside = where_larger(area2, flattest, smaller(smaller(w1, w2), area2 - w1 - w2), zero - 1.0)
        t1, x1, y1, z1, d1 = to_segment(px, py, pz, bx, by, bz)
        t2, x2, y2, z2, d2 = to_segment(px, py, pz, cx, cy, cz)
        t3, x3, y3, z3, d3 = to_segment(px - bx, py - by, pz - bz, cx - bx, cy - by, cz - bz)
        v1, v2 = where_larger(d1, d2, zero, t1), where_larger(d1, d2, t2, zero)
        nx, ny, nz = where_larger(d1, d2, x2, x1), where_larger(d1, d2, y2, y1), where_larger(d1, d2, z2, z1)
        dd = smaller(d1, d2)
        v1, v2 = where_larger(dd, d3, 1.0 - t3, v1), where_larger(dd, d3, t3, v2)
        nx, ny, nz = where_larger(dd, d3, x3, nx), where_larger(dd, d3, y3, ny), where_larger(dd, d3, z3, nz)
        dd = smaller(dd, d3)
        inverse = 1.0 / (area2 + TINY)
        v1, v2 = where_larger(inside, zero, w1 * inverse, v1), where_larger(inside, zero, w2 * inverse, v2)
        inverse = 1.0 / root(dd + TINY)
        nx, ny, nz = (
            where_larger(inside, zero, fx, nx * inverse),
            where_larger(inside, zero, fy, ny * inverse),
            where_larger(inside, zero, fz, nz * inverse),
        )
        distance = where_larger(inside, zero, gap, dd * inverse)
        s0 = nx * px + ny * py + nz * pz
        s2, s3 = nx * bx + ny * by + nz * bz, nx * cx + ny * cy + nz * cz
        separation = s0 - larger(larger(s2, s3), zero)
        top = larger(
            larger((nx * a0 + ny * a1 + nz * a2) * time, s2 + (nx * b0 + ny * b1 + nz * b2) * time),
            s3 + (nx * c0 + ny * c1 + nz * c2) * time,
        )
        nearest = smaller(distance, s0 + (nx * p0 + ny * p1 + nz * p2) * time - top)
        bits &= 15 - positive(nearest - reach)
        if bits == 0:
            continue
        # a vertex that slides on to this triangle from its neighbour moves along its plane
        flat = where_larger(area2, flattest, smaller(gap, later), nearest)
        nx, ny, nz = (
            where_larger(flat, nearest, fx, nx),
            where_larger(flat, nearest, fy, ny),
            where_larger(flat, nearest, fz, nz),
        )
        separation, nearest = where_larger(flat, nearest, gap, separation), larger(flat, nearest)
        must = 15 - positive(nearest - watched)
        normals = transposed(nx, ny, nz, zero)
        weights = transposed(zero + 1.0, v1 + v2 - 1.0, -v1, -v2)
        gaps = transposed(distance, separation, distance, separation)
        for k in range(4):
            if bits >> k & 1 and q + k < count:
                at = min(found, room - 1)
                is_must = must >> k & 1 == 1
                write(contacts, at, candidates, q + k, pick(normals, k), pick(weights, k), pick(gaps, k), True, is_must)
                found += 1
    return found


@lean_kernel
def near_edges(x, flight, candidates, count, time, contacts):
    """Contacts of edges; returns how many there are, even if they exceed the capacity.

    A contact presses only in pairs whose closest points lie within both edges.
    """
    fill_up(candidates, count)
    points, found, room = candidates.points, 0, contacts.reach.shape[0]
    for q in range(0, count, 4):
        ax, ay, az = corner(x, points, q, 0)
        ux, uy, uz = corner(x, points, q, 1)
        cx, cy, cz = corner(x, points, q, 2)
        wx, wy, wz = corner(x, points, q, 3)
        a0, a1, a2 = corner(flight, points, q, 0)
        b0, b1, b2 = corner(flight, points, q, 1)
        c0, c1, c2 = corner(flight, points, q, 2)
        e0, e1, e2 = corner(flight, points, q, 3)
        ux, uy, uz = ux - ax, uy - ay, uz - az
        wx, wy, wz = wx - cx, wy - cy, wz - cz
        ax, ay, az = ax - cx, ay - cy, az - cz
        nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
        across = nx * nx + ny * ny + nz * nz
        uu, ww, uw = ux * ux + uy * uy + uz * uz, wx * wx + wy * wy + wz * wz, ux * wx + uy * wy + uz * wz
        ua, wa = ux * ax + uy * ay + uz * az, wx * ax + wy * ay + wz * az
        s, t = uw * wa - ua * ww, uu * wa - uw * ua
        zero = uu - uu
        least = uu * ww * PARALLEL
        has_plane = positive(across - least)
        inside = where_larger(across, least, smaller(smaller(s, across - s), smaller(t, across - t)), zero - 1.0)
        gap = nx * ax + ny * ay + nz * az
        inverse = 1.0 / root(across + TINY)
        gap = gap * inverse
        inverse = where_larger(gap, zero, inverse, -inverse)
        gap = larger(gap, -gap)
        fx, fy, fz = nx * inverse, ny * inverse, nz * inverse
        later = gap + time * (
            smaller(fx * a0 + fy * a1 + fz * a2, fx * b0 + fy * b1 + fz * b2)
            - larger(fx * c0 + fy * c1 + fz * c2, fx * e0 + fy * e1 + fz * e2)
        )
        nearest = smaller(gap, later)
        slack, keep = load4(candidates.slack, q), load4(candidates.reach, q)
        watched = slack + keep * LEAST_SHARE
        press = positive(inside) & positive(slack * PRESS_SHARE + keep - nearest)
        bits = (15 - (positive(nearest - watched) & has_plane)) | press
        if bits == 0:
            continue
        inverse = 1.0 / (across + TINY)
        v1, v3, distance, separation = s * inverse, t * inverse, gap, gap
        nx, ny, nz = fx, fy, fz
        if bits & (15 - positive(inside)):  # for some the nearest of ends and sides
            t1, x1, y1, z1, d1 = to_segment(ax, ay, az, wx, wy, wz)
            t2, x2, y2, z2, d2 = to_segment(ax + ux, ay + uy, az + uz, wx, wy, wz)
            t3, x3, y3, z3, d3 = to_segment(-ax, -ay, -az, ux, uy, uz)
            t4, x4, y4, z4, d4 = to_segment(wx - ax, wy - ay, wz - az, ux, uy, uz)
            one, other = where_larger(d1, d2, zero + 1.0, zero), where_larger(d1, d2, t2, t1)
            x1, y1, z1 = where_larger(d1, d2, x2, x1), where_larger(d1, d2, y2, y1), where_larger(d1, d2, z2, z1)
            d1 = smaller(d1, d2)
            one, other = where_larger(d1, d3, t3, one), where_larger(d1, d3, zero, other)
            x1, y1, z1 = where_larger(d1, d3, -x3, x1), where_larger(d1, d3, -y3, y1), where_larger(d1, d3, -z3, z1)
            d1 = smaller(d1, d3)
            one, other = where_larger(d1, d4, t4, one), where_larger(d1, d4, zero + 1.0, other)
            x1, y1, z1 = where_larger(d1, d4, -x4, x1), where_larger(d1, d4, -y4, y1), where_larger(d1, d4, -z4, z1)
            d1 = smaller(d1, d4)
            v1, v3 = where_larger(inside, zero, v1, one), where_larger(inside, zero, v3, other)
            inverse = 1.0 / root(d1 + TINY)
            nx, ny, nz = (
                where_larger(inside, zero, fx, x1 * inverse),
                where_larger(inside, zero, fy, y1 * inverse),
                where_larger(inside, zero, fz, z1 * inverse),
            )
            distance = where_larger(inside, zero, gap, d1 * inverse)
            o0 = nx * ax + ny * ay + nz * az
            o1, o3 = o0 + nx * ux + ny * uy + nz * uz, nx * wx + ny * wy + nz * wz
            separation = smaller(o0, o1) - larger(zero, o3)
            later = smaller(
                o0 + (nx * a0 + ny * a1 + nz * a2) * time, o1 + (nx * b0 + ny * b1 + nz * b2) * time
            ) - larger((nx * c0 + ny * c1 + nz * c2) * time, o3 + (nx * e0 + ny * e1 + nz * e2) * time)
            nearest = smaller(distance, later)
            bits &= (15 - positive(nearest - watched)) | press
            if bits == 0:
                continue
        interior = positive(inside)
        normals = transposed(nx, ny, nz, zero)
        weights = transposed(1.0 - v1, v1, v3 - 1.0, -v3)
        gaps = transposed(distance, separation, distance, separation)
        for k in range(4):
            if bits >> k & 1 and q + k < count:
                at = min(found, room - 1)
                presses = interior >> k & 1 == 1
                write(contacts, at, candidates, q + k, pick(normals, k), pick(weights, k), pick(gaps, k), presses, True)
                found += 1
    return found
