"""Interactive play by scripts and keys: acts at frames, frames per second, pressure by keys, particles drawn."""

from typing import Any

import bpy
import numpy as np
import pytest
from bpy_scene import add_ball, finish
from bpy_seen import height, this_session
from softpressure_ext.core import ParameterError
from softpressure_ext.operators import interactive as operator
from softpressure_ext.softpressure.simulation import interactive, interactive_actions
from softpressure_ext.softpressure.viewport import overlay

pytestmark = pytest.mark.usefixtures("weightless")


def kept(acts: str, frames: int) -> Any:
    """Where the vertices of the ball are after a script [world], kept as its new start."""
    assert bpy.ops.softpressure.live_play(frames=frames, acts=acts, keep="START") == {"FINISHED"}
    ball = bpy.data.objects["Ball"]
    return np.array([ball.matrix_world @ vertex.co for vertex in ball.data.vertices])


def test_a_script_grabs_moves_and_lets_go_of_a_body() -> None:
    add_ball()
    x = kept("1 grab Ball 0.5 0 5; 2 move 2.5 0 5; 60 release", 90)
    # it hangs on the point that was grabbed, and swings about it
    assert np.linalg.norm(x.mean(axis=0) - (2.5, 0, 5)) == pytest.approx(0.5, abs=0.1)
    assert x[:, 0].mean() > 1.5


def test_a_script_throws_a_body_that_flies_on() -> None:
    """Moved at 3 m/s, 0.1 m a frame, and let go: in the second after that it flies 3 m."""
    add_ball()
    drag = "; ".join(f"{k} move {0.5 + 0.1 * k} 0 5" for k in range(2, 31))
    x = kept(f"1 grab Ball 0.5 0 5; {drag}; 31 release", 60)
    assert x[:, 0].mean() == pytest.approx(6.0, rel=0.15)


def test_a_script_pokes_a_body_along_a_direction() -> None:
    """A poke gives it two of its sizes per second: 2 m within a second less the first frame."""
    add_ball()
    x = kept("1 poke Ball 0 1 0", 30)
    assert x[:, 1].mean() == pytest.approx(2.0 * 29.0 / 30.0, rel=0.1) and abs(x[:, 0].mean()) < 0.1


def test_a_script_sets_a_value_at_a_frame() -> None:
    add_ball(gauge_pressure=500.0, stretch_modulus=500.0)
    small = np.ptp(kept("", 40), axis=0)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.context.scene.use_gravity = False
    ball = add_ball(gauge_pressure=500.0, stretch_modulus=500.0)
    large = np.ptp(
        kept("10 set Ball.gauge_pressure 1500; 12 set scene.speed 0.5; 13 set Ball.gas_hold VOLUME", 40), axis=0
    )
    assert (large > 1.03 * small).all()
    assert ball.softpressure.gauge_pressure == 1500.0 and ball.softpressure.gas_hold == "VOLUME"
    assert bpy.context.scene.softpressure.speed == 0.5


def test_a_script_learns_how_many_frames_per_second_there_were() -> None:
    add_ball()
    assert bpy.context.scene.softpressure.live_rate == 0.0
    assert bpy.ops.softpressure.live_play(frames=20) == {"FINISHED"}
    rate = bpy.context.scene.softpressure.live_rate
    assert 0.1 < rate < 1e5
    playing = interactive.InteractivePlay(bpy.context.scene)
    playing.frame = 20
    assert operator._done_text(playing, rate) == f"Played 20 frames, {rate:.3g} per second"


@pytest.mark.parametrize(
    ("acts", "sentence"),
    [
        ("1 grab Ball 0 0", "'1 grab Ball 0 0' is no act. Write a frame, then grab NAME X Y Z"),
        ("now release", "'now release' is no act"),
        ("1 throw Ball 0 0 1", "'1 throw Ball 0 0 1' is no act"),
        ("1 grab Box 0 0 1", "there is no moving body 'Box'. Give the name of its object."),
        ("1 poke Box 0 0 1", "there is no moving body 'Box'"),
        ("1 set Box.mass 2", "there is no setting Box.mass. Write NAME.SETTING"),
        ("1 set Ball.weight 2", "there is no setting Ball.weight"),
        ("1 set Ball.gas_hold NOTHING", "Ball.gas_hold NOTHING"),
    ],
)
def test_what_is_no_act_is_said_with_a_remedy(acts: str, sentence: str) -> None:
    add_ball()
    with pytest.raises(RuntimeError, match=sentence.replace("[", r"\[")):
        bpy.ops.softpressure.live_play(frames=2, acts=acts)
    assert this_session().display.pose is None  # it has ended


def test_acts_are_sorted_and_names_may_have_spaces() -> None:
    acts = interactive_actions.parse("30 release; 10 grab 'Soft ball' 1 2 3; 20 move 0 0 1e1")
    assert [(act.frame, act.what, act.name, act.values) for act in acts] == [
        (10, "grab", "Soft ball", (1.0, 2.0, 3.0)), (20, "move", "", (0.0, 0.0, 10.0)), (30, "release", "", ()),
    ]  # fmt: skip
    with pytest.raises(ParameterError):
        interactive_actions.parse("10")


def test_keys_change_the_pressure_of_what_is_held_else_active_else_of_all(begin: Any) -> None:
    one, other = add_ball(gauge_pressure=1000.0), add_ball("Other", (3, 0, 5), gas_by="AMOUNT", gas_amount=50.0)
    add_ball("Empty", (6, 0, 5), gauge_pressure=0.0)
    box = add_ball("Box", (9, 0, 5), "RIGID")
    playing = begin()
    told = interactive_actions.pump(playing, box, 1.1)
    assert told == "Ball: 1,100 Pa, Empty: 10 Pa, Other: 55 mol"
    interactive_actions.pump(playing, None, 1.0 / 1.1)
    assert interactive_actions.pump(playing, other, 1.0) == "Other: 50 mol"
    playing.hand.grab_body("Ball", (0, 0, 5))
    assert interactive_actions.pump(playing, other, 1.0) == "Ball: 1,000 Pa"
    assert one.softpressure.gauge_pressure == pytest.approx(1000.0)
    assert other.softpressure.gas_amount == pytest.approx(50.0)
    assert operator._PUMPS["PAGE_UP"] * operator._PUMPS["PAGE_DOWN"] == pytest.approx(1.0)


def test_the_overlay_shows_particles_in_live_play_and_at_the_last_frame(begin: Any) -> None:
    """Two balls of 42 vertices that touch, an eighth of a particle per vertex each, on features of their surfaces."""
    for name, x in (("Ball", 0.0), ("Other", 1.05)):
        add_ball(name, (x, 0, 5), stretch_modulus=2000.0, gauge_pressure=200.0)
    scene, settings = bpy.context.scene, bpy.context.scene.softpressure
    settings.solver, settings.substeps, settings.detection = "RK4_MARTIN", 60, "FEATURE_PARTICLES"
    assert len(overlay.particles(scene)) == 0
    playing = begin()
    finish(playing.step())
    found = overlay.particles(scene)
    count = len(bpy.data.objects["Ball"].data.vertices) // 8
    assert found.shape == (2 * count, 3)
    assert np.abs(np.linalg.norm(found[:count] - (0, 0, 5), axis=1) - 0.47).max() < 0.06  # features of the first
    playing.end()
    assert len(overlay.particles(scene)) == 0
    scene.frame_end = 2
    for number in (1, 2):
        scene.frame_set(number)
    assert overlay.particles(scene).shape == (2 * count, 3)
    scene.frame_set(1)
    assert len(overlay.particles(scene)) == 0
    assert height(bpy.data.objects["Ball"]) == pytest.approx(5.0, abs=0.1)
