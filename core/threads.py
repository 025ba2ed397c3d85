"""Chooses the number of threads of a scene by the times of its frames.

Whether a second thread pays depends on the mesh, the machine and its load, and is hard to predict. The result does not
depend on the number of threads, so some frames are simulated with half or twice as many, and the faster number stays.
"""

import math

#: Vertices from which threads are tried: below, starting them costs more than they could save.
TRIED_FROM = 4_000
#: Vertices from which all threads are used from the first frame.
ALL_FROM = 20_000
#: The same where a team shares the work (`team.py`): its jobs begin within a microsecond, not in tens of them.
TEAM_TRIED_FROM, TEAM_ALL_FROM = 1_000, 2_000
#: Gain above which another number is taken [present time per work]: above the noise of frame times.
WORTH = 0.05
#: Frames between two trials, at the start and at most; the pause doubles.
FIRST_PAUSE, LONGEST_PAUSE = 2, 128
#: Ratio of the time with two threads to that with one above which the longest pause follows at once [1].
FAR_SLOWER = 1.5


class ThreadChoice:
    """The number of threads for each frame of a scene with `vertex_count` vertices, at most `most` of them.

    `has_team`: whether they are a team (`team.py`) instead of numba's parallel loops.

    Read `count`, simulate a frame with it, then `report` its time.
    """

    def __init__(self, vertex_count: int, most: int, has_team: bool = False) -> None:
        tried_from, all_from = (TEAM_TRIED_FROM, TEAM_ALL_FROM) if has_team else (TRIED_FROM, ALL_FROM)
        tried = vertex_count >= min(tried_from, all_from)
        self._numbers = sorted({min(2**power, most) for power in range(most.bit_length() + 1)}) if tried else [1]
        self._best = len(self._numbers) - 1 if vertex_count >= all_from else 0
        self._trial = self._best  # place among the numbers that the next frame takes
        self._rate = math.inf  # seconds per work with the best number, in its last frame
        self._tried = -1  # place among the numbers that the last frame has tried, -1 for none
        self._tried_rate = math.inf
        self._pause = FIRST_PAUSE
        self._left = FIRST_PAUSE
        self._up = True

    @property
    def count(self) -> int:
        """Threads for the next frame."""
        return self._numbers[self._trial]

    def report(self, seconds: float, work: float) -> None:
        """Report the time of the frame; `work` (any unit, > 0) makes frames comparable.

        Only roughly: so a trial must be faster than both the frame before and the frame after it.
        """
        rate = seconds / work
        if self._trial != self._best:
            self._tried, self._tried_rate = self._trial, rate
            self._trial = self._best
            return
        if self._tried >= 0:
            if self._tried_rate < (1.0 - WORTH) * min(self._rate, rate):
                self._best = self._trial = self._tried
                self._pause = FIRST_PAUSE
                rate = self._tried_rate
            elif self._best == 0 and self._tried_rate > FAR_SLOWER * max(self._rate, rate):
                self._left = self._pause = LONGEST_PAUSE
            self._tried = -1
        self._rate = rate
        self._left -= 1
        if self._left <= 0:
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
            self._left = self._pause
            self._trial = self._other()

    def _other(self) -> int:
        """The next number up or down, alternating."""
        self._up = not self._up
        other = self._best + (1 if self._up else -1)
        if not 0 <= other < len(self._numbers):
            other = 2 * self._best - other
        return other if 0 <= other < len(self._numbers) else self._best
