"""Dissipation beside that of the energies: damping of vibrations, and restitution.

Both change velocities at the end of a substep and conserve linear and angular momentum.

Damping: v - v_rigid is scaled by exp(-damping h), with v_rigid the rigid motion of the same momentum and angular
momentum. Falling, flying and rolling are not damped. Restitution: `solvers/restitution.py`.
"""

import numpy as np

from ...contact.contacts import Contacts
from ...contact.mixing import mixed
from ...contact.restitution import bounce_strength
from ...extras import step_damping
from ...jit import kernel
from ...model import FloatArray, Model
from ...options import DEFAULTS, MethodOptions
from ...state import PairSpeeds, State
from ..pair_impulses import PairImpulses
from ..restitution import LEAST_UNTOUCHED, apply_restitution
from ..rigid_motion import relax_points, rigid_motions
from .rigid_body_motion import rigid_body_motions, set_rigid_body_motions


class Dissipation:
    """Applies damping and bounciness to a state at the end of a step."""

    def __init__(self, model: Model, options: MethodOptions = DEFAULTS) -> None:
        self._model = model
        self._step_damping = step_damping(model, options)
        self._damped = bool((model.damping > 0.0).any())
        self._inelastic = model.rigid_count > 0 or bool((model.bounciness < 1.0).any())
        self._strengths: dict[float, float] = {}
        # per moving body: see `bodies.rigid.motion`
        self._motion = np.zeros((model.moving_count, 15))
        self._untouched_mass = np.zeros(model.vertex_count)

    def bounce(
        self, contacts: Contacts, normal_force: FloatArray, pairs: PairImpulses, state: State, time: float
    ) -> None:
        """Restitution only, after a step of a length [s]: change the velocities of `state` in place.

        `normal_force`: of each contact at its end [N].
        """
        model, x, v, membranes = self._model, state.positions, state.velocities, slice(0, self._model.membrane_count)
        if not self._inelastic:
            return
        if not pairs.load.any():
            state.approach = PairSpeeds.none()
            return
        mass = self._untouched_mass
        mass_without_contacts(
            contacts.count, contacts.points, normal_force, model.vertex_mass, model.body_point_start, mass,
        )  # fmt: skip
        rigid_motions(x, v, mass, model.body_point_start, self._motion[membranes])
        solids = self._motion[model.membrane_count :]
        rigid_body_motions(state.rigid, model.rigid, solids)
        bounciness = mixed(model.bounciness[pairs.low], model.bounciness[pairs.high])
        speeds = pairs.speeds(state.approach)
        apply_restitution(
            x, v, model.membrane_count, model.moving_count, mass, model.body_mass, model.body_point_start,
            pairs.low, pairs.high, pairs.impulse, pairs.point, pairs.load, bounciness,
            self._strengths_of(bounciness), self._motion, time * model.gravity, speeds,
        )  # fmt: skip
        set_rigid_body_motions(solids, model.rigid, state.rigid)
        known = speeds != 0.0
        state.approach = PairSpeeds(pairs.key[known], speeds[known])

    def damp(self, state: State, time: float) -> None:
        """Damping only, after a step of a length [s]: change the velocities of `state` in place."""
        model, x, v = self._model, state.positions, state.velocities
        if self._damped:
            rigid_motions(x, v, model.vertex_mass, model.body_point_start, self._motion[: model.membrane_count])
            relax(x, v, model.chunks, self._motion, np.exp(-model.damping * time), model.pinned)
        if model.rigid_count:
            state.rigid.velocity *= np.exp(-time * model.rigid.linear_damping)[:, None]
            state.rigid.angular_momentum *= np.exp(-time * model.rigid.angular_damping)[:, None]
        if self._step_damping is not None:
            self._step_damping.apply(state, time)

    def _strengths_of(self, bounciness: FloatArray) -> FloatArray:
        """`bounce_strength` of each, computed once per distinct value."""
        for e in set(bounciness.tolist()) - self._strengths.keys():
            self._strengths[e] = bounce_strength(e)
        return np.array([self._strengths[e] for e in bounciness.tolist()])


@kernel
def relax(x, v, chunks, motion, kept, pinned):
    """Scale velocities relative to the body's rigid motion by `kept` [1]."""
    for chunk in range(chunks.body.shape[0]):
        body = chunks.body[chunk]
        relax_points(x, v, chunks.start[chunk], chunks.start[chunk + 1], motion[body], kept[body], pinned)


@kernel
def mass_without_contacts(count, points, normal_force, vertex_mass, body_point_start, mass):
    """Vertex masses, 0 for vertices in contact; all of a body's where too little would be left."""
    vertex_count = mass.shape[0]
    mass[:] = vertex_mass
    for c in range(count):
        if normal_force[c] > 0.0:
            for slot in range(4):
                if points[c, slot] < vertex_count:
                    mass[points[c, slot]] = 0.0
    for body in range(body_point_start.shape[0] - 1):
        first, last = body_point_start[body], body_point_start[body + 1]
        if last > vertex_count:
            break
        untouched = 0
        for i in range(first, last):
            untouched += mass[i] > 0.0
        # three vertices or fewer may have no inertia about some axis
        if untouched < 4 or mass[first:last].sum() < LEAST_UNTOUCHED * vertex_mass[first:last].sum():
            mass[first:last] = vertex_mass[first:last]
