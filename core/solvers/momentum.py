"""Momentum and angular momentum of each membrane as its contacts and gravity leave them, no more and no less.

Two things would wear them away: Newton's method stops with forces that are not quite balanced, and a Runge-Kutta
stage moves a vertex along its velocity, so inner forces, which have no torque where they act, have one about where
the step ends. So the impulses from outside are summed while a step is taken, and at its end each membrane gets the
rigid velocity that its momenta lack. Opposite contact forces then change opposite momenta to rounding.
"""

from dataclasses import dataclass

import numpy as np

from ..collide.contacts import Contacts
from ..jit import kernel
from ..model import FloatArray, Model
from .energy import StageEnergy
from .rigid_motion import rigid_motions

#: A body slower than this may be at rest [m/s].
RESTING = 5e-3


@dataclass(frozen=True, slots=True)
class PairImpulses:
    """What contacts did between two bodies during a step, shape (membrane_count, body_count); rows are the lower."""

    impulse: FloatArray  # net normal impulse on the lower-numbered membrane [N s], (.., 3)
    point: FloatArray  # where it acts [m], times `load`, (.., 3)
    load: FloatArray  # sum of the sizes of all normal impulses [N s]

    @staticmethod
    def none(model: Model) -> "PairImpulses":
        """No contact."""
        shape = (model.membrane_count, model.body_count)
        return PairImpulses(np.zeros((*shape, 3)), np.zeros((*shape, 3)), np.zeros(shape))


class MomentumBalance:
    """The account of one step; membranes with pinned vertices have none, as pins take what they like.

    A membrane that rests on a collider is let alone while it lacks less than forces of `rest_acceleration` [m/s^2]
    give: those count as none for Newton's method, and it would never come to rest.
    """

    def __init__(self, model: Model, rest_acceleration: float = 0.0) -> None:
        self._model = model
        self._rest_acceleration = rest_acceleration
        self.pairs = PairImpulses.none(model)
        self._first = model.body_point_start[: model.membrane_count]
        self._origin = np.zeros((model.membrane_count, 3))
        # per membrane: momentum [kg m/s] and angular momentum about its origin [kg m^2/s]
        self._momenta = np.zeros((model.membrane_count, 6))
        self._motion = np.zeros((model.membrane_count, 15))
        self._free = ~np.logical_or.reduceat(model.pinned, self._first)
        self._time = 0.0

    def start(self, x: FloatArray, v: FloatArray) -> None:
        """Open the account with a state: positions [m] and velocities [m/s] of at least the vertices."""
        self._origin[:] = x[self._first]
        self._momenta[:] = 0.0
        self._time = 0.0
        self.pairs.impulse[:] = 0.0
        self.pairs.point[:] = 0.0
        self.pairs.load[:] = 0.0
        self.add_change(x, v)

    def add_change(self, x: FloatArray, change: FloatArray) -> None:
        """Book velocity changes [m/s] of vertices at x [m]."""
        add_momenta(x, change, self._model.vertex_mass, self._model.body_point_start, self._origin, self._momenta)

    def add_forces(self, energy: StageEnergy, x: FloatArray, time: float) -> None:
        """Book the contacts of `energy`, linearised at x [m], and gravity, over a time [s]."""
        model, terms, contacts = self._model, energy.terms, energy.contacts
        self._time += time
        add_weight(x, time * model.gravity, model.vertex_mass, model.body_point_start, self._origin, self._momenta)
        add_contacts(
            contacts.count, x, terms.points, terms.weights, terms.active, terms.force, contacts.bodies, time,
            self._origin, self._momenta,
        )  # fmt: skip
        self._add_pairs(contacts, x, energy.normal_force, time)

    def take_back(self, energy: StageEnergy, x: FloatArray, change: FloatArray, taken: FloatArray) -> None:
        """Book what `impact.overshoot` found at x [m]."""
        self.add_change(x, change)
        self._add_pairs(energy.contacts, x, taken, -1.0)

    def _add_pairs(self, contacts: Contacts, x: FloatArray, normal_force: FloatArray, time: float) -> None:
        pairs = self.pairs
        add_pairs(
            contacts.count, x, contacts.points, contacts.weights, contacts.normal, contacts.bodies,
            normal_force, time, pairs.impulse, pairs.point, pairs.load,
        )  # fmt: skip

    def settle(self, x: FloatArray, v: FloatArray) -> None:
        """Give each membrane at x [m] the rigid velocity that it lacks; `v` [m/s] is changed in place."""
        model = self._model
        rigid_motions(x, v, model.vertex_mass, model.body_point_start, self._motion)
        on_collider = self.pairs.load[:, model.membrane_count :].any(axis=1)
        add_missing(
            x, v, model.body_mass, model.body_point_start, self._free, on_collider,
            self._rest_acceleration * self._time, self._origin, self._momenta, self._motion,
        )  # fmt: skip


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
def add_contacts(count, x, points, weights, active, force, bodies, time, origin, momenta):
    """Add the impulse of every contact to the momenta of its two sides."""
    for c in range(count):
        if not active[c]:
            continue
        fx, fy, fz = time * force[c, 0], time * force[c, 1], time * force[c, 2]
        for slot in range(4):
            body = bodies[c, 0] if weights[c, slot] > 0.0 else bodies[c, 1]
            if body >= momenta.shape[0]:
                continue
            i = points[c, slot]
            w = weights[c, slot]
            rx, ry, rz = x[i, 0] - origin[body, 0], x[i, 1] - origin[body, 1], x[i, 2] - origin[body, 2]
            ix, iy, iz = w * fx, w * fy, w * fz
            add_row(momenta, body, ix, iy, iz, ry * iz - rz * iy, rz * ix - rx * iz, rx * iy - ry * ix)


@kernel
def add_pairs(count, x, points, weights, normal, bodies, normal_force, time, impulse, point, load):
    """Add the normal impulses of every pair of bodies, see `PairImpulses`."""
    for c in range(count):
        n = time * normal_force[c]
        if n == 0.0 or bodies[c, 0] == bodies[c, 1]:
            continue
        a, b, sign = bodies[c, 0], bodies[c, 1], 1.0
        if b < a:
            a, b, sign = b, a, -1.0
        load[a, b] += n
        for axis in range(3):
            impulse[a, b, axis] += sign * n * normal[c, axis]
            # halfway between the two sides
            middle = 0.0
            for slot in range(4):
                middle += 0.5 * abs(weights[c, slot]) * x[points[c, slot], axis]
            point[a, b, axis] += n * middle


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
def add_missing(x, v, body_mass, body_point_start, free, on_collider, slight, origin, momenta, motion):
    """Bring each free membrane's rigid motion (`rigid_motions`) to its momenta.

    One that is `on_collider` is left as it is while it moves by less than RESTING and lacks less than `slight` [m/s].
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
        if on_collider[body]:
            moves = row[3] * row[3] + row[4] * row[4] + row[5] * row[5]
            spins = row[6] * row[6] + row[7] * row[7] + row[8] * row[8]
            lacks = ux * ux + uy * uy + uz * uz
            turns = wx * wx + wy * wy + wz * wz
            radius2 = 0.0
            for i in range(body_point_start[body], body_point_start[body + 1]):
                rx, ry, rz = x[i, 0] - cx, x[i, 1] - cy, x[i, 2] - cz
                radius2 = max(radius2, rx * rx + ry * ry + rz * rz)
            still = moves < RESTING * RESTING and spins * radius2 < RESTING * RESTING
            if still and lacks < slight * slight and turns * radius2 < slight * slight:
                continue
        for i in range(body_point_start[body], body_point_start[body + 1]):
            rx, ry, rz = x[i, 0] - cx, x[i, 1] - cy, x[i, 2] - cz
            v[i, 0] += ux + wy * rz - wz * ry
            v[i, 1] += uy + wz * rx - wx * rz
            v[i, 2] += uz + wx * ry - wy * rx
