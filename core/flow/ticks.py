"""Gas that flows in a frame: `World` calls `before` each run of substeps, which is at most a tick of 1/480 s long.

Split from the motion: gas flows at constant volumes, then the bodies move with what they have. Within a tick the edges
of the graph (`edges.py`) follow each other for half of it and in the opposite order for the other half: of second order
in the tick, stable for any conductance, and what leaves one end arrives at the other, to rounding. The state holds what
left each body, so that a pressure that is keyed meanwhile adds gas to what is there.
"""

import math
from collections.abc import Mapping

import numpy as np

from .. import topology
from ..amount import nrt
from ..animation.keyed import NAMES
from ..array_types import FloatArray
from ..energy.gas import SMALLEST_VOLUME_SHARE
from ..errors import ParameterError
from ..impulses.ticks import hold_in_planes
from ..model import Model
from ..plasticity.pieces import pieces_of
from ..plasticity.ticks import PlasticTicks
from ..rigid_change import moved_as_one
from ..state import State
from ..volume import EnclosedVolumes
from .edges import AIR, Edge, Hole, Hose, Pump
from .orifice import AIR as PRESSURE_OVER_DENSITY
from .orifice import jet_speed

_PUMP, _LEAK = NAMES.index("pump_rate"), NAMES.index("leak_diameter")


class GasFlow:
    """Hoses, pumps, leaks and torn holes of a model. `plastic`: its tears, None where nothing is plastic."""

    def __init__(self, model: Model, plastic: PlasticTicks | None) -> None:
        self._model, self._plastic = model, plastic
        is_gas = (model.gas_base == model.ambient_pressure) & (model.gas_exponent > 0.0)
        self._has_gas = np.flatnonzero(is_gas & (model.rest_volume > 0.0))
        self._volume = EnclosedVolumes(model)
        self._burst: list[int] = []  # membranes whose gas is gone: hoses to them end in air

    def acts(self, state: State) -> bool:
        """Whether gas flows in the next frame, or has flowed before."""
        values = state.keyed.values[self._has_gas]
        is_open = bool(values[:, _PUMP].any() or values[:, _LEAK].any())
        return is_open or self._model.tears or len(self._model.hoses.ends) > 0 or bool(state.lost_gas.any())

    def before(self, state: State, now: Model, gas: FloatArray, tick: float) -> FloatArray:
        """nRT [J] at the end of a tick [s] with what flows in it; `gas`: what is supplied by then.

        `now`: the model with what is left of the bodies. Changes `lost_gas` and, by the jets
        of torn holes, the velocities of the state.
        """
        self._volume.take(now)
        self._burst = np.flatnonzero((now.rest_volume == 0.0) & (self._model.rest_volume > 0.0)).tolist()
        torn = self._torn_areas(state)
        holes = [Hole(body, float(torn[body])) for body in np.flatnonzero(torn).tolist()]
        edges = [*self._steady_edges(state), *holes]
        if edges:
            amount, volume = state.gas.copy(), self._volumes(state, edges)
            passed = np.zeros(len(edges))
            for number in (*range(len(edges)), *reversed(range(len(edges)))):
                edge = edges[number]
                moved = edge.passed(amount, volume, 0.5 * tick, self._model.ambient_pressure)
                passed[number] += moved
                amount[edge.one] -= moved
                if edge.other != AIR:
                    amount[edge.other] += moved
            state.lost_gas = state.lost_gas.copy()
            for edge, moved in zip(edges, passed.tolist(), strict=True):
                state.lost_gas[edge.one] += moved
                if edge.other != AIR:
                    state.lost_gas[edge.other] -= moved
            through = dict(zip([hole.one for hole in holes], passed[len(edges) - len(holes) :].tolist(), strict=True))
            self._push(state, now, through, 0.5 * (state.gas + amount) / volume)
        for body in self._burst:  # as much as its rest volume holds of air
            state.lost_gas = state.lost_gas.copy()
            state.lost_gas[body] = gas[body] - self._model.ambient_pressure * self._model.rest_volume[body]
        return np.maximum(gas - state.lost_gas, 0.0)

    def opened(self, state: State, before: Model, now: Model) -> None:
        """Gas leaves with what is torn off between two models: the pressure of a body stays if its volume shrinks."""
        state.lost_gas, state.gas = state.lost_gas.copy(), state.gas.copy()
        bodies = [body for body in self._has_gas.tolist() if body not in self._burst]
        self._volume.take(before)
        whole = [self._gas_volume(state, body) for body in bodies]
        self._volume.take(now)
        for body, volume in zip(bodies, whole, strict=True):
            lost = max(1.0 - self._gas_volume(state, body) / volume, 0.0) * float(state.gas[body])
            state.lost_gas[body] += lost
            state.gas[body] -= lost

    def _steady_edges(self, state: State) -> list[Edge]:
        """Hoses, pumps and leaks that are open."""
        edges: list[Edge] = []
        values, settings = state.keyed.values, self._model.settings
        for body in self._has_gas.tolist():
            if rate := float(values[body, _PUMP]):
                edges.append(Pump(body, nrt(rate, settings[body]["temperature"])))
            if width := float(values[body, _LEAK]):
                edges.append(Hole(body, 0.25 * math.pi * width * width))
        hoses = self._model.hoses
        for (one, other), conductance in zip(
            hoses.ends.tolist(), (state.valves * hoses.conductance).tolist(), strict=True
        ):
            if conductance > 0.0:
                edges.append(Hose(one, other, conductance))
        return edges

    def _volumes(self, state: State, edges: list[Edge]) -> FloatArray:
        """nRT over the pressure of each membrane at one of these edges [m^3]; 1 elsewhere, shape (membrane_count,)."""
        volume = np.ones(self._model.membrane_count)
        for body in {end for edge in edges for end in (edge.one, edge.other)} - {AIR}:
            volume[body] = self._gas_volume(state, body)
        return volume

    def _gas_volume(self, state: State, body: int) -> float:
        """nRT over the pressure of a membrane [m^3], as in `energy/gas.py`: what is at rest by this stays so.

        That is the volume, times its ratio to the rest volume to the power of k - 1; a skin may fall flat.
        """
        rest, exponent = float(self._model.rest_volume[body]), float(self._model.gas_exponent[body])
        if body in self._burst:
            return rest
        share = self._volume(body, state.positions) / rest
        if share >= SMALLEST_VOLUME_SHARE:
            return float(share**exponent * rest)
        most = 1.0 + exponent * (1.0 - share / SMALLEST_VOLUME_SHARE)
        return float(SMALLEST_VOLUME_SHARE**exponent * rest / most)

    def _torn_areas(self, state: State) -> FloatArray:
        """Area of the holes of each membrane with gas [m^2], shape (membrane_count,)."""
        area = np.zeros(self._model.membrane_count)
        if self._plastic is not None:
            triangles, body = self._plastic.holes(state)
            np.add.at(area, body, topology.triangle_areas(state.positions, triangles))
        return np.where(self._model.rest_volume > 0.0, area, 0.0)

    def _push(self, state: State, now: Model, passed: dict[int, float], pressure: FloatArray) -> None:
        """Push torn bodies by the thrust of the gas that `passed` out of each [J]; what streams in has none.

        It acts on holes by their areas, against their normals, and moves a piece of the body as a whole, with what it
        turns: on the few vertices of the hole alone it would be a blow in each tick, as the gas that is left still
        pushes them outwards. `pressure` [Pa]: mean absolute pressure of each membrane.
        """
        model, n = self._model, self._model.vertex_count
        if not any(moved > 0.0 for moved in passed.values()):
            return
        pieces = pieces_of(now.edges.points, n)
        for body, moved in passed.items():
            if moved <= 0.0 or self._plastic is None:
                continue
            impulse = moved / PRESSURE_OVER_DENSITY * jet_speed(float(pressure[body]), model.ambient_pressure)
            triangles, owner = self._plastic.holes(state)
            triangles = triangles[owner == body]
            corners = state.positions[triangles]
            normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            force = -impulse * normal / np.sqrt((normal * normal).sum(axis=1)).sum()
            change = np.zeros((n, 3))
            for piece in np.unique(pieces[triangles[:, 0]]).tolist():
                points, here = np.flatnonzero(pieces == piece), pieces[triangles[:, 0]] == piece
                change[points] = moved_as_one(
                    state.positions[points], model.vertex_mass[points], corners[here].mean(axis=1), force[here]
                )
            change[model.pinned | state.keyed.held[model.point_body[:n]]] = 0.0
            hold_in_planes(model, change)
            state.velocities[:n] += change


def turned(model: Model, valves: FloatArray, given: Mapping[int, float]) -> FloatArray:
    """Valves of the hoses of a frame from those before and those given, 0 to 1; raises `ParameterError`."""
    valves = valves.copy()
    for hose, valve in given.items():
        if not 0 <= hose < len(valves):
            raise ParameterError(f"hose: {hose}; the model has {len(valves)}, counted from 0.")
        if not 0.0 <= valve <= 1.0:
            one, other = (model.body_names[body] for body in model.hoses.ends[hose])
            raise ParameterError(f"hose from {one} to {other}: valve {valve:g}; give a number from 0 to 1.")
        valves[hose] = valve
    return valves
