"""Live play with mouse and keys, in a window of the Blender that SOFTPRESSURE_BLENDER names."""

import pytest
from window_case import check_in_window, needs_window

CASES = [
    "drag_and_throw",
    "poke",
    "escape",
    "enter",
    "shift_enter",
    "undo",
    "slider",
    "pressure_keys",
    "close_window",
    "load",
]


@needs_window
@pytest.mark.parametrize("case", CASES)
def test_live_play_in_a_window(case: str) -> None:
    check_in_window("live.py", case, "--enable-event-simulate")
