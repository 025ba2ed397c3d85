"""The contact phase of a substep: attachments and contacts move the bodies, and then their velocities are settled."""

import numpy as np

from ...collide.bound import limit_displacement
from ...collide.candidates import Ways
from ...collide.contacts import Contacts
from ...collide.mobility import Mobility
from ...forces.attachment import turned_offsets
from ...model import FloatArray, IntArray, Model
from ...plane import Planes
from ...rigid.motion import move_poses, place_points, steps_between, turned_tensors
from ...state import RigidMotion, State
from ..circles import Circles
from ..counts import Counts
from .contacts import (
    RESTING_STEPS,
    RIGID_SWEEPS,
    SWEEPS,
    contact_forces,
    project_attachments,
    project_contacts,
    project_velocities,
)
from .lone import look_and_press
from .looking import sort_rows
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
        self._busy = np.zeros(model.vertex_count, bool)
        self._looked = 0  # rows looked at in this substep
        self._swept = 0  # rows of them that were swept
        self._sorted = -1  # the search whose rows are sorted
        self._listed = self._of_points = 0  # rows that do not stand alone, and those of them that are of points
        self._chunk_row = np.zeros(len(model.chunks.start), np.int32)
        self._pushed = np.zeros(len(model.chunks.body))
        self._doubt = np.zeros(len(model.chunks.body), bool)
        self._planes = Planes(model)
        self._allocate(0)

    def _allocate(self, capacity: int) -> None:
        """Room for so many rows of contacts."""
        self.normal_force = np.zeros(capacity)  # of each row at the end of the last substep [N]
        self.soft_force = np.zeros(capacity)  # of those that press on a membrane
        self._crossed = np.full(capacity, NEVER)
        # see `looking.py`
        self._far = np.zeros(capacity)
        self._mark = np.zeros(capacity, np.int8)
        self._alone = np.zeros(capacity, bool)
        self._others = np.zeros(capacity, np.int32)
        self._every = np.arange(capacity, dtype=np.int32)
        self._lack = np.zeros(capacity)
        self._reached = np.zeros(capacity)
        # of those that are swept
        self._rows = np.zeros(capacity, np.int32)
        self._depth = np.zeros(capacity)
        self._pressed = np.zeros(capacity)
        self._held = np.zeros((capacity, 3))

    def begin(self) -> None:
        """Start a substep: nothing has moved anything yet."""
        self._looked = self._swept = 0
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

    def press(self, state: State, back: float, search: int, ways: Ways, *, still: bool) -> None:
        """Project the contacts of the record; points behind a surface come to the share `back` of the thickness.

        `search` is the number of the search that made the record, `ways` how far the bodies may have gone, `still`
        whether no given point moves.
        """
        model, contacts, x = self.model, self._contacts, state.positions
        self._looked, self._swept = contacts.count, 0
        if contacts.count == 0:
            return
        if search != self._sorted:
            self._sort(search)
        before = ways.longest if ways.known else largest_move(self._start, x)
        self._swept, doubtful, push = look_and_press(
            x, self._start, still, contacts.count, self._listed, self._of_points, self._others, self._chunk_row,
            self._alone, self._busy, ways.ahead, ways.behind, back, model.surfaces.triangles,
            model.surfaces.triangle_neighbour, contacts.points, contacts.kind, contacts.triangle, contacts.bodies,
            contacts.thickness, contacts.friction, contacts.side, contacts.facing, contacts.offset, contacts.local,
            contacts.apex, contacts.soft, contacts.share, contacts.weights, contacts.normal, contacts.distance,
            contacts.gap, contacts.feature, contacts.wanted, self._mobility.inverse_mass, model.vertex_mass, self._time,
            model.body_point_start, model.chunks, self._far, self._crossed, self._lack, self._mark, self._reached,
            self._spin_sums, self._pushed, self._doubt, self._rows, self._depth,
        )  # fmt: skip
        if self._swept:
            self._sweep(state)
        if self._swept or doubtful:
            self._hold_back(state, contacts.count, self._every, ways, before)
        elif push > 0.0 and self._listed:
            self._hold_back(state, self._listed, self._others, ways, before)

    def _sort(self, search: int) -> None:
        """Sort the rows of a new record."""
        contacts, model = self._contacts, self.model
        if contacts.capacity > len(self._rows):
            self._allocate(contacts.capacity)
        # what flat bodies may do a plane decides, which knows both copies of a vertex
        given = model.moving_point_count if not self._planes.any else model.point_count
        self._listed, self._of_points = sort_rows(
            contacts.count, contacts.edge_start, contacts.points, contacts.kind, contacts.side, model.vertex_count,
            given, model.chunks.start, self._far, self._mark, self._alone, self._others, self._chunk_row,
        )  # fmt: skip
        self._reached[: contacts.count] = 0.0
        self._sorted = search

    def _sweep(self, state: State) -> None:
        """Project the rows that do not stand alone, one after the other, several times."""
        contacts, count = self._contacts, self._swept
        self._step[:] = 0.0
        self._pressed[:count] = 0.0
        self._held[:count] = 0.0
        self._set_mobility(state)
        project_contacts(
            count, self._rows, self._depth, contacts.points, contacts.weights, contacts.normal, contacts.friction,
            self._start, state.positions, self._mobility, self._sweeps, self._step, self._pressed, self._held,
        )  # fmt: skip
        self._take_step(state)

    def _hold_back(self, state: State, listed: int, rows: IntArray, ways: Ways, before: float) -> None:
        """Shorten the way since the start of the substep where surfaces would end on the wrong side of each other.

        It happens where something is squeezed from several sides. This takes momentum, so it is the last resort: what
        is on the wrong side unnoticed would stay there. `rows`: where to look, at the first `listed`. `before` [m] is
        how far points had moved before the contacts.
        """
        model, contacts, x, n = self.model, self._contacts, state.positions, self.model.vertex_count
        # what a row tells of its distance is of before the contacts, which have taken both sides at most this much on
        near = 2.0 * (largest_move(self._start, x) + before)
        ahead = ways.ahead if ways.known else ways.behind  # all have just been measured
        if not find_crossed(
            self._start, x, listed, rows, contacts.points, contacts.kind, contacts.side, contacts.bodies, self._far,
            ahead, near, contacts.weights, contacts.normal, contacts.gap, self._crossed,
        ):  # fmt: skip
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
        if model.rigid_count and self._swept:
            rigid, rows = state.rigid, self._step[n:]
            self._set_mobility(state)
            self._set_rows(rigid, self._step)
            project_velocities(
                self._swept, self._rows, contacts.points, contacts.bodies, contacts.weights, contacts.normal,
                contacts.friction, model.bounciness, self._slow, state.velocities, self._mobility, self._time,
                self._sweeps, self._earlier, self._step, self._pressed, self._held,
            )  # fmt: skip
            inertia = np.empty((model.rigid_count, 3, 3))
            turned_tensors(rigid.pose, model.rigid.inertia, inertia)
            rigid.velocity[:] = rows[::2]
            rigid.angular_momentum[:] = np.einsum("bij,bj->bi", inertia, rows[1::2])
        if self._swept:
            self._reached[self._rows[: self._swept]] = self._pressed[: self._swept]
        contact_forces(
            self._looked, self._reached, contacts.bodies, model.membrane_count, self._time, self.normal_force,
            self.soft_force, state.touching,
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
