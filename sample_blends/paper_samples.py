"""Samples of the five texts, each with its text's method and its quantities: moles, spring constants, point masses."""

import math
from typing import Any

import bpy

from ..softpressure.bodies import paper_setups
from . import sample_parts as parts
from .sample_animal import cat_mesh

#: Of a mole n R T = 1 J, as where a text gives moles and no temperature [K].
COLD = 0.12027
#: Quantities as the texts give them; of an outline full of gas.
GAS: dict[str, Any] = {"gas_by": "AMOUNT", "temperature": COLD}
SPRINGS: dict[str, Any] = {"stiffness_by": "SPRING", "mass_by": "POINTS"}
LOOP = GAS | SPRINGS | {"body_type": "LOOP", "bend_modulus": 0.0, "point_mass": 0.05}


def matyka_loop(scene: bpy.types.Scene) -> None:
    """A flat ball blows up in its box and falls once it has its pressure (Matyka 2004, 5 and 5.1)."""
    parts.start(scene, 120)
    paper_setups.set_scene(scene, "MATYKA")
    parts.add_box(1.0, 0.5, 1, 0.1, 1.6, friction=0.3, bounciness=0.3)
    for name, colour, x, z, speed in (("Ball", parts.CORAL, -0.25, 1.25, 1.2), ("Ball 2", parts.TEAL, 0.35, 0.6, 0.0)):
        parts.add_flat(
            name, parts.circle_mesh(name, 40, 0.28), colour, (x, 0.0, z), 0.3, **LOOP, velocity=(speed, 0.0, 0.0),
            gas_amount=150.0, drawn_shape="SLACK", spring_constant=6_000.0, damping=3.0, friction=0.2, bounciness=0.3,
        )  # fmt: skip
    parts.set_stage(scene, (1.6, -4.6, 1.9), (0.0, 0.0, 0.76), 46.0)


def kurmaly_truss(scene: bpy.types.Scene) -> None:
    """Trusses with particles and a pressure body fall and are reflected at the ground (Kurmaly and Wu 2021, 3 to 5)."""
    parts.start(scene, 120)
    paper_setups.set_scene(scene, "KURMALY")
    parts.add_floor(-3.6, 3.6, 1.6)
    trusses = (("Truss", parts.AMBER, -1.0, 1.9, -4.0), ("Truss 2", parts.SKY, 0.35, 1.2, -12.0))
    for name, colour, x, z, speed in trusses:
        parts.add_flat(
            name, parts.sheet_mesh(name, 8, 0.9), colour, (x, 0.0, z), 0.3, body_type="TRUSS", cell_size=0.225,
            particle_radius=0.4, velocity=(0.0, 0.0, speed), **SPRINGS, point_mass=0.05, spring_constant=900.0,
            damping=2.0, bounciness=0.5,
        )  # fmt: skip
    name = "Pressure body"
    parts.add_flat(
        name, parts.circle_mesh(name, 32, 0.4), parts.CORAL, (1.5, 0.0, 1.6), 0.3, **LOOP, velocity=(-0.2, 0.0, -2.0),
        gas_amount=200.0, spring_constant=10_000.0, damping=2.0, bounciness=0.5,
    )  # fmt: skip
    parts.set_stage(scene, (1.3, -6.6, 2.0), (0.1, 0.0, 0.95), 44.0)


def martin_cat(scene: bpy.types.Scene) -> None:
    """A cat, a ball of wool and a rigid cube, all as in the text: one step of 1/60 s per frame (Martin 2009, 6.5)."""
    parts.start(scene, 240)
    paper_setups.set_scene(scene, "MARTIN")
    parts.add_floor(-3.4, 4.4, 5.6, 0.2, friction=0.8, bounciness=0.3)
    cat = parts.add_object("Cat", cat_mesh("Cat", 2.6, cell=0.11), parts.AMBER, roughness=0.45)
    cat.location, cat.rotation_euler = (-0.8, 0.1, 0.1), (0.0, 0.0, -0.75)
    bpy.context.view_layer.update()
    skin: dict[str, Any] = dict(paper_setups.SETUPS["MARTIN"].body) | {
        "gas_by": "AMOUNT",
        "temperature": 1.0,
        "mass": 1.0,
    }
    parts.add_body(cat, "SOFT", **skin, gas_amount=30.0)
    parts.smooth(cat)
    parts.add_ball("Ball of wool", parts.ROSE, 0.7, (1.5, -0.4, 2.3), subdivisions=2, **skin, gas_amount=12.0)
    cube = parts.profile_mesh("Cube", [(-0.36, 0.0), (0.36, 0.0), (0.36, 0.72), (-0.36, 0.72)], 0.72, 1)
    parts.add_solid("Cube", cube, parts.SKY, (2.2, 0.9, 0.3), mass=2.0, friction=0.5, bounciness=0.3)
    parts.set_stage(scene, (3.4, -9.6, 3.9), (0.2, 0.0, 1.35), 40.0)


def mesit_heap(scene: bpy.types.Scene) -> None:
    """Twelve balls fall into a tray; springs of 1 000 N/m, points of 0.1 kg, 700 mol each (Mesit 2007, V, figure 7)."""
    parts.start(scene, 120)
    paper_setups.set_scene(scene, "MESIT")
    parts.add_box(3.4, 6.8, 14, 0.25, 2.2, friction=0.3, bounciness=0.3)
    parts.add_ends(3.4, 0.25, 2.2, 0.05, bounciness=0.5)
    for number in range(12):
        layer, place = divmod(number, 4)
        angle = 0.5 * math.pi * (place + 0.5) + 0.4 * layer
        where = (1.75 * math.cos(angle), 1.75 * math.sin(angle), 1.15 + 2.2 * layer)
        parts.add_ball(
            f"Ball {number + 1}", parts.COLOURS[number % 8], 1.0, where, subdivisions=3, simulation_mesh="DRAWN",
            **GAS, **SPRINGS, gas_amount=700.0, drawn_shape="SLACK", spring_constant=1_000.0, bend_modulus=0.0,
            mass=1.0, point_mass=0.1, damping=2.0, bounciness=0.5,
        )  # fmt: skip
    parts.set_stage(scene, (8.4, -18.5, 11.2), (0.0, 0.0, 2.25), 42.0)


def xpbd_unbreakable(scene: bpy.types.Scene) -> None:
    """Solid balls are pressed flat and come back (Macklin et al. 2016; "XPBD soft bodies": unbreakable)."""
    parts.start(scene, 144)
    paper_setups.set_scene(scene, "XPBD")
    plate = parts.rounded([(-1.9, -0.15), (1.9, -0.15), (1.9, 0.15), (-1.9, 0.15)], 0.04)
    for name, colour, z in (("Anvil", parts.STONE, -0.15), ("Press", parts.SLATE, 1.5)):
        mesh = parts.profile_mesh(name, plate, 1.4, 7)
        obstacle = parts.add_obstacle(name, mesh, colour, location=(0.0, 0.0, z), friction=0.8, bounciness=0.2)
    keys = [(1, 1.5), (8, 1.5), (44, 0.37), (56, 0.37), (116, 1.5)]
    parts.animate(obstacle, "location", 2, keys, linear=False)
    for name, colour, x, size in (("Ball", parts.LIME, -0.8, 0.45), ("Ball 2", parts.PLUM, 0.75, 0.4)):
        parts.add_ball(
            name, colour, size, (x, 0.0, size + 0.02), body_type="SOLID", mass=30.0, cell_size=0.15, modulus=50_000.0,
            poisson_ratio=0.4, damping=10.0, friction=0.8, bounciness=0.2,
        )  # fmt: skip
    parts.set_stage(scene, (1.4, -6.4, 1.5), (0.0, 0.0, 0.72), 44.0)


SAMPLES = {each.__name__: each for each in (matyka_loop, kurmaly_truss, martin_cat, mesit_heap, xpbd_unbreakable)}
