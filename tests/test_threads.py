"""Which number of threads a scene gets."""

import pytest
from softpressure_ext.core.threads import (
    ALL_FROM,
    LONGEST_PAUSE,
    TEAM_ALL_FROM,
    TEAM_TRIED_FROM,
    TRIED_FROM,
    ThreadChoice,
)


def taken(choice, seconds_with, frames=200):
    """Numbers of threads of all frames, when a frame with n threads takes `seconds_with(n)` times its work."""
    found = []
    for frame in range(frames):
        count = choice.count
        found.append(count)
        work = 1.0 + frame % 7  # frames differ
        choice.report(seconds_with(count) * work, work)
    return found


@pytest.mark.parametrize("vertices", [TRIED_FROM, ALL_FROM])
@pytest.mark.parametrize("best", [1, 2, 4, 6])
def test_the_fastest_number_is_found_and_kept(vertices, best):
    counts = taken(ThreadChoice(vertices, 6), lambda n: 1.0 + abs(n - best))
    assert counts[:3] == [1 if vertices < ALL_FROM else 6] * 2 + [counts[2]]
    late = counts[100:]
    assert late.count(best) >= 0.95 * len(late)
    assert set(counts) <= {1, 2, 4, 6}


def test_small_scenes_have_one_thread():
    assert set(taken(ThreadChoice(TRIED_FROM - 1, 8), lambda n: 1.0 / n)) == {1}


def test_a_team_begins_with_smaller_scenes():
    assert ThreadChoice(TEAM_ALL_FROM, 2, has_team=True).count == 2 > ThreadChoice(TEAM_ALL_FROM, 2).count
    assert set(taken(ThreadChoice(TEAM_TRIED_FROM, 2, has_team=True), lambda n: 1.0 / n)) == {1, 2}
    assert set(taken(ThreadChoice(TEAM_TRIED_FROM - 1, 2, has_team=True), lambda n: 1.0 / n)) == {1}


def test_one_thread_where_there_is_no_more():
    assert set(taken(ThreadChoice(10 * ALL_FROM, 1), lambda n: 1.0)) == {1}


def test_a_small_gain_changes_nothing():
    late = taken(ThreadChoice(ALL_FROM, 2), lambda n: 1.0 - 0.02 * (n == 1))[20:]
    assert late.count(2) >= 0.9 * len(late)


def test_where_two_threads_are_far_slower_they_are_hardly_tried_again():
    counts = taken(ThreadChoice(TRIED_FROM, 2), lambda n: 1.0 if n == 1 else 5.0, frames=100)
    assert counts.count(2) == 1


def test_frames_that_get_cheaper_decide_nothing():
    """A scene that calms down: each frame takes a tenth less than the one before, with any number."""
    choice = ThreadChoice(ALL_FROM, 2)
    counts = []
    for frame in range(60):
        counts.append(choice.count)
        choice.report(0.9**frame, 1.0)
    assert counts.count(2) > 50


def test_a_machine_that_gets_busy_and_free_again_is_followed():
    choice = ThreadChoice(ALL_FROM, 2)
    taken(choice, lambda n: 1.0 / n)
    assert choice.count == 2
    busy = taken(choice, lambda n: float(n))
    assert busy[-20:].count(1) >= 19
    free = taken(choice, lambda n: 1.0 / n, frames=3 * LONGEST_PAUSE)
    assert free[-20:].count(2) >= 19
