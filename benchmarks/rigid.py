"""A thousand rigid boxes fall on a plane: ours beside Blender's own rigid bodies, in one run, taking turns.

`python benchmarks/rigid.py [--side 10] [--seconds 4] [--runs 5] [--output FILE]` needs the bpy wheel. Per engine: time
per simulated second (median of the runs), the lowest corner over all frames (below 0 is sunk), and the motion per frame
that is left at the end, as a share of the boxes' size.
"""

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

import measure
import numpy as np
from softpressure_ext.core import ModelBuilder, World

SIZE, PITCH, FRAME_RATE, SUBSTEPS = 0.5, 0.55, 24, 10


def places(side):
    """Centres of the boxes [m], side^3 of them, a little beside a grid; the lowest fall 0.25 m."""
    random = np.random.default_rng(1)
    grid = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), axis=-1).reshape(-1, 3).astype(float)
    centres = grid * PITCH - [(side - 1) * PITCH / 2, (side - 1) * PITCH / 2, -0.5]
    centres[:, :2] += random.uniform(-0.01, 0.01, (len(centres), 2))
    return centres


def cube():
    """Corners and squares of a box, outward."""
    corners = np.array([(x, y, z) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]) * SIZE / 2
    return corners, [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (1, 3, 7, 5), (3, 2, 6, 7), (2, 0, 4, 6)]


class Ours:
    """The extension's core."""

    name = "Soft Pressure"

    def __init__(self, centres):
        corners, squares = cube()
        triangles = np.array([t for a, b, c, d in squares for t in ((a, b, c), (a, c, d))])
        builder = ModelBuilder()
        for number, centre in enumerate(centres):
            builder.add_rigid(f"box {number}", corners + centre, triangles, mass=1.0)
        builder.add_collider("ground", np.array([(-40.0, -40, 0), (40, -40, 0), (0, 60, 0)]), np.array([(0, 1, 2)]))
        self.world = World(builder.build(), frame_rate=FRAME_RATE, substeps=SUBSTEPS)
        self.count = len(centres)

    def advance(self, frame):
        self.world.advance_frame()

    def corners(self):
        return np.concatenate([self.world.rigid_positions(number) for number in range(self.count)])


class Blender:
    """Blender's rigid body world (Bullet), its own defaults: 10 substeps per frame, 10 iterations."""

    def __init__(self, centres):
        import bpy

        self.bpy, self.name = bpy, f"Blender {bpy.app.version_string}"
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self.scene = bpy.context.scene
        self.scene.render.fps, self.scene.frame_start, self.scene.frame_end = FRAME_RATE, 1, 10_000
        bpy.ops.rigidbody.world_add()
        self.scene.rigidbody_world.point_cache.frame_end = 10_000
        corners, squares = cube()
        mesh = bpy.data.meshes.new("box")
        mesh.from_pydata(corners.tolist(), [], squares)
        ground = bpy.data.meshes.new("ground")
        ground.from_pydata((corners * [160.0, 160.0, 1.0]).tolist(), [], squares)
        self.boxes = [self._add(mesh, centre) for centre in centres]
        self._make_rigid([self._add(ground, (0.0, 0.0, -SIZE / 2))], "PASSIVE")
        self._make_rigid(self.boxes, "ACTIVE")
        self.local = corners
        self.scene.frame_set(1)

    def _add(self, mesh, place):
        item = self.bpy.data.objects.new(mesh.name, mesh)
        item.location = place
        self.scene.collection.objects.link(item)
        return item

    def _make_rigid(self, items, kind):
        with self.bpy.context.temp_override(object=items[0], active_object=items[0], selected_objects=items):
            self.bpy.ops.rigidbody.objects_add(type=kind)
        for item in items:
            item.rigid_body.collision_shape = "BOX"
            item.rigid_body.mass = 1.0

    def advance(self, frame):
        self.scene.frame_set(frame + 2)

    def corners(self):
        matrices = np.array([item.matrix_world for item in self.boxes])
        turned = np.einsum("bij,cj->bci", matrices[:, :3, :3], self.local)
        return (turned + matrices[:, None, :3, 3]).reshape(-1, 3)


def run(engine, seconds):
    """Time per simulated second [ms], lowest corner [m] and motion in the last frame, of an engine's scene."""
    frames, spent, lowest = round(seconds * FRAME_RATE), 0.0, np.inf
    now = engine.corners()
    for frame in range(frames):
        began = time.perf_counter()
        engine.advance(frame)
        spent += time.perf_counter() - began
        before, now = now, engine.corners()
        lowest = min(lowest, now[:, 2].min())
    motion = np.sqrt(np.mean(np.sum((now - before) ** 2, axis=1))) / SIZE
    return {"ms": 1e3 * spent / seconds, "lowest": float(lowest), "motion": float(motion)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--side", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args(sys.argv[1:])
    centres = places(arguments.side)
    run(Ours(places(2)), 0.5)  # compile
    rows = {}
    for _ in range(arguments.runs):
        for engine in (Ours, Blender):
            made = engine(centres)
            rows.setdefault(made.name, []).append(run(made, arguments.seconds))
    table = {
        name: {key: statistics.median(row[key] for row in found) for key in found[0]} for name, found in rows.items()
    }
    for name, row in table.items():
        print(f"{name:16} {row['ms']:8.0f} ms/s   lowest {row['lowest']:+.5f} m   motion {row['motion']:.1e}")
    names = list(table)
    print(f"ratio {table[names[1]]['ms'] / table[names[0]]['ms']:.2f}")
    if arguments.output:
        arguments.output.write_text(json.dumps({"machine": measure.machine(), "rows": rows, "median": table}, indent=2))


if __name__ == "__main__":
    main()
