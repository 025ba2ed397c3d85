"""Small scenes, made with the same operators and settings that a person uses.

`build("bounce")` replaces what is in the current scene; `build.py` saves each as a file. The zip does not have them.
"""

import math
from collections.abc import Callable

import bpy

from ..softpressure.scene_io.blender_types import Context
from . import paper_samples, sample_walker
from . import sample_parts as parts


def build(name: str) -> bpy.types.Scene:
    """Replace the contents of the current scene by one of `SAMPLES`."""
    context: Context = bpy.context
    scene: bpy.types.Scene = context.scene
    SAMPLES[name](scene)
    return scene


def bounce(scene: bpy.types.Scene) -> None:
    """Balls of three pressures drop down steps."""
    parts.start(scene, 144)
    top = [(-3.2, 2.4), (-2.9, 2.4), (-1.5, 1.8), (-1.5, 1.25), (0.15, 1.2), (0.15, 0.65), (1.8, 0.6), (1.8, 0.0)]
    end = [(5.2, 0.0), (5.2, 0.6), (5.5, 0.6), (5.5, -0.2), (-3.2, -0.2)]
    outline = parts.rounded([*top, *end][::-1], 0.06)
    steps = parts.profile_mesh("Steps", outline, 4.3, 60)
    parts.add_obstacle("Steps", steps, parts.STONE, friction=0.6)
    kinds = (
        ("Flabby ball, 20 Pa", parts.TEAL, -1.35, 20.0, 60.0, 4.0, 0.5),
        ("Soft ball, 500 Pa", parts.AMBER, 0.0, 500.0, 500.0, 2.0, 0.6),
        ("Hard ball, 10 kPa", parts.CORAL, 1.35, 10_000.0, 20_000.0, 0.5, 0.7),
    )
    for name, colour, y, pressure, stretch, damping, bounciness in kinds:
        parts.add_ball(
            name, colour, 0.48, (-2.2, y, 3.4), mass=1.0,
            gauge_pressure=pressure, stretch_modulus=stretch, bend_modulus=0.01, damping=damping, bounciness=bounciness,
        )  # fmt: skip
    parts.set_stage(scene, (10.9, -9.7, 6.3), (1.55, -0.15, 1.0), 40.0)


def squeeze(scene: bpy.types.Scene) -> None:
    """A torus is drawn through the gap of two rollers, which close on it and turn."""
    parts.start(scene, 144)
    radius, height = 0.45, 2.35
    parts.add_floor(-2.2, 3.2, 4.8, friction=0.7)
    turns = [2.0 * math.pi * k / 64 for k in range(64)]
    circle = [(radius * math.cos(turn), radius * math.sin(turn)) for turn in turns]
    for name, side in (("Left roller", -1.0), ("Right roller", 1.0)):
        roller = parts.add_obstacle(name, parts.profile_mesh(name, circle, 2.2, 30), parts.SLATE, friction=1.5)
        roller.location.z = height
        closed, open_ = side * (radius + 0.13), side * (radius + 0.2)
        parts.animate(roller, "location", 0, [(1, open_), (16, open_), (36, closed)], linear=False)
        # the inner sides go down
        parts.animate(roller, "rotation_euler", 1, [(24, 0.0), (144, -side * 2.4 * math.pi)], linear=True)
    parts.add_soft(
        "Torus", parts.torus_mesh("Torus", 0.55, 0.24), parts.CORAL, (0.0, 0.0, height + 1.05), mass=1.5,
        gauge_pressure=2_000.0, stretch_modulus=8_000.0, friction=1.0, damping=3.0, bounciness=0.4,
    )  # fmt: skip
    parts.set_stage(scene, (3.3, -8.5, 4.3), (0.35, 0.0, 1.72), 34.0)


def pile(scene: bpy.types.Scene) -> None:
    """Eight balls fall into an open box, about 10 000 triangles in all (Mesit et al. 2007, figure 7)."""
    parts.start(scene, 120)
    parts.add_box(0.95, 1.9, 30, 0.1, 1.0)
    parts.add_ends(0.95, 0.1, 1.0)
    for number, colour in enumerate(parts.COLOURS):
        angle = math.pi * (0.5 * number + 0.25 + 0.2 * (number // 4))
        location = (0.52 * math.cos(angle), 0.52 * math.sin(angle), 0.7 + 0.5 * number)
        parts.add_ball(
            f"Ball {number + 1}", colour, 0.37, location, mass=0.6,
            gauge_pressure=200.0, stretch_modulus=400.0, bend_modulus=0.01, damping=2.0, bounciness=0.6,
        )  # fmt: skip
    parts.set_stage(scene, (2.3, -5.6, 3.4), (0.0, 0.0, 0.62), 46.0)


def newton(scene: bpy.types.Scene) -> None:
    """A swinging ramp lets three soft balls roll into a wall of rigid crates."""
    parts.start(scene, 120)
    parts.add_floor(-3.6, 4.8, 5.6, friction=0.7)
    half, thick = 1.7, 0.07
    plank = parts.rounded([(-half, -thick), (half, -thick), (half, thick), (-half, thick)], 0.05)
    ramp = parts.add_obstacle("Ramp", parts.profile_mesh("Ramp", plank, 3.4, 24), parts.SLATE, friction=0.8)
    ramp.location = (-1.7, 0.0, 1.6)
    # up on the left is a positive turn about y
    swing = [(1, -0.06), (8, -0.06), (22, 0.4), (62, 0.4), (86, 0.0)]
    parts.animate(ramp, "rotation_euler", 1, swing, linear=False)
    for number, (colour, y) in enumerate(zip((parts.CORAL, parts.AMBER, parts.TEAL), (-1.0, 0.0, 1.0), strict=True)):
        parts.add_ball(
            f"Ball {number + 1}", colour, 0.42, (-2.45, y, 2.06), mass=4.0, friction=0.8,
            gauge_pressure=5_000.0, stretch_modulus=6_000.0, bend_modulus=0.01, damping=1.5, bounciness=0.5,
        )  # fmt: skip
    size, gap = 0.5, 0.02
    colours = (parts.SKY, parts.NAVY, parts.PLUM, parts.LIME, parts.ROSE)
    for row in range(3):
        for place in range(5 - row):
            y = (size + gap) * (place - 0.5 * (4 - row))
            name = f"Crate {row + 1}.{place + 1}"
            crate = parts.crate_mesh(name, (size, size, size))
            where = (1.0, y, 0.5 * size + 0.01 + row * (size + 0.01))
            parts.add_solid(name, crate, colours[(row + place) % 5], where, mass=0.5, friction=0.6)
    parts.set_stage(scene, (3.2, -9.2, 4.3), (0.35, -0.1, 0.8), 36.0)


def basket(scene: bpy.types.Scene) -> None:
    """A balloon, held at its top and carried away, takes along a rigid basket that is glued to its neck."""
    parts.start(scene, 160)
    parts.add_floor(-2.4, 4.2, 3.6, friction=0.7)
    mesh = parts.basket_mesh("Basket", 0.5, 0.36, (0.15, 0.98))
    load = parts.add_solid(
        "Basket", mesh, parts.WICKER, (0.0, 0.0, 0.02), rigid_shape="MESH", mass=1.0, friction=0.7, angular_damping=0.5
    )
    mesh = parts.balloon_mesh("Balloon", 0.6, 0.3)
    balloon = parts.add_object("Balloon", mesh, parts.CORAL, roughness=0.35, location=(0.0, 0.0, 1.86))
    parts.add_group(balloon, "Held", 0.5, 1.0)
    parts.add_group(balloon, "Neck", -1.0, -0.82)
    parts.add_body(
        balloon, "SOFT", mass=0.3, gauge_pressure=1_500.0, stretch_modulus=3_000.0, bend_modulus=0.01, damping=2.0,
        pin_group="Held", attach_group="Neck", attach_to=load,
    )  # fmt: skip
    parts.smooth(balloon)
    for axis, keys in ((2, [(1, 1.86), (12, 1.86), (44, 2.75), (112, 2.75), (140, 1.95)]), (0, [(44, 0.0), (80, 1.7)])):
        parts.animate(balloon, "location", axis, keys, linear=False)
    fruit = ((parts.LIME, 0.19, 0.0), (parts.AMBER, -0.1, 0.17), (parts.ROSE, -0.1, -0.17))
    for number, (colour, x, y) in enumerate(fruit):
        parts.add_ball(
            f"Fruit {number + 1}", colour, 0.15, (x, y, 0.24), mass=0.2,
            gauge_pressure=1_500.0, stretch_modulus=800.0, bend_modulus=0.001, damping=3.0, bounciness=0.3,
        )  # fmt: skip
    parts.set_stage(scene, (2.5, -6.6, 2.9), (0.85, 0.0, 1.5), 36.0)


def walker(scene: bpy.types.Scene) -> None:
    """A walking figure meets a ball with its soft belly: goals hold the rest of it on its bones."""
    frame_count = 84
    parts.start(scene, frame_count)
    scene.softpressure.ambient_pressure = 2_000.0  # the gas of the figure gives way when its limbs bend
    parts.add_floor(-1.0, 5.0, 3.0, friction=0.7)
    figure, _ = sample_walker.add(parts.CORAL, frame_count)
    parts.add_body(
        figure, "SOFT", mass=20.0, gauge_pressure=0.0, stretch_modulus=1_000.0, bend_modulus=0.4, damping=1.0,
        goal_group="Goal", goal_stiffness=40_000.0, goal_damping=1.5, self_collision=False,
    )  # fmt: skip
    parts.smooth(figure)
    parts.add_ball(
        "Ball", parts.TEAL, 0.55, (3.2, 0.0, 0.57), mass=2.0, velocity=(-0.8, 0.0, 0.0),
        gauge_pressure=500.0, stretch_modulus=1_500.0, bend_modulus=0.01, damping=1.0, bounciness=0.6,
    )  # fmt: skip
    parts.set_stage(scene, (2.3, -6.6, 2.0), (2.0, 0.0, 0.72), 40.0)


SAMPLES: dict[str, Callable[[bpy.types.Scene], None]] = {
    each.__name__: each for each in (bounce, squeeze, pile, newton, basket, walker)
} | paper_samples.SAMPLES
