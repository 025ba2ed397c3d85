"""Hostile .blend, cache and preset files: what they make the extension read, write and run.

An audit hook of Python records every file that is opened, removed or made, every process, and everything unpickled.
"""

import contextlib
import importlib
import io
import json
import os
import pickle
import random
import struct
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np

from ..tools import child
from ..tools.pages import items

FULL, QUICK = 1000, 60
#: Events of Python's audit hook that change a file or start something.
CHANGES = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.chmod", "os.truncate")
RUNS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "pickle.find_class", "socket.connect")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND


class Touch:
    """Makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


class Watch:
    """What Python does while it is on; a context."""

    def __init__(self):
        self.events, self.is_on = [], False
        sys.addaudithook(self._hook)

    def _hook(self, event, arguments):
        if not self.is_on:
            return
        if event == "open":
            path, _, flags = arguments
            if isinstance(path, (str, bytes, os.PathLike)):
                self.events.append(("write" if flags & WRITING else "read", os.fsdecode(path)))
        elif event in CHANGES:
            self.events += [("write", os.fsdecode(each)) for each in arguments if isinstance(each, (str, bytes))]
        elif event in RUNS:
            self.events.append(("run", f"{event} {arguments}"[:200]))

    def __enter__(self):
        self.events, self.is_on = [], True
        return self

    def __exit__(self, *_):
        self.is_on = False


def packed(header, **arrays):
    """A cache file of this header, a dictionary or an array, and these arrays."""
    file = io.BytesIO()
    if isinstance(header, dict):
        header = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(file, header=header, **arrays)
    return file.getvalue()


def with_member(archive, name, content):
    """A zip with one more member."""
    file = io.BytesIO(archive)
    with zipfile.ZipFile(file, "a") as members:
        members.writestr(name, content)
    return file.getvalue()


#: Values that parts of a header must not have; `mark` stands for a path.
WORSE = {
    "body_names": [["../../../x"], ["mark"], ["Ball", "Ball"], [3], None, "Ball"],
    "vertex_counts": [[-1], [2**40], ["1"], [0.5], [], None], "first_frame": [-(2**63), 2**70, "1", None, 1e300],
    "format_version": [0, "1", None, 2], "start_names": [5, [[]], None], "has_state": [False, "no"],
    "input_fingerprint": [None, {}, 5, "../x"],
}  # fmt: skip


def caches(good, mark, chance):
    """Hostile caches without end, with a word on what each is."""
    with np.load(io.BytesIO(good)) as archive:
        arrays = {key: archive[key] for key in archive.files}
    header = json.loads(arrays.pop("header").tobytes())
    objects, touch = np.array([Touch(mark)], dtype=object), pickle.dumps(Touch(mark))
    yield "objects for positions", packed(header, **arrays | {"positions": objects})
    yield "objects for the header", packed(objects, **arrays)
    yield "a pickle", touch
    array = io.BytesIO()
    np.save(array, objects, allow_pickle=True)
    yield "an array of objects", array.getvalue()
    for name in ("../../outside.npy", "/outside.npy", "header.npy"):
        yield f"a member {name}", with_member(good, name, touch)
    huge = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118)
    huge += b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,), }".ljust(117) + b"\n"
    yield "an array of 8 PB", with_member(b"", "header.npy", huge)
    for key, values in WORSE.items():
        for value in values:
            yield f"{key} {value}", packed(header | {key: [mark] if value == ["mark"] else value}, **arrays)
    for key, array in arrays.items():
        yield f"no {key}", packed(header, **{name: each for name, each in arrays.items() if name != key})
        wrong = np.full(array.shape, np.nan if array.dtype.kind == "f" else -7)
        yield f"{key} not finite, or negative", packed(header, **arrays | {key: wrong})
        yield f"{key} of another shape", packed(header, **arrays | {key: array.ravel()[:-1]})
    while True:
        damaged = bytearray(good)
        if chance.random() < 0.3:
            del damaged[chance.randrange(len(damaged)) :]
            yield "cut off", bytes(damaged)
            continue
        for _ in range(chance.choice((1, 3, 30))):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        yield "bytes changed", bytes(damaged)


PRESETS = (
    "import os; os.system('touch MARK')",
    "open('MARK', 'w')",
    "settings.mass = open('MARK', 'w') and 1.0",
    "settings.mass = (lambda: open('MARK', 'w'))()",
    "settings.id_data.name = 'x'",
    "settings.__class__ = open('MARK', 'w')",
    "[open('MARK', 'w') for _ in '1']",
    "def f(x=open('MARK', 'w')): pass",
    "class A: open('MARK', 'w')",
    'settings.mass = f\'{open("MARK", "w")}\'',
    "settings.mass: open('MARK', 'w') = 1.0",
    "@open('MARK', 'w')\ndef f(): pass",
    "settings.mass = 1.0 if open('MARK', 'w') else 2.0",
    "settings.body_type = 'NOTHING'",
    "settings.mass = " + "-" * 5000 + "1",
    "\0",
)


def blend_files(folder, mark):
    """Hostile .blend files, saved by this Blender: what each is, its path, and the folder that may be written."""
    import bpy

    kills = importlib.import_module("softpressure_ext.reliability.kills")
    for number in range(6):
        base = Path(folder, f"blend{number}")
        base.mkdir()
        kills.make(base)
        scene = bpy.context.scene
        settings, allowed = scene.softpressure, base / "simulated" / "softpressure_ball"
        scene.frame_end = 3
        what = "as it is"
        if number == 0:
            stored = settings.bl_system_properties_get(do_create=True) if bpy.app.version >= (5, 0, 0) else settings
            stored["solver"], what = 99, "a method of number 99"
        elif number == 1:
            scene.name, what = "../../outside", "a scene ../../outside"
        elif number == 2:
            settings.cache_folder, what = "//../elsewhere", "a cache folder //../elsewhere"
            allowed = base / "elsewhere" / "softpressure_ball"
        elif number == 3:
            scene["softpressure_cache"] = pickle.dumps(Touch(mark))
            settings.pack_cache, what = True, "a pickle in place of the packed cache"
        elif number == 4:
            text = bpy.data.texts.new("handlers.py")
            text.write(f"open({mark!r}, 'w')")
            text.use_module, what = True, "a text that asks to be run"
        else:
            curve = bpy.data.objects["Ball"].softpressure.driver_add("gauge_pressure")
            curve.driver.expression = f"__import__('builtins').open({mark!r}, 'w') and 1.0"
            what = "a driver that opens a file"
        path = base / "simulated" / "ball.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
        yield what, path, allowed


def attack(count, seed, folder):
    """Open `count` hostile files; what is wrong, a sentence each, and how many of each kind."""
    import bpy

    kills = importlib.import_module("softpressure_ext.reliability.kills")
    store = importlib.import_module("softpressure_ext.core.kernel_store")
    sessions = importlib.import_module("softpressure_ext.softpressure.state.sessions")
    chance, folder = random.Random(seed), Path(folder).resolve()
    mark, wrong, tried, watch = str(folder / "mark"), [], Counter(), Watch()

    def judge(what, allowed, reads=()):
        tried[what.partition(",")[0]] += 1
        inside = tuple(str(place) for place in (allowed, store.user_folder(), *reads))
        for kind, text in watch.events:
            is_code = text.endswith((".py", ".pyc", ".so", ".kernel")) or text.startswith(("/proc", "/sys"))
            is_inside = (kind == "read" and is_code) or str(Path(text).resolve()).startswith(inside)
            if kind == "run" or not is_inside:
                wrong.append(f"{what}: {kind} {text}")
        if Path(mark).exists():
            wrong.append(f"{what}: ran what was in it")
            Path(mark).unlink()
        session = sessions.of(bpy.context.scene)
        if session.refusals.error.startswith("Internal error"):
            wrong.append(f"{what}: {session.refusals.error}")

    base = folder / "base"
    base.mkdir()
    kills.make(base)
    path = base / "simulated" / kills.NAME
    cache = next((base / "simulated").glob("softpressure_*/*.npz"))
    good, blend = cache.read_bytes(), path.read_bytes()
    # kernels are unpickled when they are first called: those of a keyed and of a driven pressure before it is watched
    ball = bpy.data.objects["Ball"].softpressure
    for frame, pressure in ((1, 500.0), (3, 1000.0)):
        ball.gauge_pressure = pressure
        ball.keyframe_insert("gauge_pressure", frame=frame)
    bpy.ops.softpressure.simulate()
    for expression in ("1.0", "__import__('math').pi"):  # Blender refuses the second one
        bpy.data.objects["Ball"].animation_data_clear()
        ball.driver_add("gauge_pressure").driver.expression = expression
        bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
        bpy.ops.wm.open_mainfile(filepath=str(path))
        ball = bpy.data.objects["Ball"].softpressure
        bpy.ops.softpressure.simulate()
    for (what, content), _ in zip(caches(good, mark, chance), range(count), strict=False):
        place = chance.choice(("caches", "journals", "packed caches"))
        path.write_bytes(blend)
        for old in cache.parent.iterdir():
            old.unlink()
        if place == "caches":
            cache.write_bytes(content)
        elif place == "journals":
            cache.with_name(f"{cache.name}.frames").write_bytes(struct.pack("<Q", len(content)) + content)
            cache.with_name(f"{cache.name}.state").write_bytes(content)
        else:
            sessions.forget_all()
            bpy.ops.wm.open_mainfile(filepath=str(path))
            bpy.context.scene.softpressure.pack_cache = True
            bpy.context.scene["softpressure_cache"] = content
            bpy.ops.wm.save_mainfile()
        with watch:
            bpy.ops.wm.open_mainfile(filepath=str(path))
            for frame in (2, 1, kills.FRAMES):
                sessions.is_rendering = True  # frames are looked up and not simulated
                bpy.context.scene.frame_set(frame)
            sessions.is_rendering = False
        judge(f"{place}, {what}", cache.parent, [path])
    presets = folder / "presets" / "softpressure"
    presets.mkdir(parents=True)
    known = bpy.utils.preset_paths
    bpy.utils.preset_paths = lambda name: [*known(name), str(presets)]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.mesh.primitive_ico_sphere_add()
    bpy.ops.softpressure.add_body(kind="SOFT")
    for line in PRESETS:
        preset = presets / "hostile.py"
        preset.write_text("import bpy\nsettings = bpy.context.object.softpressure\n" + line.replace("MARK", mark))
        with watch:
            bpy.ops.softpressure.apply_preset(filepath=str(preset))
        judge(f"presets, {line[:40]!r}", presets)
    bpy.utils.preset_paths = known
    for what, file, allowed in blend_files(folder, mark):
        with watch:
            bpy.ops.wm.open_mainfile(filepath=str(file))
            bpy.context.scene.frame_set(2)
            with contextlib.suppress(RuntimeError):  # it may refuse, with a sentence
                bpy.ops.softpressure.simulate()
            bpy.ops.wm.save_mainfile()
        judge(f"files, {what}", allowed, [file, file.parent / "softpressure_ball"])
    return {"wrong": wrong, "by": tried}


def run(count, seed=1):
    """Open `count` hostile caches, and all presets and .blend files."""
    with tempfile.TemporaryDirectory() as folder:
        data = child.call("reliability.hostile", "attack", count=count, seed=seed, folder=folder)
    return data | {"tried": f"{sum(data['by'].values())} files"}


def values(data):
    """What stands in the text."""
    return {
        "tried": data["tried"], "found": f"{len(data['wrong'])} failures", "failures": items(data["wrong"][:50]),
        "kinds": ", ".join(f"{count} {kind}" for kind, count in data["by"].items()),
    }  # fmt: skip
