"""The time left of a compilation, on machines of any pace."""

import numpy as np
import pytest
from softpressure_ext.core import time_left
from softpressure_ext.core.time_left import TimeLeft


def told(expected: float, takes: float, pace: "np.ndarray | None" = None) -> list[time_left.Left]:
    """What is told every second of work that takes so long, whose pace over time may differ."""
    count = round(takes)
    done = np.cumsum(np.ones(count) if pace is None else pace)
    clock = TimeLeft(expected)
    return [clock.estimate(share, second) for second, share in enumerate(done[:-1] / done[-1], 1)]


@pytest.mark.parametrize("takes", [12, 50, 120, 420, 2000])
@pytest.mark.parametrize("seed", range(5))
def test_it_never_rises_by_more_than_a_third(takes: int, seed: int) -> None:
    pace = np.exp(np.random.default_rng(seed).normal(0.0, 1.5, takes).cumsum() / np.sqrt(takes))
    seconds = [each.seconds for each in told(50.0, takes, pace)]
    least = np.minimum.accumulate(seconds)
    assert (np.array(seconds) <= least * 4.0 / 3.0 + 1e-9).all()


def test_the_busy_machine_of_the_report_is_told_from_the_start() -> None:
    """Of 7 minutes it said 50, 45, 275, 235, 15 s: told that other programs run, it begins near the truth."""
    found = told(50.0 * 8.0, 420.0)
    assert all(abs(each.seconds - (420.0 - second)) < 0.25 * 420.0 for second, each in enumerate(found, 1))
    assert not any(each.is_least for each in found)


def test_where_the_first_guess_was_too_low_it_says_that_it_takes_longer() -> None:
    found = told(50.0, 420.0)
    assert found[0].seconds < 60.0 and max(each.seconds for each in found) <= found[0].seconds * 4.0 / 3.0
    assert all(each.is_least for second, each in enumerate(found, 1) if 70 < second < 330)
    assert not any(each.is_least for each in found[-60:])
