"""Suzanne, Blender's monkey, as one closed skin of triangles; needs `bpy`.

She is three parts with open eye sockets. The largest part is kept, its holes are filled, and it is subdivided.
"""

from pathlib import Path

import bpy
import numpy as np


def largest_part(mesh):
    """Vertices of the largest connected part."""
    left, largest = set(mesh.verts), []
    while left:
        part, open_ends = [], [left.pop()]
        while open_ends:
            vertex = open_ends.pop()
            part.append(vertex)
            beside = {edge.other_vert(vertex) for edge in vertex.link_edges} & left
            left -= beside
            open_ends += beside
        largest = max(largest, part, key=len)
    return largest


def suzanne(levels):
    """Positions [m] and triangles, 1 m wide, subdivided so many times."""
    import bmesh  # which is there only after bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.mesh.primitive_monkey_add(size=1.0)
    item = bpy.context.object
    work = bmesh.new()
    work.from_mesh(item.data)
    kept = set(largest_part(work))
    bmesh.ops.delete(work, geom=[vertex for vertex in work.verts if vertex not in kept], context="VERTS")
    bmesh.ops.holes_fill(work, edges=[edge for edge in work.edges if edge.is_boundary], sides=0)
    bmesh.ops.recalc_face_normals(work, faces=work.faces)
    work.to_mesh(item.data)
    work.free()
    if levels:
        item.modifiers.new("finer", "SUBSURF").levels = levels
        bpy.ops.object.modifier_apply(modifier="finer")
    item.data.calc_loop_triangles()
    positions = np.array([vertex.co for vertex in item.data.vertices])
    triangles = np.array([triangle.vertices for triangle in item.data.loop_triangles])
    return positions / np.ptp(positions[:, 0]), triangles


def write(folder):
    """Write her with 441, 1 756 and 7 018 vertices."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for levels in (0, 1, 2):
        positions, triangles = suzanne(levels)
        np.savez(Path(folder) / f"suzanne_{len(positions)}.npz", positions=positions, triangles=triangles)
