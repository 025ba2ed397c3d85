"""Strain and contact force as point attributes of the frame that is shown."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from bpy_panels import drawn
from bpy_scene import add_ball, add_mesh, frame, reopen, select
from bpy_seen import attribute, this_run, this_session
from softpressure_ext.panels import scene as panels
from softpressure_ext.softpressure.scene_io import point_attributes
from softpressure_ext.softpressure.scene_io.point_attributes import FORCE, STRAIN

pytestmark = pytest.mark.usefixtures("falling")


def values(obj: Any, name: str) -> Any:
    """What the evaluated mesh has, as shading and geometry nodes read it."""
    return attribute(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data, name)


def names(obj: Any) -> set[str]:
    return {STRAIN, FORCE} & set(obj.data.attributes.keys())


def simulated(**settings: Any) -> Any:
    """A ball whose frames were simulated with attributes on; it grows by 2 % of its first size per frame."""
    bpy.context.scene.softpressure.point_attributes = True
    ball = add_ball(**settings)
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    cache = this_run().cache
    for number, positions in enumerate(cache._positions):
        centre = positions.mean(axis=0)
        positions[:] = centre + (1.0 + 0.02 * number) * (positions - centre)
    this_session().display.shown.clear()
    return ball


@pytest.mark.smoke
def test_attributes_are_those_of_the_shown_frame_and_linear_between() -> None:
    ball = simulated()
    count = len(ball.data.vertices)
    for number, subframe in ((1, 0.0), (6, 0.0), (3, 0.0), (9, 0.5)):
        frame(number, subframe)
        after = number + subframe - 1
        np.testing.assert_allclose(values(ball, STRAIN), 0.02 * after, atol=2e-6)
        np.testing.assert_allclose(values(ball, FORCE), np.arange(count) * after, rtol=1e-6)
    found = ball.data.attributes[FORCE]
    assert (found.domain, found.data_type) == ("POINT", "FLOAT")


def test_strain_is_the_mean_over_the_edges_at_a_vertex() -> None:
    edges = np.array([(0, 1), (1, 2), (2, 3)], np.int32)
    start = np.array([(0, 0, 0), (1, 0, 0), (1, 2, 0), (1, 2, 0), (5, 5, 5)], np.float32)
    shape = np.array([(0, 0, 0), (1.2, 0, 0), (1.2, 1.8, 0), (1.2, 1.8, 1), (5, 5, 5)], np.float32)
    # edges of 20 % and -10 %; the third has no length at the start, and the last vertex has no edge
    np.testing.assert_allclose(point_attributes.strain(edges, shape, start), [0.2, 0.05, -0.05, 0, 0], atol=1e-6)


@pytest.mark.smoke
def test_switching_them_off_or_removing_the_body_takes_them_away() -> None:
    ball = simulated()
    frame(5)
    assert names(ball) == {STRAIN, FORCE}
    settings = bpy.context.scene.softpressure
    settings.point_attributes = False
    assert names(ball) == set()
    settings.point_attributes = True
    assert names(ball) == {STRAIN, FORCE}
    bpy.ops.softpressure.bake()
    assert names(ball) == set()
    bpy.ops.softpressure.free_bake()
    assert names(ball) == {STRAIN, FORCE}
    select(ball)
    bpy.ops.softpressure.remove_body()
    assert names(ball) == set()


def test_frames_that_were_simulated_without_them_have_strain_alone() -> None:
    ball = add_ball()
    bpy.ops.softpressure.simulate()
    frame(5)
    assert names(ball) == set()
    settings = bpy.context.scene.softpressure
    settings.point_attributes = True
    assert names(ball) == {STRAIN} and not this_session().is_out_of_date(bpy.context.scene)
    assert "These frames hold no contact forces" in " ".join(drawn(panels.Cache))
    bpy.ops.softpressure.reset()
    bpy.ops.softpressure.simulate()
    assert names(ball) == {STRAIN, FORCE}
    assert "hold no contact forces" not in " ".join(drawn(panels.Cache))


def test_an_attribute_of_another_kind_makes_room() -> None:
    ball = add_ball()
    ball.data.attributes.new(STRAIN, "FLOAT_VECTOR", "FACE")
    bpy.context.scene.softpressure.point_attributes = True
    bpy.ops.softpressure.simulate()
    assert ball.data.attributes[STRAIN].domain == "POINT"


def test_a_flat_outline_of_edges_has_them_too() -> None:
    bpy.context.scene.softpressure.point_attributes = True
    turn = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
    corners = [(np.cos(angle), 0.0, np.sin(angle)) for angle in turn]
    outline = add_mesh("Outline", corners, [tuple(range(12))])
    assert bpy.ops.softpressure.add_body() == {"FINISHED"}
    bpy.ops.softpressure.simulate()
    frame(4)
    np.testing.assert_allclose(values(outline, STRAIN), 0.0, atol=1e-6)


def test_they_survive_the_file(tmp_path: Path) -> None:
    simulated()
    reopen(tmp_path)
    ball = bpy.data.objects["Ball"]
    for number in (7, 3):
        frame(number)
        np.testing.assert_allclose(values(ball, FORCE), np.arange(len(ball.data.vertices)) * (number - 1), rtol=1e-6)


def test_usd_has_them_as_primvars(tmp_path: Path) -> None:
    ball = simulated()
    count = len(ball.data.vertices)
    bpy.ops.softpressure.export(filepath=str(tmp_path / "out.usdc"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.usd_import(filepath=str(tmp_path / "out.usdc"))
    (copy,) = [obj for obj in bpy.data.objects if obj.type == "MESH"]
    for number in (2, 8):
        frame(number)
        np.testing.assert_allclose(values(copy, FORCE), np.arange(count) * (number - 1), rtol=1e-6)
