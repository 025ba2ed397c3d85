"""XPBD with small steps: the fast solver, for soft skins at low pressure and for many bodies.

Extended position based dynamics (Macklin, Müller, Chentanez 2016) with one sweep per substep (Macklin et al. 2019,
"Small steps in physics simulation") and rigid bodies by generalised inverse masses (Müller et al. 2020). A substep:

    predict      x0 + h v + gravity; rigid bodies fly; pinned vertices and colliders go where they are given
    gas          in closed form                                             `gas.py`
    stretch      edges, coloured                                            `stretch.py`
    bend         hinges, coloured                                           `bend.py`
    attachments  one after the other                                        `contacts.py`
    contacts     what lacks its distance or has been passed through         `swept.py`, `contacts.py`
    velocities   (x - x0) / h, and the spin that this loses                 `move.py`, `spin.py`
    losses       bounciness and damping, the same as the other solver's     `solvers/losses.py`

Every projection keeps momentum and angular momentum.
"""

import math

import numpy as np

from ...collide.bound import limit_displacement
from ...collide.mobility import Mobility
from ...collide.narrow import evaluate_gaps
from ...collide.recovery import RECOVERY_SHARE
from ...errors import ParameterError
from ...forces.attachment import turned_offsets
from ...model import FloatArray, Model
from ...rigid.flight import fly, pushed, shifted
from ...rigid.motion import move_poses, place_points, steps_between, turned_tensors
from ...state import RigidMotion, State, StuckContacts
from ..counts import Counts
from ..given import Motion
from ..losses import Losses
from ..pairs import PairImpulses
from .bend import HingeRows, project_bend
from .candidates import Candidates
from .colours import schedule, vertex_blocks
from .contacts import (
    RESTING_STEPS,
    RIGID_SWEEPS,
    SWEEPS,
    choose_rows,
    contact_forces,
    project_attachments,
    project_contacts,
    project_velocities,
)
from .gas import predict_and_measure
from .move import set_velocities
from .spin import add_lack, lacking_spin, measure_moments, measure_spin
from .stretch import edge_rows, project_skins
from .swept import NEVER, find_crossed


class XpbdSolver:
    """Advances a model by substeps of `substep_time` [s]."""

    def __init__(self, model: Model, substep_time: float) -> None:
        if not (math.isfinite(substep_time) and substep_time > 0.0):
            raise ParameterError(f"substep: {substep_time} s; give a positive time.")
        self.model = model
        self.substep_time = substep_time
        self.counts = Counts()
        self._time = substep_time
        n, chunks, solids = model.vertex_count, model.chunks, model.rigid
        with np.errstate(divide="ignore"):
            self._inverse_mass = np.where(model.pinned, 0.0, 1.0 / model.vertex_mass)
        self._block_chunk = vertex_blocks(chunks)
        block_start = chunks.start[self._block_chunk]
        self._edge_order = schedule(model.edges.points, block_start, n)
        self._edges = edge_rows(model.edges, self._edge_order, self._inverse_mass, self._time)
        skin = model.surfaces.triangles[: model.surfaces.body_triangle_start[model.membrane_count]]
        self._triangle_order = schedule(skin, block_start, n)
        self._triangles = skin[self._triangle_order.order].astype(np.uint32)
        order = schedule(model.hinges.points, block_start, n)
        self._hinges = HingeRows(order.order, order.task_start, order.launch_start)
        self._turn = np.zeros((len(model.hinges.sharp), 18))
        self._hinge_force = np.zeros((len(model.hinges.points), 4, 3))
        self._gradient = np.zeros((n, 3))
        self._gas_sums = np.zeros((len(chunks.body), 2))
        self._impulse = np.zeros(model.membrane_count)
        self._spin_sums = np.zeros((len(chunks.body), 13))
        self._spin = np.zeros((model.membrane_count, 6))
        self._pinned = np.flatnonzero(model.pinned)
        skins = range(model.membrane_count)
        start = model.body_point_start
        self._free = np.array([not model.pinned[start[b] : start[b + 1]].any() for b in skins], bool)
        # bodies that something holds: they lie, see `move.py`
        self._tied = np.zeros(model.moving_count, bool)
        self._tied[: model.membrane_count] = ~self._free
        self._tied[model.point_body[model.attachments.points]] = True
        self._lying = np.zeros(model.moving_count, bool)
        self._start = np.zeros((model.point_count, 3))
        self._poses = np.zeros((model.rigid_count, 7))
        self._aim = np.zeros((model.rigid_count, 7))
        self._candidates = Candidates(model)
        self._arm = solids.arm.copy()
        self._owner = model.point_body[n : model.moving_point_count] - model.membrane_count
        self._mobility = Mobility(
            self._inverse_mass, solids.unknown, self._arm, 1.0 / solids.mass, solids.inverse_inertia.copy()
        )
        self._step = np.zeros((model.unknown_count, 3))
        self._earlier = np.zeros((model.unknown_count, 3))
        self._slow = RESTING_STEPS * substep_time * float(np.linalg.norm(model.gravity))
        self._share = np.ones(n + model.rigid_count)
        self._losses = Losses(model)
        self._pairs = PairImpulses(model)
        self._sweeps = RIGID_SWEEPS if model.rigid_count else SWEEPS
        self._motion: Motion | None = None
        self._moves = False  # whether anything given moves in this frame
        self._chosen = 0
        self._moved = False  # whether something has moved the skins since `measure_spin`
        self._allocate(0)

    def _allocate(self, capacity: int) -> None:
        """Room for so many rows of contacts."""
        self.normal_force = np.zeros(capacity)  # of each row at the end of the last substep [N]
        self._soft_force = np.zeros(capacity)  # of those that press on a membrane
        self._crossed = np.full(capacity, NEVER)
        self._rows = np.zeros(capacity, np.int32)
        self._depth = np.zeros(capacity)
        self._pressed = np.zeros(capacity)
        self._held = np.zeros((capacity, 3))

    @property
    def contacts(self):  # type: ignore[no-untyped-def]
        """The contact record."""
        return self._candidates.contacts

    @property
    def contact_count(self) -> int:
        """Contacts that exert a force at the end of the last substep."""
        return int(np.count_nonzero(self.normal_force[: self.candidate_count]))

    @property
    def candidate_count(self) -> int:
        """Pairs in the contact record."""
        return self._candidates.contacts.count

    def untangle(self, state: State) -> int:
        """Note in the state which points are behind another body's surface; returns how many triangles cross."""
        return self._candidates.untangle(state)

    def start_frame(self, state: State) -> None:
        """Forget what was found on the way to a state, so that a run continued from it has the same bits."""
        self._candidates.start_frame(state)
        self._pairs.clear()
        self.normal_force[:] = 0.0

    def step(self, before: State, after: State, motion: Motion, share: float, gas: FloatArray) -> None:
        """One substep from `before` to `after`, which may be the same object.

        `share` is the part of the frame (0 to 1) that lies behind at its start; `gas` nRT [J] at its end.
        """
        if after is not before:
            after.positions[:] = before.positions
            after.velocities[:] = before.velocities
            after.rigid = before.rigid.copy()
            after.touching[:] = before.touching
            after.approach, after.wrong_side = before.approach, before.wrong_side
        if motion is not self._motion:
            self._motion = motion
            self._moves = not np.array_equal(motion.start, motion.end)
        after.gas[:] = gas
        after.stuck = StuckContacts.none()
        self.counts.stages += 1
        self._come_back(after)
        self._predict(after)
        self._move_given(after, motion, share + self._time / motion.frame_time)
        self._project_skins(after)
        self._project_contacts(after)
        self._set_velocities(after)
        self._settle_contacts(after)
        if not self._candidates.alone:
            after.wrong_side = self._candidates.wrong_side()
        self._losses.apply(self, self._pairs, after, self._time)
        self._set_point_velocities(after)

    def _come_back(self, state: State) -> None:
        """Move points that are behind a surface a bit of the way back; before the prediction, so without a velocity."""
        if not self._candidates.tangled:
            return
        x = state.positions
        self._start[:] = x
        self._poses[:] = state.rigid.pose
        self._candidates.cover(x, x)
        self._candidates.recover(x)
        self._press(state, 1.0)
        self._candidates.recover(x)  # what has been reached is not given up

    def _predict(self, state: State) -> None:
        model, h = self.model, self._time
        n, count = model.vertex_count, model.membrane_count
        np.logical_or(state.touching, self._tied, out=self._lying)
        x = state.positions
        if len(x) > n:
            self._start[n:] = x[n:]
        if len(self._pinned):
            self._start[self._pinned] = x[self._pinned]
        if model.rigid_count:
            solids, rigid = model.rigid, state.rigid
            self._poses[:] = rigid.pose
            turned_tensors(rigid.pose, solids.inverse_inertia, self._mobility.rigid_inverse_inertia)
            self._set_rows(rigid, self._earlier)
            flight = fly(rigid.pose, rigid.velocity, rigid.angular_momentum, solids, h)
            fall = np.where(self._lying[count:, None], h * h, 0.5 * h * h) * model.gravity
            self._aim[:] = shifted(flight, fall)
            rigid.pose[:] = self._aim
            place_points(rigid.pose, solids.arm, solids.point_start, x)

    def _move_given(self, state: State, motion: Motion, share: float) -> None:
        """Put pinned vertices and colliders where they are at the end of the substep."""
        if self._moves:
            state.positions[motion.points] = motion.positions(share)

    def _project_skins(self, state: State) -> None:
        """Prediction, gas, stretch and bend, and the angular momentum that the skins lose without a reason."""
        model, x = self.model, state.positions
        if model.membrane_count == 0:
            return
        predict_and_measure(
            x, state.velocities, self._inverse_mass, model.gravity, self._time, self._lying, model.body_point_start,
            model.chunks, self._block_chunk, self._triangles, self._triangle_order.task_start,
            self._triangle_order.launch_start, model.rest_volume, state.gas, model.ambient_pressure, self._start,
            self._gradient, self._gas_sums, self._impulse,
        )  # fmt: skip
        project_skins(
            x, self._inverse_mass, self._gradient, self._impulse, model.chunks, self._block_chunk,
            self._edge_order.task_start, self._edge_order.launch_start, self._edges,
        )  # fmt: skip
        if len(self._hinge_force):
            project_bend(x, self._inverse_mass, model.hinges, self._hinges, self._time, self._turn, self._hinge_force)

        measure_spin(
            self._start, x, state.velocities, model.vertex_mass, model.gravity, self._time, model.body_point_start,
            model.chunks, self._lying, self._spin_sums,
        )  # fmt: skip

    def _project_contacts(self, state: State) -> None:
        """Attachments, then contacts with friction."""
        model, candidates = self.model, self._candidates
        state.touching[:] = False
        self._chosen = 0
        self._moved = False
        if candidates.alone:
            return
        x = state.positions
        attachments = model.attachments
        if len(attachments.body):
            self._step[:] = 0.0
            self._set_mobility(state)
            project_attachments(
                attachments.points, attachments.weights, turned_offsets(attachments, x), attachments.stiffness,
                self._time, x, self._mobility, self._step,
            )  # fmt: skip
            self._take_step(state)
        before = candidates.searches
        candidates.cover(self._start, x)
        self.counts.contact_searches += candidates.searches - before
        self._press(state, RECOVERY_SHARE)  # what has been reached is kept

    def _press(self, state: State, back: float) -> None:
        """Project the contacts of the record; points behind a surface come to the share `back` of the thickness."""
        contacts, x = self._candidates.contacts, state.positions
        count = contacts.count
        if contacts.capacity > len(self._rows):
            self._allocate(contacts.capacity)
        self._chosen = 0
        if count == 0:
            return
        evaluate_gaps(x, contacts, self.model.surfaces)
        find_crossed(
            self._start, x, count, contacts.points, contacts.kind, contacts.side, contacts.weights, contacts.normal,
            contacts.gap, self._crossed,
        )  # fmt: skip
        self._chosen = choose_rows(
            count, contacts.edge_start, contacts.points, contacts.bodies, contacts.kind, contacts.side,
            contacts.thickness, contacts.gap, contacts.distance, contacts.wanted, self._crossed, back,
            self._rows, self._depth,
        )  # fmt: skip
        if self._chosen == 0:
            return
        self._step[:] = 0.0
        self._set_mobility(state)
        project_contacts(
            self._chosen, self._rows, self._depth, contacts.points, contacts.weights, contacts.normal,
            contacts.friction, self._start, x, self._mobility, self._sweeps, self._step, self._pressed, self._held,
        )  # fmt: skip
        self._take_step(state)
        self._hold_back(state)

    def _hold_back(self, state: State) -> None:
        """Shorten the way since the start of the substep where surfaces would end on the wrong side of each other.

        It happens where something is squeezed from several sides. This takes momentum, so it is the last resort: what
        is on the wrong side unnoticed would stay there.
        """
        model, contacts, x, n = self.model, self._candidates.contacts, state.positions, self.model.vertex_count
        find_crossed(
            self._start, x, contacts.count, contacts.points, contacts.kind, contacts.side, contacts.weights,
            contacts.normal, contacts.gap, self._crossed,
        )  # fmt: skip
        if not (self._crossed[: contacts.count] < NEVER).any():
            return
        self.counts.shortened_steps += 1
        np.subtract(x[:n], self._start[:n], out=self._step[:n])
        if model.rigid_count:
            steps_between(self._poses, state.rigid.pose, self._step[n:])
            points = slice(n, model.moving_point_count)
            np.subtract(self._start[points], self._poses[self._owner, :3], out=self._arm)
        limit_displacement(self._start, self._step, self._mobility, contacts, self._share)
        self._step[:n] *= self._share[:n, None]
        self._step[n:] *= np.repeat(self._share[n:], 2)[:, None]
        np.add(self._start[:n], self._step[:n], out=x[:n])
        if model.rigid_count:
            move_poses(self._poses, self._step[n:], 1.0, state.rigid.pose)
            place_points(state.rigid.pose, model.rigid.arm, model.rigid.point_start, x)

    def _set_mobility(self, state: State) -> None:
        """Arms and inverse inertia of the rigid bodies as they are."""
        model = self.model
        if model.rigid_count:
            points = slice(model.vertex_count, model.moving_point_count)
            np.subtract(state.positions[points], state.rigid.pose[self._owner, :3], out=self._arm)
            turned_tensors(state.rigid.pose, model.rigid.inverse_inertia, self._mobility.rigid_inverse_inertia)

    def _set_rows(self, rigid: RigidMotion, out: FloatArray) -> None:
        """Velocities and angular velocities of the rigid bodies in their rows of unknowns."""
        rows = out[self.model.vertex_count :]
        rows[::2] = rigid.velocity
        rows[1::2] = np.einsum("bij,bj->bi", self._mobility.rigid_inverse_inertia, rigid.angular_momentum)

    def _take_step(self, state: State) -> None:
        """Move everything by the rows of unknowns."""
        model, n = self.model, self.model.vertex_count
        if n:
            self._moved = True
            step, x = self._step[:n], state.positions
            add_lack(self._start, x, step, model.vertex_mass, self._time, model.chunks, self._spin_sums)
            x[:n] += step
        if model.rigid_count:
            move_poses(state.rigid.pose, self._step[n:], 1.0, state.rigid.pose)
            place_points(state.rigid.pose, model.rigid.arm, model.rigid.point_start, state.positions)

    def _set_velocities(self, state: State) -> None:
        """Velocities from where everything went."""
        model, h = self.model, self._time
        x, v, count = state.positions, state.velocities, model.membrane_count
        if count:
            if self._moved:
                measure_moments(x, model.vertex_mass, model.body_point_start, model.chunks, self._spin_sums)
            lacking_spin(x, model.body_point_start, model.chunks, self._free, self._spin_sums, self._spin)
            set_velocities(
                x, self._start, self._inverse_mass, model.gravity, h, model.chunks, self._lying, self._spin, v
            )
        if self._moves and self._motion is not None:
            v[self._motion.points] = self._motion.velocities
        elif self._motion is not None:
            v[self._motion.points] = 0.0
        if model.rigid_count:
            rigid = state.rigid
            rest = np.where(self._lying[count:, None], 0.0, 0.5 * h) * model.gravity
            state.rigid = RigidMotion(
                rigid.pose,
                (rigid.pose[:, :3] - self._poses[:, :3]) / h + rest,
                rigid.angular_momentum + pushed(self._aim, rigid.pose, model.rigid, h),
            )

    def _settle_contacts(self, state: State) -> None:
        """Velocities of rigid bodies in contact, and what the contacts did in the substep."""
        model, candidates, n = self.model, self._candidates, self.model.vertex_count
        if candidates.alone:
            return
        contacts = candidates.contacts
        if model.rigid_count and self._chosen:
            rigid, rows = state.rigid, self._step[n:]
            self._set_mobility(state)
            self._set_rows(rigid, self._step)
            project_velocities(
                self._chosen, self._rows, contacts.points, contacts.bodies, contacts.weights, contacts.normal,
                contacts.friction, model.bounciness, self._slow, state.velocities, self._mobility, self._time, self._sweeps,
                self._earlier, self._step, self._pressed, self._held,
            )  # fmt: skip
            inertia = np.empty((model.rigid_count, 3, 3))
            turned_tensors(rigid.pose, model.rigid.inertia, inertia)
            rigid.velocity[:] = rows[::2]
            rigid.angular_momentum[:] = np.einsum("bij,bj->bi", inertia, rows[1::2])
        contact_forces(
            self._chosen, self._rows, self._pressed, contacts.bodies, model.membrane_count, self._time,
            self.normal_force, self._soft_force, state.touching,
        )  # fmt: skip
        if self._losses.inelastic:
            self._pairs.clear()
            self._pairs.add(contacts, candidates.searches, state.positions, self._soft_force, self._time)

    def _set_point_velocities(self, state: State) -> None:
        """Velocities of the rigid bodies' points from their motion."""
        model = self.model
        if model.rigid_count:
            points = slice(model.vertex_count, model.moving_point_count)
            inverse = np.empty((model.rigid_count, 3, 3))
            turned_tensors(state.rigid.pose, model.rigid.inverse_inertia, inverse)
            spin = np.einsum("bij,bj->bi", inverse, state.rigid.angular_momentum)
            arm = state.positions[points] - state.rigid.pose[self._owner, :3]
            state.velocities[points] = state.rigid.velocity[self._owner] + np.cross(spin[self._owner], arm)
