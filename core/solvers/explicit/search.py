"""Search: primitives that may come near each other within an epoch, by boxes around straight flight.

The hierarchy is bodies, groups of patches, patches, primitives. A point's predicted flight is mostly its own velocity,
in part the mean of its patch: vibrations are not predicted. Boxes are relative to the mean velocity of their body, and
swept by the relative velocity of a pair of bodies, so a common fall adds no candidates. They are widened by the
distance that a pair keeps and by the slack, that is how far a point may deviate from its flight before there is another
search. Pairs whose boxes do not meet stay apart for the epoch.
"""

import numpy as np

from ...contact.kept_distance import EDGE_SHARE
from ...jit import lean_inline_kernel, lean_kernel
from ...simd import lane, larger, load4, positive, smaller, spread, store4, triple
from ...team import claim, done, finish, hand_out
from .arrays import FOUR_SIZE, FRAMES, GIVEN, NOWHERE, SOFT, patches_of
from .own import apart, find_suspects
from .shape import fit_shape, keeps_apart, pad

#: Share of the patch's mean velocity in the flight of a soft body's point.
COMMON_SHARE = 0.35
#: Bits below the number of a primitive in its patch: in a hit for a place and four bits, in a pair for the other one.
HIT_BITS, PAIR_BITS = 40, 16
#: Most candidates that a pair of patches gives.
MOST_OF_A_PAIR = 4096


@lean_inline_kernel
def half_kept(bodies, b):
    """Half of the distance that boxes of body b keep [m]: from itself where that is looked for, else from others."""
    return 0.5 * bodies.own_thickness[b] if bodies.own_thickness[b] > 0.0 else bodies.thickness[b]


@lean_inline_kernel
def widening(a, b, reach, way, bodies):
    """Further widening of boxes of body a, below and above [m]: by a way relative to body b, and the rest of reach."""
    rest = spread(max(reach - half_kept(bodies, a) - half_kept(bodies, b), 0.0))
    nothing = spread(0.0)
    return larger(-way, nothing) + rest, larger(way, nothing) + rest


@lean_kernel
def predict_flight(b, x, velocity, time, is_single, bodies, points, boxes):
    """Predicted flight of body b for an epoch [s], the boxes of its points and its own; `is_single`: of one step."""
    first, last = bodies.point_start[b], bodies.point_start[b + 1]
    total = spread(0.0)
    for i in range(4 * first, 4 * last, 4):
        total = total + load4(velocity, i)
    mean = total * (1.0 / max(last - first, 1))
    store4(bodies.mean, 4 * b, mean)
    common = COMMON_SHARE if bodies.kind[b] == SOFT and not is_single else 0.0
    half = half_kept(bodies, b)
    body_low, body_high = spread(NOWHERE), spread(NOWHERE)
    patches = boxes.patches
    for patch in range(patches.body_start[b], patches.body_start[b + 1]):
        boxes.near[patch] = 0
        slack = boxes.slack[patch]
        wider = pad(half, slack)
        begin, end = patches.vertex_start[patch], patches.vertex_end[patch]
        total = spread(0.0)
        for i in range(4 * begin, 4 * end, 4):
            total = total + load4(velocity, i)
        shared = total * (common / max(end - begin, 1))
        for j in range(begin, end):
            i = 4 * j
            points.slack[j] = slack
            here, flight = load4(x, i), load4(velocity, i) * (1.0 - common) + shared
            store4(points.start, i, here)
            store4(points.flight, i, flight)
            there = here + (flight - mean) * time
            low, high = larger(-here, -there) + wider, larger(here, there) + wider
            store4(points.low, i, low)
            store4(points.high, i, high)
            body_low, body_high = larger(body_low, low), larger(body_high, high)
    store4(bodies.low, 4 * b, body_low)
    store4(bodies.high, 4 * b, body_high)


@lean_kernel
def fit_patches(b, points, boxes):
    """Boxes of a body's patches and groups, from those of its points."""
    patches, groups = boxes.patches, boxes.groups
    for patch in range(patches.body_start[b], patches.body_start[b + 1]):
        low, high = spread(NOWHERE), spread(NOWHERE)
        for q in range(patches.corner_start[patch], patches.corner_start[patch + 1]):
            i = patches.corner[q]
            low, high = larger(low, load4(points.low, i)), larger(high, load4(points.high, i))
        store4(boxes.low, 4 * patch, low)
        store4(boxes.high, 4 * patch, high)
    for group in range(groups.body_start[b], groups.body_start[b + 1]):
        low, high = spread(NOWHERE), spread(NOWHERE)
        end = min(groups.start[group + 1], patches.body_start[b + 1])
        boxes.group_suspect[group] = 0
        for patch in range(groups.start[group], end):
            boxes.group_suspect[group] = max(boxes.group_suspect[group], boxes.suspect[patch])
            low, high = larger(low, load4(boxes.low, 4 * patch)), larger(high, load4(boxes.high, 4 * patch))
        store4(boxes.group_low, 4 * group, low)
        store4(boxes.group_high, 4 * group, high)


@lean_inline_kernel
def first_four(start, patch):
    """Place of the first four of a patch's primitives; `start`: first primitive of each patch."""
    return FOUR_SIZE * (start[patch] // 4 + patch)


@lean_inline_kernel
def past_four(start, patch):
    """One past the last of them."""
    return first_four(start, patch) + FOUR_SIZE * ((start[patch + 1] - start[patch] + 3) // 4)


@lean_inline_kernel
def fit_primitives(patch, start, corner, corner_count, points, fours):
    """Boxes of a patch's primitives, side by side in fours."""
    place = first_four(start, patch)
    for k in range(start[patch], start[patch + 1]):
        low, high = spread(NOWHERE), spread(NOWHERE)
        at = place + FOUR_SIZE * ((k - start[patch]) // 4) + (k - start[patch]) % 4
        for c in range(corner_count):
            i = corner[corner_count * k + c]
            low, high = larger(low, load4(points.low, 4 * i)), larger(high, load4(points.high, 4 * i))
            fours[at + 24 + 4 * c] = i
        fours[at], fours[at + 4], fours[at + 8] = lane(low, 0), lane(low, 1), lane(low, 2)
        fours[at + 12], fours[at + 16], fours[at + 20] = lane(high, 0), lane(high, 1), lane(high, 2)


@lean_inline_kernel
def meets(low, high, fours, place):
    """Which of four boxes side by side meet this one: a bit each."""
    below = smaller(
        smaller(spread(lane(low, 0)) + load4(fours, place + 12), spread(lane(low, 1)) + load4(fours, place + 16)),
        spread(lane(low, 2)) + load4(fours, place + 20),
    )
    above = smaller(
        smaller(spread(lane(high, 0)) + load4(fours, place), spread(lane(high, 1)) + load4(fours, place + 4)),
        spread(lane(high, 2)) + load4(fours, place + 8),
    )
    return positive(smaller(below, above))


@lean_inline_kernel
def list_fours(low, high, start, patch, fours, listed):
    """List the places of those fours of a patch of which a box meets this one; returns how many."""
    count = 0
    for place in range(first_four(start, patch), past_four(start, patch), FOUR_SIZE):
        listed[np.uint64(count)] = place
        count += meets(low, high, fours, place) != 0
    return count


@lean_inline_kernel
def note_four(own, bits, first, out, count):
    """Note the pairs of a patch's primitive `own` with those of four, from `first` on, that have a bit; returns where
    they end.

    Without branches, which no processor could predict.
    """
    for k in range(4):
        out.points[np.uint64(4 * count)] = (own << PAIR_BITS) + first + k
        count += bits >> k & 1
    return count


@lean_inline_kernel
def is_left_out(bodies, a, b, i, j, k, m, first_side):
    """Whether a pair between the bodies a and b is excluded: attached, or of one skin and tangled from the start."""
    glued, tangled = bodies.glued, bodies.tangled
    if first_side == 1:
        found = glued[j] == a or glued[k] == a
    else:
        found = glued[j] == b or glued[k] == a
    if a == b:
        found = found or tangled[i] or tangled[j] or tangled[k] or tangled[m]
    return found or glued[i] == b or glued[m] == a


@lean_inline_kernel
def against_triangles(P, Q, a, b, reach, more_low, more_high, bodies, points, boxes, out, count):
    """Vertices of patch P near triangles of patch Q; a, b: their bodies; `more_...`: what boxes of P are widened by."""
    patches, fours, listed = boxes.patches, boxes.triangle_fours, boxes.listed
    start, triangle = patches.triangle_start, patches.triangle
    low, high = load4(boxes.low, 4 * P) + more_low, load4(boxes.high, 4 * P) + more_high
    four_count = list_fours(low, high, start, Q, fours, listed)
    if four_count == 0:
        return count
    all_low, all_high = load4(boxes.low, 4 * Q), load4(boxes.high, 4 * Q)
    end, first, hits, hit_count = count, first_four(start, Q), boxes.hits, 0
    vertex = patches.vertex_start[P]
    for p in range(vertex, patches.vertex_end[P]):
        low, high = load4(points.low, 4 * p) + more_low, load4(points.high, 4 * p) + more_high
        if apart(low, high, all_low, all_high):
            continue
        for k in range(four_count):
            place = listed[np.uint64(k)]
            bits = meets(low, high, fours, place)
            hits[np.uint64(hit_count)] = ((p - vertex) << HIT_BITS) + (place << 4) + bits
            hit_count += bits != 0
    for k in range(hit_count):
        hit = hits[np.uint64(k)]
        own, place = hit >> HIT_BITS, (hit & ((1 << HIT_BITS) - 1)) >> 4
        p = vertex + own
        i0, i1, i2 = load4(fours, place + 24), load4(fours, place + 28), load4(fours, place + 32)
        shared = (i0 - p) * (i1 - p) * (i2 - p)
        bits = hit & positive(shared * shared)
        end = note_four(own, bits, (place - first) // (FOUR_SIZE // 4), out, end)
    for c in range(count, end):
        pair = np.int64(out.points[np.uint64(4 * c)])
        p, t = vertex + (pair >> PAIR_BITS), np.uint64(3 * (start[Q] + (pair & ((1 << PAIR_BITS) - 1))))
        i0, i1, i2 = triangle[t], triangle[t + np.uint64(1)], triangle[t + np.uint64(2)]
        place = np.uint64(4 * count)
        out.points[place], out.points[place + np.uint64(1)] = 4 * p, 4 * i0
        out.points[place + np.uint64(2)], out.points[place + np.uint64(3)] = 4 * i1, 4 * i2
        out.reach[np.uint64(count)] = reach
        count += not (bodies.any_left_out and is_left_out(bodies, a, b, p, i0, i1, i2, 1))
    return count


@lean_inline_kernel
def against_edges(P, Q, a, b, reach, more_low, more_high, bodies, boxes, out, count):
    """Edges of patch P near edges of patch Q, see `against_triangles`."""
    patches, fours, listed = boxes.patches, boxes.edge_fours, boxes.listed
    start, edge = patches.edge_start, patches.edge
    low, high = load4(boxes.low, 4 * P) + more_low, load4(boxes.high, 4 * P) + more_high
    four_count = list_fours(low, high, start, Q, fours, listed)
    if four_count == 0:
        return count
    # boxes of Q may be widened as well as those of P, by the same on the opposite sides
    all_low, all_high = load4(boxes.low, 4 * Q) + more_high, load4(boxes.high, 4 * Q) + more_low
    end, first, hits, hit_count = count, first_four(start, Q), boxes.hits, 0
    own_first = first_four(start, P)
    for own in range(own_first, past_four(start, P), FOUR_SIZE):
        near = meets(all_low, all_high, fours, own)
        for at in range(own, own + 4):
            if near >> (at - own) & 1 == 0:
                continue
            e = (own - own_first) // (FOUR_SIZE // 4) + at - own
            low = triple(fours[at], fours[at + 4], fours[at + 8]) + more_low
            high = triple(fours[at + 12], fours[at + 16], fours[at + 20]) + more_high
            for k in range((own - own_first) // FOUR_SIZE if P == Q else 0, four_count):
                place = listed[np.uint64(k)]
                bits = meets(low, high, fours, place)
                hits[np.uint64(hit_count)] = (e << HIT_BITS) + (place << 4) + bits
                hit_count += bits != 0
    for k in range(hit_count):
        hit = hits[np.uint64(k)]
        own, place = hit >> HIT_BITS, (hit & ((1 << HIT_BITS) - 1)) >> 4
        i0, i1 = edge[np.uint64(2 * (start[P] + own))], edge[np.uint64(2 * (start[P] + own) + 1)]
        i2, i3 = load4(fours, place + 24), load4(fours, place + 28)
        shared = (i2 - i0) * (i2 - i1) * (i3 - i0) * (i3 - i1)
        bits = hit & positive(shared * shared)
        end = note_four(own, bits, (place - first) // (FOUR_SIZE // 4), out, end)
    for c in range(count, end):
        pair = np.int64(out.points[np.uint64(4 * c)])
        e, other = start[P] + (pair >> PAIR_BITS), start[Q] + (pair & ((1 << PAIR_BITS) - 1))
        i0, i1 = edge[np.uint64(2 * e)], edge[np.uint64(2 * e + 1)]
        i2, i3 = edge[np.uint64(2 * other)], edge[np.uint64(2 * other + 1)]
        place = np.uint64(4 * count)
        out.points[place], out.points[place + np.uint64(1)] = 4 * i0, 4 * i1
        out.points[place + np.uint64(2)], out.points[place + np.uint64(3)] = 4 * i2, 4 * i3
        out.reach[np.uint64(count)] = EDGE_SHARE * reach
        taken = other > e or P != Q
        count += taken and not (bodies.any_left_out and is_left_out(bodies, a, b, i0, i1, i2, i3, 2))
    return count


@lean_inline_kernel
def between_patches(P, Q, a, b, reach, shift, bodies, points, boxes, corners, sides, count):
    """Candidates between the primitives of two patches; `shift`: displacement of body a relative to body b, flat
    [m].

    `count`: of both kinds so far, shape (2,).
    """
    patches = boxes.patches
    for patch in (P, Q):
        if boxes.near[patch] == 0:
            fit_primitives(patch, patches.triangle_start, patches.triangle, 3, points, boxes.triangle_fours)
            fit_primitives(patch, patches.edge_start, patches.edge, 2, points, boxes.edge_fours)
            boxes.near[patch] = 1
    low, high = widening(a, b, reach, load4(shift, 0), bodies)
    count[0] = against_triangles(P, Q, a, b, reach, low, high, bodies, points, boxes, corners, count[0])
    if P != Q:
        count[0] = against_triangles(Q, P, b, a, reach, high, low, bodies, points, boxes, corners, count[0])
    count[1] = against_edges(P, Q, a, b, reach, low, high, bodies, boxes, sides, count[1])


@lean_inline_kernel
def may_touch(one, other):
    """Whether two parts of a body may be in contact by their marks, see `own.py`."""
    return min(one, other) > 0 and max(one, other) > 1


@lean_kernel
def between_bodies(a, b, reach, time, shift, bodies, points, boxes, corners, sides, count):
    """Candidates between two bodies, or of one with itself; False if there is no room for them."""
    patches, groups = boxes.patches, boxes.groups
    more_low, more_high = widening(a, b, reach, load4(shift, 0), bodies)
    room = min(corners.reach.shape[0], sides.reach.shape[0]) - MOST_OF_A_PAIR
    b_low, b_high = load4(bodies.low, 4 * b), load4(bodies.high, 4 * b)
    for g in range(groups.body_start[a], groups.body_start[a + 1]):
        if a == b and boxes.group_suspect[g] == 0:
            continue
        g_low, g_high = load4(boxes.group_low, 4 * g) + more_low, load4(boxes.group_high, 4 * g) + more_high
        if apart(g_low, g_high, b_low, b_high):
            continue
        for h in range(g if a == b else groups.body_start[b], groups.body_start[b + 1]):
            if a == b and not may_touch(boxes.group_suspect[g], boxes.group_suspect[h]):
                continue
            h_low, h_high = load4(boxes.group_low, 4 * h), load4(boxes.group_high, 4 * h)
            if apart(g_low, g_high, h_low, h_high):
                continue
            for P in range(groups.start[g], min(groups.start[g + 1], patches.body_start[a + 1])):
                if a == b and boxes.suspect[P] == 0:
                    continue
                low, high = load4(boxes.low, 4 * P) + more_low, load4(boxes.high, 4 * P) + more_high
                if apart(low, high, h_low, h_high):
                    continue
                for Q in range(
                    P if a == b and g == h else groups.start[h], min(groups.start[h + 1], patches.body_start[b + 1])
                ):
                    if a == b and not may_touch(boxes.suspect[P], boxes.suspect[Q]):
                        continue
                    if apart(low, high, load4(boxes.low, 4 * Q), load4(boxes.high, 4 * Q)):
                        continue
                    if a == b and keeps_apart(P, Q, 0.5 * time, points, boxes):
                        continue
                    if count[0] > room or count[1] > room:
                        return False
                    between_patches(P, Q, a, b, reach, shift, bodies, points, boxes, corners, sides, count)
    return True


@lean_kernel
def touches_itself(a, time, middle, bodies, points, boxes, team):
    """Whether a part of body a may touch another one of it within a time [s]; marks which may."""
    if bodies.is_ball[a]:
        return find_suspects(a, time, middle, bodies, points, boxes, team)
    for patch in range(boxes.patches.body_start[a], boxes.patches.body_start[a + 1]):
        boxes.suspect[patch] = 2
    return True


@lean_inline_kernel
def fit_group(group, half, bodies, points, boxes):
    """Frames of a group's patches, see `shape.py`."""
    first, last = patches_of(boxes, group)
    fit_shape(first, last, half, points, boxes, bodies.own_thickness[boxes.patches.body[first]])


@lean_kernel
def fit_shapes(body, half, bodies, points, boxes, team):
    """Frames of all patches of a body."""
    hand_out(team, FRAMES, boxes.groups.body_start[body], boxes.groups.body_start[body + 1])
    _, block = claim(team, 0)
    while block >= 0:
        fit_group(block, half, bodies, points, boxes)
        done(team, 0)
        _, block = claim(team, 0)
    finish(team)


@lean_inline_kernel
def is_excluded(bodies, a, b):
    """Whether no contacts of two bodies are needed: they have none, or ticks answer them and nothing else is near."""
    by_tick = bodies.by_tick[a] and bodies.by_tick[b]
    return bodies.crosses[a, b] or (by_tick and not (bodies.watched[a] or bodies.watched[b]))


@lean_kernel
def find_candidates(contact, x, velocity, time, is_single):
    """All candidates for an epoch of a length [s] that starts at x; False if there is no room for them."""
    bodies, points, boxes, run = contact.bodies, contact.points, contact.boxes, contact.run
    corners, sides = contact.corner_candidates, contact.side_candidates
    count, fitted, shift, middle, team = run.found, run.fitted, run.shift, contact.scratch, run.team
    body_count = bodies.kind.shape[0]
    count[0] = count[1] = 0
    first_collider = contact.rigid.first_body[0] + contact.rigid.inverse_mass.shape[0]
    for b in range(body_count):
        if not run.known[b]:
            predict_flight(b, x, velocity, time, is_single, bodies, points, boxes)
            fitted[b], run.known[b] = 0, b >= first_collider and not run.moves[b]
    store4(shift, 0, spread(0.0))
    for a in range(body_count):
        reach = bodies.own_thickness[a]
        is_looked_for = reach > 0.0 and bodies.kind[a] == SOFT and not bodies.crosses[a, a]
        if is_looked_for and touches_itself(a, time, middle, bodies, points, boxes, team):
            fit_patches(a, points, boxes)
            fit_shapes(a, 0.5 * time, bodies, points, boxes, team)
            fitted[a] = 1
            if not between_bodies(a, a, reach, time, shift, bodies, points, boxes, corners, sides, count):
                return False
    for a in range(body_count):
        for b in range(a + 1, body_count):
            if (bodies.kind[a] == GIVEN and bodies.kind[b] == GIVEN) or is_excluded(bodies, a, b):
                continue
            reach = bodies.thickness[a] + bodies.thickness[b]
            way = (load4(bodies.mean, 4 * a) - load4(bodies.mean, 4 * b)) * time
            more_low, more_high = widening(a, b, reach, way, bodies)
            low, high = load4(bodies.low, 4 * a) + more_low, load4(bodies.high, 4 * a) + more_high
            if apart(low, high, load4(bodies.low, 4 * b), load4(bodies.high, 4 * b)):
                continue
            if fitted[a] == 0:
                fit_patches(a, points, boxes)
                fitted[a] = 1
            if fitted[b] == 0:
                fit_patches(b, points, boxes)
                fitted[b] = 1
            store4(shift, 0, way)
            if not between_bodies(a, b, reach, time, shift, bodies, points, boxes, corners, sides, count):
                return False
    share_slack(points, corners, sides, count)
    return True


@lean_kernel
def share_slack(points, corners, sides, count):
    """Slack of both sides of every candidate together."""
    slack, quad = points.slack, corners.points
    for c in range(count[0]):
        q = 4 * c
        most = max(slack[quad[q + 1] >> 2], max(slack[quad[q + 2] >> 2], slack[quad[q + 3] >> 2]))
        corners.slack[c] = slack[quad[q] >> 2] + most
    quad = sides.points
    for c in range(count[1]):
        q = 4 * c
        sides.slack[c] = max(slack[quad[q] >> 2], slack[quad[q + 1] >> 2]) + max(
            slack[quad[q + 2] >> 2], slack[quad[q + 3] >> 2]
        )
