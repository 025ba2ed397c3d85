"""Layout of plots and colours of numbers: pure functions of what is drawn."""

import itertools

import numpy as np
import pytest
from softpressure_ext.softpressure.reports.prefixes import prefix_of
from softpressure_ext.softpressure.viewport import colour_maps, plots
from softpressure_ext.softpressure.viewport.plots import Curve


def curve(values, first=1, unit="Pa"):
    return Curve("Pressure", unit, np.arange(first, first + len(values), dtype=np.int32), np.array(values, float))


@pytest.mark.parametrize("values", [[0, 3, 378], [-2, 5], [2000, 2000, 2000], [0, 0], [99.93, 100.01], [-7, -7.5]])
@pytest.mark.parametrize("height", [40.0, 400.0])
def test_curve_and_ticks_are_within_a_strip_and_labels_apart(values: list[float], height: float) -> None:
    line = 11.0
    (strip,) = plots.strips([curve(values)], 20.0, 20.0 + height, line)
    assert (strip.low, strip.top) == pytest.approx((20.0, 20.0 + height)) and strip.high < strip.top
    points = strip.segments(lambda frames: 10.0 * frames)
    assert points[:, 1].min() >= strip.low and points[:, 1].max() <= strip.high
    np.testing.assert_allclose(points[:, 0], 10.0 * np.repeat(np.arange(1, len(values) + 1), 2)[1:-1])
    told = [tick for tick in strip.ticks if tick.text]
    assert told and told[-1].text.endswith("Pa") and sum("Pa" in tick.text for tick in told) == 1
    assert all(strip.low <= tick.y <= strip.high for tick in strip.ticks)
    assert all(upper.y - lower.y >= line for lower, upper in itertools.pairwise(told))
    _, size = prefix_of(max(abs(strip.least), abs(strip.most)), "Pa")
    for tick in told:  # a label says where it is
        number = float(tick.text.split()[0].replace("\N{MINUS SIGN}", "-"))
        assert strip.y(np.array(number * size)) == pytest.approx(tick.y, abs=0.1)


def test_a_line_has_gaps_where_frames_are_missing() -> None:
    frames = np.array([1, 2, 5, 6, 7, 9], np.int32)
    (strip,) = plots.strips([Curve("Steps", "", frames, np.arange(6.0))], 0.0, 100.0, 10.0)
    ends = strip.segments(lambda at: at)[:, 0].reshape(-1, 2)
    assert ends.tolist() == [[1, 2], [5, 6], [6, 7]]
    assert strip.at(5) == 2.0 and strip.at(3) is None and strip.at(10) is None
    assert strip.text(5) == "2" and strip.text(3) == "–"


def lightness(colours: np.ndarray) -> np.ndarray:
    """CIE L* of sRGB."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    luminance = linear @ np.array([0.2126, 0.7152, 0.0722])
    return np.where(luminance > 0.008856, 116.0 * np.cbrt(luminance) - 16.0, 903.3 * luminance)


def test_colours_are_told_apart_by_lightness_alone() -> None:
    rising = lightness(colour_maps.colours(np.linspace(0.0, 5.0, 21), 5.0, is_signed=False)[:, :3].astype(float))
    assert np.diff(rising).min() > 1.5 and rising[-1] - rising[0] > 70.0
    signed = lightness(colour_maps.colours(np.linspace(-5.0, 5.0, 41), 5.0, is_signed=True)[:, :3].astype(float))
    assert np.diff(signed[:21]).min() > 1.0 and np.diff(signed[20:]).max() < -1.0


def test_colours_end_at_the_limit_and_blue_is_negative() -> None:
    found = colour_maps.colours([-9.0, -5.0, 0.0, 5.0, 9.0], 5.0, is_signed=True, alpha=0.5)
    assert (found[0] == found[1]).all() and (found[3] == found[4]).all() and (found[:, 3] == 0.5).all()
    assert found[0, 2] > found[0, 0] and found[4, 0] > found[4, 2]
    assert np.ptp(found[2, :3]) == 0.0  # grey
