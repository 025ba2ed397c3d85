"""How many threads a run takes."""

import pytest
from softpressure_ext.core.threads import ALL_FROM, available_threads, thread_count


@pytest.mark.parametrize("method", sorted(ALL_FROM))
def test_large_scenes_take_all_threads_and_small_ones_one(method: str) -> None:
    assert thread_count(method, ALL_FROM[method]) == available_threads()
    assert thread_count(method, ALL_FROM[method] - 1) == 1


def test_methods_whose_steps_are_not_shared_take_one() -> None:
    assert thread_count("XPBD", 10**6) == thread_count("RK4", 10**6) == 1


def test_a_number_that_is_given_is_taken_as_far_as_there_are_threads() -> None:
    assert thread_count("EXPLICIT", 10, 1) == 1
    assert thread_count("EXPLICIT", 10**6, 1) == 1
    assert thread_count("EXPLICIT", 10, 10**6) == available_threads()
