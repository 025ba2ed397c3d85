"""Makes objects bodies, and checks whether they can be simulated."""

import math
from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np

from ..core import MeshError, SoftPressureError, check_closed_surface
from ..core.bodies.flat.outline import check_loop, is_flat, outline_of
from ..core.topology import check_extent, check_surface
from . import (
    bake,
    fingerprint,
    flat_shape,
    hold,
    instances,
    live_key,
    mesh_io,
    node_trees,
    own_mesh,
    rigid_shape,
    rotations,
    session,
    simulation_choice,
    sizes,
    stages,
    status_bar,
    versions,
)
from .blender_types import Mesh

#: A scale below this share of the largest one counts as zero: it could not be undone exactly.
_SMALLEST_SCALE_SHARE = 1e-6
#: These may close a mesh, but come after the live shape key.
_CLOSING_MODIFIERS = {"MIRROR", "SOLIDIFY", "WELD", "NODES"}
#: The default of soft bodies and colliders is that of balls; boxes that bounce like balls look wrong.
RIGID_BOUNCINESS = 0.2
#: Cosine between two axes of a world matrix from which on it counts as sheared; rounding makes 1e-6.
_SHEARED = 1e-4
#: Smallest extent of a body that changes its shape, and of a collider [m]: below, the search for contacts fails.
_SMALLEST = 1e-9
_NOUNS = {"SOFT": "soft body", "RIGID": "rigid body", "COLLIDER": "collider"}


def add(obj: bpy.types.Object, kind: str) -> str:
    """Make an object a body; raises `MeshError` and changes nothing if it cannot be one.

    Returns what of its settings was fitted to its size; empty if nothing.
    """
    body_type = suited_type(obj) if kind == "SOFT" else ""
    check(obj, kind, body_type)
    if body_type and obj.softpressure.body_type != body_type:
        obj.softpressure.body_type = body_type
    fitted = "" if kind == "COLLIDER" else sizes.fit(obj)
    if obj.softpressure.kind != kind:
        obj.softpressure.kind = kind  # its update calls `on_kind_change`
    else:
        on_kind_change(obj)
    return fitted


def remove(obj: bpy.types.Object) -> None:
    """Restore an object from before `add`; its settings stay for the next time. Raises `MeshError` in Edit Mode."""
    if obj.mode == "EDIT":
        raise MeshError(f"{obj.name}: is in Edit Mode, where its mesh is not restored. Leave it (Tab).")
    obj.softpressure.kind = "NONE"


def add_all(scene: bpy.types.Scene, objects: Iterable[bpy.types.Object], kind: str) -> tuple[list[str], list[str]]:
    """Add each object that can be a body. Returns what was done and why not the rest, one sentence per object."""
    notes, refusals = [], []
    for obj in objects:
        had = getattr(obj.data, "name", "")
        try:
            fitted = add(obj, kind)
        except SoftPressureError as error:
            session.tried[obj.session_uid] = kind
            refusals.append(str(error))
        else:
            made_of = _of_flat(scene, obj) or _of_open(obj)
            is_copy = getattr(obj.data, "name", "") != had
            own = f", with a mesh of its own: {had} has other users, too" if is_copy else ""
            notes.append(f"{obj.name}: added as a {_NOUNS[kind]}{made_of}{own}{fitted and f'; {fitted}'}")
    if notes and not scene.render.use_lock_interface:
        scene.render.use_lock_interface = True
        # in the same report: Blender's status bar shows the last one only
        notes[-1] += ". Render > Lock Interface is now on, as rendering while the viewport plays can crash Blender"
    return notes, refusals


def _of_flat(scene: bpy.types.Scene, obj: bpy.types.Object) -> str:
    """Addition to the report on a new body: how a flat one moves; empty for any other."""
    if not flat_shape.is_flat_object(obj):
        return ""
    settings = obj.softpressure
    type_name = settings.bl_rna.properties["body_type"].enum_items[settings.body_type].name
    sentence = f" of type {type_name}, which moves within its own plane only"
    if flat_shape.is_out_of_gravity(scene, obj):
        sentence += "; gravity has no part in that plane. Turn it upright, or press Inflate to make it a cushion"
    return sentence


def _of_open(obj: bpy.types.Object) -> str:
    """Addition to the report on a new body: that its mesh is not simulated as it is drawn, but closed."""
    if obj.softpressure.kind != "SOFT" or not simulation_choice.may_be_even(obj):
        return ""
    matrix = mesh_io.world_matrix(obj)
    try:
        check_closed_surface(obj.name, flat_shape.rest_positions(obj), mesh_io.read_triangles(obj.data, matrix))
    except MeshError:
        return "; it is not one closed surface, and simulated as if it were"
    return ""


def inflate(obj: bpy.types.Object) -> tuple[list[str], list[str]]:
    """Make a flat soft body a cushion: a closed skin with gas in it. Returns what was done, or why not.

    `can_inflate` must hold.
    """
    remove(obj)
    try:
        flat_shape.give_back(obj)
    except MeshError as error:
        obj.softpressure.kind = "SOFT"
        return [], [str(error)]
    obj.softpressure.body_type = "MEMBRANE"
    add(obj, "SOFT")
    return [f"{obj.name}: is a cushion now"], []


def can_inflate(obj: bpy.types.Object) -> bool:
    """Whether `inflate` may be tried."""
    return flat_shape.is_flat_object(obj) and len(obj.data.polygons) > 0 and not obj.softpressure.is_baked


def remove_all(objects: Iterable[bpy.types.Object]) -> tuple[list[str], list[str]]:
    """Remove each object that is a body. Returns what was done and why not the rest."""
    notes, refusals = [], []
    for obj in objects:
        if obj.softpressure.kind == "NONE":
            continue
        try:
            remove(obj)
        except MeshError as error:
            refusals.append(str(error))
        else:
            notes.append(f"{obj.name}: is no longer a body")
    return notes, refusals


def on_kind_change(obj: bpy.types.Object) -> None:
    """Update an object's data after its kind was set, if it can be a body of that kind."""
    session.mark_all()
    for scene in obj.users_scene:
        versions.stamp(scene)
    settings = obj.softpressure
    if settings.is_baked and settings.kind != bake.baked_kind(obj):
        bake.free_object(obj)
    if settings.kind != "SOFT" and mesh_io.live_key(obj) is not None:
        own_mesh.ensure(obj)
        live_key.remove(obj)
    if settings.kind != "RIGID":
        hold.remove(obj)
    _choose_bounciness(settings)
    try:
        check(obj, settings.kind)
    except SoftPressureError:
        return  # it takes no part, and the panel asks why
    if settings.kind == "SOFT" and not settings.is_baked:
        own_mesh.ensure(obj)
        live_key.ensure(obj)
    if settings.kind == "RIGID" and not settings.is_baked:
        hold.ensure(obj)


def part_meshes(scene: bpy.types.Scene) -> None:
    """Give soft bodies that share a mesh, such as linked duplicates, one each, and tell of it."""
    for obj in session.objects(scene, "SOFT"):
        if sentence := own_mesh.ensure(obj):
            session.mark_all()
            status_bar.announce(sentence)


def prepare(objects: Iterable[bpy.types.Object]) -> None:
    """Make data that bodies need and lack: a script may have set their kind too early, or a person deleted it."""
    for obj in objects:
        on_kind_change(obj)


def check(obj: bpy.types.Object, kind: str, body_type: str = "") -> None:
    """Raise `MeshError` if an object cannot be a body of this kind, judging by its own mesh.

    `body_type`: of a soft body; empty for its present one.
    """
    if kind != "NONE":
        check_object(obj, kind)
        check_shape(obj, kind, body_type)


def check_shape(obj: bpy.types.Object, kind: str, body_type: str = "") -> None:
    """Raise `MeshError` if the shape of an object's own mesh cannot be a body of this kind; cached."""
    if kind == "COLLIDER" and instances.may_have_any(obj):
        return  # it is read evaluated when it starts
    scales = mesh_io.world_matrix(obj)[:3, :3]
    # the same however it is turned, as that is no matter
    size = np.round(scales.T @ scales / max(float(np.abs(scales).max()) ** 2, 1e-300), 4)
    mirrored = bool(np.linalg.det(scales) < 0.0)
    closing = closing_modifier(obj)
    made_of = [kind, body_type or obj.softpressure.body_type, obj.softpressure.rigid_shape, bool(obj.modifiers)]
    made_of += [kind == "SOFT" and simulation_choice.may_be_even(obj, body_type)]
    made_of += [stages.first_repeating(obj)]
    made_of += [node_trees.mesh_maker(obj)]
    name = fingerprint.of_arrays([fingerprint.of_mesh(obj), obj.name, size, mirrored, closing, *made_of])
    if obj.session_uid not in session.verdicts or session.verdicts[obj.session_uid][0] != name:
        sentence = ""
        try:
            _check_shape(obj, kind, body_type)
        except MeshError as error:
            sentence = str(error)
        session.verdicts[obj.session_uid] = name, sentence
    sentence = session.verdicts[obj.session_uid][1]
    if sentence:
        raise MeshError(sentence)


def _check_shape(obj: bpy.types.Object, kind: str, body_type: str) -> None:
    mesh: Mesh = obj.data
    if kind == "RIGID":
        if is_as_drawn(obj):  # else it is read evaluated when it starts
            rigid_shape.read(obj.name, mesh, mesh_io.world_matrix(obj), obj.softpressure.rigid_shape)
        return
    maker = node_trees.mesh_maker(obj)
    if maker:
        raise MeshError(
            f"{obj.name}: its mesh comes from the node tree of the modifier {maker}, which would not see the "
            "simulation. Apply the modifier."
        )
    matrix = mesh_io.world_matrix(obj)
    local = mesh_io.read_local(mesh)
    key = mesh_io.live_key(obj)
    if key is not None:
        local = mesh_io.read_key(mesh.shape_keys.reference_key)
    positions, triangles = mesh_io.to_world(matrix, local), mesh_io.read_triangles(mesh, matrix)
    check_surface_of(obj, kind, positions, triangles, mesh, body_type)


def closing_modifier(obj: bpy.types.Object) -> str:
    """The name of the first modifier that may close a mesh, but follows the simulation; empty if there is none."""
    return next((modifier.name for modifier in obj.modifiers if modifier.type in _CLOSING_MODIFIERS), "")


def is_as_drawn(obj: bpy.types.Object) -> bool:
    """Whether the simulation reads an object's own mesh: no modifier or key changes it before the start."""
    if obj.modifiers or obj.type != "MESH":
        return False
    return not stages.mixed_keys(obj) if obj.softpressure.kind == "SOFT" else obj.data.shape_keys is None


def check_object(obj: bpy.types.Object, kind: str) -> None:
    """Raise `MeshError` if an object cannot be a body of this kind, whatever the shape of its mesh."""
    if obj.type != "MESH" and not (kind == "COLLIDER" and instances.is_collection(obj)):
        raise MeshError(f"{obj.name}: a {obj.type.lower()} object; only meshes can be bodies. Convert it to a mesh.")
    if obj.mode == "EDIT":
        raise MeshError(f"{obj.name}: is in Edit Mode, so its shape is not settled. Leave Edit Mode (Tab).")
    check_scale(obj)
    check_ownership(obj, kind)
    if kind == "SOFT":
        check_keys(obj)
    if kind == "RIGID":
        check_motion(obj)


def on_type_change(obj: bpy.types.Object) -> None:
    """Store the problems of a soft body after its type was set."""
    if obj.softpressure.kind == "SOFT":
        on_kind_change(obj)
    else:
        session.mark_all()


def suited_type(obj: bpy.types.Object) -> str:
    """The type for a new soft body: Loop for a flat mesh or edges alone, Truss for one with inner vertices.

    A type that was chosen stays; other meshes keep the default, as do flat ones of faces without one closed outline.
    """
    settings, mesh = obj.softpressure, obj.data
    chosen = str(settings.body_type)
    if obj.type != "MESH" or obj.mode == "EDIT" or settings.is_property_set("body_type") or not len(mesh.edges):
        return chosen
    local = mesh_io.read_local(mesh)
    positions, outline = mesh_io.to_world(mesh_io.world_matrix(obj), local), mesh_io.read_outline(mesh)
    if len(mesh.polygons) and simulation_choice.may_be_even(obj):
        if not is_flat(mesh_io.to_world(mesh_io.world_matrix(obj), _as_seen(obj, local))):
            return chosen
        try:
            outline_of(obj.name, positions, outline)
        except MeshError:
            return chosen
    elif len(mesh.polygons) and not is_flat(positions):
        return chosen
    return "LOOP" if len(np.unique(outline)) == len(mesh.vertices) else "TRUSS"


def _as_seen(obj: bpy.types.Object, local: mesh_io.Float32Array) -> mesh_io.Float32Array:
    """Local vertices of an object with its modifiers, as far as it is evaluated; else `local`."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()) if obj.modifiers else obj
    return mesh_io.read_local(evaluated.data) if obj.modifiers and evaluated.is_evaluated else local


def check_surface_of(
    obj: bpy.types.Object,
    kind: str,
    positions: mesh_io.FloatArray,
    triangles: mesh_io.IntArray,
    mesh: Mesh,
    body_type: str = "",
) -> None:
    """Raise `MeshError` unless the surface captured of a mesh can be a body of this kind."""
    check_extent(obj.name, positions)
    if kind == "COLLIDER":
        used, kept = usable_part(positions, triangles)
        if np.isfinite(positions).all() and len(triangles) and not len(kept):
            raise MeshError(f"{obj.name}: all {len(triangles)} faces have zero area. Scale it or rebuild its faces.")
        check_surface(obj.name, positions[used] if len(kept) else positions, kept if len(kept) else triangles)
        return
    body_type = body_type or obj.softpressure.body_type
    if flat_shape.is_flat_body(body_type, positions):
        (check_loop if body_type == "LOOP" else outline_of)(obj.name, positions, mesh_io.read_outline(mesh))
        return
    follows = kind == "SOFT" and simulation_choice.may_be_even(obj, body_type)
    if follows and len(triangles):
        if not np.isfinite(positions).all():
            check_surface(obj.name, positions, triangles)
        if not stages.first_repeating(obj):
            return  # whatever it is like: an even mesh is made of it
    try:
        check_closed_surface(obj.name, positions, triangles)
    except MeshError as error:
        if follows and (name := stages.first_repeating(obj)):
            raise MeshError(
                f"{obj.name}: what its modifier {name} shows has no vertices, so it cannot follow. Apply the modifier."
            ) from None
        if len(mesh_io.read_outline(mesh)) and is_flat(positions):
            raise MeshError(f"{obj.name}: is flat. Choose the type Flat Outline (with gas) or Lattice.") from None
        closing = closing_modifier(obj)
        if closing and "open edges" in str(error):
            raise MeshError(f"{error} The modifier {closing} follows the simulation: apply it first.") from None
        raise


def check_size(name: str, positions: mesh_io.FloatArray) -> None:
    """Raise `MeshError` if a mesh, in metres, is too small to be simulated."""
    extent = float(np.ptp(positions, axis=0).max(initial=0.0)) if len(positions) else 0.0
    if extent < _SMALLEST:
        raise MeshError(f"{name}: is {extent:.2g} m wide, which is too small to be simulated. Scale it up.")


def usable_part(
    positions: mesh_io.FloatArray, triangles: mesh_io.IntArray
) -> tuple[mesh_io.IntArray, mesh_io.IntArray]:
    """Of a collider: the vertices of faces that have an area, and those faces in the numbers of these vertices."""
    corners = positions[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = float(np.ptp(positions, axis=0).max()) if len(positions) else 0.0
    kept = triangles[0.5 * np.linalg.norm(normals, axis=1) > 1e-14 * size * size]
    used, renumbered = np.unique(kept, return_inverse=True)
    return used.astype(np.int32), renumbered.reshape(-1, 3).astype(np.int32)


def check_scale(obj: bpy.types.Object) -> None:
    """Raise `MeshError` if the object's world matrix flattens it."""
    matrix = mesh_io.world_matrix(obj)[:3, :3]
    if not np.isfinite(matrix).all():
        raise MeshError(f"{obj.name}: its transform holds NaN or infinity. Clear it (Object > Clear).")
    stretches = np.linalg.svd(matrix, compute_uv=False)
    if stretches[2] <= _SMALLEST_SCALE_SHARE * stretches[0]:
        scale = ", ".join(f"{value:g}" for value in obj.matrix_world.to_scale())
        raise MeshError(f"{obj.name}: scale ({scale}) flattens it. Set a scale without zero, of its parents too.")


def check_motion(obj: bpy.types.Object) -> None:
    """Raise `MeshError` unless an object can be moved as a whole, and the motion written as location and rotation."""
    if obj.parent is not None and obj.parent_type != "OBJECT":
        raise MeshError(
            f"{obj.name}: its parent {obj.parent.name} is of type {obj.parent_type.title()}, which cannot be undone. "
            "Clear the parent (Alt P, Keep Transformation)."
        )
    shear = rotations.shear(mesh_io.world_matrix(obj))
    if shear > _SHEARED:
        raise MeshError(
            f"{obj.name}: is sheared by {math.degrees(math.asin(min(1.0, shear))):.2g} degrees, as its parents are "
            "scaled unevenly. Apply their scale (Ctrl A), or clear the parent."
        )


def check_ownership(obj: bpy.types.Object, kind: str) -> None:
    """Raise `MeshError` if an object is of another file, where nothing can be written; overrides keep what is theirs.

    A collider of that file is only read.
    """
    if obj.library is not None and (kind != "COLLIDER" or obj.softpressure.kind != kind):
        raise MeshError(
            f"{obj.name}: is linked from {obj.library.filepath}, where nothing of a simulation is kept. "
            "Make an override (Object > Library Override > Make)."
        )


def check_keys(obj: bpy.types.Object) -> None:
    """Raise `MeshError` if the mesh has shape keys that no other can be added to."""
    keys = obj.data.shape_keys
    if keys is not None and not keys.use_relative and len(keys.key_blocks) > 1 and not obj.softpressure.is_baked:
        raise MeshError(
            f"{obj.name}: its shape keys are absolute, which cannot be mixed with the simulated shape. "
            "Switch on Relative (Object Data > Shape Keys)."
        )


def _choose_bounciness(settings: Any) -> None:
    """Give a rigid body less bounciness than a ball, unless it was set; restore it when it is no longer rigid."""
    if settings.kind == "RIGID" and not settings.is_property_set("bounciness"):
        settings.bounciness = RIGID_BOUNCINESS
        settings.has_rigid_bounciness = True
    elif settings.kind != "RIGID" and settings.has_rigid_bounciness:
        settings.has_rigid_bounciness = False
        if settings.bounciness == np.float32(RIGID_BOUNCINESS):
            settings.property_unset("bounciness")
