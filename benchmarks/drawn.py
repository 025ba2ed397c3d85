"""Meshes as artists have them, default settings, against Blender's Cloth with pressure. Needs `bpy`.

Each mesh is made 2 m large and dropped 0.2 m on a floor: by us at NORMAL and DRAFT, with self-contact, and by Cloth
(quality 5, no self-collision, the same mass, stiffness and gas), in turns. The folder that SOFTPRESSURE_MESHES names
has the .obj files. Times are on the clock, so nothing else may run.
"""

import math
import os
import statistics
import sys
import time

import numpy as np

from ..tools.pages import number, table

#: Meshes of files, and Blender's own: how they are added, with which settings.
FILES = ("cow", "spot", "stanford-bunny")
PRIMITIVES = {
    "Suzanne": ("monkey", {}),
    "UV sphere": ("uv_sphere", {"segments": 128, "ring_count": 61}),
    **{f"icosphere {n}": ("ico_sphere", {"subdivisions": n}) for n in (3, 4, 5, 6)},
}
#: Size of each body and its distance from the floor [m]; gauge pressure and atmosphere [Pa], modulus [N/m].
SIZE, DROP, GAUGE, AMBIENT, MODULUS = 2.0, 0.2, 2_000.0, 101_325.0, 20_000.0
#: A body has exploded if it is so many times as large as in the beginning.
EXPLODED = 10.0
METHODS = ("NORMAL", "DRAFT", "CLOTH")
FRAMES, ROUNDS = 48, 3


def add_body(name):
    """The mesh of a name above a floor, in an empty file."""
    import bpy

    from ..softpressure.state import sessions

    bpy.ops.wm.read_factory_settings(use_empty=True)
    sessions.forget_all()
    if name in PRIMITIVES:
        kind, settings = PRIMITIVES[name]
        getattr(bpy.ops.mesh, f"primitive_{kind}_add")(**settings)
    else:
        bpy.ops.wm.obj_import(filepath=f"{os.environ['SOFTPRESSURE_MESHES']}/{name}.obj")
    item = bpy.context.selected_objects[0]
    bpy.context.view_layer.objects.active = item
    mesh, flat = item.data, np.empty(3 * len(item.data.vertices), np.float32)
    mesh.vertices.foreach_get("co", flat)
    x = flat.reshape(-1, 3) @ np.array(item.matrix_world.to_3x3()).T
    x *= SIZE / np.ptp(x, axis=0).max()
    mesh.vertices.foreach_set("co", (x - x.min(axis=0) + (0.0, 0.0, DROP)).astype(np.float32).ravel())
    item.matrix_world = np.eye(4)
    bpy.ops.mesh.primitive_plane_add(size=40.0)
    return item, bpy.context.object


def prepare(item, floor, method):
    """Give both their settings."""
    import bpy
    from bpy_scene import select

    from ..softpressure.bodies import sizes
    from .engines import blender

    if method != "CLOTH":
        bpy.context.scene.softpressure.detail = method
        for each, kind in ((floor, "COLLIDER"), (item, "SOFT")):
            select(each)
            bpy.ops.softpressure.add_body(kind=kind)
        return
    floor.modifiers.new("Collision", "COLLISION")
    # of equal triangles k = sqrt(3) / 2 Y
    blender.add_cloth(item, sizes.new_mass(item, "SOFT"), 0.5 * math.sqrt(3.0) * MODULUS, GAUGE, AMBIENT)


def drop(name, method, frames):
    """Seconds until the first frame is there, milliseconds per frame, those of the solver, vertices, and whether the
    body exploded.
    """
    import bpy

    from ..softpressure.state import sessions

    item, floor = add_body(name)
    began = time.perf_counter()
    prepare(item, floor, method)
    bpy.context.scene.frame_set(1)
    start, times, solver = time.perf_counter() - began, [], 0.0
    for frame in range(2, frames + 2):
        began = time.perf_counter()
        bpy.context.scene.frame_set(frame)
        item.evaluated_get(bpy.context.evaluated_depsgraph_get())
        times.append(time.perf_counter() - began)
        solver += sessions.of(bpy.context.scene).run.seconds[-1] if method != "CLOTH" else 0.0
    count = len(item.data.vertices)
    if method != "CLOTH":
        state = sessions.of(bpy.context.scene)
        assert not state.refusals.error, state.refusals.error
        count = len(state.run.start.bodies[0].positions)
    found = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    extent = max(max(abs(x) for x in corner) for corner in found.bound_box)
    exploded = not extent < EXPLODED * SIZE
    taken, solver = (1e3 * each / frames for each in (sum(times), solver))
    return {"start": start, "ms_per_frame": taken, "solver": solver, "vertices": count, "exploded": exploded}


def run(_python, _before):
    """A row for each mesh: medians of the rounds."""
    import softpressure_ext

    softpressure_ext.register()
    for method in METHODS:
        drop("icosphere 3", method, 2)  # loads what the solvers consist of
    rows = []
    for name in (*FILES, *PRIMITIVES):
        found = {method: [] for method in METHODS}
        for method in ROUNDS * METHODS:
            found[method].append(drop(name, method, FRAMES))
        row = {"mesh": name, "drawn": found["CLOTH"][0]["vertices"]}
        for method, runs in found.items():
            row[method] = {key: statistics.median(each[key] for each in runs) for key in runs[0]}
            row[method]["start"] = runs[0]["start"]  # later ones find the even mesh in memory
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
    return {"rows": rows}


def values(data):
    """What stands in the text."""
    rows = []
    for row in data["rows"]:
        cloth = row["CLOTH"]["ms_per_frame"]
        ours = [row[detail]["ms_per_frame"] for detail in ("NORMAL", "DRAFT")]
        told = [f"{number(each, 2)} ({number(cloth / each, 2)})" for each in ours]
        mark = " †" if row["CLOTH"]["exploded"] else ""
        rest = [number(ours[0] - row["NORMAL"]["solver"], 2), number(row["NORMAL"]["start"], 2)]
        rows.append([row["mesh"], f"{row['drawn']:,}", *told, f"{number(cloth, 2)}{mark}", *rest])
    return {"table": table(["mesh", "drawn vertices", "NORMAL", "DRAFT", "Cloth", "beside", "start"], rows)}
