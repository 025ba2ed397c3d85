"""Samples of the drawn surface in the lists of faces: each change hands them over, or is refused by them.

So nothing is projected and nothing is searched: samples bound the distance of the two surfaces, hold thin parts, place
the vertices and, at the end, bind the drawn vertices.
"""

from ..contact.narrow_phase.closest_points import closest_on_corners
from ..jit import lean_inline_kernel, lean_kernel
from .surface import dot_rows, set_normal

#: Which bound `hand_over` holds each sample to.
NO_BOUND, TOLERANCE, CLOSE, FAR = 0, 1, 2, 3
#: The bounds `CLOSE` and `FAR`, in wanted edge lengths: for edges so short that they must go.
CLOSE_SHARE, FAR_SHARE = 0.45, 0.8
#: A face stands for a sample where the cosine between their normals is greater than this.
AGREEING = 0.2
#: What a face that does not costs, in squared edge lengths.
TURNED_COST = 0.25
#: Differences of squared distances that may be rounding, of surfaces of size 1.
ROUNDING = 1e-12


@lean_kernel
def gather(m, s, face_count):
    """Collect the samples of the first `face_count` of `s.faces`, with their rows; returns their number."""
    n = 0
    for i in range(face_count):
        sample = m.first_sample[s.faces[i]]
        while sample >= 0:
            s.gathered[n], s.best[n] = sample, i
            n += 1
            sample = m.next_sample[sample]
    return n


@lean_kernel
def hand_over(m, samples, s, sample_count, face_count, bound):
    """Choose the nearest of the new faces for each gathered sample; False where one would lie beyond its bound.

    A sample beyond it already may stay as far as it is. The face that it had is likely the nearest: of others those
    count whose boxes are as near.
    """
    length = m.edge_length[0]
    for face in range(face_count):
        a, b, c = s.corners[face, 0], s.corners[face, 1], s.corners[face, 2]
        for axis in range(3):
            s.low[face, axis] = min(m.x[a, axis], m.x[b, axis], m.x[c, axis])
            s.high[face, axis] = max(m.x[a, axis], m.x[b, axis], m.x[c, axis])
    for i in range(sample_count):
        sample = s.gathered[i]
        likely = min(s.best[i], face_count - 1)
        first = cost_of(m, samples, s, sample, likely)
        best = 1e30
        for face in range(face_count):
            if face == likely:
                d = first
            elif from_box(samples.x, sample, s, face) > 1.001 * first + ROUNDING:
                continue
            else:
                d = cost_of(m, samples, s, sample, face)
            if d < best:
                best = d
                s.best[i] = face
        s.distance[i] = best**0.5
        if bound == NO_BOUND:
            continue
        limit = samples.tolerance[sample]
        if bound == CLOSE:
            limit = CLOSE_SHARE * length
        elif bound == FAR:
            limit = FAR_SHARE * length
        if s.distance[i] > limit and s.distance[i] > 1.0001 * samples.distance[sample] + 1e-12:
            return False
    return True


@lean_inline_kernel
def cost_of(m, samples, s, sample, face):
    """Squared distance of a sample from a face, more where their normals disagree."""
    a, b, c = s.corners[face, 0], s.corners[face, 1], s.corners[face, 2]
    d = closest_on_corners(samples.x, sample, m.x, a, b, c)[6]
    if dot_rows(s.normals, face, samples.normal, sample) < AGREEING:
        d += TURNED_COST * m.edge_length[0] * m.edge_length[0]
    return d


@lean_inline_kernel
def from_box(x, i, s, face):
    """Squared distance of a point from the box of a face."""
    dx = max(s.low[face, 0] - x[i, 0], 0.0, x[i, 0] - s.high[face, 0])
    dy = max(s.low[face, 1] - x[i, 1], 0.0, x[i, 1] - s.high[face, 1])
    dz = max(s.low[face, 2] - x[i, 2], 0.0, x[i, 2] - s.high[face, 2])
    return dx * dx + dy * dy + dz * dz


@lean_kernel
def commit(m, samples, s, sample_count, face_count, targets):
    """Put gathered samples into the lists of their new faces, `targets` by rows; empty those of `s.faces`."""
    for i in range(face_count):
        m.first_sample[s.faces[i]] = -1
    for i in range(sample_count):
        sample, face = s.gathered[i], targets[s.best[i]]
        m.next_sample[sample] = m.first_sample[face]
        m.first_sample[face] = sample
        samples.distance[sample] = s.distance[i]


@lean_kernel
def share_out(m, samples, s, face_count):
    """Let the samples of `s.faces`, which lie as they will stay, find the nearest of them."""
    for i in range(face_count):
        face = s.faces[i]
        for k in range(3):
            s.corners[i, k] = m.origin[3 * face + k]
        set_normal(m.x, s.corners[i, 0], s.corners[i, 1], s.corners[i, 2], s.normals, i)
    n = gather(m, s, face_count)
    hand_over(m, samples, s, n, face_count, NO_BOUND)
    commit(m, samples, s, n, face_count, s.faces)
