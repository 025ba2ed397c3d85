"""The contact set, and the counters that persist from step to step; explicit steps and XPBD share it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...array_types import BoolArray, FloatArray, IntArray
from ...model import Model
from ...team import Words, team_of_one
from .arrays import (
    STATE_SIZE,
    Answers,
    Bodies,
    Boxes,
    Candidates,
    Contacts,
    Points,
    Pressed,
    Rigid,
    answers_of,
    bodies_of,
    boxes_of,
    candidates_of,
    contacts_of,
    mean_edges,
    points_of,
    pressed_of,
    rigid_of,
)
from .clearance import measure_clearance
from .layout import Numbering, Patches
from .motion_limit import ISLAND_SIZE
from .shape import shape_of

#: Capacity for candidates and contacts at the start; it doubles when it is used up.
START_ROOM = 16_384
#: Capacity for contacts that get new normals in one call.
SPARE_ROOM = 1_024


class Run(NamedTuple):
    """Counters and scratch arrays that persist from step to step."""

    state: IntArray  # int64; see the names of its places in `arrays.py`
    found: IntArray  # int64: candidates of both kinds, contacts of both kinds, shape (4,)
    fitted: IntArray  # int64, scratch, shape (body_count,)
    shift: FloatArray  # scratch, shape (4,)
    head: IntArray  # int64, scratch, shape (point_count,)
    following: IntArray  # int64, scratch, shape (contact capacity,)
    joined: IntArray  # int64, scratch: contacts of islands, shape (2 * contact capacity,)
    is_joined: BoolArray  # scratch: which these are, shape (2 * contact capacity,)
    planes: FloatArray  # scratch: where each of them is divided [m], shape (2 * contact capacity,)
    islands: FloatArray  # scratch, see `motion_limit.py`
    spares: IntArray  # int64, scratch, shape (spare capacity,)
    carried: IntArray  # int64: points of rigid and moving given bodies that are part of a contact
    scale: FloatArray  # distance that each body keeps, its mean edge [m], shape (body_count, 2)
    gas_step: FloatArray  # change of nRT in a step [J], shape (membrane_count,)
    moves: BoolArray  # whether a body is given and moves, shape (body_count,)
    known: BoolArray  # whether boxes are those of the last search, of colliders at rest, shape (body_count,); changes
    given_start: FloatArray  # where points are when the run of steps starts [m], flat
    pinned: IntArray  # int64, pinned points
    pinned_velocity: FloatArray  # [m/s], shape (pinned_count, 3)
    failures: IntArray  # int64: contacts per pair that the guarantee rejected, see `failures.py`, (3, bodies, bodies)
    least_share: FloatArray  # least share of a step after which each pair would have met, shape (bodies, bodies)
    gap_left: FloatArray  # least separation of contacts that were stopped [m], shape (bodies, bodies)
    stopped: BoolArray  # bodies that stand still until the frame ends, shape (bodies,)
    cut: FloatArray  # momentum that the motion limit took of each body [N s], shape (bodies,)
    team: Words  # see `team.py`


class ContactSet(NamedTuple):
    """The contact set: data of search, verification and motion limit."""

    bodies: Bodies
    points: Points
    boxes: Boxes
    corner_candidates: Candidates
    side_candidates: Candidates
    corners: Contacts
    sides: Contacts
    spare: Contacts  # scratch
    answers: Answers
    pressed: Pressed
    rigid: Rigid
    run: Run
    scratch: FloatArray  # flat: a row per point


def reference_shape(model: Model) -> FloatArray:
    """Where all points are in a shape that bodies stay near to [m]: as drawn, or in equilibrium with their gas."""
    shape = model.rest_positions.copy()
    for body, filling in enumerate(model.fillings):
        if filling is not None:
            shape[model.body_point_start[body] : model.body_point_start[body + 1]] = filling.rest_positions
    return shape


def contact_set(model: Model, numbering: Numbering, patches: Patches, inverse_mass: FloatArray) -> ContactSet:
    """The contact set of a model, empty; `inverse_mass` in its order [1/kg], 0 for what impulses do not move."""
    bodies = bodies_of(model, numbering)
    shape = shape_of(patches, reference_shape(model)[numbering.point], bodies.own_thickness)
    found = ContactSet(
        bodies=bodies,
        points=points_of(model, inverse_mass, numbering),
        boxes=boxes_of(patches, shape),
        corner_candidates=candidates_of(START_ROOM),
        side_candidates=candidates_of(START_ROOM),
        corners=contacts_of(START_ROOM),
        sides=contacts_of(START_ROOM),
        spare=contacts_of(SPARE_ROOM),
        answers=answers_of(2 * START_ROOM),
        pressed=pressed_of(2 * START_ROOM),
        rigid=rigid_of(model, numbering),
        run=run_of(model, numbering, bodies),
        scratch=np.zeros(4 * model.point_count),
    )
    measure_clearance(
        shape, patches, found.corner_candidates, found.side_candidates, found.corners, found.sides, found.scratch
    )
    return found


def with_room(contact: ContactSet, room: int) -> ContactSet:
    """The contact set with larger arrays of candidates and contacts; those that are found anew are dropped."""
    size, *pressed = contact.pressed
    return contact._replace(
        corner_candidates=candidates_of(room),
        side_candidates=candidates_of(room),
        corners=contacts_of(room),
        sides=contacts_of(room),
        answers=answers_of(2 * room),
        pressed=Pressed._make([size, *(_grown(each, 2 * room) for each in pressed)]),
        run=contact.run._replace(
            following=np.zeros(room, np.int64),
            joined=np.zeros(2 * room, np.int64),
            is_joined=np.zeros(2 * room, bool),
            planes=np.zeros(2 * room),
        ),
    )


def _grown(values: Any, count: int) -> NDArray[Any]:
    """Values with room for a `count` of them."""
    return np.concatenate([values, np.zeros((count - len(values), *values.shape[1:]), values.dtype)])


def run_of(model: Model, numbering: Numbering, bodies: Bodies) -> Run:
    """Counters and scratch of a model whose points are numbered like this."""
    count, pinned = model.point_count, np.flatnonzero(model.pinned)
    return Run(
        state=np.zeros(STATE_SIZE, np.int64),
        found=np.zeros(4, np.int64),
        fitted=np.zeros(model.body_count, np.int64),
        shift=np.zeros(4),
        head=np.zeros(count, np.int64),
        following=np.zeros(START_ROOM, np.int64),
        joined=np.zeros(2 * START_ROOM, np.int64),
        is_joined=np.zeros(2 * START_ROOM, bool),
        planes=np.zeros(2 * START_ROOM),
        islands=np.zeros(ISLAND_SIZE * count),
        spares=np.zeros(2 * SPARE_ROOM, np.int64),
        carried=np.zeros(count, np.int64),
        scale=np.stack([np.maximum(2.0 * model.thickness, bodies.own_thickness), mean_edges(model)], axis=1),
        gas_step=np.zeros(model.membrane_count),
        moves=np.zeros(model.body_count, bool),
        known=np.zeros(model.body_count, bool),
        given_start=np.zeros(4 * count),
        pinned=numbering.place[pinned].astype(np.int64),
        pinned_velocity=np.zeros((len(pinned), 3)),
        failures=np.zeros((3, model.body_count, model.body_count), np.int64),
        least_share=np.ones((model.body_count, model.body_count)),
        gap_left=np.full((model.body_count, model.body_count), np.inf),
        stopped=np.zeros(model.body_count, bool),
        cut=np.zeros(model.body_count),
        team=team_of_one(),
    )
