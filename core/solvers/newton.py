"""Newton's method on the energy of one time stage, along a path on which nothing is crossed.

Each step solves for a direction with conjugate gradients, shortens it per vertex where a surface is near
(`collide.bound`), and then as a whole until the energy falls (Armijo). Contacts are searched anew when a vertex
is about to leave the reach of the last search, so the energy always sees every pair within its thickness.
"""

from dataclasses import dataclass

import numpy as np

from ..collide.apart import keep_apart
from ..collide.bound import carry, limit_displacement
from ..collide.broad import ContactSearch
from ..collide.contacts import Contacts
from ..linear.conjugate_gradient import Scratch, conjugate_gradient
from ..linear.multigrid import set_extra_diagonal
from ..model import FloatArray, IntArray, Model
from ..state import State, StuckContacts
from ..topology import triangle_areas
from .energy import StageEnergy
from .preconditioner import precondition

#: Contact stiffness in units of (pressure x vertex area / thickness): a patch rests at about a third of the thickness.
PRESSURE_CONTACT = 10.0
#: A Newton step that lowers the energy by less than this share of the best one is the last: what remains is the
#: hunt of lagged friction for its own tail.
SMALL_FALL = 5e-4
#: Where nothing may touch, tolerances are this many times as large: momentum is kept anyway.
FREE_TOLERANCE = 2.0
#: A first guess that moves nothing by more than this share of the thinnest skin's thickness is not evaluated.
STILL = 1e-3
#: Reach of a search in units of the move that made it necessary: larger means fewer searches, more candidates.
REACH_FACTOR = 3.0
#: The same for moves beyond an edge length, where a larger reach would find all of the other body.
FAST_REACH_FACTOR = 1.2


@dataclass(frozen=True, slots=True)
class NewtonSettings:
    """Accuracy of a stage; the defaults are chosen by the hold and bounce tests."""

    newton_limit: int = 40  # Newton steps per stage
    linear_limit: int = 60  # conjugate gradient iterations per Newton step
    linear_tolerance: float = 0.1  # reduction of the residual per Newton step
    newton_tolerance: float = 0.005  # reduction of the residual per stage that is enough
    rest_acceleration: float = 0.05  # unbalanced force per mass that counts as none [m/s^2]


@dataclass(slots=True)
class Counts:
    """How much work was done."""

    stages: int = 0
    newton_steps: int = 0
    linear_iterations: int = 0
    shortened_steps: int = 0
    contact_searches: int = 0
    halved_steps: int = 0  # steps taken again in two halves
    damped_steps: int = 0  # steps taken again with implicit Euler


class StageMinimiser:
    """Minimises the energy of stages of length `stage_time` [s]; `x` holds the result, all points."""

    def __init__(self, model: Model, stage_time: float, settings: NewtonSettings) -> None:
        n, chunk_count = model.vertex_count, len(model.chunks.body)
        self.model = model
        self.settings = settings
        self.counts = Counts()
        self.contacts = Contacts(model.moving_point_count)
        self.energy = StageEnergy(model, self.contacts, stage_time)
        self.x = np.zeros((model.point_count, 3))
        self._search = ContactSearch(model)
        self._searched = False
        self._multigrid = precondition(model, self.energy.inertia)
        self._rest_energy = _rest_energy(model, settings.rest_acceleration * stage_time)
        self._gas = np.zeros(model.membrane_count)
        self._stuck = StuckContacts.none()
        self._thinnest = float(model.thickness[: model.membrane_count].min())
        self._free = ~model.pinned
        self._move = np.zeros((model.point_count, 3))
        self._trial = np.zeros((model.point_count, 3))
        self._force = np.zeros((n, 3))
        self._residual = np.zeros((n, 3))
        self._direction = np.zeros((n, 3))
        self._diagonal = np.zeros((n, 3))
        self._share = np.ones(n)
        self._scratch = Scratch(
            np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)),
            np.zeros((chunk_count, 2)), np.zeros((len(model.hinges.sharp), 4, 3)), np.zeros(model.membrane_count),
        )  # fmt: skip
        skin = slice(0, model.membrane_count)
        edge_body = model.point_body[model.edges.points[:, 0]]
        edge_count = np.bincount(edge_body)
        self._edge_stiffness = np.bincount(edge_body, model.edges.stiffness) / edge_count
        # mean rest length [m]; none for colliders
        self._edge_length = np.zeros(model.body_count)
        self._edge_length[skin] = np.bincount(edge_body, model.edges.rest_length) / edge_count
        area = np.zeros(model.membrane_count)
        np.add.at(area, model.point_body[: model.vertex_count], _vertex_areas(model))
        self._patch = area / np.diff(model.body_point_start)[skin] / model.thickness[skin]

    def untangle(self, state: State) -> int:
        """Note in the state which points are behind another body's surface; returns how many triangles cross."""
        overlaps = self._search.untangle(state.positions)
        state.wrong_side = self.wrong_side()
        return overlaps.crossing_triangle_count

    def wrong_side(self) -> IntArray:
        """(point, body, facing) of the points behind a body's surface, shape (wrong_count, 3)."""
        pairs, facing = self._search.wrong_side_pairs, self._search.wrong_side_facing
        return np.concatenate([pairs, facing[:, None]], axis=1).astype(np.int32)

    def relist(self, wrong_side: IntArray) -> None:
        """List the points behind a surface as a state has them, and search anew."""
        self._search.list_wrong_side(wrong_side[:, :2], wrong_side[:, 2].astype(np.int8))
        self._searched = False

    def start_frame(self, state: State) -> None:
        """Evaluate a state afresh: contacts and energies then depend on the state alone."""
        self.relist(state.wrong_side)
        self.start(state, state.gas)
        self._move[:] = 0.0
        self._cover(self._move)
        self.energy.begin(self.x[: self.model.vertex_count], state.gas)
        self.energy.evaluate(self.x)

    def start(self, state: State, gas: FloatArray) -> None:
        """Begin a substep from a state, with the given nRT [J] of each membrane at its end."""
        self.x[:] = state.positions
        self._gas[:] = gas
        self._stuck = state.stuck
        self.energy.start(self.x)
        self.energy.hold_stuck(self._stuck)

    def move_given(self, points: IntArray, target: FloatArray) -> None:
        """Move pinned vertices and colliders [m]; what stands in a collider's way is carried along."""
        n = self.model.vertex_count
        move = self._move
        move[:] = 0.0
        move[points] = target - self.x[points]
        if not move.any():
            return
        self._cover(move)
        moved = self.x + move
        carry(self.x, moved[n:], self.contacts)
        self.x[n:] = moved[n:]
        self.x[points] = target

    def minimise(self, *, target: FloatArray, guess: FloatArray) -> None:
        """Move `x` to the least energy of a stage towards `target`, starting at `guess`, both of the vertices [m].

        Leaves the energy linearised at `x`.
        """
        model, energy, settings, counts = self.model, self.energy, self.settings, self.counts
        n = model.vertex_count
        counts.stages += 1
        energy.begin(target, self._gas)
        self._move[:] = 0.0
        self._move[:n][self._free] = (guess - self.x[:n])[self._free]
        self._cover(self._move)
        if len(self._search.wrong_side_pairs):
            self._search.recover(self.x, self.contacts)
            energy.forget()
        self._guess()

        enough = self._rest_energy
        most = 0.0  # largest fall of the energy in one step
        for newton_step in range(settings.newton_limit):
            total = energy.linearise(self.x)
            energy.residual(self.x, self._force)
            self._residual[:] = self._force
            energy.contact_diagonal(self._diagonal)
            set_extra_diagonal(self._multigrid.levels, self._diagonal)
            loose = 1.0 if self.contacts.count else FREE_TOLERANCE
            iterations, size = conjugate_gradient(
                model.edges, model.hinges, model.chunks, energy.hessian, energy.terms, self.contacts.count,
                energy.contact_stretched, self._multigrid.levels, self._residual, self._scratch,
                loose * settings.linear_tolerance, enough, settings.linear_limit, self._direction,
            )  # fmt: skip
            counts.linear_iterations += iterations
            if iterations == 0:
                break
            fall = self._descend(total)
            most = max(most, fall)
            if fall <= SMALL_FALL * most:
                break
            counts.newton_steps += 1
            if newton_step == 0:
                enough = max(enough, (loose * settings.newton_tolerance) ** 2 * size)
        energy.linearise(self.x)  # contact forces where it ended

    def _guess(self) -> None:
        """Go along the move as far as contacts let it, unless staying costs less energy, as it does at rest."""
        n, energy = self.model.vertex_count, self.energy
        if self.contacts.count == 0:
            self.x[:n] += self._move[:n]
            energy.evaluate(self.x)
            return
        held = energy.evaluate(self.x)
        if np.abs(self._move).max() < STILL * self._thinnest:
            return
        self._keep_apart()
        np.add(self.x, self._move, out=self._trial)
        if energy.evaluate(self._trial) < held:
            self.x[:n] = self._trial[:n]
        else:
            energy.evaluate(self.x)

    def _descend(self, total: float) -> float:
        """Go along the direction as far as the energy falls; returns its fall [J], 0 (and `x` as it was) where none."""
        n, energy = self.model.vertex_count, self.energy
        self._move[:] = 0.0
        self._move[:n] = self._direction
        if self._cover(self._move):
            energy.evaluate(self.x)
            total = energy.linearise(self.x)
        self._keep_apart()
        fall = self._search_line(total, 5)
        if fall > 0.0:
            return fall
        # the corrected direction does not always lead down; the plain one does, shortened as a whole
        self._move[:n] = self._direction
        energy.evaluate(self.x)
        limit_displacement(self.x, self._move, self.contacts, self._share)
        self._move[:n] *= self._share.min()
        fall = self._search_line(total, 12)
        if not fall > 0.0:
            energy.evaluate(self.x)
        return fall

    def _search_line(self, total: float, halvings: int) -> float:
        """Go along the move, halved until the energy is sufficiently below `total`; returns by how much [J], or 0."""
        # einsum, not vdot: BLAS would start its own threads, twice as slow here, with sums that depend on their number
        slope = float(np.einsum("ij,ij->", self._force, self._move[: self.model.vertex_count]))
        if not slope > 0.0:
            return 0.0
        rounding = 1e-12 * abs(total)
        step = 1.0
        for _ in range(halvings):
            np.multiply(self._move, step, out=self._trial)
            self._trial += self.x
            reached = self.energy.evaluate(self._trial)
            if reached <= total - 1e-4 * step * slope + rounding:
                self.x[:] = self._trial
                return max(total - reached, rounding)
            self.counts.shortened_steps += 1
            step *= 0.5
        return 0.0

    def _keep_apart(self) -> None:
        """Take out of the move what would close a gap, so that nothing is crossed."""
        if self.contacts.count:
            keep_apart(self._move, self.model.pinned, self.contacts)
            limit_displacement(self.x, self._move, self.contacts, self._share)
            self._move[: self.model.vertex_count] *= self._share[:, None]

    def _cover(self, move: FloatArray) -> bool:
        """Make sure that every pair that can touch during a move is in the contact record; True if it was renewed."""
        np.add(self.x, move, out=self._trial)
        if self._searched and self._search.still_valid(self._trial):
            return False
        distance = np.sqrt((move * move).sum(axis=1))
        farthest = np.maximum.reduceat(distance, self.model.body_point_start[:-1])
        fast = np.maximum(FAST_REACH_FACTOR * farthest, self._edge_length)
        reach = np.maximum(np.minimum(REACH_FACTOR * farthest, fast), 0.5 * self.model.thickness)
        self._search.search(self.x, reach, self.contacts)
        self._searched = True
        self.counts.contact_searches += 1
        self.energy.contacts_found(self._contact_scale(), self._stuck)
        return True

    def _contact_scale(self) -> FloatArray:
        """kappa of each body [N/m], for contacts that hold its pressure or its springs."""
        model = self.model
        pressure = np.maximum(self._gas / model.rest_volume - model.ambient_pressure, 0.0)
        scale = np.zeros(model.body_count)
        scale[: model.membrane_count] = np.maximum(PRESSURE_CONTACT * pressure * self._patch, self._edge_stiffness)
        return scale


def _rest_energy(model: Model, speed: float) -> float:
    """Residual r'Br [J] of forces that change the lightest body's speed by `speed` [m/s] in a stage: taken as none."""
    return float(model.body_mass[: model.membrane_count].min()) * speed**2


def _vertex_areas(model: Model) -> FloatArray:
    """Area of each vertex of the membranes at rest [m^2]: its share of the body's area, as of its mass."""
    skin = model.surfaces.triangles[: model.surfaces.body_triangle_start[model.membrane_count]]
    area = triangle_areas(model.rest_positions, skin)
    share = np.bincount(skin.ravel(), np.repeat(area / 3.0, 3), minlength=model.vertex_count)
    return np.asarray(share, dtype=float)
