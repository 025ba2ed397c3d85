"""Three small scenes, made with the same operators and settings that a person uses.

    bl_ext.user_default.softpressure.softpressure.samples.build("bounce")

replaces what is in the current scene. `sample_blends/build.py` saves each as a file.
"""

import math
from collections.abc import Callable

import bpy

from . import sample_parts as parts


def build(name: str) -> bpy.types.Scene:
    """Replace the contents of the current scene by a sample: `bounce`, `squeeze` or `pile`."""
    scene = bpy.context.scene
    SAMPLES[name](scene)
    return scene


def bounce(scene: bpy.types.Scene) -> None:
    """Balls of three pressures drop down steps: the flabby one slumps, the hard one leaps."""
    parts.start(scene, 144)
    slope = [(-3.2, 2.75), (-1.5, 1.95), (-1.5, 1.35), (0.1, 1.3), (0.1, 0.7), (1.7, 0.65), (1.7, 0.0)]
    kerb = [(4.6, 0.0), (4.6, 0.3), (5.0, 0.3)]
    bottom = [(5.0, -0.3), (-3.2, -0.3)]
    outline = parts.rounded([*slope, *kerb, *bottom][::-1], 0.06)
    steps = parts.profile_mesh("Steps", outline, 3.9, 48)
    parts.add_obstacle("Steps", steps, parts.STONE, friction=0.6)
    kinds = (
        ("Flabby ball, 400 Pa", parts.TEAL, 400.0, -1.2),
        ("Beach ball, 2 kPa", parts.AMBER, 2_000.0, 0.0),
        ("Hard ball, 12 kPa", parts.CORAL, 12_000.0, 1.2),
    )
    for name, colour, pressure, y in kinds:
        parts.add_ball(name, colour, 0.42, (-2.5, y, 3.6), mass=1.0, gauge_pressure=pressure, friction=0.6)
    parts.set_stage(scene, (6.5, -9.5, 5.2), (0.9, 0.0, 1.2), 36.0)


def squeeze(scene: bpy.types.Scene) -> None:
    """A torus is drawn through the gap of two rollers, which close on it, turn, and open again."""
    parts.start(scene, 144)
    roller_radius, height = 0.5, 1.9
    floor = [(-2.6, -0.2), (2.6, -0.2), (2.6, 0.0), (-2.6, 0.0)]
    parts.add_obstacle("Floor", parts.profile_mesh("Floor", floor, 4.4, 1), parts.STONE, friction=0.7)
    turns = [2.0 * math.pi * k / 64 for k in range(64)]
    circle = [(roller_radius * math.cos(turn), roller_radius * math.sin(turn)) for turn in turns]
    for name, side in (("Left roller", -1.0), ("Right roller", 1.0)):
        mesh = parts.profile_mesh(name, circle, 2.2, 30)
        roller = parts.add_obstacle(name, mesh, parts.SLATE, location=(0.8 * side, 0.0, height), friction=1.5)
        parts.animate(roller, "location", 0, [(1, 0.72 * side), (20, 0.72 * side), (40, 0.62 * side)], linear=False)
        parts.animate(roller, "rotation_euler", 1, [(1, 0.0), (144, side * 2.6 * math.pi)], linear=True)
    torus = parts.add_object("Torus", parts.torus_mesh("Torus", 0.55, 0.24), parts.CORAL, roughness=0.35)
    torus.location = (0.0, 0.0, height + 1.15)
    parts.add_body(torus, "SOFT", mass=1.5, gauge_pressure=3_000.0, friction=1.0, damping=2.0)
    parts.smooth(torus)
    parts.set_stage(scene, (4.6, -6.4, 3.0), (0.0, 0.0, 1.55), 35.0)


def pile(scene: bpy.types.Scene) -> None:
    """Eight balls fall into an open box, about 10 000 triangles in all (Mesit et al. 2007, figure 7)."""
    parts.start(scene, 120)
    inner, wall, high = 0.95, 0.1, 1.0
    outer = inner + wall
    profile = [
        (-outer, -wall), (outer, -wall), (outer, high), (inner, high), (inner, 0.0),
        (-inner, 0.0), (-inner, high), (-outer, high),
    ]  # fmt: skip
    parts.add_obstacle("Box", parts.profile_mesh("Box", parts.rounded(profile, 0.03), 2 * inner, 24), parts.STONE)
    side = [(-outer, -wall), (outer, -wall), (outer, high), (-outer, high)]
    for name, y, alpha in (("Back", inner + 0.5 * wall, 1.0), ("Glass", -inner - 0.5 * wall, 0.25)):
        mesh = parts.profile_mesh(name, parts.rounded(side, 0.03), wall, 1)
        parts.add_obstacle(name, mesh, parts.STONE, alpha=alpha, location=(0.0, y, 0.0))
    for number, colour in enumerate(parts.COLOURS):
        layer, place = divmod(number, 4)
        angle = math.pi * (0.5 * place + 0.25 + 0.22 * layer)
        location = (0.55 * math.cos(angle), 0.55 * math.sin(angle), 1.0 + 1.05 * layer + 0.12 * place)
        parts.add_ball(f"Ball {number + 1}", colour, 0.36, location, mass=0.5, gauge_pressure=1_000.0, damping=1.5)
    parts.set_stage(scene, (2.6, -5.4, 3.6), (0.0, 0.0, 0.75), 38.0)


SAMPLES: dict[str, Callable[[bpy.types.Scene], None]] = {"bounce": bounce, "squeeze": squeeze, "pile": pile}
