"""Sloshing of what fills a skin: the first mode of an upright cylinder of the surface's area A and depth h = V / A.

The normal u of the surface swings about e = -g' / |g'| as a spherical pendulum, w = u x u' its angular velocity:

    u' = w x u,   w' = omega^2 u x e - 2 zeta omega w,   omega^2 = |g'| kappa,   kappa = k tanh(k h) / (1 - epsilon),
    k = 1.841 / sqrt(A / pi)                                                     (Ibrahim 2005, 1.3; Abramson 1966)

The midpoint rule keeps |u| = 1, w . u = 0 and, of the variables u and w / sqrt(kappa), the energy

    E = 1/2 |w|^2 / kappa - |g'| e . u,

whatever kappa is where the surface lies in between: in a vessel at rest E is kept to rounding, and falls with damping.
Upside down, u = -e, is an equilibrium that nothing leaves: there the surface is tilted a little, which lowers E.

The liquid's centre r moves by -(I / V) u, I = A^2 / 4 pi, so the body gets the impulse rho I du' at r in return: it
moves as one with what that turns, and the momenta and angular momenta of both together stay. What it does to the body's
acceleration at r is epsilon = rho I omega^2 / |g'| (1 / M + K), K the mean mobility of r by turning, times the share of
M that is free.
"""

import numpy as np

from ..array_types import BoolArray, FloatArray
from ..model import Model
from ..rigid_change import arm_mobility, moved_as_one
from ..state import State
from .fluids import Fluids, Liquid
from .wetting import centre_below, volume_below

#: Time over which the gravity in a body's frame is averaged [s]: longer than impacts, shorter than sloshing.
FELT_TIME = 0.02
#: First zero of the derivative of the Bessel function J1: the first mode across a round surface.
FIRST_MODE = 1.8412
#: Share of critical damping of the sloshing: half is left after four swings.
SLOSH_DAMPING = 0.03
#: Largest epsilon. Without turning it is below 0.85; with it, a skin that has the liquid's mass may turn more easily
#: than a puddle far below its centre would let it.
MOST_YIELD = 0.9
#: A surface that is nearer to upside down than this is tilted by so much [rad].
LEAST_TILT = 0.01
#: Iterations of the midpoint rule at most; each is at least four times as near.
ITERATIONS, ROUNDING = 40, 1e-15


class Slosh:
    """The surfaces of what fills the membranes of a model. `damping`: share of critical damping."""

    def __init__(self, model: Model, fluids: Fluids, damping: float = SLOSH_DAMPING) -> None:
        self._model, self._fluids, self._damping = model, fluids, damping

    def swing(self, state: State, now: FloatArray, mass: FloatArray, is_free: BoolArray, time: float) -> FloatArray:
        """A time [s] passes in which g' is `now` [m/s^2], without what this does to the bodies: surfaces swing.

        `mass` [kg] of each vertex, and whether it is free; returns the change of velocity [m/s] of the free ones, shape
        (vertex_count, 3).
        """
        model = self._model
        past, change = np.exp(-time / FELT_TIME), np.zeros((model.vertex_count, 3))
        state.felt_gravity = past * state.felt_gravity + (1.0 - past) * now[: len(state.felt_gravity)]
        state.surface = state.surface.copy()
        for body in self._fluids.filled:
            gravity = state.felt_gravity[body]
            size = float(np.sqrt(gravity @ gravity))
            if size == 0.0 or self._fluids.is_full(body):
                continue
            points = slice(*model.body_point_start[body : body + 2].tolist())
            x, own, share = state.positions[points], mass[points], float((mass[points] * is_free[points]).sum())
            aim, (up, rate) = -gravity / size, state.surface[body].reshape(2, 3)
            up = away_from_top(up, aim)
            found = self._fluids.liquid_of(state, state.positions, body, up)
            steep, moment = self.mode(found, body)
            if steep == 0.0:
                continue
            centre = np.array(centre_below(found.level, *found.facets[1:]))
            free = share / own.sum() * (1.0 / own.sum() + arm_mobility(x, own, centre, up))
            most = 1.0 / (time * time * size)  # what is tiny swings as fast as a tick can follow
            kappa = min(steep / (1.0 - min(free * moment * steep, MOST_YIELD)), most)
            turning = np.cross(up, rate) / np.sqrt(kappa)
            new_up, turning = midpoint(up, turning, aim, size, np.sqrt(kappa), self._damping, time)
            steep, then = self.mode(self._fluids.liquid_of(state, state.positions, body, new_up), body)
            kappa = min(steep / (1.0 - min(free * then * steep, MOST_YIELD)), most)
            new = np.cross(turning * np.sqrt(kappa), new_up)
            change[points] = moved_as_one(x, own, centre[None], (then * new - moment * rate)[None])
            state.surface[body] = [*new_up, *new]
        return change

    def mode(self, liquid: Liquid, body: int) -> tuple[float, float]:
        """Square of the frequency of the first mode over g' [1/m], and rho I [kg m], of a membrane that is not full."""
        volume, across = volume_below(liquid.level, liquid.facets.height, liquid.facets.rise)
        if across <= 0.0:
            return 0.0, 0.0
        k = FIRST_MODE / np.sqrt(across / np.pi)
        return float(k * np.tanh(k * volume / across)), self._model.fill_mass[body] / volume * across**2 / (4.0 * np.pi)


def away_from_top(up: FloatArray, aim: FloatArray) -> FloatArray:
    """The unit vector `up`, tilted where it is as good as opposite to the unit vector `aim`."""
    side = up - (up @ aim) * aim
    tilt = float(np.sqrt(side @ side))
    if up @ aim > 0.0 or tilt >= LEAST_TILT:
        return up
    if tilt < ROUNDING:
        side = np.cross(aim, np.eye(3)[int(np.argmin(np.abs(aim)))])
    return np.asarray(np.sin(LEAST_TILT) * side / np.sqrt(side @ side) - np.cos(LEAST_TILT) * aim)


def midpoint(
    up: FloatArray, turning: FloatArray, aim: FloatArray, size: float, root: float, damping: float, time: float
) -> tuple[FloatArray, FloatArray]:
    """u and w / sqrt(kappa) after a time [s]; `size` |g'| [m/s^2], `root` sqrt(kappa) [1/m^0.5]."""
    half, middle = 0.5 * time * root, turning
    for _ in range(ITERATIONS):
        turn = half * middle
        between = (up + np.cross(turn, up) + (turn @ up) * turn) / (1.0 + turn @ turn)  # u in the middle
        new = (turning + half * size * np.cross(between, aim)) / (1.0 + damping * np.sqrt(size) * root * time)
        change = np.abs(new - middle).max()
        middle = new
        if change <= ROUNDING * np.sqrt(size):
            break
    after = 2.0 * between - up
    return after / np.sqrt(after @ after), 2.0 * middle - turning
