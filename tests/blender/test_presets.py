"""Presets: materials that look like their name, in Blender's own menu."""

import ast
import math
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import preset_sheet
import pytest
from bpy_scene import add_ball, add_mesh, add_primitive, select
from bpy_seen import problem_of, shown, this_session
from softpressure_ext.panels.presets import SOFTPRESSURE_PT_presets
from softpressure_ext.softpressure.bodies import materials

NAMES = list(preset_sheet.SHOWS)
SHIPPED = Path(materials.__file__).parent / "presets" / "softpressure"
GRAVITY = 9.81


def drop(name: str, times: float = 6.0) -> tuple[np.ndarray, float, np.ndarray]:
    """Let a body of a preset fall by its own size on a floor, for so many times the time of a fall by half of that.

    Returns the mean height over its rest, in sizes, and the height of the shape over what is drawn, of each frame, and
    the frames per time of a fall.
    """
    scene, size = bpy.context.scene, preset_sheet.SHOWS[name].size
    rate = 12.0 / math.sqrt(size / GRAVITY)
    scene.render.fps, scene.frame_start, scene.frame_end = round(rate), 1, round(12 * times)
    add_mesh("Floor", [(-9, -9, 0), (9, -9, 0), (9, 9, 0), (-9, 9, 0)], [(0, 1, 2, 3)])
    bpy.context.object.scale = (size, size, 1.0)
    bpy.ops.softpressure.add_body(kind="COLLIDER")
    obj = preset_sheet.add(name)
    obj.location.z = 0.5 * obj.dimensions.z + size
    bpy.context.view_layer.update()
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    middle, high = [], []
    for frame in range(1, scene.frame_end + 1):
        scene.frame_set(frame)
        z = shown(obj)[:, 2]
        middle.append((z.max() + z.min()) / (2.0 * size))
        high.append(np.ptp(z))
    assert np.isfinite(middle).all() and not this_session().refusals.error
    return np.array(middle) - 0.5 * high[0] / size, np.array(high) / high[0]


def rebound(middle: np.ndarray) -> float:
    """How high it comes after it was lowest for the first time, in sizes; it fell by one."""
    first = int(np.argmax(np.diff(middle) > 0.0))
    return float(middle[first:].max())


@pytest.fixture
def user_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where presets of the user go."""
    folder = tmp_path / "presets" / materials.SUBFOLDER
    folder.mkdir(parents=True)
    known = bpy.utils.preset_paths
    monkeypatch.setattr(bpy.utils, "preset_paths", lambda sub: [*known(sub), str(folder)])
    monkeypatch.setattr(bpy.utils, "user_resource", lambda *_, path="", **__: str(tmp_path / path))
    return folder


def values_of(path: Path) -> dict[str, Any]:
    """What a preset sets, read without running it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    lines = [line for line in tree.body if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Attribute)]
    return {line.targets[0].attr: ast.literal_eval(line.value) for line in lines}


@pytest.mark.smoke
def test_blender_finds_the_shipped_presets_and_no_other_place_is_read() -> None:
    assert str(SHIPPED) in bpy.utils.preset_paths(materials.SUBFOLDER)
    assert sorted(path.stem.replace("_", " ") for path in SHIPPED.glob("*.py")) == sorted(NAMES)
    ball = add_ball()
    before = ball.softpressure.mass
    for path in ("", "/nowhere.py", str(Path(materials.__file__)), str(SHIPPED / "Balloon.txt")):
        with pytest.raises(RuntimeError, match="is not a material preset"):
            bpy.ops.softpressure.apply_preset(filepath=path)
    assert ball.softpressure.mass == before


@pytest.mark.smoke
def test_a_preset_gives_the_active_body_its_material_and_no_other() -> None:
    ball, other = add_ball("Ball"), add_ball("Other", (3, 0, 5))
    select(other, ball)
    ball.softpressure.thickness = 0.02
    path = SHIPPED / "Basketball.py"
    assert bpy.ops.softpressure.apply_preset(filepath=str(path)) == {"FINISHED"}
    for name, value in values_of(path).items():
        assert getattr(ball.softpressure, name) == (value if isinstance(value, str) else pytest.approx(value))
    assert ball.softpressure.thickness == pytest.approx(0.02)
    assert other.softpressure.gauge_pressure == 2_000.0
    assert SOFTPRESSURE_PT_presets.bl_label == "Basketball"
    assert bpy.ops.softpressure.apply_preset(filepath=str(SHIPPED / "Jelly.py")) == {"FINISHED"}
    assert ball.softpressure.body_type == "SOLID" and problem_of(ball) == ""


def test_a_material_has_the_same_weight_over_area_at_any_size() -> None:
    """As the mass of an area is the material's; a body without area keeps its mass."""
    masses = []
    for radius in (0.12, 1.2):
        ball = add_primitive("uv_sphere", segments=64, ring_count=32, radius=radius)
        assert bpy.ops.softpressure.apply_preset(filepath=str(SHIPPED / "Basketball.py")) == {"FINISHED"}
        masses.append(ball.softpressure.mass)
    assert masses[0] == pytest.approx(0.62, rel=0.01) and masses[1] == pytest.approx(100.0 * masses[0], rel=1e-6)
    ball.scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    assert ball.softpressure.area_density == pytest.approx(3.44 / 4.0, rel=1e-3)
    ball.data.clear_geometry()
    assert ball.softpressure.area_density == 0.0
    ball.softpressure.area_density = 5.0
    assert ball.softpressure.mass == masses[1]


def test_a_material_that_a_body_without_area_kept_has_its_mass(user_folder: Path) -> None:
    add_primitive("circle", vertices=16, radius=0.5)
    bpy.context.object.softpressure.mass = 2.5
    assert bpy.ops.softpressure.preset_add(name="Ring") == {"FINISHED"}
    path = user_folder / "Ring.py"
    assert values_of(path)["area_density"] == 0.0
    ball = add_ball(mass=7.0)
    assert bpy.ops.softpressure.apply_preset(filepath=str(path)) == {"FINISHED"}
    assert ball.softpressure.mass == 2.5


def test_a_flat_body_keeps_its_type() -> None:
    ring = add_primitive("circle", vertices=16, radius=0.5)
    assert bpy.ops.softpressure.apply_preset(filepath=str(SHIPPED / "Inner_Tube.py")) == {"FINISHED"}
    assert ring.softpressure.body_type == "LOOP" and ring.softpressure.gauge_pressure == 4_000.0
    assert problem_of(ring) == ""


def test_presets_are_for_soft_bodies_that_are_not_baked() -> None:
    ball = add_ball(kind="RIGID")
    assert not bpy.ops.softpressure.apply_preset.poll() and not bpy.ops.softpressure.preset_add.poll()
    assert bpy.types.SOFTPRESSURE_OT_preset_add.bl_options == {"REGISTER", "INTERNAL"}  # as Blender's own
    ball.softpressure.kind = "SOFT"
    assert bpy.ops.softpressure.apply_preset.poll() and bpy.ops.softpressure.preset_add.poll()
    ball.softpressure.is_baked = True
    assert not bpy.ops.softpressure.apply_preset.poll() and bpy.ops.softpressure.preset_add.poll()
    ball.softpressure.is_baked = False


@pytest.mark.smoke
def test_a_material_of_ones_own_is_kept_applied_and_removed(user_folder: Path) -> None:
    ball = add_ball(mass=3.25, gauge_pressure=7_000.0, stretch_modulus=123_456.0, friction=0.125, drawn_shape="SLACK")
    assert bpy.ops.softpressure.preset_add(name="My Ball") == {"FINISHED"}
    path = user_folder / "My_Ball.py"
    assert set(values_of(path)) == set(materials.SAVED)
    before = {name: getattr(ball.softpressure, name) for name in materials.PROPERTIES}
    assert bpy.ops.softpressure.apply_preset(filepath=str(SHIPPED / "Jelly.py")) == {"FINISHED"}
    assert bpy.ops.softpressure.apply_preset(filepath=str(path)) == {"FINISHED"}
    assert {name: getattr(ball.softpressure, name) for name in materials.PROPERTIES} == before
    assert bpy.ops.softpressure.preset_add(name="My Ball", remove_name=True) == {"FINISHED"}
    assert not path.exists()


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("import pathlib; pathlib.Path(MARK).touch()", "line 3 sets no setting of a material"),
        ("settings.mass = __import__('pathlib').Path(MARK).touch() or 1.0", "line 3 gives no plain value"),
        ("settings.kind = 'NONE'", "line 3 sets no setting of a material"),
        ("settings.id_data.location.x = 1.0", "line 3 sets no setting of a material"),
        ("settings.mass = ", "cannot be read"),
        ("settings.mass = " + "(" * 2000, "cannot be read"),
    ],
)
def test_presets_are_read_and_not_run(
    user_folder: Path, capfd: pytest.CaptureFixture[str], line: str, complaint: str
) -> None:
    ball, mark = add_ball(mass=2.5), user_folder / "mark"
    path = user_folder / "Hostile.py"
    head = "import bpy\nsettings = bpy.context.object.softpressure\n"
    path.write_text(head + line.replace("MARK", repr(str(mark))) + "\n")
    bpy.ops.softpressure.apply_preset(filepath=str(path))
    assert f"Hostile.py: {complaint}" in capfd.readouterr().out
    assert not mark.exists() and ball.softpressure.mass == 2.5 and ball.softpressure.kind == "SOFT"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("mass = None", "mass expected a float type"),
        ("area_density = None", "not supported between"),
        ("area_density = 1" + 400 * "0", "too large"),
    ],
)
def test_a_preset_with_an_error_says_so(
    user_folder: Path, capfd: pytest.CaptureFixture[str], line: str, complaint: str
) -> None:
    add_ball()
    path = user_folder / "Old.py"
    path.write_text(f"import bpy\nsettings = bpy.context.object.softpressure\nsettings.{line}\n")
    assert bpy.ops.softpressure.apply_preset(filepath=str(path)) == {"FINISHED"}
    assert "Old.py: " in (said := capfd.readouterr().out) and complaint in said


# What the materials look like.


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_holds_on_the_sphere_that_blender_adds(name: str) -> None:
    scene = bpy.context.scene
    scene.frame_end = 25
    add_primitive("plane", "COLLIDER", size=20.0)
    ball = add_primitive("uv_sphere", location=(0, 0, 1.2))
    assert bpy.ops.softpressure.apply_preset(filepath=preset_sheet.path_of(name)) == {"FINISHED"}
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    session = this_session()
    assert not session.refusals.error and not session.run.overstretched
    scene.frame_set(25)
    found = shown(ball)
    assert np.isfinite(found).all() and found[:, 2].min() > -0.01
    assert np.ptp(found[:, 2]) == pytest.approx(2.0, rel=0.35)  # neither flat nor blown up


@pytest.fixture(scope="module")
def fallen() -> dict[str, tuple[np.ndarray, np.ndarray, list[tuple[float, float]]]]:
    """Of each preset that was asked for: heights of middle and shape, volume ratios and gauge pressures."""
    return {}


def fall(name: str, fallen: dict[str, Any]) -> Any:
    if name not in fallen:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        middle, high = drop(name)
        run = this_session().run
        gauges = [run.measured[frame][0][:2] for frame in range(2, len(middle) + 1)]
        assert not run.overstretched
        fallen[name] = middle, high, gauges
    return fallen[name]


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_falls_and_comes_to_rest(name: str, fallen: dict[str, Any]) -> None:
    middle, high, gauges = fall(name, fallen)
    assert middle[0] > 0.9 and middle[-12:].max() < 0.5
    assert high.min() > 0.5 and high.max() < 1.5
    assert all(0.85 < volume < 1.1 for volume, _ in gauges)  # of what they are at rest; a cushion puffs out to that


def test_balls_rebound_in_the_order_of_their_names(fallen: dict[str, Any]) -> None:
    order = ("Basketball", "Beach Ball", "Inner Tube", "Heavy Rubber", "Cushion")
    found = [rebound(fall(name, fallen)[0]) for name in order]
    assert all(high > low + 0.03 for high, low in zip(found[:-1], found[1:], strict=True)), found
    assert found[0] > 0.5  # a basketball that fell by 1.8 m comes back to 1.2 or 1.4 m, to two thirds and more


def test_a_balloon_keeps_its_pressure(fallen: dict[str, Any]) -> None:
    assert all(2_000.0 < pressure < 5_000.0 for _, pressure in fall("Balloon", fallen)[2])


def test_a_basketball_and_rubber_are_hard_and_a_water_balloon_slumps(fallen: dict[str, Any]) -> None:
    for name in ("Basketball", "Heavy Rubber"):
        assert fall(name, fallen)[1].min() > 0.95
    middle, high, gauges = fall("Water Balloon", fallen)
    assert high.min() < 0.75 and high[-1] < 0.9 and rebound(middle) < 0.05
    assert all(volume > 0.95 for volume, _ in gauges)  # as water does


def test_a_jelly_wobbles(fallen: dict[str, Any]) -> None:
    """After it was squeezed its height swings about that at rest, far more than that of a ball."""
    after = {}
    for name in ("Jelly", "Basketball"):
        high = fall(name, fallen)[1]
        after[name] = high[int(high.argmin()) :]
    away = after["Jelly"] - after["Jelly"][-1]
    assert (np.diff(np.sign(away[np.abs(away) > 0.01])) != 0).sum() >= 3
    assert np.ptp(after["Jelly"]) > 0.2 and np.ptp(after["Basketball"]) < 0.05
