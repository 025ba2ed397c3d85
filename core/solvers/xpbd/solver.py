"""XPBD with small steps: the fast solver, for soft skins at low pressure and for many bodies.

Extended position based dynamics (Macklin, Müller, Chentanez 2016) with one sweep per substep (Macklin et al. 2019,
"Small steps in physics simulation") and rigid bodies by generalised inverse masses (Müller et al. 2020). A substep:

    predict      x0 + h v + gravity; rigid bodies fly; pinned vertices and colliders go where they are given
    gas          in closed form                                             `gas.py`
    stretch      edges, coloured                                            `stretch.py`
    bend         hinges, coloured                                           `bend.py`
    volumes      tetrahedra of solids, coloured                             `volumes.py`
    attachments  one after the other                                        `contacts.py`
    contacts     what lacks its distance or was passed through: `looking.py`, `swept.py`, `lone.py`, `contacts.py`
    velocities   (x - x0) / h, and the spin that this loses                 `move.py`, `spin.py`
    losses       bounciness and damping, the same as the other solver's     `solvers/losses.py`

Every projection keeps momentum and angular momentum.
"""

import math

import numpy as np

from ...collide.candidates import Candidates
from ...collide.contacts import Contacts
from ...collide.recovery import RECOVERY_SHARE
from ...errors import ParameterError
from ...flat.band import STRIP_TO_VOLUME
from ...model import FloatArray, Model
from ...options import DEFAULTS, MethodOptions
from ...plane import Planes
from ...rigid.flight import fly, pushed, shifted
from ...rigid.motion import place_points, turned_tensors
from ...state import RigidMotion, State, StuckContacts
from ..circles import Circles
from ..counts import Counts
from ..fixed_steps import FixedSteps
from ..gas_rules import GasRules
from ..given import Motion
from ..losses import Losses
from ..pairs import PairImpulses
from .colours import schedule, vertex_blocks
from .flat_edges import FlatEdges
from .gas import gas_impulse, predict_and_measure
from .pressing import ContactPhase
from .rows import on_lines, vertex_rows
from .skins import finish_skins, fly_skins, sweep_skins
from .stretch import edge_rows

#: Reach of a search in units of the move that made it necessary, and in edge lengths at most. Substeps are short and a
#: search costs as much as several of them.
REACH_FACTOR, LONGEST_REACH = 8.0, 1.0
#: The same where one body moves: what is given meets far fewer candidates than another skin would.
SINGLE_REACH_FACTOR, LONGEST_SINGLE_REACH = 24.0, 2.0


class XpbdSolver(FixedSteps):
    """Advances a model by substeps of `substep_time` [s]."""

    def __init__(self, model: Model, substep_time: float, options: MethodOptions = DEFAULTS) -> None:
        if not (math.isfinite(substep_time) and substep_time > 0.0):
            raise ParameterError(f"substep: {substep_time} s; give a positive time.")
        self.model = model
        self.substep_time = substep_time
        self.counts = Counts()
        self._time = substep_time
        n, chunks = model.vertex_count, model.chunks
        with np.errstate(divide="ignore"):
            self._inverse_mass = np.where(model.pinned, 0.0, 1.0 / model.vertex_mass)
        self._block_chunk = vertex_blocks(chunks)
        block_start = chunks.start[self._block_chunk]
        self._edge_order = schedule(model.edges.points, block_start, n)
        self._edges = edge_rows(model.edges, self._edge_order, self._inverse_mass, self._time)
        count = model.surfaces.body_triangle_start[model.membrane_count]
        holds_gas = model.rest_volume[model.surfaces.triangle_body[:count]] > 0.0
        skin = model.surfaces.triangles[:count][holds_gas]
        self._triangle_order = schedule(skin, block_start, n)
        self._triangles = (4 * skin[self._triangle_order.order]).astype(np.uint32)  # places in the flat rows
        self._hinge_order = schedule(model.hinges.points, block_start, n).order
        self._turn = np.zeros((len(model.hinges.sharp), 18))
        self._hinge_force = np.zeros((len(model.hinges.points), 4, 3))
        self._tetrahedron_order = schedule(model.tetrahedra.points, block_start, n).order
        self._tetrahedron_gradient = np.zeros((len(model.tetrahedra.points), 4, 3))
        self._rows = vertex_rows(self._inverse_mass, len(self._edges.task_start) - 1)
        self._gradient = on_lines((n, 4))
        self._gas_rules = GasRules(model, options) if options.changes_gas else None
        self._gas_sums = np.zeros((len(chunks.body), 2))
        self._impulse = np.zeros(model.membrane_count)
        self._planes = Planes(model)
        self._circles = Circles(model)
        self._volume_share = np.where(model.flat.depth > 0.0, STRIP_TO_VOLUME, 1.0)
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
        single = model.moving_count == 1
        self._candidates = Candidates(
            model,
            SINGLE_REACH_FACTOR if single else REACH_FACTOR,
            longest_reach=LONGEST_SINGLE_REACH if single else LONGEST_REACH,
            far=True,
        )
        self._flat_edges = FlatEdges(model)
        self._spin_sums = np.zeros((len(chunks.body), 13))
        self._moves_of_chunks = np.zeros(len(chunks.body))
        self._longest = np.zeros(model.membrane_count)  # moves of the membranes in this substep [m]
        self._squares = np.zeros((len(chunks.body), 2))
        self._sizes = np.zeros(model.membrane_count)
        self._phase = ContactPhase(
            model, self._time, self._candidates.contacts, self._inverse_mass, self._start, self._poses, self._spin_sums,
            self.counts,
        )  # fmt: skip
        self._only_skins = not (model.rigid_count or self._phase.attached or self._circles.any)
        # what may be in free flight: bodies that meet none but others, and colliders that stand still
        self._no_spare = np.full(model.membrane_count, -1.0)
        self._may_fly = self._only_skins and not model.self_collision.any() and model.membrane_count > 0
        self._losses = Losses(model, options)
        self._pairs = PairImpulses(model)
        self._no_springs = StuckContacts.none()  # friction holds by positions alone
        self._motion: Motion | None = None
        self._moves = False  # whether anything given moves in this frame

    @property
    def contacts(self) -> Contacts:
        """The contact record."""
        return self._candidates.contacts

    @property
    def normal_force(self) -> FloatArray:
        """Of each row of the contact record at the end of the last substep [N]."""
        return self._phase.normal_force

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
        self.contacts.clear()
        self._pairs.clear()
        self._phase.normal_force[:] = 0.0
        self._motion = None

    def substep(self, before: State, after: State, motion: Motion, share: float, gas: FloatArray) -> None:
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
            after.velocities[motion.points] = motion.velocities
            self._flat_edges.pass_over(self._candidates, after.positions, still=not self._moves)
        after.gas[:] = gas
        after.stuck = self._no_springs
        self.counts.stages += 1
        self._come_back(after)
        self._predict(after)
        self._move_given(after, motion, share + self._time / motion.frame_time)
        after.touching[:] = False
        self._phase.begin()
        if not self._project_skins(after):
            self._project_contacts(after)
            self._set_velocities(after)
            if not self._candidates.alone:
                self._phase.settle(after)
                if len(after.wrong_side) or not self._may_fly:
                    after.wrong_side = self._candidates.wrong_side()
        if self._losses.inelastic and not self._candidates.alone:
            self._pairs.clear()
            self._pairs.add(
                self.contacts, self._candidates.searches, after.positions, self._phase.soft_force, self._time
            )
        self._losses.apply(self, self._pairs, after, self._time)
        self._planes.hold(after.velocities)
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
        self._phase.press(state, 1.0, self._candidates.searches, self._candidates.ways(None), still=not self._moves)
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
            self._phase.keep_velocities(rigid)
            flight = fly(rigid.pose, rigid.velocity, rigid.angular_momentum, solids, h)
            fall = np.where(self._lying[count:, None], h * h, 0.5 * h * h) * model.gravity
            self._aim[:] = shifted(flight, fall)
            rigid.pose[:] = self._aim
            place_points(rigid.pose, solids.arm, solids.point_start, x)

    def _move_given(self, state: State, motion: Motion, share: float) -> None:
        """Put pinned vertices and colliders where they are at the end of the substep."""
        if self._moves:
            state.positions[motion.points] = motion.positions(share)

    def _project_skins(self, state: State) -> bool:
        """Prediction, gas, stretch, bend and volumes, and the angular momentum that the skins lose without a reason.

        Where nothing is near the velocities as well: True if the substep is done.
        """
        model, x = self.model, state.positions
        self.sizes = None
        if model.membrane_count == 0:
            return False
        if self._gas_rules is not None:
            self._project_ruled(state, self._gas_rules)
            return False
        flies = self._may_fly and not self._moves and not self._candidates.tangled
        done = fly_skins(
            x, state.velocities, self._inverse_mass, model.vertex_mass, model.gravity, self._time, self._lying,
            model.body_point_start, model.chunks, self._block_chunk, self._triangles, self._triangle_order.task_start,
            model.rest_volume, state.gas, model.ambient_pressure, self._edges, model.hinges, self._hinge_order,
            model.tetrahedra, self._tetrahedron_order, self._start, self._rows, self._gradient, self._gas_sums,
            self._impulse, self._turn, self._hinge_force, self._tetrahedron_gradient, self._spin_sums, model.flat.pairs,
            model.flat.pair_normal, self._volume_share, self._moves_of_chunks, self._longest, self._candidates.spare()
            if flies else self._no_spare, self._free, self._spin, self._squares, self._sizes,
        )  # fmt: skip
        if done == 0:
            return False
        self._candidates.travel(self._longest)
        self._tell_sizes(done == 2)
        return True

    def _project_ruled(self, state: State, rules: GasRules) -> None:
        """`_project_skins` with another rule for the gas.

        The closed form of `gas.py` with the rule's V and, for how it changes, the exact dV/dx: S = sum w dV/dx . D, D
        being what the rule makes of it.
        """
        model, x, n = self.model, state.positions, self.model.vertex_count
        predict_and_measure(
            x, state.velocities, model.gravity, self._time, self._lying, model.body_point_start, model.chunks,
            self._block_chunk, self._triangles, self._triangle_order.task_start,
            model.rest_volume, state.gas, model.ambient_pressure, self._start, self._rows, self._gradient,
            self._gas_sums, self._impulse, model.flat.pairs, model.flat.pair_normal, self._volume_share,
        )  # fmt: skip
        x[:n] = self._rows[:n, :3]
        exact = self._gradient[:, :3].copy()
        gradient = exact.copy()
        rules.spread(x, gradient)
        self._gradient[:, :3] = gradient
        along = self._inverse_mass * np.einsum("ij,ij->i", exact, gradient)
        steepness = np.bincount(model.point_body[:n], along, model.membrane_count)
        volumes = rules.volumes(x)
        for body in np.flatnonzero(model.rest_volume).tolist():
            self._impulse[body] = gas_impulse(
                volumes[body], max(steepness[body], 0.0), model.rest_volume[body], state.gas[body],
                model.ambient_pressure, self._time,
            )  # fmt: skip
        sweep_skins(
            x, state.velocities, self._inverse_mass, model.vertex_mass, model.gravity, self._time, self._lying,
            model.body_point_start, model.chunks, self._block_chunk, self._edges, model.hinges, self._hinge_order,
            model.tetrahedra, self._tetrahedron_order, self._start, self._rows, self._gradient, self._impulse,
            self._turn, self._hinge_force, self._tetrahedron_gradient, self._spin_sums, model.flat.pairs,
            model.flat.pair_normal, self._moves_of_chunks, self._longest,
        )  # fmt: skip

    def _project_contacts(self, state: State) -> None:
        """Attachments, then contacts with friction."""
        if self._circles.any:
            self._phase.part(state, self._circles)
        if self._candidates.alone:
            return
        self._phase.attach(state)
        before = self._candidates.searches
        moves = self._moves_of_skins()
        self._candidates.cover(self._start, state.positions, moves)
        self.counts.contact_searches += self._candidates.searches - before
        self._phase.press(  # what has been reached is kept
            state, RECOVERY_SHARE, self._candidates.searches, self._candidates.ways(moves), still=not self._moves
        )

    def _moves_of_skins(self) -> FloatArray | None:
        """No less than the longest way of each membrane's vertices in this substep [m], if nothing else moves."""
        if not self._only_skins or self._moves or self._candidates.tangled:
            return None
        return self._longest

    def _set_velocities(self, state: State) -> None:
        """Velocities from where everything went."""
        model, h = self.model, self._time
        x, v, count = state.positions, state.velocities, model.membrane_count
        if count:
            finite = finish_skins(
                x, v, self._inverse_mass, model.vertex_mass, model.gravity, h, self._lying, self._free,
                self._phase.moved, model.body_point_start, model.chunks, self._start, self._spin_sums, self._spin,
                self._moves_of_chunks, self._longest, self._squares, self._sizes,
            )  # fmt: skip
            moves = self._moves_of_skins()
            self._candidates.travel(moves)
            self._tell_sizes(finite and moves is not None)
            self._planes.hold(v)
        if model.rigid_count:
            rigid = state.rigid
            rest = np.where(self._lying[count:, None], 0.0, 0.5 * h) * model.gravity
            state.rigid = RigidMotion(
                rigid.pose,
                (rigid.pose[:, :3] - self._poses[:, :3]) / h + rest,
                rigid.angular_momentum + pushed(self._aim, rigid.pose, model.rigid, h),
            )

    def _tell_sizes(self, sound: bool) -> None:
        """Tell how large the membranes are, if nothing else moves and nothing is going to change their velocities."""
        self.sizes = self._sizes if sound and self._only_skins and not self._losses.any else None

    def _set_point_velocities(self, state: State) -> None:
        """Velocities of the rigid bodies' points from their motion."""
        model = self.model
        if model.rigid_count:
            points = slice(model.vertex_count, model.moving_point_count)
            inverse = np.empty((model.rigid_count, 3, 3))
            turned_tensors(state.rigid.pose, model.rigid.inverse_inertia, inverse)
            spin = np.einsum("bij,bj->bi", inverse, state.rigid.angular_momentum)
            arm = state.positions[points] - state.rigid.pose[self._phase.owner, :3]
            state.velocities[points] = state.rigid.velocity[self._phase.owner] + np.cross(spin[self._phase.owner], arm)
