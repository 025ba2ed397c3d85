"""An attempt of a step under the guarantee that nothing crosses: drift, verify, limit; and the search before it.

`settle_step` of `steps.py` repeats it for explicit steps, `settle` of `sequential/contact_phase.py` for substeps whose
contacts are constraints.
"""

import numpy as np

from ...atomics import publish
from ...bodies.flat.plane import hold_in_plane
from ...jit import lean_inline_kernel, lean_kernel
from ...simd import lane, larger, load4, spread, store4, sum_spread
from ...team import claim, done, finish, hand_out
from . import verify as guarantee
from .arrays import (
    AGE,
    ALLOWED,
    CANDIDATES,
    CARRIED_COUNT,
    DRIFT,
    EARLY,
    FAR,
    LIMITED,
    RIGID,
    SEARCHES,
    SOFT,
    SPAN,
    STALLED,
    STALLS,
    STARTS,
    STEP,
    WORK,
    patches_of,
)
from .carried import begin_flight, place_all, place_point, rigid_deviation, try_move
from .clearance import keep_what_is_drawn
from .closest import near_edges, near_triangles
from .epochs import epoch, plan, widen
from .failures import KEPT_APART, NO_ROOM, STOPPED, note_failures
from .motion_limit import APART, TOGETHER, limit_motion
from .press import prepare
from .renew import renew_failed
from .rigid_flight import catch_up, idle_deviation, note_meeting
from .search import find_candidates
from .standstill import stay, stop_all
from .touching import orient_touching

#: Attempts of search and limit in one step: from the first one on what fails moves as one, from the second it stays.
FROM_TOGETHER, FROM_STAY, MOST_ATTEMPTS = 6, 9, 40
#: Candidates and contacts that searches and limits may look at in a frame, some 2 s of work. After that, bodies that
#: fail stay where they are until the frame ends.
MOST_WORK = 40_000_000
#: Candidates per point above which an epoch is halved; two bodies that are pressed on each other have some eight.
CROWDED = 32
#: What comes of an attempt.
ACCEPTED, AGAIN, OUTDATED = range(3)


@lean_inline_kernel
def drift_group(points, boxes, state, x, y, velocity, h, time, group):
    """y = x + h v for a group of a soft body's patches; sets `state[FAR]` if one exceeds its slack."""
    patches = boxes.patches
    first, last = patches_of(boxes, group)
    for patch in range(first, last):
        most = spread(0.0)
        for i in range(
            np.uint64(4 * patches.vertex_start[patch]), np.uint64(4 * patches.vertex_end[patch]), np.uint64(4)
        ):
            there = load4(x, i) + load4(velocity, i) * h
            store4(y, i, there)
            way = there - load4(points.start, i) - load4(points.flight, i) * time
            most = larger(most, way * way)
        strayed = lane(sum_spread(most), 0) ** 0.5
        boxes.strayed[patch] = max(boxes.strayed[patch], strayed)
        if not strayed <= boxes.slack[patch]:
            publish(state, FAR, 1)


@lean_kernel
def drift(contact, x, y, velocity, h, time):
    """y = x + h v, and trial poses of rigid bodies; whether a patch exceeds its slack.

    `time`: age of the predicted flight at the end of the step [s]. Soft bodies are the first ones.
    """
    bodies, boxes, rigid = contact.bodies, contact.boxes, contact.rigid
    patches, state, team = boxes.patches, contact.run.state, contact.run.team
    state[FAR] = 0
    hand_out(team, DRIFT, 0, boxes.groups.body_start[rigid.first_body[0]])
    far = False
    for b in range(bodies.kind.shape[0]):
        first, last = patches.body_start[b], patches.body_start[b + 1]
        if bodies.kind[b] == SOFT:
            inside = patches.vertex_end[last - 1] if last > first else bodies.point_start[b]
            for i in range(np.uint64(4 * inside), np.uint64(4 * bodies.point_start[b + 1]), np.uint64(4)):
                store4(y, i, load4(x, i) + load4(velocity, i) * h)
        elif bodies.kind[b] == RIGID:
            q = b - rigid.first_body[0]
            if rigid.idle[q]:
                strayed = idle_deviation(rigid, q, h, time)
            else:
                try_move(rigid, q, h)
                strayed = rigid_deviation(rigid, q, time)
            for patch in range(first, last):
                boxes.strayed[patch] = max(boxes.strayed[patch], strayed)
                far |= not strayed <= boxes.slack[patch]
    for k in range(state[CARRIED_COUNT]):
        i = contact.run.carried[k]
        b = contact.points.body[i]
        if bodies.kind[b] == RIGID:
            place_point(contact, i, y)
        else:
            store4(y, 4 * i, load4(contact.points.start, 4 * i) + load4(velocity, 4 * i) * time)
    _, block = claim(team, 0)
    while block >= 0:
        drift_group(contact.points, boxes, state, x, y, velocity, h, time, block)
        done(team, 0)
        _, block = claim(team, 0)
    finish(team)
    return far or state[FAR] == 1


@lean_kernel
def try_step(contact, planes, x, y, velocity, velocity_rows, h, attempt, limits):
    """Drift from x to y and verify; limit the velocities if a plane does not separate its sides any more.

    Returns what comes of it: ACCEPTED; AGAIN, as velocities have changed; or OUTDATED: a patch exceeds the
    slack of its predicted flight, or a plane fails and the step `limits` nothing, so that a search is needed. A
    deviation in the first step of an epoch counts for the next one, too: the new flight is made for a step that is
    known, so nothing deviates in it.
    """
    bodies, boxes, run = contact.bodies, contact.boxes, contact.run
    state = run.state
    if drift(contact, x, y, velocity, h, (state[AGE] + 1) * h):
        state[EARLY] += 1
        if attempt == 0:
            plan(boxes, bodies, run, state[AGE] + 1)
            if state[AGE] > 0:
                boxes.strayed[:] = 0.0
        else:  # impulses of this step exceeded the slack: contacts for this step alone
            widen(boxes, bodies, run, attempt)
        return OUTDATED
    is_over = state[WORK] > MOST_WORK
    if guarantee.verify(contact, y) == 0 or (not is_over and renew_failed(contact, x, y) == 0):
        return ACCEPTED
    if not limits:
        return OUTDATED
    state[LIMITED] += 1
    stays = is_over or attempt >= FROM_STAY
    note_failures(contact, STOPPED if stays else KEPT_APART)
    if not stays:
        limit_motion(contact, x, y, velocity, h, APART if attempt < FROM_TOGETHER else TOGETHER)
    elif not stay(contact, x, y, velocity, h, is_over):
        note_failures(contact, NO_ROOM)
        return ACCEPTED
    hold_in_plane(planes.pairs, planes.normal, velocity_rows)
    return AGAIN


@lean_kernel
def stand_still(contact, x, y, velocity, h):
    """Let all that is free stay at x, and report what given points leave no room: no attempt has settled the step."""
    contact.run.state[STALLS] += 1
    contact.run.state[STALLED] = 1
    stop_all(contact, x, y, velocity, h)
    note_failures(contact, NO_ROOM)


@lean_kernel
def search(contact, x, velocity, h):
    """New contacts for an epoch that starts at x; False if the capacity does not suffice."""
    while find_contacts(contact, x, velocity, h):
        if not note_meeting(contact):
            contact.run.state[AGE] = 0
            return True
    return False


@lean_kernel
def find_contacts(contact, x, velocity, h):
    """`search` with the present pairs of bodies; the epoch begins once these are all."""
    bodies, rigid, run = contact.bodies, contact.rigid, contact.run
    state, count = run.state, run.found
    state[SEARCHES] += 1
    catch_up(rigid)
    place_all(rigid, bodies, x, velocity)
    begin_flight(rigid)
    for b in range(run.moves.shape[0]):
        if run.moves[b]:
            for i in range(4 * bodies.point_start[b], 4 * bodies.point_start[b + 1], 4):
                store4(x, i, load4(run.given_start, i) + load4(velocity, i) * (h * state[STEP]))
    fits = find_for_epoch(contact, x, velocity, h)
    first = rigid.first_body[0]
    last = first + rigid.inverse_mass.shape[0]
    velocity[4 * bodies.point_start[first] : 4 * bodies.point_start[last]] = 0.0
    if not fits:
        return False
    state[CANDIDATES] += count[0] + count[1]
    time, flight, room = epoch(state, h), contact.points.flight, contact.corners.reach.shape[0]
    count[2] = near_triangles(x, flight, contact.corner_candidates, count[0], time, contact.corners)
    count[3] = near_edges(x, flight, contact.side_candidates, count[1], time, contact.sides)
    if count[2] > room or count[3] > room:
        return False
    keep_what_is_drawn(contact)
    if state[STARTS] == 1:
        orient_touching(contact, x)
    prepare(contact, x)
    note_carried(contact)
    return True


@lean_kernel
def find_for_epoch(contact, x, velocity, h):
    """Candidates of an epoch that is halved while they are crowded and grow more than with its length; False without
    room.

    What flies many edges far in an epoch, as a shape that springs back, would meet all of itself. Layers on each other
    are crowded, too, but in a short epoch as in a long one.
    """
    state, count = contact.run.state, contact.run.found
    before = 0  # candidates of an epoch twice as long, 0 where it is not known
    while True:
        fits = find_candidates(contact, x, velocity, epoch(state, h), state[AGE] == 0 or state[SPAN] <= 1)
        found = count[0] + count[1]
        state[WORK] += found
        if 2 * found > before > 0:
            state[ALLOWED] = 2 * before
        if state[SPAN] <= 1 or found <= max(CROWDED * contact.points.body.shape[0], state[ALLOWED]):
            return fits
        before = found if fits else 0
        state[SPAN] //= 2


@lean_kernel
def note_carried(contact):
    """List the points of contacts that belong to rigid bodies or moving colliders."""
    points, run = contact.points, contact.run
    run.state[CARRIED_COUNT] = 0
    points.stamp[:] = 0
    for kind, contacts in enumerate((contact.corners, contact.sides)):
        for q in range(4 * run.found[2 + kind]):
            i = contacts.points[q] >> 2
            if contact.bodies.kind[points.body[i]] != SOFT and points.stamp[i] != 1:
                points.stamp[i] = 1
                run.carried[run.state[CARRIED_COUNT]] = i
                run.state[CARRIED_COUNT] += 1
