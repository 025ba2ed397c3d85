"""Meshes as artists have them, default settings, against Blender's Cloth with pressure. Needs `bpy`.

Each mesh is made 2 m large and dropped 0.2 m on a floor: by us at NORMAL and DRAFT, with self-contact, and by Cloth
(quality 5, no self-collision, the same mass, stiffness and gas), in turns. Where Cloth explodes it also runs at the
lowest quality at which it does not: only that is the same work. The folder that SOFTPRESSURE_MESHES names has the .obj
files. Times are on the clock, so nothing else may run.
"""

import math
import os
import statistics
import sys
import time

import numpy as np

from ..tools.pages import number, table

#: Meshes of files, and Blender's own: how they are added, with which settings.
FILES = ("cow", "spot", "stanford-bunny", "teapot")
PRIMITIVES = {
    "Suzanne": ("monkey", {}),
    "UV sphere": ("uv_sphere", {"segments": 128, "ring_count": 61}),
    "tire": ("torus", {"major_segments": 96, "minor_segments": 48}),
    **{f"icosphere {n}": ("ico_sphere", {"subdivisions": n}) for n in (3, 4, 5, 6)},
}
TEXT = "text"
#: Size of each body and its distance from the floor [m]; gauge pressure and atmosphere [Pa], modulus [N/m].
SIZE, DROP, GAUGE, AMBIENT, MODULUS = 2.0, 0.2, 2_000.0, 101_325.0, 20_000.0
#: A body has exploded if it is so many times as large as in the beginning.
EXPLODED = 10.0
DETAILS = ("NORMAL", "DRAFT")
#: Qualities of Cloth, its steps per frame: the default, and those that are tried where it explodes.
QUALITIES = (5, 6, 8, 12, 20, 40, 80)
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
    elif name == TEXT:
        add_text()
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


def add_text():
    """The word Soft as a mesh, remeshed by voxels."""
    import bpy

    bpy.ops.object.text_add(rotation=(0.5 * math.pi, 0.0, 0.0))
    text = bpy.context.object
    text.data.body, text.data.extrude = "Soft", 0.1
    bpy.ops.object.convert(target="MESH")
    bpy.context.object.data.remesh_voxel_size = 0.03
    bpy.ops.object.voxel_remesh()


def prepare(item, floor, method):
    """Give both their settings; `method`: one of our details, or a quality of Cloth."""
    import bpy
    from bpy_scene import select

    from ..softpressure.bodies import sizes
    from .engines import blender

    if method in DETAILS:
        bpy.context.scene.softpressure.detail = method
        for each, kind in ((floor, "COLLIDER"), (item, "SOFT")):
            select(each)
            bpy.ops.softpressure.add_body(kind=kind)
        return
    floor.modifiers.new("Collision", "COLLISION")
    # of equal triangles k = sqrt(3) / 2 Y
    cloth = blender.add_cloth(item, sizes.new_mass(item, "SOFT"), 0.5 * math.sqrt(3.0) * MODULUS, GAUGE, AMBIENT)
    cloth.settings.quality = method


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
        solver += sessions.of(bpy.context.scene).run.seconds[-1] if method in DETAILS else 0.0
    count = len(item.data.vertices)
    if method in DETAILS:
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
    for method in (*DETAILS, QUALITIES[0]):
        drop("icosphere 3", method, 2)  # loads what the solvers consist of
    rows = []
    for name in (*FILES, TEXT, *PRIMITIVES):
        stays = next((each for each in QUALITIES if not drop(name, each, FRAMES)["exploded"]), None)
        methods = dict.fromkeys((*DETAILS, QUALITIES[0], stays or QUALITIES[0]))
        found = {method: [] for method in methods}
        for method in ROUNDS * list(methods):
            found[method].append(drop(name, method, FRAMES))
        row = {"mesh": name, "drawn": found[QUALITIES[0]][0]["vertices"], "quality": stays}
        for method, runs in found.items():
            row[str(method)] = {key: statistics.median(each[key] for each in runs) for key in runs[0]}
            row[str(method)]["start"] = runs[0]["start"]  # later ones find the even mesh in memory
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
    return {"rows": rows}


def values(data):
    """What stands in the text."""
    rows = []
    for row in data["rows"]:
        quality, default = row["quality"], row[str(QUALITIES[0])]["ms_per_frame"]
        ours = [row[detail]["ms_per_frame"] for detail in DETAILS]
        told = [*(number(each, 2) for each in (*ours, default)), ""]
        if quality != QUALITIES[0]:
            told[2:] = f"{told[2]} †", f"none up to quality {QUALITIES[-1]}"
        if quality is not None:
            cloth = row[str(quality)]["ms_per_frame"]
            told[:2] = (f"{number(each, 2)} ({number(cloth / each, 2)})" for each in ours)
            told[3] = f"{number(cloth, 2)} (quality {quality})" if quality != QUALITIES[0] else ""
        rest = [number(ours[0] - row["NORMAL"]["solver"], 2), number(row["NORMAL"]["start"], 2)]
        rows.append([row["mesh"], f"{row['drawn']:,}", *told, *rest])
    head = ["mesh", "drawn vertices", *DETAILS, "Cloth", "Cloth that stays", "beside", "start"]
    return {"table": table(head, rows)}
