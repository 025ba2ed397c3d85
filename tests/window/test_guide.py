"""The guide's steps in a window of the Blender that SOFTPRESSURE_BLENDER names, with the zip of `nox -s build`."""

import pytest
from window_case import ROOT, check_in_window, needs_window

PAGES = sorted(path.stem for path in (ROOT / "docs" / "guide").glob("[0-9]*.md"))


@needs_window
@pytest.mark.parametrize("page", PAGES)
def test_the_steps_of_a_page_in_a_window(page: str) -> None:
    check_in_window("guide.py", page)
