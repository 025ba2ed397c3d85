"""What is wrong with bodies or costs time, a sentence each, and which fix of Blender's mends it."""

from itertools import combinations
from typing import NamedTuple

import bmesh
import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

from . import bodies, mesh_io, session, taking_part, touching, units
from .mesh_io import FloatArray, IntArray

#: Of the triangles' heights over their mean edge: below this they count as slivers, which ask for short steps.
SLIVER = 0.05
#: Vertices of open edges nearer than this share of the size are doubles.
DOUBLE = 1e-4


#: What `fixes_for` found, by `session_uid`, and the change it was looked for after.
_known: dict[int, tuple[int, tuple[str, ...]]] = {}


class Flaw(NamedTuple):
    """Something that is wrong."""

    object_name: str
    sentence: str
    fixes: tuple[str, ...] = ()  # keys of `fixes.FIXES`
    is_grave: bool = True  # the body takes no part


def of_scene(scene: bpy.types.Scene) -> list[Flaw]:
    """All that is wrong with the bodies of a scene, those that take no part first. Takes seconds for large meshes."""
    problems, metres = taking_part.problems(scene), units.metres_per_unit(scene)
    found, trees = [], {}
    for obj in session.objects(scene, "SOFT", "RIGID", "COLLIDER"):
        sentence = problems.get(obj.session_uid, "")
        if sentence:
            found.append(Flaw(obj.name, sentence, fixes_for(obj)))
        elif not obj.softpressure.is_baked:
            positions, triangles = _shape(obj, metres)
            if len(triangles):
                trees[obj.name] = BVHTree.FromPolygons(positions.tolist(), triangles.tolist(), all_triangles=True)
                found += _slight(obj, positions, triangles, trees[obj.name], metres)
    for (one, tree), (other, other_tree) in combinations(trees.items(), 2):
        if touching.ignore_each_other(scene.objects[one], scene.objects[other]):
            continue
        count = len({face for face, _ in tree.overlap(other_tree)})
        if count:
            sentence = f"{one}: {count} faces cross {other} at the start; they are pushed apart. Move one of them away."
            found.append(Flaw(one, sentence, is_grave=False))
    return sorted(found, key=lambda flaw: not flaw.is_grave)


def fixes_for(obj: bpy.types.Object) -> tuple[str, ...]:
    """Which fixes are worth a try on an object that cannot take part; looked for once after each change of the file."""
    if obj.session_uid not in _known or _known[obj.session_uid][0] != session.change_count():
        _known[obj.session_uid] = session.change_count(), _fixes_for(obj)
    return _known[obj.session_uid][1]


def _fixes_for(obj: bpy.types.Object) -> tuple[str, ...]:
    mesh = obj.data
    kind = obj.softpressure.kind if obj.softpressure.kind != "NONE" else session.tried.get(obj.session_uid, "NONE")
    if obj.mode != "OBJECT" or kind == "NONE" or obj.library is not None or mesh.library is not None:
        return ()
    found = []
    if kind == "SOFT":
        if mesh.users > 1:
            return ("SINGLE_USER",)
        if mesh.shape_keys is not None and any(key.name != mesh_io.LIVE_KEY for key in mesh.shape_keys.key_blocks[1:]):
            return ("APPLY_KEYS",)
    if kind != "COLLIDER" and bodies.closing_modifier(obj):
        found.append("APPLY_MODIFIER")
    if kind == "SOFT" or (kind == "RIGID" and obj.softpressure.rigid_shape == "MESH"):
        found += _fixes_of_mesh(mesh)
    return tuple(found)


def _fixes_of_mesh(mesh: bpy.types.Mesh) -> list[str]:
    found = []
    work = bmesh.new()
    try:
        work.from_mesh(mesh)
        if any(not vertex.link_faces for vertex in work.verts):
            found.append("DELETE_LOOSE")
        size = max((max(co) - min(co) for co in zip(*(vertex.co for vertex in work.verts), strict=True)), default=0.0)
        if any(face.calc_area() <= 1e-14 * size * size for face in work.faces):
            found.append("DISSOLVE")
        rim = list({vertex for edge in work.edges if edge.is_boundary for vertex in edge.verts})
        if rim:
            doubles = bmesh.ops.find_doubles(work, verts=rim, dist=DOUBLE * size)["targetmap"]
            found += ["MERGE"] if doubles else ["FILL_HOLES"]
        elif (
            any(edge.is_manifold and not edge.is_contiguous for edge in work.edges)
            or work.calc_volume(signed=True) < 0.0
        ):
            found.append("NORMALS")
        if any(len(edge.link_faces) > 2 for edge in work.edges):
            found.append("SELECT_CROWDED")
    finally:
        work.free()
    return found


def _shape(obj: bpy.types.Object, metres: float) -> tuple[FloatArray, IntArray]:
    """World positions [m] and triangles that a body starts from, as far as its own mesh tells."""
    matrix, key = units.to_metres(mesh_io.world_matrix(obj), metres), mesh_io.live_key(obj)
    is_own = bodies.is_as_drawn(obj) or obj.softpressure.kind == "SOFT"
    mesh = obj.data if is_own else obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    local = mesh_io.read_local(mesh) if key is None else mesh_io.read_key(mesh.shape_keys.reference_key)
    return mesh_io.to_world(matrix, local), mesh_io.read_triangles(mesh, matrix)


def _slight(obj: bpy.types.Object, x: FloatArray, triangles: IntArray, tree: BVHTree, metres: float) -> list[Flaw]:
    """What a body can live with; `metres`: length of a Blender unit [m]."""
    found, settings = [], obj.softpressure
    a, b, c = (x[triangles[:, corner]] for corner in range(3))
    sides = np.stack([np.linalg.norm(side, axis=1) for side in (b - a, c - b, a - c)])
    mean = float(sides.mean())
    if settings.kind == "SOFT" and settings.body_type in {"MEMBRANE", "LOOP"}:
        heights = np.linalg.norm(np.cross(b - a, c - a), axis=1) / np.maximum(sides.max(axis=0), 1e-300)
        count = int((heights < SLIVER * mean).sum())
        if count:
            sentence = (
                f"{obj.name}: {count} slivers, faces down to {1e3 * heights.min():.2g} mm high beside edges of "
                f"{1e3 * mean:.2g} mm; they cost steps. Dissolve or merge them, or remesh."
            )
            found.append(Flaw(obj.name, sentence, ("DISSOLVE_SLIVERS",), is_grave=False))
        if settings.self_collision:
            count = len(crossing_faces(triangles, tree))
            if count:
                sentence = f"{obj.name}: {count} faces cross each other; they stay so. Part them in Edit Mode."
                found.append(Flaw(obj.name, sentence, ("SELECT_CROSSING",), is_grave=False))
    thickness = metres * settings.thickness
    if thickness > mean:
        sentence = (
            f"{obj.name}: its thickness of {thickness:.3g} m is more than its mean edge of {mean:.3g} m; it "
            "keeps off itself and others visibly. Lower it, or set 0, which is automatic."
        )
        found.append(Flaw(obj.name, sentence, ("THICKNESS",), is_grave=False))
    return found


def crossing_faces(triangles: IntArray, tree: BVHTree) -> set[int]:
    """Numbers of the triangles that cross another one of the same surface, but for neighbours."""
    corners = [set(row) for row in triangles.tolist()]
    return {face for pair in tree.overlap(tree) if corners[pair[0]].isdisjoint(corners[pair[1]]) for face in pair}
