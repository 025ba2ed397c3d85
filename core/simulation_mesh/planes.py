"""Lower bounds of distances from triangles, four at a time: from their planes, and beyond the planes of their sides."""

from ..contact.crossings import cross, length_of, side_of
from ..jit import lean_inline_kernel, lean_kernel
from ..simd import larger, load4, spread

#: A sine of the angle between two sides below which a face has no planes: rounding turns them.
THIN = 1e-6
#: Farther than any surface of size 1 is wide.
FAR_AWAY = 1e6


@lean_kernel
def set_planes(m, s, face_count):
    """The planes of the new faces, `s.corners`, and of their sides: at right angles to the face, normals outwards.

    A face almost without area has none, so that nothing is far from it; what fills the last four is far from all.
    """
    for face in range(face_count):
        a, b, c = s.corners[face, 0], s.corners[face, 1], s.corners[face, 2]
        ab, bc, ca = side_of(m.x, a, b), side_of(m.x, b, c), side_of(m.x, c, a)
        normal = cross(ca, ab)
        area2, long_ab, long_bc, long_ca = length_of(normal), length_of(ab), length_of(bc), length_of(ca)
        if area2 > THIN * long_ca * long_ab:
            normal = scaled(normal, 1.0 / area2)
            set_plane_at(m, s, face, 0, a, normal)
            set_plane_at(m, s, face, 1, a, scaled(cross(ab, normal), 1.0 / long_ab))
            set_plane_at(m, s, face, 2, b, scaled(cross(bc, normal), 1.0 / long_bc))
            set_plane_at(m, s, face, 3, c, scaled(cross(ca, normal), 1.0 / long_ca))
        else:
            set_no_planes(s, face, 0.0)
    for face in range(face_count, 4 * ((face_count + 3) // 4)):
        set_no_planes(s, face, FAR_AWAY)


@lean_inline_kernel
def scaled(p, factor):
    """A multiple of a vector."""
    return factor * p[0], factor * p[1], factor * p[2]


@lean_inline_kernel
def set_plane_at(m, s, face, plane, corner, n):
    """Set one of the planes of a face, through a corner."""
    set_plane(s, face, plane, n, n[0] * m.x[corner, 0] + n[1] * m.x[corner, 1] + n[2] * m.x[corner, 2])


@lean_kernel
def set_no_planes(s, face, height):
    """Let all points be this high above what would be the planes of a face."""
    for plane in range(4):
        set_plane(s, face, plane, (0.0, 0.0, 0.0), -height)


@lean_inline_kernel
def set_plane(s, face, plane, n, height):
    """Set one of the planes of a face, `height` along its normal n."""
    group, lane = face // 4, face % 4
    s.planes[group, plane, 0, lane], s.planes[group, plane, 1, lane] = n[0], n[1]
    s.planes[group, plane, 2, lane], s.planes[group, plane, 3, lane] = n[2], height


@lean_inline_kernel
def least_distances(s, group, x, i):
    """Squared distances of a point from the four faces of a group, at least."""
    px, py, pz = spread(x[i, 0]), spread(x[i, 1]), spread(x[i, 2])
    off, beyond = above_planes(s, 4 * group, px, py, pz), spread(0.0)
    for side in range(1, 4):
        beyond = larger(beyond, above_planes(s, 4 * group + side, px, py, pz))
    return off * off + beyond * beyond


@lean_inline_kernel
def above_planes(s, four, px, py, pz):
    """How far a point is above one plane of each of four faces."""
    nx, ny, nz = load4(s.planes, 16 * four), load4(s.planes, 16 * four + 4), load4(s.planes, 16 * four + 8)
    return px * nx + py * ny + pz * nz - load4(s.planes, 16 * four + 12)
