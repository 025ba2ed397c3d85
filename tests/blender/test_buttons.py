"""Every button and operator in every state in which it can be pressed: it does its work, or ends with a sentence."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import button_states
import pytest
from bpy_panels import buttons, drawn, show
from softpressure_ext import panels
from softpressure_ext.core import prepare
from softpressure_ext.panels import controls
from softpressure_ext.softpressure.bodies import fixes
from softpressure_ext.softpressure.state import jobs, sessions

PANELS = [cls for cls in panels.CLASSES if issubclass(cls, bpy.types.Panel) and cls.bl_space_type == "VIEW_3D"]
#: These ask for a file or need a window.
_NOT_HERE = {"preset_add", "open_curves"}
#: Whose `invoke` does more than `execute` without a window.
_INVOKED = {"delete_cache"}
#: What a bad ending has.
_BAD = ("Traceback", "Errno", "Internal error", "context is incorrect")


@pytest.fixture(autouse=True)
def no_solver(falling: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "is_compiled", lambda *_: True)
    monkeypatch.setattr(jobs, "_NAP", 0.0)  # of jobs that wait for the stand-in


def presses(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Operators with their properties: those of the buttons that are drawn, and all others as F3 calls them."""
    found = [(name, properties) for name, properties, is_enabled in buttons(PANELS) if is_enabled]
    drawn = {name.removeprefix("softpressure.") for name, _ in found}
    others = sorted({*dir(bpy.ops.softpressure)} - _NOT_HERE - drawn)
    found += [(f"softpressure.{name}", {}) for name in others]
    told = []
    for name, properties in found:
        if name == "softpressure.export":
            properties |= {"filepath": str(folder / "out")}
        if name == "softpressure.live_play":
            properties |= {"frames": 2}
        if name.startswith("softpressure.") and (name, properties) not in told:
            told.append((name, properties))
            yield name, properties


def press(name: str, properties: dict[str, Any], how: str = "EXEC_DEFAULT") -> str:
    """What it ends with; empty if it does its work."""
    try:
        getattr(bpy.ops.softpressure, name.removeprefix("softpressure."))(how, **properties)
    except RuntimeError as error:
        return str(error).strip() or "nothing"
    return ""


def is_sentence(text: str) -> bool:
    """Whether a person can read it."""
    if any(bad in text for bad in _BAD):
        return False
    return "poll()" in text or all(line.strip().endswith((".", ":", ")")) for line in text.splitlines()[-1:])


@pytest.mark.parametrize("state", button_states.STATES)
def test_each_button_does_its_work_or_says_why_not(
    state: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    button_states.make(state)
    assert PANELS[0] is controls.SOFTPRESSURE_PT_controls
    first, live, third, text, reset = drawn(PANELS[0])  # the same rows in each state
    assert first in {"softpressure.simulate", "softpressure.stop"} and live == "softpressure.live_play"
    assert third in {"softpressure.bake", "softpressure.free_bake"} and reset == "softpressure.reset"
    assert 0 < len(text) <= 40  # one line of the sidebar
    show()
    wrong, is_fresh = [], True
    for name, properties in list(presses(tmp_path)):
        for how in ("EXEC_DEFAULT", "INVOKE_DEFAULT"):
            if how == "INVOKE_DEFAULT" and name.removeprefix("softpressure.") not in _INVOKED:
                continue
            if not is_fresh:
                button_states.make(state)
                show()
            is_fresh = not getattr(bpy.ops.softpressure, name.removeprefix("softpressure.")).poll()
            end = press(name, properties, how)
            if end and not is_sentence(end):
                wrong.append(f"{name} {properties} {how}: {end}")
            if is_fresh:
                continue
            is_fresh = bool(end)  # what is refused changes nothing
            buttons(PANELS)  # draws all of them: none raises
            console = capfd.readouterr().err  # there Blender tells of callbacks that raise
            if "Traceback" in console:
                wrong.append(f"{name} {properties} {how} prints: {console}")
            error = sessions.of(bpy.context.scene).refusals.error
            if any(bad in error for bad in _BAD):
                wrong.append(f"{name} {properties} {how} leaves: {error}")
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("state", ["no_mesh", "no_bodies", "a_soft_body", "an_empty_mesh", "a_linked_body", "baked"])
@pytest.mark.parametrize("fix", fixes.FIXES)
def test_each_fix_ends_with_a_sentence_whatever_it_is_called_for(state: str, fix: str) -> None:
    button_states.make(state)
    end = press("fix", {"fix": fix, "object_name": bpy.context.object.name})
    assert not end or is_sentence(end), end
