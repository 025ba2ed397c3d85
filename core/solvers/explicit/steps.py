"""The explicit step and the epochs of contact: a run of steps in one call.

1. Inner forces at x and gravity give the velocities v (leapfrog: v is half a step behind x where they are read).
2. Contact impulses on v, one contact after the other.
3. If the epoch is over: a new search from here, so that these impulses are part of the predicted flight.
4. Drift: y = x + h v. If a patch deviates from its flight by more than its slack: a search at once.
5. Verify that the planes of all contacts still separate their sides at y; else mend the velocities, and drift again.
6. x becomes y.
"""

from typing import NamedTuple

import numpy as np

from ...atomics import publish
from ...bodies.flat.plane import hold_in_plane
from ...jit import lean_inline_kernel, lean_kernel
from ...simd import lane, larger, load4, spread, store4, sum_spread, triple
from ...team import block_of, claim, done, finish, hand_out, has_part, kind_of
from . import verify as guarantee
from .arrays import (  # fmt: skip
    AGE,
    CANDIDATES,
    CARRIED_COUNT,
    DRIFT,
    EARLY,
    FAR,
    JOINED,
    KICK,
    LACKS_ROOM,
    MARGINS,
    MENDED,
    PRESSING,
    RESUMES,
    RIGID,
    ROWS,
    SEARCHES,
    SOFT,
    SPAN,
    STALLS,
    STARTS,
    STEP,
    patches_of,
)
from .carried import accept as accept_bodies
from .carried import begin_flight, fall, place_all, place_point, rigid_deviation, try_move
from .closest import near_edges, near_triangles
from .contact_set import ContactSet
from .dissipation import Dissipation, apply_losses
from .epochs import epoch, plan, widen
from .failures import BY_IMPULSES, BY_ZONES, NOT_AT_ALL, note_failures
from .glue import Glue, hold_glued, place_glued
from .mend import mend
from .own import find_margins
from .press import (
    PART_RATE,
    UNCROSS_HASTE,
    UNCROSS_RATE,
    add_loads,
    clear_rigid_loads,
    grip_again,
    prepare,
    press,
    stiffen,
    weigh,
)
from .renew import renew_failed
from .search import find_candidates, fit_group
from .skins import Skins, accelerate, add_rows, write_rows
from .touching import orient_touching
from .zones import share_motion

#: Attempts of search and mending in one step; in the second half of them bodies in contact move as one.
MOST_ATTEMPTS = 40
#: Further sweeps of friction over the contacts of rigid bodies: at most, and the change of a force that ends them, as a
#: share of what Coulomb's cone lets through.
GRIP_SWEEPS, GRIP_CHANGE = 30, 1e-3


class Scene(NamedTuple):
    """All arrays of a run of steps."""

    contact: ContactSet
    skins: Skins
    glue: Glue
    losses: Dissipation


@lean_kernel
def kick(skins, points, rigid, run, x, velocity, h, damping, gx, gy, gz, scratch):
    """Velocities after the inner forces at x and gravity have acted for a time h [s]."""
    accelerate(x, skins, damping, velocity, points.inverse_mass, h, gx, gy, gz, scratch, run.team)
    for q in range(run.pinned.shape[0]):
        i = 4 * run.pinned[q]
        v = run.pinned_velocity[q]
        velocity[i], velocity[i + 1], velocity[i + 2] = v[0], v[1], v[2]
    fall(rigid, gx, gy, gz, h)


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
def drift(points, bodies, boxes, rigid, run, x, y, velocity, h, time):
    """y = x + h v, and trial poses of rigid bodies; whether a patch exceeds its slack.

    `time`: age of the predicted flight at the end of the step [s]. Soft bodies are the first ones.
    """
    patches, state, team = boxes.patches, run.state, run.team
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
            try_move(rigid, q, h)
            strayed = rigid_deviation(rigid, q, time)
            for patch in range(first, last):
                boxes.strayed[patch] = max(boxes.strayed[patch], strayed)
                far |= not strayed <= boxes.slack[patch]
    for k in range(state[CARRIED_COUNT]):
        i = run.carried[k]
        b = points.body[i]
        if bodies.kind[b] == RIGID:
            place_point(rigid, b, i, y)
        else:
            store4(y, 4 * i, load4(points.start, 4 * i) + load4(velocity, 4 * i) * time)
    claimed = claim(team, 0)
    while claimed >= 0:
        drift_group(points, boxes, state, x, y, velocity, h, time, block_of(claimed))
        done(team, 0)
        claimed = claim(team, 0)
    finish(team)
    return far or state[FAR] == 1


@lean_kernel
def search(contact, x, velocity, h):
    """New contacts for an epoch that starts at x; False if the capacity does not suffice."""
    points = contact.points
    bodies = contact.bodies
    rigid = contact.rigid
    run = contact.run
    state, count = run.state, run.found
    state[SEARCHES] += 1
    place_all(rigid, bodies, x, velocity)
    begin_flight(rigid)
    for b in range(run.moves.shape[0]):
        if run.moves[b]:
            for i in range(4 * bodies.point_start[b], 4 * bodies.point_start[b + 1], 4):
                store4(x, i, load4(run.given_start, i) + load4(velocity, i) * (h * state[STEP]))
    time = epoch(state, h)
    fits = find_candidates(
        x, velocity, time, state[AGE] == 0 or state[SPAN] <= 1, bodies, points, contact.boxes,
        contact.corner_candidates, contact.side_candidates, count[:2], run.fitted, contact.scratch, run.shift,
        run.team,
    )  # fmt: skip
    first = rigid.first_body[0]
    last = first + rigid.inverse_mass.shape[0]
    velocity[4 * bodies.point_start[first] : 4 * bodies.point_start[last]] = 0.0
    if not fits:
        return False
    state[CANDIDATES] += count[0] + count[1]
    count[2] = near_triangles(x, points.flight, contact.corner_candidates, count[0], time, contact.corners)
    count[3] = near_edges(x, points.flight, contact.side_candidates, count[1], time, contact.sides)
    room = contact.corners.reach.shape[0]
    if count[2] > room or count[3] > room:
        return False
    if state[STARTS] == 1:
        orient_touching(contact.corners, count[2], False, x, points, bodies)
        orient_touching(contact.sides, count[3], True, x, points, bodies)
    prepare(contact.corners, contact.sides, count[2:], x, points, bodies, rigid, h, run.head, run.following)
    note_carried(contact.corners, count[2], points, bodies, run, True)
    note_carried(contact.sides, count[3], points, bodies, run, False)
    note_carried(contact.loose, contact.loose_count[0], points, bodies, run, False)
    state[AGE] = 0
    return True


@lean_kernel
def take_loose(contact, x, h):
    """Prepare the contacts of crossing bodies for a run of steps that starts at x."""
    points, bodies, rigid = contact.points, contact.bodies, contact.rigid
    loose, count = contact.loose, contact.loose_count[0]
    weigh(loose, count, x, points, bodies, rigid)
    clear_rigid_loads(points, bodies)
    add_loads(loose, count, x, points, bodies, rigid)
    stiffen(loose, count, points, bodies, h)
    for c in range(count):
        loose.gap[4 * c + 2] = loose.gap[4 * c]


@lean_kernel
def note_carried(contacts, count, points, bodies, run, is_first):
    """List the points of contacts that belong to rigid bodies or moving colliders."""
    if is_first:
        run.state[CARRIED_COUNT] = 0
        for i in range(points.stamp.shape[0]):
            points.stamp[i] = 0
    for q in range(4 * count):
        i = contacts.points[q] >> 2
        if bodies.kind[points.body[i]] != SOFT and points.stamp[i] != 1:
            points.stamp[i] = 1
            run.carried[run.state[CARRIED_COUNT]] = i
            run.state[CARRIED_COUNT] += 1


@lean_kernel
def settle_step(contact, planes, x, y, velocity, velocity_rows, h):
    """Drift, search, verify and mend until the step is accepted; False if a search exceeds the capacity.

    A deviation in the first step of an epoch counts for the next one, too: the new flight is made for a step that is
    known, so nothing deviates in it.
    """
    bodies = contact.bodies
    boxes = contact.boxes
    run = contact.run
    state, count = run.state, run.found
    for attempt in range(MOST_ATTEMPTS):
        time = (state[AGE] + 1) * h
        if drift(contact.points, bodies, boxes, contact.rigid, run, x, y, velocity, h, time):
            state[EARLY] += 1
            if attempt == 0:
                plan(boxes, bodies, run, state[AGE] + 1)
                if state[AGE] > 0:
                    boxes.strayed[:] = 0.0
            else:  # impulses of this step exceeded the slack: contacts for this step alone
                widen(boxes, bodies, run, attempt)
            if not search(contact, x, velocity, h):
                return False
            continue
        failed = guarantee.verify(y, contact.corners, count[2], False)
        failed += guarantee.verify(y, contact.sides, count[3], True)
        if failed == 0 or renew_failed(contact, x, y) == 0:
            return True
        state[MENDED] += 1
        late = attempt - MOST_ATTEMPTS // 2
        if late < 0 and mend(contact, x, y, velocity, h):
            note_failures(contact, BY_IMPULSES)
        else:
            state[JOINED] += 1
            note_failures(contact, BY_ZONES)
            share_motion(contact, x, y, velocity, h, late >= 0, late > 0)
        hold_in_plane(planes.pairs, planes.normal, velocity_rows)
    state[STALLS] += 1  # what is given leaves no room
    note_failures(contact, NOT_AT_ALL)
    return True


@lean_inline_kernel
def press_all(contact, losses, x, velocity, h):
    """Impulses of all contacts."""
    points = contact.points
    bodies = contact.bodies
    rigid = contact.rigid
    run = contact.run
    corners, sides = run.found[2], run.found[3]
    pressing = press(contact.corners, corners, False, x, velocity, points, bodies, rigid, h, losses, PART_RATE, 1.0)
    pressing += press(contact.sides, sides, True, x, velocity, points, bodies, rigid, h, losses, PART_RATE, 1.0)
    loose, haste = contact.loose_count[0], min(h * UNCROSS_HASTE, 0.9)
    pressing += press(contact.loose, loose, False, x, velocity, points, bodies, rigid, h, losses, UNCROSS_RATE, haste)
    run.state[PRESSING] = pressing
    if rigid.inverse_mass.shape[0] > 0:
        for _ in range(GRIP_SWEEPS):
            change = grip_again(contact.corners, corners, False, x, velocity, points, bodies, rigid, losses)
            change = max(change, grip_again(contact.sides, sides, True, x, velocity, points, bodies, rigid, losses))
            if change < GRIP_CHANGE:
                break


@lean_kernel
def take_step(contact, skins, glue, losses, x, y, velocity, velocity_rows, h, damping, gravity):
    """One step from x to y; False if a search exceeds the capacity."""
    points = contact.points
    bodies = contact.bodies
    rigid = contact.rigid
    run = contact.run
    state = run.state
    if state[AGE] < 0 and not search(contact, x, velocity, h):  # contacts need a search first
        return False
    if state[RESUMES] == 0:
        for body in range(skins.gas.amount.shape[0]):
            skins.gas.amount[body] += run.gas_step[body]
        kick(
            skins, points, rigid, run, x, velocity, h, damping, gravity[0], gravity[1], gravity[2], contact.scratch
        )  # fmt: skip
        if glue.offset.shape[0] > 0:
            hold_glued(glue, x, velocity, points, bodies, rigid, h)
        press_all(contact, losses, x, velocity, h)
        hold_in_plane(skins.planes.pairs, skins.planes.normal, velocity_rows)
        if state[AGE] >= state[SPAN]:
            plan(contact.boxes, bodies, run, state[AGE])
            contact.boxes.strayed[:] = 0.0
            state[RESUMES] = 1
    if state[RESUMES] == 1 and not search(contact, x, velocity, h):
        return False
    state[RESUMES] = 1
    if not settle_step(contact, skins.planes, x, y, velocity, velocity_rows, h):
        return False
    state[RESUMES] = 0
    guarantee.accept(y, contact.corners, run.found[2])
    guarantee.accept(y, contact.sides, run.found[3])
    guarantee.accept(y, contact.loose, contact.loose_count[0])
    accept_bodies(rigid)
    place_glued(glue, points, bodies, rigid, y)
    return True


@lean_inline_kernel
def assist(contact, skins, x, y, velocity, h, damping, gravity, number):
    """Work of a helper thread: blocks of every job of the steps that another thread takes."""
    state, team = contact.run.state, contact.run.team
    boxes = contact.boxes
    fall = triple(h * gravity[0], h * gravity[1], h * gravity[2])
    while has_part(team, number):
        claimed = claim(team, number)
        while claimed >= 0:
            kind, block = kind_of(claimed), block_of(claimed)
            here, there = (x, y) if state[STEP] % 2 == 0 else (y, x)
            if kind == ROWS:
                write_rows(here, skins, damping, block)
            elif kind == KICK:
                add_rows(skins, velocity, contact.points.inverse_mass, h, fall, contact.scratch, block)
            elif kind == DRIFT:
                time = (state[AGE] + 1) * h
                drift_group(contact.points, boxes, state, here, there, velocity, h, time, block)
            elif kind == MARGINS:
                find_margins(block, contact.scratch, contact.points.flight, boxes)
            else:
                fit_group(block, 0.5 * epoch(state, h), contact.bodies, contact.points, boxes)
            done(team, number)
            claimed = claim(team, number)


@lean_kernel
def advance(scene, x, y, velocity, x_rows, y_rows, velocity_rows, steps, h, damping, gravity, loss_steps, number):
    """Take steps until `state[STEP]` reaches `steps`, or until a search exceeds the capacity (`state[LACKS_ROOM]`).

    Called again with larger arrays, it resumes. `damping`: c of the dashpots; `loss_steps`: steps between two calls of
    dissipation. After an odd number of steps the positions are those in y. Rows are the same arrays, shape
    (point_count, 4). `number`: 0, or that of a helper, which does its part of the same call in another thread.
    """
    contact = scene.contact
    state = contact.run.state
    if number > 0:
        assist(contact, scene.skins, x, y, velocity, h, damping, gravity, number)
        return
    while state[STEP] < steps:
        here, there, rows = (x, y, y_rows) if state[STEP] % 2 == 0 else (y, x, x_rows)
        if not take_step(
            contact, scene.skins, scene.glue, scene.losses, here, there, velocity, velocity_rows, h, damping, gravity
        ):
            state[LACKS_ROOM] = 1
            return
        state[STEP] += 1
        state[AGE] += 1
        if state[STEP] % loss_steps == 0 or state[STEP] == steps:
            late = (state[STEP] - 1) % loss_steps + 1
            start = contact.bodies.point_start
            apply_losses(rows, velocity_rows, scene.losses, contact.rigid, start, gravity, h * late)
