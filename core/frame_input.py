"""`FrameInput`: input of a frame."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from .impulses.field import Field
from .impulses.pulls import Pull


@dataclass(frozen=True, slots=True)
class FrameInput:
    """What is given from outside, at the end of a frame; what is left out stays as it was.

    `gauge_pressure`: membrane -> pressure at rest volume [Pa]; `gas`: membrane -> nRT [J] of its gas (`amount.nrt`),
    the other way to say how much there is; `pinned_positions`: membrane -> positions [m] of its pinned vertices in
    ascending vertex order, shape (pinned_count, 3); `collider_positions`: collider -> positions
    [m], shape (vertex_count, 3); `goal_positions`: membrane -> positions [m] of its vertices with goals in ascending
    vertex order, shape (goal_count, 3). Positions go from the last frame's to these in a straight line.
    Constant within the frame: `values`: body -> name of `keyed.NAMES` -> value; `attached`: membrane -> whether its
    attachments hold, which glue it as things are when they are switched on again; `gravity` [m/s^2].
    `held`: membrane -> positions [m] of all its vertices, which follow these in this frame; one that is left out moves
    freely, from the velocity that it had. `held_rigid`: the same for rigid bodies -> matrix (4, 4) that takes the start
    shape, world frame, to where it is, without scale; the centre of mass goes there in a straight line, and the body
    turns evenly, by half a turn at most. `fields` act during this frame only; so do `gravity_shares`, how much of the
    gravity each moving body feels, membranes first (empty: all of it), and `pulls`, springs and forces on handles.
    `valves`: hose -> how far it is open, 0 to 1. `liquid_level` of what surrounds the bodies in this frame [m], against
    gravity from the origin; the model's where it is left out.
    """

    gauge_pressure: Mapping[int, float] = field(default_factory=dict)
    pinned_positions: Mapping[int, ArrayLike] = field(default_factory=dict)
    collider_positions: Mapping[int, ArrayLike] = field(default_factory=dict)
    values: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    attached: Mapping[int, bool] = field(default_factory=dict)
    held: Mapping[int, ArrayLike] = field(default_factory=dict)
    gravity: ArrayLike | None = None
    goal_positions: Mapping[int, ArrayLike] = field(default_factory=dict)
    fields: tuple[Field, ...] = ()
    gravity_shares: tuple[float, ...] = ()
    held_rigid: Mapping[int, ArrayLike] = field(default_factory=dict)
    gas: Mapping[int, float] = field(default_factory=dict)
    valves: Mapping[int, float] = field(default_factory=dict)
    pulls: tuple[Pull, ...] = ()
    liquid_level: float | None = None
