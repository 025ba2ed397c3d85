"""The controls at the top of the tab, and that each state is told in one place."""

import bpy
import pytest
from bpy_panels import drawn, shown_panels
from bpy_scene import add_ball, select
from softpressure_ext.softpressure.reports import run_state

pytestmark = pytest.mark.usefixtures("falling")


def told_everywhere() -> list[str]:
    """All sentences of all panels that are open at first."""
    is_open = [panel for panel in shown_panels() if "DEFAULT_CLOSED" not in getattr(panel, "bl_options", ())]
    return [text for panel in is_open for text in drawn(panel, width=20_000)]


@pytest.mark.parametrize("kind", ["SOFT", "RIGID"])
def test_what_is_baked_cannot_be_simulated_and_the_buttons_say_so(kind: str) -> None:
    add_ball(kind=kind)
    bpy.ops.softpressure.simulate()
    assert run_state.of(bpy.context.scene) == ("Cache: frames 1–10 of 10", 1.0)
    bpy.ops.softpressure.bake()
    assert run_state.of(bpy.context.scene).text == "Baked"
    for operator in (bpy.ops.softpressure.simulate, bpy.ops.softpressure.live_play):
        assert not operator.poll()
        with pytest.raises(RuntimeError, match=r"Ball: is baked\. Free the bake before simulating again"):
            operator()
    bpy.ops.softpressure.free_bake()
    assert bpy.ops.softpressure.simulate.poll()


def test_frames_that_are_out_of_date_fill_no_bar_and_are_told_of_once() -> None:
    ball = add_ball()
    bpy.ops.softpressure.simulate()
    ball.softpressure.mass = 3.0
    assert run_state.of(bpy.context.scene) == ("Out of date: frames 1–10 of 10", 0.0)
    assert [text for text in told_everywhere() if "ut of date" in text] == ["Out of date: frames 1–10 of 10"]
    assert not bpy.ops.softpressure.bake.poll()
    with pytest.raises(RuntimeError, match="out of date: simulate again"):
        bpy.ops.softpressure.bake()


def test_frames_are_not_out_of_date_for_being_in_edit_mode() -> None:
    ball = add_ball()
    bpy.ops.softpressure.simulate()
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.context.view_layer.update()
    assert run_state.of(bpy.context.scene).text == "Cache: frames 1–10 of 10"
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.transform.resize(value=(1.2, 1.2, 1.2))
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()
    assert run_state.of(bpy.context.scene).text.startswith("Out of date") and ball.mode == "OBJECT"


def test_what_is_wrong_with_a_body_is_told_once() -> None:
    bad = add_ball("Bad")
    bad.softpressure.pin_group = "Nothing"
    good = add_ball("Good", (3, 0, 5))
    for active in (bad, good):
        select(active)
        bpy.context.view_layer.update()
        assert len([text for text in told_everywhere() if "has no vertex group Nothing" in text]) == 1
    bpy.data.objects.remove(good)
    bpy.context.view_layer.update()
    select(bad)
    with pytest.raises(RuntimeError, match="has no vertex group Nothing"):
        bpy.ops.softpressure.simulate()
    assert len([text for text in told_everywhere() if "has no vertex group Nothing" in text]) == 1
