"""Meshes and settings drawn by hypothesis, simulated in Blender."""

import contextlib
import importlib
import io
import json
import math
import signal
import time

from ..tools import child
from ..tools.pages import items

FULL, QUICK = 10_000, 100
#: Cases of a process; and the processor time that one may take [s], kernels that are not compiled yet included: among
#: others, and alone.
BATCH, PATIENCE, ENDLESS = 250, 120.0, 1200.0
FRAMES = 3
#: Settings that would only make a case slow: the size of cells and the number of threads.
LEFT_OUT = {"threads", "cell_size", "cells", "resolution"}


def _meshes(st, np, shapes):
    """Strategy of meshes: vertices and faces; closed ones, and such as people make by mistake."""
    ball, faces = shapes.icosphere(1, 0.5)
    ring, ring_faces = shapes.torus(0.5, 0.2, 8, 5)
    closed = {
        "ball": (ball, faces), "torus": (ring, ring_faces),
        "tetrahedron": (0.4 * np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)], float),
                        np.array([(0, 1, 2), (0, 3, 1), (0, 2, 3), (1, 3, 2)])),
    }  # fmt: skip

    def with_first(x, value):
        return np.concatenate([[value], x.ravel()[1:]]).reshape(x.shape)

    @st.composite
    def mesh(draw):
        name = draw(st.sampled_from(sorted(closed)))
        x, f = (part.copy() for part in closed[name])
        seed = draw(st.integers(0, 2**31))
        chance = np.random.default_rng(seed)
        x += draw(st.sampled_from([0.0, 0.0, 0.01, 0.2, 1.0])) * chance.normal(size=x.shape)
        x *= draw(st.sampled_from([1.0] * 12 + [1e-3, 1e3, 1e-12, 1e9]))
        f = [tuple(int(v) for v in face) for face in f]
        faults = {
            "open": lambda: (x, f[draw(st.integers(1, len(f) - 1)) :]), "turned": lambda: (x, [f[0][::-1], *f[1:]]),
            "twice": lambda: (x, f + f[:1]), "loose": lambda: (np.concatenate([x, [(5.0, 5.0, 5.0)]]), f),
            "flat": lambda: (x * (1.0, 1.0, 0.0), f), "one": lambda: (np.broadcast_to(x[0], x.shape), f),
            "nan": lambda: (with_first(x, draw(st.sampled_from([math.nan, math.inf, 3e38]))), f),
            "empty": lambda: (x[:0], []), "line": lambda: (x, []),
        }  # fmt: skip
        fault = draw(st.sampled_from([""] * 5 * len(faults) + list(faults)))
        x, f = faults[fault]() if fault else (x, f)
        return x.tolist(), f

    return mesh()


def _value(st, parameter):
    """Strategy of the values of a declared setting: its default times some powers of ten, its bounds, its range."""
    if isinstance(parameter.default, bool):
        return st.booleans()
    if parameter.choices:
        return st.sampled_from(parameter.names())
    low = parameter.low if parameter.low is not None else -1e6
    if isinstance(parameter.default, int):
        return st.integers(int(low), int(min(parameter.high or 4, 4)))
    high = parameter.high if parameter.high is not None else 1e6
    size = max(abs(parameter.default[0] if isinstance(parameter.default, tuple) else parameter.default), 1e-2)
    number = st.one_of(
        st.sampled_from([-2, -1, 0, 1, 2]).map(lambda power: min(max(size * 10.0**power, low), high)),
        st.floats(max(low, parameter.soft_low or low), min(high, parameter.soft_high or high)),
        st.sampled_from([low, min(high, 100.0 * size)]),
    )
    if isinstance(parameter.default, tuple):
        return st.tuples(*[st.floats(-10.0, 10.0)] * len(parameter.default))
    return number


def strategy():
    """Strategy of whole cases: bodies, and settings of the scene."""
    import numpy as np
    import shapes
    from hypothesis import strategies as st

    parameters = importlib.import_module("softpressure_ext.core.parameters")

    def settings(*bodies, solver=""):
        """Some settings of these bodies; of a scene, of those that a method reads."""
        known = {
            each.name: each
            for body in bodies
            for each in parameters.of_body(body)
            if each.name not in LEFT_OUT and (not solver or not each.solvers or solver in each.solvers)
        }
        some = st.lists(st.sampled_from(sorted(known)), max_size=5, unique=True)
        return some.flatmap(lambda names: st.fixed_dictionaries({name: _value(st, known[name]) for name in names}))

    number = st.floats(-1.5, 1.5)
    scale = st.tuples(*[st.sampled_from([1.0] * 12 + [-1.0, -2.0, 0.5, 2.0, 0.0, 1e-7])] * 3)
    body = st.fixed_dictionaries(
        {
            "mesh": _meshes(st, np, shapes), "kind": st.sampled_from(["SOFT", "SOFT", "SOFT", "RIGID", "COLLIDER"]),
            "type": st.sampled_from([""] * 6 + ["TRUSS", "SOLID", "LOOP"]), "location": st.tuples(*[number] * 3),
            "rotation": st.tuples(*[number] * 3), "scale": scale, "settings": settings(*parameters.BODIES),
        }
    )  # fmt: skip
    methods = st.one_of(st.sampled_from(["EXPLICIT", "EXPLICIT", "XPBD"]), _value(st, parameters.named("solver")))
    scene = methods.flatmap(
        lambda solver: settings("SCENE", solver=solver).map(lambda found: found | {"solver": solver})
    )
    return st.fixed_dictionaries({"bodies": st.lists(body, min_size=1, max_size=3), "scene": scene})


def build(case):
    """Make the objects of a case in an empty scene; their data before they became bodies."""
    import bpy
    from bpy_scene import add_mesh, select
    from bpy_seen import fingerprint

    bpy.data.batch_remove([*bpy.data.objects, *bpy.data.meshes])
    scene = bpy.context.scene
    scene.property_unset("softpressure")
    scene.frame_start, scene.frame_end = 1, FRAMES
    scene.frame_set(1)
    made = []
    for number, body in enumerate(case["bodies"]):
        obj = add_mesh(f"Body {number}", *body["mesh"])
        obj.location, obj.rotation_euler, obj.scale = body["location"], body["rotation"], body["scale"]
        made.append(obj)
    bpy.context.view_layer.update()
    before = {obj.name: fingerprint(obj) for obj in made}
    refused = []
    for obj, body in zip(made, case["bodies"], strict=True):
        select(obj)
        _quietly(lambda kind=body["kind"]: bpy.ops.softpressure.add_body(kind=kind), refused)
        settings = obj.softpressure
        if body["type"]:
            settings.body_type = body["type"]
        for name, value in body["settings"].items():
            setattr(settings, name, value)
    for name, value in case["scene"].items():
        setattr(scene.softpressure, name, value)
    scene.softpressure.substeps = min(scene.softpressure.substeps, 4)
    return before


def _quietly(work, said):
    """Do it; a sentence is fine, a traceback is not."""
    try:
        work()
    except RuntimeError as error:  # how operators of scripts report
        assert "Traceback" not in str(error), str(error)
        said.append(str(error))


def simulate(case):
    """Simulate a case and check it; whether it was simulated. Raises `AssertionError`."""
    import bpy
    import numpy as np
    from bpy_seen import fingerprint

    sessions = importlib.import_module("softpressure_ext.softpressure.state.sessions")
    sessions.forget_all()
    with contextlib.redirect_stderr(io.StringIO()) as errors:  # Blender prints those of a changed property
        before, said = build(case), []
    assert "Traceback" not in errors.getvalue(), errors.getvalue()
    _quietly(bpy.ops.softpressure.check, said)
    _quietly(bpy.ops.softpressure.simulate, said)
    session = sessions.of(bpy.context.scene)
    assert "Internal error" not in session.refusals.error, session.refusals.error
    cache = session.run.cache
    was_simulated = cache is not None and cache.frame_count == FRAMES
    if cache is not None:
        for frame in range(1, cache.last_frame + 1):
            for body in range(len(cache.body_names)):
                assert np.isfinite(cache.positions(body, frame)).all(), f"frame {frame}: positions are not finite"
                assert np.isfinite(cache.transform(body, frame)).all(), f"frame {frame}: a matrix is not finite"
        bpy.context.scene.frame_set(FRAMES)
    bpy.context.scene.frame_set(1)
    for obj in list(bpy.data.objects):
        obj.softpressure.kind = "NONE"
    bpy.context.view_layer.update()
    for obj in bpy.data.objects:
        after = fingerprint(obj)
        changed = [key for key in before[obj.name] | after if before[obj.name].get(key) != after.get(key)]
        assert not changed, f"{obj.name}: changed {changed}"
    return was_simulated


def batch(count, seed):
    """Draw and simulate `count` cases; a line before each, and the smallest case that fails."""
    import bpy
    from hypothesis import HealthCheck, Phase, given
    from hypothesis import seed as seeded
    from hypothesis import settings as options

    bpy.ops.wm.read_factory_settings(use_empty=True)
    done = {"cases": 0, "simulated": 0, "failed": "", "case": None}

    @seeded(seed)
    @options(
        max_examples=count, database=None, deadline=None, phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck), print_blob=False,
    )  # fmt: skip
    @given(strategy())
    def attempt(case):
        child.say("case " + json.dumps(case))
        signal.setitimer(signal.ITIMER_PROF, PATIENCE)  # ends the process, in the middle of a kernel, too
        done["cases"] += 1
        try:
            done["simulated"] += simulate(case)
        except Exception as error:
            done["failed"], done["case"] = repr(error), case  # the last one that hypothesis tries is the smallest
            raise

    try:
        attempt()
    except Exception:
        assert done["failed"]
    return done


def alone(case):
    """Simulate one case; whether it was simulated, and the processor time that it took [s]."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    signal.setitimer(signal.ITIMER_PROF, ENDLESS)
    began = time.process_time()
    return {"simulated": simulate(case), "seconds": time.process_time() - began}


def _watched(count, seed):
    """A batch in a process of its own: what it returned, or how it ended, with the case that it was at."""
    process = child.start("reliability.fuzz", "batch", {"count": count, "seed": seed})
    cases, last, end = 0, "", ""
    with process.stdout as output:
        for line in map(str.strip, output):
            if line.startswith("case "):
                cases, last = cases + 1, line[5:]
            end = line or end
    code = process.wait()
    if code == -signal.SIGPROF:
        return {"cases": cases} | _patiently(last)
    if code:
        why = f"the process ended with code {code}: {end[:300]}"
        return {"cases": cases, "simulated": 0, "failed": why, "case": last}
    return json.loads(end)


def _patiently(case):
    """A case that took long, as JSON, in a process of its own: whether it ends."""
    try:
        got = child.call("reliability.fuzz", "alone", case=json.loads(case))
        return {"simulated": int(got["simulated"]), "slow": got["seconds"]}
    except RuntimeError as error:
        return {"simulated": 0, "failed": f"more than {PATIENCE:g} s of processor time, then {error}", "case": case}


def run(count, seed=1):
    """`count` cases in processes one after the other."""
    cases = simulated = 0
    failures, slow, batches = [], [], 0
    while cases < count:
        batches += 1
        got = _watched(min(BATCH, count - cases), seed * 100_000 + batches)
        cases, simulated = cases + max(got["cases"], 1), simulated + got["simulated"]
        slow += [got["slow"]] if "slow" in got else []
        if got.get("failed"):
            failures.append({"why": got["failed"], "case": got["case"]})
            print(f"fuzz: {failures[-1]}", flush=True)
        print(f"fuzz: {cases} cases, {simulated} simulated, {len(failures)} failures", flush=True)
    return {"tried": f"{cases} cases", "simulated": simulated, "failures": failures, "slow": slow}


def values(data):
    """What stands in the text."""
    slow = f", and took up to {max(data['slow']):.0f} s" if data["slow"] else ""
    return data | {
        "found": f"{len(data['failures'])} failures", "slow": f"{len(data['slow'])} did begin again{slow}",
        "failures": items(each["why"][:300] for each in data["failures"]),
    }  # fmt: skip
