"""Flaws of bodies: problems and causes of long runs, a sentence each, and the fixes for them."""

from typing import NamedTuple

import bpy
import numpy as np
from mathutils.kdtree import KDTree

from ..scene_io import digests, flat_shape, mesh_io, node_trees, simulation_mesh_choice, units
from ..scene_io.blender_types import Mesh
from ..scene_io.mesh_io import FloatArray, IntArray
from ..state import sessions
from ..state.jobs import Work
from . import modifier_notes, object_checks, sizes, validation

#: Of the triangles' heights over their mean edge: below this they count as slivers, which ask for short steps.
SLIVER = 0.05
#: Vertices of open edges nearer than this share of the size are doubles.
DOUBLE = 1e-4
#: A triangle below this share of the size squared has no area.
NO_AREA = 1e-14

#: What is told of a flat body that stays in the air.
_OUT_OF_GRAVITY = (
    "moves within its own plane only, and gravity does not act in that plane. Turn it upright, or press Inflate to "
    "make it a cushion."
)

#: By `session_uid`: the change after which `fixes_for` looked last, a name for what it looked at, and what it found.
_known: dict[int, tuple[int, str, tuple[str, ...]]] = {}
#: By `session_uid`: a digest of a mesh, and the fixes that changed nothing of it.
_useless: dict[int, tuple[str, set[str]]] = {}


class Flaw(NamedTuple):
    """One flaw."""

    object_name: str
    sentence: str
    fixes: tuple[str, ...] = ()  # keys of `fixes.FIXES`
    is_grave: bool = True  # the body takes no part


def of_scene(scene: bpy.types.Scene) -> list[Flaw]:
    """Flaws of the bodies of a scene in their settings and meshes, those that cannot be simulated first."""
    found: list[Flaw] = []
    for _ in search(scene, found):
        pass
    return found


def search(scene: bpy.types.Scene, found: list[Flaw]) -> Work:
    """The same object by object, as work that can be stopped; appends to `found`."""
    problems, metres = validation.problems(scene), units.metres_per_unit(scene)
    objects = sessions.objects(scene, "SOFT", "RIGID", "COLLIDER")
    for number, obj in enumerate(objects):
        yield number, len(objects), f"Checking {obj.name}"
        sentence = problems.get(obj.session_uid, "")
        if sentence:
            found.append(Flaw(obj.name, sentence, fixes_for(obj)))
        elif not obj.softpressure.is_baked and obj.type == "MESH":
            notes = modifier_notes.notes(obj)
            found += [Flaw(obj.name, sentence, (fix,), is_grave=False) for sentence, fix in notes]
            if flat_shape.is_flat_object(obj) and flat_shape.is_out_of_gravity(scene, obj):
                found.append(Flaw(obj.name, f"{obj.name}: {_OUT_OF_GRAVITY}", is_grave=False))
            if text := sizes.unfit_text(obj):
                found.append(Flaw(obj.name, text, ("FIT_SIZE",), is_grave=False))
            positions, triangles = _shape(obj, metres)
            if len(triangles):
                found += _slight(obj, positions, triangles, metres)
    if text := units.gravity_text(scene):
        found.append(Flaw(scene.name, text, is_grave=False))
    found.sort(key=lambda flaw: not flaw.is_grave)


def fixes_for(obj: bpy.types.Object) -> tuple[str, ...]:
    """Fixes that may help an object that cannot take part.

    Panels call it as they draw: each mesh is examined once, however often anything else changes.
    """
    if obj.type != "MESH":
        return ()
    change, name, found = _known.get(obj.session_uid, (-1, "", ()))
    if change == sessions.change_count():
        return found
    kind = (
        obj.softpressure.kind
        if obj.softpressure.kind != "NONE"
        else sessions.refused_kinds.get(obj.session_uid, "NONE")
    )
    mesh: Mesh = obj.data
    states = (
        kind,
        obj.mode,
        mesh_io.is_edited(obj),
        mesh.is_editable,
        object_checks.closing_modifier(obj),
        obj.softpressure.rigid_shape,
    )
    more = (simulation_mesh_choice.unfollowed(obj), obj.softpressure.body_type, obj.softpressure.simulation_mesh)
    seen = digests.of_arrays([states, more, sorted(_useless_for(obj)), looked_at(obj)])
    if seen != name:
        found = _fixes_for(obj, kind)
    _known[obj.session_uid] = sessions.change_count(), seen, found
    return found


def looked_at(obj: bpy.types.Object) -> str:
    """A digest of the mesh that fixes change."""
    return digests.of_arrays([digests.of_mesh(obj)])


def note_useless(obj: bpy.types.Object, name: str) -> None:
    """Note that a fix changed nothing of an object: it is not offered again while its mesh stays so."""
    seen, names = _useless.get(obj.session_uid, ("", set()))
    now = looked_at(obj)
    _useless[obj.session_uid] = now, {name} | (names if seen == now else set())


def _useless_for(obj: bpy.types.Object) -> set[str]:
    """Fixes that changed nothing of an object as it is."""
    seen, names = _useless.get(obj.session_uid, ("", set()))
    return names if names and seen == looked_at(obj) else set()


def _fixes_for(obj: bpy.types.Object, kind: str) -> tuple[str, ...]:
    mesh: Mesh = obj.data
    if obj.mode != "OBJECT" or mesh_io.is_edited(obj) or kind == "NONE" or not mesh.is_editable:
        return ()
    if kind == "SOFT" and (node_trees.mesh_maker(obj) or simulation_mesh_choice.unfollowed(obj)):
        return ("APPLY_MODIFIER",)
    found = []
    if kind != "COLLIDER" and object_checks.closing_modifier(obj):
        found.append("APPLY_MODIFIER")
    if kind == "SOFT" or (kind == "RIGID" and obj.softpressure.rigid_shape == "MESH"):
        found += _fixes_of_mesh(mesh)
    useless = _useless_for(obj)
    if "MERGE" in found and "MERGE" in useless:
        found.append("FILL_HOLES")
    left = [name for name in found if name not in useless]
    if useless & {*found} and not {*left} - {"SELECT_CROWDED"}:  # which shows, but mends nothing
        left += _last_remedies(obj, kind)
    return tuple(left)


def _last_remedies(obj: bpy.types.Object, kind: str) -> list[str]:
    """What helps whatever the mesh is like."""
    if kind == "RIGID":
        return ["HULL"]
    settings = obj.softpressure
    can_follow = settings.body_type in simulation_mesh_choice.FOLLOWING
    return ["EVEN_MESH"] if can_follow and settings.simulation_mesh == "DRAWN" else []


def _fixes_of_mesh(mesh: Mesh) -> list[str]:
    found: list[str] = []
    x, edge_count = mesh_io.read_local(mesh).astype(float), len(mesh.edges)
    if not len(x) or not edge_count or not len(mesh.polygons):
        return found
    ends, triangles = np.empty(2 * edge_count, np.int32), mesh_io.read_triangles(mesh, np.eye(4))
    of_corner = {name: np.empty(len(mesh.loops), np.int32) for name in ("vertex_index", "edge_index")}
    mesh.edges.foreach_get("vertices", ends)
    for name, numbers in of_corner.items():
        mesh.loops.foreach_get(name, numbers)
    vertex, edge = of_corner.values()
    size = float(np.ptp(x, axis=0).max())
    if len(np.unique(vertex)) < len(x):
        found.append("DELETE_LOOSE")
    a, b, c = (x[triangles[:, corner]] for corner in range(3))
    across = np.cross(b - a, c - a)
    if (0.5 * np.linalg.norm(across, axis=1) <= NO_AREA * size * size).any():
        found.append("DISSOLVE")
    face_count = np.bincount(edge, minlength=edge_count)
    rim = np.unique(ends.reshape(-1, 2)[face_count == 1])
    if len(rim):
        found.append("MERGE" if _has_doubles(x[rim], DOUBLE * size) else "FILL_HOLES")
    else:
        # two faces that look the same way go along their common edge in opposite directions
        forward = np.bincount(edge[vertex == ends[2 * edge]], minlength=edge_count)
        if (forward[face_count == 2] != 1).any() or (a * across).sum() < 0.0:
            found.append("NORMALS")
    if (face_count > 2).any():
        found.append("SELECT_CROWDED")
    return found


def _has_doubles(x: FloatArray, distance: float) -> bool:
    """Whether two points [m], shape (n, 3), are nearer to each other than a distance [m]."""
    tree = KDTree(len(x))
    for number, point in enumerate(x):
        tree.insert(point, number)
    tree.balance()
    return any(len(tree.find_range(point, distance)) > 1 for point in x)


def _shape(obj: bpy.types.Object, metres: float) -> tuple[FloatArray, IntArray]:
    """World positions [m] and triangles that a body starts from, by its own mesh alone."""
    matrix = units.to_metres(mesh_io.world_matrix(obj), metres)
    is_own = object_checks.is_as_drawn(obj) or obj.softpressure.kind == "SOFT"
    mesh = obj.data if is_own else obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    local = mesh_io.read_rest(obj) if is_own else mesh_io.read_local(mesh)
    return mesh_io.to_world(matrix, local), mesh_io.read_triangles(mesh, matrix)


def _slight(obj: bpy.types.Object, x: FloatArray, triangles: IntArray, metres: float) -> list[Flaw]:
    """Flaws that do not prevent simulation; `metres`: length of a Blender unit [m]."""
    found, settings = [], obj.softpressure
    a, b, c = (x[triangles[:, corner]] for corner in range(3))
    sides = np.stack([np.linalg.norm(side, axis=1) for side in (b - a, c - b, a - c)])
    mean = float(sides.mean())
    is_drawn = (
        settings.kind == "SOFT" and settings.body_type == "MEMBRANE" and not simulation_mesh_choice.may_be_even(obj)
    )
    if is_drawn:  # of an outline its edges alone are simulated
        heights = np.linalg.norm(np.cross(b - a, c - a), axis=1) / np.maximum(sides.max(axis=0), 1e-300)
        count = int((heights < SLIVER * mean).sum())
        if count:
            sentence = (
                f"{obj.name}: {count} slivers, faces down to {1e3 * heights.min():.2g} mm high beside edges of "
                f"{1e3 * mean:.2g} mm; they cost steps. Remesh it (Object Data > Remesh)."
            )
            found.append(Flaw(obj.name, sentence, is_grave=False))
    thickness = metres * settings.thickness
    if thickness > mean:
        sentence = (
            f"{obj.name}: its thickness of {thickness:.3g} m is more than its mean edge of {mean:.3g} m; "
            "gaps will be visible. Lower it, or set 0 for the automatic value."
        )
        found.append(Flaw(obj.name, sentence, ("THICKNESS",), is_grave=False))
    return found
