"""The guide: every step does what its page says, with what the panels show by then."""

import re
from pathlib import Path
from typing import Any

import bpy
import guide
import pytest
from bpy_panels import labels, show
from softpressure_ext import panels
from softpressure_ext.panels.layout import CATEGORY
from softpressure_ext.softpressure.bodies import materials

SIDEBAR = [cls for cls in panels.CLASSES if getattr(cls, "bl_category", "") == CATEGORY]
PRESETS = {Path(path).stem.replace("_", " ") for path in Path(materials.__file__).parent.glob("presets/*/*.py")}


def read_labels() -> set[str]:
    """What a person can read in the tab now, with the menu of presets if there is one; without figures in brackets."""
    show()
    obj = bpy.context.object
    has_presets = obj is not None and obj.type == "MESH" and obj.softpressure.kind == "SOFT"
    found = {CATEGORY} | labels(SIDEBAR) | (PRESETS if has_presets else set())
    return found | {re.sub(r" \([\d.]+ \w+\)$", "", label) for label in found}


@pytest.mark.parametrize("path", guide.pages(), ids=lambda path: path.stem)
def test_the_steps_of_a_page_lead_where_it_says(path: Path) -> None:
    page = guide.read(path)
    of_page: set[str] = set()
    of_step: dict[Any, set[str]] = {}
    for step in guide.run(page, guide.Pictures()):
        of_step[step] = of_step.get(step, set()) | read_labels()
        of_page |= of_step[step]
    for step, seen in of_step.items():
        missing = guide.labels(step.instruction) - seen
        assert not missing, f"{path.name}, step above line {step.line}: the panels do not show {sorted(missing)}"
    missing = set[str]().union(*(guide.labels(step.text) for step in page.steps)) - of_page
    assert not missing, f"{path.name}: the panels never show {sorted(missing)}"


def test_the_menu_of_presets_is_what_the_guide_takes_it_for() -> None:
    assert {Path(guide.preset(name)).stem.replace("_", " ") for name in PRESETS} == PRESETS
    assert materials.SUBFOLDER == "softpressure"
