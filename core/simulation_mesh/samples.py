"""Samples of the drawn surface in the lists of faces: each change hands them over, or is refused by them.

So nothing is projected and nothing is searched: samples bound the distance of the two surfaces, hold thin parts, place
the vertices and, at the end, bind the drawn vertices.
"""

from ..contact.narrow_phase.closest_points import closest_on_corners
from ..jit import lean_inline_kernel, lean_kernel
from ..simd import positive, spread
from .planes import least_distances, set_planes
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
    count that are not farther by their planes alone.
    """
    length = m.edge_length[0]
    set_planes(m, s, face_count)
    for i in range(sample_count):
        sample = s.gathered[i]
        likely = min(s.best[i], face_count - 1)
        first = cost_of(m, samples, s, sample, likely)
        most, best = spread(1.001 * first[0] + ROUNDING), 1e30
        for group in range((face_count + 3) // 4):
            near = positive(most - least_distances(s, group, samples.x, sample))
            face = 4 * group
            while near > 0:
                if near & 1:
                    cost = first if face == likely else cost_of(m, samples, s, sample, face)
                    if cost[0] < best:
                        best, s.best[i] = cost[0], face
                        s.weights[i, 0], s.weights[i, 1], s.weights[i, 2] = cost[1], cost[2], cost[3]
                near, face = near >> 1, face + 1
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
    """Squared distance of a sample from a face, more where their normals disagree, and the weights of its corners."""
    a, b, c = s.corners[face, 0], s.corners[face, 1], s.corners[face, 2]
    wa, wb, wc, _, _, _, d, _ = closest_on_corners(samples.x, sample, m.x, a, b, c)
    if dot_rows(s.normals, face, samples.normal, sample) < AGREEING:
        d += TURNED_COST * m.edge_length[0] * m.edge_length[0]
    return d, wa, wb, wc


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
