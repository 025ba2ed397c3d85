"""Particles that look for where two skins are nearest (Martin 2009, 5.2.1, after Savchenko et al. 2003).

A particle rests on a feature, at the mean of its points. Where it stays costs it

    sum over the others of its own body 1 / d^2  -  2 sum over those of the other body 1 / d^2

and it goes to the cheapest of its feature and the neighbouring ones. The text draws and repels alike, then says that
drawing should be twice as strong: that is the 2, the default of `MethodOptions.particle_attraction`.
"""

from ...jit import kernel

#: A body's particles have come to rest when fewer than this many of a pair's move in a round.
FEW = 4
MOST_ROUNDS = 10
#: Two particles at one place repel as if they were this share of their bodies' size apart.
LEAST_SHARE = 1e-6


@kernel
def place(x, graph, feature):
    """Where a particle on a feature is [m]: the mean of its points."""
    a, b, c = graph.corners[feature, 0], graph.corners[feature, 1], graph.corners[feature, 2]
    if graph.order[feature] == 1:
        return x[a, 0], x[a, 1], x[a, 2]
    if graph.order[feature] == 2:
        return 0.5 * (x[a, 0] + x[b, 0]), 0.5 * (x[a, 1] + x[b, 1]), 0.5 * (x[a, 2] + x[b, 2])
    third = 1.0 / 3.0
    return (
        third * (x[a, 0] + x[b, 0] + x[c, 0]),
        third * (x[a, 1] + x[b, 1] + x[c, 1]),
        third * (x[a, 2] + x[b, 2] + x[c, 2]),
    )


@kernel
def cost(px, py, pz, places, first, last, me, other_first, other_last, attraction, least2):
    """What it costs the particle `me` to be at p: rows first .. last - 1 of `places` [m] are its own body's.

    `attraction`: how much stronger the other body draws than the own one repels.
    """
    total = 0.0
    for k in range(first, last):
        if k != me:
            dx, dy, dz = places[k, 0] - px, places[k, 1] - py, places[k, 2] - pz
            total += 1.0 / max(dx * dx + dy * dy + dz * dz, least2)
    for k in range(other_first, other_last):
        dx, dy, dz = places[k, 0] - px, places[k, 1] - py, places[k, 2] - pz
        total -= attraction / max(dx * dx + dy * dy + dz * dz, least2)
    return total


@kernel
def migrate(x, graph, start, middle, end, size, attraction, features, places):
    """Move the particles of one pair of bodies until they rest; returns the number of rounds.

    Rows start .. middle - 1 of `features` are of the first body, middle .. end - 1 of the second. `places`: scratch,
    left with where they are [m]. `size` of the bodies [m]. One after the other, each sees where those before have gone.
    """
    least2 = (LEAST_SHARE * size) * (LEAST_SHARE * size)
    for k in range(start, end):
        places[k, 0], places[k, 1], places[k, 2] = place(x, graph, features[k])
    for turn in range(MOST_ROUNDS):
        moved = 0
        for k in range(start, end):
            first, last, other_first, other_last = start, middle, middle, end
            if k >= middle:
                first, last, other_first, other_last = middle, end, start, middle
            here = features[k]
            best = here
            px, py, pz = places[k, 0], places[k, 1], places[k, 2]
            least = cost(px, py, pz, places, first, last, k, other_first, other_last, attraction, least2)
            for q in range(graph.neighbour_start[here], graph.neighbour_start[here + 1]):
                qx, qy, qz = place(x, graph, graph.neighbour[q])
                there = cost(qx, qy, qz, places, first, last, k, other_first, other_last, attraction, least2)
                if there < least:
                    best, least = graph.neighbour[q], there
                    px, py, pz = qx, qy, qz
            if best != here:
                features[k] = best
                places[k, 0], places[k, 1], places[k, 2] = px, py, pz
                moved += 1
        if moved < FEW:
            return turn + 1
    return MOST_ROUNDS
