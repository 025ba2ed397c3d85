"""Conservation of each moving body's momentum and angular momentum: they change by contact impulses and gravity only.

Two errors would accumulate: Newton's method stops with a residual, and a Runge-Kutta stage moves a vertex along its
velocity, so internal forces, which have no torque where they act, have one about the end of the step. So the external
impulses are summed during a step, and at its end each membrane gets the rigid velocity that its momenta lack. Opposite
contact forces then change opposite momenta to rounding.
"""

import math

import numpy as np

from ...bodies.flat.plane import Planes
from ...bodies.rigid.motion import turned_tensors
from ...jit import kernel
from ...model import BoolArray, FloatArray, Model
from ...state import RigidMotion
from ..pair_impulses import PairImpulses
from ..rigid_motion import rigid_motions
from .rigid_body_motion import rigid_body_motions, set_rigid_body_motions
from .stage_energy import StageEnergy

#: Speed below which a supported body may be at rest [m/s].
REST_SPEED = 5e-3
#: Decay rate of the rigid motion of a body at rest [1/s].
REST_RATE = 10.0


class MomentumBalance:
    """Momentum balance of one step; membranes with pinned vertices are excluded, as the pins' impulses are unknown.

    A body supported by a collider, or by such bodies, is not corrected by less than forces of `rest_acceleration`
    [m/s^2] give: Newton's method does not resolve those, and the body would never come to rest. Its remaining motion is
    damped.
    """

    def __init__(self, model: Model, rest_acceleration: float = 0.0) -> None:
        self._model = model
        self._rest_acceleration = rest_acceleration
        self.pairs = PairImpulses(model)
        self._first = model.body_point_start[: model.membrane_count]
        self._planes = Planes(model)
        self._origin = np.zeros((model.moving_count, 3))
        # per moving body: momentum [kg m/s] and angular momentum about its origin [kg m^2/s]
        self._momenta = np.zeros((model.moving_count, 6))
        self._before = np.zeros((model.moving_count, 6))  # the same at the start of the step
        self._motion = np.zeros((model.moving_count, 15))
        self._free = np.ones(model.moving_count, dtype=bool)
        if model.membrane_count:
            self._free[: model.membrane_count] = ~np.logical_or.reduceat(model.pinned, self._first)
        self._time = 0.0

    def start(self, x: FloatArray, v: FloatArray, rigid: RigidMotion) -> None:
        """Start the balance with a state: positions [m] and velocities [m/s] of at least the vertices."""
        first_rigid = self._model.membrane_count
        self._origin[:first_rigid] = x[self._first]
        self._planes.centre(x, self._origin)
        self._origin[first_rigid:] = rigid.pose[:, :3]
        self._momenta[:] = 0.0
        self._momenta[first_rigid:, :3] = self._model.rigid.mass[:, None] * rigid.velocity
        self._momenta[first_rigid:, 3:] = rigid.angular_momentum
        self._time = 0.0
        self.pairs.clear()
        add_momenta(x, v, self._model.vertex_mass, self._model.body_point_start, self._origin, self._soft())
        self._before[:] = self._momenta

    def _soft(self) -> FloatArray:
        return self._momenta[: self._model.membrane_count]

    def add_forces(self, energy: StageEnergy, x: FloatArray, poses: FloatArray, time: float) -> None:
        """Add the impulses over a time [s] of the contacts of `energy`, linearised at x [m], its load, and gravity."""
        model, contacts = self._model, energy.contacts
        self._time += time
        fall = time * model.gravity
        for place, load in energy.load.parts():
            change = time / model.vertex_mass[:, None] * load
            add_momenta(place, change, model.vertex_mass, model.body_point_start, self._origin, self._soft())
        add_weight(x, fall, model.vertex_mass, model.body_point_start, self._origin, self._soft())
        if model.rigid_count:
            weight = model.rigid.mass[:, None] * fall
            arm = poses[:, :3] - self._origin[model.membrane_count :]
            self._momenta[model.membrane_count :] += np.concatenate([weight, np.cross(arm, weight)], axis=1)
        add_contacts(
            contacts.count, energy.first_free_element, x, contacts.points, contacts.weights, energy.active,
            energy.force, model.point_body, time, self._origin, self._momenta,
        )  # fmt: skip
        self.pairs.add(contacts, energy.record, x, energy.pressing, time)

    def subtract_impulses(
        self, energy: StageEnergy, x: FloatArray, poses: FloatArray, change: FloatArray, taken: FloatArray
    ) -> None:
        """Subtract the result of `impact.overshoot` at x [m]: velocity changes (rows of unknowns), normal impulses."""
        model = self._model
        n = model.vertex_count
        add_momenta(x, change, model.vertex_mass, model.body_point_start, self._origin, self._soft())
        if model.rigid_count:
            inertia = np.empty((model.rigid_count, 3, 3))
            turned_tensors(poses, model.rigid.inertia, inertia)
            push = model.rigid.mass[:, None] * change[n::2]
            turn = np.einsum("bij,bj->bi", inertia, change[n + 1 :: 2])
            arm = poses[:, :3] - self._origin[model.membrane_count :]
            self._momenta[model.membrane_count :] += np.concatenate([push, turn + np.cross(arm, push)], axis=1)
        self.pairs.add(energy.contacts, energy.record, x, taken, -1.0)

    def settle(self, x: FloatArray, v: FloatArray, rigid: RigidMotion) -> None:
        """Add to each body at x [m] the rigid velocity that its momenta lack; `v` [m/s], `rigid`: changed in place."""
        self._correct(x, v, rigid, self._momenta, self._rest_acceleration * self._time)

    def balance(self, x: FloatArray, change: FloatArray, rigid_change: RigidMotion) -> None:
        """Correct the velocity changes [m/s] of a stage at x [m] to the momenta summed so far, in place.

        The resultant of the residual that Newton's method leaves would move a body. That amplifies oscillations on
        contacts: one of w radians per step gains up to w^2 / 4 of its amplitude in a step, and w^2 / 10 if the second
        stage starts with balanced velocities.
        """
        self._correct(x, change, rigid_change, self._momenta - self._before, 0.0)

    def _correct(self, x: FloatArray, v: FloatArray, rigid: RigidMotion, momenta: FloatArray, slight: float) -> None:
        """Add to each body at x [m] the rigid velocity that it lacks of `momenta`; `slight`: see `correct_momenta`."""
        model, count = self._model, self._model.membrane_count
        self._planes.hold_momenta(momenta)
        rigid_motions(x, v, model.vertex_mass, model.body_point_start, self._motion[:count])
        rigid_body_motions(rigid, model.rigid, self._motion[count:])
        correct_momenta(
            x, v, model.body_mass, model.body_point_start, count, model.rigid.radius, self._free,
            self._supported(), slight, math.exp(-REST_RATE * self._time), self._origin, self._before, momenta,
            self._motion,
        )  # fmt: skip
        set_rigid_body_motions(self._motion[count:], model.rigid, rigid)
        self._planes.hold(v)

    def _supported(self) -> BoolArray:
        """Moving bodies supported by a collider, or by other supported bodies."""
        model, pairs = self._model, self.pairs
        held = np.zeros(model.body_count, dtype=bool)
        held[model.moving_count :] = True
        pressed = pairs.load > 0.0
        low, high = pairs.low[pressed], pairs.high[pressed]
        count = 0
        while count != (count := int(held.sum())):
            held[low] |= held[high]
            held[high] |= held[low]
        return held[: model.moving_count]


@kernel
def add_momenta(x, v, mass, body_point_start, origin, momenta):
    """Add m v and (x - origin) x m v of each membrane's vertices."""
    for body in range(momenta.shape[0]):
        ox, oy, oz = origin[body, 0], origin[body, 1], origin[body, 2]
        px = py = pz = lx = ly = lz = 0.0
        for i in range(body_point_start[body], body_point_start[body + 1]):
            rx, ry, rz = x[i, 0] - ox, x[i, 1] - oy, x[i, 2] - oz
            ux, uy, uz = mass[i] * v[i, 0], mass[i] * v[i, 1], mass[i] * v[i, 2]
            px, py, pz = px + ux, py + uy, pz + uz
            lx += ry * uz - rz * uy
            ly += rz * ux - rx * uz
            lz += rx * uy - ry * ux
        add_row(momenta, body, px, py, pz, lx, ly, lz)


@kernel
def add_weight(x, v, mass, body_point_start, origin, momenta):
    """Add m v and (x - origin) x m v for one velocity of all vertices."""
    for body in range(momenta.shape[0]):
        total = cx = cy = cz = 0.0
        for i in range(body_point_start[body], body_point_start[body + 1]):
            total += mass[i]
            cx += mass[i] * (x[i, 0] - origin[body, 0])
            cy += mass[i] * (x[i, 1] - origin[body, 1])
            cz += mass[i] * (x[i, 2] - origin[body, 2])
        add_row(
            momenta, body, total * v[0], total * v[1], total * v[2],
            cy * v[2] - cz * v[1], cz * v[0] - cx * v[2], cx * v[1] - cy * v[0],
        )  # fmt: skip


@kernel
def add_contacts(count, first_free, x, points, weights, active, force, point_body, time, origin, momenta):
    """Add the impulse of every contact to the momenta of its two sides.

    Between two bodies it acts at the middle of the contact: friction acts on two surfaces a thickness apart and an
    attachment may have a length, but neither creates angular momentum. Against a collider it acts on the body's own
    side, as in the stage. Rows from `first_free` on are elements of energies: their forces act at their points.
    """
    for c in range(count):
        if not active[c]:
            continue
        fx, fy, fz = time * force[c, 0], time * force[c, 1], time * force[c, 2]
        mx = my = mz = 0.0
        share = 0.5
        for slot in range(4):
            if weights[c, slot] != 0.0 and point_body[points[c, slot]] >= momenta.shape[0]:
                share = 1.0
        for slot in range(4):
            i = points[c, slot]
            if share == 0.5 or point_body[i] < momenta.shape[0]:
                part = share * abs(weights[c, slot])
                mx, my, mz = mx + part * x[i, 0], my + part * x[i, 1], mz + part * x[i, 2]
        for slot in range(4):
            i = points[c, slot]
            body = point_body[i]
            if body >= momenta.shape[0]:
                continue
            w = weights[c, slot]
            if c >= first_free:
                mx, my, mz = x[i, 0], x[i, 1], x[i, 2]
            rx, ry, rz = mx - origin[body, 0], my - origin[body, 1], mz - origin[body, 2]
            ix, iy, iz = w * fx, w * fy, w * fz
            add_row(momenta, body, ix, iy, iz, ry * iz - rz * iy, rz * ix - rx * iz, rx * iy - ry * ix)


@kernel
def add_row(momenta, body, px, py, pz, lx, ly, lz):
    """Add six numbers to a row."""
    momenta[body, 0] += px
    momenta[body, 1] += py
    momenta[body, 2] += pz
    momenta[body, 3] += lx
    momenta[body, 4] += ly
    momenta[body, 5] += lz


@kernel
def correct_momenta(
    x, v, body_mass, body_point_start, membrane_count, rigid_radius, free, supported, slight, kept, origin, before,
    momenta, motion,
):  # fmt: skip
    """Set each free body's rigid motion (`bodies.rigid.motion`) to its momenta, and the vertices of a skin with it.

    A `supported` body is at rest while it moves by less than REST_SPEED and lacks less than `slight` [m/s]: it gets no
    correction, and if the step has not changed its velocity by more than that, its motion is scaled by `kept`.
    """
    for body in range(momenta.shape[0]):
        if not free[body]:
            continue
        row, goal = motion[body], momenta[body]
        cx, cy, cz = row[0], row[1], row[2]
        # angular momentum about the centre of mass
        rx, ry, rz = cx - origin[body, 0], cy - origin[body, 1], cz - origin[body, 2]
        lx = goal[3] - (ry * goal[2] - rz * goal[1])
        ly = goal[4] - (rz * goal[0] - rx * goal[2])
        lz = goal[5] - (rx * goal[1] - ry * goal[0])
        ux = goal[0] / body_mass[body] - row[3]
        uy = goal[1] / body_mass[body] - row[4]
        uz = goal[2] / body_mass[body] - row[5]
        wx = row[9] * lx + row[12] * ly + row[13] * lz - row[6]
        wy = row[12] * lx + row[10] * ly + row[14] * lz - row[7]
        wz = row[13] * lx + row[14] * ly + row[11] * lz - row[8]
        first, last = body_point_start[body], body_point_start[body + 1]
        if supported[body]:
            moves = row[3] * row[3] + row[4] * row[4] + row[5] * row[5]
            spins = row[6] * row[6] + row[7] * row[7] + row[8] * row[8]
            lacks = ux * ux + uy * uy + uz * uz
            turns = wx * wx + wy * wy + wz * wz
            radius2 = 0.0
            if body >= membrane_count:
                radius2 = rigid_radius[body - membrane_count] ** 2
            else:
                for i in range(first, last):
                    rx, ry, rz = x[i, 0] - cx, x[i, 1] - cy, x[i, 2] - cz
                    radius2 = max(radius2, rx * rx + ry * ry + rz * rz)
            still = moves < REST_SPEED * REST_SPEED and spins * radius2 < REST_SPEED * REST_SPEED
            if still and lacks < slight * slight and turns * radius2 < slight * slight:
                gained = 0.0
                for axis in range(3):
                    gained += (goal[axis] - before[body, axis]) ** 2
                if gained > (slight * body_mass[body]) ** 2:
                    continue  # sliding starts
                lost = 1.0 - kept
                ux, uy, uz = -lost * row[3], -lost * row[4], -lost * row[5]
                wx, wy, wz = -lost * row[6], -lost * row[7], -lost * row[8]
        row[3], row[4], row[5] = row[3] + ux, row[4] + uy, row[5] + uz
        row[6], row[7], row[8] = row[6] + wx, row[7] + wy, row[8] + wz
        if body >= membrane_count:
            continue
        for i in range(first, last):
            rx, ry, rz = x[i, 0] - cx, x[i, 1] - cy, x[i, 2] - cz
            v[i, 0] += ux + wy * rz - wz * ry
            v[i, 1] += uy + wz * rx - wx * rz
            v[i, 2] += uz + wx * ry - wy * rx
