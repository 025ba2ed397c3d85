"""The contact phase of a substep: attachments and contacts move the bodies, and then their velocities are settled."""

import numpy as np

from ...collide.bound import limit_displacement
from ...collide.contacts import Contacts
from ...collide.mobility import Mobility
from ...collide.narrow import evaluate_gaps
from ...forces.attachment import turned_offsets
from ...model import FloatArray, Model
from ...plane import Planes
from ...rigid.motion import move_poses, place_points, steps_between, turned_tensors
from ...state import RigidMotion, State
from ..circles import Circles
from ..counts import Counts
from .contacts import (
    RESTING_STEPS,
    RIGID_SWEEPS,
    SWEEPS,
    choose_rows,
    contact_forces,
    project_attachments,
    project_contacts,
    project_lone,
    project_velocities,
)
from .spin import take_step
from .swept import NEVER, find_crossed, largest_move


class ContactPhase:
    """What contacts and attachments do to the bodies of one model, in substeps of `time` [s].

    `start` and `poses`: where points and rigid bodies were when the substep began; `spin_sums`: see `spin.py`. They
    are the solver's arrays, which it fills; `contacts` is the record that `collide.candidates.Candidates` keeps.
    """

    def __init__(
        self, model: Model, time: float, contacts: Contacts, inverse_mass: FloatArray, start: FloatArray,
        poses: FloatArray, spin_sums: FloatArray, counts: Counts,
    ) -> None:  # fmt: skip
        solids = model.rigid
        self.model = model
        self._time = time
        self._contacts = contacts
        self._start = start
        self._poses = poses
        self._spin_sums = spin_sums
        self._counts = counts
        #: Rigid body of each rigid point, shape (rigid_point_count,).
        self.owner = model.point_body[model.vertex_count : model.moving_point_count] - model.membrane_count
        #: Whether something has moved the skins in this substep.
        self.moved = False
        #: Whether something is attached.
        self.attached = len(model.attachments.body) > 0
        self._arm = solids.arm.copy()
        self._mobility = Mobility(
            inverse_mass, solids.unknown, self._arm, 1.0 / solids.mass, solids.inverse_inertia.copy()
        )
        self._step = np.zeros((model.unknown_count, 3))
        self._earlier = np.zeros((model.unknown_count, 3))
        self._share = np.ones(model.vertex_count + model.rigid_count)
        self._slow = RESTING_STEPS * time * float(np.linalg.norm(model.gravity))
        self._sweeps = RIGID_SWEEPS if model.rigid_count else SWEEPS
        self._uses = np.zeros(model.vertex_count, np.int32)
        self._chosen = 0
        self._planes = Planes(model)
        self._allocate(0)

    def _allocate(self, capacity: int) -> None:
        """Room for so many rows of contacts."""
        self.normal_force = np.zeros(capacity)  # of each row at the end of the last substep [N]
        self.soft_force = np.zeros(capacity)  # of those that press on a membrane
        self._crossed = np.full(capacity, NEVER)
        self._rows = np.zeros(capacity, np.int32)
        self._waiting = np.zeros(capacity, np.int32)  # those of them that share a vertex
        self._settled = np.zeros(capacity, bool)
        self._depth = np.zeros(capacity)
        self._pressed = np.zeros(capacity)
        self._held = np.zeros((capacity, 3))

    def begin(self) -> None:
        """Start a substep: nothing has moved anything yet."""
        self._chosen = 0
        self.moved = False

    def keep_velocities(self, rigid: RigidMotion) -> None:
        """Keep the velocities of the rigid bodies before the substep, for their bounces."""
        turned_tensors(rigid.pose, self.model.rigid.inverse_inertia, self._mobility.rigid_inverse_inertia)
        self._set_rows(rigid, self._earlier)

    def attach(self, state: State) -> None:
        """Project the attachments."""
        attachments, x = self.model.attachments, state.positions
        if self.attached:
            self._step[:] = 0.0
            self._set_mobility(state)
            project_attachments(
                attachments.points, attachments.weights, turned_offsets(attachments, x), attachments.stiffness,
                self._time, x, self._mobility, self._step,
            )  # fmt: skip
            self._take_step(state)

    def part(self, state: State, circles: Circles) -> None:
        """Move particles of trusses apart that are too near to each other."""
        self._step[:] = 0.0
        self._set_mobility(state)
        circles.part(state.positions, self._mobility, self._step)
        self._take_step(state)

    def press(self, state: State, back: float) -> None:
        """Project the contacts of the record; points behind a surface come to the share `back` of the thickness."""
        contacts, x = self._contacts, state.positions
        count = contacts.count
        if contacts.capacity > len(self._rows):
            self._allocate(contacts.capacity)
        self._chosen = 0
        if count == 0:
            return
        evaluate_gaps(x, contacts, self.model.surfaces)
        before = largest_move(self._start, x)
        self._settled[:count] = False
        find_crossed(
            self._start, x, count, contacts.points, contacts.kind, contacts.side, self._settled, contacts.distance,
            2.0 * before, contacts.weights, contacts.normal, contacts.gap, self._crossed,
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
        waiting = project_lone(
            self._chosen, self._rows, self._depth, contacts.points, contacts.weights, contacts.normal, contacts.gap,
            contacts.feature, contacts.friction, self._start, x, self._mobility, self._uses, self._step, self._pressed,
            self._held, self._settled, self._waiting,
        )  # fmt: skip
        if waiting:
            project_contacts(
                waiting, self._waiting, self._rows, self._depth, contacts.points, contacts.weights, contacts.normal,
                contacts.friction, self._start, x, self._mobility, self._sweeps, self._step, self._pressed, self._held,
            )  # fmt: skip
        self._take_step(state)
        self._hold_back(state, before)

    def _hold_back(self, state: State, before: float) -> None:
        """Shorten the way since the start of the substep where surfaces would end on the wrong side of each other.

        It happens where something is squeezed from several sides. This takes momentum, so it is the last resort: what
        is on the wrong side unnoticed would stay there. `before` [m] is how far points had moved before the contacts.
        """
        model, contacts, x, n = self.model, self._contacts, state.positions, self.model.vertex_count
        # the distances are those before the contacts, which have taken both sides at most this much farther
        near = 4.0 * largest_move(self._start, x) + 2.0 * before
        find_crossed(
            self._start, x, contacts.count, contacts.points, contacts.kind, contacts.side, self._settled,
            contacts.distance, near, contacts.weights, contacts.normal, contacts.gap, self._crossed,
        )  # fmt: skip
        if not (self._crossed[: contacts.count] < NEVER).any():
            return
        self._counts.shortened_steps += 1
        np.subtract(x[:n], self._start[:n], out=self._step[:n])
        if model.rigid_count:
            steps_between(self._poses, state.rigid.pose, self._step[n:])
            points = slice(n, model.moving_point_count)
            np.subtract(self._start[points], self._poses[self.owner, :3], out=self._arm)
        limit_displacement(self._start, self._step, self._mobility, contacts, self._share)
        self._planes.share_alike(self._share)
        self._step[:n] *= self._share[:n, None]
        self._step[n:] *= np.repeat(self._share[n:], 2)[:, None]
        np.add(self._start[:n], self._step[:n], out=x[:n])
        if model.rigid_count:
            move_poses(self._poses, self._step[n:], 1.0, state.rigid.pose)
            place_points(state.rigid.pose, model.rigid.arm, model.rigid.point_start, x)

    def settle(self, state: State) -> None:
        """Velocities of rigid bodies in contact, and what the contacts did in the substep."""
        model, contacts, n = self.model, self._contacts, self.model.vertex_count
        if model.rigid_count and self._chosen:
            rigid, rows = state.rigid, self._step[n:]
            self._set_mobility(state)
            self._set_rows(rigid, self._step)
            project_velocities(
                self._chosen, self._rows, contacts.points, contacts.bodies, contacts.weights, contacts.normal,
                contacts.friction, model.bounciness, self._slow, state.velocities, self._mobility, self._time,
                self._sweeps, self._earlier, self._step, self._pressed, self._held,
            )  # fmt: skip
            inertia = np.empty((model.rigid_count, 3, 3))
            turned_tensors(rigid.pose, model.rigid.inertia, inertia)
            rigid.velocity[:] = rows[::2]
            rigid.angular_momentum[:] = np.einsum("bij,bj->bi", inertia, rows[1::2])
        contact_forces(
            self._chosen, self._rows, self._pressed, contacts.bodies, model.membrane_count, self._time,
            self.normal_force, self.soft_force, state.touching,
        )  # fmt: skip

    def _set_mobility(self, state: State) -> None:
        """Arms and inverse inertia of the rigid bodies as they are."""
        model = self.model
        if model.rigid_count:
            points = slice(model.vertex_count, model.moving_point_count)
            np.subtract(state.positions[points], state.rigid.pose[self.owner, :3], out=self._arm)
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
            self.moved = True
            step = self._step[:n]
            self._planes.hold(step)
            take_step(self._start, state.positions, step, model.vertex_mass, self._time, model.chunks, self._spin_sums)
        if model.rigid_count:
            move_poses(state.rigid.pose, self._step[n:], 1.0, state.rigid.pose)
            place_points(state.rigid.pose, model.rigid.arm, model.rigid.point_start, state.positions)
