"""What a person sees first: few rows, menus in the words in which people look for things, short tooltips."""

from typing import Any

import bpy
import manual
import pytest
from bpy_panels import Layout, body_rows, drawn, show, shown_panels
from bpy_scene import add_ball, add_primitive, play, select
from bpy_seen import this_run
from softpressure_ext import panels
from softpressure_ext.panels import menus
from softpressure_ext.panels.body import Body
from softpressure_ext.softpressure.bodies import materials
from softpressure_ext.softpressure.properties import automatic

#: Rows of the body's panel at most; what stands in one row with others is not counted again.
MOST = {"MEMBRANE": 12, "SOLID": 10, "RIGID": 8}
_SAME_ROW = {"softpressure.set_type", "softpressure.remove_body", "Material"}


def cube() -> Any:
    """A cube of 2 m, selected."""
    return add_primitive("cube", None)


@pytest.mark.parametrize("body_type", MOST)
def test_a_body_has_few_rows(body_type: str) -> None:
    cube()
    show(advanced=False, research=False, analysis=False)
    assert bpy.ops.softpressure.set_type(type=body_type) == {"FINISHED"}
    rows = [row for row in drawn(Body) if row not in _SAME_ROW]
    assert len(rows) <= MOST[body_type], rows
    assert {"mass", "friction", "bounciness"} <= {*rows}
    assert not [panel for panel in shown_panels() if getattr(panel, "parent", "") == "body"]


def test_what_the_file_uses_is_shown_whatever_the_preferences_hide() -> None:
    add_ball()
    scene = bpy.context.scene
    show(advanced=False, research=False, analysis=False)
    hidden = {"method", "given", "curves", "overlay", "diagnostics", "sweep"}
    assert not hidden & {getattr(panel, "section", "") for panel in shown_panels()}
    scene.softpressure.solver, scene.softpressure.show_curves = "XPBD", True
    scene.softpressure.overlay_pins = True
    bpy.context.object.softpressure.mass_by = "POINTS"
    bpy.ops.softpressure.check()
    shown = {getattr(panel, "section", "") for panel in shown_panels()}
    assert hidden & shown == hidden - {"sweep"}


def test_the_type_jelly_begins_with_its_values_and_others_without() -> None:
    settings = cube().softpressure
    bpy.ops.softpressure.set_type(type="SOLID")
    assert materials.name_of(settings) == "Jelly" and settings.bounciness == pytest.approx(0.1)
    bpy.ops.softpressure.set_type(type="MEMBRANE")
    assert materials.name_of(settings) == "Default" and settings.bounciness == pytest.approx(0.85)
    settings.friction = 0.123
    assert materials.name_of(settings) == "Custom"
    bpy.ops.softpressure.set_type(type="SOLID")
    assert settings.friction == pytest.approx(0.123)  # a choice stays


def test_one_group_is_pins_and_goals() -> None:
    ball = add_ball()
    group = ball.vertex_groups.new(name="Held")
    assert "goal_group" in drawn(Body) and "pin_group" not in drawn(Body)
    group.add([0, 1], 1.0, "REPLACE")
    ball.softpressure.pin_group = "Held"  # as files of earlier versions have it
    assert "pin_group" in drawn(Body) and "goal_group" not in drawn(Body)


@pytest.mark.usefixtures("falling")
def test_an_automatic_value_is_a_number_and_a_box_sets_one_s_own() -> None:
    ball, settings = add_ball(), bpy.context.object.softpressure
    assert automatic.text(settings, "thickness") == "Automatic"
    play(1, 2)
    thickness = float(this_run().world.model.thickness[0])
    assert automatic.value(settings, "thickness") == pytest.approx(thickness)
    assert automatic.text(settings, "thickness") in body_rows()
    settings.own_thickness = True
    assert settings.thickness == pytest.approx(thickness, rel=0.01) and "thickness" in body_rows()
    settings.own_thickness = False
    assert settings.thickness == 0.0
    ball.softpressure.body_type = "SOLID"
    assert automatic.value(settings, "cell_size") == pytest.approx(min(ball.dimensions) / 4, rel=1e-3)
    scene = bpy.context.scene.softpressure
    scene.own_threads = True
    assert scene.threads >= 1
    scene.own_threads = False
    assert scene.threads == 0


def test_mass_by_density() -> None:
    settings = cube().softpressure
    bpy.ops.softpressure.set_type(type="RIGID")
    assert bpy.ops.softpressure.calculate_mass(density=500.0) == {"FINISHED"}
    assert settings.mass == pytest.approx(500.0 * 8.0)
    bpy.ops.softpressure.set_type(type="MEMBRANE")
    assert bpy.ops.softpressure.calculate_mass(area_density=0.5) == {"FINISHED"}
    assert settings.mass == pytest.approx(0.5 * 24.0)


def test_quick_soft_body_adds_a_floor_below() -> None:
    body = cube()
    assert bpy.ops.softpressure.quick_soft_body() == {"FINISHED"}
    floor = bpy.data.objects["Floor"]
    assert (body.softpressure.kind, floor.softpressure.kind) == ("SOFT", "COLLIDER")
    assert floor.location.z < -1.0 and floor.dimensions.x > 4.0 * body.dimensions.x
    select(body)
    assert bpy.ops.softpressure.quick_soft_body() == {"FINISHED"}  # has a floor
    assert [obj.name for obj in bpy.data.objects if obj.softpressure.kind == "COLLIDER"] == ["Floor"]


def test_text_and_curves_are_offered_to_become_meshes() -> None:
    bpy.ops.object.text_add()
    assert "object.convert" in drawn(Body)


@pytest.mark.parametrize("word", ["soft body", "inflate", "jelly", "balloon", "rigid body", "collider", "bake"])
def test_the_menu_that_f3_searches_has_what_people_type(word: str) -> None:
    layout = Layout([], [])
    menus.SOFTPRESSURE_MT_object.draw(type("Menu", (), {"layout": layout}), bpy.context)
    assert any(word in label.lower() for label in layout.labels), layout.labels


def test_no_tooltip_is_long() -> None:
    tips: dict[str, str] = {}
    for owner in (bpy.types.Object, bpy.types.Scene, bpy.types.WindowManager):
        note(tips, owner.bl_rna.properties["softpressure"].fixed_type)
    for name in dir(bpy.ops.softpressure):
        note(tips, getattr(bpy.ops.softpressure, name).get_rna_type())
    assert {name: text for name, text in tips.items() if len(text) > 140} == {}


def note(tips: dict[str, str], group: Any) -> None:
    """Add the tooltips of a group of properties, and of their choices."""
    tips[group.identifier] = group.description
    for prop in group.properties:
        tips[f"{group.identifier}.{prop.identifier}"] = prop.description
        for item in getattr(prop, "enum_items", ()):
            tips[f"{group.identifier}.{prop.identifier}.{item.identifier}"] = item.description


# -- The page that the panels' help buttons open: it is there, current, and tells of everything that can be set


PANELS = [cls for cls in panels.CLASSES if issubclass(cls, bpy.types.Panel) and hasattr(cls, "section")]


def test_the_manual_is_current() -> None:
    page = manual.page()
    assert manual.PAGE.read_text(encoding="utf-8") == page, "run `nox -s samples`"
    assert manual.OPENED.read_text(encoding="utf-8") == manual.html_of(page), "run `nox -s samples`"


def test_every_setting_is_in_the_manual_once_and_says_what_it_does() -> None:
    for owner in (bpy.types.Object, bpy.types.Scene):
        group = owner.bl_rna.properties["softpressure"].fixed_type
        told = [name for _, _, where, names in manual.SECTIONS if where is owner for name in names.split()]
        assert len(told) == len(set(told))
        own = {prop.identifier for prop in group.properties if not prop.is_hidden} - {"rna_type", "name", "kind"}
        assert set(told) == own
        assert all(len(prop.description) > 10 for prop in group.properties if prop.identifier in own)


@pytest.mark.smoke
def test_f1_on_each_setting_opens_its_line() -> None:
    from softpressure_ext.panels.manual import manual_map

    page, (address, found) = manual.OPENED.read_text(encoding="utf-8"), manual_map()
    assert address == manual.OPENED.as_uri()
    by_name = dict(found)
    for _, _, where, names in manual.SECTIONS:
        group = manual.OWNERS[where]
        for name in names.split():
            end = by_name[f"bpy.types.softpressure_pg_{group}.{name}"]
            assert page.count(f'<a id="{end.removeprefix("#")}"></a>') == 1, name


def test_panels_are_in_both_places() -> None:
    places = {"VIEW_3D": set(), "PROPERTIES": set()}
    for panel in PANELS:
        places[panel.bl_space_type].add(panel.section)
    assert places["VIEW_3D"] == places["PROPERTIES"] and len(places["VIEW_3D"]) >= 7


@pytest.mark.smoke
def test_the_menu_of_kinds_and_the_cross_act_on_the_same_meshes() -> None:
    from bpy_scene import add_ball, select

    first, second, third = add_ball("A"), add_ball("B", (3, 0, 5)), add_ball("C", (6, 0, 5), None)
    select(first, second)
    assert bpy.ops.softpressure.add_body(kind="RIGID") == {"FINISHED"}
    assert [obj.softpressure.kind for obj in (first, second, third)] == ["RIGID", "RIGID", "NONE"]
    second.select_set(False)  # it is active, so its panel is shown
    assert bpy.context.view_layer.objects.active == second
    assert bpy.ops.softpressure.remove_body() == {"FINISHED"}
    assert [obj.softpressure.kind for obj in (first, second, third)] == ["RIGID", "NONE", "NONE"]
    select(first, second, third)
    assert bpy.ops.softpressure.remove_body() == {"FINISHED"}
    assert [obj.softpressure.kind for obj in (first, second, third)] == ["NONE"] * 3
