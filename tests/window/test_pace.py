"""How long a window stands still, in that of the Blender that SOFTPRESSURE_BLENDER names."""

import pytest
from window_case import check_in_window, needs_window


@needs_window
@pytest.mark.parametrize("case", ["simulate", "live"])
def test_the_window_stays_alive(case: str) -> None:
    check_in_window("pace.py", case)
