"""Contacts answered with impulses (Martin 2009, 5.3), on the contact record and any rows of unknowns.

A step ends where its forces lead, corrected twice by sequential impulses:

    moves        gap + n . u >= REST_SHARE of the thickness     positions only: what lies does not sink, and what is
                                                                pushed out of a surface gains no speed
    velocities   n . v >= e v_in                                j = (1 + e) v_in / (1/m_0 + 1/m_1 + turning), Martin 5.3

with e the pair's bounciness and v_in the speed of approach before the step's forces, so that what lies on something
does not bounce off the weight of one step. A skin is stopped with e = 0: it is the gas behind it that throws the body
back, and the bounciness of the whole is `losses.Losses.bounce`, as for the default solver.
Friction is Coulomb's in both: it stops the motion along the surface with at most mu times the normal impulse, so
dv_t = -min(mu j / m, |v_t|) v_t / |v_t| (Martin's print, 3.1.4, has the velocity itself on the left and the weight in
a maximum with zero). In the paper a contact acts on the masses of all its vertices at once; here each side yields as
its weights say (`collide.mobility`), which keeps the momentum of both sides.

A gap is told along the direction of the closest points or the triangle's own normal, whichever leaves more room: what
slides over a floor is not stopped by the next triangle's border. Contacts that the step would bring about count
already, so that nothing is inside a surface at the end of a step.
"""

from math import sqrt

import numpy as np

from ...collide.bound import height_of
from ...collide.contacts import EDGE_EDGE, POINT_TRIANGLE, WRONG_SIDE, Contacts
from ...collide.mobility import Mobility, mobility_along, push_sides, relative_step
from ...jit import allocating_kernel, kernel
from ...model import BoolArray, FloatArray, Model

#: Gap that a contact keeps, as a share of the thickness.
REST_SHARE = 0.5
#: Share of what a gap lacks that a step makes good.
RECOVERY = 0.2
#: By how much of the thickness a point behind a surface is brought forward in a step.
WAY_BACK = 0.1
#: An edge is a contact of its own where it wants more than this share of it.
OWN_EDGE = 0.5
#: Contacts agree when a sweep changes no impulse by more than this share of the largest one.
AGREED = 1e-5
MOST_SWEEPS = 60
#: What approaches by less than gravity adds in this many steps lies there and does not bounce.
RESTING_STEPS = 4.0


class Impulses:
    """Corrects the steps and velocities of the unknowns of a model for the contacts of a record."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._colliders = np.arange(model.point_count) >= model.moving_point_count
        self._placed = self._colliders.copy()
        self._placed[: model.vertex_count] = model.pinned
        self._allocate(0)

    def _allocate(self, capacity: int) -> None:
        self.normal = np.zeros((capacity, 3))
        self._active = np.zeros(capacity, dtype=bool)
        self._want = np.zeros(capacity)
        self._given = np.zeros((capacity, 3))
        self._yielding = np.zeros(capacity)
        self._impulse = np.zeros((capacity, 3))
        self.push = np.zeros(capacity)  # normal impulse of each contact in the last step [N s], shape (capacity,)

    def correct_moves(
        self, x: FloatArray, given_moves: FloatArray, contacts: Contacts, mobility: Mobility, step: FloatArray
    ) -> None:
        """Correct a step of the unknowns from x, in place, so that gaps stay open. `evaluate_gaps` at x comes before.

        `step`: moves [m] of the vertices, then move and rotation vector [rad] of each rigid body; none of pinned
        vertices and colliders, which are at x where they will be, and have moved there by `given_moves` [m], shape
        (point_count, 3).
        """
        count = contacts.count
        if len(self._active) < count:
            self._allocate(contacts.capacity)
        if count == 0:
            return
        choose_rows(
            x, count, contacts.points, contacts.weights, contacts.kind, contacts.side, contacts.normal, contacts.gap,
            contacts.wanted, contacts.thickness, mobility, step, self.normal, self._active, self._want, self._yielding,
        )  # fmt: skip
        self._given_motion(contacts, given_moves, self._placed)
        given, normal = self._given[:count], self.normal[:count]
        given -= np.einsum("ci,ci->c", given, normal)[:, None] * normal  # the gap knows that part
        self._solve(contacts, mobility, step)
        np.einsum("ci,ci->c", self._impulse[:count], self.normal[:count], out=self.push[:count])

    def correct_velocities(
        self,
        contacts: Contacts,
        mobility: Mobility,
        velocities: FloatArray,
        before: FloatArray,
        velocity_rows: FloatArray,
        rows_before: FloatArray,
        time: float,
    ) -> None:
        """Correct the velocities of the unknowns after a step of a length [s], in place: `velocity_rows`.

        After `correct_moves`, for the contacts that pressed. `velocities` of all points [m/s], for those of colliders;
        `before` the same at the start of the step; `rows_before` velocities of the unknowns then.
        """
        count, model = contacts.count, self._model
        if count == 0:
            return
        np.greater(self.push[:count], 0.0, out=self._active[:count])
        self.push[:count] = 0.0
        if not self._active[:count].any():
            return
        body = contacts.bodies[:count]
        bounciness = np.sqrt(model.bounciness[body[:, 0]] * model.bounciness[body[:, 1]])
        bounciness[contacts.side[:count] == WRONG_SIDE] = 0.0
        bounciness[self._on_skin(contacts)] = 0.0
        resting = RESTING_STEPS * time * float(np.sqrt(np.einsum("i,i->", model.gravity, model.gravity)))
        self._given_motion(contacts, before, self._colliders)
        bounce(
            count, contacts.points, contacts.weights, self.normal, self._given, self._active, bounciness, resting,
            mobility, rows_before, self._want,
        )  # fmt: skip
        self._given_motion(contacts, velocities, self._colliders)
        self._solve(contacts, mobility, velocity_rows)
        np.einsum("ci,ci->c", self._impulse[:count], self.normal[:count], out=self.push[:count])

    def touching(self, contacts: Contacts) -> BoolArray:
        """Whether a contact with another body pushed each moving body, shape (moving_count,)."""
        model, bodies = self._model, contacts.bodies[: contacts.count]
        bodies = bodies[(self.push[: contacts.count] > 0.0) & (bodies[:, 0] != bodies[:, 1])]
        return np.bincount(bodies.ravel(), minlength=model.body_count)[: model.moving_count] > 0

    def skin_push(self, contacts: Contacts) -> FloatArray:
        """Normal impulses [N s] in the last step of the contacts with a skin, 0 for others, shape (count,)."""
        return np.where(self._on_skin(contacts), self.push[: contacts.count], 0.0)

    def _on_skin(self, contacts: Contacts) -> BoolArray:
        on_skin: BoolArray = (contacts.bodies[: contacts.count] < self._model.membrane_count).any(axis=1)
        return on_skin

    def _given_motion(self, contacts: Contacts, motion: FloatArray, which: BoolArray) -> None:
        """What some of the points add to each contact's relative motion."""
        count = contacts.count
        points = contacts.points[:count]
        share = np.where(which[points], contacts.weights[:count], 0.0)
        np.einsum("cs,csk->ck", share, motion[points], out=self._given[:count])

    def _solve(self, contacts: Contacts, mobility: Mobility, rows: FloatArray) -> None:
        count = contacts.count
        self._impulse[:count] = 0.0
        sweep(
            count, contacts.points, contacts.weights, self.normal, self._active, self._want, self._given,
            contacts.friction, contacts.side, self._yielding, mobility, rows, self._impulse,
        )  # fmt: skip


@allocating_kernel
def choose_rows(
    x, count, points, weights, kind, side, normal, gap, wanted, thickness, mobility, step, along, active, want, yielding
):
    """Which contacts count in a step, their direction `along` and by how much their sides must at least part, `want`.

    `yielding`: change of the gap for a unit impulse [1/kg].
    """
    for c in range(count):
        active[c] = False
        along[c] = normal[c]
        if not gap[c] < 1e300:  # a pair that another row owns
            continue
        rest = REST_SHARE * thickness[c]
        room = gap[c]
        ux, uy, uz = relative_step(c, points, weights, mobility, step)
        if kind[c] == EDGE_EDGE:
            # far apart, two edges may pass each other: the bound of the step has them come nearer first
            if not (wanted[c] > OWN_EDGE and room < thickness[c]):
                continue
        elif kind[c] != POINT_TRIANGLE:
            continue
        elif side[c] < 0:
            rest = min(room + WAY_BACK * thickness[c], thickness[c])
        elif room + normal[c, 0] * ux + normal[c, 1] * uy + normal[c, 2] * uz < rest:
            nx, ny, nz, height = height_of(x, points, c)
            if height + nx * ux + ny * uy + nz * uz > room + along[c, 0] * ux + along[c, 1] * uy + along[c, 2] * uz:
                along[c, 0], along[c, 1], along[c, 2] = nx, ny, nz
                room = height
        yielding[c] = mobility_along(c, points, weights, along[c, 0], along[c, 1], along[c, 2], mobility)
        if not yielding[c] > 0.0:
            continue
        active[c] = True
        want[c] = rest - room
        if side[c] > 0 and room < rest:
            # a gap that is too small already opens bit by bit, from what it is or will be without this contact
            ahead = room + along[c, 0] * ux + along[c, 1] * uy + along[c, 2] * uz
            want[c] = max(ahead + RECOVERY * (rest - ahead) - room, 0.0) if ahead < rest else 0.0


@kernel
def bounce(count, points, weights, normal, given, active, bounciness, resting, mobility, rows, want):
    """Speed [m/s] at which the sides of each contact must at least part, from the velocities before the step."""
    for c in range(count):
        if not active[c]:
            continue
        ux, uy, uz = relative_step(c, points, weights, mobility, rows)
        ux, uy, uz = ux + given[c, 0], uy + given[c, 1], uz + given[c, 2]
        approach = -(ux * normal[c, 0] + uy * normal[c, 1] + uz * normal[c, 2])
        want[c] = bounciness[c] * approach if approach > resting else 0.0


@kernel
def sweep(
    count, points, weights, normal, active, want, given, friction, side, yielding, mobility, rows, impulse
):  # fmt: skip
    """Impulses after which each active contact's sides move apart by `want` at least; `rows` are changed by them.

    Gauss-Seidel sweeps to and fro over the rows in their order, with the sums of the impulses bounded: the normal one
    from below by zero, friction by Coulomb's law. Serial, so that the result is one. `given` [rows' unit] is what
    colliders add to each contact's relative motion, shape (count, 3).
    """
    largest = 0.0
    for turn in range(MOST_SWEEPS):
        change = 0.0
        for k in range(count):
            c = k if turn % 2 == 0 else count - 1 - k
            if not active[c]:
                continue
            nx, ny, nz = normal[c, 0], normal[c, 1], normal[c, 2]
            ux, uy, uz = relative_step(c, points, weights, mobility, rows)
            ux, uy, uz = ux + given[c, 0], uy + given[c, 1], uz + given[c, 2]
            held = impulse[c, 0] * nx + impulse[c, 1] * ny + impulse[c, 2] * nz
            push = max(held + (want[c] - (ux * nx + uy * ny + uz * nz)) / yielding[c], 0.0)
            jx, jy, jz = (push - held) * nx, (push - held) * ny, (push - held) * nz
            if friction[c] > 0.0 and side[c] > 0 and (push > 0.0 or held > 0.0):
                push_sides(c, points, weights, jx, jy, jz, mobility, rows)
                impulse[c, 0], impulse[c, 1], impulse[c, 2] = impulse[c, 0] + jx, impulse[c, 1] + jy, impulse[c, 2] + jz
                change = max(change, sqrt(jx * jx + jy * jy + jz * jz))
                ux, uy, uz = relative_step(c, points, weights, mobility, rows)
                ux, uy, uz = ux + given[c, 0], uy + given[c, 1], uz + given[c, 2]
                un = ux * nx + uy * ny + uz * nz
                ux, uy, uz = ux - un * nx, uy - un * ny, uz - un * nz
                tx, ty, tz = impulse[c, 0] - push * nx, impulse[c, 1] - push * ny, impulse[c, 2] - push * nz
                speed = sqrt(ux * ux + uy * uy + uz * uz)
                sx, sy, sz = tx, ty, tz
                if speed > 0.0:
                    share = mobility_along(c, points, weights, ux / speed, uy / speed, uz / speed, mobility)
                    sx, sy, sz = tx - ux / share, ty - uy / share, tz - uz / share
                size = sqrt(sx * sx + sy * sy + sz * sz)
                if size > friction[c] * push:
                    kept = friction[c] * push / size
                    sx, sy, sz = kept * sx, kept * sy, kept * sz
                jx, jy, jz = sx - tx, sy - ty, sz - tz
            push_sides(c, points, weights, jx, jy, jz, mobility, rows)
            impulse[c, 0], impulse[c, 1], impulse[c, 2] = impulse[c, 0] + jx, impulse[c, 1] + jy, impulse[c, 2] + jz
            change = max(change, sqrt(jx * jx + jy * jy + jz * jz))
        largest = max(largest, change)
        if change <= AGREED * largest:
            break
