"""What each moving body measures in each frame. One table for the panel, the curves and CSV files.

Rows are made while frames are simulated and are kept with the state of the cache, by the headings of their columns:
files of earlier versions have none, and columns that are added later are NaN in the frames of this one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..scene_io.mesh_io import FloatArray, IntArray

if TYPE_CHECKING:
    from ...core import Diagnostics, World

BoolArray = NDArray[np.bool_]
#: Rows of all moving bodies by frame, shape (body_count, len(COLUMNS)), soft bodies first; NaN where there is no value.
Table = dict[int, FloatArray]


@dataclass(frozen=True, slots=True)
class Column:
    """One measured value of a body."""

    identifier: str
    heading: str  # in files, with the unit
    label: str
    unit: str  # as curves show it
    what: str
    scale: float = 1.0  # from the value in the table to that unit


COLUMNS = (
    Column("VOLUME", "volume / rest volume", "Volume", "%", "Share of the rest volume; area of an outline", 100.0),
    Column("PRESSURE", "gauge pressure [Pa]", "Pressure", "Pa", "Pressure of the gas above that of the air outside"),
    Column("FORCE", "contact force [N]", "Contact Force", "N", "Normal forces of contacts with others, at its end"),
    Column("ENERGY", "kinetic energy [J]", "Kinetic Energy", "J", "Kinetic energy, including rotation and vibration"),
    Column(
        "CHANGE",
        "energy change [J]",
        "Energy Change",
        "J",
        "Change of kinetic, potential, elastic and gas energy over the frame, of the body and all it touches",
    ),
    Column("STEPS", "steps", "Steps", "", "Steps of the solver in the frame; 0 while the body sleeps"),
    Column("LEVEL", "liquid level [m]", "Liquid Level", "m", "Height of the surface of the liquid inside"),
    Column("CUBIC", "volume [m^3]", "Volume", "m³", "Volume; area of an outline"),
)
VOLUME, PRESSURE, FORCE, ENERGY, CHANGE, STEPS, LEVEL, CUBIC = range(len(COLUMNS))

#: Why there is no table with cached frames, and what to do about it.
NOT_RECORDED = "no curves are recorded with these frames of an earlier version. Press Reset, then Simulate."

#: Names of the arrays in the state of a cache.
_HEADINGS, _FRAMES, _ROWS = "gauges.headings", "gauges.frames", "gauges.rows"


def measure(world: "World", diagnostics: "Diagnostics") -> FloatArray:
    """The rows of all moving bodies of a world after a frame, or at its start, which no steps lead to."""
    soft = diagnostics.bodies
    rows = np.full((len(soft) + len(diagnostics.rigid_energies), len(COLUMNS)), np.nan)
    for number, body in enumerate(soft):
        pressure = body.gauge_pressure if world.model.has_gas(number) else np.nan
        row = rows[number]
        row[VOLUME], row[PRESSURE], row[ENERGY] = body.volume_ratio, pressure, body.kinetic_energy
        row[CUBIC], row[LEVEL] = body.volume, body.liquid_level
    rows[len(soft) :, ENERGY] = diagnostics.rigid_energies
    for report in diagnostics.reports:
        members = list(report.bodies)
        rows[members, FORCE] = 0.0
        rows[members, CHANGE], rows[members, STEPS] = report.energy_change, report.steps
    for pair in (pair for report in diagnostics.reports for pair in report.pairs):
        for member in pair.bodies:
            if member < len(rows) and pair.bodies[0] != pair.bodies[1]:
                rows[member, FORCE] += pair.force
    return rows


def keep_asleep(rows: FloatArray, before: FloatArray | None) -> BoolArray:
    """Give bodies that sleep the contact forces of the frame before: they are held as they were, but not computed.

    Returns which ones sleep, shape (body_count,).
    """
    asleep = rows[:, STEPS] == 0
    if before is not None and asleep.any():
        rows[asleep, FORCE] = before[asleep, FORCE]
    return asleep


def series(table: Table, body: int, column: int) -> tuple[IntArray, FloatArray]:
    """Frames and values of one body and column in the unit of curves; only frames that have a value."""
    frames = sorted(table)
    values = np.array([table[frame][body, column] for frame in frames]) * COLUMNS[column].scale
    known = np.isfinite(values)
    return np.array(frames, np.int32)[known], values[known]


def to_arrays(table: Table) -> dict[str, NDArray[Any]]:
    """A table as arrays for the state of a cache."""
    if not table:
        return {}
    frames = sorted(table)
    return {
        _HEADINGS: np.array([column.heading for column in COLUMNS]),
        _FRAMES: np.array(frames, np.int32),
        _ROWS: np.array([table[frame] for frame in frames]),
    }


def from_arrays(arrays: Mapping[str, NDArray[Any]], body_count: int) -> Table:
    """The table of `to_arrays` for so many bodies; empty if there is none, or one that does not fit."""
    if not {_HEADINGS, _FRAMES, _ROWS} <= arrays.keys():
        return {}
    headings, frames, stored = arrays[_HEADINGS], arrays[_FRAMES], arrays[_ROWS]
    kinds = headings.dtype.kind + frames.dtype.kind + stored.dtype.kind
    is_whole = headings.ndim == frames.ndim == 1 and kinds == "Uif"
    if not is_whole or stored.shape != (len(frames), body_count, len(headings)):
        return {}
    place = {heading: number for number, heading in enumerate(headings.tolist())}
    rows = np.full((len(frames), body_count, len(COLUMNS)), np.nan)
    for number, column in enumerate(COLUMNS):
        if column.heading in place:
            rows[:, :, number] = stored[:, :, place[column.heading]]
    return dict(zip(frames.tolist(), rows, strict=True))
