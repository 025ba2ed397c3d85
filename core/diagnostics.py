"""What a world tells of its bodies at a state: volumes, pressures, energies."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from .array_types import FloatArray
from .energy.mechanical import mechanical_energy
from .model import Model
from .reports import StepReport
from .solvers.counts import Counts
from .state import State
from .volume import EnclosedVolumes


@dataclass(frozen=True, slots=True)
class BodyDiagnostics:
    """Volume, pressure and energy of one membrane; a soft solid has no pressure."""

    name: str
    volume: float  # [m^3]
    volume_ratio: float  # volume over rest volume
    gauge_pressure: float  # [Pa]
    kinetic_energy: float  # [J]
    gas: float  # nRT [J], 0 for a solid; what the gas law takes where the volume is held
    temperature_ratio: float  # temperature over that at rest volume; 1 unless the gas is adiabatic
    liquid_level: float  # height of the liquid inside against gravity [m], NaN without


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """Contacts, work and reports of the scene."""

    bodies: tuple[BodyDiagnostics, ...]
    contact_count: int  # contacts that exert a force
    candidate_count: int  # pairs in the contact set
    counts: Counts  # work since the world was made
    reports: tuple[StepReport, ...]  # of each island in the last frame, see `World.reports`
    rigid_energies: FloatArray  # kinetic energy of each rigid body [J], shape (rigid_count,)


class Measured(NamedTuple):
    """Volumes and energies at a state."""

    state: State
    model: Model
    volumes: FloatArray  # of each membrane [m^3]
    energy: FloatArray  # of each moving body [J]


class Measurements:
    """Volumes and energies of the bodies of a model; the last are kept, as the next frame begins with them."""

    def __init__(self, model: Model) -> None:
        self._model, self._volume = model, EnclosedVolumes(model)
        self._rest_volume = [
            float(model.rest_volume[body]) if model.has_gas(body) else self._volume(body, model.rest_positions)
            for body in range(model.membrane_count)
        ]
        self._known: Measured | None = None

    def forget(self) -> None:
        """Measure anew: a state has changed in place."""
        self._known = None

    def at(self, state: State, model: Model, vertex_mass: FloatArray, rest_lengths: FloatArray) -> Measured:
        """At a state, with the model of its frame and the masses [kg] that its solver moves.

        `rest_lengths` [m] of the model's springs, empty for those of the model.
        """
        known = self._known
        if known is None or known.state is not state or known.model is not model:
            self._volume.take(model)
            volumes = np.array([self._volume(body, state.positions) for body in range(model.membrane_count)])
            now = model
            if len(rest_lengths):
                now = replace(model, edges=model.edges._replace(rest_length=rest_lengths))
            energy = mechanical_energy(now, vertex_mass, state, volumes)
            self._known = known = Measured(state, model, volumes, energy)
        return known

    def bodies(
        self, state: State, now: Model, volumes: FloatArray, gas_volumes: FloatArray, levels: FloatArray
    ) -> tuple[BodyDiagnostics, ...]:
        """Diagnostics of each membrane at a state, `now`: its model; volumes [m^3], also of gas laws; levels [m]."""
        model, found = self._model, []
        for body in range(model.membrane_count):
            points = slice(model.body_point_start[body], model.body_point_start[body + 1])
            has_gas, gas = now.has_gas(body), float(state.gas[body])  # the gas of a burst skin is gone
            # p_abs V over nRT: the temperature over that at rest volume, where the amount is held
            base = float(model.gas_base[body])
            share = float(model.rest_volume[body]) / float(gas_volumes[body]) if has_gas else 1.0
            hotter = share ** (float(model.gas_exponent[body]) - 1.0) if share > 0.0 else 1.0
            mass, v = model.vertex_mass[points], state.velocities[points]
            found.append(
                BodyDiagnostics(
                    name=model.body_names[body],
                    volume=float(volumes[body]),
                    volume_ratio=float(volumes[body]) / self._rest_volume[body],
                    gauge_pressure=gas / float(gas_volumes[body]) * hotter - base if has_gas else 0.0,
                    temperature_ratio=hotter if model.gas_exponent[body] > 0.0 else 1.0,
                    liquid_level=float(levels[body]),
                    kinetic_energy=0.5 * float(np.einsum("i,ij,ij->", mass, v, v)),
                    gas=gas if has_gas else 0.0,
                )
            )
        return tuple(found)
