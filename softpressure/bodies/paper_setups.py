"""*Set Up as in ...*: the method, its options and the quantities of each of the five texts, for any mesh.

Texts give one spring constant to all edges and one mass to all points, so how long a step may be depends on these two
alone, and not on the mesh: each setup has its number of steps per second. Where the gas is not given, its pressure is
so much times spring constant over size, so that a body of any size is stretched alike.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import bpy

from ..scene_io import mesh_io, units


class Setup(NamedTuple):
    """What a text sets."""

    label: str
    about: str
    steps: int  # per second
    scene: Mapping[str, Any]
    body: Mapping[str, Any]  # of each soft body
    body_type: str = ""  # where it is not the one that suits the mesh
    pressure: float = 0.0  # over spring constant and size, 0 where the body has no gas
    frame_rate: int = 0  # that the scene gets; 0 leaves it


_POINTS = {"stiffness_by": "SPRING", "mass_by": "POINTS"}
_SKIN = {**_POINTS, "gas_by": "PRESSURE", "bend_modulus": 0.0, "simulation_mesh": "DRAWN"}

SETUPS: dict[str, Setup] = {
    "MATYKA": Setup(
        "Matyka 2004", "Explicit Euler; a skin that blows up first and falls afterwards", 720,
        {"solver": "EXPLICIT_EULER", "ambient_pressure": 0.0, "ramp_time": 1.0},
        {**_SKIN, "spring_constant": 6_000.0, "point_mass": 0.05, "damping": 3.0, "bounciness": 0.1},
        pressure=0.15,
    ),
    "MESIT": Setup(
        "Mesit, Guha and Chaudhry 2007", "The simplified implicit method; the gas has the volume of its bounding box",
        432,
        {"solver": "IMPLICIT_MESIT", "ambient_pressure": 0.0, "volume_rule": "BOUNDING_BOX", "restore_momentum": False},
        {**_SKIN, "spring_constant": 1_000.0, "point_mass": 0.1, "damping": 2.0, "bounciness": 0.5},
        pressure=0.33,
    ),
    "MARTIN": Setup(
        "Martin 2009", "Runge-Kutta at 60 Hz, damping in every step, pressure by springs, feature particles", 60,
        {
            "solver": "RK4_MARTIN", "ambient_pressure": 0.0, "pressure_spread": "VALENCE", "use_step_damping": True,
            "stiffest_spring": 400.0, "detection": "FEATURE_PARTICLES",
        },
        {**_SKIN, "spring_constant": 150.0, "point_mass": 0.1, "damping": 0.0, "bounciness": 0.5},
        pressure=0.5, frame_rate=60,
    ),
    "KURMALY": Setup(
        "Kurmaly and Wu 2021", "Runge-Kutta; a truss whose particles keep apart, reflected at the ground", 480,
        {"solver": "RK4", "ambient_pressure": 0.0, "collider_rule": "REFLECTION"},
        {**_POINTS, "spring_constant": 900.0, "point_mass": 0.05, "damping": 2.0, "particle_radius": 0.4,
         "cell_size": 0.0},
        body_type="TRUSS",
    ),
    "XPBD": Setup(
        "The XPBD page", "Small steps; a solid whose tetrahedra keep their volumes", 480,
        {"solver": "XPBD"},
        {
            "stiffness_by": "MODULUS", "mass_by": "TOTAL", "modulus": 50_000.0, "volumes_by": "COMPLIANCE",
            "volume_compliance": 0.0, "damping": 2.0, "bounciness": 0.0,
            "cell_size": 0.0,
        },
        body_type="SOLID",
    ),
}  # fmt: skip


def set_scene(scene: bpy.types.Scene, name: str) -> None:
    """Give a scene the method of a text; other choices of methods go back to their defaults."""
    setup, settings = SETUPS[name], scene.softpressure
    for choice in {key for each in SETUPS.values() for key in each.scene} - {"solver"}:
        settings.property_unset(choice)
    for key, value in setup.scene.items():
        setattr(settings, key, value)
    if setup.frame_rate:
        scene.render.fps, scene.render.fps_base = setup.frame_rate, 1.0
    frames = scene.render.fps / scene.render.fps_base / settings.speed
    settings.substeps = max(1, math.ceil(setup.steps / frames))


def apply(scene: bpy.types.Scene, name: str, objects: Iterable[bpy.types.Object]) -> tuple[list[str], list[str]]:
    """Set up a scene and make soft bodies of meshes as a text has them.

    Returns what was done, and why not the rest, one sentence per object.
    """
    from .setup import add_all  # which loads the core

    setup, given, flat = SETUPS[name], list(objects), list[str]()
    editing = [obj.name for obj in given if mesh_io.is_edited(obj)]
    empty = [obj.name for obj in given if not mesh_io.is_edited(obj) and not max(obj.dimensions[:]) > 0.0]
    chosen = [obj for obj in given if obj.name not in (*editing, *empty)]
    if setup.body_type == "SOLID":
        flat = [obj.name for obj in chosen if _is_flat(obj)]
        chosen = [obj for obj in chosen if obj.name not in flat]
    notes, refusals = add_all(scene, [obj for obj in chosen if obj.softpressure.kind != "SOFT"], "SOFT")
    refusals += [f"{each}: is in Edit Mode. Leave it (Tab), then try again." for each in editing]
    refusals += [f"{each}: has no size, so it has no inside. Give it faces, then try again." for each in empty]
    refusals += [f"{each}: is flat, and has no volume to keep. Give it a thickness, then try again." for each in flat]
    for obj in chosen:
        settings = obj.softpressure
        if settings.kind != "SOFT":
            continue
        body_type = setup.body_type or ("LOOP" if _is_flat(obj) else "MEMBRANE")
        if settings.body_type != body_type:
            settings.body_type = body_type
        for key, value in setup.body.items():
            setattr(settings, key, value)
        if setup.pressure > 0.0:
            size = max(obj.dimensions[:]) * units.metres_per_unit(scene)
            settings.gauge_pressure = setup.pressure * settings.spring_constant / size
        notes.append(f"{obj.name}: set up as in {setup.label}")
    if notes:
        set_scene(scene, name)
    return notes, refusals


def _is_flat(obj: bpy.types.Object) -> bool:
    """Whether the own vertices of an object lie in a plane."""
    from ...core.bodies.flat.outline import is_flat

    return bool(is_flat(mesh_io.to_world(mesh_io.world_matrix(obj), mesh_io.read_local(obj.data))))
