"""Fixes that lead to an end: none makes what the mesh has not, and one that does nothing is not offered again."""

import bpy  # isort: skip  (first, as it makes bmesh known)
import numpy as np
import pytest
from bpy_scene import add_ball, add_mesh, problem_of, select
from softpressure_ext.softpressure.bodies import mesh_checks
from softpressure_ext.softpressure.scene_io import mesh_io


def shared_edges(triangles):
    """How many triangles each edge has."""
    sides = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2))
    return np.unique(sides, axis=0, return_counts=True)[1]


def refused(obj, kind="SOFT", **settings):
    """What a refusal says of an object."""
    for name, value in settings.items():
        setattr(obj.softpressure, name, value)
    select(obj)
    with pytest.raises(RuntimeError) as error:
        bpy.ops.softpressure.add_body(kind=kind)
    return str(error.value)


def fix(obj, name):
    return bpy.ops.softpressure.fix(object_name=obj.name, fix=name)


#: Two quads that share two opposite corners: A, back over E and to the front over F.
LENS = [(0, 0, 0), (1, 0, 0), (0.5, 0.5, 0.4), (0.5, -0.5, 0.4), (0.5, 0.5, -0.4), (0.5, -0.5, -0.4)]


def test_two_quads_never_get_a_common_diagonal():
    """Blender splits both between their common corners, along one edge of four triangles."""
    pillow = add_mesh("Pillow", LENS, [(0, 3, 1, 2), (0, 4, 1, 5), (0, 2, 4), (1, 4, 2), (0, 5, 3), (1, 3, 5)])
    triangles = mesh_io.read_triangles(pillow.data, np.eye(4))
    assert len(triangles) == 8
    assert (shared_edges(triangles) == 2).all()
    areas = np.cross(*(np.array(LENS)[triangles[:, k]] - np.array(LENS)[triangles[:, 0]] for k in (1, 2)))
    assert ((np.array(LENS)[triangles].mean(axis=1) - [0.5, 0, 0]) * areas).sum(axis=1).min() > -1e-9  # outwards


def test_suzanne_is_added_after_her_holes_are_filled():
    bpy.ops.mesh.primitive_monkey_add()
    suzanne = bpy.context.object
    assert "open edges" in refused(suzanne, simulation_mesh="DRAWN")
    assert mesh_checks.fixes_for(suzanne) == ("FILL_HOLES",)
    assert fix(suzanne, "FILL_HOLES") == {"FINISHED"}
    assert suzanne.softpressure.kind == "SOFT"
    assert problem_of(suzanne) == ""


def add_stubborn():
    """A ball with a hole whose rim Blender cannot fill: a fin of one triangle stands on it."""
    ball = add_ball(kind=None)
    vertices = [tuple(vertex.co) for vertex in ball.data.vertices]
    faces = [tuple(face.vertices) for face in ball.data.polygons]
    edge = faces[0][:2]
    return add_mesh("Fin", [*vertices, (2.0, 0.0, 2.0)], [*faces, (*edge, len(vertices))])


@pytest.mark.parametrize(("kind", "next_one"), [("SOFT", "EVEN_MESH"), ("RIGID", "HULL")])
def test_a_fix_that_did_nothing_is_not_offered_again(kind, next_one):
    fin = add_stubborn()
    refused(fin, kind, simulation_mesh="DRAWN", rigid_shape="MESH")
    tried = []
    while name := next((each for each in mesh_checks.fixes_for(fin) if not each.startswith("SELECT")), ""):
        assert name not in tried
        tried.append(name)
        try:
            fix(fin, name)
        except RuntimeError as error:
            assert "closed" in str(error) or "open edges" in str(error) or "manifold" in str(error)
        if fin.softpressure.kind == kind and not problem_of(fin):
            break
    assert fin.softpressure.kind == kind
    assert problem_of(fin) == ""
    assert tried[-1] == next_one


def test_an_outline_has_no_slivers():
    """Its faces only fill it; what is simulated are its edges."""
    circle = add_mesh("Outline", [(np.cos(a), 0, np.sin(a)) for a in np.linspace(0, 2 * np.pi, 64, False)], [range(64)])
    assert bpy.ops.softpressure.add_body(kind="SOFT") == {"FINISHED"}
    assert circle.softpressure.body_type == "LOOP"
    assert not [flaw for flaw in mesh_checks.of_scene(bpy.context.scene) if "slivers" in flaw.sentence]
