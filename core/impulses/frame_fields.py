"""The fields of one frame, and how much of gravity bodies feel: what pushes, and what brakes, in a tick."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..array_types import FloatArray
from .field import Field
from .forces import Forces, add_field
from .oscillator import QUICKEST_DRAG, approach, even_share, limits, tick_for
from .skin import Skins

#: Largest r T of drag where ticks can be as short as they need be: what is blown along goes 0.1 % too far.
SLOW_FLOW = 0.1


class Rows(NamedTuple):
    """The vertices, then the rigid bodies, that fields act on."""

    mass: FloatArray  # of the body of each [kg]
    vertex_mass: FloatArray  # [kg], shape (vertex_count,)
    on_skin: FloatArray  # 1 of vertices, 0 of rigid bodies


class FrameFields:
    """Fields with their weights at each row, and the share of gravity that is missing there, -1 for all of it."""

    def __init__(
        self, rows: Rows, skins: Skins, fields: Sequence[Field], weights: list[FloatArray], falls: FloatArray
    ) -> None:
        self._rows, self._skins, self._fields, self._weights, self._falls = rows, skins, fields, weights, falls
        none = np.zeros(len(falls))
        self._rate, self._square, self._skin_rate = none, none, none[: len(rows.vertex_mass)]
        self._normal = np.zeros((0, 3))
        self.kicks = rows.on_skin == 0.0  # which rows have what pulls as kicks: rigid bodies, and what is on springs
        self._springs, self._drag = 0.0, 0.0  # squared angular frequency [1/s^2] and rate [1/s] of the quickest

    def pull(self, x: FloatArray, gravity: FloatArray, tick: float) -> FloatArray:
        """Accelerations [m/s^2] at places [m] that do not depend on velocities; keeps what does for `change`.

        `tick` [s]: how long these are used.
        """
        pull = self._falls[:, None] * gravity
        if not self._fields:
            return np.asarray(pull)
        mass, n = self._rows.mass, len(self._rows.vertex_mass)
        body, skin, square = Forces.none(len(x)), Forces.none(len(x)), np.zeros(len(x))
        for one, weight in zip(self._fields, self._weights, strict=True):
            add_field(one, x, weight, mass, self._rows.on_skin, body, skin, square)
        self._square, self._skin_rate = square / mass, np.zeros(n)
        slowing, springs = body.drag / mass, body.stiffness / mass
        share, self._rate = limits(slowing, springs, tick)
        self.kicks = (self._rows.on_skin == 0.0) | (body.stiffness > 0.0) | (skin.stiffness > 0.0)
        share = np.where(self.kicks, share, share * even_share(self._rate, tick))
        pull += (share / mass)[:, None] * body.push
        self._springs, self._drag = float(springs.max(initial=0.0)), float(slowing.max(initial=0.0))
        if skin.push.any() or skin.drag.any():
            area, self._normal = self._skins.shares(x)
            mobility = area / self._rows.vertex_mass
            slowing, springs = mobility * skin.drag[:n], mobility * skin.stiffness[:n]
            share, self._skin_rate = limits(slowing, springs, tick)
            share = np.where(self.kicks[:n], share, share * even_share(self._skin_rate, tick))
            pull[:n] += (share * mobility * (skin.push[:n] * self._normal).sum(axis=1))[:, None] * self._normal
            self._springs = max(self._springs, float(springs.max()))
            self._drag = max(self._drag, float(slowing.max()))
        return np.asarray(pull)

    def tick_for(self, v: FloatArray) -> float:
        """The longest tick [s] that follows what `pull` found, at velocities [m/s]."""
        fastest = float((self._square * np.sqrt((v * v).sum(axis=1))).max(initial=0.0))
        turning = max((abs(one.strength) for one in self._fields if one.kind == "VORTEX"), default=0.0)
        return min(tick_for(max(turning, self._springs**0.5), 0.0), tick_for(0.0, max(fastest, self._drag), SLOW_FLOW))

    def change(self, v: FloatArray, kick: FloatArray, time: FloatArray) -> FloatArray:
        """Change of velocities [m/s] by what brakes, and by a `kick` [m/s^2], in a `time` [s] at each row."""
        if not (self._rate.any() or self._square.any() or self._skin_rate.any()):
            return np.asarray(kick * time[:, None])
        reached, half = v.copy(), 0.5 * time
        self._slow(reached, half)
        self._brake_skins(reached, half)
        reached += (kick - self._rate[:, None] * reached) * approach(self._rate, time)[:, None]
        self._brake_skins(reached, half)
        self._slow(reached, half)
        return reached - v

    def _slow(self, v: FloatArray, time: FloatArray) -> None:
        """dv/dt = -square |v| v, exact up to the limit of drag: change v [m/s] in a `time` [s]."""
        if self._square.any():
            speed = np.sqrt((v * v).sum(axis=1))
            v /= (1.0 + np.minimum(self._square * time * speed, QUICKEST_DRAG))[:, None]

    def _brake_skins(self, v: FloatArray, time: FloatArray) -> None:
        """Brake motion along the normals of skins for a `time` [s]: change v [m/s]."""
        n, rate = len(self._skin_rate), self._skin_rate
        if rate.any():
            along = (v[:n] * self._normal).sum(axis=1)
            v[:n] -= (rate * approach(rate, time[:n]) * along)[:, None] * self._normal
