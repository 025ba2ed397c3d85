"""Loops and flat trusses for the tests of flat bodies."""

import numpy as np
import shapes
from scenes import moved_mass
from scipy.optimize import brentq
from softpressure_ext.core import ModelBuilder, World

AMBIENT = 101_325.0


def plane_of(turn):
    """Rotation of the upright plane y = 0 into another one; None is no rotation."""
    return np.eye(3) if turn is None else shapes.rotation(*turn)


def loop_world(
    *outlines, turn=None, gravity=-9.81, floor=False, frame_rate=60.0, substeps=4, threads=1, solver="EXPLICIT",
    velocities=None, **options,
):  # fmt: skip
    """Loops in one upright plane, gravity along it, the whole scene turned; `floor` at the height 0."""
    settings = {"mass": 1.0, "gauge_pressure": 1e3, "stretch_modulus": 1e4} | options
    turned = plane_of(turn)
    builder = ModelBuilder(gravity=turned @ [0.0, 0.0, gravity])
    for number, outline in enumerate(outlines):
        velocity = (0.0, 0.0, 0.0) if velocities is None else turned @ velocities[number]
        builder.add_loop(f"loop {number}", shapes.upright(outline) @ turned.T, velocity=velocity, **settings)
    if floor:
        surface = {name: settings[name] for name in ("friction", "bounciness") if name in settings}
        x, triangles = shapes.grid(20.0, 2)
        builder.add_collider("floor", x @ turned.T, triangles, **surface)
    model = builder.build()
    return World(model, frame_rate=frame_rate, substeps=substeps, threads=threads, solver=solver)


def in_plane(world, body=0, turn=None):
    """Positions of the caller's vertices in the upright plane, shape (n, 2)."""
    return (world.positions(body) @ plane_of(turn))[:, [0, 2]]


def out_of_plane(world, turn=None):
    """How far any point is from where its copy belongs along the normal [m], and the fastest way out [m/s]."""
    model, state = world.model, world.save()
    normal = plane_of(turn) @ [0.0, 1.0, 0.0]
    n = model.vertex_count
    away = np.abs(state.positions[:n] @ normal) - 0.5 * model.flat.depth[model.point_body[:n]]
    return np.abs(away).max(), np.abs(state.velocities[:n] @ normal).max()


def momenta(world, turn=None):
    """Momentum along the plane [kg m/s], shape (2,), and angular momentum about its normal [kg m^2/s]."""
    model, state = world.model, world.save()
    n, back = model.vertex_count, plane_of(turn)
    x, impulse = state.positions[:n] @ back, (moved_mass(world)[:, None] * state.velocities[:n]) @ back
    return impulse.sum(axis=0)[[0, 2]], float(np.cross(x, impulse).sum(axis=0)[1])


def gas_law_error(world, body=0, turn=None):
    """(p + pa) A D / nRT - 1, the area by Gauss from the positions."""
    found = world.diagnostics().bodies[body]
    area = abs(shapes.shoelace(in_plane(world, body, turn)))
    gas = world.save().gas[body]
    return abs((found.gauge_pressure + AMBIENT) * area * world.model.flat.depth[body] / gas - 1.0)


def ring_strain(count, radius, gauge_pressure, stretch_modulus):
    """Strain of a regular polygon of springs under pressure, without bending or weight.

    At each corner two sides push outwards with p D L cos(pi / n), and the tension T = Y D e holds with 2 T sin(pi / n);
    L = 2 r sin(pi / n), so T = p D r cos(pi / n), with p that of the area (1 + e)^2.
    """

    def excess(strain):
        pressure = (gauge_pressure + AMBIENT) / (1.0 + strain) ** 2 - AMBIENT
        return pressure * radius * (1.0 + strain) * np.cos(np.pi / count) - stretch_modulus * strain

    return brentq(excess, 0.0, 1.0, xtol=1e-15)
