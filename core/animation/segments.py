"""The model of a frame with animated values (`keyed.py`): the start's with a few arrays of its own.

First its *parts*: held membranes have all their points pinned, held rigid bodies a mass that no contact moves
(`held.py`), attachments that are off are left out, as is what is torn (`plasticity/deletion.py`), bodies that stick
have more attachments. Then its *values*, to which stiffness is proportional. A solver is
made for the parts, and takes a model with other values by `revised`, so that a modulus that changes in every frame
costs little. Rest lengths that flow are changed in place, in a model that is the solver's own.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..array_types import BoolArray, FloatArray, IntArray
from ..bodies.assembly import edge_dampers
from ..bodies.attachments import attachment_stiffness
from ..contact.untangle.relaxation import Relaxation
from ..energy.hinges import rest_hinges
from ..model import Attachments, Hinges, Model, RigidBodies
from ..plasticity.deletion import Deletion
from ..plasticity.pieces import broken_bodies
from ..solvers.choice import SolverMaker
from ..solvers.counts import Counts
from .keyed import NAMES, Keyed, start_values

#: Mass of a held rigid body over that of all bodies together.
HEAVIER = 1e4


def with_parts(model: Model, keyed: Keyed, deletion: Deletion | None) -> Model:
    """The start's model with held bodies and attachments; the same object if none differ.

    `deletion`: what is deleted where springs are torn; None if none can tear.
    """
    if keyed.has_parts_of(Keyed.at_start(model)):
        return model
    if deletion is not None:
        model = deletion.without(keyed.torn)
    is_held, held_solids = keyed.held[model.point_body[: model.vertex_count]], keyed.held[model.membrane_count :]
    glue = model.attachments
    is_on = keyed.attached[model.point_body[keyed.glue_points[:, 0]]] & keyed.glue_weights.any(axis=1)
    rows = np.flatnonzero(is_on)
    attachments = Attachments(
        np.concatenate([keyed.glue_points[rows], keyed.bond_points]),
        np.concatenate([keyed.glue_weights[rows], keyed.bond_weights]),
        np.concatenate([keyed.glue_offset[rows], keyed.bond_offset]),
        np.concatenate([glue.body[rows], keyed.bond_body]),
        np.concatenate([glue.stiffness[rows], attachment_stiffness(model.edges, keyed.bond_points[:, 0])]),
    )
    rigid = model.rigid
    if model.rigid_count:
        reach = np.sqrt((keyed.arm**2).sum(axis=1))
        radius = np.maximum.reduceat(reach, rigid.point_start[:-1] - model.vertex_count)
        rigid = _immovable(rigid._replace(arm=keyed.arm, radius=radius), held_solids, model)
    held_bodies = np.append(keyed.held, np.zeros(model.body_count - model.moving_count, bool))
    given = held_bodies.copy()
    given[model.moving_count :] = True
    body_mass = model.body_mass.copy()
    body_mass[model.membrane_count : model.moving_count] = rigid.mass
    return replace(
        model,
        pinned=model.pinned | is_held,
        damping=_damping(model, keyed, model.damping),
        self_collision=model.self_collision & ~held_bodies,
        attachments=attachments,
        rigid=rigid,
        body_mass=body_mass,
        ignores=(model.ignores | np.outer(given, given)) & ~np.eye(model.body_count, dtype=bool),
    )


def _immovable(rigid: RigidBodies, held: BoolArray, model: Model) -> RigidBodies:
    """Rigid bodies; the held ones with a mass and an inertia far above those of all others together.

    The inertia is that of a ball, so that the angular velocity is constant; gravity and damping do not act.
    """
    mass = np.where(held, HEAVIER * model.body_mass.sum(), rigid.mass)
    moment = (0.2 * mass * rigid.radius**2)[:, None, None] * np.eye(3)
    which = held[:, None, None]
    return rigid._replace(
        mass=mass,
        inertia=np.where(which, 2.0 * moment, rigid.inertia),
        inverse_inertia=np.where(which, np.eye(3) / (2.0 * moment[:, :1, :1]), rigid.inverse_inertia),
        second_moment=np.where(which, moment, rigid.second_moment),
        falls=np.where(held, 0.0, 1.0),
        linear_damping=np.where(held, 0.0, rigid.linear_damping),
        angular_damping=np.where(held, 0.0, rigid.angular_damping),
    )


def with_values(parts: Model, start: Model, keyed: Keyed) -> Model:
    """That model with other values; the same object if they are those of the start."""
    before, now = start_values(start), keyed.values
    if np.array_equal(before, now, equal_nan=True) and np.array_equal(start.gravity, keyed.gravity):
        return parts
    values = dict(zip(NAMES, now.T, strict=True))
    soft, rigid = slice(0, parts.membrane_count), slice(parts.membrane_count, parts.moving_count)
    ratios = np.divide(now, before, out=np.ones_like(now), where=~np.isnan(before) & (before != 0.0))
    ratio = dict(zip(NAMES, ratios[soft].T, strict=True))
    stretch = ratio["stretch_modulus"] * ratio["modulus"] * ratio["spring_constant"]  # a body has one of them
    springs, cells, glue = parts.edges, parts.tetrahedra, parts.attachments
    own_volumes = np.array([own.get("volume_compliance") is not None for own in parts.settings[soft]], bool)
    squeeze = np.where(own_volumes, 1.0, stretch)
    squeezed = squeeze[parts.point_body[cells.points[:, 0]]]
    volumes = {"stiffness": cells.stiffness * squeezed, "sum_stiffness": cells.sum_stiffness * squeezed[::8]}
    is_free = ~keyed.held[rigid]
    model = replace(
        parts,
        edges=springs._replace(stiffness=springs.stiffness * stretch[parts.point_body[springs.points[:, 0]]]),
        edge_damping=_edge_damping(parts, start, values["spring_damping"][soft]),
        tetrahedra=cells._replace(**volumes),
        attachments=glue._replace(stiffness=glue.stiffness * stretch[parts.point_body[glue.points[:, 0]]]),
        rigid=parts.rigid._replace(
            linear_damping=values["linear_damping"][rigid] * is_free,
            angular_damping=values["angular_damping"][rigid] * is_free,
        ),
        damping=_damping(parts, keyed, values["damping"][soft]),
        spring_damping=values["spring_damping"][soft],
        friction=values["friction"],
        bounciness=values["bounciness"],
        gravity=keyed.gravity,
        settings=(*map(_now, parts.settings, now), parts.settings[-1]),
    )
    bend_modulus = np.nan_to_num(values["bend_modulus"][soft])
    if np.array_equal(bend_modulus, start.bend_modulus) and (stretch == 1.0).all():
        return model
    return replace(model, hinges=_hinges(model, bend_modulus))


def _damping(model: Model, keyed: Keyed, rates: FloatArray) -> FloatArray:
    """Decay rates [1/s] of bodies: 0 of broken ones, whose pieces are damped one by one (`plasticity/pieces.py`)."""
    return np.where(broken_bodies(model), 0.0, rates) if keyed.torn.any() else rates


def _now(given: Mapping[str, Any], values: FloatArray) -> dict[str, Any]:
    """The settings of a body with its animated values, which are NaN where it has none."""
    return {**given, **{name: value for name, value in zip(NAMES, values.tolist(), strict=True) if value == value}}


def _edge_damping(parts: Model, start: Model, spring_damping: FloatArray) -> FloatArray:
    """Constants of the dampers [N s/m] for other moduli [N s/m, Pa s]; those of bodies without a change stay."""
    edge_body = parts.point_body[parts.edges.points[:, 0]]
    changed = (spring_damping != start.spring_damping)[edge_body]
    modulus = np.where(
        start.spring_constant > 0.0, start.spring_constant, start.stretch_modulus + start.young_modulus
    )  # a body has one of them
    dampers = edge_dampers(parts.edges.stiffness, edge_body, spring_damping, modulus)
    return np.where(changed, dampers, parts.edge_damping)


def _hinges(model: Model, bend_modulus: FloatArray) -> Hinges:
    """The hinges of other bend moduli [N m]."""
    skin = model.surfaces.triangles[: model.surfaces.body_triangle_start[model.membrane_count]]
    body = model.point_body[: model.vertex_count]
    return rest_hinges(model.rest_positions, skin, (model.hinge_share * bend_modulus)[body], body, model.edges)


def given_points(model: Model) -> IntArray:
    """Kinematic points: pinned vertices, then colliders."""
    colliders = np.arange(model.moving_point_count, model.point_count)
    return np.concatenate([np.flatnonzero(model.pinned), colliders]).astype(np.int32)


class Segments:
    """The solver of a run, made anew or revised when animated values change.

    The bits of a frame depend on the start and on the frame's values, not on the frames before: a continued run has
    those of one that was not interrupted. `holds_gravity`: whether the caller changes the gravity of `model` on the way
    (`papers/ramp.py`).
    """

    def __init__(self, model: Model, make: SolverMaker, substep_time: float, *, holds_gravity: bool) -> None:
        self._start, self._make, self._substep_time = model, make, substep_time
        self._holds_gravity = holds_gravity
        self._keyed = Keyed.at_start(model)
        self._deletion = Deletion(model) if model.tears else None
        self._parts, self._earlier = model, Counts()
        self.model = self._own(model)
        self.given = given_points(model)  # points whose motion is given
        self._base = self.solver = make(self.model, substep_time)
        self._remade = self.solver.remade
        self._relaxation: Relaxation | None = None

    @property
    def counts(self) -> Counts:
        """How much work was done since the start."""
        return self._earlier.plus(self.solver.counts)

    @property
    def relaxation(self) -> Relaxation:
        """What moves crossing bodies apart; made when it is first needed."""
        self._relaxation = self._relaxation or Relaxation(self._parts)
        return self._relaxation

    def left(self, of_springs: FloatArray) -> FloatArray:
        """Values of the springs of `model` from those of all springs of the start's model, which may be empty."""
        torn = self._keyed.torn
        if self._deletion is None or not torn.any() or not len(of_springs):
            return of_springs
        return np.asarray(of_springs[~self._deletion.springs(torn)])

    def use(self, keyed: Keyed, rest_lengths: FloatArray) -> None:
        """Set `model` and `solver` for these animated values and rest lengths [m], which are empty if none changes.

        Raises `ParameterError` if the solver does not support them.
        """
        before = self.solver
        self._use(keyed)
        if not len(rest_lengths):
            return
        own, lengths = self.model.edges.rest_length, self.left(rest_lengths)
        if not (self.solver is before and np.array_equal(own, lengths)):
            own[:] = lengths
            self.solver.take_rest_lengths()

    def _use(self, keyed: Keyed) -> None:
        if keyed is self._keyed:
            return
        is_new = not keyed.has_parts_of(self._keyed)
        if not is_new and keyed.has_values_of(self._keyed):
            self._keyed = keyed  # the next frame then sees at once that nothing changed
            return
        parts, base = self._parts, self._base
        if is_new:
            parts = with_parts(self._start, keyed, self._deletion)
            own = self._own(parts)
            base = self._remade(own) or self._make(own, self._substep_time)
        model = with_values(parts, self._start, keyed)
        solver = base
        if not (is_new and model is parts):
            model = self._own(model)
            solver = base.revised(model) or self._make(model, self._substep_time)
        if solver.counts is not self.solver.counts:
            self._earlier = self.counts
        if is_new:
            self.given, self._relaxation = given_points(parts), None
        self._keyed, self._parts, self._base, self.model, self.solver = keyed, parts, base, solver.model, solver

    def _own(self, model: Model) -> Model:
        """A model with arrays of its own where they change in place."""
        if model.creeps:
            model = replace(model, edges=model.edges._replace(rest_length=model.edges.rest_length.copy()))
        return replace(model, gravity=model.gravity.copy()) if self._holds_gravity else model
