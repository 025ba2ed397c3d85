"""Renders the pictures of the guide with Cycles: materials, light and camera of what a page has built."""

import math
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from guide import FOLDER, Pictures, Point, open_sample
from PIL import Image
from softpressure_ext.sample_blends import sample_parts as parts
from softpressure_ext.softpressure.batch import pictures
from softpressure_ext.softpressure.state import sessions

#: Of a frame beside others, and of a clip [pixels].
PART, CLIP = (400, 225), (480, 270)
SAMPLES = 12
#: Of WebP: without visible blocks on plain walls.
QUALITY = 90
#: Of soft bodies in their order, and of what the others are.
SOFT = (parts.CORAL, parts.TEAL, parts.AMBER, parts.SKY, parts.PLUM, parts.LIME)
RIGID = (parts.NAVY, parts.PLUM, parts.LIME)
WALL: parts.Colour = (0.42, 0.45, 0.50)
#: Strength of the sun [W/m2] and the angle it is seen under [rad]; strength of the sky.
SUN, SKY = (2.6, 0.2), 0.45


class Rendered(Pictures):  # type: ignore[misc]
    """Renders each picture into the folder of the guide."""

    def strip(self, name: str, frames: Sequence[int], eye: Point, target: Point, lens: float = 50.0) -> None:
        """Frames side by side."""
        dress(eye, target, lens)
        save([beside(render(frames, PART), 2)], name)

    def clip(self, name: str, frames: Sequence[int], eye: Point, target: Point, lens: float = 50.0) -> None:
        """Frames one after the other."""
        dress(eye, target, lens)
        step = (frames[1] - frames[0]) / bpy.context.scene.render.fps
        save(render(frames, CLIP), name, step)

    def gallery(self, name: str, frames: Sequence[int]) -> None:
        """A sample file, simulated as far as it is shown."""
        open_sample(name)
        light()
        bpy.context.scene.softpressure.frame_end = max(frames)
        bpy.ops.softpressure.simulate()
        save([beside(render(frames, PART), 2)], f"gallery-{name}.webp")


def dress(eye: Point, target: Point, lens: float) -> None:
    """Materials for what has none, a studio, light and camera."""
    scene: Any = bpy.context.scene
    for name in ("Camera", "Light", "Sun", "Studio"):
        if name in bpy.data.objects:
            bpy.data.objects.remove(bpy.data.objects[name])
    parts.set_stage(scene, eye, target, lens)
    light()
    for kind, colours, roughness in (("SOFT", SOFT, 0.35), ("RIGID", RIGID, 0.6), ("COLLIDER", (parts.SLATE,), 0.6)):
        for number, obj in enumerate(sessions.objects(scene, kind)):
            if not any(obj.data.materials):
                obj.data.materials.append(parts.material("Paint", colours[number % len(colours)], roughness))
    for obj in sessions.objects(scene, "COLLIDER"):
        obj.hide_render = obj.dimensions.z < 1e-6  # the floor: the studio has one
    studio = parts.add_object("Studio", backdrop(eye, target), WALL, 0.9)
    studio.data.shade_smooth()


def light() -> None:
    """Sun and sky of a stage, with more contrast."""
    bpy.data.objects["Sun"].data.energy, bpy.data.objects["Sun"].data.angle = SUN
    sky = next(node for node in bpy.context.scene.world.node_tree.nodes if node.type == "BACKGROUND")
    sky.inputs["Strength"].default_value = SKY


def backdrop(eye: Point, target: Point) -> Any:
    """A floor at z = 0 that rises to a wall behind the target, as photographers have it."""
    away = np.subtract(target, eye)[:2] / np.hypot(*np.subtract(target, eye)[:2])
    behind = 0.8 * math.dist(eye, target)
    turns = np.linspace(0.0, 0.5 * np.pi, 16)
    bend = [(behind + behind * math.sin(turn), behind * (1.0 - math.cos(turn))) for turn in turns]
    profile = np.array([(-4.0 * behind, 0.0), *bend, (2.0 * behind, 9.0 * behind)])
    side = 9.0 * behind * np.array((-away[1], away[0]))
    line = np.column_stack([target[:2] + profile[:, :1] * away, profile[:, 1]])
    points = np.concatenate([line - (*side, 0.0), line + (*side, 0.0)])
    count = len(line)
    return parts.make_mesh("Studio", points, [(k, k + 1, count + k + 1, count + k) for k in range(count - 1)])


def render(frames: Sequence[int], size: tuple[int, int]) -> list[Image.Image]:
    """Pictures of frames of the scene."""
    found, began = [], time.perf_counter()
    bpy.context.scene.render.use_persistent_data = True
    with tempfile.TemporaryDirectory() as folder:
        for frame in frames:
            path = Path(folder) / f"{frame}.png"
            pictures.render(bpy.context.scene, frame, path, size, SAMPLES)
            with Image.open(path) as image:
                found.append(image.convert("RGB"))
    print(f"guide: {len(found)} frames in {time.perf_counter() - began:.0f} s", flush=True)
    return found


def beside(images: list[Image.Image], columns: int) -> Image.Image:
    """Pictures of one size in rows, the first at the top left, with a thin gap between."""
    gap, (width, height) = 4, images[0].size
    rows = math.ceil(len(images) / columns)
    size = (columns * (width + gap) - gap, rows * (height + gap) - gap)
    whole = Image.new("RGB", size, "white")
    for number, image in enumerate(images):
        row, column = divmod(number, columns)
        whole.paste(image, (column * (width + gap), row * (height + gap)))
    return whole


def save(images: list[Image.Image], name: str, step: float = 0.0) -> None:
    """One picture, or several as a clip that repeats, `step` seconds apart."""
    path = FOLDER / name
    options: dict[str, Any] = {"quality": QUALITY, "method": 6}
    if len(images) > 1:
        options |= {"save_all": True, "append_images": images[1:], "duration": round(1000 * step), "loop": 0}
    images[0].save(path, **options)
    print(f"guide: {name}, {path.stat().st_size / 1000:.0f} kB", flush=True)
