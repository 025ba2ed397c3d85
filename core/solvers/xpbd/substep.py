"""The substep, and a run of them in one call.

1. Prediction, gas, stretch, bend, volumes; velocities from positions                          `skins.py`
2. Attachments, then contacts with friction, on velocities                                     `contacts.py`
3. Epoch of contacts over: search from x, with these velocities as flight (`explicit/steps.py`), and contacts once more.
4. The guarantee of `explicit/verify.py`: y = x + h v is searched again where it strays from the flight foreseen,
   and mended where a frozen plane does not separate any more.
5. Bounces of rigid bodies, the other half of gravity, losses. y becomes x.
"""

from typing import NamedTuple

from ...jit import lean_kernel
from ...model import BoolArray, FloatArray
from ...plane import hold_in_plane
from ..explicit import carried
from ..explicit.arrays import (
    AGE,
    EARLY,
    JOINED,
    LACKS_ROOM,
    MENDED,
    RESUMES,
    SPAN,
    STALLS,
    STEP,
)  # fmt: skip
from ..explicit.contact_set import ContactSet
from ..explicit.epochs import plan, widen
from ..explicit.glue import Glue, place_glued
from ..explicit.losses import Losses, apply_losses
from ..explicit.mend import mend
from ..explicit.renew import renew_failed
from ..explicit.steps import MOST_ATTEMPTS, drift, search
from ..explicit.verify import accept, verify
from ..explicit.zones import share_motion
from .contacts import Impulses, note_contacts, press, project_glue
from .skins import Skins, fall_rest, predict, project, take_velocities

#: Where a run goes on, in `state[RESUMES]`: at the search that begins a frame, or at one later in a substep.
AT_START, AT_SEARCH = 1, 2
#: An epoch may be so many times as long as the one before: one of a single substep is exact and tells little.
MOST_GROWTH = 2


class Free(NamedTuple):
    """Velocities before contacts act."""

    velocity: FloatArray  # of the vertices [m/s], flat
    rigid: FloatArray  # velocity [m/s] and angular momentum [kg m^2/s], shape (rigid_count, 6)


class Scene(NamedTuple):
    """Everything that substeps read and write."""

    contact: ContactSet
    skins: Skins
    corner_impulses: Impulses
    side_impulses: Impulses
    loose_impulses: Impulses
    glue: Glue
    losses: Losses
    free: Free
    gained: FloatArray  # see `contacts.bounce`, shape (rigid_count, 6)
    touching: BoolArray  # whether a contact pushed each moving body in the last substep; changes
    tied: BoolArray  # whether something is attached to a moving body or pins it
    lies: BoolArray  # whether f = 1, see `skins.py`; changes


@lean_kernel
def renew(scene, x, velocity, h):
    """Search; False if there is no room."""
    scene.corner_impulses.along[:] = 0.0
    scene.corner_impulses.across[:] = 0.0
    scene.side_impulses.along[:] = 0.0
    scene.side_impulses.across[:] = 0.0
    return search(scene.contact, x, velocity, h)


@lean_kernel
def begin(scene, x, y, velocity, gravity, h):
    """Where everything goes without constraints; False if there is no room for the first search of a frame."""
    state, lies = scene.contact.run.state, scene.lies
    rigid = scene.contact.rigid
    skins = scene.skins
    if state[AGE] < 0 and not renew(scene, x, velocity, h):
        state[RESUMES], state[LACKS_ROOM] = AT_START, 1
        return False
    state[RESUMES] = 0
    for b in range(lies.shape[0]):
        lies[b] = scene.touching[b] or scene.tied[b]
    first = rigid.first_body[0]
    for q in range(rigid.inverse_mass.shape[0]):
        share = h if lies[first + q] else 0.5 * h
        for axis in range(3):
            rigid.velocity[q, axis] += share * gravity[axis]
    for body in range(skins.gas.amount.shape[0]):
        skins.gas.amount[body] += scene.contact.run.gas_step[body]
    predict(skins, x, velocity, lies, gravity, h, y)
    return True


@lean_kernel
def leave(scene, x, y, velocity, velocity_rows, gravity, h):
    """Velocities from where the constraints of the skins went, and attachments."""
    skins = scene.skins
    take_velocities(skins, x, y, scene.lies, gravity, h, velocity)
    project_glue(scene.glue, x, velocity, scene.contact.points, scene.contact.bodies, scene.contact.rigid, h)
    hold_in_plane(skins.pairs, skins.pair_normal, velocity_rows)
    keep_free(scene, velocity)


@lean_kernel
def keep_free(scene, velocity):
    """Keep the velocities that there are without contacts."""
    rigid = scene.contact.rigid
    free = scene.free
    for i in range(free.velocity.shape[0]):
        free.velocity[i] = velocity[i]
    for q in range(rigid.inverse_mass.shape[0]):
        for axis in range(3):
            free.rigid[q, axis], free.rigid[q, 3 + axis] = rigid.velocity[q, axis], rigid.momentum[q, axis]


@lean_kernel
def meet(scene, x, velocity, velocity_rows, h):
    """Contacts change the velocities that the constraints alone have given."""
    rigid = scene.contact.rigid
    free = scene.free
    for i in range(free.velocity.shape[0]):
        velocity[i] = free.velocity[i]
    for q in range(rigid.inverse_mass.shape[0]):
        for axis in range(3):
            rigid.velocity[q, axis] = free.rigid[q, axis]
            rigid.momentum[q, axis] = free.rigid[q, 3 + axis]
        carried.respin(rigid, q)
    press(scene, x, velocity, velocity_rows, h)


@lean_kernel
def settle(scene, x, y, velocity, velocity_rows, h):
    """Contacts, with searches and mending until the substep can be taken; False if there is no room for a search.

    What the contacts of an epoch that is over do is part of the flight that the next one foresees. What strays from it,
    and what no plane separates among contacts of an earlier substep, is searched for once more from x, and contacts
    start afresh. What new contacts leave too near is mended.
    """
    contact = scene.contact
    bodies = contact.bodies
    boxes = contact.boxes
    run = contact.run
    state, count = run.state, run.found
    is_over = state[AGE] >= state[SPAN]
    if state[RESUMES] != AT_SEARCH:
        meet(scene, x, velocity, velocity_rows, h)
        if is_over:
            plan(boxes, bodies, run, state[AGE])
            state[SPAN] = min(state[SPAN], MOST_GROWTH * state[AGE])
    if state[RESUMES] == AT_SEARCH or is_over:
        if not renew(scene, x, velocity, h):
            return False
        state[RESUMES] = 0
        meet(scene, x, velocity, velocity_rows, h)
    for attempt in range(MOST_ATTEMPTS):
        time = (state[AGE] + 1) * h
        if drift(contact.points, bodies, boxes, contact.rigid, run, x, y, velocity, h, time):
            state[EARLY] += 1
            if attempt == 0:
                plan(boxes, bodies, run, state[AGE] + 1)
            else:
                widen(boxes, bodies, run, attempt)
        else:
            failed = verify(y, contact.corners, count[2], False) + verify(y, contact.sides, count[3], True)
            if failed == 0 or renew_failed(contact, x, y) == 0:
                return True
            if state[AGE] == 0:
                state[MENDED] += 1
                late = attempt - MOST_ATTEMPTS // 2
                if late >= 0 or not mend(contact, x, y, velocity, h):
                    state[JOINED] += 1
                    share_motion(contact, x, y, velocity, h, late >= 0, late > 0)
                hold_in_plane(scene.skins.pairs, scene.skins.pair_normal, velocity_rows)
                continue
        if not renew(scene, x, velocity, h):
            return False
        meet(scene, x, velocity, velocity_rows, h)
    state[STALLS] += 1  # what is given leaves no room
    return True


@lean_kernel
def finish(scene, x, y, velocity, y_rows, velocity_rows, gravity, h, steps, loss_steps):
    """Move to y, the end of the substep; False if there is no room for a search."""
    contact = scene.contact
    rigid = contact.rigid
    run = contact.run
    state, lies = run.state, scene.lies
    if not settle(scene, x, y, velocity, velocity_rows, h):
        state[RESUMES], state[LACKS_ROOM] = AT_SEARCH, 1
        return False
    note_contacts(scene, x, velocity, gravity, h)
    accept(y, contact.corners, run.found[2])
    accept(y, contact.sides, run.found[3])
    place_glued(scene.glue, contact.points, contact.bodies, rigid, y)
    first = rigid.first_body[0]
    for q in range(rigid.inverse_mass.shape[0]):
        share = 0.0 if lies[first + q] else 0.5 * h
        for axis in range(3):
            rigid.velocity[q, axis] += scene.gained[q, axis] + share * gravity[axis]
            rigid.momentum[q, axis] += scene.gained[q, 3 + axis]
    carried.accept(rigid)
    fall_rest(scene.skins, velocity, lies, gravity, h)
    state[STEP] += 1
    state[AGE] += 1
    if state[STEP] % loss_steps == 0 or state[STEP] == steps:
        late = (state[STEP] - 1) % loss_steps + 1
        apply_losses(y_rows, velocity_rows, scene.losses, rigid, contact.bodies.point_start, gravity, h * late)
    hold_in_plane(scene.skins.pairs, scene.skins.pair_normal, velocity_rows)
    return True


@lean_kernel
def advance(scene, x, y, velocity, x_rows, y_rows, velocity_rows, steps, h, gravity, loss_steps):
    """Go on until `state[STEP]` reaches `steps`; stops before that where a search lacks room (`state[LACKS_ROOM]`).

    Called again with more room, it goes on where it stopped. `loss_steps`: substeps between losses. After an odd number
    of substeps the positions are those in y. Rows are the same arrays, shape (point_count, 4).
    """
    state = scene.contact.run.state
    while state[STEP] < steps:
        if state[STEP] % 2 == 0:
            done = substep(scene, x, y, velocity, x_rows, y_rows, velocity_rows, steps, h, gravity, loss_steps)
        else:
            done = substep(scene, y, x, velocity, y_rows, x_rows, velocity_rows, steps, h, gravity, loss_steps)
        if not done:
            return


@lean_kernel
def substep(scene, x, y, velocity, x_rows, y_rows, velocity_rows, steps, h, gravity, loss_steps):
    """One substep from x to y; False if there is no room for a search."""
    if scene.contact.run.state[RESUMES] != AT_SEARCH:
        if not begin(scene, x, y, velocity, gravity, h):
            return False
        project(scene.skins, x_rows, y, y_rows, h)
        leave(scene, x, y, velocity, velocity_rows, gravity, h)
    return finish(scene, x, y, velocity, y_rows, velocity_rows, gravity, h, steps, loss_steps)
