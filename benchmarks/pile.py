"""Soft bodies fall into a box, with self-contact of skins; every frame is searched for crossings.

`python benchmarks/pile.py balls|meshes [--seconds 4] [--vertices 2562] [--threads 0]`. `balls` is the sample `pile`
with finer balls; `meshes` pours six dissimilar closed meshes: Suzanne (needs the bpy wheel, which draws her), spot and
cow (from the folder that SOFTPRESSURE_MESHES names), a torus, a knot and a cube. Per frame: seconds, vertices inside
another body, triangles that cross another surface, least gap of a pair in contact, speed. At the end an independent
count of the vertices inside others, by solid angles.
"""

import argparse
import time

import measure  # noqa: F401  (makes the extension and the tests' meshes importable)
import numpy as np
import shapes
from contact_reference import inside
from softpressure_ext.core import ModelBuilder, World
from softpressure_ext.core.contact.untangle.overlap import find_overlaps
from softpressure_ext.core.topology import signed_volume

OPTIONS = {"bend_modulus": 0.01, "damping": 2.0, "bounciness": 0.6, "self_collision": True}
VERTICES = {162: 2, 642: 3, 2562: 4, 10242: 5}


def cuboid(low, high):
    """Box between two corners."""
    x, triangles = shapes.box(1.0, 1)
    return (x + 0.5) * (np.asarray(high) - low) + low, triangles


def add_box(builder, inner, high, wall=0.1):
    """Open box of the given inner half width and height [m] on z = 0."""
    outer = inner + wall
    for name, low, top in (
        ("floor", (-outer, -outer, -wall), (outer, outer, 0.0)),
        ("left", (-outer, -outer, 0.0), (-inner, outer, high)),
        ("right", (inner, -outer, 0.0), (outer, outer, high)),
        ("front", (-inner, -outer, 0.0), (inner, -inner, high)),
        ("back", (-inner, inner, 0.0), (inner, outer, high)),
    ):
        builder.add_collider(name, *cuboid(low, top))


def knot(count=120, around=12, radius=0.24):
    """Trefoil knot; the tube's frame is carried along, and where it closes the rings are joined as they fit best."""
    u = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)

    def curve(u):
        far = 2.0 + np.cos(3.0 * u)
        return 0.5 * np.stack([far * np.cos(2.0 * u), far * np.sin(2.0 * u), np.sin(3.0 * u)], axis=1)

    along = curve(u + 1e-5) - curve(u - 1e-5)
    along /= np.linalg.norm(along, axis=1)[:, None]
    across = np.cross(along[0], [0.0, 0.0, 1.0])
    frame = []
    for direction in along:
        across = across - direction * (across @ direction)
        across = across / np.linalg.norm(across)
        frame.append(across)
    side, other = np.array(frame), np.cross(along, frame)
    v = np.linspace(0.0, 2.0 * np.pi, around, endpoint=False)[None, :, None]
    x = curve(u)[:, None] + radius * (np.cos(v) * side[:, None] + np.sin(v) * other[:, None])
    shift = int(np.argmin([np.linalg.norm(np.roll(x[0], -k, axis=0) - x[-1]) for k in range(around)]))
    number = np.arange(count * around).reshape(count, around)
    ahead = np.concatenate([number[1:], np.roll(number[:1], -shift, axis=1)])
    quads = np.stack([number, ahead, np.roll(ahead, -1, axis=1), np.roll(number, -1, axis=1)], axis=-1)
    x, triangles = x.reshape(-1, 3), shapes.split_quads(quads.reshape(-1, 4))
    return x, triangles if signed_volume(x, triangles.astype(np.int32)) > 0.0 else triangles[:, ::-1]


def suzanne():
    """Blender's monkey, subdivided once: her largest part, with the holes of the eyes filled."""
    import bpy  # brings bmesh

    import bmesh  # isort: skip

    mesh = bmesh.new()
    bmesh.ops.create_monkey(mesh)
    parts, left = [], set(mesh.verts)
    while left:
        part, waiting = set(), [left.pop()]
        while waiting:
            vertex = waiting.pop()
            part.add(vertex)
            near = {edge.other_vert(vertex) for edge in vertex.link_edges} & left
            left -= near
            waiting += near
        parts.append(part)
    largest = max(parts, key=len)
    bmesh.ops.delete(mesh, geom=[vertex for vertex in mesh.verts if vertex not in largest], context="VERTS")
    bmesh.ops.holes_fill(mesh, edges=mesh.edges, sides=0)
    bmesh.ops.triangulate(mesh, faces=[face for face in mesh.faces if len(face.verts) > 4])
    drawn = bpy.data.meshes.new("Suzanne")
    mesh.to_mesh(drawn)
    thing = bpy.data.objects.new("Suzanne", drawn)
    bpy.context.collection.objects.link(thing)
    thing.modifiers.new("finer", "SUBSURF").levels = 1
    fine = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    fine.calc_loop_triangles()
    x = np.array([vertex.co for vertex in fine.vertices], float)
    return x, np.array([triangle.vertices for triangle in fine.loop_triangles])


def fitted(mesh, size, upright=False):
    """A mesh about the origin whose longest side is `size` [m]; `upright` for those made with y up."""
    x, triangles = mesh
    x = x - 0.5 * (x.max(axis=0) + x.min(axis=0))
    x = x[:, [0, 2, 1]] * [1.0, -1.0, 1.0] if upright else x
    return x * size / np.ptp(x, axis=0).max(), triangles


def balls(vertices):
    """The sample `pile`, with balls of so many vertices."""
    builder = ModelBuilder()
    for number in range(8):
        turn = np.pi * (0.5 * number + 0.25 + 0.2 * (number // 4))
        place = (0.52 * np.cos(turn), 0.52 * np.sin(turn), 0.7 + 0.5 * number)
        mesh = shapes.icosphere(VERTICES[vertices], 0.37, place)
        builder.add_membrane(
            f"ball {number + 1}", *mesh, mass=0.6, gauge_pressure=200.0, stretch_modulus=400.0, **OPTIONS
        )
    add_box(builder, 0.95, 1.0)
    return builder.build()


def meshes():
    """Six dissimilar closed meshes above each other."""
    builder = ModelBuilder()
    given = (
        ("spot", fitted(shapes.foreign_mesh("spot.obj"), 0.9, upright=True)),
        ("cow", fitted(shapes.foreign_mesh("cow.obj"), 0.9, upright=True)),
        ("torus", fitted(shapes.torus(0.35, 0.15, 32, 16), 0.9)),
        ("suzanne", fitted(suzanne(), 0.9)),
        ("knot", fitted(knot(), 0.9)),
        ("cube", fitted(shapes.box(0.6, 12), 0.55)),
    )
    for number, (name, (x, triangles)) in enumerate(given):
        place = [0.25 * np.cos(2.4 * number), 0.25 * np.sin(2.4 * number), 0.6 + 0.75 * number]
        builder.add_membrane(
            name, x + place, triangles, mass=0.6, gauge_pressure=300.0, stretch_modulus=2000.0, **OPTIONS
        )
    add_box(builder, 0.8, 1.6)
    return builder.build()


def count_inside(model, x):
    """Vertices of bodies inside another one, by solid angles."""
    total, start = 0, model.surfaces.body_triangle_start
    for body in range(model.membrane_count):
        triangles = model.surfaces.triangles[start[body] : start[body + 1]]
        low, high = x[triangles].min(axis=(0, 1)), x[triangles].max(axis=(0, 1))
        others = np.flatnonzero((model.point_body != body) & ((x > low) & (x < high)).all(axis=1))
        for first in range(0, len(others), 200):
            total += int(inside(x[others[first : first + 200]], x, triangles).sum())
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scene", choices=("balls", "meshes"))
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--vertices", type=int, choices=tuple(VERTICES), default=2562)
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    model = balls(options.vertices) if options.scene == "balls" else meshes()
    world = World(model, frame_rate=24.0, threads=options.threads)
    print(f"{model.vertex_count} vertices, {world.crossing_triangle_count} crossing triangles at the start")
    worst, began = 0, time.perf_counter()
    for frame in range(round(24 * options.seconds)):
        start = time.perf_counter()
        world.advance_frame()
        taken = time.perf_counter() - start
        state = world.save()
        found = find_overlaps(model, state.positions)
        gap = min((pair.gap for report in world.reports() for pair in report.pairs), default=np.inf)
        speed = float(np.sqrt((state.velocities[: model.vertex_count] ** 2).sum(axis=1).mean()))
        worst = max(worst, found.crossing_triangle_count, len(found.pairs))
        print(
            f"{frame:4d}  {taken:6.2f} s  inside {len(found.pairs)}  crossing {found.crossing_triangle_count}  "
            f"gap {1e3 * gap:.2f} mm  {1e3 * speed:7.1f} mm/s",
            flush=True,
        )
    total = time.perf_counter() - began
    print(
        f"most in any frame: {worst}; inside at the end, by solid angles: {count_inside(model, world.save().positions)}"
    )
    print(f"{total:.0f} s")


if __name__ == "__main__":
    main()
