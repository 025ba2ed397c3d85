"""Pressure at rest and drawn shapes, from the panel to the solver, and in files of earlier versions."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from bpy_panels import body_rows, drawn
from bpy_scene import add_ball, frame, key, play, rest, shown, this_run, this_session
from softpressure_ext.panels.scene import SOFTPRESSURE_PT_simulation
from softpressure_ext.softpressure.state import versions

UNKNOWN = "Inflates: not yet known"


def add_egg(**settings: Any) -> Any:
    """A ball that is flattened, so that no skin holds it as drawn; nothing pulls it."""
    bpy.context.scene.use_gravity = False
    egg = add_ball("Egg", (0, 0, 0), **settings)
    egg.scale = (1.0, 1.0, 0.4)
    bpy.context.view_layer.update()
    return egg


def gauge() -> float:
    return float(this_run().world.diagnostics().bodies[0].gauge_pressure)


def body_panel() -> list[str]:
    found = body_rows(1000)
    assert {"pressure_at", "drawn_shape", "start_at_rest"} <= set(found)
    return found


@pytest.mark.smoke
def test_a_new_body_has_its_pressure_at_rest_and_its_drawn_shape() -> None:
    bpy.context.scene.use_gravity = False
    ball = add_ball(location=(0, 0, 0))
    assert ball.softpressure.gauge_pressure == 2_000.0
    drawn_shape = rest(ball)
    play(1, 25)
    assert not this_session().refusals.error
    assert gauge() == pytest.approx(2_000.0, rel=0.02)
    assert np.abs(shown(ball) - drawn_shape).max() < 5e-4


def test_a_slack_body_at_its_drawn_volume_is_as_it_was() -> None:
    bpy.context.scene.use_gravity = False
    add_ball(location=(0, 0, 0), pressure_at="DRAWN", drawn_shape="SLACK")
    play(1, 25)
    assert this_run().world.model.fillings == (None,)
    assert 100.0 < gauge() < 1_000.0  # the skin's growth eats the rest
    assert not any("Inflates" in text or text == UNKNOWN for text in body_rows())


def test_a_body_starts_as_drawn_or_at_rest() -> None:
    egg = add_egg()
    drawn_shape = rest(egg)
    frame(1)
    np.testing.assert_allclose(shown(egg), drawn_shape, atol=1e-6)
    [(_, move)] = this_run().inflations.values()
    assert move > 0.001
    egg.softpressure.start_at_rest = True
    frame(1)
    away = np.linalg.norm(shown(egg) - drawn_shape, axis=1).max()
    assert away == pytest.approx(move, rel=1e-3)
    start = shown(egg)
    play(2, 12)
    assert np.linalg.norm(shown(egg) - start, axis=1).max() < 0.1 * move


def test_the_panel_shows_how_far_a_body_puffs_out() -> None:
    egg = add_egg()
    assert UNKNOWN in body_panel()
    frame(1)
    [text] = [text for text in body_panel() if text.startswith("Inflates") and text != UNKNOWN]
    [(growth, move)] = this_run().inflations.values()
    assert text == f"Inflates {100 * move:.2g} cm, volume {100 * growth:+.1f} %"
    bpy.context.scene.frame_end = 30
    play(2, 30)
    volume = this_run().world.diagnostics().bodies[0].volume
    assert volume / this_run().world.model.drawn_volume[0] - 1.0 == pytest.approx(growth, abs=0.1 * growth)
    egg.softpressure.drawn_shape = "SLACK"  # what was told is out of date
    assert UNKNOWN in body_panel()


@pytest.mark.parametrize("pressure", [1e5, 1e7])
@pytest.mark.parametrize("remedy", ["gauge_pressure", "stretch_modulus"])
def test_too_high_a_pressure_is_reported_in_the_panel_with_a_remedy(pressure: float, remedy: str) -> None:
    ball = add_ball(location=(0, 0, 0), gauge_pressure=pressure, stretch_modulus=1e4)
    frame(1)
    sentences = drawn(SOFTPRESSURE_PT_simulation, width=10_000)
    [told] = [text for text in sentences if text.startswith(f"Ball: a pressure of {pressure:g} Pa stretches its skin")]
    words = {"gauge_pressure": "Lower the pressure to ", "stretch_modulus": "raise the stretch modulus to "}[remedy]
    setattr(ball.softpressure, remedy, float(told.split(words)[1].split()[0]))
    frame(1)
    assert not any("stretches its skin" in text for text in drawn(SOFTPRESSURE_PT_simulation, width=10_000))


def test_a_keyed_pressure_is_that_at_rest_and_reported_if_it_is_too_high() -> None:
    bpy.context.scene.use_gravity = False
    ball = add_ball(location=(0, 0, 0))
    key(ball.softpressure, "gauge_pressure", (1, 2000.0), (8, 6000.0), (30, 6000.0), (32, 60000.0))
    bpy.context.scene.frame_end = 32
    play(1, 30)
    assert gauge() == pytest.approx(6_000.0, rel=0.02)
    assert not this_run().overstretched
    play(31, 32)
    assert "stretches its skin" in this_run().overstretched[0]


def test_a_keyed_pressure_at_which_a_skin_is_to_tear_is_not_reported() -> None:
    bpy.context.scene.use_gravity = False
    ball = add_ball(location=(0, 0, 0), tear_strain=0.35)
    key(ball.softpressure, "gauge_pressure", (1, 2000.0), (3, 60000.0))
    bpy.context.scene.frame_end = 3
    play(1, 3)
    assert not this_run().overstretched
    ball.softpressure.gauge_pressure = 60_000.0
    ball.animation_data_clear()
    frame(1)
    assert "stretches its skin" in this_run().overstretched[0]  # it would tear at once


@pytest.mark.smoke
@pytest.mark.parametrize("version", [0, 1])
def test_a_file_of_an_earlier_version_is_filled_as_drawn(
    version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_ball("Old")
    with monkeypatch.context() as patch:
        patch.setattr(versions, "CURRENT", 0)
        bpy.context.scene.softpressure.defaults_version = version
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "old.blend"))
    for _ in range(2):
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "old.blend"))
        old = bpy.data.objects["Old"].softpressure
        assert {name: getattr(old, name) for name in versions.AS_DRAWN} == versions.AS_DRAWN
        new = add_ball("New").softpressure
        assert (new.pressure_at, new.drawn_shape) == ("REST", "INFLATED")
        bpy.data.objects.remove(new.id_data)
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "old.blend"))


def test_a_run_goes_on_from_its_file_with_the_same_bits(tmp_path: Path) -> None:
    egg = add_egg()
    play(1, 4)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "egg.blend"))
    play(5, 8)
    whole = shown(egg)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "egg.blend"))
    play(1, 8)  # captured at the first frame, cached to the fourth
    assert not this_session().refusals.error
    assert np.array_equal(shown(bpy.data.objects["Egg"]), whole)
    assert this_run().inflations
