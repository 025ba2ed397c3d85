"""The arrays of a model's rigid bodies."""

import numpy as np

from ...array_types import FloatArray, IntArray
from ...model import RigidBodies
from ..given import GivenRigid
from .inertia import inertia_of


def rigid_bodies(
    bodies: list[GivenRigid], positions: FloatArray, point_start: IntArray, vertex_count: int
) -> RigidBodies:
    """Inertia, arms and start motion of bodies whose points begin at `point_start`."""
    density = [body.setting("mass") / body.properties.volume for body in bodies]
    moment = np.array([d * body.properties.second_moment for d, body in zip(density, bodies, strict=True)])
    moment = moment.reshape(-1, 3, 3)
    inertia = inertia_of(moment)
    parts = zip(point_start[:-1], point_start[1:], bodies, strict=True)
    arms = [positions[first:last] - body.properties.centre for first, last, body in parts]
    counts = np.diff(point_start)
    return RigidBodies(
        centre=np.array([body.properties.centre for body in bodies]).reshape(-1, 3),
        mass=np.array([body.setting("mass") for body in bodies], dtype=float),
        inertia=inertia,
        inverse_inertia=np.linalg.inv(inertia) if len(bodies) else inertia,
        second_moment=moment,
        arm=np.concatenate([np.zeros((0, 3)), *arms]),
        radius=np.array([np.linalg.norm(arm, axis=1).max() for arm in arms], dtype=float),
        unknown=np.repeat(vertex_count + 2 * np.arange(len(bodies), dtype=np.int32), counts),
        point_start=point_start.astype(np.int32),
        vertex_count=np.array([len(body.positions) for body in bodies], np.int32),
        velocity=np.array([body.settings["velocity"] for body in bodies], dtype=float).reshape(-1, 3),
        angular_velocity=np.array([body.settings["angular_velocity"] for body in bodies], dtype=float).reshape(-1, 3),
        falls=np.ones(len(bodies)),
        linear_damping=np.array([body.setting("linear_damping") for body in bodies], dtype=float),
        angular_damping=np.array([body.setting("angular_damping") for body in bodies], dtype=float),
    )
