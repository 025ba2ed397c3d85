"""Fixes of flaws with one click: operations of Blender's menus, on one object."""

from collections.abc import Callable
from typing import NamedTuple

import bmesh
import bpy
import numpy as np
from mathutils.geometry import area_tri

from ...core import MeshError, SoftPressureError
from ..scene_io import live_key, mesh_io, modifier_stack, node_trees, simulation_mesh_choice
from ..scene_io.blender_types import Mesh
from ..state import sessions
from . import mesh_checks, modifier_notes, object_checks, setup, sizes, wording


class Fix(NamedTuple):
    """One fix."""

    label: str
    tooltip: str
    icon: str
    apply: Callable[[bpy.types.Object], str]  # returns what was done
    changes_shape: bool = True


def apply(obj: bpy.types.Object, name: str) -> tuple[list[str], list[str]]:
    """Apply a fix to an object; one that was to be added as a body is added then.

    Returns what was done, and the remaining problems, a sentence each.
    """
    fix, kind = FIXES[name], obj.softpressure.kind
    if obj.type != "MESH":
        return [], [f"{obj.name}: is not a mesh. Convert it to a mesh (Object > Convert)."]
    if not obj.data.is_editable:
        return [], [f"{obj.name}: its mesh is linked from another file. Make it local (Object > Relations)."]
    if obj.softpressure.is_baked:
        return [], [f"{obj.name}: is baked. Free the bake before changing it."]
    if obj.mode != "OBJECT":
        return [], [f"{obj.name}: is not in Object Mode. Leave its mode (Tab) before it is changed."]
    if fix.changes_shape and kind == "SOFT":
        live_key.remove(obj)
    before = mesh_checks.looked_at(obj)
    try:
        done, refusals = [f"{obj.name}: {fix.apply(obj)}"], []
    except (RuntimeError, SoftPressureError) as error:  # RuntimeError: of one of Blender's operators
        done, refusals = [], [f"{obj.name}: {wording.of(error).removeprefix('Error: ').strip()}"]
    if fix.changes_shape and mesh_checks.looked_at(obj) == before:
        mesh_checks.note_useless(obj, name)
    sessions.mark_all()
    wanted = sessions.refused_kinds.get(obj.session_uid, "NONE")
    if kind != "NONE":
        setup.on_kind_change(obj)
    elif done and wanted != "NONE" and obj.mode == "OBJECT":
        try:
            setup.add(obj, wanted)
            done[0] += ", and added"
        except SoftPressureError as error:
            refusals.append(wording.of(error))
    return done, refusals


def _edit(obj: bpy.types.Object, edit: Callable[[bmesh.types.BMesh], str]) -> str:
    """Change an object's mesh; returns what was done."""
    mesh: Mesh = obj.data
    work = bmesh.new()
    try:
        work.from_mesh(mesh)
        done = edit(work)
        work.to_mesh(mesh)
    finally:
        work.free()
    mesh.update()
    return done


def _size(work: bmesh.types.BMesh) -> float:
    return max((max(co) - min(co) for co in zip(*(vertex.co for vertex in work.verts), strict=True)), default=0.0)


def _apply_modifier(obj: bpy.types.Object) -> str:
    unfollowed = modifier_stack.first_repeating(obj) if simulation_mesh_choice.may_be_even(obj) else ""
    shown = unfollowed or modifier_notes.thickening(obj)
    name = node_trees.mesh_maker(obj) or shown or object_checks.closing_modifier(obj)
    if not name:
        raise MeshError("no modifier makes or closes its mesh. There is nothing to apply.")
    with bpy.context.temp_override(object=obj, active_object=obj):
        bpy.ops.object.modifier_apply(modifier=name)
    return f"modifier {name} applied"


def _remove_modifier(obj: bpy.types.Object) -> str:
    name = modifier_stack.first_solver(obj)
    if not name:
        raise MeshError("no modifier simulates its mesh. There is nothing to remove.")
    obj.modifiers.remove(obj.modifiers[name])
    return f"modifier {name} removed"


def _delete_loose(work: bmesh.types.BMesh) -> str:
    loose = [vertex for vertex in work.verts if not vertex.link_faces]
    bmesh.ops.delete(work, geom=[*loose], context="VERTS")
    return f"{len(loose)} loose vertices deleted"


def _dissolve(work: bmesh.types.BMesh) -> str:
    """Also splits faces that have an area but triangles without one, as of corners on a line, in another way."""
    size = _size(work)
    count, flat = _dissolve_below(work, 1e-6 * size), set()
    for corners in work.calc_loop_triangles():
        is_flat = area_tri(*(corner.vert.co for corner in corners)) <= mesh_checks.NO_AREA * size * size
        if is_flat and len(corners[0].face.verts) > 3:
            flat.add(corners[0].face)
    bmesh.ops.triangulate(work, faces=list(flat), quad_method="BEAUTY", ngon_method="BEAUTY")
    return f"{count + len(flat)} degenerate faces dissolved"


def _dissolve_below(work: bmesh.types.BMesh, distance: float) -> int:
    """Dissolve faces that are narrower than a distance, until none is left; returns how many."""
    first = before = len(work.faces)
    while True:
        bmesh.ops.dissolve_degenerate(work, dist=distance, edges=list(work.edges))
        if len(work.faces) == before:
            return first - before
        before = len(work.faces)


def _merge(work: bmesh.types.BMesh) -> str:
    before = len(work.verts)
    bmesh.ops.remove_doubles(work, verts=list(work.verts), dist=mesh_checks.DOUBLE * _size(work))
    return f"{before - len(work.verts)} doubled vertices merged"


def _fill_holes(work: bmesh.types.BMesh) -> str:
    before = len(work.faces)
    bmesh.ops.holes_fill(work, edges=[edge for edge in work.edges if edge.is_boundary], sides=0)
    if len(work.faces) > before:
        bmesh.ops.recalc_face_normals(work, faces=list(work.faces))
    return f"{len(work.faces) - before} holes filled"


def _recalculate_normals(work: bmesh.types.BMesh) -> str:
    bmesh.ops.recalc_face_normals(work, faces=list(work.faces))
    if work.calc_volume(signed=True) < 0.0:
        bmesh.ops.reverse_faces(work, faces=list(work.faces))
    return "normals point outwards"


def _select_crowded(obj: bpy.types.Object) -> str:
    mesh: Mesh = obj.data
    edges = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("edge_index", edges)
    is_crowded = (np.bincount(edges, minlength=len(mesh.edges)) > 2)[edges]
    starts = np.array([face.loop_start for face in mesh.polygons])
    return _show(obj, np.logical_or.reduceat(is_crowded, starts).tolist() if len(starts) else [])


def _select_crossing(obj: bpy.types.Object) -> str:
    mesh: Mesh = obj.data
    triangles = mesh_io.read_triangles(mesh, np.eye(4))
    crossing = mesh_io.crossing_triangles(mesh_io.read_local(mesh), triangles)
    faces = {mesh.loop_triangles[number].polygon_index for number in crossing}
    return _show(obj, [number in faces for number in range(len(mesh.polygons))])


def _show(obj: bpy.types.Object, chosen: list[bool]) -> str:
    """Go to Edit Mode with these faces selected."""
    mesh: Mesh = obj.data
    if not any(chosen):
        raise MeshError("has no such faces. There is nothing to select.")
    corners = {
        vertex for face, is_chosen in zip(mesh.polygons, chosen, strict=True) if is_chosen for vertex in face.vertices
    }
    mesh.polygons.foreach_set("select", chosen)
    mesh.vertices.foreach_set("select", [number in corners for number in range(len(mesh.vertices))])
    mesh.edges.foreach_set("select", [False] * len(mesh.edges))
    bpy.context.tool_settings.mesh_select_mode = (False, False, True)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    return f"{sum(chosen)} faces selected"


def _automatic_thickness(obj: bpy.types.Object) -> str:
    obj.softpressure.property_unset("thickness")
    return "thickness is automatic"


def _simulate_even(obj: bpy.types.Object) -> str:
    obj.softpressure.simulation_mesh = "EVEN"
    return "simulates an even mesh around what is drawn"


def _convex_hull(obj: bpy.types.Object) -> str:
    obj.softpressure.rigid_shape = "HULL"
    return "touches others with its convex hull"


def _fit_size(obj: bpy.types.Object) -> str:
    return sizes.fit(obj, obj.softpressure.kind, anew=True)


def _of_mesh(edit: Callable[[bmesh.types.BMesh], str]) -> Callable[[bpy.types.Object], str]:
    return lambda obj: _edit(obj, edit)


FIXES = {
    "APPLY_MODIFIER": Fix(
        "Apply Modifier", "Apply the modifier that makes or closes the mesh", "MODIFIER", _apply_modifier
    ),
    "REMOVE_MODIFIER": Fix(
        "Remove Modifier", "Remove the modifier that simulates the mesh", "X", _remove_modifier, False
    ),
    "EVEN_MESH": Fix(
        "Simulate Even Mesh",
        "Simulate an even, closed mesh that drives this one",
        "MESH_ICOSPHERE",
        _simulate_even,
        False,
    ),
    "HULL": Fix("Use Convex Hull", "Collide with the convex hull", "MESH_CUBE", _convex_hull, False),
    "DELETE_LOOSE": Fix("Delete Loose", "Delete vertices that belong to no face", "TRASH", _of_mesh(_delete_loose)),
    "DISSOLVE": Fix("Dissolve Degenerate", "Dissolve faces without area", "X", _of_mesh(_dissolve)),
    "MERGE": Fix("Merge by Distance", "Merge doubled vertices", "AUTOMERGE_ON", _of_mesh(_merge)),
    "FILL_HOLES": Fix("Fill Holes", "Close the mesh with faces", "MESH_PLANE", _of_mesh(_fill_holes)),
    "NORMALS": Fix(
        "Recalculate Outside", "Make all faces point outward", "NORMALS_FACE", _of_mesh(_recalculate_normals)
    ),
    "SELECT_CROWDED": Fix("Select Faces", "Show them in Edit Mode", "RESTRICT_SELECT_OFF", _select_crowded, False),
    "SELECT_CROSSING": Fix("Select Faces", "Show them in Edit Mode", "RESTRICT_SELECT_OFF", _select_crossing, False),
    "FIT_SIZE": Fix("Fit to Size", "Set mass and stiffness to fit its size", "FULLSCREEN_ENTER", _fit_size, False),
    "THICKNESS": Fix(
        "Make Automatic", "Compute it from the length of the edges", "LOOP_BACK", _automatic_thickness, False
    ),
}
