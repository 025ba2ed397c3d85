"""Parts of sample scenes: simple meshes, colours, light, camera, keyframes."""

import math
from collections.abc import Sequence
from typing import Any

import bmesh
import bpy
import numpy as np
from numpy.typing import ArrayLike

from ..core.parameters import SCENE, of_body
from ..softpressure.scene_io import actions
from ..softpressure.scene_io.blender_types import DataBlock, Mesh
from ..softpressure.scene_io.mesh_io import FloatArray

Point = tuple[float, float, float]
Colour = tuple[float, float, float]
ORIGIN: Point = (0.0, 0.0, 0.0)

CORAL: Colour = (0.95, 0.20, 0.14)
AMBER: Colour = (1.00, 0.60, 0.08)
TEAL: Colour = (0.03, 0.55, 0.50)
SKY: Colour = (0.15, 0.50, 0.95)
PLUM: Colour = (0.45, 0.14, 0.50)
LIME: Colour = (0.50, 0.75, 0.12)
ROSE: Colour = (0.95, 0.40, 0.50)
NAVY: Colour = (0.10, 0.20, 0.60)
STONE: Colour = (0.70, 0.68, 0.65)
SLATE: Colour = (0.35, 0.40, 0.48)
WICKER: Colour = (0.55, 0.33, 0.14)
GLASS: Colour = (0.80, 0.90, 1.00)
#: Eight that can be told apart.
COLOURS = (CORAL, TEAL, AMBER, NAVY, ROSE, LIME, SKY, PLUM)


def start(scene: bpy.types.Scene, frame_count: int) -> None:
    """Empty a scene and set its clock: 24 frames per second, from frame 1."""
    for obj in list(scene.collection.all_objects):
        bpy.data.objects.remove(obj)
    bpy.data.orphans_purge(do_recursive=True)
    scene.render.fps, scene.render.fps_base = 24, 1.0
    scene.frame_start, scene.frame_end = 1, frame_count
    for parameter in of_body(SCENE):  # what another sample chose
        scene.softpressure.property_unset(parameter.name)
    scene.frame_set(1)


def material(name: str, colour: Colour, roughness: float = 0.5, alpha: float = 1.0) -> DataBlock:
    """A material of one colour, for every renderer."""
    made: DataBlock = bpy.data.materials.new(name)
    if made.node_tree is None:  # before Blender 5
        made.use_nodes = True
    shader = next(node for node in made.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    for key, value in (("Base Color", (*colour, 1.0)), ("Roughness", roughness), ("Alpha", alpha)):
        shader.inputs[key].default_value = value
    made.diffuse_color = (*colour, alpha)
    return made


def add_object(
    name: str, mesh: Mesh, colour: Colour, roughness: float = 0.5, alpha: float = 1.0, location: Point = ORIGIN
) -> DataBlock:
    """An object of a mesh in one colour."""
    mesh.materials.append(material(name, colour, roughness, alpha))
    obj: DataBlock = bpy.data.objects.new(name, mesh)
    obj.color, obj.location = (*colour, alpha), location
    bpy.context.scene.collection.objects.link(obj)
    return obj


def add_body(obj: bpy.types.Object, kind: str, **settings: Any) -> None:
    """Make an object a body, as a person would: select it, press the button, then change its settings."""
    for other in bpy.context.selected_objects:
        other.select_set(False)
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
    obj.softpressure.simulation_mesh = "DRAWN"  # the meshes of the samples are even, and what is shown is their motion
    bpy.ops.softpressure.add_body(kind=kind)
    for name, value in settings.items():
        setattr(obj.softpressure, name, value)
    obj.select_set(False)


def add_flat(name: str, mesh: Mesh, colour: Colour, location: Point, depth: float, **settings: Any) -> None:
    """A flat soft body in the x-z plane, drawn as thick as it is deep [m]."""
    obj = add_object(name, mesh, colour, location=location)
    modifier = obj.modifiers.new("Depth", "SOLIDIFY")
    modifier.thickness, modifier.offset = depth, 0.0
    bpy.context.view_layer.update()
    add_body(obj, "SOFT", depth=depth, **settings)


def add_soft(
    name: str, mesh: Mesh, colour: Colour, location: Point, roughness: float = 0.35, **settings: Any
) -> bpy.types.Object:
    """A soft body, drawn smoothly."""
    obj = add_object(name, mesh, colour, roughness, location=location)
    add_body(obj, "SOFT", **settings)
    smooth(obj)
    return obj


def add_ball(
    name: str, colour: Colour, radius: float, location: Point, subdivisions: int = 4, **settings: Any
) -> bpy.types.Object:
    """A soft ball, of 642 vertices unless it is told otherwise. Radius and location in metres."""
    return add_soft(name, ball_mesh(name, radius, subdivisions), colour, location, **settings)


def add_obstacle(
    name: str, mesh: Mesh, colour: Colour, alpha: float = 1.0, location: Point = ORIGIN, **settings: float
) -> bpy.types.Object:
    """A collider."""
    obstacle = add_object(name, mesh, colour, 0.8, alpha, location)
    add_body(obstacle, "COLLIDER", **settings)
    return obstacle


def add_floor(left: float, right: float, width: float, thick: float = 0.15, **settings: float) -> None:
    """A slab whose top is z = 0, from `left` to `right` along x and so wide along y [m]."""
    profile = [(left, -thick), (right, -thick), (right, 0.0), (left, 0.0)]
    add_obstacle("Floor", profile_mesh("Floor", profile, width, 1), STONE, 1.0, ORIGIN, **settings)


def add_box(
    inner: float, width: float, slice_count: int, wall: float, high: float, bevel: float = 0.03, **settings: float
) -> None:
    """A box that is open above and at both ends, from -`inner` to `inner` along x [m]."""
    outer = inner + wall
    profile = [
        (-outer, -wall), (outer, -wall), (outer, high), (inner, high), (inner, 0.0),
        (-inner, 0.0), (-inner, high), (-outer, high),
    ]  # fmt: skip
    add_obstacle(
        "Box", profile_mesh("Box", rounded(profile, bevel), width, slice_count), STONE, 1.0, ORIGIN, **settings
    )


def add_ends(inner: float, wall: float, high: float, bevel: float = 0.03, **settings: float) -> None:
    """What closes a box of `add_box` that is twice `inner` wide: a back, and a front of glass."""
    outer = inner + wall
    side = rounded([(-outer, -wall), (outer, -wall), (outer, high), (-outer, high)], bevel)
    for name, y, colour, alpha in (("Back", 1.0, STONE, 1.0), ("Front", -1.0, GLASS, 0.15)):
        place = (0.0, y * (inner + 0.5 * wall), 0.0)
        add_obstacle(name, profile_mesh(name, side, wall, 1), colour, alpha, place, **settings)


def add_solid(
    name: str, mesh: Mesh, colour: Colour, location: Point = ORIGIN, **settings: float | str
) -> bpy.types.Object:
    """A rigid body."""
    solid = add_object(name, mesh, colour, 0.6, location=location)
    add_body(solid, "RIGID", **settings)
    return solid


def add_group(obj: bpy.types.Object, name: str, lowest: float, highest: float) -> None:
    """A vertex group of the vertices between two heights in the object's own space [m]."""
    group = obj.vertex_groups.new(name=name)
    group.add([v.index for v in obj.data.vertices if lowest <= v.co.z <= highest], 1.0, "REPLACE")


def smooth(obj: bpy.types.Object) -> None:
    """Smooth shading and a Subdivision modifier, which follows the simulated shape."""
    obj.data.shade_smooth()
    modifier = obj.modifiers.new("Subdivision", "SUBSURF")
    modifier.levels, modifier.render_levels = 1, 2


def circle_mesh(name: str, count: int, radius: float) -> Mesh:
    """A face in the x-z plane with so many corners on a circle."""
    turns = 2.0 * np.pi * np.arange(count) / count
    points = np.stack([radius * np.cos(turns), np.zeros(count), radius * np.sin(turns)], axis=1)
    return make_mesh(name, points, [range(count)])


def _quads(rows: int, columns: int, rows_close: bool = False, columns_close: bool = True) -> list[list[int]]:
    """Faces of points in a grid, which may close to a tube or torus."""
    i, k = np.meshgrid(np.arange(rows - (not rows_close)), np.arange(columns - (not columns_close)), indexing="ij")
    low, high, ahead = i * columns, (i + 1) % rows * columns, (k + 1) % columns
    corners = [low + k, high + k, high + ahead, low + ahead]
    found: list[list[int]] = np.stack(corners, axis=-1).reshape(-1, 4).tolist()
    return found


def sheet_mesh(name: str, count: int, size: float) -> Mesh:
    """A square of count x count faces in the x-z plane."""
    along = size * (np.arange(count + 1) / count - 0.5)
    x, z = np.meshgrid(along, along, indexing="ij")
    points = np.stack([x, 0.0 * x, z], axis=-1).reshape(-1, 3)
    return make_mesh(name, points, _quads(count + 1, count + 1, columns_close=False))


def ball_mesh(name: str, radius: float, subdivisions: int = 4) -> Mesh:
    """An icosphere, of 642 vertices unless it is told otherwise."""
    shape = bmesh.new()
    bmesh.ops.create_icosphere(shape, subdivisions=subdivisions, radius=radius)
    return mesh_of(name, shape)


def balloon_mesh(name: str, radius: float, neck: float) -> Mesh:
    """An icosphere of 642 vertices whose lower half is drawn out to a neck, `neck` metres longer."""
    mesh = ball_mesh(name, radius)
    for vertex in mesh.vertices:
        down = max(0.0, -vertex.co.z / radius)
        narrow = 1.0 - 0.45 * down * down
        vertex.co = (narrow * vertex.co.x, narrow * vertex.co.y, vertex.co.z - neck * down * down)
    mesh.update()
    return mesh


def crate_mesh(name: str, size: Point, bevel: float = 0.03) -> Mesh:
    """A box with rounded edges."""
    shape = bmesh.new()
    bmesh.ops.create_cube(shape, size=1.0)
    bmesh.ops.scale(shape, vec=size, verts=list(shape.verts))
    bmesh.ops.bevel(shape, geom=list(shape.edges), offset=bevel, segments=2, affect="EDGES", profile=0.5)
    return mesh_of(name, shape)


def basket_mesh(name: str, radius: float, height: float, hub: tuple[float, float]) -> Mesh:
    """A round basket with a floor, standing on z = 0, and six rods from its rim to a ring of (radius, height) `hub`."""
    wall, count = 0.05, 24
    outline = [(0.0, 0.0), (0.8 * radius, 0.0), (radius, height), (radius - wall, height)]
    outline += [(0.8 * radius - wall, wall), (0.0, wall)]
    points, faces = _turned(outline, count)
    for turn in 2.0 * np.pi * np.arange(6) / 6:
        around = np.array([np.cos(turn), np.sin(turn)])
        low = (*(radius - 0.5 * wall) * around, height - 0.02)
        add_points, add_faces = _rod(np.array(low), np.array((*hub[0] * around, hub[1])), 0.018)
        faces += [[number + len(points) for number in face] for face in add_faces]
        points = np.concatenate([points, add_points])
    return make_mesh(name, points, faces)


def _turned(outline: Sequence[tuple[float, float]], count: int) -> tuple[FloatArray, list[list[int]]]:
    """The solid swept by an outline of (radius, height) around z, which starts and ends on the axis."""
    turns = 2.0 * np.pi * np.arange(count) / count
    rings = [np.stack([r * np.cos(turns), r * np.sin(turns), np.full(count, z)], axis=1) for r, z in outline[1:-1]]
    points = np.concatenate([[(0.0, 0.0, outline[0][1])], *rings, [(0.0, 0.0, outline[-1][1])]])
    last, ring = len(points) - 1, [(k, (k + 1) % count) for k in range(count)]
    faces = [[1 + k for k in (a, d, c, b)] for a, b, c, d in _quads(len(rings), count)]
    faces += [[0, 1 + ahead, 1 + k] for k, ahead in ring]
    return points, faces + [[last, last - count + k, last - count + ahead] for k, ahead in ring]


def _rod(start: FloatArray, end: FloatArray, radius: float, count: int = 8) -> tuple[FloatArray, list[list[int]]]:
    """A closed cylinder between two points [m]."""
    along = (end - start) / np.linalg.norm(end - start)
    side = np.cross(along, (0.0, 0.0, 1.0) if abs(along[2]) < 0.9 else (1.0, 0.0, 0.0))
    side /= np.linalg.norm(side)
    turns = 2.0 * np.pi * np.arange(count) / count
    ring = radius * (np.cos(turns)[:, None] * side + np.sin(turns)[:, None] * np.cross(along, side))
    caps = [list(range(count))[::-1], list(range(count, 2 * count))]
    return np.concatenate([start + ring, end + ring]), [[a, d, c, b] for a, b, c, d in _quads(2, count)] + caps


def torus_mesh(name: str, radius: float, tube_radius: float, around: int = 64, tube: int = 24) -> Mesh:
    """A torus around the x axis."""
    turn = 2.0 * np.pi * np.arange(around)[:, None] / around
    roll = 2.0 * np.pi * np.arange(tube)[None, :] / tube
    distance = radius + tube_radius * np.cos(roll)
    x = np.broadcast_to(tube_radius * np.sin(roll), (around, tube))
    points = np.stack([x, distance * np.cos(turn), distance * np.sin(turn)], axis=-1)
    return make_mesh(name, points.reshape(-1, 3), _quads(around, tube, rows_close=True))


def profile_mesh(name: str, profile: ArrayLike, width: float, slice_count: int) -> Mesh:
    """A profile in the x-z plane, anticlockwise seen from -y, drawn out along y to a closed solid in slices."""
    outline = np.asarray(profile, dtype=float)
    count = len(outline)
    points = np.zeros((slice_count + 1, count, 3))
    points[:, :, [0, 2]] = outline
    points[:, :, 1] = np.linspace(-0.5 * width, 0.5 * width, slice_count + 1)[:, None]
    faces = [list(range(count)), [slice_count * count + k for k in reversed(range(count))]]
    return make_mesh(name, points.reshape(-1, 3), faces + _quads(slice_count + 1, count))


def rounded(outline: Sequence[tuple[float, float]], radius: float, step_count: int = 4) -> list[tuple[float, float]]:
    """An anticlockwise outline with an arc instead of each outward corner."""
    corners = np.asarray(outline, dtype=float)
    result: list[tuple[float, float]] = []
    for before, corner, after in zip(np.roll(corners, 1, 0), corners, np.roll(corners, -1, 0), strict=True):
        back, ahead = before - corner, after - corner
        back, ahead = back / np.hypot(*back), ahead / np.hypot(*ahead)
        if ahead[0] * back[1] - ahead[1] * back[0] <= 0.0:  # an inward corner
            result.append((float(corner[0]), float(corner[1])))
            continue
        half = 0.5 * math.acos(float(np.clip(back @ ahead, -1.0, 1.0)))
        towards = (back + ahead) / np.hypot(*(back + ahead))
        centre = corner + radius / math.sin(half) * towards
        first = corner + radius / math.tan(half) * back - centre
        sweep = math.pi - 2.0 * half
        for angle in np.linspace(0.0, sweep, step_count + 1):
            c, s = math.cos(angle), math.sin(angle)
            point = centre + (c * first[0] - s * first[1], s * first[0] + c * first[1])
            result.append((float(point[0]), float(point[1])))
    return result


def mesh_of(name: str, shape: bmesh.types.BMesh) -> Mesh:
    """A mesh of what was built, which is freed."""
    mesh = bpy.data.meshes.new(name)
    shape.to_mesh(mesh)
    shape.free()
    return mesh


def make_mesh(name: str, points: ArrayLike, faces: Sequence[Sequence[int]]) -> Mesh:
    """A mesh of these vertices [m] and faces."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.asarray(points, dtype=float).tolist(), [], [list(face) for face in faces])
    mesh.update()
    return mesh


def animate(obj: bpy.types.Object, path: str, axis: int, keys: Sequence[tuple[int, float]], linear: bool) -> None:
    """Keyframes (frame, value) of one channel of a transform; eased unless linear."""
    for frame, value in keys:
        getattr(obj, path)[axis] = value
        obj.keyframe_insert(path, index=axis, frame=frame)
    for curve in actions.curves(obj):
        if (curve.data_path, curve.array_index) == (path, axis):
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR" if linear else "BEZIER"


def set_stage(scene: bpy.types.Scene, eye: Point, target: Point, focal_length: float) -> None:
    """A camera at `eye` that looks at `target`, a sun, and a light background."""
    camera = bpy.data.cameras.new("Camera")
    camera.lens = focal_length
    scene.camera = _link(scene, bpy.data.objects.new("Camera", camera), eye)
    _look(scene.camera, eye, target)
    scene.render.resolution_x, scene.render.resolution_y = 1280, 720

    light = bpy.data.lights.new("Sun", "SUN")
    light.energy, light.angle = 1.8, 0.15
    sun = _link(scene, bpy.data.objects.new("Sun", light), (-4.0, -6.0, 9.0))
    _look(sun, sun.location[:], (0.0, 0.0, 0.0))

    world: DataBlock = bpy.data.worlds.new("Background")
    world.color = (0.80, 0.85, 0.90)
    if world.node_tree is None:
        world.use_nodes = True
    background = next(node for node in world.node_tree.nodes if node.type == "BACKGROUND")
    background.inputs["Color"].default_value = (*world.color, 1.0)
    background.inputs["Strength"].default_value = 0.7
    scene.world = world
    scene.view_settings.view_transform = "Standard"


def _link(scene: bpy.types.Scene, obj: bpy.types.Object, location: Point) -> bpy.types.Object:
    scene.collection.objects.link(obj)
    obj.location = location
    return obj


def _look(obj: bpy.types.Object, eye: Sequence[float], target: Sequence[float]) -> None:
    """Turn an object whose -z axis points ahead (cameras, lights) towards a point."""
    x, y, z = (b - a for a, b in zip(eye, target, strict=True))
    obj.rotation_euler = (0.5 * math.pi + math.atan2(z, math.hypot(x, y)), 0.0, math.atan2(-x, y))
