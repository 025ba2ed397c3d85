"""The page that the panels' help buttons open: it is there, current, and tells of everything that can be set."""

import bpy
import manual
import pytest
from softpressure_ext import panels

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
