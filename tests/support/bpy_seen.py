"""Shared by the tests in Blender: what is seen of objects, and what the session and the panels say."""

from typing import Any

import bpy
import numpy as np
from softpressure_ext.softpressure.reports import run_state, status
from softpressure_ext.softpressure.state import sessions


def attribute(data: Any, name: str) -> Any:
    """Numbers of an attribute of a mesh."""
    found = data.attributes[name].data
    flat = np.empty(len(found), np.float32)
    found.foreach_get("value", flat)
    return flat


def fallen(frames: int) -> float:
    """How far free vertices of the stand-in for the solver have fallen [m]."""
    return 9.81 * frames * (frames + 1) / (2.0 * 24.0**2)


def shown(obj: Any) -> Any:
    """World positions of the evaluated mesh [m], as anyone would see them, shape (n, 3)."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    flat = np.empty(3 * len(evaluated.data.vertices), np.float32)
    evaluated.data.vertices.foreach_get("co", flat)
    matrix = np.array(evaluated.matrix_world)
    return flat.reshape(-1, 3).astype(float) @ matrix[:3, :3].T + matrix[:3, 3]


def rest(obj: Any) -> Any:
    """World positions of the mesh itself [m], shape (n, 3)."""
    flat = np.empty(3 * len(obj.data.vertices), np.float32)
    obj.data.vertices.foreach_get("co", flat)
    matrix = np.array(obj.matrix_world)
    return flat.reshape(-1, 3).astype(float) @ matrix[:3, :3].T + matrix[:3, 3]


def height(obj: Any) -> float:
    """Mean height of what is shown [m]."""
    return float(shown(obj)[:, 2].mean())


def this_session() -> Any:
    """The session of the scene."""
    return sessions.of(bpy.context.scene)


def this_run() -> Any:
    """Its run."""
    return this_session().run


def captured(number: int = 0) -> Any:
    """A body as the run has read it from the file."""
    assert not this_session().refusals.error
    return this_run().start.bodies[number]


def fingerprint(obj: Any) -> dict[str, Any]:
    """Everything of an object that a bake may touch, to compare bit for bit."""
    mesh = obj.data
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", flat)
    found: dict[str, Any] = {
        "vertices": flat.tobytes(),
        "polygons": [tuple(polygon.vertices) for polygon in mesh.polygons],
        "modifiers": [(m.name, m.show_viewport, m.show_render) for m in obj.modifiers],
        "attributes": sorted((a.name, a.domain, a.data_type) for a in mesh.attributes),
        "groups": [group.name for group in obj.vertex_groups],
        "matrix": [tuple(row) for row in obj.matrix_world],
        "active": (obj.active_shape_key_index, obj.show_only_shape_key),
    }
    if mesh.shape_keys is not None:
        keys = mesh.shape_keys
        found["relative"] = keys.use_relative
        found["animation"] = keys.animation_data is not None and keys.animation_data.action is not None
        for key in keys.key_blocks:
            key.points.foreach_get("co", flat)
            found[key.name] = (flat.tobytes(), key.value, key.mute, key.relative_key.name, key.vertex_group)
    return found


def problem_of(obj: Any) -> str:
    """What the panel of an object says is wrong with it."""
    bpy.context.view_layer.update()
    return status.problem_text(bpy.context.scene, obj)


def told() -> str:
    """What the panel of the scene says."""
    bpy.context.view_layer.update()
    return " ".join(status.notices(bpy.context.scene))


def state_text() -> str:
    """The state of the simulation, as the bar below Simulate says it."""
    bpy.context.view_layer.update()
    return run_state.of(bpy.context.scene).text
