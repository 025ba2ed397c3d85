"""Filling of a body of gas: rest lengths that keep its drawn shape, and the amount of gas for its pressure at rest.

The gas has the gauge pressure p in equilibrium, without gravity and contact, if n R T = (p + p_a) V(p), V(p) being the
volume of the equilibrium at constant p (`equilibrium.py`). So the gauge pressure is p where the body is at rest,
whatever its skin; with the amount of the drawn volume the growth of the skin would lower it.
"""

import hashlib
from dataclasses import replace

import numpy as np

from ..array_types import FloatArray
from ..bodies.freeze import freeze
from ..bodies.given import GivenMembrane
from .equilibrium import LARGEST_STRAIN, TOLERANCE, Equilibrium, Rest
from .strength import MOST_STRAIN, largest_pressure, two_digits
from .tensions import MOST_SHARE, held_lengths

#: Fillings that are kept: a scene is built anew whenever anything in it has changed.
KEPT = 8
#: Pressures per filling whose equilibria are kept, for a keyed one.
KEPT_PRESSURES = 10_000

#: Residual [p A] of the equilibrium by which rest lengths are corrected.
ROUGH = 1e-3

_known: "dict[bytes, Filling]" = {}


class Filling:
    """The rest lengths and the gas of one membrane that is inflated as drawn, or filled to a pressure at rest.

    They follow from the body and the pressure alone. `body.gauge_pressure` is that of the start.
    """

    def __init__(self, body: GivenMembrane, ambient_pressure: float) -> None:
        model = freeze([body], [], [], [], np.zeros(3), {"ambient_pressure": ambient_pressure})
        drawn, pressure = model.rest_positions, body.gauge_pressure
        self._body, self._ambient_pressure = body, ambient_pressure
        self._is_at_rest = body.pressure_at == "REST"
        self._drawn_volume = float(model.drawn_volume[0])
        self._base, self._exponent = float(model.gas_base[0]), float(model.gas_exponent[0])
        self._equilibrium = Equilibrium(model)
        #: Rest lengths of its springs [m], shape (edge_count,).
        self.rest_lengths: FloatArray = model.edges.rest_length
        if body.drawn_shape == "INFLATED" and pressure > 0.0:
            lengths = self._equilibrium.lengths(drawn)
            self._tighten(held_lengths(model, lengths, self._equilibrium.push(pressure, drawn)))
            reached = self._equilibrium.find(pressure, drawn, ROUGH).positions
            corrected = self.rest_lengths * lengths / self._equilibrium.lengths(reached)
            self._tighten(np.maximum(corrected, (1.0 - MOST_SHARE) * lengths))
        #: Forces on its vertices as drawn, with the pressure that it starts with [N], shape (vertex_count, 3).
        self.unrest: FloatArray = self._equilibrium.forces(0.0 if body.inflates else pressure, drawn)[0][:, :3].copy()
        #: Sum of the sizes of those of the gas [N].
        self.push = float(np.sqrt((self._equilibrium.push(pressure, drawn) ** 2).sum(axis=1)).sum())
        #: The body in equilibrium at the pressure of the start.
        self.rest = self._equilibrium.find(pressure, drawn)
        #: How far its points move there from where they are drawn, at most [m].
        self.move = float(np.sqrt(((self.rest.positions - drawn) ** 2).sum(axis=1)).max())
        self._found = {pressure: self.rest[1:]}  # volume, strain and what is left of forces
        self._largest: dict[bool, float] = {}  # pressure that helps [Pa], at the start and later

    @property
    def rest_positions(self) -> FloatArray:
        """Its points in equilibrium at the pressure of the start [m], shape (vertex_count, 3)."""
        return self.rest.positions

    @property
    def growth(self) -> float:
        """Volume in equilibrium over the drawn volume, minus 1."""
        return self.rest.volume / self._drawn_volume - 1.0

    def volume(self, gauge_pressure: float) -> float:
        """Volume [m^3] at which its gas has a gauge pressure [Pa]: in equilibrium, or as drawn."""
        if not self._is_at_rest:
            return self._drawn_volume
        return self._measures(gauge_pressure)[0]

    def at(self, gauge_pressure: float) -> Rest:
        """The body in equilibrium at a gauge pressure [Pa]."""
        near = self.rest.positions if self.rest.strain <= MOST_STRAIN else self._equilibrium.model.rest_positions
        return self._equilibrium.find(gauge_pressure, near)

    def pressure_of(self, gas: float) -> float:
        """Gauge pressure [Pa] of nRT [J] in that volume; between the pressures that were asked for, about that."""
        if not self._is_at_rest:
            return gas / self._drawn_volume - self._base
        base, power, rest = self._base, self._exponent - 1.0, self.rest.volume
        amounts = np.array([(p + base) * found[0] * (found[0] / rest) ** power for p, found in self._found.items()])
        pressures, order = np.array(list(self._found)), np.argsort(amounts)
        return float(np.interp(gas, amounts[order], pressures[order]))

    def _measures(self, gauge_pressure: float) -> tuple[float, float, float]:
        """Volume, strain and `Rest.left` of the body in equilibrium at a gauge pressure [Pa]."""
        if gauge_pressure not in self._found:
            if len(self._found) >= KEPT_PRESSURES:
                del self._found[next(iter(self._found))]
            self._found[gauge_pressure] = self.at(gauge_pressure)[1:]
        return self._found[gauge_pressure]

    def complaint(self, gauge_pressure: float) -> str:
        """Problem and remedy if the skin cannot hold a gauge pressure [Pa], or none was found; empty if it can."""
        body, (_, found, left) = self._body, self._measures(gauge_pressure)
        if found <= MOST_STRAIN:
            return self._unrest(gauge_pressure, left) if left > 1.0 else ""
        is_start = gauge_pressure == body.gauge_pressure
        if is_start not in self._largest:
            strain = self._strain_at_start if is_start else lambda pressure: self._measures(pressure)[1]
            self._largest[is_start] = largest_pressure(strain, self._estimate())
        largest = self._largest[is_start]
        stiffer = gauge_pressure / largest
        lower, higher = (
            f"pressure to {largest:g} Pa",
            f"stiffness to {two_digits(body.stretch_modulus * stiffer):g}",
        )
        if body.gas is not None:
            left = (largest + self._ambient_pressure) / (gauge_pressure + self._ambient_pressure)
            lower = f"amount of gas to {100.0 * left:.2g} % of that"
        if constant := body.setting("spring_constant"):
            higher = f"spring constant to {two_digits(constant * stiffer):g}"
        much = f"{100.0 * found:.0f} %" if found < LARGEST_STRAIN else f"more than {100.0 * LARGEST_STRAIN:.0f} %"
        return (
            f"{body.name}: a pressure of {gauge_pressure:g} Pa stretches its skin by {much}. "
            f"Lower the {lower}, or raise the {higher} N/m."
        )

    def _unrest(self, gauge_pressure: float, left: float) -> str:
        """What is left of the forces where no equilibrium was found, and a remedy."""
        return (
            f"{self._body.name}: no equilibrium was found at {gauge_pressure:g} Pa: forces of "
            f"{100.0 * TOLERANCE * left:.2g} % of pressure times area are left. Raise the bending stiffness, or draw "
            "the skin with fewer folds."
        )

    def _strain_at_start(self, pressure: float) -> float:
        """Strain if the body starts with a pressure [Pa], for which its springs may be inflated as drawn."""
        return Filling(replace(self._body, gauge_pressure=pressure), self._ambient_pressure).rest.strain

    def _estimate(self) -> float:
        """Pressure [Pa] that the springs hold at MOST_STRAIN by the virial, sum k L^2 strain = 3 p V."""
        model = self._equilibrium.model
        stiffness = float((model.edges.stiffness * self._equilibrium.lengths(model.rest_positions) ** 2).sum())
        return MOST_STRAIN * stiffness / (3.0 * self._drawn_volume)

    def _tighten(self, lengths: FloatArray) -> None:
        self.rest_lengths = lengths
        self._equilibrium.tighten(lengths)


def filling_of(body: GivenMembrane, ambient_pressure: float) -> Filling | None:
    """The filling of a membrane in air of a pressure [Pa]; None where gas and springs are as drawn."""
    if body.is_as_drawn:
        return None
    name = _name_of(body, ambient_pressure)
    found = _known.pop(name, None) or Filling(body, ambient_pressure)
    _known[name] = found  # the latest is the last
    while len(_known) > KEPT:
        del _known[next(iter(_known))]
    return found


def _name_of(body: GivenMembrane, ambient_pressure: float) -> bytes:
    """Key of a filling: everything that it depends on."""
    digest = hashlib.blake2b(digest_size=16)
    weight = np.zeros(0) if body.pressure_weight is None else body.pressure_weight
    ties = np.zeros(0) if body.ties is None else body.ties
    for array in (body.positions, body.triangles, body.gas_triangles, body.pinned, weight, ties):
        digest.update(np.ascontiguousarray(array).data)
    depth = 0.0 if body.flat is None else body.flat.depth
    numbers = (body.mass, body.gauge_pressure, body.stretch_modulus, depth, ambient_pressure)
    parts = tuple(
        body.setting(name) for name in ("bend_modulus", "spring_constant", "point_mass", "gas_hold", "gas_exponent")
    )
    digest.update(repr((numbers, parts, body.pressure_at, body.drawn_shape, body.gas is None, body.inflates)).encode())
    return digest.digest()
