"""The energy that one time stage minimises, over the whole scene, with its gradient and Hessian.

    E(x) = 1/2 |x - y|^2_M / tau^2 + stretch(x) + bend(x) + volumes of tetrahedra(x) + gas(x) + contact(x) + friction(x)
           + elements of energies(x) + c / (2 tau) (l(x) - l_base)^2 of the dampers along springs

tau is the length of the stage; y are the positions of the vertices without internal forces and contacts. The inertia of
rigid bodies is in `energy/rigid_inertia.py`. The class holds the arrays that the kernels of `core/energy` fill.
"""

import numpy as np

from ...bodies.rigid.motion import turned_tensors
from ...contact.barrier import ContactTerms, add_wrenches, evaluate_contact
from ...contact.contacts import Contacts, index_vertices
from ...contact.friction import (
    FrictionLag,
    evaluate_friction,
    friction_energy,
    lag_friction,
    slip_velocities,
    update_stretch,
)
from ...contact.narrow_phase.vertex_triangle import evaluate_gaps, measure_all_edges
from ...energy.bodies import evaluate_bodies
from ...energy.dampers import lengths, stretch_energy, with_dampers
from ...energy.elements import element_energy, evaluate_elements
from ...energy.energies import ModelElements
from ...energy.gas import evaluate_gas, gas_law
from ...energy.inertia import inertia_energy
from ...energy.rigid_inertia import evaluate_rigid_inertia
from ...linear.conjugate_gradient import Hessian
from ...linear.rigid_blocks import factor_blocks
from ...model import BoolArray, Edges, FloatArray, Model
from ...options import DEFAULTS, MethodOptions
from ...state import FrictionSprings
from ...tiny import TINY
from .contact_weights import ContactWeights
from .dead_load import DeadLoad
from .friction_history import spring_keys, transfer_friction
from .residual import gather_residual

#: Contact stiffness of two rigid bodies at rest [lighter mass / stage time^2], and its growth per thickness that they
#: would move by in a stage.
RIGID_CONTACT = 0.2
FAST_RIGID_CONTACT = 0.25
#: Damping over stiffness of the contact of two rigid bodies [s]; more would slow sliding and rolling.
RIGID_RELAXATION = 0.001


class StageEnergy:
    """Energy, residual and Hessian of a time stage of length `stage_time` [s]."""

    acting: ContactTerms  # derivatives of the `acting_count` contacts that exert a force
    _lag: FrictionLag

    def __init__(self, model: Model, contacts: Contacts, stage_time: float, options: MethodOptions = DEFAULTS) -> None:
        vertex_count, edge_count, hinge_count = model.vertex_count, len(model.edges.points), len(model.hinges.points)
        chunk_count = len(model.chunks.body)
        self.model = model
        self.contacts = contacts
        self.stage_time = stage_time
        self.inertia = model.vertex_mass / stage_time**2
        self.volume = np.zeros(model.membrane_count)
        self.pressure = np.zeros(model.membrane_count)
        self._gas_stiffness = np.zeros(model.membrane_count)
        self._gas_energy = np.zeros(model.membrane_count)
        self._start = np.zeros((model.point_count, 3))
        self._target = np.zeros((vertex_count, 3))
        self._gas = np.zeros(model.membrane_count)
        self._has_dampers = bool(model.edge_damping.any())
        self._damped: Edges | None = None  # springs of the stage with their dampers; None: the model's
        self._viscous_energy = 0.0  # of the dampers where E was last evaluated [J]: not stored, but lost
        self._tension = np.zeros(edge_count)
        self._edge_block = np.zeros((edge_count, 4))
        self._hinge_force = np.zeros((hinge_count, 4, 3))
        self._sharp_turn = np.zeros((len(model.hinges.sharp), 18))
        tetrahedra = model.tetrahedra
        self._tetrahedron_pressure = np.zeros(len(tetrahedra.points))  # pressure of each tetrahedron [Pa]
        self._tetrahedron_gradient = np.zeros((len(tetrahedra.points), 4, 3))
        self._volume_gradient = np.zeros((vertex_count, 3))
        self._chunk_sums = np.zeros((4, chunk_count))
        self._rigid_target = np.zeros((model.rigid_count, 7))
        self._rigid_force = np.zeros((2 * model.rigid_count, 3))
        self._poses = np.zeros((model.rigid_count, 7))
        self._owner = model.point_body[vertex_count : model.moving_point_count] - model.membrane_count
        self.arm = model.rigid.arm.copy()  # of each rigid point at the x last evaluated [m]
        self.hessian = Hessian(
            inertia=self.inertia,
            pinned=model.pinned,
            sharp_turn=self._sharp_turn,
            edge_block=self._edge_block,
            volume_gradient=self._volume_gradient,
            gas_stiffness=self._gas_stiffness,
            rigid_mass=model.rigid.mass / stage_time**2,
            rigid_inertia=model.rigid.inertia / stage_time**2,
            rigid_point_start=model.rigid.point_start,
            tetrahedra=tetrahedra.points,
            tetrahedron_stiffness=tetrahedra.stiffness,
            tetrahedron_gradient=self._tetrahedron_gradient,
            tetrahedron_squeeze=np.zeros(len(tetrahedra.points)),
            tetrahedron_chunk=tetrahedra.chunk_start,
            tetrahedron_start=tetrahedra.vertex_start,
            tetrahedron_entry=tetrahedra.vertex_entry,
            flat_pairs=model.flat.pairs,
            flat_normal=model.flat.pair_normal,
        )
        # positions and gas of the last evaluation of stretch, bend, gas and contact
        self._known_x = np.full((model.point_count, 3), np.nan)
        self._known_gas = np.zeros(model.membrane_count)
        self._contacts_known = False
        self._deformation = self._gas_sum = 0.0  # energy of springs, hinges and tetrahedra, and of the gas [J]
        self._smooth_energy = 0.0
        self._elapsed = stage_time
        self._elements = ModelElements(model)
        self.shares = ContactWeights(len(model.surfaces.edges))
        self.load = DeadLoad(model, options)
        self.record = 0  # number of the contact set: changes so far
        self.elastic_energy = 0.0  # stretch, bend, tetrahedra, dampers and contact where E was last evaluated [J]
        self._allocate(len(contacts.gap))

    def start(self, x: FloatArray) -> None:
        """Start a substep at x, all points: origin of the slip."""
        self._start[:] = x
        if len(self._elements):
            self._elements.begin(x)
            self.forget()

    def damp(self, base: FloatArray | None) -> None:
        """Set the base positions [m] of the stage that follows, from which its velocities are (x - base) / tau.

        None: no dampers, until the next call.
        """
        if self._has_dampers:
            model, self._damped = self.model, None
            if base is not None:
                self._damped = with_dampers(model.edges, model.edge_damping, base, self.stage_time)
            self._known_x[:] = np.nan

    def begin(self, target: FloatArray, rigid_target: FloatArray, gas: FloatArray, elapsed: float) -> None:
        """Start a stage with `target` = y, shape (vertex_count, 3), target poses, and nRT [J] of each membrane.

        `elapsed`: end of the stage [s] after the start of the substep.
        """
        self._elapsed = elapsed
        self._target[:] = target
        self._rigid_target[:] = rigid_target
        self._gas[:] = gas
        if self.load.acts:
            self.load.release(self._start)

    def set_stage_time(self, stage_time: float) -> None:
        """Use stages of another length [s] from the next `begin` on."""
        self.stage_time = stage_time
        np.divide(self.model.vertex_mass, stage_time**2, out=self.inertia)
        np.divide(self.model.rigid.mass, stage_time**2, out=self.hessian.rigid_mass)

    def evaluate(self, x: FloatArray, poses: FloatArray) -> float:
        """E [J] at x and the poses of its rigid points, with the friction last lagged.

        Keeps the derivatives for `linearise` and `residual`. Terms of positions only are cached at the last x.
        """
        model = self.model
        if not (np.array_equal(x, self._known_x) and np.array_equal(self._gas, self._known_gas)):
            if model.rigid_count:
                np.subtract(x[model.vertex_count : model.moving_point_count], poses[self._owner, :3], out=self.arm)
            self._evaluate_bodies(x)
            self._known_x[:] = x
            self._known_gas[:] = self._gas
            self._contacts_known = False
        if not self._contacts_known:
            self.elastic_energy = self._deformation + self._contact_energy(x)
            self._contacts_known = True
        moving = inertia_energy(x, self._target, self.inertia, model.chunks, self._chunk_sums[0])
        self._poses[:] = poses
        rigid = evaluate_rigid_inertia(
            poses, self._rigid_target, model.rigid.mass, model.rigid.second_moment, self.stage_time, self._rigid_force
        )
        self._smooth_energy = moving + rigid + (self._gas_sum + self.elastic_energy)
        if self.load.acts:
            self._smooth_energy += self.load.energy(x)
        count = self.contacts.count
        return self._smooth_energy + float(friction_energy(count, x, self._start, self._lag, self._contact_scale))

    def lag_gas(self, x: FloatArray, poses: FloatArray) -> None:
        """Lag the force at x that other gas rules and weights add, until the next call; after `begin`."""
        if self.load.lags:
            self.evaluate(x, poses)
            self.load.hold(x, self._gas, self.pressure, self._volume_gradient)

    def unstored_work(self, start: FloatArray, x: FloatArray) -> float:
        """Bound of the work [J] of the dead load on the path from `start` to x."""
        return self.load.work(start, x) if self.load.acts else 0.0

    def forget(self) -> None:
        """Evaluate contact anew at the next `evaluate`: the contact set has changed."""
        self._contacts_known = False

    def forget_bodies(self) -> None:
        """Evaluate springs, hinges, tetrahedra and gas anew at the next `evaluate`: rest lengths have changed."""
        self._known_x[:] = np.nan

    def linearise(self, x: FloatArray) -> float:
        """Lag the normal forces at x for friction; returns E at x [J] with them. After `evaluate(x)`."""
        count, contacts, lag = self.contacts.count, self.contacts, self._lag
        if count == 0:
            self.acting_count = 0
            self.acting.vertex_start[:] = 0
            return self._smooth_energy
        lag_friction(count, contacts.weights, contacts.normal, contacts.friction, self.normal_force, lag)
        if self.model.rigid_count:
            lag.pressed[:count] = self.normal_force[:count]
            lag.damper[:count] = (
                RIGID_RELAXATION / self._elapsed * self._contact_stiffness[:count] * self._both_rigid[:count]
            )
        friction = evaluate_friction(
            count, x, self._start, lag, self._contact_scale, self._contact_stiffness, self.normal_force,
            self.active, self.force, self._matrix, self.pressing,
        )  # fmt: skip
        if len(self._elements):
            evaluate_elements(
                self._elements.rows, x.reshape(-1), 3, contacts.first_element, self.active, self.force, self._matrix
            )
        # Hessian products use only active contacts: few of many candidates
        rows, acting = np.flatnonzero(self.active[:count]), self.acting
        self.acting_count = len(rows)
        acting.points[: len(rows)], acting.weights[: len(rows)] = contacts.points[rows], contacts.weights[rows]
        acting.force[: len(rows)], acting.matrix[: len(rows)] = self.force[rows], self._matrix[rows]
        index_vertices(self.acting_count, acting.points, acting.vertex_start, acting.vertex_entry)
        return self._smooth_energy + float(friction)

    def _evaluate_bodies(self, x: FloatArray) -> None:
        """Evaluate springs, hinges, tetrahedra and gas at x."""
        model, chunks, sums = self.model, self.model.chunks, self._chunk_sums
        springs = model.edges if self._damped is None else self._damped
        self._deformation = evaluate_bodies(
            x, model.body_point_start, springs, model.hinges, model.tetrahedra, model.fans, chunks, self._tension,
            self._edge_block, self._sharp_turn, self._hinge_force, self._tetrahedron_pressure,
            self._tetrahedron_gradient, self._volume_gradient, sums[1:],
        )  # fmt: skip
        if self._has_dampers:
            length = lengths(x, model.edges.points)
            self._viscous_energy = stretch_energy(springs, length) - stretch_energy(model.edges, length)
        self._gas_sum = evaluate_gas(
            sums[3], chunks, model.rest_volume, self._gas, model.gas_base, model.gas_exponent,
            self.volume, self.pressure, self._gas_stiffness, self._gas_energy,
        )  # fmt: skip

    def _contact_energy(self, x: FloatArray) -> float:
        """Energy of normal contact and of elements at x [J]."""
        contacts, count = self.contacts, self.contacts.count
        if count == 0:
            return 0.0
        evaluate_gaps(x, contacts, self.model.surfaces, whole=False)
        energy = float(
            evaluate_contact(
                count, contacts.gap, contacts.thickness, self._contact_scale, self.normal_force,
                self._contact_stiffness,
            )
        )  # fmt: skip
        if len(self._elements):
            energy += element_energy(self._elements.rows, x.reshape(-1), 3)
        return energy

    def residual(self, x: FloatArray, r: FloatArray) -> None:
        """Minus the gradient of E at x [N, N m] into r, shape (unknown_count, 3); after `evaluate` and `linearise`."""
        gather_residual(
            x, self._target, self.model.edges, self.model.hinges, self.model.chunks, self.hessian, self._tension,
            self._hinge_force, self.pressure, self._tetrahedron_pressure, self.acting, self.acting_count, r,
        )  # fmt: skip
        if self.load.acts:
            self.load.add_force(r)
        if self.model.rigid_count:
            r[self.model.vertex_count :] = self._rigid_force
            if self.acting_count:
                add_wrenches(self.acting, self.model.rigid.point_start, self.acting.force, r)

    def rigid_blocks(self, blocks: FloatArray) -> None:
        """Rotate the inertia in the Hessian with the bodies, and factor their blocks, shape (rigid_count, 6, 6)."""
        if self.model.rigid_count:
            hessian = self.hessian
            turned_tensors(self._poses, self.model.rigid.inertia, hessian.rigid_inertia)
            np.divide(hessian.rigid_inertia, self.stage_time**2, out=hessian.rigid_inertia)
            factor_blocks(hessian.rigid_mass, hessian.rigid_inertia, self.acting, hessian.rigid_point_start, blocks)

    def stored_energy(self, gas: FloatArray) -> float:
        """Stored energy [J] where E was last evaluated, with nRT = `gas` [J] in the membranes."""
        model, volume = self.model, self.volume
        stored = self.elastic_energy - self._viscous_energy
        for body in np.flatnonzero(model.rest_volume).tolist():
            stored += gas_law(
                volume[body], model.rest_volume[body], gas[body], model.gas_base[body], model.gas_exponent[body]
            )[2]
        return stored

    @property
    def first_free_element(self) -> int:
        """Row of the first element of an energy that is no joint (`energy/elements.py`)."""
        return self.contacts.first_element + self._elements.joint_count

    def touching(self) -> BoolArray:
        """Whether each moving body has an active contact with another body, shape (moving_count,)."""
        bodies = self.contacts.bodies[: self.contacts.count]
        pushed = self.normal_force[: self.contacts.count] > 0.0
        bodies = bodies[pushed & (bodies[:, 0] != bodies[:, 1])]
        return np.bincount(bodies.ravel(), minlength=self.model.body_count)[: self.model.moving_count] > 0

    def pressed_together(self) -> bool:
        """Whether two moving bodies have an active contact."""
        bodies = self.contacts.bodies[: self.contacts.count]
        low, high = bodies[self.normal_force[: self.contacts.count] > 0.0].T
        return bool(((low != high) & (np.maximum(low, high) < self.model.moving_count)).any())

    def stuck(self, x: FloatArray) -> FrictionSprings:
        """The stretched friction springs at the end of a substep at x, to be handed to `update_contacts` again."""
        count = self.contacts.count
        stretch = np.zeros((count, 3))
        update_stretch(count, x, self._start, self._lag, self._contact_scale, stretch)
        held = np.flatnonzero(self.normal_force[:count] > 0.0)
        first, other = spring_keys(self.contacts, self.model.point_count)
        stretch = stretch[held]
        stored = 0.5 * float(np.einsum("i,ij,ij->", self._contact_scale[held], stretch, stretch))
        return FrictionSprings(first[held], other[held], stretch, stored)

    def slip_velocities(self, x: FloatArray, time: float) -> FloatArray:
        """Slip velocities of contacts [m/s] at x, a time [s] after the substep's start; zero where they stick."""
        velocity = np.zeros((self.contacts.count, 3))
        slip_velocities(self.contacts.count, x, self._start, self._lag, self._contact_scale, time, velocity)
        return velocity

    def update_contacts(self, x: FloatArray, stuck: FrictionSprings) -> None:
        """Update after a search at x; `set_contact_scale` must follow.

        `stuck`: friction springs at the start of the substep. Normal forces are 0 until the next `linearise`.
        """
        contacts = self.contacts
        self.record += 1
        self.forget()
        capacity = len(contacts.gap)
        if capacity != len(self.normal_force):
            self._allocate(capacity)
        self._lag.limit[:] = 0.0
        self._lag.damper[:] = 0.0
        self._lag = self._lag._replace(points=contacts.points)
        if contacts.first_element > contacts.edge_start:
            evaluate_gaps(x, contacts, self.model.surfaces)
        self.shares.begin(contacts)
        self.restore_friction(stuck)

    def update_contact_weights(
        self, x: FloatArray, poses: FloatArray, body_scale: FloatArray, move: FloatArray
    ) -> float:
        """Update the contact weights of edges at the start of a substep at x; returns the change of the energy [J]."""
        if not np.array_equal(x, self.contacts.known_x):
            measure_all_edges(x, self.contacts)
        if not self.shares.renew(self.contacts):
            return 0.0
        before = self.elastic_energy
        self.set_contact_scale(body_scale, move)
        self.forget()
        self.evaluate(x, poses)
        return self.elastic_energy - before

    def set_contact_scale(self, body_scale: FloatArray, move: FloatArray) -> None:
        """Set kappa of every contact [N/m].

        `body_scale`: per body [N/m], inf for colliders; `move`: displacement per body in a stage [m]. A soft body must
        carry its own pressure: a pair takes the larger scale of its soft bodies. Two rigid bodies take the lesser
        mass / tau^2, times a factor such that the force at about 0.9 of the thickness stops their motion in one stage.
        """
        count, thickness = self.contacts.count, self.contacts.thickness
        bodies = self.contacts.bodies[:count]
        skin_scale = np.where(np.arange(self.model.body_count) < self.model.membrane_count, body_scale, 0.0)
        first, second = bodies.T  # column by column: numpy reduces short rows slowly
        skin = np.maximum(skin_scale[first], skin_scale[second])
        scale = skin
        self._both_rigid[:count] = skin == 0.0
        if self.model.rigid_count:
            hard = np.minimum(body_scale[first], body_scale[second])
            closing = (move[first] + move[second]) / np.maximum(thickness[:count], TINY)
            scale = np.where(skin > 0.0, skin, hard * np.maximum(RIGID_CONTACT, FAST_RIGID_CONTACT * closing))
        scale = scale * self.contacts.contact_weight[:count]
        if not np.array_equal(self._contact_scale[:count], scale):
            self._contact_scale[:count] = scale
            self.forget()

    def restore_friction(self, stuck: FrictionSprings) -> None:
        """Copy friction springs from `stuck` by their keys; others are unstretched."""
        model = self.model
        name_count = model.point_count + len(model.surfaces.edges)
        transfer_friction(self.contacts, stuck, name_count, model.point_count, self._lag.stretch)

    def _allocate(self, capacity: int) -> None:
        """Allocate arrays of one row per contact."""
        contacts = self.contacts
        self.normal_force = np.zeros(capacity)
        self.pressing = np.zeros(capacity)  # the same with the damper of rigid bodies, as last linearised [N]
        self._contact_stiffness = np.zeros(capacity)
        self._contact_scale = np.zeros(capacity)
        self._both_rigid = np.zeros(capacity, dtype=bool)  # whether a contact is between two rigid bodies
        self.active = np.zeros(capacity, dtype=bool)  # whether a contact exerts a force
        self.force = np.zeros((capacity, 3))  # on the side of positive weight, as last linearised [N]
        self._matrix = np.zeros((capacity, 6))  # stiffness xx, yy, zz, xy, xz, yz [N/m]
        self._lag = FrictionLag(
            contacts.points,
            np.zeros((capacity, 4)),
            np.zeros((capacity, 3)),
            np.zeros(capacity),
            np.zeros((capacity, 3)),
            np.zeros(capacity),
            np.zeros(capacity),
        )
        self.contact_stretched = np.zeros((capacity, 3))  # scratch of the Hessian product [N]
        self.acting_count = 0
        self.acting = ContactTerms(
            np.zeros((capacity, 4), np.int32), np.zeros((capacity, 4)), np.zeros_like(contacts.vertex_start),
            np.zeros(4 * capacity, np.int32), np.zeros((capacity, 3)), np.zeros((capacity, 6)),
            self.model.vertex_count, self.model.rigid.unknown, self.arm,
        )  # fmt: skip
