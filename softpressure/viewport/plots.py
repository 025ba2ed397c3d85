"""Layout of small plots that share their frame axis: strips, ticks and points, in pixels. Draws nothing."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..reports.prefixes import prefix_of
from ..scene_io.mesh_io import Float32Array, FloatArray, IntArray

#: Space of the heading of a strip, between strips, of a tick, and between labels at least, in line heights.
_HEADING, _GAP, _PER_TICK, _APART = 1.4, 0.4, 3.0, 1.2
#: Strips are at least this high, in line heights; those that do not fit are left out.
_LEAST_HEIGHT = 3.2
#: Ends of a scale within a power of ten.
_LIMITS = (1.0, 1.2, 1.6, 2.0, 2.4, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
#: Room above and below a curve as a share of its range, and of the value of one that does not change.
_ROOM, _FLAT = 0.05, 0.1


@dataclass(frozen=True, slots=True)
class Curve:
    """One measured value over time."""

    label: str
    unit: str
    frames: IntArray  # ascending
    values: FloatArray


@dataclass(frozen=True, slots=True)
class Tick:
    """A line across a strip."""

    y: float  # [pixels]
    text: str  # with the unit at the highest one; empty where there is no room


@dataclass(frozen=True, slots=True)
class Strip:
    """The place of one curve in the region [pixels]."""

    curve: Curve
    low: float  # lower end of the plot
    high: float  # upper end; the heading is above
    top: float  # upper end of the heading
    ticks: tuple[Tick, ...]
    least: float  # value at `low`
    most: float  # value at `high`

    def y(self, values: FloatArray) -> FloatArray:
        """Heights of values [pixels]."""
        return self.low + (values - self.least) / (self.most - self.least) * (self.high - self.low)

    def segments(self, x_of: Callable[[FloatArray], FloatArray]) -> Float32Array:
        """Ends of the line's segments in pairs, shape (n, 3); none across frames that have no value."""
        frames = self.curve.frames
        points = np.zeros((len(frames), 3), np.float32)
        points[:, 0], points[:, 1] = x_of(frames.astype(float)), self.y(self.curve.values)
        first = np.flatnonzero(np.diff(frames) == 1)
        return points[np.stack([first, first + 1], axis=1).ravel()]

    def text(self, frame: int) -> str:
        """The value at a frame with its unit, to a hundredth of the range; a dash if there is none."""
        value = self.at(frame)
        if value is None:
            return "–"
        prefix, size = prefix_of(max(abs(self.least), abs(self.most)), self.curve.unit)
        digits = max(0, -math.floor(math.log10((self.most - self.least) / size / 100.0))) if self.curve.unit else 0
        return f"{value / size:.{digits}f} {prefix}{self.curve.unit}".replace("-", "\N{MINUS SIGN}").rstrip()

    def at(self, frame: int) -> float | None:
        """The value at a frame, None if there is none."""
        number = int(np.searchsorted(self.curve.frames, frame))
        is_there = number < len(self.curve.frames) and self.curve.frames[number] == frame
        return float(self.curve.values[number]) if is_there else None


def nice_step(span: float, most: int) -> float:
    """The least of 1, 2 or 5 times a power of ten that divides a positive span into at most so many parts."""
    power = 10.0 ** math.floor(math.log10(span / most))
    return next(times * power for times in (1.0, 2.0, 5.0, 10.0) if times * power * most >= span * (1.0 - 1e-9))


def nice_limit(value: float) -> float:
    """The least of a few round numbers that is not below a positive value."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(times * power for times in _LIMITS if times * power >= value * (1.0 - 1e-9))


def strips(curves: list[Curve], low: float, high: float, line: float) -> list[Strip]:
    """Strips from the top down between two heights [pixels]; `line`: height of a line of text.

    Leaves out curves without values, and the last ones if there is no room for all.
    """
    curves = [curve for curve in curves if len(curve.frames)]
    if not curves:
        return []
    count = min(len(curves), max(1, int((high - low + _GAP * line) / ((_LEAST_HEIGHT + _GAP) * line))))
    pitch = (high - low + _GAP * line) / count
    found = []
    for number, curve in enumerate(curves[:count]):
        top = high - number * pitch
        found.append(_strip(curve, top - pitch + _GAP * line, top, line))
    return found


def _strip(curve: Curve, low: float, top: float, line: float) -> Strip:
    high = top - _HEADING * line
    least, most = float(curve.values.min()), float(curve.values.max())
    if 0.0 < least <= 0.5 * most:
        least = 0.0  # as the curve comes near it
    if most - least <= 1e-9 * max(abs(least), abs(most)):
        room = _FLAT * abs(most) or 1.0
    else:
        room = _ROOM * (most - least)
    least, most = least - room, most + room
    step = nice_step(most - least, max(2, int((high - low) / (_PER_TICK * line))))
    numbers = range(math.ceil(least / step), math.floor(most / step) + 1)
    prefix, size = prefix_of(max(abs(least), abs(most)), curve.unit)
    pitch, ticks = step / (most - least) * (high - low), []
    every = math.ceil(_APART * line / pitch)
    for number in numbers:
        text = f"{number * step / size:.6g}".replace("-", "\N{MINUS SIGN}")
        unit = f"{prefix}{curve.unit}" if number == numbers[-1] else ""
        is_told = (numbers[-1] - number) % every == 0
        y = low + (number * step - least) / (most - least) * (high - low)
        ticks.append(Tick(y, f"{text} {unit}".rstrip() if is_told else ""))
    return Strip(curve, low, high, top, tuple(ticks), least, most)
