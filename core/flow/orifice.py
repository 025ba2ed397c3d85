"""Flow of gas through a hole, and its thrust: the orifice of Saint-Venant and Wantzel (1839), at constant temperature.

    d(nRT)/dt = -C A p sqrt(R_s T) psi(q / p),   psi(r)^2 = 2 g / (g - 1) (r^(2/g) - r^((g+1)/g)),   g = 1.4

from the higher absolute pressure p to the lower one q; below r = 0.528 the flow is choked and psi is that of 0.528. For
small differences it is Torricelli's speed sqrt(2 (p - q) / rho). Air streams in where the pressure inside is lower.
Airbags are vented by the same law (Wang and Nefske 1988). The jet leaves with the speed that it has isentropically,

    v^2 = 2 g / (g - 1) R_s T (1 - (q / p)^((g-1)/g))

and pushes with its momentum flux, 2 C A (p - q) for small differences; choked, also with the pressure that is left in
it.
"""

import math

#: Contraction of the jet at a sharp edge.
DISCHARGE = 0.6
#: R_s T of air at 20 degrees [J/kg]: pressure over density.
AIR = 287.05 * 293.15
#: Ratio of the specific heats of air.
GAMMA = 1.4
#: Ratio of pressures below which the flow is choked.
CHOKED = (2.0 / (GAMMA + 1.0)) ** (GAMMA / (GAMMA - 1.0))
#: Stages in which the flow of a tick is integrated.
STAGES = 4


def flow(inside: float, outside: float) -> float:
    """Flow of nRT out of a hole per area [W/m^2] between two absolute pressures [Pa]; negative for flow into it."""
    high, ratio, _ = _ends(inside, outside)
    square = 2.0 * GAMMA / (GAMMA - 1.0) * (ratio ** (2.0 / GAMMA) - ratio ** ((GAMMA + 1.0) / GAMMA))
    return math.copysign(DISCHARGE * high * math.sqrt(AIR * max(square, 0.0)), inside - outside)


def jet_speed(inside: float, outside: float) -> float:
    """Thrust of what streams out of a hole over its mass flow [m/s], between two absolute pressures [Pa]."""
    high, ratio, low = _ends(inside, outside)
    mass_flow = abs(flow(inside, outside)) / AIR  # per area [kg/(m^2 s)]
    if mass_flow == 0.0:
        return 0.0
    speed = math.sqrt(2.0 * GAMMA / (GAMMA - 1.0) * AIR * (1.0 - ratio ** ((GAMMA - 1.0) / GAMMA)))
    return speed + DISCHARGE * (ratio * high - low) / mass_flow


def _ends(inside: float, outside: float) -> tuple[float, float, float]:
    """The higher of two pressures [Pa], the ratio to it of that in the hole, and the lower one."""
    high, low = max(inside, outside), max(min(inside, outside), 0.0)
    return (high, max(low / high, CHOKED), low) if high > 0.0 else (0.0, 1.0, 0.0)


def left_after(amount: float, volume: float, outside: float, area: float, time: float) -> float:
    """nRT [J] in a volume [m^3] after a time [s] with a hole of an area [m^2], to an absolute pressure `outside` [Pa].

    Integrated by the midpoint rule for the root of the difference of pressures, which falls evenly at low pressure and
    ends at 0: so it never overshoots.
    """
    step, gap = time / STAGES, amount / volume - outside
    side, root = math.copysign(1.0, gap), math.sqrt(abs(gap))
    for _ in range(STAGES):
        middle = max(root - 0.5 * step * _fall(root, side, outside, area / volume), 0.0)
        root = max(root - step * _fall(middle, side, outside, area / volume), 0.0)
    return max(outside + side * root * root, 0.0) * volume


def _fall(root: float, side: float, outside: float, share: float) -> float:
    """How fast the root of the difference of pressures falls [sqrt(Pa)/s]; `share`: area over volume [1/m]."""
    root = max(root, 1e-3)  # its limit at 0, without a division by 0
    return 0.5 * share * abs(flow(max(outside + side * root * root, 0.0), outside)) / root
