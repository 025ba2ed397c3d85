"""What is known of objects while others are edited: kept for speed, never beyond a change of what it was read from."""

from collections.abc import Callable
from typing import Any

import bmesh
import bpy
import numpy as np
import pytest
from bpy_scene import add_ball, add_floor, add_group, add_object, add_tree, frame, give, select
from bpy_seen import this_session
from softpressure_ext.softpressure.bodies import validation
from softpressure_ext.softpressure.scene_io import actions, digests
from softpressure_ext.softpressure.state import sessions

pytestmark = pytest.mark.usefixtures("falling")


@pytest.fixture(autouse=True)
def scene() -> None:
    """A soft and a rigid body with what they depend on, a collider, a cage, and a body to attach to."""
    ball, stone = add_ball("Ball"), add_ball("Stone", (2, 0, 5), kind="RIGID")
    add_ball("Held", (4, 0, 5), attach_to=ball, attach_group="Group")
    add_group(bpy.data.objects["Held"], "", range(5))
    add_group(ball, "pin_group", range(3))
    cage = add_ball("Cage", (6, 0, 5), kind=None)
    add_ball("Caged", (6, 0, 5), simulation_mesh="CUSTOM", cage_object=cage)
    floor = add_floor()
    for name, child in {"Lead": stone, "Root": ball}.items():
        child.parent = add_object(name)
    lattice = add_object("Lattice", bpy.data.lattices.new("Lattice"))
    give_modifier(floor, "Bend", "LATTICE", object=lattice)
    stone.constraints.new("COPY_ROTATION").target = add_object("Target")
    for name in ("Root", "Target"):
        key(bpy.data.objects[name])
    add_object("Aside")
    toggle_field(add_object("Wind"))
    bpy.context.scene.collection.children.link(bpy.data.collections.new("Inner"))
    update()


def give_modifier(obj: Any, name: str, kind: Any, **values: Any) -> Any:
    modifier = obj.modifiers.new(name, kind)
    for setting, value in values.items():
        setattr(modifier, setting, value)
    return modifier


def toggle_field(obj: Any) -> None:
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.forcefield_toggle()


def tie() -> Any:
    """The constraint of the stone."""
    return of("Stone").constraints["Copy Rotation"]


def key(obj: Any) -> None:
    for number in (1, 9):
        obj.location.y = 0.1 * number
        obj.keyframe_insert("location", index=1, frame=number)


def of(name: str) -> Any:
    return bpy.data.objects[name]


def update() -> None:
    bpy.context.view_layer.update()


def known() -> tuple[str, dict[int, str]]:
    return this_session().inputs(bpy.context.scene), validation.static_problems(bpy.context.scene)


def anew() -> tuple[str, dict[int, str]]:
    sessions.mark_all()
    return known()


def curve(name: str) -> Any:
    return actions.curves(of(name))[0]


def points(name: str) -> Any:
    return curve(name).keyframe_points


def shift(name: str, is_told: bool) -> None:
    """Move the vertices of a mesh at once, with or without an update."""
    mesh = of(name).data
    x = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", x)
    mesh.vertices.foreach_set("co", x + np.float32(0.25))
    if is_told:
        mesh.update()


def edit_mesh(name: str) -> None:
    bpy.context.view_layer.objects.active = of(name)
    bpy.ops.object.mode_set(mode="EDIT")
    known()
    shape = bmesh.from_edit_mesh(of(name).data)
    shape.verts.ensure_lookup_table()
    shape.verts[0].co.x += 0.25
    bmesh.update_edit_mesh(of(name).data)
    update()
    known()
    bpy.ops.object.mode_set(mode="OBJECT")


def drive(name: str) -> None:
    driver = of(name).driver_add("location", 0).driver
    driver.variables.new().targets[0].id = of("Wind")
    driver.variables[0].targets[0].data_path = "location.z"
    driver.expression = "var"


def driven(name: str) -> None:
    drive(name)
    update()
    known()
    of("Wind").location.z += 1.0


def strip(name: str) -> Any:
    data = of(name).animation_data
    made = data.nla_tracks.new().strips.new("Strip", 1, data.action)
    update()
    known()
    return made


def own_key(name: str) -> Any:
    made = of(name).shape_key_add(name="Own", from_mix=False)
    made.points[0].co.x += 0.5
    made.value = 0.25
    update()
    known()
    return made


def group_is(name: str, **settings: Any) -> None:
    """A collection of the settings of a body that no scene holds, and then another member."""
    collection = bpy.data.collections.new("Chosen")
    collection.objects.link(of("Wind"))
    give(of(name), **dict.fromkeys(settings, collection))
    update()
    known()
    collection.objects.link(of("Stone"))
    if "effector_collection" in settings:
        collection.objects.unlink(of("Wind"))


def lattice_key() -> None:
    of("Lattice").shape_key_add(name="Basis")
    of("Lattice").shape_key_add(name="Bent").keyframe_insert("value", frame=1)


def undone() -> None:
    bpy.ops.ed.undo_push(message="before")
    of("Stone").location.x += 1.0
    update()
    bpy.ops.ed.undo_push(message="moved")
    known()
    bpy.ops.ed.undo()
    of("Ball").location.x += 1.0


def of_other_scene() -> None:
    other = bpy.data.scenes.new("Other")
    other.collection.objects.link(of("Stone"))
    of("Stone").location.x += 1.0
    other.view_layers[0].update()


#: What dates a cache.
EDITS: dict[str, Callable[[], Any]] = {
    "transform": lambda: of("Stone").location.__setitem__(0, 9.0),
    "transform of a soft body": lambda: of("Ball").location.__setitem__(0, 9.0),
    "delta transform": lambda: of("Stone").delta_location.__setitem__(0, 9.0),
    "rotation mode": lambda: setattr(of("Stone"), "matrix_world", of("Floor").matrix_world),
    "parent moves": lambda: of("Lead").location.__setitem__(0, 1.0),
    "parent inverse": lambda: setattr(of("Stone"), "matrix_parent_inverse", of("Stone").matrix_world),
    "other parent": lambda: setattr(of("Stone"), "parent", of("Target")),
    "keyframe of a parent": lambda: of("Root").keyframe_insert("location", frame=5),
    "value of a keyframe": lambda: points("Root")[0].co.__setitem__(1, 4.0),
    "interpolation": lambda: setattr(points("Root")[0], "interpolation", "LINEAR"),
    "keyframes at once": lambda: points("Target").foreach_set("co", [1.0, 0.0, 9.0, 4.0]),
    "muted curve": lambda: setattr(curve("Target"), "mute", True),
    "strip": lambda: setattr(strip("Root"), "frame_start", 3),
    "action is taken away": lambda: setattr(of("Root").animation_data, "action", None),
    "driver": lambda: drive("Stone"),
    "driver's target moves": lambda: driven("Stone"),
    "target of a muted constraint": lambda: (
        setattr(tie(), "mute", True),
        update(),
        known(),
        setattr(of("Target"), "scale", (2, 1, 1)),
    ),
    "constraint": lambda: setattr(tie(), "influence", 0.5),
    "mesh": lambda: shift("Stone", True),
    "mesh without an update": lambda: shift("Stone", False),
    "rest shape of a soft body": lambda: setattr(of("Ball").data.shape_keys.key_blocks[0].points[0], "co", (0, 0, 1)),
    "vertex": lambda: setattr(of("Floor").data.vertices[0], "co", (-20, -20, 0)),
    "cage": lambda: shift("Cage", True),
    "cage moves": lambda: of("Cage").location.__setitem__(0, 1.0),
    "other mesh": lambda: setattr(of("Stone"), "data", of("Floor").data),
    "Edit Mode": lambda: edit_mesh("Stone"),
    "Edit Mode of a soft body": lambda: edit_mesh("Ball"),
    "new modifier": lambda: give_modifier(of("Stone"), "Bulge", "CAST", factor=0.5),
    "value of a modifier": lambda: setattr(of("Floor").modifiers[0], "strength", 0.5),
    "hidden modifier": lambda: setattr(of("Floor").modifiers[0], "show_viewport", False),
    "object of a modifier moves": lambda: of("Lattice").location.__setitem__(0, 1.0),
    "key of a lattice": lattice_key,
    "weight of a goal": lambda: (
        give(of("Ball"), goal_group="Group"),
        update(),
        known(),
        of("Ball").vertex_groups["Group"].add([7], 0.5, "REPLACE"),
    ),
    "shape key": lambda: own_key("Ball"),
    "value of a shape key": lambda: setattr(own_key("Ball"), "value", 0.5),
    "shape of a shape key": lambda: own_key("Ball").points.foreach_set("co", np.zeros(3 * 42, np.float32)),
    "muted shape key": lambda: setattr(own_key("Stone"), "mute", True),
    "setting": lambda: setattr(of("Stone").softpressure, "friction", 0.125),
    "setting of a scene": lambda: setattr(bpy.context.scene.softpressure, "ambient_pressure", 5e4),
    "gravity": lambda: bpy.context.scene.gravity.__setitem__(2, -1.0),
    "frame rate": lambda: setattr(bpy.context.scene.render, "fps", 12),
    "force field": lambda: setattr(of("Wind").field, "strength", 7.0),
    "force field moves": lambda: of("Wind").location.__setitem__(0, 1.0),
    "type of a force field": lambda: setattr(of("Wind").field, "type", "NONE"),
    "new force field": lambda: toggle_field(of("Lead")),
    "hidden force field": lambda: setattr(of("Wind"), "hide_viewport", True),
    "effector collection": lambda: group_is("Ball", effector_collection=True),
    "collision collection": lambda: group_is("Ball", collision_collection=True),
    "removed body": lambda: bpy.data.objects.remove(of("Stone")),
    "removed parent": lambda: bpy.data.objects.remove(of("Lead")),
    "removed force field": lambda: bpy.data.objects.remove(of("Wind")),
    "undo": undone,
    "edit while another scene is evaluated": of_other_scene,
    "edit before a frame": lambda: (of("Stone").location.__setitem__(0, 9.0), frame(3)),
    "edit before an evaluation": lambda: (
        of("Stone").location.__setitem__(0, 9.0),
        bpy.context.evaluated_depsgraph_get(),
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_dates_caches_at_once(name: str) -> None:
    before, _ = anew()
    EDITS[name]()
    update()
    of("Aside").location.x += 1.0  # another edit, which tells nothing of the first
    update()
    found = known()
    assert found == anew()
    assert found[0] != before


def remove_faces(name: str) -> None:
    shape = bmesh.new()
    shape.from_mesh(of(name).data)
    bmesh.ops.delete(shape, geom=shape.faces[:], context="FACES_ONLY")
    shape.to_mesh(of(name).data)
    of(name).data.update()


def into_inner(name: str) -> Any:
    """The collection of the scene that holds an object from now on."""
    bpy.context.scene.collection.objects.unlink(of(name))
    inner = bpy.data.collections["Inner"]
    inner.objects.link(of(name))
    update()
    known()
    return inner


def enter_edit_mode(name: str) -> None:
    bpy.context.view_layer.objects.active = of(name)
    update()
    known()
    bpy.ops.object.mode_set(mode="EDIT")


def tree(name: str) -> None:
    """Let a node tree that passed a mesh through make another one."""
    group = add_tree(of(name), "GeometryNodeMeshCube", {}, reads=False).node_group
    first, last = (next(each for each in group.nodes if each.type == end) for end in ("GROUP_INPUT", "GROUP_OUTPUT"))
    made = group.links[0].from_socket
    group.links.new(first.outputs[0], last.inputs[0])
    update()
    known()
    group.links.new(made, last.inputs[0])


#: What lets a body take no part.
OBSTACLES: dict[str, Callable[[], Any]] = {
    "disabled in viewports": lambda: setattr(of("Stone"), "hide_viewport", True),
    "disabled collection": lambda: setattr(into_inner("Stone"), "hide_viewport", True),
    "excluded collection": lambda: (
        into_inner("Stone"),
        setattr(bpy.context.view_layer.layer_collection.children["Inner"], "exclude", True),
    ),
    "hidden collection, edited": lambda: (
        setattr(into_inner("Stone"), "hide_viewport", True),
        update(),
        known(),
        setattr(of("Stone"), "name", "Rock"),
    ),
    "scale": lambda: of("Stone").scale.__setitem__(0, 0.0),
    "scale of a parent": lambda: of("Lead").scale.__setitem__(0, 0.0),
    "no faces": lambda: remove_faces("Ball"),
    "Edit Mode": lambda: enter_edit_mode("Stone"),
    "Edit Mode of a cage": lambda: enter_edit_mode("Cage"),
    "cage becomes a body": lambda: (select(of("Cage")), bpy.ops.softpressure.add_body(kind="COLLIDER")),
    "parent becomes a body": lambda: (
        setattr(of("Held"), "parent", of("Caged")),
        update(),
        known(),
        give(of("Caged"), kind="RIGID"),
    ),
    "grandparent becomes a body": lambda: (
        setattr(of("Root"), "parent", of("Cage")),
        update(),
        known(),
        give(of("Cage"), kind="RIGID"),
    ),
    "renamed pin group": lambda: setattr(of("Ball").vertex_groups[0], "name", "Other"),
    "emptied attach group": lambda: of("Held").vertex_groups[0].remove(range(42)),
    "attached to a collider": lambda: (
        give(of("Ball"), kind="COLLIDER"),
        update(),
        known(),
        setattr(of("Ball"), "name", "Bowl"),
    ),
    "attached to what is removed": lambda: (select(of("Ball")), bpy.ops.softpressure.remove_body()),
    "attached to what is unlinked": lambda: bpy.context.scene.collection.objects.unlink(of("Ball")),
    "rigid body of Blender": lambda: (select(of("Stone")), bpy.ops.rigidbody.object_add()),
    "absolute shape keys": lambda: (own_key("Ball"), setattr(of("Ball").data.shape_keys, "use_relative", False)),
    "without its live key": lambda: of("Ball").shape_key_clear(),
    "node tree": lambda: tree("Ball"),
    "name": lambda: (remove_faces("Ball"), update(), known(), setattr(of("Ball"), "name", "X")),
}


@pytest.mark.parametrize("name", OBSTACLES)
def test_what_stops_a_body_is_told_at_once(name: str) -> None:
    assert anew()[1] == {}
    OBSTACLES[name]()
    update()
    if bpy.context.mode == "OBJECT":
        of("Aside").location.x += 1.0
        update()
    found = known()
    assert found == anew()
    assert found[1]


def test_objects_of_a_view_layer_that_does_not_tell_are_read_again() -> None:
    scene, stone = bpy.context.scene, into_inner("Stone") and of("Stone")
    second = scene.view_layers.new("Second")
    second.layer_collection.children["Inner"].exclude = True
    update()
    second.update()
    before, _ = anew()
    stone.location.x += 1.0
    of("Aside").location.x += 1.0
    second.update()
    assert known()[0] != before


def test_the_only_object_of_a_scene_is_told_of_when_it_is_excluded() -> None:
    for obj in [each for each in bpy.data.objects if each != of("Stone")]:
        bpy.data.objects.remove(obj)
    into_inner("Stone")
    assert known()[1] == {}
    bpy.context.view_layer.layer_collection.children["Inner"].exclude = True
    update()
    assert "is not evaluated" in known()[1][of("Stone").session_uid]


def test_an_edit_has_only_the_edited_bodies_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    add_mesh = digests.add_mesh
    monkeypatch.setattr(digests, "add_mesh", lambda digest, obj: (read.append(obj.name), add_mesh(digest, obj)))

    def read_by(edit: Callable[[], Any]) -> set[str]:
        known()
        read.clear()
        edit()
        update()
        known()
        return {*read}

    update()
    assert read_by(lambda: of("Stone").location.__setitem__(0, 1.0)) == {"Stone"}
    assert read_by(lambda: of("Lead").location.__setitem__(0, 1.0)) == {"Stone"}
    assert read_by(lambda: give(of("Stone"), friction=0.125)) == {"Stone"}
    assert read_by(lambda: shift("Floor", True)) == {"Floor"}
    assert read_by(lambda: of("Aside").location.__setitem__(0, 1.0)) == set()
    assert read_by(lambda: of("Stone").select_set(True)) == set()
    assert read_by(lambda: give(bpy.context.scene, ambient_pressure=5e4)) == set()
    of("Held").data = of("Caged").data
    assert read_by(update) == {"Ball", "Stone", "Held", "Cage", "Caged", "Floor"}
    assert read_by(lambda: of("Held").data.update()) == {"Held", "Cage", "Caged"}
