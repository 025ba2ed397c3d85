#!/usr/bin/env python3
"""Draw what the presets look like: each dropped on a step, in one picture, `docs/presets.png`; wants `bpy`.

    python sample_blends/preset_sheet.py [Jelly ...]

Of each body these moments are shown, as far as they are apart: let go, lowest, highest after that, and later. With
names, only these are drawn, to build/.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "presets.png"
sys.path.append(str(ROOT / "tests" / "support"))

import extension  # noqa: E402

extension.load()

import bpy  # noqa: E402

# isort: split
import bmesh  # noqa: E402
import numpy as np  # noqa: E402
import softpressure_ext  # noqa: E402
from mathutils import Matrix  # noqa: E402
from softpressure_ext.sample_blends import sample_parts as parts  # noqa: E402
from softpressure_ext.softpressure.batch import pictures  # noqa: E402
from softpressure_ext.softpressure.bodies import materials  # noqa: E402
from softpressure_ext.softpressure.state import sessions  # noqa: E402

COLUMNS, WIDTH, HEIGHT = 3, 400, 300
#: Frames in the time in which a body falls by half of its size.
FRAMES = 12
#: Moments that are simulated, in that time.
MOMENTS = 4.0
SAMPLES = 48
#: Moments that are nearer to each other than this share of the body's size are not shown both.
CLEAR = 0.72


@dataclass(frozen=True, slots=True)
class Show:
    """What a preset is shown with."""

    size: float  # its width [m]
    mesh: Callable[[str], Any]
    colour: parts.Colour
    stripes: parts.Colour | None = None  # of the mesh's second material
    roughness: float = 0.4
    alpha: float = 1.0


def box(name: str, cuts: int, place: Callable[[np.ndarray], np.ndarray]) -> Any:
    """A cube of edge 2 m with `cuts` cuts in each direction, its vertices moved by `place`, shape (n, 3)."""
    shape = bmesh.new()
    bmesh.ops.create_cube(shape, size=2.0)
    bmesh.ops.subdivide_edges(shape, edges=list(shape.edges), cuts=cuts, use_grid_fill=True)
    for vertex, point in zip(shape.verts, place(np.array([v.co[:] for v in shape.verts])), strict=True):
        vertex.co = point
    return parts.mesh_of(name, shape)


def block(x: np.ndarray, size: tuple[float, float, float], power: float) -> np.ndarray:
    """A box with round edges, the rounder the lower the power."""
    away = (np.abs(x) ** power).sum(axis=1) ** (1.0 / power)
    return 0.5 * np.array(size) * x / away[:, None]


def pillow(x: np.ndarray) -> np.ndarray:
    """Half a metre wide, thin along its four seams."""
    thick = 1.0 - 0.8 * np.abs(x[:, :2]).max(axis=1) ** 2.5
    return np.column_stack([0.25 * x[:, :2], 0.1 * x[:, 2] * thick])


def jelly(x: np.ndarray) -> np.ndarray:
    """Out of a fluted mould, 0.2 m wide."""
    reach, turn = np.abs(x[:, :2]).max(axis=1), np.arctan2(x[:, 1], x[:, 0])
    high = 0.5 * (x[:, 2] + 1.0)
    r = 0.1 * reach * (1.0 - 0.25 * high) * (1.0 + 0.05 * reach**2 * np.cos(8.0 * turn))
    z = 0.12 * high * (1.0 - 0.22 * np.where(reach > 0.5, (2.0 * reach - 1.0) ** 2, 0.0) * high**2)
    return np.column_stack([r * np.cos(turn), r * np.sin(turn), z - 0.06])


def globe(name: str, radius: float) -> Any:
    """A sphere of six sectors in two colours, tilted."""
    shape = bmesh.new()
    bmesh.ops.create_uvsphere(shape, u_segments=24, v_segments=16, radius=radius)
    for face in shape.faces:
        middle = face.calc_center_median()
        face.material_index = int(6.0 * (math.atan2(middle.y, middle.x) / math.tau + 1.0)) % 2
    bmesh.ops.rotate(shape, verts=list(shape.verts), matrix=Matrix.Rotation(0.9, 3, (1.0, 0.4, 0.0)))
    return parts.mesh_of(name, shape)


def tube(name: str) -> Any:
    """An inner tube, which lies flat."""
    mesh = parts.torus_mesh(name, 0.36, 0.14, 48, 20)
    for vertex in mesh.vertices:
        x, y, z = vertex.co
        vertex.co = (y, z, x)
    return mesh


SHOWS = {
    "Balloon": Show(0.28, lambda name: parts.balloon_mesh(name, 0.14, 0.049), parts.CORAL, roughness=0.15),
    "Beach Ball": Show(0.4, lambda name: globe(name, 0.2), parts.SKY, (0.95, 0.95, 0.95), 0.3),
    "Basketball": Show(0.24, lambda name: parts.ball_mesh(name, 0.12), (0.70, 0.18, 0.03), roughness=0.7),
    "Water Balloon": Show(
        0.15, lambda name: parts.balloon_mesh(name, 0.075, 0.026), parts.SKY, roughness=0.1, alpha=0.75
    ),
    "Inner Tube": Show(1.0, tube, (0.05, 0.05, 0.06), roughness=0.4),
    "Cushion": Show(0.5, lambda name: box(name, 10, pillow), parts.PLUM, roughness=0.9),
    "Bouncy Castle": Show(4.0, lambda name: box(name, 14, lambda x: block(x, (4.0, 4.0, 1.8), 2.7)), parts.AMBER),
    "Jelly": Show(0.2, lambda name: box(name, 14, jelly), parts.ROSE, roughness=0.1, alpha=0.8),
    "Heavy Rubber": Show(0.3, lambda name: box(name, 10, lambda x: block(x, (0.3, 0.3, 0.3), 12.0)), parts.SLATE),
}


def add(name: str) -> Any:
    """A soft body for a preset, with its material, at the origin."""
    show = SHOWS[name]
    obj = parts.add_object(name, show.mesh(name), show.colour, show.roughness, show.alpha)
    if show.stripes is not None:
        obj.data.materials.append(parts.material("Paint", show.stripes, show.roughness))
    obj.data.shade_smooth()
    parts.add_body(obj, "SOFT")
    obj.select_set(True)
    assert bpy.ops.softpressure.apply_preset(filepath=path_of(name)) == {"FINISHED"}
    return obj


def path_of(name: str) -> str:
    """The file of a preset."""
    return str(bpy.utils.preset_find(name, materials.SUBFOLDER, display_name=True))


def drop(name: str) -> None:
    """Let a body fall on a step, and leave it at three moments."""
    scene, size = bpy.context.scene, SHOWS[name].size
    # L is its size, T the time sqrt(L / g)
    rate = FRAMES / math.sqrt(size / 9.81)
    parts.start(scene, round(FRAMES * MOMENTS) + 1)
    scene.render.fps = round(rate)
    step = [(-2.2, -0.7), (3.4, -0.7), (3.4, -0.5), (0.3, -0.5), (0.3, 0.0), (-2.2, 0.0)]
    outline = parts.rounded([(size * x, size * z) for x, z in step], 0.04 * size)
    parts.add_obstacle("Step", parts.profile_mesh("Step", outline, 2.2 * size, 24), parts.STONE, friction=0.6)
    obj = add(name)
    half = 0.5 * obj.dimensions.z
    obj.location = (-1.4 * size, 0.0, half + 0.9 * size)
    obj.softpressure.velocity = (0.9 * size / math.sqrt(size / 9.81), 0.0, 0.0)
    bpy.context.view_layer.update()
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    cache = sessions.of(scene).run.cache
    path = [cache.positions(0, frame).mean(axis=0) for frame in range(1, scene.frame_end + 1)]
    rises = np.diff([point[2] for point in path]) > 0.0
    lowest = int(np.argmax(rises)) if rises.any() else len(path) - 1
    highest = lowest + int(np.argmax([point[2] for point in path[lowest : lowest + 2 * FRAMES]]))
    shown: list[int] = []
    for number in (0, lowest, highest, len(path) - 1):
        if all(np.linalg.norm(path[number] - path[other]) > CLEAR * size for other in shown):
            leave(obj, number + 1)
            shown.append(number)
    print(f"{name}: {scene.render.fps} fps, lowest in frame {lowest + 1}, shown in {shown}", flush=True)
    obj.hide_render = True


def leave(obj: Any, frame: int) -> None:
    """Leave a copy of what a frame shows."""
    scene = bpy.context.scene
    scene.frame_set(frame)
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    copy = bpy.data.objects.new(f"{obj.name} {frame}", bpy.data.meshes.new_from_object(evaluated))
    copy.matrix_world = obj.matrix_world
    scene.collection.objects.link(copy)
    parts.smooth(copy)


def photograph(name: str, path: Path) -> None:
    """Render the scene with the name of the preset below."""
    scene, size = bpy.context.scene, SHOWS[name].size
    parts.set_stage(scene, (1.35 * size, -6.2 * size, 2.3 * size), (0.3 * size, 0.0, 0.2 * size), 48.0)
    world = next(node for node in scene.world.node_tree.nodes if node.type == "BACKGROUND")
    world.inputs["Strength"].default_value = 0.55
    letters = bpy.data.curves.new("Name", "FONT")
    letters.body, letters.size, letters.align_x = name, 0.05 * size, "CENTER"
    label = bpy.data.objects.new("Name", letters)
    scene.collection.objects.link(label)
    label.parent, label.location, label.visible_shadow = scene.camera, (0.0, -0.255 * size, -size), False
    letters.materials.append(parts.material("Ink", (0.02, 0.02, 0.03), 1.0))
    pictures.render(scene, scene.frame_current, path, (WIDTH, HEIGHT), SAMPLES)


def join(paths: list[Path], target: Path) -> None:
    """Put pictures side by side, the first at the top left."""
    pixels = pictures.tiled([pictures.read(path) for path in paths], COLUMNS, 1.0)
    result = bpy.data.images.new("sheet", pixels.shape[1], pixels.shape[0], alpha=False)
    result.pixels.foreach_set(pixels.ravel())
    image = bpy.context.scene.render.image_settings
    image.color_mode, image.compression = "RGB", 100
    result.save_render(str(target))
    print(f"{target.relative_to(ROOT)}: {target.stat().st_size} bytes")


def main(names: list[str]) -> None:
    """Draw presets, all if none is named."""
    folder = ROOT / "build" / "presets"
    folder.mkdir(parents=True, exist_ok=True)
    chosen, paths = names or list(SHOWS), []
    for name in chosen:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        drop(name)
        paths.append(folder / f"{name}.png")
        photograph(name, paths[-1])
    join(paths, folder / "some.png" if names else PICTURE)


if __name__ == "__main__":
    softpressure_ext.register()
    main(sys.argv[1:])
    extension.leave(0)
