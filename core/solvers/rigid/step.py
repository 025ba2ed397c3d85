"""The step of rigid bodies alone, and the exchange of impulses that it shares with the ticks of explicit steps."""

import numpy as np

from ...contact.restitution import RESTING_STEPS, resting_speed_kernel
from ...jit import kernel
from .bodies import add_turn, finish_bodies, fly_awake, place_bodies, turn_on
from .found import FIRST_GIVEN, ROW_COUNT, enough_for
from .impulses import LEAST_SWEEPS, Effort, bounce, move_rows, solve, start_impulses
from .rows import forget_unmet, mark_pressing
from .work import Motions, body_energies, bounce_shares, cut_bounce, island_losses, pay_debts


@kernel
def exchange(step, momentum, time, is_pushing, most, out):
    """Impulses at all rows in at most so many sweeps; returns the sweeps.

    Angular momentum [kg m^2/s] with them: `out`. `is_pushing`: before the bodies move, with those of the last step to
    begin with, and penetrations pushed apart; else after that.
    """
    rows, solids, bodies, count = step.rows, step.solids, step.bodies, step.counts[ROW_COUNT]
    spin = solids.spin.copy()
    if is_pushing:
        start_impulses(count, rows, solids)
    enough = enough_for(solids.awake, step.speed, bodies.thickness, time)
    sweeps = solve(count, rows, solids, time, is_pushing, Effort(LEAST_SWEEPS, most, enough))
    add_turn(solids.awake, step.matrices, bodies.inertia, solids.spin, spin, momentum, out)
    return sweeps


@kernel
def take_step(step, pose, velocity, momentum, touching, kept, time, most):
    """Move the bodies by a step of a length [s] with the impulses of their rows; returns the sweeps before and after.

    `kept`: what damping leaves of velocities and angular momenta; `touching`: see `RigidContacts.find`; changes.
    """
    bodies, rows, solids, island = step.bodies, step.rows, step.solids, step.island
    count, first = step.counts[ROW_COUNT], step.counts[FIRST_GIVEN]
    mass, gravity, awake = bodies.mass, bodies.gravity, solids.awake
    weight = mass * bodies.falls
    energy, lost, flying = np.empty((2, len(awake))), np.empty(len(awake)), np.empty_like(momentum)
    body_energies(awake, mass, weight, gravity, pose, Motions(velocity, solids.spin, momentum), energy[0])
    pushing = exchange(step, momentum, time, True, most, flying)
    fly_awake(awake, pose.copy(), solids.velocity, flying, bodies.inverse_inertia, time, pose)
    move_rows(count, rows, solids, time)
    finish_bodies(awake, touching, bodies.falls, time * gravity, solids.velocity)
    # on with the inertia of the new poses
    place_bodies(~awake, pose, bodies.inverse_inertia, step.matrices, step.inverse)
    turn_on(awake, step.inverse, flying, solids.spin, solids.inverse_inertia)
    whole = Motions(solids.velocity, solids.spin, np.empty_like(momentum))
    relaxing = exchange(step, flying, time, False, most, whole.momentum)
    body_energies(awake, mass, weight, gravity, pose, whole, energy[1])
    island_losses(island, energy[0], energy[1], first, count, rows, lost)
    pay_debts(island, awake, mass, lost, first, count, rows, whole)
    # restitution, within the energy that each island has lost
    impulse = rows.impulse[:count, 0].copy()
    calm = Motions(whole.velocity.copy(), whole.spin.copy(), whole.momentum.copy())
    slow = resting_speed_kernel(gravity, time, RESTING_STEPS)
    if bounce(count, rows, solids, slow):
        share = np.empty(len(island))
        add_turn(awake, step.matrices, bodies.inertia, solids.spin, calm.spin, calm.momentum, whole.momentum)
        bounce_shares(island, awake, mass, lost, calm, whole, first, count, rows, impulse, share)
        cut_bounce(island, awake, share, calm, whole, count, rows, impulse)
    velocity[:] = whole.velocity * kept[0]
    momentum[:] = whole.momentum * kept[1]
    touching[:] = ~awake
    mark_pressing(count, rows.body, rows.impulse, touching)
    forget_unmet(count, rows, solids, time, slow)
    return pushing, relaxing
