"""Contact phase of a substep, after the velocities without contacts are known.

1. Contacts with friction, on velocities                                                        `contacts.py`
2. Epoch of contacts over: search from x, with these velocities as flight, and contacts once more.
3. The guarantee of `explicit/attempt.py`: y = x + h v is searched again where it exceeds the slack of the predicted
   flight, and limited where a frozen plane does not separate any more.
4. Restitution of rigid bodies, velocities beyond those that move them, dissipation. y becomes x.
"""

from typing import NamedTuple

import numpy as np

from ...array_types import BoolArray, FloatArray
from ...bodies.flat.plane import hold_in_plane
from ...jit import lean_kernel
from ...simd import load4, store4
from ..explicit import carried
from ..explicit.arrays import AGE, LACKS_ROOM, PRESSING, RESUMES, SPAN, STEP  # fmt: skip
from ..explicit.attempt import ACCEPTED, MOST_ATTEMPTS, OUTDATED, search, stand_still, try_step
from ..explicit.contact_set import START_ROOM, ContactSet
from ..explicit.dissipation import Dissipation, brake, damp
from ..explicit.epochs import plan
from ..explicit.glue import Glue, place_glued
from ..explicit.skins import Planes
from ..explicit.verify import accept
from ..explicit.workspace import Workspace
from .contacts import Impulses, impulses_of, note_contacts, press, stop_all

#: Where a run resumes, in `state[RESUMES]`: at the search that begins a frame, or at one later in a substep.
AT_START, AT_SEARCH = 1, 2
#: Largest growth of an epoch's length: one of a single substep has no deviations to plan by.
MOST_GROWTH = 2


class Velocities(NamedTuple):
    """Velocities of all moving points and bodies."""

    points: FloatArray  # of the vertices [m/s], flat
    rigid: FloatArray  # velocity [m/s] and angular momentum [kg m^2/s], shape (rigid_count, 6)


class ContactPhase(NamedTuple):
    """All data of the contact phase."""

    contact: ContactSet
    corner_impulses: Impulses
    side_impulses: Impulses
    glue: Glue
    planes: Planes
    losses: Dissipation
    free: Velocities  # before contacts act
    late: Velocities  # added at the end of the substep: they do not move anything in it
    touching: BoolArray  # whether a contact pushed each moving body in the last substep; changes
    tied: BoolArray  # whether a moving body has attachments or pins
    lies: BoolArray  # whether all of gravity acts at the start, as contacts, attachments or pins balance it; changes

    def note_impulses(self) -> None:
        """Write the contacts that pushed in the last substep into the contact set."""
        contact, pressed, size = self.contact, self.contact.pressed, 0
        both = ((contact.corners, self.corner_impulses), (contact.sides, self.side_impulses))
        for (contacts, impulses), count in zip(both, contact.run.found[2:].tolist(), strict=True):
            impulse = impulses.along[:count] + impulses.last[:count]
            rows = np.flatnonzero(impulse > 0.0)
            new, size = slice(size, size + len(rows)), size + len(rows)
            pressed.points[new] = contacts.points.reshape(-1, 4)[rows] >> 2
            pressed.weight[new] = contacts.weight.reshape(-1, 4)[rows]
            pressed.impulse[new], pressed.gap[new] = impulse[rows], contacts.gap[4 * rows]
            pressed.reach[new] = contacts.reach[rows]
        pressed.size[0] = size


def contact_phase_of(space: Workspace) -> ContactPhase:
    """The contact phase of a model; bounces of rigid bodies are those of its contacts (Müller et al. 2020, 3.6)."""
    model, pairs = space.model, space.losses.pairs
    pairs.counts[:] &= pairs.low < model.membrane_count
    tied = np.zeros(model.moving_count, bool)
    tied[model.point_body[: model.vertex_count][model.pinned]] = True
    tied[model.point_body[model.attachments.points]] = True
    free, late = (
        Velocities(np.zeros(4 * model.vertex_count), np.zeros((model.rigid_count, 6))) for _ in range(2)
    )  # fmt: skip
    return ContactPhase(
        contact=space.contact,
        corner_impulses=impulses_of(START_ROOM),
        side_impulses=impulses_of(START_ROOM),
        glue=space.glue,
        planes=Planes(space.numbering.place[model.flat.pairs], model.flat.pair_normal),
        losses=space.losses,
        free=free,
        late=late,
        touching=np.zeros(model.moving_count, bool),
        tied=tied,
        lies=np.zeros(model.moving_count, bool),
    )


@lean_kernel
def renew(phase, x, velocity, h):
    """Search; False if the capacity does not suffice."""
    phase.corner_impulses.along[:] = 0.0
    phase.corner_impulses.across[:] = 0.0
    phase.side_impulses.along[:] = 0.0
    phase.side_impulses.across[:] = 0.0
    return search(phase.contact, x, velocity, h)


@lean_kernel
def begin(phase, x, velocity, gravity, h):
    """Search for contacts, and add gravity to the rigid bodies; False if the first search exceeds the capacity.

    Bodies in flight get half of gravity at the end of the substep, so that free fall is exact.
    """
    state, lies, late = phase.contact.run.state, phase.lies, phase.late.rigid
    rigid = phase.contact.rigid
    if state[AGE] < 0 and not renew(phase, x, velocity, h):
        state[RESUMES], state[LACKS_ROOM] = AT_START, 1
        return False
    state[RESUMES] = 0
    for b in range(lies.shape[0]):
        lies[b] = phase.touching[b] or phase.tied[b]
    first = rigid.first_body[0]
    for q in range(rigid.inverse_mass.shape[0]):
        time = h * rigid.falls[q]
        share = time if lies[first + q] else 0.5 * time
        for axis in range(3):
            rigid.velocity[q, axis] += share * gravity[axis]
            late[q, axis], late[q, 3 + axis] = (time - share) * gravity[axis], 0.0
    return True


@lean_kernel
def keep_free(phase, velocity):
    """Store the velocities without contacts."""
    rigid, free = phase.contact.rigid, phase.free
    for i in range(free.points.shape[0]):
        free.points[i] = velocity[i]
    for q in range(rigid.inverse_mass.shape[0]):
        for axis in range(3):
            free.rigid[q, axis], free.rigid[q, 3 + axis] = rigid.velocity[q, axis], rigid.momentum[q, axis]


@lean_kernel
def apply_contacts(phase, x, velocity, velocity_rows, h):
    """Apply the contacts to the velocities without contacts."""
    rigid, free = phase.contact.rigid, phase.free
    for i in range(free.points.shape[0]):
        velocity[i] = free.points[i]
    for q in range(rigid.inverse_mass.shape[0]):
        for axis in range(3):
            rigid.velocity[q, axis] = free.rigid[q, axis]
            rigid.momentum[q, axis] = free.rigid[q, 3 + axis]
        carried.respin(rigid, q)
    press(phase, x, velocity, velocity_rows, h)


@lean_kernel
def settle(phase, x, y, velocity, velocity_rows, h):
    """Contacts, with searches and limits until the substep is accepted; False if a search exceeds the capacity.

    The impulses of the contacts of an epoch that is over are part of the flight that the next one predicts. If a point
    exceeds the slack, or no plane separates a contact of an earlier substep, there is one more search from x, and
    contacts start afresh. New contacts that end too near are limited.
    """
    contact = phase.contact
    run, state = contact.run, contact.run.state
    is_over = state[AGE] >= state[SPAN]
    if state[RESUMES] != AT_SEARCH:
        keep_free(phase, velocity)
        apply_contacts(phase, x, velocity, velocity_rows, h)
        if is_over:
            plan(contact.boxes, contact.bodies, run, state[AGE])
            contact.boxes.strayed[:] = 0.0
            state[SPAN] = min(state[SPAN], MOST_GROWTH * state[AGE])
    if state[RESUMES] == AT_SEARCH or is_over:
        if not renew(phase, x, velocity, h):
            return False
        state[RESUMES] = 0
        apply_contacts(phase, x, velocity, velocity_rows, h)
    for attempt in range(MOST_ATTEMPTS):
        outcome = try_step(contact, phase.planes, x, y, velocity, velocity_rows, h, attempt, state[AGE] == 0)
        if outcome == ACCEPTED:
            return True
        if outcome == OUTDATED:
            if not renew(phase, x, velocity, h):
                return False
            apply_contacts(phase, x, velocity, velocity_rows, h)
    stand_still(contact, x, y, velocity, h)
    return True


@lean_kernel
def finish(phase, x, y, velocity, y_rows, velocity_rows, gravity, h, steps, loss_steps, by_forces):
    """Move to y, the end of the substep; False if a search exceeds the capacity.

    `steps`: substeps of the run; `loss_steps`: those between two calls of dissipation. `by_forces`: whether velocities
    come from forces. Then the velocities added at the end are stopped at contacts, and damping acts in every substep:
    at intervals it makes steps near the limit of stability grow, as velocities are half a step behind positions.
    """
    contact, late = phase.contact, phase.late
    rigid, state = contact.rigid, contact.run.state
    start = contact.bodies.point_start
    if not settle(phase, x, y, velocity, velocity_rows, h):
        state[RESUMES], state[LACKS_ROOM] = AT_SEARCH, 1
        return False
    state[RESUMES] = 0
    note_contacts(phase, x, velocity, gravity, h)
    accept(contact, y)
    place_glued(contact, phase.glue, y)
    for q in range(rigid.inverse_mass.shape[0]):
        for axis in range(3):
            rigid.velocity[q, axis] += late.rigid[q, axis]
            rigid.momentum[q, axis] += late.rigid[q, 3 + axis]
    carried.accept(rigid, h)
    for i in range(0, late.points.shape[0], 4):
        store4(velocity, i, load4(velocity, i) + load4(late.points, i))
    if by_forces and state[PRESSING] > 0:
        stop_all(phase, x, velocity)
    state[STEP] += 1
    state[AGE] += 1
    if state[STEP] % loss_steps == 0 or state[STEP] == steps:
        passed = (state[STEP] - 1) % loss_steps + 1
        brake(y_rows, velocity_rows, phase.losses, rigid, start, gravity, h * passed)
        if not by_forces:
            damp(y_rows, velocity_rows, phase.losses, rigid, start, gravity, h * passed)
    if by_forces:
        damp(y_rows, velocity_rows, phase.losses, rigid, start, gravity, h)
    hold_in_plane(phase.planes.pairs, phase.planes.normal, velocity_rows)
    return True
