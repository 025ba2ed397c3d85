"""The builder's methods that link bodies to others and to places: attachments, goals, hoses, weights of vertices."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import FloatArray
from ..checks import check
from ..errors import ParameterError
from ..impulses.goals import GivenGoals, given_goals
from .attachments import Attached
from .given import GivenMembrane, GivenRigid
from .ties import opposite_vertices


class GivenHose(NamedTuple):
    """Arguments of `ModelBuilder.add_hose`."""

    one: int
    other: int
    conductance: float
    valve: float


class LinkBuilder:
    """Methods of `ModelBuilder` that link bodies."""

    _membranes: list[GivenMembrane]
    _rigid: list[GivenRigid]
    _attached: list[Attached]
    _goals: dict[int, GivenGoals]
    _hoses: list[GivenHose]

    def attach_to_rigid(self, membrane: int, vertices: ArrayLike, rigid: int) -> None:
        """Attach vertices of a membrane, in the caller's numbers, to a rigid body: they are fixed in its frame.

        Attached vertices have no contact with the body that they are attached to.
        """
        if not 0 <= rigid < len(self._rigid):
            raise ParameterError(f"rigid body: {rigid}; there are {len(self._rigid)}, counted from 0.")
        self._attach(membrane, vertices, rigid=rigid)

    def attach_to_membrane(self, membrane: int, vertices: ArrayLike, other: int) -> None:
        """Attach vertices of a membrane, in the caller's numbers, to the nearest triangles of another membrane."""
        if not 0 <= other < len(self._membranes) or other == membrane:
            raise ParameterError(
                f"membrane: {other} to attach to; give another one of the {len(self._membranes)}, counted from 0."
            )
        self._attach(membrane, vertices, other=other)

    def add_goals(
        self, membrane: int, vertices: ArrayLike, weights: ArrayLike = 1.0, *, stiffness: float, damping: float = 0.0
    ) -> None:
        """Connect vertices of a membrane, in the caller's numbers, by springs to their rest positions.

        `FrameInput.goal_positions` moves the goals. `stiffness` [N/m] is distributed over the vertices by mass, times
        their weight, 0 to 1; motion relative to the goal decays at `damping` [1/s] times the weight. Pinned vertices
        stay pinned. A second call for a membrane replaces the first.
        """
        body, count = self._with_vertices(membrane)
        self._goals[membrane] = given_goals(membrane, body.name, count, vertices, weights, stiffness, damping)

    def add_hose(self, one: int, other: int, *, conductance: float, valve: float = 1.0) -> int:
        """Link the gas of two membranes by a hose; returns its number among the hoses.

        `conductance`: flow of pressure times volume over the difference of pressures [m^3/s], as in vacuum technology;
        of a long tube of radius r and length l it is pi r^4 p / (8 mu l), at the mean pressure p and the viscosity mu.
        `valve`: how far it is open, 0 to 1; `FrameInput.valves` turns it.
        """
        for membrane in (one, other):
            body, _ = self._with_vertices(membrane)
            if not body.has_gas:
                raise ParameterError(f"{body.name}: a hose; a lattice has no gas. Link skins or flat outlines.")
            body.check_flow("a hose")
        if one == other:
            raise ParameterError(f"{self._membranes[one].name}: a hose to itself. Give two different bodies.")
        name = f"hose from {self._membranes[one].name} to {self._membranes[other].name}"
        self._hoses.append(
            GivenHose(
                one,
                other,
                check(name, "conductance", conductance, "m\u00b3/s", low=0.0),
                check(name, "valve", valve, "", low=0.0, high=1.0),
            )
        )
        return len(self._hoses) - 1

    def weaken(self, membrane: int, vertices: ArrayLike, weights: ArrayLike = 1.0) -> None:
        """Lower the tear strain at vertices of a skin, in the caller's numbers, by their weights, 0 to 1.

        The strain at which an edge tears is lower by the mean weight of its ends: at 1 it tears as soon as it is
        stretched. A second call for a membrane replaces the first.
        """
        body, count = self._with_vertices(membrane)
        if body.lattice is not None:
            raise ParameterError(f"{body.name}: weak vertices; only those of a skin can be. Lower its tear strain.")
        weakness = _weights(body, count, "weak vertices", vertices, weights)
        self._membranes[membrane] = replace(body, weakness=weakness[body.order])

    def weigh_pressure(self, membrane: int, vertices: ArrayLike, weights: ArrayLike = 1.0) -> None:
        """Weight the gas pressure at vertices of a membrane, in the caller's numbers, by 0 to 1; it is 0 at others.

        The force on a vertex is weight * gauge pressure * dV/dx; volume and amount of gas stay those of the whole body.
        The forces of a closed skin then have a resultant and a torque, as if what they lack acted from outside. A
        second call for a membrane replaces the first.
        """
        body, count = self._with_vertices(membrane)
        if not body.has_gas:
            raise ParameterError(f"{body.name}: weights of the pressure; a lattice has no gas. Choose a skin or loop.")
        given = _weights(body, count, "vertices under pressure", vertices, weights)
        if body.lattice is None:
            own = given[body.order]
        else:  # both copies of each vertex
            own = np.zeros(len(body.positions))
            own[body.lattice.follow.points[:, :2]] = given[:, None]
        self._membranes[membrane] = replace(body, pressure_weight=own)

    def tie(self, membrane: int, vertices: ArrayLike) -> int:
        """Join opposite ones of these vertices of a skin, in the caller's numbers, by threads; returns how many.

        A second call for a membrane replaces the first. Raises `ParameterError` where none lie opposite each other.
        """
        body, count = self._with_vertices(membrane)
        if body.lattice is not None:
            raise ParameterError(f"{body.name}: ties; only a skin has an inside for them. Leave them out.")
        chosen = np.unique(np.asarray(vertices, dtype=np.int32).ravel())
        if len(chosen) and not (chosen[0] >= 0 and chosen[-1] < count):
            raise ParameterError(f"{body.name}: vertices to tie; give numbers from 0 to {count - 1}.")
        own = np.sort(np.argsort(body.order)[chosen]).astype(np.int32)
        ties = opposite_vertices(body.positions, body.triangles, own)
        if not len(ties):
            raise ParameterError(f"{body.name}: no two vertices to tie lie opposite each other. Paint both sides.")
        self._membranes[membrane] = replace(body, ties=ties)
        return len(ties)

    def _with_vertices(self, membrane: int) -> tuple[GivenMembrane, int]:
        """A membrane, and the number of its vertices in the caller's mesh."""
        if not 0 <= membrane < len(self._membranes):
            raise ParameterError(f"membrane: {membrane}; there are {len(self._membranes)}, counted from 0.")
        body = self._membranes[membrane]
        return body, len(body.positions) if body.lattice is None else len(body.lattice.follow.points)

    def _attach(self, membrane: int, vertices: ArrayLike, **to: int) -> None:
        body, count = self._with_vertices(membrane)
        chosen = np.unique(np.asarray(vertices, dtype=np.int32).ravel())
        if len(chosen) == 0 or chosen[0] < 0 or chosen[-1] >= count:
            raise ParameterError(f"{body.name}: vertices to attach; give numbers from 0 to {count - 1}, at least one.")
        if body.lattice is None:
            own = np.argsort(body.order)[chosen].astype(np.int32)
        else:
            own = body.lattice.nearest(body.positions, chosen)
        if body.flat is not None:  # both copies
            own = np.unique([own // 2 * 2, own // 2 * 2 + 1]).astype(np.int32)
        self._attached.append(Attached(membrane, own, **to))


def _weights(body: GivenMembrane, count: int, what: str, vertices: ArrayLike, weights: ArrayLike) -> FloatArray:
    """Weight of each of `count` vertices of the caller, 0 where none is given; raises `ParameterError`."""
    chosen = np.asarray(vertices, dtype=np.int32).ravel()
    if len(chosen) and not (chosen.min() >= 0 and chosen.max() < count):
        raise ParameterError(f"{body.name}: {what}; give numbers from 0 to {count - 1}.")
    found = np.zeros(count)
    found[chosen] = weights
    if not ((found >= 0.0) & (found <= 1.0)).all():
        raise ParameterError(f"{body.name}: weights of {what}; give numbers from 0 to 1.")
    return found
