"""Worlds with rigid bodies, and measures of them. Only the public interface of the core is used."""

import moments
import numpy as np
import shapes
from rigid_scene import block
from scenes import GRAVITY
from softpressure_ext.core import ModelBuilder, World

__all__ = [
    "GRAVITY", "angular_momentum", "block", "centre", "energy", "momentum", "on_slope", "run", "velocity", "world_of",
]  # fmt: skip


def world_of(
    *bodies, floor=None, gravity=(0.0, 0.0, -GRAVITY), frame_rate=60.0, substeps=4, threads=1, solver="EXPLICIT",
    **options,
):  # fmt: skip
    """A world of rigid bodies (mesh, options each) over a floor z = 0 with options, if any; substeps of 1/240 s."""
    builder = ModelBuilder(gravity=gravity)
    for number, (mesh, own) in enumerate(bodies):
        builder.add_rigid(f"body {number}", *mesh, **(options | own))
    if floor is not None:
        builder.add_collider("floor", *shapes.grid(20.0), **floor)
    return World(builder.build(), frame_rate=frame_rate, substeps=substeps, threads=threads, solver=solver)


def on_slope(mesh, degrees, friction, speed=0.0, **options):
    """A mesh over a slope that falls along the second result, both turned alike."""
    turn = shapes.rotation((0.0, 1.0, 0.0), np.radians(degrees))
    builder = ModelBuilder()
    down = turn[:, 0]
    builder.add_rigid("body", mesh[0] @ turn.T, mesh[1], friction=friction, velocity=speed * down, **options)
    floor, triangles = shapes.grid(20.0)
    builder.add_collider("slope", floor @ turn.T, triangles, friction=friction)
    return World(builder.build(), frame_rate=60.0, substeps=4, threads=1, solver="EXPLICIT"), down


def run(world, time, given=None):
    """Advance by a time [s], with an input for each frame from `given(frame)`."""
    for _ in range(round(time * world.frame_rate)):
        world.advance_frame(None if given is None else given(world.frame))


def centre(world, body=0):
    """Centre of mass [m]."""
    transform = world.rigid_transform(body)
    return transform[:3, :3] @ world.model.rigid.centre[body] + transform[:3, 3]


def velocity(world, body=0):
    return world.rigid_velocity(body)[0]


def inertia(world, body):
    """In world axes [kg m^2], from the mesh by the twin."""
    part = slice(world.model.rigid.point_start[body], world.model.rigid.point_start[body + 1])
    number = world.model.membrane_count + body
    start = world.model.surfaces.body_triangle_start
    triangles = world.model.surfaces.triangles[start[number] : start[number + 1]] - part.start
    volume, _, moment = moments.solid_moments(world.rigid_positions(body), triangles)
    moment = world.model.rigid.mass[body] / volume * moment
    return np.trace(moment) * np.eye(3) - moment


def momentum(world):
    """Of all rigid bodies [kg m/s]."""
    return sum(world.model.rigid.mass[b] * velocity(world, b) for b in range(world.model.rigid_count))


def energy(world):
    """Motion and height of all rigid bodies [J]."""
    total = 0.0
    for body, mass in enumerate(world.model.rigid.mass):
        speed, spin = world.rigid_velocity(body)
        total += mass * (0.5 * speed @ speed - centre(world, body) @ world.model.gravity)
        total += 0.5 * spin @ inertia(world, body) @ spin
    return float(total)


def angular_momentum(world):
    """Of all rigid bodies about the origin [kg m^2/s]."""
    total = np.zeros(3)
    for b in range(world.model.rigid_count):
        speed, spin = world.rigid_velocity(b)
        total += inertia(world, b) @ spin + np.cross(centre(world, b), world.model.rigid.mass[b] * speed)
    return total
