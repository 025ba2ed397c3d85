"""Samples of the drawn surface in the lists of faces: each change hands them over, or is refused by them.

So nothing is projected and nothing is searched: samples bound the distance of the two surfaces, hold thin parts, place
the vertices and, at the end, bind the drawn vertices.
"""

from ..contact.narrow_phase.closest_points import closest_on_corners
from ..jit import lean_kernel
from .surface import dot_rows, set_normal

#: Which bound `hand_over` holds each sample to.
NO_BOUND, TOLERANCE, CLOSE, FAR = 0, 1, 2, 3
#: The bounds `CLOSE` and `FAR`, in wanted edge lengths: for edges so short that they must go.
CLOSE_SHARE, FAR_SHARE = 0.45, 0.8
#: A face stands for a sample where the cosine between their normals is greater than this.
AGREEING = 0.2
#: What a face that does not costs, in squared edge lengths.
TURNED_COST = 0.25


@lean_kernel
def gather(m, s, face_count):
    """Collect the samples of the first `face_count` of `s.faces`; returns their number."""
    n = 0
    for i in range(face_count):
        sample = m.first_sample[s.faces[i]]
        while sample >= 0:
            s.gathered[n] = sample
            n += 1
            sample = m.next_sample[sample]
    return n


@lean_kernel
def hand_over(m, samples, s, sample_count, face_count, bound):
    """Choose the nearest of the new faces for each gathered sample; False where one would lie beyond its bound.

    A sample beyond it already may stay as far as it is.
    """
    length = m.edge_length[0]
    for i in range(sample_count):
        sample = s.gathered[i]
        best = 1e30
        for face in range(face_count):
            corners = s.corners[face]
            d = closest_on_corners(samples.x, sample, m.x, corners[0], corners[1], corners[2])[6]
            if dot_rows(s.normals, face, samples.normal, sample) < AGREEING:
                d += TURNED_COST * length * length
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
