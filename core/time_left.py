"""How long work takes whose pace is only known once it goes on: the estimates do not jump."""

import math
import os
from typing import NamedTuple

#: From this share on the pace of the work itself tells how long the rest takes.
_KNOWN = 0.2
#: How much more than the least estimate a later one may be.
_RISE = 4.0 / 3.0
#: Estimates are multiples of this [s].
_ROUND = 5.0


def slowness() -> float:
    """How many times longer work takes here now, as other programs use the processors; 1 where that is not known."""
    if not hasattr(os, "getloadavg"):
        return 1.0
    return max(1.0, (os.getloadavg()[0] + 1.0) / (os.cpu_count() or 1))


class Left(NamedTuple):
    """An estimate of the time left."""

    seconds: float
    #: Whether it takes longer than that, so that earlier estimates were too low.
    is_least: bool


class TimeLeft:
    """Time left of work that is expected to take so many seconds; it never rises by more than a third."""

    def __init__(self, expected: float) -> None:
        self._expected = expected
        self._least = math.inf  # of the estimates

    def estimate(self, share: float, passed: float) -> Left:
        """What to report when a share (0 to 1) of the work is done after so many seconds."""
        known = min(share / _KNOWN, 1.0)
        measured = passed / share if share > 0.0 else 0.0
        total = (1.0 - known) * max(self._expected, passed) + known * measured
        found = max(_ROUND * round(total * (1.0 - share) / _ROUND), _ROUND)
        most = max(_ROUND * math.floor(self._least * _RISE / _ROUND), self._least) if self._least < math.inf else found
        seconds = min(found, most)
        self._least = min(self._least, seconds)
        return Left(seconds, found > seconds)
