"""What the contact kernels of the explicit solver read and write, as named tuples that they take whole.

Points are numbered as `layout.Numbering` says; arrays of points are flat, four numbers each.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...array_types import BoolArray, FloatArray, IntArray
from ...jit import lean_inline_kernel
from ...model import Model
from .layout import Groups, Numbering, Patches, group_patches
from .shape import Shape

#: Kinds of bodies: soft (moved by its own forces), rigid (six unknowns), given (kinematic: moved by the caller).
SOFT, RIGID, GIVEN = range(3)
# Places in `steps.Run.state`
AGE, SPAN, STEP, LACKS_ROOM, RESUMES, CARRIED_COUNT = range(6)  # steps of the epoch so far and planned, of the run
SEARCHES, EARLY, RENEWED, LIMITED, STALLS, PRESSING, CANDIDATES, SWEEPS = range(6, 14)  # counts
# Whether this is the run's first frame, in which contacts may start without a gap; whether a patch of a soft body
# strayed too far in the last drift
STARTS, FAR = range(14, 16)
# Steps of the run at which the present tick began and ends; whether a sleeping body must wake before (`rigid_ticks.py`)
TICK_START, TICK_END, WAKES = range(16, 19)
# Contacts that searches and limits looked at in the frame, and candidates that are not too many for an epoch, see
# `attempt.py`; whether no attempt settled the last step
WORK, ALLOWED, STALLED = range(19, 22)
STATE_SIZE = 22
# Kinds of jobs of a step's team: rows of forces, velocities from them, positions, margins and frames of patches
ROWS, KICK, DRIFT, MARGINS, FRAMES = range(5)
#: Lower than every coordinate, also of a motion that grows beyond all bounds within a run of steps.
NOWHERE = -np.inf
#: Numbers of a contact that may be answered, see `sweeps.py`.
ANSWER_SIZE = 36
#: Numbers of four primitives side by side: x of all four boxes' lower corners, with the other sign, then y and z, the
#: same of the upper corners, and the points of each.
FOUR_SIZE = 36
#: Most pairs of a patch's primitive with a four of another patch: 16 triangles have at most 48 vertices or edges.
MOST_HITS = 48 * 12 + 1


class Bodies(NamedTuple):
    """All bodies: soft, rigid, given."""

    kind: IntArray  # SOFT, RIGID or GIVEN, shape (body_count,)
    point_start: IntArray  # shape (body_count + 1,)
    thickness: FloatArray  # share of the distance that a pair keeps [m], shape (body_count,)
    own_thickness: FloatArray  # distance that a body keeps from itself [m], 0 where that is not looked for
    # whether the surface is closed, in one piece, without holes, as a sphere's, and does not cross itself; changes
    is_ball: BoolArray
    friction: FloatArray  # Coulomb coefficient; a pair uses the geometric mean
    glued: IntArray  # body that each point is attached to, -1 for none, shape (point_count,)
    tangled: BoolArray  # points where a body stays crossed with itself: they do not touch it; changes
    any_left_out: bool  # whether any point is attached or tangled
    crosses: BoolArray  # excluded pairs of bodies, also of one with itself; changes, shape (body_count, body_count)
    # whether contacts of it with other such bodies are answered once per tick, and only limit motion in the steps
    by_tick: BoolArray
    watched: BoolArray  # of them, those whose motion is limited; changes
    calm: BoolArray  # whether a body was at rest where the tick began; changes
    mean: FloatArray  # mean velocity [m/s], flat; changes
    low: FloatArray  # minus the lower corner of the box around the flight of an epoch [m], flat; changes
    high: FloatArray  # upper corner; changes


class Points(NamedTuple):
    """All points."""

    body: IntArray  # shape (point_count,)
    inverse_mass: FloatArray  # [1/kg], 0 for what is pinned, rigid or given, shape (point_count,)
    velocity: FloatArray  # [m/s], flat; changes
    start: FloatArray  # where the flight of the epoch starts [m], flat; changes
    flight: FloatArray  # its velocity [m/s], flat; changes
    low: FloatArray  # box around the flight relative to the body's mean, minus the lower corner; changes
    high: FloatArray
    slack: FloatArray  # largest allowed deviation from the predicted flight [m]; changes
    load: FloatArray  # scratch, shape (point_count,)
    stamp: IntArray  # scratch, int64
    parent: IntArray  # scratch, int64


class Boxes(NamedTuple):
    """Patches and groups of them, with boxes around the flight of an epoch relative to their body's mean."""

    patches: Patches
    groups: Groups
    low: FloatArray  # minus the lower corner of each patch's box, flat; changes
    high: FloatArray
    group_low: FloatArray
    group_high: FloatArray
    triangle_fours: FloatArray  # of triangles and edges of patches in a pair, four side by side, with their points
    edge_fours: FloatArray
    slack: FloatArray  # how far points of each patch may stray [m], 0 where they are given; changes
    strayed: FloatArray  # how far they have, at most [m]; changes
    near: IntArray  # int64: whether it is part of a pair, so that its primitives have boxes; changes
    suspect: IntArray  # int64: whether a patch may be in contact with its own body; changes
    group_suspect: IntArray  # int64: whether any patch of a group may
    shape: Shape
    listed: IntArray  # int64, scratch: places of fours
    hits: IntArray  # int64, scratch: primitives of a patch and fours near them, see `search.py`
    margin: FloatArray  # scratch: of each patch, see `own.py` [m]
    middle: FloatArray  # scratch: half an epoch [s], the longest way and distance of a point in the middle of it [m]


class Candidates(NamedTuple):
    """Pairs of primitives whose boxes meet."""

    points: IntArray  # uint32, flat: 4 * point, four of each pair, shape (4 * capacity,)
    slack: FloatArray  # of both sides together [m], shape (capacity,)
    reach: FloatArray  # distance that they keep [m], shape (capacity,)


class Contacts(NamedTuple):
    """Pairs of primitives that may touch within an epoch: vertex and triangle, or edge and edge.

    A normal is taken from the closest points when the pair is found, and kept: the planes across it separate the two
    convex primitives, and it stores on which side each of them is. Weights sum to 1 over side A and to -1 over side B.
    """

    points: IntArray  # uint32, flat: 4 * point, of vertex and three corners, or of two ends and two ends
    normal: FloatArray  # unit, from B to A, and the inverse of the mass that an impulse along it moves [1/kg], flat
    weight: FloatArray  # of the points, flat
    share: FloatArray  # weight * inverse mass [1/kg], flat
    gap: FloatArray  # gap, separation, gap of a step before, separation at the end of the step [m], flat
    presses: BoolArray  # whether impulses answer the pair; else it is only verified
    reach: FloatArray  # gap that the sides keep [m]
    friction: FloatArray
    kept: FloatArray  # impulses of friction and along the normal in the step before [N s], flat
    aligned: BoolArray  # whether the normal leads from one touching point to the other in this step
    carried: BoolArray  # whether a side is a rigid body
    must: BoolArray  # whether the pair may come so near that `verify.py` must check it


class Answers(NamedTuple):
    """Contacts that impulses may answer in a step, see `sweeps.py`."""

    size: IntArray  # int64, shape (1,)
    number: IntArray  # int64: twice the contact's, and 1 more of edges, shape (capacity,)
    quad: NDArray[np.uint32]  # 4 * point, four of each, shape (capacity, 4)
    row: FloatArray  # shape (capacity, ANSWER_SIZE)


class Pressed(NamedTuple):
    """Contacts that pushed in the last step; what comes after it may replace the contacts themselves."""

    size: IntArray  # int64, shape (1,)
    points: IntArray  # shape (capacity, 4)
    weight: FloatArray  # shape (capacity, 4)
    impulse: FloatArray  # along the normal [N s], shape (capacity,)
    gap: FloatArray  # [m]
    reach: FloatArray  # gap that the sides keep [m]


class Rigid(NamedTuple):
    """Rigid bodies, by their numbers among themselves."""

    first_body: IntArray  # number of the first one among all bodies, shape (1,)
    inverse_mass: FloatArray  # [1/kg], shape (rigid_count,)
    inverse_inertia: FloatArray  # of the start orientation [1/(kg m^2)], shape (rigid_count, 3, 3)
    falls: FloatArray  # see `model.RigidBodies`
    radius: FloatArray  # [m]
    arm: FloatArray  # from the centre to each of the solver's points in the start orientation [m], flat
    first_point: IntArray  # first point of all rigid bodies, shape (1,)
    pose: FloatArray  # centre [m] and quaternion, shape (rigid_count, 7); changes
    trial: FloatArray  # pose at the end of the step; changes
    begin: FloatArray  # pose where the epoch began; changes
    matrix: FloatArray  # of `pose`, shape (rigid_count, 3, 3); changes
    trial_matrix: FloatArray
    begin_matrix: FloatArray
    tensor: FloatArray  # inverse inertia in world axes; changes
    velocity: FloatArray  # [m/s], shape (rigid_count, 3); changes
    momentum: FloatArray  # angular [kg m^2/s], shape (rigid_count, 3); changes
    spin: FloatArray  # [1/s], shape (rigid_count, 3); changes
    begin_velocity: FloatArray  # where the epoch began
    begin_spin: FloatArray
    # of the steps of a tick, see `rigid_flight.py`
    pull: FloatArray  # acceleration [m/s^2], shape (rigid_count, 3); changes
    twist: FloatArray  # torque [N m], shape (rigid_count, 3); changes
    plan: FloatArray  # velocity, acceleration and angular velocity foreseen, shape (rigid_count, 9); changes
    strayed: FloatArray  # displacement from that, and angle times time, shape (rigid_count, 6); changes
    path: FloatArray  # integral of the centre over the time of the tick [m s], shape (rigid_count, 3); changes
    room: FloatArray  # largest displacement from that [m], shape (rigid_count,); changes
    asleep: BoolArray  # whether the body sleeps through the tick; changes
    idle: BoolArray  # whether the epoch has no contact of it: it flies without turning until `catch_up`; changes
    late: FloatArray  # time for which it has not turned [s]; changes
    meets: BoolArray  # whether the epoch has a contact of it that is answered in the steps; changes
    shaken: BoolArray  # whether it has one with a body that is not calm; changes
    tied: BoolArray  # whether something is attached to it


def bodies_of(model: Model, numbering: Numbering) -> Bodies:
    """The bodies of a model, none of which crosses itself."""
    count = model.body_count
    kind = np.full(count, GIVEN, np.int32)
    kind[: model.membrane_count], kind[model.membrane_count : model.moving_count] = SOFT, RIGID
    glued = np.full(model.point_count, -1, np.int32)
    glued[numbering.place[model.attachments.points[:, 0]]] = model.attachments.body
    return Bodies(
        kind=kind,
        point_start=model.body_point_start,
        thickness=model.thickness,
        own_thickness=own_thickness(model),
        is_ball=are_balls(model),
        friction=model.friction,
        glued=glued,
        tangled=np.zeros(model.point_count, bool),
        any_left_out=len(model.attachments.points) > 0,
        crosses=np.zeros((count, count), bool),
        by_tick=np.zeros(count, bool),
        watched=np.zeros(count, bool),
        calm=np.zeros(count, bool),
        mean=np.zeros(4 * count),
        low=np.zeros(4 * count),
        high=np.zeros(4 * count),
    )


#: A body keeps from itself at most this share of its mean edge: the next ring of triangles is no contact.
OWN_SHARE = 0.2


def own_thickness(model: Model) -> FloatArray:
    """Distance that each body keeps from itself [m]; 0 where contact with itself is not looked for."""
    return np.where(model.self_collision, np.minimum(2.0 * model.thickness, OWN_SHARE * mean_edges(model)), 0.0)


def mean_edges(model: Model) -> FloatArray:
    """Mean length of the edges of each body as drawn [m]."""
    edges, body = model.surfaces.edges, model.surfaces.edge_body
    length = np.linalg.norm(model.rest_positions[edges[:, 1]] - model.rest_positions[edges[:, 0]], axis=1)
    count = np.bincount(body, minlength=model.body_count)
    return np.asarray(np.bincount(body, length, minlength=model.body_count) / np.maximum(count, 1))


def are_balls(model: Model) -> BoolArray:
    """Which surfaces are spheres to topology: closed, in one piece, Euler's number 2; shape (body_count,)."""
    surfaces, count = model.surfaces, model.body_count
    triangles = np.diff(surfaces.body_triangle_start)
    edges = np.bincount(surfaces.edge_body, minlength=count)
    used = np.unique(surfaces.triangles)
    points = np.bincount(model.point_body[used], minlength=count)
    pieces = _pieces(surfaces.edges, model.point_count)[used]
    pieces = np.bincount(model.point_body[np.unique(pieces)], minlength=count)
    return np.asarray((3 * triangles == 2 * edges) & (points - edges + triangles == 2) & (pieces == 1))


def _pieces(edges: IntArray, count: int) -> IntArray:
    """A point of the piece that each is part of: labels go from end to end until they stay."""
    label = np.arange(count)
    while True:
        least = label.copy()
        np.minimum.at(least, edges[:, 0], label[edges[:, 1]])
        np.minimum.at(least, edges[:, 1], label[edges[:, 0]])
        least = least[least]
        if np.array_equal(least, label):
            return label
        label = least


def points_of(model: Model, inverse_mass: FloatArray, numbering: Numbering) -> Points:
    """The points of a model; `inverse_mass` in the solver's order."""
    count = model.point_count
    flat: dict[str, Any] = {name: np.zeros(4 * count) for name in ("velocity", "start", "flight", "low", "high")}
    return Points(
        body=np.ascontiguousarray(model.point_body[numbering.point], dtype=np.int32),
        inverse_mass=inverse_mass,
        slack=np.zeros(count),
        load=np.zeros(count),
        stamp=np.zeros(count, np.int64),
        parent=np.zeros(count, np.int64),
        **flat,
    )


@lean_inline_kernel
def patches_of(boxes, group):
    """First patch of a group, and one past its last."""
    patches, first = boxes.patches, boxes.groups.start[group]
    return first, min(boxes.groups.start[group + 1], patches.body_start[patches.body[first] + 1])


def boxes_of(patches: Patches, shape: Shape) -> Boxes:
    """Boxes for these patches."""
    groups = group_patches(patches)
    patch_count, group_count = len(patches.body), len(groups.start) - 1
    triangle_count, edge_count = len(patches.triangle) // 3, len(patches.edge) // 2
    sizes = {
        "low": patch_count, "high": patch_count, "group_low": group_count, "group_high": group_count,
    }  # fmt: skip
    flat: dict[str, Any] = {name: np.zeros(4 * size) for name, size in sizes.items()}
    return Boxes(
        patches=patches,
        groups=groups,
        shape=shape,
        slack=np.zeros(patch_count),
        strayed=np.zeros(patch_count),
        near=np.zeros(patch_count, np.int64),
        suspect=np.zeros(patch_count, np.int64),
        group_suspect=np.zeros(group_count, np.int64),
        triangle_fours=np.full(FOUR_SIZE * (triangle_count // 4 + patch_count), NOWHERE),
        edge_fours=np.full(FOUR_SIZE * (edge_count // 4 + patch_count), NOWHERE),
        listed=np.zeros(max(triangle_count, edge_count) // 4 + patch_count, np.int64),
        hits=np.zeros(MOST_HITS, np.int64),
        margin=np.zeros(patch_count),
        middle=np.zeros(3),
        **flat,
    )


def candidates_of(capacity: int) -> Candidates:
    """Empty arrays for `capacity` candidates."""
    return Candidates(np.zeros(4 * capacity, np.uint32), np.zeros(capacity), np.zeros(capacity))


def contacts_of(capacity: int) -> Contacts:
    """Empty arrays for `capacity` contacts."""
    flat: dict[str, Any] = {name: np.zeros(4 * capacity) for name in ("normal", "weight", "share", "gap", "kept")}
    single: dict[str, Any] = {name: np.zeros(capacity) for name in ("reach", "friction")}
    return Contacts(
        points=np.zeros(4 * capacity, np.uint32),
        presses=np.zeros(capacity, bool),
        aligned=np.zeros(capacity, bool),
        carried=np.zeros(capacity, bool),
        must=np.zeros(capacity, bool),
        **flat,
        **single,
    )


def answers_of(capacity: int) -> Answers:
    """Empty arrays for `capacity` contacts."""
    quad, row = np.zeros((capacity, 4), np.uint32), np.zeros((capacity, ANSWER_SIZE))
    return Answers(np.zeros(1, np.int64), np.zeros(capacity, np.int64), quad, row)


def pressed_of(capacity: int) -> Pressed:
    """Empty arrays for `capacity` contacts."""
    impulse, gap, reach = np.zeros((3, capacity))
    points, weight = np.zeros((capacity, 4), np.int32), np.zeros((capacity, 4))
    return Pressed(np.zeros(1, np.int64), points, weight, impulse, gap, reach)


def rigid_of(model: Model, numbering: Numbering) -> Rigid:
    """The rigid bodies of a model."""
    rigid, count = model.rigid, model.rigid_count
    first = model.vertex_count
    own = numbering.point[first : model.moving_point_count] - first
    arm = np.zeros((len(own), 4))
    arm[:, :3] = rigid.arm[own]
    three: dict[str, Any] = {
        name: np.zeros((count, 3))
        for name in ("velocity", "momentum", "spin", "begin_velocity", "begin_spin", "pull", "twist", "path")
    }
    marks: dict[str, Any] = {name: np.zeros(count, bool) for name in ("asleep", "idle", "meets", "shaken")}
    tied = np.zeros(model.body_count, bool)
    tied[model.attachments.body] = True
    matrices: dict[str, Any] = {
        name: np.zeros((count, 3, 3)) for name in ("matrix", "trial_matrix", "begin_matrix", "tensor")
    }
    poses: dict[str, Any] = {name: np.zeros((count, 7)) for name in ("pose", "trial", "begin")}
    return Rigid(
        first_body=np.array([model.membrane_count], np.int32),
        inverse_mass=1.0 / rigid.mass,
        inverse_inertia=rigid.inverse_inertia.copy(),
        falls=rigid.falls,
        radius=rigid.radius,
        arm=arm.ravel(),
        first_point=np.array([first], np.int32),
        **poses,
        **matrices,
        **three,
        plan=np.zeros((count, 9)),
        strayed=np.zeros((count, 6)),
        room=np.full(count, np.inf),
        late=np.zeros(count),
        tied=tied[model.membrane_count : model.moving_count],
        **marks,
    )
