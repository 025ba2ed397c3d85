"""Contacts that particles and inside tests find, answered once each, one after the other (Martin 2009, 5.3).

    j = -(1 + e) v_rel . n / (1/m_0 + 1/m_1 + turning),  j >= 0

A feature of a skin has the mass of its points, a solid its own, with what turning adds. e is the pair's bounciness, 0
for what approaches by less than gravity adds in some steps. There is no friction: the paper has it on the ground only.
A vertex nearer to a triangle than the skin's thickness is moved away to it, and what is inside a solid, or a solid
inside it, out to the surface. In the paper the vertex moves alone; here both sides do, as they yield, so that momentum
stays. In the paper the impulse of two solids has either sign; here none pulls.
Contacts with colliders follow, so nothing passes through those.
"""

import numpy as np

from ..array_types import FloatArray, IntArray
from ..bodies.rigid.motion import move_poses, place_points, turned_tensors
from ..contact.mixing import mixed
from ..contact.restitution import parting_speed_kernel, resting_speed
from ..jit import kernel
from ..model import Model
from ..options import DEFAULTS, MethodOptions
from ..state import RigidMotion
from .flight import InverseMass, velocity_rows
from .particles.feature_tests import GAP, PLACE, PUSHES
from .particles.search import ParticleSearch


class ParticleContacts:
    """Finds the contacts among the moving bodies of a model at the end of a step, and changes the step for them.

    `search`: what collided in the last step, and where the particles rest.
    """

    def __init__(self, model: Model, options: MethodOptions = DEFAULTS) -> None:
        self._model = model
        with np.errstate(divide="ignore"):
            inverse_mass = np.where(model.pinned, 0.0, 1.0 / model.vertex_mass)
        rigid = model.rigid
        self._mobility = InverseMass(inverse_mass, rigid.unknown, rigid.arm, 1.0 / rigid.mass, rigid.inverse_inertia)
        self.search = ParticleSearch(model, options)
        self.touching = np.zeros(model.moving_count, dtype=bool)  # whether each body was pushed in the last step
        self.pressed = 0  # contacts that pushed in the last step

    def start(self, features: IntArray) -> None:
        """Put the particles where a state has them; at random, but always the same, where it has none."""
        known = len(features) == len(self.search.features)
        self.search.features[:] = features if known else self.search.start_features()

    def answer(
        self, x: FloatArray, poses: FloatArray, moves: FloatArray, v: FloatArray, rigid: RigidMotion, time: float
    ) -> RigidMotion:
        """Change a step from x [m] and `poses`, over a time [s], for the contacts where it ends.

        `moves` of the unknowns and the vertices' velocities, the first rows of `v`, are changed in place. Takes and
        returns how the rigid bodies move after the step.
        """
        model, n, search = self._model, self._model.vertex_count, self.search
        self.touching[:] = False
        self.pressed = 0
        trial, reached = x.copy(), poses.copy()
        trial[:n] += moves[:n]
        move_poses(poses, moves[n:], 1.0, reached)
        place_points(reached, model.rigid.arm, model.rigid.point_start, trial)
        count = search.find(trial, reached)
        if count == 0:
            return rigid
        inverse, inertia = np.empty((2, model.rigid_count, 3, 3))
        turned_tensors(reached, model.rigid.inverse_inertia, inverse)
        turned_tensors(reached, model.rigid.inertia, inertia)
        mobility = self._mobility._replace(rigid_inverse_inertia=inverse)
        rows = velocity_rows(v[:n], rigid, mobility)
        free, shift = rows.copy(), np.zeros_like(rows)
        body = model.point_body[search.hits.points[:count, ::3]]
        both_soft = (body < model.membrane_count).all(axis=1)
        rest = np.where(both_soft, 0.5 * search.skin * search.radius[body].sum(axis=1), 0.0)
        bounciness = mixed(*model.bounciness[body].T)
        resting = resting_speed(model.gravity, time)
        push = np.zeros(count)
        respond(count, *search.hits, reached, rest, bounciness, resting, mobility, rows, shift, push)
        pushed = push > 0.0
        self.pressed = int(np.count_nonzero(push))
        self.touching[np.unique(body[pushed])] = True
        moves += shift
        v[:n] = rows[:n]
        change = rows[n:] - free[n:]
        turn = np.einsum("bij,bj->bi", inertia, change[1::2])
        return RigidMotion(rigid.pose, rigid.velocity + change[::2], rigid.angular_momentum + turn)


@kernel
def solid_at(point, numbers, poses, mobility):
    """Row of unknowns of the solid that has a point, its number, and the place of a hit from its centre [m]."""
    vertex_count = mobility.inverse_mass.shape[0]
    row = mobility.unknown[point - vertex_count]
    body = (row - vertex_count) // 2
    x, y, z = numbers[PLACE], numbers[PLACE + 1], numbers[PLACE + 2]
    return row, body, x - poses[body, 0], y - poses[body, 1], z - poses[body, 2]


@kernel
def motion_of(c, points, weights, numbers, poses, mobility, rows):
    """sum w_i u_i of a hit for rows of unknowns: how its sides part, a solid's at the place of the hit."""
    vertex_count = mobility.inverse_mass.shape[0]
    x = y = z = 0.0
    for side in range(2):
        first = 3 * side
        if points[c, first] < vertex_count:
            for slot in range(first, first + 3):
                i, w = points[c, slot], weights[c, slot]
                x, y, z = x + w * rows[i, 0], y + w * rows[i, 1], z + w * rows[i, 2]
            continue
        sign = 1.0 if side == 0 else -1.0
        row, _, rx, ry, rz = solid_at(points[c, first], numbers[c], poses, mobility)
        wx, wy, wz = rows[row + 1, 0], rows[row + 1, 1], rows[row + 1, 2]
        x += sign * (rows[row, 0] + wy * rz - wz * ry)
        y += sign * (rows[row, 1] + wz * rx - wx * rz)
        z += sign * (rows[row, 2] + wx * ry - wy * rx)
    return x, y, z


@kernel
def push_apart(c, points, weights, numbers, poses, mobility, impulse, rows):
    """Add an impulse [N s] along the normal of a hit to rows of unknowns; returns by how much its sides part.

    With an impulse of 0, what one of 1 would do.
    """
    vertex_count = mobility.inverse_mass.shape[0]
    nx, ny, nz = numbers[c, 0], numbers[c, 1], numbers[c, 2]
    parted = 0.0
    for side in range(2):
        first = 3 * side
        if points[c, first] < vertex_count:
            for slot in range(first, first + 3):
                i, w = points[c, slot], weights[c, slot]
                share = w * mobility.inverse_mass[i]
                parted += w * share
                rows[i, 0] += impulse * share * nx
                rows[i, 1] += impulse * share * ny
                rows[i, 2] += impulse * share * nz
            continue
        sign = 1.0 if side == 0 else -1.0
        row, body, rx, ry, rz = solid_at(points[c, first], numbers[c], poses, mobility)
        tx, ty, tz = ry * nz - rz * ny, rz * nx - rx * nz, rx * ny - ry * nx
        m = mobility.rigid_inverse_inertia[body]
        wx = m[0, 0] * tx + m[0, 1] * ty + m[0, 2] * tz
        wy = m[1, 0] * tx + m[1, 1] * ty + m[1, 2] * tz
        wz = m[2, 0] * tx + m[2, 1] * ty + m[2, 2] * tz
        share = mobility.rigid_inverse_mass[body]
        parted += share + tx * wx + ty * wy + tz * wz
        rows[row, 0] += sign * impulse * share * nx
        rows[row, 1] += sign * impulse * share * ny
        rows[row, 2] += sign * impulse * share * nz
        rows[row + 1, 0] += sign * impulse * wx
        rows[row + 1, 1] += sign * impulse * wy
        rows[row + 1, 2] += sign * impulse * wz
    return parted


@kernel
def respond(
    count, points, weights, numbers, poses, rest, bounciness, resting, mobility, rows, shift, push
):  # fmt: skip
    """Answer the hits in their order: impulses on the velocities `rows`, moves into `shift`.

    `rest`: gap that those which push are moved to [m]; `resting`: approach that does not bounce [m/s]. `push`: output,
    normal impulse of each [N s].
    """
    for c in range(count):
        yielding = push_apart(c, points, weights, numbers, poses, mobility, 0.0, rows)
        if not yielding > 0.0:
            continue
        nx, ny, nz = numbers[c, 0], numbers[c, 1], numbers[c, 2]
        ux, uy, uz = motion_of(c, points, weights, numbers, poses, mobility, rows)
        approach = -(ux * nx + uy * ny + uz * nz)
        if approach > 0.0:
            push[c] = (approach + parting_speed_kernel(bounciness[c], approach, resting)) / yielding
            push_apart(c, points, weights, numbers, poses, mobility, push[c], rows)
        if numbers[c, PUSHES] > 0.0:
            ux, uy, uz = motion_of(c, points, weights, numbers, poses, mobility, shift)
            lack = rest[c] - (numbers[c, GAP] + ux * nx + uy * ny + uz * nz)
            if lack > 0.0:
                push_apart(c, points, weights, numbers, poses, mobility, lack / yielding, shift)
