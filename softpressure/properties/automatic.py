"""Settings whose 0 is automatic: a box in the panel to set one's own value, and the number that is taken else."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from bpy.props import BoolProperty

from ..scene_io import mesh_io, simulation_mesh_choice, units
from ..state import sessions

#: The settings, and what each begins with where its automatic value is not known.
NAMES = {"thickness": 0.01, "cell_size": 0.1, "depth": 0.1, "simulation_vertices": 1_000, "threads": 1}
_UNKNOWN = "Automatic"


def box_of(name: str) -> str:
    """The property of the box of a setting."""
    return f"own_{name}"


def is_own(settings: Any, name: str) -> bool:
    """Whether a setting has a value of its own."""
    return bool(getattr(settings, name) > 0)


def value(settings: Any, name: str) -> float | None:
    """The automatic value of a setting, in Blender units; None if it is not known yet."""
    if name == "threads":
        world = sessions.of(settings.id_data).run.world
        if world is None:
            return None
        from ...core.threads import thread_count

        return thread_count(settings.solver, world.model.vertex_count)
    obj, scene = settings.id_data, bpy.context.scene
    assert scene is not None
    if name == "simulation_vertices":
        return simulation_mesh_choice.vertex_count(scene, obj)
    if name == "cell_size":
        return _cell_size(scene, obj)
    run = sessions.of(scene).run
    if run.world is None or obj.session_uid not in run.object_uids:
        return None
    model, body = run.world.model, run.object_uids.index(obj.session_uid)
    if name == "depth" and body >= len(model.flat.depth):
        return None
    return float((model.thickness if name == "thickness" else model.flat.depth)[body]) / units.metres_per_unit(scene)


def _cell_size(scene: bpy.types.Scene, obj: bpy.types.Object) -> float | None:
    """Of the mesh as it is drawn; read anew after a change alone. None for an outline that is none."""
    if obj.type != "MESH" or mesh_io.is_edited(obj) or not len(obj.data.vertices):
        return None

    from ...core import MeshError
    from ...core.bodies.automatic_cells import automatic_cell_size
    from ...core.bodies.flat.outline import is_flat
    from ..scene_io import flat_shape

    def cell_size() -> float | None:
        positions, inside, outline = flat_shape.rest_positions(obj), None, None
        if is_flat(positions):
            outline = mesh_io.read_outline(obj.data)
        else:
            inside = mesh_io.read_triangles(obj.data, mesh_io.world_matrix(obj))
        try:
            size = automatic_cell_size(
                obj.name, positions, inside, outline, simulation_mesh_choice.vertex_count(scene, obj)
            )
        except MeshError:
            return None
        return size if np.isfinite(size) else None

    found: float | None = sessions.memo.get(("cell size", obj.session_uid), cell_size)
    return found


def text(settings: Any, name: str) -> str:
    """The automatic value as a row shows it."""
    found = value(settings, name)
    if found is None:
        return _UNKNOWN
    if name in ("threads", "simulation_vertices"):
        return f"{found:,.0f}"
    scene = bpy.context.scene
    return units.length_text(scene, found * units.metres_per_unit(scene))


def _getter(name: str) -> Callable[[Any], bool]:
    return lambda settings: is_own(settings, name)


def _setter(name: str) -> Callable[[Any, bool], None]:
    def set_own(settings: Any, is_on: bool) -> None:
        if is_on and not is_own(settings, name):
            found = value(settings, name) or NAMES[name]
            setattr(settings, name, found if isinstance(found, int) else float(f"{found:.3g}"))
        elif not is_on:
            settings.property_unset(name)

    return set_own


def boxes(*names: str) -> dict[str, Any]:
    """The properties of the boxes of these settings, for the annotations of a class."""
    return {
        box_of(name): BoolProperty(
            name="Set",
            description="Set a value instead of the automatic one",
            get=_getter(name),
            set=_setter(name),
            options={"HIDDEN", "SKIP_SAVE"},
        )
        for name in names
    }
