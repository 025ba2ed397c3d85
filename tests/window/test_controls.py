"""The controls at the top of the tab, in a window of the Blender that SOFTPRESSURE_BLENDER names."""

import pytest
from window_case import check_in_window, needs_window


@needs_window
@pytest.mark.parametrize("case", ["fixed_row", "press_all"])
def test_the_controls_in_a_window(case: str) -> None:
    check_in_window("controls.py", case)
