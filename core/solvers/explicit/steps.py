"""The explicit step and the epochs of contact: a run of steps in one call.

1. Gravity and the inner forces at x of bodies that are due (`paces.py`) give the velocities v (leapfrog: v is half a
   step behind x where they are read).
2. Contact impulses on v, one contact after the other.
3. If the epoch is over: a new search from here, so that these impulses are part of the predicted flight.
4. Drift: y = x + h v. If a patch deviates from its flight by more than its slack: a search at once.
5. Verify that the planes of all contacts still separate their sides at y; else limit the velocities, and drift again.
6. x becomes y.
"""

from typing import NamedTuple

from ...bodies.flat.plane import hold_in_plane
from ...jit import lean_inline_kernel, lean_kernel
from ...simd import triple
from ...team import claim, done, has_part
from . import verify as guarantee
from .arrays import (  # fmt: skip
    AGE,
    DRIFT,
    KICK,
    LACKS_ROOM,
    MARGINS,
    RESUMES,
    ROWS,
    SPAN,
    STALLED,
    STEP,
    TICK_END,
    TICK_START,
    WAKES,
    WORK,
)
from .attempt import ACCEPTED, MOST_ATTEMPTS, MOST_WORK, OUTDATED, drift_group, search, stand_still, try_step
from .carried import accept as accept_bodies
from .contact_set import ContactSet
from .dissipation import Dissipation, brake, damp
from .epochs import epoch, plan
from .glue import Glue, hold_glued, place_glued
from .own import find_margins
from .paces import set_due
from .rigid_flight import catch_up, kick_bodies, strays
from .search import fit_group
from .skins import Skins, accelerate, add_rows, write_rows
from .standstill import hold_stopped
from .start_loads import StartLoads, aim
from .sweeps import press_all


class Scene(NamedTuple):
    """All arrays of a run of steps."""

    contact: ContactSet
    skins: Skins
    glue: Glue
    losses: Dissipation
    start_loads: StartLoads


@lean_kernel
def kick(contact, skins, x, velocity, h, gravity):
    """Velocities after the inner forces at x and gravity have acted for a time h [s]."""
    run, (gx, gy, gz) = contact.run, (gravity[0], gravity[1], gravity[2])
    inverse_mass, scratch = contact.points.inverse_mass, contact.scratch
    accelerate(x, skins, velocity, inverse_mass, h, gx, gy, gz, scratch, run.team)
    for q in range(run.pinned.shape[0]):
        i = 4 * run.pinned[q]
        v = run.pinned_velocity[q]
        velocity[i], velocity[i + 1], velocity[i + 2] = v[0], v[1], v[2]
    kick_bodies(contact.rigid, h)


@lean_kernel
def settle_step(contact, planes, x, y, velocity, velocity_rows, h):
    """Drift, search, verify and limit until the step is accepted; False if a search exceeds the capacity."""
    for attempt in range(MOST_ATTEMPTS):
        outcome = try_step(contact, planes, x, y, velocity, velocity_rows, h, attempt, True)
        if outcome == ACCEPTED:
            return True
        if outcome == OUTDATED and not search(contact, x, velocity, h):
            return False
    stand_still(contact, x, y, velocity, h)
    return True


@lean_kernel
def take_step(contact, skins, glue, losses, x, y, velocity, velocity_rows, h, gravity):
    """One step from x to y; False if a search exceeds the capacity."""
    run, state = contact.run, contact.run.state
    if state[AGE] < 0 and not search(contact, x, velocity, h):  # contacts need a search first
        return False
    if state[RESUMES] == 0:
        for body in range(skins.gas.amount.shape[0]):
            skins.gas.amount[body] += run.gas_step[body]
        kick(contact, skins, x, velocity, h, gravity)
        if glue.offset.shape[0] > 0:
            hold_glued(contact, glue, x, velocity, h)
        press_all(contact, losses, x, velocity, h)
        if state[WORK] > MOST_WORK:
            hold_stopped(contact, x, y, velocity, h)
        hold_in_plane(skins.planes.pairs, skins.planes.normal, velocity_rows)
        if state[AGE] >= state[SPAN]:
            plan(contact.boxes, contact.bodies, run, state[AGE])
            contact.boxes.strayed[:] = 0.0
            state[RESUMES] = 1
    if state[RESUMES] == 1 and not search(contact, x, velocity, h):
        return False
    state[RESUMES] = 1
    if not settle_step(contact, skins.planes, x, y, velocity, velocity_rows, h):
        return False
    state[RESUMES] = 0
    guarantee.accept(contact, y)
    accept_bodies(contact.rigid, h)
    place_glued(contact, glue, y)
    return True


@lean_inline_kernel
def assist(contact, skins, x, y, velocity, h, gravity, number):
    """Work of a helper thread: blocks of every job of the steps that another thread takes."""
    state, team, boxes = contact.run.state, contact.run.team, contact.boxes
    fall = triple(h * gravity[0], h * gravity[1], h * gravity[2])
    while has_part(team, number):
        kind, block = claim(team, number)
        while block >= 0:
            here, there = (x, y) if state[STEP] % 2 == 0 else (y, x)
            if kind == ROWS:
                write_rows(here, skins, block)
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
            kind, block = claim(team, number)


@lean_kernel
def advance(scene, x, y, velocity, x_rows, y_rows, velocity_rows, steps, h, gravity, loss_steps, number):
    """Take steps of a run until `state[STEP]` reaches `state[TICK_END]`, a rigid body strays from the plan of its tick
    or must wake, a step is not settled (`state[STALLED]`), or a search exceeds the capacity (`state[LACKS_ROOM]`).

    Called again with larger arrays, it resumes. `steps`: of the run; `loss_steps`: steps
    between two calls of dissipation. After an odd number of steps the positions are those in y. Rows are the same
    arrays, shape (point_count, 4). `number`: 0, or that of a helper, which does its part of the same call in another
    thread.
    """
    contact = scene.contact
    state = contact.run.state
    if number > 0:
        assist(contact, scene.skins, x, y, velocity, h, gravity, number)
        return
    while state[STEP] < state[TICK_END]:
        here, there, rows = (x, y, y_rows) if state[STEP] % 2 == 0 else (y, x, x_rows)
        set_due(scene.skins.paces, state, steps, h)
        if state[RESUMES] == 0:
            aim(scene.start_loads, scene.skins.load, here, velocity, h, state, steps)
        if not take_step(
            contact, scene.skins, scene.glue, scene.losses, here, there, velocity, velocity_rows, h, gravity
        ):
            state[LACKS_ROOM] = 1
            return
        state[STEP] += 1
        state[AGE] += 1
        if state[STEP] % loss_steps == 0 or state[STEP] == steps:
            late = (state[STEP] - 1) % loss_steps + 1
            start = contact.bodies.point_start
            brake(rows, velocity_rows, scene.losses, contact.rigid, start, gravity, h * late)
            damp(rows, velocity_rows, scene.losses, contact.rigid, start, gravity, h * late)
        strayed = strays(contact.rigid, h, (state[STEP] - state[TICK_START]) * h)
        if strayed or state[WAKES] == 1 or state[STALLED] == 1:
            break
    catch_up(contact.rigid)
